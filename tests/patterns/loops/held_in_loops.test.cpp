// Stages in a loop that hold tuples until others come: when the source has ended and nothing else
// moves, they give them up, at once, and the loop ends.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace held_in_loops_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

using ints = std::vector<int>;
constexpr duration never = duration::infinite();
constexpr duration late = duration::seconds(600);

ints as_is(ints v) { return v; }
int less(int x) { return x - 1; }
bool goes_back(const int& x) { return x > 0; }
auto collect() {
  return fold(ints(), [](ints all, int x) {
    all.push_back(x);
    return all;
  });
}
/// Batches of `n` that come apart again.
auto batches(std::size_t n, duration within) {
  return pipeline(batch<int>(n, within), flat_map(as_is));
}
template <class Key, class W>
auto windows_of(W w) {
  return pipeline(std::move(w).fold(
                      ints(),
                      [](ints v, int x) {
                        v.push_back(x);
                        return v;
                      },
                      [](ints a, ints b) {
                        a.insert(a.end(), b.begin(), b.end());
                        return a;
                      }),
                  [](windowed<Key, ints> made, emit<int> out) {
                    for (const int x : made.value) out(x);
                  });
}

/// The numbers 0 to 29, each of which goes round as often as it says, come out, and time does not
/// advance. `drops`: a source in the loop has no end.
template <class P>
void ends_at_once(const P& around, bool drops = false) {
  for (const std::size_t capacity : {1U, 3U, 64U}) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      test_system kit(seed);
      const auto h = spawn(
          kit, pipeline(counting(0, 30), feedback(pipeline(around, less), goes_back), collect()),
          {.capacity = capacity});
      kit.run();
      const stream_report r = kit.request(h, get_report{}).get().value();
      REQUIRE(r.ended);
      const ints got = kit.request(h, join{}).get().value();
      CHECK(got.size() == 30);
      CHECK(std::all_of(got.begin(), got.end(), [](int x) { return x <= 0; }));
      CHECK(r.left == 0);
      for (const stage_report& s : r.stages) CHECK((drops || s.figures.dropped == 0));
    }
  }
}

}  // namespace

TEST_CASE("a batch in a loop is put out when the source has ended and nothing else moves") {
  for (const duration within : {never, late})
    for (const std::size_t n : {1U, 4U, 10U, 1000U}) ends_at_once(batches(n, within));
}

TEST_CASE(
    "several batches in a loop, in a row, in replicas and in loops of their own, are put out") {
  ends_at_once(pipeline(batches(7, never), batches(11, late)));
  ends_at_once(farm(batches(5, never)).replicas(3));
  ends_at_once(
      pipeline(feedback(batches(5, never), [](const int&) { return false; }), batches(100, never)));
  // the inner loop takes off more than the outer one
  ends_at_once(feedback(pipeline(batches(9, never), less), [](const int& x) { return x > 5; }));
}

TEST_CASE("windows by the clock in a loop are put out when the source has ended") {
  ends_at_once(windows_of<no_key>(window(tumbling(late))));
  ends_at_once(windows_of<no_key>(window(sessions(late))));
  ends_at_once(windows_of<int>(window(tumbling(late)).by(&less).replicas(2)));
}

TEST_CASE("a stage that holds no tuples back in a loop lets it end as well") {
  struct pupil : actor<protocol<int(int)>> {
    int on(int x) { return x; }
  };
  test_system kit(1);
  const auto asked = kit.spawn<pupil>();
  for (const bool in_order : {false, true}) {
    const auto a = in_order ? ask(asked, 3).ordered() : ask(asked, 3);
    const auto h =
        spawn(kit, pipeline(counting(0, 30),
                            feedback(pipeline(a, batches(8, never), less), goes_back), collect()));
    kit.run();
    CHECK(kit.request(h, join{}).get().value().size() == 30);
  }
  ends_at_once(
      pipeline(farm(seq([](int x) { return x; })).replicas(3).ordered(), batches(8, late)));
  ends_at_once(pipeline(
                   zip<int>(counting(0L, 1L << 40)), [](std::pair<int, long> p) { return p.first; },
                   batches(8, late)),
               true);
}

TEST_CASE("while the source goes on, a loop leaves batches alone") {
  test_system kit(1);
  ints got;
  const auto notes = [&got](int x) { got.push_back(x); };
  const auto h = spawn(
      kit, pipeline(feedback(pipeline(batches(10, never), less), goes_back), seq(lent(notes))),
      {.capacity = 2});
  for (int i = 0; i < 9; ++i) send(h, 1);
  kit.run_for(duration::seconds(60));
  CHECK(got.empty());
  send(h, 1);
  kit.run();
  CHECK(got.size() == 10);
  for (int i = 0; i < 5; ++i) send(h, 3);
  kit.run();
  CHECK(got.size() == 10);
  send(h, end_of_stream{});
  kit.run();
  CHECK(got.size() == 15);  // after three rounds
  CHECK(kit.request(h, join{}).get());
}

TEST_CASE("loops that hold batches end on threads, too") {
  settings s;
  s.scheduler.workers = 3;
  actor_system system(s);
  for (int round = 0; round < 50; ++round) {
    CAPTURE(round);
    const auto h =
        spawn(system,
              pipeline(counting(0, 300),
                       feedback(pipeline(farm(batches(7, never)).replicas(2), batches(50, late),
                                         [](int x) { return x - 20; }),
                                goes_back),
                       fold(0, [](int n, int) { return n + 1; })),
              {.capacity = 16});
    REQUIRE(system.request(h, join{}).get().value() == 300);
  }
}

}  // namespace held_in_loops_test
