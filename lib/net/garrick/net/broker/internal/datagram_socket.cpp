#include "garrick/net/broker/internal/datagram_socket.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "garrick/net/broker/events.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/transport/internal/datagram_batch.hpp"

namespace garrick::net::internal {
namespace {

/// After this many batches, other residents of the loop have their turn.
constexpr int most_batches = 8;

}  // namespace

void datagram_entry::close() noexcept { socket->close(); }

/// A datagram that the broker holds.
struct datagram_socket::kept {
  kept(std::shared_ptr<datagram_socket> s, std::span<const std::byte> b)
      : of(std::move(s)), bytes(b.begin(), b.end()) {
    of->held_.fetch_add(1, std::memory_order_seq_cst);  // order: as receive
  }
  kept(const kept&) = delete;
  kept& operator=(const kept&) = delete;
  ~kept() { of->returned(); }
  const std::shared_ptr<datagram_socket> of;
  const std::vector<std::byte> bytes;
};

datagram_socket::datagram_socket(io_loop& loop, unique_fd fd, endpoint local, std::uint32_t most)
    : loop_(loop),
      local_(std::move(local)),
      most_(most),
      socket_(std::make_unique<io_socket>(loop, std::move(fd))) {}

bool datagram_socket::begin(std::weak_ptr<datagram_entry> entry, core::any_ref to) {
  entry_ = std::move(entry);
  to_ = std::move(to);
  const auto me = shared_from_this();
  if (!loop_.add(me)) return false;
  if (loop_.post(make_job([me] {
        if (!me->left_) me->wait();
      })))
    return true;
  return false;
}

base::error datagram_socket::send(const endpoint& to, std::span<const std::byte> bytes) {
  const socket_address a = address_of(to);
  const std::lock_guard lock(mutex_);
  if (closed_ || socket_ == nullptr) return net_errc::connection_lost;
  const auto sent = ::sendto(socket_->fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&a.bytes), a.size);
  if (sent >= 0) return {};
  const int why = errno;
  if (why == EAGAIN || why == ENOBUFS) return net_errc::overload;
  if (why == EMSGSIZE)
    return base::make_error(net_errc::too_large, to.to_string(),
                            "no datagram of " + std::to_string(bytes.size()) + " bytes goes there");
  return error_of(why, to.to_string());
}

void datagram_socket::close() noexcept {
  if (closed_.exchange(true)) return;
  try {
    loop_.post(make_job([me = shared_from_this()] { me->leave(); }));
  } catch (const std::exception&) {
    return;  // the socket leaves with the loop
  }
}

void datagram_socket::stop() {
  closed_ = true;
  leave();
}

void datagram_socket::leave() {
  if (std::exchange(left_, true)) return;
  {
    const std::lock_guard lock(mutex_);
    socket_.reset();
  }
  const core::any_ref last = std::exchange(to_, {});
  loop_.remove(*this);
}

void datagram_socket::completed(std::uint64_t, int, std::size_t) {
  waits_ = false;
  if (!left_) receive();
}

void datagram_socket::wait() {
  if (!std::exchange(waits_, true)) socket_->wait_readable(shared_from_this(), 0);
}

void datagram_socket::receive() {
  const auto entry = entry_.lock();
  datagram_batch& batch = datagram_batch::of_this_thread();
  for (int i = 0; i < most_batches && entry != nullptr && !closed_; ++i) {
    // order: seq_cst, also in `returned`: either this thread sees the returned datagrams, or that
    // one sees that it waits for them
    std::uint32_t held = held_.load(std::memory_order_seq_cst);
    if (held >= most_) {
      starved_.store(true, std::memory_order_seq_cst);  // order: as above
      held = held_.load(std::memory_order_seq_cst);     // order: as above
      if (held >= most_) return;
    }
    int failed = 0;
    const std::size_t n = batch.receive(socket_->fd(), failed,
                                        std::min<std::size_t>(most_ - held, datagram_batch::most));
    if (n == 0) break;
    for (std::size_t k = 0; k < n; ++k) {
      auto bytes = std::make_shared<kept>(shared_from_this(), batch.bytes(k));
      const std::span<const std::byte> all(bytes->bytes);
      tell(to_, new_datagram{handle_maker::make<datagram_kind>(entry),
                             endpoint_of(transport_kind::udp, batch.way(k).remote, local_),
                             received(std::move(bytes), all)});
    }
  }
  wait();
}

void datagram_socket::returned() noexcept {
  held_.fetch_sub(1, std::memory_order_seq_cst);             // order: as receive
  if (!starved_.load(std::memory_order_seq_cst) ||           // order: as receive
      !starved_.exchange(false, std::memory_order_seq_cst))  // order: as receive
    return;
  try {
    loop_.post(make_job([me = shared_from_this()] {
      if (!me->left_) me->receive();
    }));
  } catch (const std::bad_alloc&) { base::out_of_memory("a broker's datagrams"); }
}

}  // namespace garrick::net::internal
