// Where several rules meet: an actor or `take` at the end of a loop, a key that throws behind zip,
// answers after a cancellation, stages that cannot be copied, and a feeder before an actor.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace corner_cases_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

auto count() {
  return fold(0L, [](long n, int) { return n + 1; });
}
const stage_report& stage_named(const stream_report& r, const std::string& name) {
  for (const stage_report& s : r.stages)
    if (s.name == name) return s;
  throw std::logic_error("no stage " + name);
}

void two_less(int x, emit<int> out) {
  out(x - 1);
  out(x - 1);
}
struct splitting : stage_actor<int, int> {
  void consume(int x) {
    send_next(x - 1);
    send_next(x - 1);
  }
};
bool is_left(const int& x) { return x > 0; }
/// Returns the value of the stream; -1 if it does not end.
template <class P>
long value_of(const P& p, std::size_t capacity, std::uint64_t seed) {
  test_system kit(seed);
  const auto h = spawn(kit, p, {.capacity = capacity});
  kit.run_for(duration::seconds(100));
  const bool ended = kit.request(h, get_report{}).get().value().ended;
  if (!ended) send(h, cancel{});
  kit.run_for(duration::seconds(100));
  return ended ? kit.request(h, join{}).get().value() : -1;
}
template <class Check>
void in_small_channels(const Check& check) {
  for (const std::size_t capacity : {std::size_t{1}, std::size_t{2}, std::size_t{4}})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      check(capacity, seed);
    }
}

struct question {
  int x = 0;
};
struct answer_all {};
/// Answers on request.
class waiting_oracle : public actor<protocol<int(question), void(answer_all)>> {
 public:
  explicit waiting_oracle(bool refuses) : refuses_(refuses) {}
  result<int> on(question) {
    waiting_.push_back(make_promise<int>());
    return waiting_.back();
  }
  void on(answer_all) {
    for (auto& w : waiting_)
      if (refuses_)
        w.fail(make_error(errc::not_handled, "oracle", "no"));
      else
        w.deliver(1);
    waiting_.clear();
  }

 private:
  bool refuses_;
  std::vector<response_promise<int>> waiting_;
};

int bad_key(const std::pair<int, int>& p) {
  if (p.first == 7) throw std::runtime_error("seven");
  return p.first;
}

/// An object that can be copied `*left` times.
struct fickle {
  explicit fickle(int* left) : copies(left) {}
  fickle(const fickle& o) : copies(o.copies) {
    if (--*copies < 0) throw std::runtime_error("no copy");
  }
  int consume(int x) { return x; }
  int* copies;
};
struct fickle_actor : stage_actor<int, int> {
  explicit fickle_actor(fickle) {}
  void consume(int x) { send_next(x); }
};
/// Spawns it with all numbers of copies that are allowed, and ends it. Returns how often it failed.
template <class P>
int failures_to_begin(const P& p, int& copies) {
  constexpr int enough = 1000;
  int failed = 0;
  for (int allowed = 0; allowed < 60; ++allowed) {
    CAPTURE(allowed);
    copies = enough;
    auto mine = std::make_unique<P>(p);
    test_system kit(1);
    copies = allowed;
    try {
      const auto h = spawn(kit, std::move(*mine));
      kit.run();
      copies = enough;
      send(h, cancel{});
      kit.run();
      const auto got = kit.request(h, join{}).get();
      CHECK(got.error() != errc::would_block);
      if (got.error() != errc::cancelled) ++failed;
    } catch (const std::runtime_error&) {}  // a copy that spawn makes itself
    copies = enough;
    kit.run();
  }
  return failed;
}

struct pass : stage_actor<int, int> {
  void consume(int x) { send_next(x); }
};

}  // namespace

TEST_CASE(
    "an actor at the end of a loop hands on results that have found no room on the way back") {
  const auto p = pipeline(counting(5, 9), feedback(seq_actor<splitting>(), is_left), count());
  in_small_channels([&](std::size_t capacity, std::uint64_t seed) {
    CHECK(value_of(p, capacity, seed) == 32 + 64 + 128 + 256);
  });
}

TEST_CASE("a loop ends although take at its end has enough while its way back is full") {
  const auto p =
      pipeline(counting(5, 900), feedback(pipeline(two_less, take<int>(20)), is_left), count());
  in_small_channels([&](std::size_t capacity, std::uint64_t seed) {
    const long n = value_of(p, capacity, seed);
    CHECK(n >= 0);
    CHECK(n < 20);
  });
}

