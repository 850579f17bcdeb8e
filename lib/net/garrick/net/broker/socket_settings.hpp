// Settings of a broker's sockets.
//
// Thread safety: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/broker/receive_policy.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net {

/// Settings of a socket, or of all sockets that an acceptor accepts.
///
///     net::socket_settings s;
///     s.spread = true;   // the clients live on all I/O threads
///     s.transport.high_water = 64 << 10;
///     s.transport.low_water = 16 << 10;
///     door_ = io().listen(at, s).value();
struct socket_settings {
  using garrick_sendable = void;
  /// The policy from the beginning; none: nothing is read before `broker_io::read`.
  std::optional<receive_policy> read{};
  std::size_t block_size = std::size_t{64} << 10;  ///< bytes read at once; 64 to 2^30
  std::size_t blocks = 4;                          ///< blocks of each stream; 2 to 65536
  /// The most messages with bytes that the broker may hold of one stream, or of one socket for
  /// datagrams. While it holds that many, nothing is read. At least 1.
  std::uint32_t most_messages = 64;
  /// The silence of a TCP connection after which the system asks the other machine whether it is
  /// still there. A machine that does not answer some such questions is lost
  /// (`connection_closed`). In whole seconds, rounded up. Zero: it is never asked.
  base::duration keep_alive = base::duration::seconds(60);
  /// The time for which a stream may be silent: while no bytes come that are read, and none leave.
  /// Then it is closed, and the broker gets `connection_closed` with `errc::timeout`. After bytes
  /// have left, up to twice the time. Zero: for ever. Set it for clients that are strangers: with
  /// connections that say nothing they can take all the places of an acceptor.
  base::duration idle_limit{};
  /// Limits of the bytes that wait to be sent, and the other settings. Beyond `most_queued` a
  /// `write` or `put` fails with `net_errc::overload`, and the connection stays open. If `thread`
  /// is unset, the thread of the broker's place counts.
  transport_settings transport{};
  /// Limits of an acceptor. A stream counts as admitted at once: `idle_limit`, or the broker
  /// itself, limits how long a client may be silent.
  accept_limits accept{};
  /// Distributes accepted streams over all threads in turn, for a broker that forks. False: they
  /// live on `transport.thread`.
  bool spread = false;
};

}  // namespace garrick::net
