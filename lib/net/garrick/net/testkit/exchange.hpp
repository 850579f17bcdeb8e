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
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/stack/any_link.hpp"
#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/guarantee_checker.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/testkit/simulated_network.hpp"

namespace garrick::net::testkit {

/// Who makes a stack.
struct stack_place {
  std::string host;           ///< a node's name
  std::uint32_t incarnation;  ///< 1 for a host that has not crashed
  bool connects;              ///< this end opens the connection; the other one accepts it
  std::uint64_t seed;         ///< for what the stack draws
  /// Which life of the host the stack says it is: of each link, or the same until the host crashes
  /// (`exchange_settings::same_life`).
  std::uint64_t life;
};

/// A stack by its name, for programs that run over each.
struct stack_kind {
  std::string name;            ///< as configuration names it
  promise promises;            ///< what its user may rely on
  bool streams = false;        ///< over streams, otherwise over datagrams
  bool reopens = true;         ///< a lost stream is opened again by the stack, not by its owner
  std::size_t largest = 1000;  ///< bytes of a message that it is to be tried with, at most
  /// Makes one.
  std::function<std::unique_ptr<any_link>(link_owner&, carrier&, const stack_place&)> make;
};

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
