// A program that every stack is put through: two hosts send each other messages while things go
// wrong, and a `guarantee_checker` watches.
//
//   const stack_kind framed{
//       .name = "framed",
//       .promises = {.once = true, .ordered = true, .gapless = true},
//       .streams = true,
//       .reopens = false,
//       .make = [](link_owner& o, carrier& c, const stack_place&) {
//         return std::make_unique<stack<byte_stream, framing>>(o, c, framing());
//       }};
//   explore_network(seeds(), [&](simulated_network& net) { exchange(net, framed, {}); });
//
// A stack more is a `stack_kind` more. What is sent, how large it is, in which lane and when, the
// seed says.
//
// Thread safety: plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/guarantee_checker.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/testkit/simulated_network.hpp"
#include "garrick/net/testkit/stack_kind.hpp"

namespace garrick::net::testkit {

/// What two hosts do.
struct exchange_settings {
  std::uint32_t messages = 60;                                ///< that each host tries to send
  std::vector<lane_number> lanes{0, 1, 2, 3};                 ///< in which
  base::duration between = base::duration::milliseconds(10);  ///< them, on the average
  path_settings path{};                                       ///< of both directions
  /// What goes wrong; its hosts are "a", which connects, and "b". All weights 0: nothing does.
  fault_plan faults{};
  /// How long everything is whole at the end, before what was promised is due.
  base::duration settles = base::duration::seconds(60);
  /// Probability that a message is not in its mailbox at once, of links that promise `to_mailbox`.
  double late_mailbox = 0.25;
  /// After a link that went down the next one is of the same two lives.
  bool same_life = false;
  /// False: no link may go down; for faults that none of its peers is given up for.
  bool may_go_down = true;
};

/// What came of it.
struct exchange_result {
  std::size_t sent = 0;      ///< messages that links have taken
  std::size_t received = 0;  ///< of them in mailboxes
  std::size_t unknown = 0;   ///< of them reported as unknown
  std::size_t downs = 0;     ///< links that went down
};

/// Runs the program in a new network. Throws a `network_failure` if a promise was broken.
exchange_result exchange(simulated_network& net, const stack_kind& kind,
                         const exchange_settings& s);

}  // namespace garrick::net::testkit
