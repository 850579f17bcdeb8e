// The results of a tuple that fails are taken back, whole and alone: on the way back in a loop, in
// a broadcast whose copies throw, and at the end of a source. And stages stop, wait and count
// rightly where several ways meet.
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

/// The number of copies that can still be made.
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

TEST_CASE("no replica gets a tuple of a broadcast that could not be copied for all") {
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

TEST_CASE("results that a source has put out when it throws are handed on or counted as dropped") {
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
  const node_figures f = stage_named(kit.request(h, get_report{}).get().value(), "five").figures;
  CHECK(f.out + f.dropped == 5);
}

namespace {

/// Offers thirty numbers for each that it takes, where less than `limit` wait.
template <std::size_t Limit>
void offers_thirty(int, emit<int> out) {
  for (int i = 0; i < 30; ++i) static_cast<void>(out.try_send_next(Limit, int{i}));
}
/// Offers `n` at once, and ends.
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

TEST_CASE("try_send_next counts the results of the same step, in an ordered farm, too") {
  const auto one = pipeline(counting(0, 1), farm(seq(&offers_thirty<4>)).replicas(2).ordered());
  CHECK(number_of_results(one) == 4);
}

TEST_CASE("try_send_next refuses nothing while one of the replicas has room") {
  const auto three = farm(&same).replicas(3);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    CHECK(number_of_results(pipeline(seq(offers{12, 4}), three.random_member(seed))) == 12);
    CHECK(number_of_results(pipeline(seq(offers{13, 4}), three.random_member(seed))) == 12);
  }
}

TEST_CASE("before a farm, as many tuples count as waiting as at the emptiest replica") {
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
  const auto tries = seq([](int x, emit<int> out) {
                       static_cast<void>(out.try_send_next(1000, std::move(x)));
                     }).named("stage");
  const auto stands_still = [](const auto& stage, const char* name = "stage") {
    for (const std::size_t capacity : {1U, 4U, 8U, 16U}) {
      CAPTURE(capacity);
      test_system kit(1);
      const auto h =
          spawn(kit,
                pipeline(counting(0, 1 << 20), stage,
                         farm(seq_actor<stuck>().named("replica")).replicas(3), discard<int>()),
                {.capacity = capacity});
      kit.run();
      const stream_report r = kit.request(h, get_report{}).get().value();
      std::uint64_t kept = stage_named(r, name).figures.in;
      for (const stage_report& s : r.stages)
        if (s.name.find("replica") != std::string::npos) kept -= s.figures.in + s.figures.waiting;
      CHECK(kept == 1);
      send(h, cancel{});
      kit.run();
    }
  };
  stands_still(puts);
  stands_still(puts.on(on_failure::skip));
  stands_still(tries);
  const auto five = [](int x, emit<int> out) {
    for (int i = 0; i < 5; ++i) out(int{x});
  };
  stands_still(farm(five).replicas(2).ordered(), "collector");
}

namespace {

int pulled = 0;
generator<int> many_of(int x) {
  for (; pulled < 100'000; ++pulled) co_yield x;
}

}  // namespace

TEST_CASE("a generator in an ordered farm goes on only when there is room") {
  pulled = 0;
  test_system kit(1);
  const auto h = spawn(kit,
                       pipeline(counting(0, 1), farm(&many_of).replicas(2).ordered(),
                                seq_actor<stuck>(), discard<int>()),
                       {.capacity = 4});
  kit.run();
  CHECK(pulled < 50);
  send(h, cancel{});
  kit.run();
}

namespace {

generator<int> hundred_of(int x) {
  for (int i = 0; i < 100; ++i) co_yield x - 1;
}
bool is_left(const int& x) { return x > 0; }
int first_of(std::vector<int> all) { return all.front(); }
struct passing : stage_actor<int, int> {
  void consume(int x) { send_next(std::move(x)); }
};

}  // namespace

TEST_CASE("a source stops when a stage behind one that waits or goes on has enough") {
  const auto stops = [](const auto& stage) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      test_system kit(seed);
      const auto h = spawn(
          kit, pipeline(seq(counting(0, 100'000)).named("source"), stage, take<int>(10), count()),
          {.capacity = 16});
      kit.run_for(duration::seconds(1000));
      CHECK(kit.request(h, join{}).get().value() == 10);
      CHECK(stage_named(kit.request(h, get_report{}).get().value(), "source").figures.out < 50'000);
    }
  };
  stops(seq(&hundred_of));
  stops(seq_actor<passing>());
  stops(throttle<int>(1e6));
  stops(pipeline(batch<int>(5, duration::milliseconds(1)), &first_of));
}

TEST_CASE("a loop ends although a generator in it is given up") {
  const auto p =
      pipeline(counting(5, 50), feedback(pipeline(&hundred_of, take<int>(20)), &is_left), count());
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

namespace {

/// Puts out ten numbers at its end, all of which go round again.
struct last_words {
  static int consume(int x) { return x; }
  static void on_stop(emit<int> out) {
    for (int i = 0; i < 10; ++i) out(1);
  }
};
struct last_words_of_an_actor : stage_actor<int, int> {
  void consume(int x) { send_next(std::move(x)); }
  void on_stop() {
    for (int i = 0; i < 10; ++i) send_next(1);
  }
};

}  // namespace

TEST_CASE(
    "results that a stage in a loop puts out at its end, while the loop goes on, count for it") {
  const auto ends = [](const auto& stage) {
    const auto p =
        pipeline(counting(0, 100), feedback(pipeline(take<int>(5), stage), &is_left), count());
    for (const std::size_t capacity : {1U, 2U, 4U, 16U})
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(capacity);
        CAPTURE(seed);
        test_system kit(seed);
        const auto h = spawn(kit, p, {.capacity = capacity, .in_place = seed % 2 == 0});
        kit.run();
        const stream_report r = kit.request(h, get_report{}).get().value();
        REQUIRE(r.ended);
        // the tuples that come back are counted where they are dropped
        CHECK(stage_named(r, "take").figures.dropped >= 10);
      }
  };
  ends(seq<last_words>());
  ends(seq_actor<last_words_of_an_actor>());
}

namespace {

class in_the_middle {
 public:
  explicit in_the_middle(bool* begun) : begun_(begun) {}
  void on_start() { *begun_ = true; }
  int consume(int x) { return x; }
  void on_stop(emit<int> out) { out(7); }

 private:
  bool* begun_;
};
void two_or_none(int x, emit<int> out) {
  out(x);
  if (x == 7) throw std::runtime_error("seven");
  out(x);
}

}  // namespace

TEST_CASE("of stages that are one node, each begins and ends, and a failed step is taken back") {
  bool begun = false;
  const auto plain = seq(&same).cheap();
  CHECK(number_of_results(pipeline(counting(0, 5), plain, plain,
                                   seq<in_the_middle>(lent(&begun)).cheap(), plain)) == 6);
  CHECK(begun);
  test_system kit(1);
  const auto h =
      spawn(kit, pipeline(counting(0, 20), farm(&same).replicas(1), seq(&same).named("a").cheap(),
                          seq(&two_or_none).named("b").cheap(), farm(&same).replicas(1), count()));
  kit.run();
  CHECK_FALSE(kit.request(h, join{}).get().has_value());
  CHECK(stage_named(kit.request(h, get_report{}).get().value(), "a+b").figures.out == 14);
}

namespace {

/// Puts out ten numbers on a turn of its own, with no tuple.
struct chatty : stage_actor<int, int, void(std::string)> {
  void on_start() { me = ref<protocol<void(std::string)>>(self()); }
  void consume(int) {}
  void on(const std::string&) {
    for (int i = 0; i < 10; ++i) send_next(int{i});
  }
  static inline ref<protocol<void(std::string)>> me;
};

}  // namespace

TEST_CASE(
    "results that an actor puts out on a turn of its own find their room without any other node") {
  for (const bool in_place : {true, false}) {
    CAPTURE(in_place);
    test_system kit(1);
    const auto h = spawn(kit, pipeline(seq_actor<chatty>(), seq([](int) {}).named("sink")),
                         {.capacity = 2, .in_place = in_place});
    kit.run();
    send(std::exchange(chatty::me, {}), std::string("go"));
    kit.run();
    CHECK(stage_named(kit.request(h, get_report{}).get().value(), "sink").figures.in == 10);
    send(h, end_of_stream{});
    kit.run();
  }
}

TEST_CASE("a tuple that an actor feeds and that cannot be copied for all has failed alone") {
  copies_left = 1;
  test_system kit(1);
  const auto h =
      spawn(kit, pipeline(farm(seq([](rare) {}).named("replica")).replicas(3).broadcast()));
  send(h, rare(1));
  kit.run();
  CHECK_FALSE(kit.request(h, join{}).get().has_value());
  const node_figures f = stage_named(kit.request(h, get_report{}).get().value(), "input").figures;
  CHECK(f.failures == 1);
  CHECK(f.out + f.dropped == 0);
}

TEST_CASE("a gate and a collector count a tuple that has no way as taken and failed") {
  const auto key = [](const int& x) {
    if (x == 7) throw std::runtime_error("no key");
    return x;
  };
  const auto never = [](const int&) { return false; };
  const auto keyed = farm(&same).replicas(2).by_key(key);
  const auto fails_at = [](const auto& p, const std::string& who) {
    CAPTURE(who);
    test_system kit(1);
    const auto h = spawn(kit, pipeline(counting(0, 20), p, count()));
    kit.run();
    CHECK_FALSE(kit.request(h, join{}).get().has_value());
    const node_figures f = stage_named(kit.request(h, get_report{}).get().value(), who).figures;
    CHECK(f.in == 8);
    CHECK(f.out + f.dropped == 7);
    CHECK(f.failures == 1);
  };
  fails_at(feedback(keyed, never), "gate");
  fails_at(pipeline(farm(&same).replicas(2).ordered(), keyed), "collector");
}

TEST_CASE("a gate takes back a tuple that could not be copied for all") {
  copies_left = 1;
  test_system kit(1);
  const auto all = farm([](rare r) { return r; }).replicas(3).broadcast();
  const auto h = spawn(kit, pipeline(
                                counting(0, 1), [](int x) { return rare(x); },
                                feedback(all, [](const rare&) { return false; }), [](rare) {}));
  kit.run();
  CHECK_FALSE(kit.request(h, join{}).get().has_value());
  const node_figures f = stage_named(kit.request(h, get_report{}).get().value(), "gate").figures;
  CHECK(f.failures == 1);
  CHECK(f.out + f.dropped == 0);
}

TEST_CASE("tuples kept for the way back in a loop that is cancelled are counted as dropped") {
  const auto three = seq([](int x, emit<int> out) {
                       for (int i = 0; i < 3; ++i) out(int{x});
                     }).named("three");
  const auto p =
      pipeline(counting(0, 10), feedback(three, [](const int&) { return true; }), discard<int>());
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h = spawn(kit, p, {.capacity = 1 + seed % 3, .in_place = seed % 2 == 0});
    for (std::uint64_t i = 0; i < 4 * seed; ++i) kit.step();
    send(h, cancel{});
    kit.run();
    const node_figures f = stage_named(kit.request(h, get_report{}).get().value(), "three").figures;
    CHECK(f.out + f.dropped == 3 * f.in);
  }
}

namespace {

struct round {
  int key;
  std::int64_t at;
  int number;
};

}  // namespace

TEST_CASE("tuples that a join in a loop reads of its source are not counted in the loop") {
  const auto nearer =
      join_with(from(std::vector<round>{{0, 0, 0}, {1, 1, 0}, {2, 2, 0}}))
          .by(&round::key, &round::key)
          .event_time(&round::at, &round::at, out_of_order(1000))
          .within(0)
          .with([](const round& l, const round&) { return round{l.key, l.at, l.number + 1}; });
  const auto again = [](const round& r) { return r.number < 3; };
  const auto number = fold(0, [](int n, round) { return n + 1; });
  for (const std::size_t capacity : {1U, 2U, 16U})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      test_system kit(seed);
      const auto h = spawn(kit,
                           pipeline(
                               counting(0, 30), [](int x) { return round{x % 3, x % 3, 0}; },
                               feedback(nearer, again), number),
                           {.capacity = capacity});
      kit.run();
      REQUIRE(kit.request(h, get_report{}).get().value().ended);
      CHECK(kit.request(h, join{}).get().value() == 30);
    }
}

TEST_CASE("a tuple of which no copy can be kept has failed, and the stage goes on") {
  const auto stage = seq([](rare r) { return r.number; }).named("keeps");
  for (const on_failure policy : {on_failure::skip, on_failure::restart}) {
    copies_left = 5;
    test_system kit(1);
    const auto h = spawn(
        kit, pipeline(counting(0, 20), [](int x) { return rare(x); }, stage.on(policy), count()));
    kit.run();
    CHECK(kit.request(h, join{}).get().value() == 19);
    const node_figures f = stage_named(kit.request(h, get_report{}).get().value(), "keeps").figures;
    CHECK(f.in == 20);
    CHECK(f.failures == 1);
    CHECK(kit.dead_letters().size() == 1);
  }
}

TEST_CASE("a batch that was made anew waits as long as any other") {
  const auto bad = [](const std::vector<int>& all) {
    if (all.back() == 2) throw std::runtime_error("no key");
    return all.back();
  };
  test_system kit(1);
  kit.advance(duration::seconds(10));
  const auto h =
      spawn(kit, pipeline(batch<int>(3, duration::seconds(5)).on(on_failure::restart),
                          farm([](std::vector<int> all) { return all; }).replicas(2).by_key(bad),
                          seq([](std::vector<int>) {}).named("sink")));
  const auto batches = [&] {
    return stage_named(kit.request(h, get_report{}).get().value(), "sink").figures.in;
  };
  for (int i = 0; i < 4; ++i) send(h, int{i});
  kit.run();
  CHECK(batches() == 0);
  kit.run_for(duration::seconds(6));
  CHECK(batches() == 1);
  send(h, end_of_stream{});
  kit.run();
}

TEST_CASE("a source puts nothing out while one of its ways has no room") {
  static std::uint64_t produced;
  for (const std::size_t capacity : {1U, 4U, 8U}) {
    CAPTURE(capacity);
    produced = 0;
    test_system kit(1);
    const auto source = seq([](emit<int> out) {
      out(1);
      return ++produced < 1000;
    });
    const auto h = spawn(
        kit,
        pipeline(source, farm(seq_actor<stuck>().named("replica")).replicas(3), discard<int>()),
        {.capacity = capacity});
    kit.run();
    std::uint64_t kept = produced;
    for (const stage_report& s : kit.request(h, get_report{}).get().value().stages)
      if (s.name.find("replica") != std::string::npos) kept -= s.figures.in + s.figures.waiting;
    CHECK(kept == 1);
    send(h, cancel{});
    kit.run();
  }
}

}  // namespace taken_back_test
