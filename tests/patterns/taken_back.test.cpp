// What a tuple that fails has put out by then is taken back, whole and alone: on the way back in a
// loop, in a broadcast whose copies throw, and at the end of a source. And what is counted of what
// waits, where several ways meet.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace taken_back_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

/// Becomes three of which each is one nearer to zero. The number 50 throws after it has put out.
void three_or_none(int x, emit<int> out) {
  if (x == 50) {
    out(1);
    throw std::runtime_error("fifty");
  }
  for (int i = 0; i < 3; ++i) out(x - 1);
}
int deep_or_bad(int x) { return x % 3 == 1 ? 50 : 3; }
auto count() {
  return fold(0, [](int n, int) { return n + 1; });
}

const stage_report& stage_named(const stream_report& r, const std::string& name) {
  for (const stage_report& s : r.stages)
    if (s.name == name) return s;
  throw std::logic_error("no stage " + name);
}

/// Of its copies, so many can still be made.
int copies_left = 0;
struct rare {
  using garrick_sendable = void;
  explicit rare(int n) noexcept : number(n) {}
  rare(const rare& o) : number(o.number) {
    if (copies_left-- == 0) throw std::runtime_error("no copy");
  }
  rare(rare&& o) noexcept = default;
  rare& operator=(const rare&) = delete;
  ~rare() = default;
  int number;
};

}  // namespace

TEST_CASE("a tuple that fails takes nothing of another with it on the way back in a loop") {
  const auto multiplies = seq(&three_or_none).on(on_failure::skip);
  const auto p = pipeline(counting(0, 12), deep_or_bad,
                          feedback(multiplies, [](const int& x) { return x > 0; }), count());
  for (const std::size_t capacity : {1U, 2U, 4U, 16U})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      test_system kit(seed);
      const auto h = spawn(kit, p, {.capacity = capacity, .in_place = seed % 2 == 0});
      kit.run();
      CHECK(kit.request(h, join{}).get().value() == 8 * 27);
    }
}

TEST_CASE("nobody gets a tuple of a broadcast that could not be copied for all") {
  const auto put = [](int x, emit<rare> out) { out(rare(x)); };
  const auto try_put = [](int x, emit<rare> out) {
    static_cast<void>(out.try_send_next(1000, rare(x)));
  };
  const auto each_gets = [](const auto& maker) {
    for (int allowed = 0; allowed < 20; ++allowed) {
      CAPTURE(allowed);
      test_system kit(1);
      copies_left = allowed;
      const auto h =
          spawn(kit, pipeline(counting(0, 30), seq(maker).on(on_failure::skip),
                              farm(seq([](rare) {}).named("replica")).replicas(3).broadcast()));
      kit.run();
      CHECK(kit.request(h, join{}).get().has_value());
      const stream_report r = kit.request(h, get_report{}).get().value();
      for (const stage_report& s : r.stages)
        if (s.name.find("replica") != std::string::npos) CHECK(s.figures.in == 29);
    }
  };
  each_gets(put);
  each_gets(try_put);
}

TEST_CASE("what a source has put out when it throws is handed on or counted as dropped") {
  struct five {
    int n = 0;
    bool operator()(emit<int> out) {
      if (n == 5) throw std::runtime_error("no sixth");
      out(n++);
      return true;
    }
  };
  test_system kit(1);
  const auto h = spawn(kit, pipeline(seq(five()).named("five"), discard<int>()), {.fuse = false});
  kit.run();
  CHECK_FALSE(kit.request(h, join{}).get().has_value());
  const node_figures f =
      stage_named(kit.request(h, get_report{}).get().value(), "five").figures;
  CHECK(f.out + f.dropped == 5);
}

namespace {

/// Offers thirty numbers for each that it takes, where less than `limit` wait.
template <std::size_t Limit>
void offers_thirty(int, emit<int> out) {
  for (int i = 0; i < 30; ++i) static_cast<void>(out.try_send_next(Limit, int{i}));
}
/// Offers so many at once, and ends.
struct offers {
  int n;
  std::size_t limit;
  bool operator()(emit<int> out) const {
    for (int i = 0; i < n; ++i) static_cast<void>(out.try_send_next(limit, int{i}));
    return false;
  }
};
int same(int x) { return x; }

template <class P>
int number_of_results(const P& p, stream_options o = {.in_place = false}) {
  test_system kit(1);
  const auto h = spawn(kit, pipeline(p, count()), o);
  kit.run();
  return kit.request(h, join{}).get().value();
}

}  // namespace

