// What the ways between hosts do to what is sent, and what the hosts' own networks do.
//
// Thread safety: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "garrick/base/time/clock.hpp"

namespace garrick::net::testkit {

/// One direction of the way between two hosts. Probabilities are from 0 to 1, and are drawn for
/// each datagram, or segment of a stream, alone. No time is below zero.
///
///     net.path("a", "b") = {.delay = duration::milliseconds(10), .loss = 0.05};
struct path_settings {
  base::duration delay = base::duration::milliseconds(1);  ///< from the departure to the arrival
  /// Up to so much more, evenly distributed. Alone it keeps the order, as a queue does.
  base::duration jitter{};
  /// Probability that a datagram is lost. A lost segment of a stream is sent again: it comes later,
  /// by `network_settings::retransmission`, and so does what is behind it.
  double loss = 0;
  double duplication = 0;  ///< probability that a datagram comes a second time
  double reordering = 0;   ///< probability that those behind a datagram may overtake it
  /// How much later a datagram comes that may be overtaken, or that comes a second time, at most.
  base::duration late_by = base::duration::milliseconds(5);
  std::uint64_t rate = 0;       ///< bytes a second; 0: without limit
  std::size_t queue = 1 << 16;  ///< bytes that wait for the rate; a datagram beyond them is lost
  /// Bytes of a datagram, at most: a larger one vanishes without a word.
  std::size_t largest = 65'507;
};

/// What is the same for all of a network.
struct network_settings {
  /// What a way has whose settings nobody has changed.
  path_settings path{};
  /// How long after its first departure a lost segment of a stream departs again.
  base::duration retransmission = base::duration::milliseconds(200);
  /// A connection attempt that nobody answers ends after so long.
  base::duration connect_timeout = base::duration::seconds(3);
  /// A stream whose bytes are not acknowledged, because the way is cut or the other machine is off,
  /// is given up by its sender after so long.
  base::duration stream_timeout = base::duration::seconds(30);
  /// Bytes that an end of a stream takes before it is no longer writable.
  std::size_t send_buffer = 1 << 18;
  /// Bytes of datagrams that come for a paused host and are kept; what is beyond them is lost.
  std::size_t receive_buffer = 1 << 18;
  /// What `carrier::largest` of a datagram endpoint says.
  std::size_t largest_datagram = 65'507;
  std::size_t history = 60;  ///< events that are kept for the text of a failure
};

/// What ends when a host crashes.
enum class crash_kind : std::uint8_t {
  process,  ///< the process: the other ends of its streams are told
  machine,  ///< the machine: nobody is told anything, until it is on again
};

/// Where something listens, or is bound.
struct address {
  std::string host;        ///< a host's name
  std::uint16_t port = 0;  ///< a number on that host
  [[nodiscard]] friend auto operator<=>(const address&, const address&) = default;
};

}  // namespace garrick::net::testkit
