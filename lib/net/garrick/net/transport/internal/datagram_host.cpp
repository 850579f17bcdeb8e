#include "garrick/net/transport/internal/datagram_host.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/transport/internal/name_lookups.hpp"

namespace garrick::net::internal {
namespace {

/// The most datagrams that wait until a visitor leaves.
constexpr std::size_t flush_at = 64;
/// After this many batches, other residents of the loop have their turn.
constexpr int most_batches = 8;
/// Bytes that may wait for a visitor to leave, if the settings leave the socket's buffer to the
/// system.
constexpr std::size_t most_copied = std::size_t{1} << 20;

}  // namespace

void datagram_host::open() {
  if (opens_) return start_opening();
  opened();
  receive_all(1, [this](std::size_t) { return std::span(first_); });
  first_ = {};
}

void datagram_host::start_opening() {
  stop_looking_up();
  ++number_;
  socket_.reset();
  is_looking_up_ = true;
  if (!to_.is_numeric()) {
    look_up_ends_ = now() + settings_.attempt_limit;
    return loop_.names().begin(loop_, to_.host(), to_.port(), self(), number_);
  }
  resolved(number_, {address_of(to_)}, {});
}

void datagram_host::resolved(std::uint64_t what, std::vector<socket_address> found,
                             std::string failed) {
  auto take = [this, what, all = std::move(found), words = std::move(failed)] {
    if (what != number_ || !std::exchange(is_looking_up_, false)) return;
    look_up_ends_ = base::instant::never();
    base::error why = base::make_error(net_errc::unreachable, to_.to_string(), words);
    for (const socket_address& a : all) {
      base::result<unique_fd> fd = open_socket(transport_kind::udp, a, settings_);
      const int number = fd ? start_connect(fd->get(), a, settings_) : 0;
      if (fd && number == 0) {
        way_.remote = a;
        socket_ = std::make_unique<io_socket>(loop_, *std::move(fd));
        socket_->wait_readable(self(), number_);
        return opened();
      }
      why = fd ? error_of(number, to_.to_string()) : fd.error();
    }
    above().disconnected(why, now());
  };
  // For a numeric address the thread that is in makes this call, so the stack is told at once.
  if (to_.is_numeric()) return take();
  inside(std::move(take));
}

void datagram_host::stop_looking_up() noexcept {
  if (std::exchange(is_looking_up_, false)) loop_.names().withdraw(to_.host(), *this);
  look_up_ends_ = base::instant::never();
}

void datagram_host::on_time(base::instant at) {
  stop_looking_up();
  above().disconnected(base::make_error(net_errc::unreachable, to_.to_string(),
                                        "its name was not looked up in time"),
                       at);
}

void datagram_host::opened() {
  is_open_ = true;
  connected(true);
  counts_.connects.add(1);
  told_limit_ = limit_ = limit_of_path();
  above().connected(now());
}

std::size_t datagram_host::limit_of_path() const {
  const std::size_t known = path_limit(way_.remote);
  return known == 0 ? settings_.largest_datagram : std::min(known, settings_.largest_datagram);
}

void datagram_host::adopt(int fd, std::vector<std::byte>) {
  ::close(fd);  // a stream's connection cannot carry datagrams
}

// --- receiving -----------------------------------------------------------------------------------

void datagram_host::event(std::uint64_t what, int, std::size_t) {
  inside([me = self(), what] {
    if (what != me->number_) return;
    me->receive_own();
    if (what == me->number_ && !me->is_closing()) me->socket_->wait_readable(me, me->number_);
  });
}

void datagram_host::receive_own() {
  datagram_batch& batch = datagram_batch::of_this_thread();
  const std::uint64_t mine = number_;
  for (int i = 0; i < most_batches; ++i) {
    int failed = 0;
    const std::size_t n = batch.receive(socket_->fd(), failed);
    if (n == 0) {
      if (failed == EAGAIN) return;
      // A hint of the network, which any host may have forged; later datagrams are still read.
      hint_ = error_of(failed, to_.to_string());
    }
    receive_all(n, [&batch](std::size_t k) { return batch.bytes(k); });
    if (mine != number_ || is_closing()) return;
    if (n != 0 && n < datagram_batch::most) return;
  }
}

template <class At>
void datagram_host::receive_all(std::size_t n, const At& at) {
  const std::uint64_t mine = number_;
  const auto receive = [&] {
    for (std::size_t i = 0; i < n && mine == number_ && !is_closing(); ++i) {
      const std::span<const std::byte> bytes = std::as_bytes(at(i));
      counts_.reads.add(1);
      counts_.bytes_received.add(bytes.size());
      above().receive(bytes, now());
    }
  };
  n > 1 ? in_burst(receive) : receive();
}

void datagram_host::deliver(std::size_t n,
                            const std::function<std::span<const std::byte>(std::size_t)>& at) {
  const auto now_in = [&] { receive_all(n, at); };
  // However long the visitor stays, no more bytes wait for it than a socket would hold.
  const std::size_t most = settings_.datagram_buffer == 0 ? most_copied : settings_.datagram_buffer;
  if (copied_ >= most && is_occupied()) return;
  inside_or(now_in, [&] {
    // A visitor is in; the batch's room is used again before it leaves.
    std::vector<std::vector<std::byte>> copies;
    for (std::size_t i = 0; i < n; ++i) copies.emplace_back(at(i).begin(), at(i).end());
    std::size_t size = 0;
    for (const auto& bytes : copies) size += sizeof(bytes) + bytes.size();
    copied_ += size;
    return [this, size, kept = std::move(copies)] {
      copied_ -= size;
      receive_all(kept.size(), [&kept](std::size_t i) { return std::span(kept[i]); });
    };
  });
}

bool datagram_host::bytes_before_time(base::instant) {
  if (socket_ != nullptr && is_open_) receive_own();
  return false;
}

// --- sending -------------------------------------------------------------------------------------

void datagram_host::transmit(packet bytes) {
  GARRICK_ASSERT_SLOW(is_occupied(), "a link is used by its visitor (connection::run)");
  if (!is_open_ || is_closing()) return counts_.dropped.add(1);
  waiting_.push_back(std::move(bytes));
  if (waiting_.size() >= flush_at) flush();
}

void datagram_host::flush() {
  std::span<const packet> rest(waiting_);
  while (!rest.empty()) {
    int failed = 0;
    const std::size_t n = send_datagrams(fd(), rest, shared_ ? &way_ : nullptr, failed);
    if (n != 0) {
      counts_.writes.add(1);
      for (const packet& p : rest.first(n)) counts_.bytes_sent.add(p.size());
      rest = rest.subspan(n);
    } else if (failed == EAGAIN || failed == ENOBUFS) {
      counts_.dropped.add(rest.size());
      break;
    } else if (failed == ECONNREFUSED && !hint_) {
      hint_ = error_of(failed, to_.to_string());  // of an earlier datagram: try this one again
    } else {
      not_sent(failed, rest.front().size());
      rest = rest.subspan(1);
    }
  }
  waiting_.clear();
}

void datagram_host::not_sent(int why, std::size_t size) {
  counts_.dropped.add(1);
  if (why != EMSGSIZE) {
    hint_ = error_of(why, to_.to_string());
    return;
  }
  // Even if the system does not know the limit, it is less than this.
  limit_ = std::min(limit_of_path(), size == 0 ? 0 : size - 1);
}

bool datagram_host::attend() {
  if (std::exchange(reopens_, false)) {
    start_opening();
    return true;
  }
  if (is_open_) flush();
  if (base::error hint = std::exchange(hint_, {})) {
    counts_.hints.add(1);
    whole().hint(hint);
    return true;
  }
  if (limit_ == told_limit_) return false;
  told_limit_ = limit_;
  above().path_changed(limit_, now());
  return true;
}

void datagram_host::attend_elsewhere() {
  if (is_open_) flush();
  if (reopens_ || hint_ || limit_ != told_limit_) want_loop();
}

void datagram_host::farewell() noexcept {
  if (is_open_) flush();
  stop_looking_up();
  ++number_;
  is_open_ = false;
  socket_.reset();
  waiting_.clear();
  if (const auto by = std::exchange(shared_, nullptr)) by->forget(way_);
}

}  // namespace garrick::net::internal
