// Settings of all kinds of transports; each comment names the kinds that use the setting.
//
// Thread safety: a value.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

/// The size of a datagram that every path takes: IPv4's 576 bytes without the headers. Handshakes
/// need no more.
inline constexpr std::size_t least_datagram = 548;

/// Settings of `connect` and `listen`.
///
///     const net::transport_settings s{.high_water = 100'000, .low_water = 10'000};
///     auto peer = net::connect(io, there, make_end, s);
struct transport_settings {
  /// The I/O thread on which a link lives, or a listener and its datagrams; none: the least loaded.
  std::optional<std::size_t> thread{};
  /// The most visits that wait while another thread visits a link; see `connection::run`.
  std::size_t most_waiting = 65536;

  /// Bytes of a stream that wait for the socket until `carrier::writable` is false. At least 1.
  std::size_t high_water = std::size_t{1} << 20;
  /// Bytes that may still wait when `carrier::writable` is true again.
  std::size_t low_water = std::size_t{256} << 10;
  /// The most bytes that wait. Beyond it the connection is given up with `net_errc::overload`. Not
  /// below `high_water`.
  std::size_t most_queued = std::size_t{64} << 20;
  /// The most bytes that one read of a stream takes. The links of an I/O thread share the room for
  /// them.
  std::size_t read_size = std::size_t{256} << 10;
  /// The time limit of a name's look-up, and then of each of its addresses, which are all tried.
  /// Above zero.
  base::duration attempt_limit = base::duration::seconds(3);
  /// The time that a closed stream has to send the bytes that were taken before. Not below zero.
  base::duration close_limit = base::duration::seconds(2);
  /// The address from which to connect; none: the system chooses. Its kind must be that of the
  /// target.
  std::optional<endpoint> from{};

  /// The permissions of a Unix domain socket's file.
  std::uint32_t mode = 0600;
  /// Users besides this process's own that may be at the other end of a Unix domain socket.
  std::vector<std::uint32_t> users{};
  /// Any user may be at the other end of a Unix domain socket.
  bool any_user = false;

  /// The most bytes of a datagram, also if the path takes more; at least `least_datagram`.
  std::size_t largest_datagram = 65507;
  /// Bytes of datagrams that the system may hold for a socket in each direction; 0: the system's
  /// default.
  std::size_t datagram_buffer = std::size_t{1} << 20;
};

/// The number of connections of several listeners together; see `accept_limits::together`.
///
/// Thread safety: any thread.
class connection_count {
 public:
  /// Counts one more, and returns true, if there are fewer than `most`.
  [[nodiscard]] bool take(std::size_t most) noexcept {
    std::size_t n = count_.load(std::memory_order_relaxed);  // order: a count, as all below
    do {
      if (n >= most) return false;
      // order: relaxed; nothing is published by a count
    } while (!count_.compare_exchange_weak(n, n + 1, std::memory_order_relaxed));
    return true;
  }
  /// Counts one less.
  void give_back() noexcept {
    count_.fetch_sub(1, std::memory_order_relaxed);  // order: as in `take`
  }

 private:
  std::atomic<std::size_t> count_{0};
};

/// Limits of a listener before newcomers have shown their identity.
///
/// A newcomer above a limit gets the place of a connection that waits: one that is not
/// `hosted::admitted` yet, drawn at random. That connection is closed at once, and counted
/// (`listener_counters::dropped`); its other end may try again. So a stranger with silent
/// connections cannot keep others out. If no connection waits, the newcomer is refused and counted.
/// Admitted peers are never dropped: they may fill all the places.
struct accept_limits {
  /// Connections of one listener, until they are closed at both ends or `close_limit` is over; for
  /// datagrams, peers. At least 1. For streams, `listen` lowers the number to half of the
  /// descriptors that the process may have at that time (the soft limit of RLIMIT_NOFILE), so that
  /// files and its own connections find some (`listener_counters::lowered_to`). A node logs a
  /// lowered limit, but not a lowered default. See `together`.
  std::size_t connections = 4096;
  std::size_t pending = 256;  ///< connections that wait to be admitted; at least 1
  /// The time that a connection has to be admitted, its first bytes included. Above zero.
  base::duration admission = base::duration::seconds(10);
  /// Counts the connections of all listeners that have this object, and each of them compares the
  /// sum with its own `connections`. Null: a listener counts its own. The listeners of a node count
  /// together.
  std::shared_ptr<connection_count> together{};
};

}  // namespace garrick::net
