// The questions of actors over the library's own stacks: each ends once, under all faults of the
// network and of the other end.
#include <doctest/doctest.h>

#include <string>

#include "garrick/net/testkit/dialogue.hpp"
#include "garrick/net/testkit/explore_network.hpp"
#include "garrick/net/testkit/internal/standard_kinds.hpp"

namespace questions_test {

using garrick::base::duration;
using namespace garrick::net;
using namespace garrick::net::testkit;
using namespace garrick::net::testkit::internal;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

constexpr path_settings rough{.delay = ms(5),
                              .jitter = ms(5),
                              .loss = 0.1,
                              .duplication = 0.05,
                              .reordering = 0.1,
                              .late_by = ms(20)};

/// Returns faults so short that no peer is given up.
fault_plan short_faults() {
  return {.cuts = 2,
          .one_way_cuts = 1,
          .resets = 2,
          .half_opens = 1,
          .pauses = 1,
          .jumps = 1,
          .rates = 1,
          .storms = 1,
          .from = ms(500)};
}
fault_plan faults_with_crashes() {
  fault_plan f = short_faults();
  f.crashes = 2;
  return f;
}

void add(question_checker::figures& all, const question_checker::figures& one) {
  all.asked += one.asked;
  all.answered += one.answered;
  all.refused += one.refused;
  all.timeouts += one.timeouts;
  all.perhaps += one.perhaps;
  all.cancelled += one.cancelled;
  all.no_frames += one.no_frames;
}

}  // namespace

TEST_CASE("questions: without faults each is answered, or its time is over") {
  for (const stack_kind& k : talking_kinds())
    explore_network(seeds() / 10 + 1, [&](simulated_network& net) {
      const dialogue_result r =
          dialogue(net, k, {.path = {.delay = ms(5)}, .settles = ms(5000), .may_go_down = false});
      const auto& n = r.seen;
      net.require(n.asked == 120 && n.perhaps == 0, k.name + ": not everything was asked");
      net.require(n.answered + n.refused + n.timeouts + n.cancelled == n.asked,
                  k.name + ": not every question has ended");
    });
}

TEST_CASE("questions: over to_mailbox each is answered through short faults") {
  question_checker::figures all;
  for (const stack_kind& k : talking_kinds()) {
    if (!k.promises.to_mailbox) continue;
    explore_network(seeds(), [&](simulated_network& net) {
      const dialogue_result r = dialogue(
          net, k,
          {.path = rough, .faults = short_faults(), .settles = ms(40'000), .may_go_down = false});
      net.require(r.seen.perhaps == 0 && r.seen.asked > 30, k.name + ": a question was given up");
      add(all, r.seen);
    });
  }
  CHECK(all.answered > all.asked / 2);
  CHECK(all.refused > 0);
  CHECK(all.timeouts > 0);
  CHECK(all.cancelled > 0);
  CHECK(all.no_frames > 0);
}

TEST_CASE("questions: each is answered though streams carry nothing any more") {
  const fault_plan stalls{
      .stalls = 1, .from = ms(3'000), .until = ms(20'000), .between = ms(6'000)};
  for (const stack_kind& k : talking_kinds()) {
    if (!k.promises.to_mailbox || !k.streams) continue;
    explore_network(seeds() / 4 + 1, [&](simulated_network& net) {
      const dialogue_result r = dialogue(net, k,
                                         {.between = ms(200),
                                          .path = rough,
                                          .faults = stalls,
                                          .settles = ms(40'000),
                                          .may_go_down = false});
      net.require(r.seen.perhaps == 0 && r.seen.asked > 30, k.name + ": a question was given up");
    });
  }
}

TEST_CASE("questions: each ends once over every stack, through crashes, too") {
  for (const stack_kind& k : talking_kinds()) {
    CAPTURE(k.name);
    question_checker::figures all;
    std::size_t downs = 0;
    explore_network(seeds(), [&](simulated_network& net) {
      const dialogue_result r =
          dialogue(net, k, {.path = rough, .faults = faults_with_crashes(), .settles = ms(60'000)});
      add(all, r.seen);
      downs += r.downs;
    });
    // Every possible end of a question has occurred.
    CHECK(all.answered > all.asked / 8);
    CHECK(all.refused > 0);
    CHECK(all.timeouts > 0);
    CHECK(all.perhaps > 0);
    CHECK(all.cancelled > 0);
    CHECK(all.no_frames > 0);
    CHECK(downs > 0);
  }
}

}  // namespace questions_test
