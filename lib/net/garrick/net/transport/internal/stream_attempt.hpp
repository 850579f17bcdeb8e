// An attempt to connect a stream: the name is looked up, and its addresses are tried in turn.
//
// Invariants:
//   A1  socket_ is null unless an address is being tried, or the connection is established and was
//       not taken yet.
//   A2  Only while the name is looked up does that look-up have the attempt's host among its
//       waiters, unless its answer was posted before.
//   A3  Each look-up and each address has a number that no other one of the host has, and the loop
//       gives it back with the event. An event of an earlier one is therefore not mistaken for an
//       event of the present one.
//
// Thread safety: its host's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/transport/endpoint.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"
#include "garrick/net/transport/internal/loop/unique_fd.hpp"
#include "garrick/net/transport/transport_settings.hpp"

namespace garrick::net::internal {

/// The event for which a stream's host waits, as the lowest part of a number. The upper part names
/// the connection or attempt.
enum class stream_wait : std::uint64_t { reading, writing, connecting, looking };

[[nodiscard]] constexpr std::uint64_t wait_number(std::uint64_t of, stream_wait what) noexcept {
  return of * 4 + static_cast<std::uint64_t>(what);
}

class stream_attempt {
 public:
  /// The state of an attempt.
  enum class outcome : std::uint8_t { pending, stands, failed };
  /// The host, which is told of sockets and of names.
  struct waiter {
    std::shared_ptr<completion> socket;
    std::shared_ptr<resolution> name;
  };

  /// `numbers`: the host's newest number.
  stream_attempt(io_loop& loop, const transport_settings& s, const endpoint& to,
                 std::uint64_t& numbers) noexcept
      : loop_(loop), settings_(s), to_(to), numbers_(numbers) {}
  stream_attempt(const stream_attempt&) = delete;
  stream_attempt& operator=(const stream_attempt&) = delete;
  ~stream_attempt();

  [[nodiscard]] outcome begin(const waiter& who);
  /// Takes the result of the name's look-up: its addresses, or the reason why there are none.
  /// Requires `waits_for`.
  [[nodiscard]] outcome found(std::vector<socket_address> addresses, const std::string& failed,
                              const waiter& who);
  /// Called when the address has answered, or the wait for the socket has failed. Requires
  /// `waits_for`.
  [[nodiscard]] outcome answered(int failed, const waiter& who);
  /// Called at the time `ends()`.
  [[nodiscard]] outcome too_late(const waiter& who);

  [[nodiscard]] bool waits_for(std::uint64_t what) const noexcept;
  /// Returns the time at which the attempt has taken too long; `never()` unless it is pending.
  [[nodiscard]] base::instant ends() const noexcept { return ends_; }
  /// Returns the connection. Requires that it is established.
  [[nodiscard]] unique_fd take();
  /// Returns the reason why the last address failed. Requires that the attempt has failed.
  [[nodiscard]] const base::error& why() const noexcept { return why_; }

 private:
  [[nodiscard]] outcome try_next(const waiter& who);
  [[nodiscard]] outcome failed(base::error why, const waiter& who);
  [[nodiscard]] outcome check();
  /// Stops waiting for the name and for the socket.
  void forget() noexcept;
  [[nodiscard]] base::instant limit() const;

  io_loop& loop_;
  const transport_settings& settings_;
  const endpoint& to_;
  std::uint64_t& numbers_;
  std::uint64_t number_ = 0;
  std::vector<socket_address> addresses_;
  std::size_t next_ = 0;
  std::unique_ptr<io_socket> socket_;
  const resolution* looks_up_ = nullptr;  ///< the host, while it waits for the name
  base::instant ends_ = base::instant::never();
  base::error why_;
};

}  // namespace garrick::net::internal
