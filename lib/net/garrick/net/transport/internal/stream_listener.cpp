#include "garrick/net/transport/internal/stream_listener.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <utility>

#include "garrick/net/transport/internal/last_words.hpp"
#include "garrick/net/transport/internal/stream_host.hpp"

namespace garrick::net::internal {
namespace {

/// After this many newcomers, other residents of the loop have their turn.
constexpr int most_at_once = 16;
/// The time that the next newcomer waits if there are no descriptors.
constexpr base::duration rest_without_descriptors = base::duration::milliseconds(100);

/// A newcomer at the door until the policy has seen enough.
class newcomer final : public resident,
                       public completion,
                       public ticket_holder,
                       public std::enable_shared_from_this<newcomer> {
 public:
  newcomer(std::shared_ptr<reception> at, std::unique_ptr<ticket> t, arrival who, unique_fd fd)
      : at_(std::move(at)), ticket_(std::move(t)), who_(std::move(who)), fd_(std::move(fd)) {}

  /// Asks the policy, without bytes if it wants none.
  void begin() {
    // The place cannot be lost at this moment: only this thread tells a holder to give way.
    static_cast<void>(ticket_->hold(weak_from_this()));
    const std::size_t wanted = at_->policy->wants();
    if (wanted == 0) return ask(true);
    bytes_.resize(wanted);
    if (!at_->loop.add(shared_from_this())) return refuse();
    resides_ = true;
    socket_ = std::make_unique<io_socket>(at_->loop, std::move(fd_));
    timer_ = std::make_unique<io_timer>(at_->loop);
    timer_->expire_at(ticket_->deadline(), shared_from_this(), expired);
    read();
  }
  void stop() override { refuse(); }
  void give_way() noexcept override { leave(); }
  void completed(std::uint64_t what, int failed, std::size_t bytes) override {
    if (ticket_ == nullptr) return;
    if (what == expired) ++at_->limits->too_late;
    if (what == expired || failed != 0 || bytes == 0 || at_->closed) return refuse();
    used_ += bytes;
    try {
      ask(used_ == bytes_.size());
    } catch (...) { refuse(); }
  }
  void refuse() noexcept {
    count_refused();
    leave();
  }

 private:
  enum operation : std::uint64_t { expired, reading };

  void read() { socket_->read(std::span(bytes_).subspan(used_), shared_from_this(), reading); }
  void ask(bool is_last) {
    who_.bytes = std::span(bytes_).first(used_);
    who_.now = base::real_clock().now();
    verdict v = at_->policy->look(who_);
    if (v.what() == verdict::kind::more && !is_last) return read();
    if (v.what() == verdict::kind::start) return start(v);
    if (v.what() == verdict::kind::join) return join(v.to());
    refuse(v.take_words());
  }
  void refuse(packet words) {
    if (words.empty()) return refuse();
    send_queue queue;
    queue.push(std::move(words));
    if (socket_ == nullptr) socket_ = std::make_unique<io_socket>(at_->loop, std::move(fd_));
    const base::instant until = ticket_->deadline();
    count_refused();
    say_last_words(at_->loop, std::move(socket_), std::move(queue), until, std::move(ticket_));
    leave();
  }
  void count_refused() noexcept {
    if (ticket_ != nullptr)
      ticket_->refuse();
    else
      ++at_->limits->refused;
  }
  unique_fd take_fd() { return socket_ == nullptr ? std::move(fd_) : socket_->release(); }
  std::vector<std::byte> take_bytes() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }
  void start(const verdict& v) {
    const auto& fixed = v.thread() ? v.thread() : at_->settings.thread;
    const std::size_t thread = fixed.value_or(at_->pool.least_loaded());
    if (thread >= at_->pool.loops.size()) return refuse();
    const auto link =
        std::make_shared<stream_host>(*at_->pool.loops[thread], at_->settings, std::move(ticket_));
    const connection fresh(link);
    try {
      if (const connection to = at_->policy->claim(who_, fresh); to != fresh) {
        link->abandon();
        return join(to);
      }
      std::vector<std::byte> first = take_bytes();
      auto make = std::make_unique<by_policy>(at_->policy, std::move(who_), first);
      link->accept(take_fd(), std::move(first));
      ++at_->limits->started;
      static_cast<void>(link->begin(std::move(make)));
    } catch (...) {
      link->abandon();
      throw;
    }
    leave();
  }
  void join(const connection& to) {
    const auto link = std::dynamic_pointer_cast<host>(to.door());
    if (link == nullptr || link->is_over()) return refuse();
    ++at_->limits->joined;
    link->adopt(take_fd().release(), take_bytes());
    leave();
  }
  void leave() noexcept {
    ticket_.reset();
    timer_.reset();
    socket_.reset();
    fd_ = unique_fd();
    if (std::exchange(resides_, false)) at_->loop.remove(*this);
  }

