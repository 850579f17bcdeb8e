// A program that every stack with `actor_protocol` on top is put through: two hosts ask each other
// questions while things go wrong, and a `question_checker` watches (the guarantee `processed`).
//
//   explore_network(seeds(), [&](simulated_network& net) { dialogue(net, kind, {}); });
//
// What is asked, when, with how much time, and what is answered, the seed says. Now and then a host
// takes a question back, sends what is no frame, or answers as it must not.
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

/// What two hosts do.
struct dialogue_settings {
  std::uint32_t questions = 60;                               ///< that each host tries to ask
  std::uint64_t pairs = 4;                                    ///< of actors, which talk
  base::duration between = base::duration::milliseconds(10);  ///< questions, on the average
  base::duration limit = base::duration::seconds(1);          ///< for those that have one, at most
  path_settings path{};                                       ///< of both directions
  /// What goes wrong; its hosts are "a", which connects, and "b". All weights 0: nothing does.
  fault_plan faults{};
  /// How long everything is whole at the end, before every answer is due.
  base::duration settles = base::duration::seconds(60);
  bool may_go_down = true;  ///< false: no link may go down
};

/// What came of it.
struct dialogue_result {
  question_checker::figures seen;  ///< how questions have ended
  std::size_t downs = 0;           ///< links that went down
};

/// Runs the program in a new network, over a kind whose stacks have `actor_protocol` on top. Throws
/// a `network_failure` if a promise was broken.
dialogue_result dialogue(simulated_network& net, const stack_kind& kind,
                         const dialogue_settings& s);

}  // namespace garrick::net::testkit
