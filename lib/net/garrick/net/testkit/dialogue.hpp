// A test program for every stack with `actor_protocol` on top: two hosts ask each other questions
// under faults, and a `question_checker` watches (the guarantee `processed`).
//
//   explore_network(seeds(), [&](simulated_network& net) { dialogue(net, kind, {}); });
//
// The seed decides the questions, their times and limits, and the answers. Now and then a host
// takes a question back, sends bytes that are not a frame, or answers against the rules.
//
// Thread safety: plain functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/question_checker.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/testkit/simulated_network.hpp"
#include "garrick/net/testkit/stack_kind.hpp"

namespace garrick::net::testkit {

/// Settings of the program.
struct dialogue_settings {
  std::uint32_t questions = 60;                               ///< tried by each host
  std::uint64_t pairs = 4;                                    ///< pairs of actors that talk
  base::duration between = base::duration::milliseconds(10);  ///< average time between questions
  base::duration limit = base::duration::seconds(1);          ///< the longest limit of a question
  path_settings path{};                                       ///< the settings of both directions
  /// The faults; the hosts are "a", which connects, and "b". If all weights are 0, there are no
  /// faults.
  fault_plan faults{};
  /// The time without faults at the end, after which every answer is due.
  base::duration settles = base::duration::seconds(60);
  bool may_go_down = true;  ///< false: no link may go down
};

/// The figures of a run.
struct dialogue_result {
  question_checker::figures seen;  ///< the questions by their ends
  std::size_t downs = 0;           ///< links that went down
};

/// Runs the program in a new network, over a kind of stacks with `actor_protocol` on top. Throws a
/// `network_failure` if a guarantee was broken.
dialogue_result dialogue(simulated_network& net, const stack_kind& kind,
                         const dialogue_settings& s);

}  // namespace garrick::net::testkit
