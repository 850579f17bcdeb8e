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
  /// Messages with bytes that the broker has not dropped yet; while there are more, nothing is
  /// read. Of each stream or socket; at least 1.
  std::uint32_t most_messages = 64;
  /// Limits for what waits to be sent, and the rest. `thread` is the broker's own if not set.
  transport_settings transport{};
  accept_limits accept{};  ///< of an acceptor
  /// Accepted streams live on all threads in turn, and not on the broker's: for a broker that
  /// forks.
  bool spread = false;
};

}  // namespace garrick::net