TEST_CASE("try_send_next counts what the same step has put out, in an ordered farm, too") {
  const auto one = pipeline(counting(0, 1), farm(seq(&offers_thirty<4>)).replicas(2).ordered());
  CHECK(number_of_results(one) == 4);
}

TEST_CASE("try_send_next refuses nothing while one of the replicas has room") {
  const auto three = farm(&same).replicas(3);
  for (int seed = 1; seed < 20; ++seed) {
    CHECK(number_of_results(pipeline(seq(offers{12, 4}), three.random_member(seed))) == 12);
    CHECK(number_of_results(pipeline(seq(offers{13, 4}), three.random_member(seed))) == 12);
  }
}

TEST_CASE("what waits before a farm is what waits at the emptiest replica") {
  const auto first = [](const int&, std::size_t) { return 0; };
  // the stage between is part of the source's node
  CHECK(number_of_results(pipeline(seq(offers{30, 4}), seq(&same).cheap(),
                                   farm(&same).replicas(2).round_robin())) == 8);
  CHECK(number_of_results(pipeline(seq(offers{30, 4}), seq(&same).cheap(),
                                   farm(&same).replicas(2).by(first))) == 30);
}

namespace {

/// Takes one tuple, and is never done with it.
class stuck : public stage_actor<int, int> {
 public:
  void on_start() { hold_at_most(1); }
  void consume(int) { hold_ = hold(); }

 private:
  stage_hold hold_;
};

}  // namespace

TEST_CASE("a stage before a farm takes no tuple when one of its ways has no room") {
  const auto puts = seq([](int x, emit<int> out) { out(x); }).named("stage");
  const auto tries =
      seq([](int x, emit<int> out) { static_cast<void>(out.try_send_next(1000, std::move(x))); })
          .named("stage");
  const auto stands_still = [](const auto& stage) {
    for (const std::size_t capacity : {1U, 4U, 8U, 16U}) {
      CAPTURE(capacity);
      test_system kit(1);
      const auto h = spawn(kit, pipeline(counting(0, 1 << 20), stage,
                                         farm(seq_actor<stuck>().named("replica")).replicas(3),
                                         discard<int>()),
                           {.capacity = capacity});
      kit.run();
      const stream_report r = kit.request(h, get_report{}).get().value();
      std::uint64_t kept = stage_named(r, "stage").figures.in;
      for (const stage_report& s : r.stages)
        if (s.name.find("replica") != std::string::npos) kept -= s.figures.in + s.figures.waiting;
      CHECK(kept == 1);
      send(h, cancel{});
      kit.run();
    }
  };
  stands_still(puts);
  stands_still(tries);
}

namespace {

generator<int> hundred_of(int x) {
  for (int i = 0; i < 100; ++i) co_yield x - 1;
}
bool is_left(const int& x) { return x > 0; }
int first_of(std::vector<int> all) { return all.front(); }

}  // namespace

TEST_CASE("a source stops when somebody behind a stage that waits or goes on has enough") {
  const auto stops = [](const auto& stage) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      test_system kit(seed);
      const auto h = spawn(kit,
                           pipeline(seq(counting(0, 100'000)).named("source"), stage,
                                    take<int>(10), count()),
                           {.capacity = 16});
      kit.run_for(duration::seconds(1000));
      CHECK(kit.request(h, join{}).get().value() == 10);
      CHECK(stage_named(kit.request(h, get_report{}).get().value(), "source").figures.out < 50'000);
    }
  };
  stops(seq(&hundred_of));
  stops(throttle<int>(1e6));
  stops(pipeline(batch<int>(5, duration::milliseconds(1)), &first_of));
}

TEST_CASE("a loop ends although a generator in it is given up") {
  const auto p = pipeline(
      counting(5, 50), feedback(pipeline(&hundred_of, take<int>(20)), &is_left), count());
  for (const std::size_t capacity : {1U, 2U, 4U})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      test_system kit(seed);
      const auto h = spawn(kit, p, {.capacity = capacity});
      kit.run();
      REQUIRE(kit.request(h, get_report{}).get().value().ended);
      CHECK(kit.request(h, join{}).get().value() < 20);
    }
}

}  // namespace taken_back_test
