// What a broker's sockets can be told.
//
// Thread safety: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "garrick/net/broker/receive_policy.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net {

/// What `broker_io` can be told of a socket, or of all that an acceptor accepts.
struct socket_settings {
  using garrick_sendable = void;
  /// How streams are read from the beginning; none: nothing is read before `broker_io::read`.
  std::optional<receive_policy> read{};
  std::size_t block_size = std::size_t{64} << 10;  ///< bytes read at once; 64 to 2^30
  std::size_t blocks = 4;                          ///< of each stream; 2 to 65536
  /// Messages with bytes that the broker has not dropped yet; while there are as many, nothing is
  /// read. Of each stream or socket; at least 1.
  std::uint32_t most_messages = 64;
  /// Limits for what waits to be sent, and the rest. Beyond `most_queued` a `write` or `put` is
  /// `net_errc::overload`, and the connection stands. `thread` is the broker's own if not set.
  transport_settings transport{};
  /// Of an acceptor: how many connections, at most. There is nothing to wait for before a stream
  /// counts as admitted, so how long a client may be silent is the broker's to say.
  accept_limits accept{};
  /// Accepted streams live on all threads in turn, and not on the broker's: for a broker that
  /// forks.
  bool spread = false;
};

}  // namespace garrick::net
