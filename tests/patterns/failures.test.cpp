// The fate of a stream when user code throws.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace failures_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;
using tests::in_all_ways;

/// Checks that the stream fails, and that the error has these words.
template <class P>
void fails_with(const P& p, const std::string& words) {
  in_all_ways(p, [&](const auto& got) {
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error() == errc::receiver_failed);
    const std::string text = got.error().to_string();
    CAPTURE(text);
    CHECK(text.find(words) != std::string::npos);
  });
}

enum class where : std::uint8_t { start, stop, restart, nowhere };
/// Throws there, and on the number 5.
struct fragile {
  where at;
  int seen = 0;
  void on_start() const {
    if (at == where::start) throw std::runtime_error("at the start");
  }
  int consume(int x) {
    if (x == 5) throw std::runtime_error("five");
    return ++seen;
  }
  void on_stop(emit<int> out) const {
    out(1000);
    if (at == where::stop) throw std::runtime_error("at the stop");
  }
};
struct lasting : fragile {
  int restarts = 0;
  void on_restart() {
    if (at == where::restart) throw std::runtime_error("at the restart");
    restarts += 100;
  }
  int consume(int x) { return fragile::consume(x) + restarts; }
};
auto stage_of(where at) { return seq<fragile>(fragile{at}).named("fragile"); }

/// A range whose third element throws when it is read.
struct rotten {
  struct iterator {
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using reference = int;
    int i = 0;
    int operator*() const {
      if (i == 3) throw std::runtime_error("the third");
      return i;
    }
    iterator& operator++() {
      ++i;
      return *this;
    }
    friend bool operator==(iterator, iterator) = default;
  };
  static iterator begin() { return {0}; }
  static iterator end() { return {6}; }
};

int key_that_throws(const int& x) {
  if (x == 7) throw std::runtime_error("no key");
  return x;
}
int same(int x) { return x; }

}  // namespace

TEST_CASE("an exception of on_start or on_stop ends the stream, under every policy") {
  for (const on_failure policy : {on_failure::fail, on_failure::skip, on_failure::restart}) {
    fails_with(pipeline(counting(0, 3), stage_of(where::start).on(policy), collect()),
               "fragile: at the start");
    fails_with(pipeline(counting(0, 3), stage_of(where::stop).on(policy), collect()),
               "fragile: at the stop");
  }
  fails_with(pipeline(counting(0, 3), stage_of(where::stop).cheap(), collect()), "at the stop");
  fails_with(pipeline(counting(0, 3), farm(stage_of(where::start)).replicas(3), collect()),
             "fragile: at the start");
}

TEST_CASE("a stage that restarts goes on from its first state, or as it says itself") {
  in_all_ways(
      pipeline(counting(0, 8), stage_of(where::nowhere).on(on_failure::restart), collect()),
      [](const auto& got) { CHECK(got.value() == std::vector<int>{1, 2, 3, 4, 5, 1, 2, 1000}); });
  const auto kept = [](where at) {
    return seq<lasting>(lasting{{at}}).named("lasting").on(on_failure::restart);
  };
  in_all_ways(pipeline(counting(0, 8), kept(where::nowhere), collect()), [](const auto& got) {
    CHECK(got.value() == std::vector<int>{1, 2, 3, 4, 5, 106, 107, 1000});
  });
  fails_with(pipeline(counting(0, 8), kept(where::restart), collect()), "lasting: at the restart");
}

TEST_CASE("a range that throws ends the stream, or is read on behind that element") {
  fails_with(pipeline(from(rotten()), collect()), "from: the third");
  in_all_ways(pipeline(from(rotten()).on(on_failure::skip), collect()),
              [](const auto& got) { CHECK(got.value() == std::vector<int>{0, 1, 2, 4, 5}); });
}

TEST_CASE("a key function that throws is a failure of the stage that put the tuple out") {
  const auto keyed = farm(same).replicas(3).by_key(key_that_throws);
  const auto maker = seq(same).named("maker");
  const stream_options direct{};
  test_system kit(1);
  const auto h = spawn(kit, pipeline(counting(0, 20), maker, keyed, collect()), direct);
  kit.run();
  CHECK(kit.request(h, join{}).get().error().to_string().find("maker: no key") !=
        std::string::npos);
  fails_with(pipeline(counting(0, 20), maker, keyed, collect()), "no key");
  const auto skips = pipeline(counting(0, 20), maker.on(on_failure::skip), keyed, collect());
  const auto k = spawn(kit, skips);
  kit.run();
  CHECK(kit.request(k, join{}).get().value().size() == 19);
}

