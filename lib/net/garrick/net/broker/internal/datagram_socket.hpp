// A broker's socket for datagrams, on its I/O thread.
//
// Invariants:
//   U1  At most `most` datagrams are with the broker; while there are that many, none is received.
//
// Thread safety: `send`, `close` and the return of datagrams on any thread, all else on the loop's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "garrick/base/values/result.hpp"
#include "garrick/net/broker/internal/entries.hpp"
#include "garrick/net/transport/endpoint.hpp"
#include "garrick/net/transport/internal/loop/io_loop.hpp"
#include "garrick/net/transport/internal/socket_calls.hpp"

namespace garrick::net::internal {

class datagram_socket final : public resident,
                              public completion,
                              public std::enable_shared_from_this<datagram_socket> {
 public:
  datagram_socket(io_loop& loop, unique_fd fd, endpoint local, std::uint32_t most);

  /// Begins to receive. Returns false if the loop is ending. `entry` is this socket's, `to` its
  /// broker.
  [[nodiscard]] bool begin(std::weak_ptr<datagram_entry> entry, core::any_ref to);
  [[nodiscard]] const endpoint& local() const noexcept { return local_; }
  /// Sends one datagram, now or not at all.
  [[nodiscard]] base::error send(const endpoint& to, std::span<const std::byte> bytes);
  /// Stops receiving; the socket is closed soon.
  void close() noexcept;

  void stop() override;
  void completed(std::uint64_t what, int failed, std::size_t bytes) override;

 private:
  struct kept;
  void receive();
  void wait();
  void returned() noexcept;
  void leave();

  io_loop& loop_;
  const endpoint local_;
  const std::uint32_t most_;
  std::atomic<std::uint32_t> held_{0};
  std::atomic<bool> starved_{false};
  std::atomic<bool> closed_{false};
  std::mutex mutex_;
  std::unique_ptr<io_socket> socket_;  // the loop's; `send` and the end take mutex_
  std::weak_ptr<datagram_entry> entry_;
  core::any_ref to_;
  bool waits_ = false;  // the loop's: true while the socket waits for datagrams
  bool left_ = false;   // the loop's
};

}  // namespace garrick::net::internal
