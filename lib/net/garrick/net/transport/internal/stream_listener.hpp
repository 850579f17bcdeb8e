// Listens for streams: accepts, asks the policy, and passes on.
//
// Invariants:
//   N1  mutex_ keeps the descriptor from being closed while `close` uses it on any thread.
//   N2  While it is open and not out of descriptors, it waits for newcomers exactly once.
//
// Thread safety: `close`, `local` and `counters` on any thread, all else on the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "garrick/net/transport/internal/loop/io_loop.hpp"
#include "garrick/net/transport/internal/reception.hpp"
#include "garrick/net/transport/internal/socket_calls.hpp"
#include "garrick/net/transport/listener.hpp"

namespace garrick::net::internal {

class stream_listener final : public resident,
                              public completion,
                              public detail::listening,
                              public std::enable_shared_from_this<stream_listener> {
 public:
  stream_listener(std::shared_ptr<reception> at, unique_fd fd, socket_file file)
      : at_(std::move(at)),
        socket_(std::make_unique<io_socket>(at_->loop, std::move(fd))),
        file_(std::move(file)) {}
  ~stream_listener() override { close(); }

  /// Returns false if the loop is ending.
  [[nodiscard]] bool begin();

  [[nodiscard]] const endpoint& local() const noexcept override { return at_->local; }
  void close() noexcept override;
  [[nodiscard]] listener_counters counters() const noexcept override {
    return at_->limits->counters();
  }
  void stop() override;
  void completed(std::uint64_t what, int failed, std::size_t bytes) override;

 private:
  enum operation : std::uint64_t { knocking, rested };

  void leave() noexcept;
  /// Returns false if there are no more descriptors for now.
  bool accept_some();
  void welcome(unique_fd fd, const socket_address& from);

  const std::shared_ptr<reception> at_;
  std::mutex mutex_;
  std::unique_ptr<io_socket> socket_;  // the loop's; its end is under mutex_
  socket_file file_;                   // under mutex_
  std::unique_ptr<io_timer> rest_;
  bool left_ = false;
};

}  // namespace garrick::net::internal