TEST_CASE("a key function that throws on a tuple that an actor has sent ends the stream") {
  for (const bool emitters : {false, true}) {
    test_system kit(1);
    const auto h = spawn(kit, pipeline(farm(same).replicas(3).by_key(key_that_throws), collect()),
                         {.remove_emitters = !emitters});
    for (int i = 0; i < 10; ++i) send(h, i);
    kit.run();
    const auto got = kit.request(h, join{}).get();
    CHECK(got.error() == errc::receiver_failed);
    CHECK(got.error().to_string().find(emitters ? "emitter: no key" : "input: no key") !=
          std::string::npos);
  }
}

TEST_CASE("a policy that chooses an absent replica fails the stage that put the tuple out") {
  const auto out_of_range = [](const int& x, std::size_t n) {
    return x == 9 ? n : static_cast<std::size_t>(x) % n;
  };
  const auto negative = [](const int& x, std::size_t) { return x == 9 ? -1 : 0; };
  fails_with(pipeline(counting(0, 20), farm(same).replicas(2).by(out_of_range), collect()),
             "a policy chose a replica that is not there");
  fails_with(pipeline(counting(0, 20), farm(same).replicas(2).by(negative), collect()),
             "a policy chose a replica that is not there");
  fails_with(pipeline(counting(0, 20), parallel(same, same).by(out_of_range), collect()),
             "a policy chose a replica that is not there");
}

TEST_CASE("the dead letter of a skipped tuple holds the tuple, also if the stage had moved it") {
  for (const std::size_t capacity : {1U, 64U}) {
    test_system kit(1);
    const auto picky = [](std::string s) {
      const std::string taken = std::move(s);
      if (taken.size() == 41) throw std::runtime_error("too long");
      return taken.size();
    };
    const auto h = spawn(kit,
                         pipeline(from(std::vector<std::string>{"a", std::string(41, 'b'), "c"}),
                                  seq(picky).on(on_failure::skip), discard<std::size_t>()),
                         {.capacity = capacity});
    kit.run();
    CHECK(kit.request(h, join{}).get().has_value());
    const auto lost = kit.expect_dead_letter<std::string>(errc::receiver_failed);
    CHECK(lost.content.find(std::string(41, 'b')) != std::string::npos);
  }
}

TEST_CASE("the value of a fold or a scan so far outlives a tuple that is skipped") {
  using numbers = std::vector<int>;
  const auto picky = [](numbers all, int x) {  // `all` is gone when it throws
    if (x % 5 == 3) throw std::runtime_error("not this one");
    all.push_back(x);
    return all;
  };
  in_all_ways(pipeline(counting(0, 10), fold(numbers(), picky).on(on_failure::skip)),
              [](const auto& got) { CHECK(got.value() == numbers{0, 1, 2, 4, 5, 6, 7, 9}); });
  const auto lengths = [](int, numbers all) { return static_cast<int>(all.size()); };
  in_all_ways(
      pipeline(counting(0, 10), scan(numbers(), picky).on(on_failure::skip), fold(0, lengths)),
      [](const auto& got) { CHECK(got.value() == 8); });
}

namespace {

/// Can be copied a limited number of times, and not moved without a copy.
struct short_of_copies {
  using garrick_sendable = void;
  int* left;
  explicit short_of_copies(int* n) : left(n) {}
  short_of_copies(const short_of_copies& o) : left(o.left) {
    if ((*left)-- == 0) throw std::runtime_error("no copy any more");
  }
  short_of_copies& operator=(const short_of_copies&) = delete;
  ~short_of_copies() = default;
  int consume(int x) const {
    if (x == 3) throw std::runtime_error("three");
    return x;
  }
};

}  // namespace

TEST_CASE("a stage that cannot be made anew ends the stream, and is destroyed once") {
  int enough = 1000;
  const auto stage = seq(short_of_copies(&enough)).on(on_failure::restart);
  const auto p = pipeline(counting(0, 8), stage, collect());
  {
    test_system kit(1);
    const auto h = spawn(kit, p);
    kit.run();
    CHECK(kit.request(h, join{}).get().value() == std::vector<int>{0, 1, 2, 4, 5, 6, 7});
  }
  const int needed = 1000 - enough;
  for (int copies = needed - 3; copies < needed; ++copies) {
    test_system kit(1);
    enough = copies;
    const auto h = try_spawn(kit, p);
    if (!h) continue;
    kit.run();
    const auto got = kit.request(*h, join{}).get();
    if (!got.has_value()) CHECK(got.error().to_string().find("no copy") != std::string::npos);
  }
}

}  // namespace failures_test
