// Stages that are actors at the beginning of a stream, and ones that end early.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/explore.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stage_actor_life_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;

class adder : public stage_actor<int, int> {
 public:
  void consume(int x) { send_next(x + 1); }
};

struct next {};
/// Puts out numbers of its own, one on each turn, beside those that it is fed with.
class well : public stage_actor<int, int, void(next)> {
 public:
  explicit well(int n) : left_(n), keep_() {}
  void on_start() {
    keep_ = hold();
    send(ref<protocol<void(next)>>(self()), next{});
  }
  void consume(int x) { send_next(1000 + x); }
  void on(next) {
    if (left_ == 0) {
      keep_ = stage_hold();
      return;
    }
    send_next(--left_ + 0);
    send(ref<protocol<void(next)>>(self()), next{});
  }

 private:
  int left_;
  stage_hold keep_;
};

struct leave_now {};
/// Ends after some tuples, or on request.
class fickle : public stage_actor<int, int, void(leave_now)> {
 public:
  explicit fickle(int n) : left_(n) {}
  void on_start() { last = ref<protocol<void(leave_now)>>(self()); }
  void consume(int x) {
    send_next(std::move(x));
    if (--left_ == 0) quit();
  }
  void on(leave_now) { quit(); }
  static inline ref<protocol<void(leave_now)>> last;

 private:
  int left_;
};

/// Ends after a tuple, and has bad last words.
class swearing : public stage_actor<int, int> {
 public:
  void consume(int x) {
    send_next(std::move(x));
    quit();
  }
  void on_exit(const exit_reason&) { throw std::runtime_error("last words"); }
};

/// Everything that was put out was taken, or is counted.
void check_accounts(const stream_report& r) {
  std::uint64_t out = 0, in = 0;
  for (const stage_report& s : r.stages) {
    out += s.figures.out;
    if (s.name != "input") in += s.figures.in;
  }
  CHECK(out == in + r.left);
}

}  // namespace

TEST_CASE("a stream that begins with a stage's actor is fed like any other") {
  for (const std::size_t capacity : {1U, 64U}) {
    test_system kit(1);
    const auto h = spawn(kit, pipeline(seq_actor<adder>(), collect()), {.capacity = capacity});
    for (int i = 0; i < 100; ++i) send(h, i);
    send(h, end_of_stream{});
    kit.run();
    std::vector<int> expected(100);
    std::iota(expected.begin(), expected.end(), 1);
    CHECK(kit.request(h, join{}).get().value() == expected);
  }
}

TEST_CASE("a stage's actor may be a source of its own, and the stream waits for it") {
  for (const std::size_t capacity : {1U, 64U})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      test_system kit(seed);
      const auto h = spawn(kit, pipeline(seq_actor<well>(50), collect()), {.capacity = capacity});
      send(h, 1);
      send(h, end_of_stream{});
      kit.run();
      const std::vector<int> got = kit.request(h, join{}).get().value();
      CHECK(got.size() == 51);
      CHECK(std::accumulate(got.begin(), got.end(), 0) == 49 * 25 + 1001);
    }
  actor_system system;
  const auto h = spawn(system, pipeline(seq_actor<well>(5000), collect()), {.capacity = 4});
  send(h, end_of_stream{});
  CHECK(system.request(h, join{}).get().value().size() == 5000);
}

TEST_CASE("a stage's actor that quits in the middle ends the stream, and nothing is uncounted") {
  for (const std::size_t capacity : {1U, 8U, 1024U})
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      CAPTURE(seed);
      test_system kit(seed);
      const auto h = spawn(kit,
                           pipeline(
                               counting(0, 200), seq_actor<fickle>(50).named("fickle"),
                               [](int x) { return x; }, discard<int>()),
                           {.capacity = capacity, .in_place = seed % 2 == 0, .fuse = false});
      kit.run();
      const auto end = kit.request(h, join{}).get();
      REQUIRE_FALSE(end);
      CHECK(end.error() == errc::receiver_failed);
      CHECK(end.error().to_string().find("fickle: the stage's actor has ended before its input") !=
            std::string::npos);
      check_accounts(kit.request(h, get_report{}).get().value());
      fickle::last = {};
      CHECK(kit.actor_count() == 1);
    }
}

TEST_CASE("a stage's actor that is told to quit ends the stream, with and without tuples") {
  for (const int tuples : {0, 3}) {
    test_system kit(1);
    const auto h = spawn(kit, pipeline(seq_actor<fickle>(1000).named("fickle"), discard<int>()));
    for (int i = 0; i < tuples; ++i) send(h, i);
    kit.run();
    send(std::exchange(fickle::last, {}), leave_now{});
    kit.run();
    CHECK(kit.request(h, join{}).get().error() == errc::receiver_failed);
    send(h, 7);  // comes too late
    kit.run();
    check_accounts(kit.request(h, get_report{}).get().value());
  }
}

TEST_CASE("a replica's actor that quits ends the stream of all replicas") {
  test_system kit(1);
  const auto h =
      spawn(kit,
            pipeline(counting(0, 1 << 30), farm(seq_actor<fickle>(20).named("fickle")).replicas(3),
                     discard<int>()),
            {.capacity = 4});
  kit.run();
  CHECK(kit.request(h, join{}).get().error().to_string().find("fickle") != std::string::npos);
  check_accounts(kit.request(h, get_report{}).get().value());
  fickle::last = {};
}

