// Properties of the ways between hosts, and of the hosts' own networks.
//
// Thread safety: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "garrick/base/time/clock.hpp"

namespace garrick::net::testkit {

/// A direction of the way between two hosts. Probabilities are from 0 to 1; each datagram, or
/// segment of a stream, has a draw of its own. No time is below zero.
///
///     net.path("a", "b") = {.delay = duration::milliseconds(10), .loss = 0.05};
struct path_settings {
  base::duration delay = base::duration::milliseconds(1);  ///< from the departure to the arrival
  /// The most additional delay, evenly distributed. Jitter alone keeps the order, as a queue does.
  base::duration jitter{};
  /// Probability that a datagram is lost. A lost segment of a stream is sent again: it arrives
  /// later, by `network_settings::retransmission`, with the bytes behind it.
  double loss = 0;
  double duplication = 0;  ///< probability that a datagram arrives a second time
  double reordering = 0;   ///< probability that later datagrams may overtake a datagram
  /// The most additional delay of a datagram that may be overtaken, or of its second copy.
  base::duration late_by = base::duration::milliseconds(5);
  std::uint64_t rate = 0;       ///< bytes a second; 0: without limit
  std::size_t queue = 1 << 16;  ///< bytes that wait for the rate; a datagram beyond them is lost
  /// The most bytes of a datagram: a larger one vanishes silently.
  std::size_t largest = 65'507;
};

/// Settings of a whole network.
struct network_settings {
  /// The settings of a way that was never changed.
  path_settings path{};
  /// The time from a lost segment's first departure to its next departure.
  base::duration retransmission = base::duration::milliseconds(200);
  /// The time after which an unanswered connection attempt ends.
  base::duration connect_timeout = base::duration::seconds(3);
  /// The time after which a sender gives up a stream with bytes that are not acknowledged, because
  /// the way is cut or the other machine is off.
  base::duration stream_timeout = base::duration::seconds(30);
  /// The number of bytes that an end of a stream takes before it is not writable.
  std::size_t send_buffer = 1 << 18;
  /// The number of bytes of datagrams that are kept for a paused host; further ones are lost.
  std::size_t receive_buffer = 1 << 18;
  /// The result of `carrier::largest` for a datagram endpoint.
  std::size_t largest_datagram = 65'507;
  std::size_t history = 60;  ///< events that are kept for the text of a failure
};

/// The extent of a crash.
enum class crash_kind : std::uint8_t {
  process,  ///< the process: the other ends of its streams are told
  machine,  ///< the machine: the other ends are told nothing until it is on again
};

/// The address of a listening or bound socket.
struct address {
  std::string host;        ///< a host's name
  std::uint16_t port = 0;  ///< a number on that host
  [[nodiscard]] friend auto operator<=>(const address&, const address&) = default;
};

}  // namespace garrick::net::testkit
