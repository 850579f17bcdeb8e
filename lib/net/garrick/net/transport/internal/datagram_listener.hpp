// A UDP socket with many peers. Each peer is a link of its own, known by its address and by the
// address of this machine at which it arrives.
//
// Invariants:
//   U1  peers_ holds exactly the peers that were started and have not left.
//   U2  The socket is closed when the listener is and no peer is left, or when the loop ends.
//   U3  An unknown address costs memory only once the policy has started a link for it, within the
//       limits.
//
// Thread safety: `close`, `local`, `counters` and `fd` on any thread, all else on the loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "garrick/net/transport/internal/datagram_batch.hpp"
#include "garrick/net/transport/internal/datagram_host.hpp"
#include "garrick/net/transport/internal/reception.hpp"
#include "garrick/net/transport/listener.hpp"

namespace garrick::net::internal {

class datagram_listener final : public resident,
                                public completion,
                                public shared_socket,
                                public detail::listening,
                                public std::enable_shared_from_this<datagram_listener> {
 public:
  datagram_listener(std::shared_ptr<reception> at, unique_fd fd)
      : at_(std::move(at)),
        socket_(std::make_unique<io_socket>(at_->loop, std::move(fd))),
        fd_(socket_->fd()) {}

  /// Returns false if the loop is ending.
  [[nodiscard]] bool begin();

  [[nodiscard]] const endpoint& local() const noexcept override { return at_->local; }
  void close() noexcept override;
  [[nodiscard]] listener_counters counters() const noexcept override {
    return at_->limits->counters();
  }
  void stop() override;
  void completed(std::uint64_t what, int failed, std::size_t bytes) override;

  [[nodiscard]] int fd() const noexcept override { return fd_; }
  bool receive_some() override;
  void forget(const datagram_way& who) noexcept override;

 private:
  /// Datagrams `first` to `last - 1` of the batch, which came by one way.
  void sort(const datagram_batch& batch, std::size_t first, std::size_t last);
  [[nodiscard]] std::shared_ptr<datagram_host> admit(const datagram_way& way,
                                                     std::span<const std::byte> bytes);
  void leave_if_over() noexcept;

  const std::shared_ptr<reception> at_;
  std::unique_ptr<io_socket> socket_;
  const int fd_;
  std::map<std::string, std::shared_ptr<datagram_host>> peers_;
  bool stops_ = false;
  bool left_ = false;
};

}  // namespace garrick::net::internal