TEST_CASE("a stream ends also if the on_exit of a stage's actor throws") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, pipeline(counting(0, 10), seq_actor<swearing>(), collect()));
    kit.run();
    REQUIRE(kit.request(h, get_report{}).get().value().ended);
    CHECK(kit.request(h, join{}).get().error() == errc::receiver_failed);
  }
}

namespace {

struct take_turn {
  int x = 0;
};
/// Puts each number out on a turn of its own, and throws there on some.
class later : public stage_actor<int, int, void(take_turn)> {
 public:
  later(bool tries, int bad) : tries_(tries), bad_(bad) {}
  void consume(int x) {
    holds_.push_back(hold());
    send(ref<protocol<void(take_turn)>>(self()), take_turn{x});
  }
  void on(take_turn t) {
    if (t.x == bad_) throw std::runtime_error("a bad turn");
    if (!tries_)
      send_next(std::move(t.x));
    else if (try_send_next(1000, std::move(t.x)))
      throw std::logic_error("there was room");
    holds_.pop_back();
  }
  void on_restart() { throw std::logic_error("what it has put out is no failure of consume"); }

 private:
  bool tries_;
  int bad_;
  std::vector<stage_hold> holds_;
};

int key_of_number(const int& x) {
  if (x % 5 == 3) throw std::runtime_error("no key");
  return x;
}
node_figures figures_of(const stream_report& r, const std::string& name) {
  for (const stage_report& s : r.stages)
    if (s.name == name) return s.figures;
  throw std::logic_error("no stage " + name);
}

}  // namespace

TEST_CASE("a result without a way on a later turn of a stage's actor fails by the stage's policy") {
  const auto keyed = farm([](int x) { return x; }).replicas(2).by_key(key_of_number);
  for (const bool tries : {false, true})
    for (const on_failure policy : {on_failure::fail, on_failure::skip, on_failure::restart})
      testkit::explore(40, [&](test_system& kit) {
        const auto stage = seq_actor<later>(tries, -1).named("later").on(policy);
        const auto h = spawn(kit, pipeline(counting(0, 20), stage, keyed, collect()),
                             {.capacity = std::size_t{1} << kit.seed() % 6});
        kit.run();
        const auto got = kit.request(h, join{}).get();
        const stream_report r = kit.request(h, get_report{}).get().value();
        const node_figures f = figures_of(r, "later");
        CHECK(f.in == f.out + f.failures + f.dropped);
        if (policy == on_failure::fail) {
          REQUIRE_FALSE(got.has_value());
          CHECK(got.error().to_string().find("later: no key") != std::string::npos);
          CHECK(f.failures >= 1);
          return;
        }
        REQUIRE(got.has_value());
        CHECK(got->size() == 16);
        CHECK(f.in == 20);
        CHECK(f.failures == 4);
        CHECK(kit.dead_letters().size() == 4);
        CHECK(kit.expect_dead_letter<int>(errc::receiver_failed).content.find('3') !=
              std::string::npos);
      });
}

TEST_CASE(
    "a handler of a stage's actor that throws is counted, and so are tuples that the actor held") {
  testkit::explore(100, [](test_system& kit) {
    const auto stage = seq_actor<later>(false, 7).named("later").on(on_failure::skip);
    const auto h = spawn(kit, pipeline(counting(0, 20), stage, discard<int>()),
                         {.capacity = std::size_t{1} << kit.seed() % 6});
    kit.run();
    const auto end = kit.request(h, join{}).get();
    REQUIRE_FALSE(end);
    CHECK(end.error().to_string().find("a bad turn") != std::string::npos);
    const stream_report r = kit.request(h, get_report{}).get().value();
    const node_figures f = figures_of(r, "later");
    CHECK(f.failures == 1);
    CHECK(f.in == f.out + f.dropped);
    CHECK(f.dropped >= 1);
    check_accounts(r);
    CHECK(kit.actor_count() == 1);
  });
}

namespace {

/// Puts out a long text on a turn of its own.
class long_winded : public stage_actor<int, std::string, void(take_turn)> {
 public:
  void consume(int x) { send(ref<protocol<void(take_turn)>>(self()), take_turn{x}); }
  void on(const take_turn& t) { send_next(std::string(40, t.x == 1 ? 'x' : 'a')); }
};

}  // namespace

TEST_CASE(
    "the dead letter of a result without a way on a later turn is the value, farms deep inside") {
  const auto no_x = [](const std::string& s) {
    if (s.front() == 'x') throw std::runtime_error("no x");
    return s.size();
  };
  const auto size = [](const std::string& s) { return static_cast<int>(s.size()); };
  const auto keyed = farm(size).replicas(2).by_key(no_x);
  test_system kit(1);
  const auto h = spawn(kit, pipeline(seq_actor<long_winded>().on(on_failure::skip),
                                     farm(keyed).replicas(2), collect()));
  for (const int x : {0, 1, 2}) send(h, x);
  kit.run();
  send(h, end_of_stream{});
  kit.run();
  CHECK(kit.request(h, join{}).get().value() == std::vector<int>{40, 40});
  CHECK(kit.expect_dead_letter<std::string>(errc::receiver_failed)
            .content.find(std::string(40, 'x')) != std::string::npos);
}

}  // namespace stage_actor_life_test