  const std::shared_ptr<reception> at_;
  std::unique_ptr<ticket> ticket_;  ///< null: the verdict is known
  arrival who_;
  unique_fd fd_;
  std::unique_ptr<io_socket> socket_;
  std::unique_ptr<io_timer> timer_;
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
  bool resides_ = false;
};

}  // namespace

bool stream_listener::begin() {
  if (!at_->loop.add(shared_from_this())) return false;
  return at_->loop.post(make_job([me = shared_from_this()] {
    const std::lock_guard lock(me->mutex_);
    if (me->left_) return;
    me->socket_->wait_readable(me, knocking);
  }));
}

void stream_listener::close() noexcept {
  if (at_->closed.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  // No newcomer gets in from here on, although the loop has yet to close it.
  if (socket_ != nullptr) ::shutdown(socket_->fd(), SHUT_RDWR);
  file_.remove();
  try {
    if (const auto me = weak_from_this().lock()) at_->loop.post(make_job([me] { me->leave(); }));
  } catch (const std::exception&) {
    return;  // the loop closes it when the socket, which was shut down, becomes readable
  }
}

void stream_listener::stop() {
  close();
  leave();
}

void stream_listener::leave() noexcept {
  if (std::exchange(left_, true)) return;
  {
    const std::lock_guard lock(mutex_);
    socket_.reset();
  }
  rest_.reset();
  at_->policy->closed();
  at_->loop.remove(*this);
}

void stream_listener::completed(std::uint64_t, int failed, std::size_t) {
  if (left_) return;
  if (failed != 0 || at_->closed) return leave();
  if (accept_some()) return socket_->wait_readable(shared_from_this(), knocking);
  if (rest_ == nullptr) rest_ = std::make_unique<io_timer>(at_->loop);
  rest_->expire_at(base::real_clock().now() + rest_without_descriptors, shared_from_this(), rested);
}

bool stream_listener::accept_some() {
  for (int i = 0; i < most_at_once && !at_->closed; ++i) {
    socket_address from;
    from.size = sizeof(from.bytes);
    unique_fd fd(::accept4(socket_->fd(), reinterpret_cast<sockaddr*>(&from.bytes), &from.size,
                           SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd.get() >= 0) {
      welcome(std::move(fd), from);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return false;
    } else if (errno == EAGAIN) {
      return true;
    }  // otherwise the newcomer has gone again
  }
  return true;
}

void stream_listener::welcome(unique_fd fd, const socket_address& from) {
  std::unique_ptr<ticket> place;
  try {
    if (at_->local.kind() == transport_kind::unix_stream && check_user(fd.get(), at_->settings)) {
      ++at_->limits->refused;
      return;
    }
    prepare_accepted(fd.get(), at_->local.kind());
    place = ticket::take(at_->limits, base::real_clock().now());
    if (place == nullptr) {
      ++at_->limits->refused;
      return;
    }
    arrival who{endpoint_of(at_->local.kind(), from, at_->local), at_->local, {}, {}};
    const auto waits =
        std::make_shared<newcomer>(at_, std::move(place), std::move(who), std::move(fd));
    try {
      waits->begin();
    } catch (...) { waits->refuse(); }
  } catch (...) { ++at_->limits->refused; }
}

}  // namespace garrick::net::internal