TEST_CASE("the pairs before one with a key that throws are handed on, and that one has failed") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    test_system kit(seed);
    const auto h =
        spawn(kit, pipeline(counting(0, 20), zip<int>(counting(0, 20)),
                            farm([](std::pair<int, int>) {}).replicas(2).by_key(bad_key)));
    kit.run();
    const stream_report r = kit.request(h, get_report{}).get().value();
    const node_figures zipped = stage_named(r, "zip").figures;
    CHECK(zipped.in == 16);
    CHECK(zipped.out + zipped.dropped == 7);
    CHECK(zipped.failures == 1);
  }
}

TEST_CASE("a tuple with an answer that comes after a cancellation is counted once") {
  for (const bool ordered : {false, true})
    for (const bool refuses : {false, true})
      for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(ordered);
        CAPTURE(refuses);
        CAPTURE(seed);
        test_system kit(seed);
        const auto who = kit.spawn<waiting_oracle>(refuses);
        auto asking = ask<question>(who, 8);
        if (ordered) asking = asking.ordered();
        const auto h = spawn(kit, pipeline(counting(0, 20), seq([](int x) { return question{x}; }),
                                           asking.on(on_failure::skip), discard<int>()));
        kit.run();
        send(who, answer_all{});
        send(h, cancel{});
        kit.run();
        const stream_report r = kit.request(h, get_report{}).get().value();
        REQUIRE(r.ended);
        const node_figures f = stage_named(r, "ask").figures;
        CHECK(f.in == f.out + f.dropped + f.failures);
      }
}

TEST_CASE("a stream that cannot be made fails, and leaves nothing behind") {
  int copies = 1000;
  const auto stages = farm(seq<fickle>(fickle(&copies))).replicas(3);
  CHECK(failures_to_begin(pipeline(counting(0, 10), stages, discard<int>()), copies) != 0);
  CHECK(failures_to_begin(pipeline(stages, discard<int>()), copies) != 0);
  const auto actors = farm(seq_actor<fickle_actor>(fickle(&copies))).replicas(3);
  CHECK(failures_to_begin(pipeline(counting(0, 10), actors, discard<int>()), copies) != 0);
}

TEST_CASE("a stream that feeds an actor lets that have its turns") {
  settings s;
  s.scheduler.workers = 1;
  s.mailbox.full_wait = core::longest_full_wait;  // it had waited that long for each tuple
  actor_system system(s);
  auto h = spawn(system, pipeline(seq_actor<pass>(), count()), {.capacity = 16});
  for (int i = 0; i < 5000; ++i) send(h, i);
  send(h, end_of_stream{});
  CHECK(system.request(h, join{}).get().value() == 5000);
}

namespace {

struct send_it {
  int x = 0;
};
/// Puts each tuple out on a turn of its own.
class late : public stage_actor<int, int, void(send_it)> {
 public:
  void consume(int x) {
    holds_.push_back(hold());
    send(ref<protocol<void(send_it)>>(self()), send_it{x});
  }
  void on(send_it s) {
    send_next(std::move(s.x));
    holds_.pop_back();
  }

 private:
  std::vector<stage_hold> holds_;
};

}  // namespace

TEST_CASE(
    "a loop is exact after a route refused a result that an actor put out on a turn of its own") {
  const auto key = [](const int& x) {
    if (x % 10 == 7) throw std::runtime_error("no key");
    return x;
  };
  const auto same = [](int x) { return x; };
  const auto never = [](const int&) { return false; };
  in_small_channels([&](std::size_t capacity, std::uint64_t seed) {
    const auto late_ones = seq_actor<late>().on(on_failure::skip);
    const auto branches = parallel(same, farm(same).replicas(2).by_key(key));
    CHECK(
        value_of(pipeline(counting(0, 50), feedback(pipeline(late_ones, branches), never), count()),
                 capacity, seed) == 2 * (50 - 5));
  });
}

TEST_CASE("an actor may be asked with a message that cannot be copied") {
  using lot = std::vector<std::unique_ptr<int>>;
  struct counter : actor<protocol<int(lot)>> {
    int on(lot l) { return static_cast<int>(l.size()); }
  };
  test_system kit(1);
  const auto make = [](int n) {
    lot l;
    for (int i = 0; i < n; ++i) l.push_back(std::make_unique<int>(i));
    return l;
  };
  const auto h = spawn(kit, pipeline(counting(0, 5), make, ask(kit.spawn<counter>(), 2),
                                     fold(0, [](int sum, int n) { return sum + n; })));
  kit.run();
  CHECK(kit.request(h, join{}).get().value() == 10);
}

}  // namespace corner_cases_test
