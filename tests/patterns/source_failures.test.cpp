// The fate of a stream after an exception that belongs to no tuple: of a source, a time, the
// beginning or the end of a stage.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>
#include <patterns/in_all_ways.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace source_failures_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;
using tests::collect;

/// The outcome of a stream.
struct outcome {
  result<std::vector<int>> got;
  std::uint64_t failures;  ///< of all stages
};
template <class Kit, class Handle>
outcome outcome_of(Kit& kit, const Handle& h) {
  outcome o{kit.request(h, join{}).get(), 0};
  for (const stage_report& s : kit.request(h, get_report{}).get().value().stages)
    o.failures += s.figures.failures;
  return o;
}
template <class P, class Check>
void in_each_system(const P& p, const Check& check) {
  for (const stream_options& o :
       {stream_options{}, stream_options{.capacity = 1},
        stream_options{.capacity = 4, .in_place = false, .fuse = false}}) {
    CAPTURE(o.capacity);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(seed);
      test_system kit(seed);
      const auto h = spawn(kit, p, o);
      kit.run();
      check(outcome_of(kit, h));
    }
    settings quiet;
    quiet.log.level = system::log_level::off;
    actor_system real(quiet);
    const auto h = spawn(real, p, o);
    check(outcome_of(real, h));
  }
}
/// The stream fails with these words, after this many failures.
template <class P>
void fails_with(const P& p, const std::string& words, std::uint64_t failures) {
  in_each_system(p, [&](const outcome& o) {
    REQUIRE_FALSE(o.got.has_value());
    CHECK(o.got.error() == errc::receiver_failed);
    const std::string text = o.got.error().to_string();
    CAPTURE(text);
    CHECK(text.find(words) != std::string::npos);
    CHECK(o.failures == failures);
  });
}

/// A source of three numbers, before each of which it throws some times.
struct moody {
  std::uint32_t times;
  std::uint32_t thrown = 0;
  int next = 0;
  bool operator()(emit<int> out) {
    if (next == 3) return false;
    if (thrown++ < times) {
      out(-1);
      throw std::runtime_error("not now");
    }
    thrown = 0;
    out(next++);
    return true;
  }
};
auto source_that_throws(std::uint32_t times) { return seq(moody{times}).named("moody"); }

generator<int> two_and_a_failure() {
  co_yield 0;
  co_yield 1;
  throw std::runtime_error("no third");
}

/// Its times come, and when they do, it throws: all but one of `throws_of` times.
struct ill_timed {
  std::uint32_t throws_of;
  std::uint32_t times = 0;
  instant now{};
  instant due = instant::never();
  void time_is(instant t) { now = t; }
  [[nodiscard]] instant deadline() const { return due; }
  void on_time(instant /*now*/, emit<int> out) {
    out(100);
    if (++times % throws_of != 0) throw std::runtime_error("too late");
    due = instant::never();
  }
  void consume(int x, emit<int> out) {
    due = now + duration::milliseconds(1);
    out(x);
  }
};

struct hasty {
  bool at_start;
  void on_start() const {
    if (at_start) throw std::runtime_error("no start");
  }
  int consume(int x) { return x; }
  void on_stop() const { throw std::runtime_error("no stop"); }
};
struct hasty_actor : stage_actor<int, int> {
  explicit hasty_actor(bool s) : at_start(s) {}
  bool at_start;
  void on_start() const {
    if (at_start) throw std::runtime_error("no start");
  }
  void consume(int x) { send_next(std::move(x)); }
  void on_stop() const { throw std::runtime_error("no stop"); }
};

}  // namespace

TEST_CASE("a source that skips is asked again, and its results before it threw are dropped") {
  in_each_system(
      pipeline(source_that_throws(most_failures_in_a_row - 1).on(on_failure::skip), collect()),
      [](const outcome& o) {
        CHECK(o.got.value() == std::vector<int>{0, 1, 2});
        CHECK(o.failures == 3 * (most_failures_in_a_row - 1));
      });
}

TEST_CASE("a source that always throws ends the stream with an error that names it") {
  const auto always = source_that_throws(1U << 30);
  fails_with(pipeline(always, collect()), "moody: not now", 1);
  for (const on_failure policy : {on_failure::skip, on_failure::restart})
    fails_with(pipeline(always.on(policy), collect()),
               "moody: it has thrown 1000 times in a row, the last time: not now",
               most_failures_in_a_row);
}

TEST_CASE("a generator that has thrown is over if it skips, and begins anew if it restarts") {
  const auto source = seq(two_and_a_failure);
  fails_with(pipeline(source.named("two"), collect()), "two: no third", 1);
  in_each_system(pipeline(source.on(on_failure::skip), collect()), [](const outcome& o) {
    CHECK(o.got.value() == std::vector<int>{0, 1});
    CHECK(o.failures == 1);
  });
  in_each_system(pipeline(source.on(on_failure::restart), take<int>(5), collect()),
                 [](const outcome& o) { CHECK(o.got.value() == std::vector<int>{0, 1, 0, 1, 0}); });
}

TEST_CASE("a stage that throws whenever its time comes ends the stream, if it does so in a row") {
  for (const std::uint32_t throws_of : {most_failures_in_a_row, most_failures_in_a_row + 1}) {
    test_system kit(1);
    const auto h = spawn(
        kit, pipeline(seq<ill_timed>(ill_timed{throws_of}).named("clock").on(on_failure::skip),
                      collect()));
    for (int i = 0; i < 3; ++i) {
      send(h, i);
      kit.run_for(duration::milliseconds(5));
    }
    send(h, end_of_stream{});
    kit.run();
    const outcome o = outcome_of(kit, h);
    if (throws_of == most_failures_in_a_row) {
      CHECK(o.got.value() == std::vector<int>{0, 100, 1, 100, 2, 100});
      CHECK(o.failures == 3 * (most_failures_in_a_row - 1));
    } else {
      REQUIRE_FALSE(o.got.has_value());
      CHECK(o.got.error().to_string().find("clock: it has thrown 1000 times in a row") !=
            std::string::npos);
      CHECK(o.failures == most_failures_in_a_row);
    }
  }
}

TEST_CASE("an exception of a stage at its beginning or its end is counted as a failure") {
  for (const bool at_start : {true, false}) {
    const std::string why = at_start ? "no start" : "no stop";
    fails_with(pipeline(counting(0, 5), seq<hasty>(hasty{at_start}), collect()), why, 1);
    fails_with(pipeline(counting(0, 5), seq<hasty>(hasty{at_start}).cheap(), collect()), why, 1);
    fails_with(pipeline(counting(0, 5), seq_actor<hasty_actor>(at_start), collect()), why, 1);
  }
}

}  // namespace source_failures_test
