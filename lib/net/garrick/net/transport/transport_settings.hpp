// What transports can be told, for all kinds in one place: each says which of them it looks at.
//
// Thread safety: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

/// Bytes of a datagram that every path takes: IPv4's 576 without the headers. What shakes hands
/// needs no more.
inline constexpr std::size_t least_datagram = 548;

/// What `connect` and `listen` can be told.
struct transport_settings {
  /// The I/O thread on which a link lives, or a listener and its datagrams; none: the least loaded.
  std::optional<std::size_t> thread{};
  /// Visits that wait at most while another thread visits a link; see `connection::run`.
  std::size_t most_waiting = 65536;

  /// Bytes of a stream that wait for the socket until `carrier::writable` is false. At least 1.
  std::size_t high_water = std::size_t{1} << 20;
  /// Bytes that may still wait when it is true again.
  std::size_t low_water = std::size_t{256} << 10;
  /// Bytes that wait at most. Beyond, the connection is given up with `net_errc::overload`. Not
  /// below `high_water`.
  std::size_t most_queued = std::size_t{64} << 20;
  /// Bytes that are read from a stream at once, at most. The links of an I/O thread share the room
  /// for it.
  std::size_t read_size = std::size_t{256} << 10;
  /// How long a name may take to be looked up, and then each of its addresses to answer: all are
  /// tried. Above zero.
  base::duration attempt_limit = base::duration::seconds(3);
  /// How long a closed stream may take to send what was taken before. Not below zero.
  base::duration close_limit = base::duration::seconds(2);
  /// The address from which to connect; none: the system chooses. Its kind must be the same.
  std::optional<endpoint> from{};

  /// Who may open the file of a Unix domain socket.
  std::uint32_t mode = 0600;
  /// Users besides this process's own that may be at the other end of a Unix domain socket.
  std::vector<std::uint32_t> users{};
  /// Any user may be at the other end of a Unix domain socket.
  bool any_user = false;

  /// Bytes of a datagram, at most, also if the path takes more; at least `least_datagram`.
  std::size_t largest_datagram = 65507;
  /// Bytes of datagrams that the system may hold for a socket in each direction; 0: as it likes.
  std::size_t datagram_buffer = std::size_t{1} << 20;
};

/// What a listener takes, before anybody has shown who he is. What is above a limit is refused, and
/// counted.
struct accept_limits {
  /// Connections of one listener, until they are closed at both ends or `close_limit` is over; of
  /// datagrams, peers. At least 1.
  std::size_t connections = 4096;
  std::size_t pending = 256;  ///< of them those that are not `hosted::admitted` yet; at least 1
  /// How long a connection may take to be admitted, its first bytes included. Above zero.
  base::duration admission = base::duration::seconds(10);
};

}  // namespace garrick::net
