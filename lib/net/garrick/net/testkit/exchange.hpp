// A test program for every stack: two hosts send each other messages under faults, and a
// `guarantee_checker` watches.
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
// A further stack needs a further `stack_kind`. The seed decides the messages, their sizes, lanes
// and times.
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

/// Settings of the program.
struct exchange_settings {
  std::uint32_t messages = 60;                                ///< tried by each host
  std::vector<lane_number> lanes{0, 1, 2, 3};                 ///< the messages' lanes
  base::duration between = base::duration::milliseconds(10);  ///< average time between messages
  path_settings path{};                                       ///< the settings of both directions
  /// The faults; the hosts are "a", which connects, and "b". If all weights are 0, there are no
  /// faults.
  fault_plan faults{};
  /// The time without faults at the end, after which all guarantees are due.
  base::duration settles = base::duration::seconds(60);
  /// Probability that a message enters its mailbox late, on links that promise `to_mailbox`.
  double late_mailbox = 0.25;
  /// True if a link that replaces a lost link belongs to the same two incarnations.
  bool same_life = false;
  /// False if no link may go down: for faults after which no peer is given up.
  bool may_go_down = true;
};

/// The figures of a run.
struct exchange_result {
  std::size_t sent = 0;      ///< messages that links have taken
  std::size_t received = 0;  ///< those of them that are in mailboxes
  std::size_t unknown = 0;   ///< those of them that were reported as unknown
  std::size_t downs = 0;     ///< links that went down
};

/// Runs the program in a new network. Throws a `network_failure` if a guarantee was broken.
exchange_result exchange(simulated_network& net, const stack_kind& kind,
                         const exchange_settings& s);

}  // namespace garrick::net::testkit
