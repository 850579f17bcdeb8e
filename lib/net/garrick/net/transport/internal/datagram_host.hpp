// A link over UDP: with a socket of its own that is connected, or one of the peers of a listener's
// socket.
//
// Invariants:
//   D1  A visitor's datagrams wait in waiting_ until it leaves, and no longer: those that the
//       socket does not take are dropped and counted.
//   D2  Datagrams that arrive while a visitor is in the link wait until it leaves, up to the size
//       of a socket's buffer. Further ones are dropped.
//   D3  limit_ is the result of `largest`; the stack is told of each change on the loop.
//
// Thread safety: as host.hpp says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "garrick/net/transport/internal/datagram_batch.hpp"
#include "garrick/net/transport/internal/host.hpp"
#include "garrick/net/transport/internal/socket_calls.hpp"

namespace garrick::net::internal {

/// The socket that a listener's peers share. On the loop's thread, except `fd`.
class shared_socket {
 public:
  /// Valid as long as the peer has not left.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Receives datagrams for all peers. Returns true if there are more.
  virtual bool receive_some() = 0;
  /// Forgets a peer that has left.
  virtual void forget(const datagram_way& who) noexcept = 0;

 protected:
  ~shared_socket() = default;
};

class datagram_host final : public host, public resolution {
 public:
  /// Makes a link that this end opens.
  datagram_host(io_loop& loop, const transport_settings& s, endpoint to)
      : host(loop, s, nullptr), to_(std::move(to)), opens_(true) {}
  /// Makes a link for a peer that has sent its first datagram.
  datagram_host(io_loop& loop, const transport_settings& s, std::unique_ptr<ticket> t,
                std::shared_ptr<shared_socket> by, const datagram_way& way, endpoint remote,
                std::vector<std::byte> first)
      : host(loop, s, std::move(t)),
        to_(std::move(remote)),
        shared_(std::move(by)),
        way_(way),
        first_(std::move(first)),
        opens_(false) {
    connected(true);
  }

  void transmit(packet bytes) override;
  [[nodiscard]] bool writable() const override { return is_open_; }
  [[nodiscard]] std::size_t largest() const override { return limit_; }
  [[nodiscard]] std::optional<carrier_kind> carries() const override {
    return carrier_kind::datagrams;
  }
  void reopen() override { reopens_ = opens_ && !is_open_; }
  void adopt(int fd, std::vector<std::byte> first) override;
  void resolved(std::uint64_t what, std::vector<socket_address> found, std::string failed) override;
  /// On the loop: datagrams of this peer, `at(0)` to `at(n - 1)`.
  void deliver(std::size_t n, const std::function<std::span<const std::byte>(std::size_t)>& at);

 protected:
  void open() override;
  bool attend() override;
  void attend_elsewhere() override;
  void event(std::uint64_t what, int failed, std::size_t bytes) override;
  bool receive_first() override { return shared_ != nullptr && shared_->receive_some(); }
  bool bytes_before_time(base::instant at) override;
  [[nodiscard]] base::instant due() const override { return look_up_ends_; }
  void on_time(base::instant at) override;
  void farewell() noexcept override;

 private:
  void start_opening();
  /// Makes the link ignore an answer to the name's look-up.
  void stop_looking_up() noexcept;
  void opened();
  /// Passes up the bytes `at(0)` to `at(n - 1)`, until the link ends.
  template <class At>
  void receive_all(std::size_t n, const At& at);
  void receive_own();
  void flush();
  void not_sent(int why, std::size_t size);
  [[nodiscard]] std::size_t limit_of_path() const;
  [[nodiscard]] int fd() const noexcept { return shared_ ? shared_->fd() : socket_->fd(); }
  [[nodiscard]] std::shared_ptr<datagram_host> self() {
    return std::static_pointer_cast<datagram_host>(shared_from_this());
  }

  const endpoint to_;
  std::size_t copied_ = 0;  ///< the loop's: bytes in line, until a visitor has left

  // For the thread that is in.
  std::shared_ptr<shared_socket> shared_;  ///< released at the end: it holds the policy
  datagram_way way_;
  std::vector<std::byte> first_;
  std::unique_ptr<io_socket> socket_;
  std::vector<packet> waiting_;
  std::size_t limit_ = 0;
  std::size_t told_limit_ = 0;
  base::error hint_;
  std::uint64_t number_ = 0;
  base::instant look_up_ends_ = base::instant::never();
  const bool opens_;  ///< this end opens it, and may do so again
  bool is_open_ = false;
  bool is_looking_up_ = false;
  bool reopens_ = false;
};

}  // namespace garrick::net::internal
