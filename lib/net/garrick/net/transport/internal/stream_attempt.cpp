#include "garrick/net/transport/internal/stream_attempt.hpp"

#include <cerrno>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/transport/internal/name_lookups.hpp"
#include "garrick/net/transport/internal/socket_calls.hpp"

namespace garrick::net::internal {

stream_attempt::~stream_attempt() { forget(); }

void stream_attempt::forget() noexcept {
  if (const resolution* const who = std::exchange(looks_up_, nullptr))
    loop_.names().withdraw(to_.host(), *who);
  socket_.reset();
  ends_ = base::instant::never();
}

base::instant stream_attempt::limit() const {
  return base::real_clock().now() + settings_.attempt_limit;
}

bool stream_attempt::waits_for(std::uint64_t what) const noexcept {
  if (ends_.is_never()) return false;
  return what == wait_number(number_,
                             looks_up_ != nullptr ? stream_wait::looking : stream_wait::connecting);
}

auto stream_attempt::begin(const waiter& who) -> outcome {
  if (to_.kind() != transport_kind::unix_stream && !to_.is_numeric()) {
    number_ = ++numbers_;
    looks_up_ = who.name.get();
    ends_ = limit();
    loop_.names().begin(loop_, to_.host(), to_.port(), who.name,
                        wait_number(number_, stream_wait::looking));
    return outcome::pending;
  }
  addresses_.push_back(address_of(to_));
  return try_next(who);
}

auto stream_attempt::found(std::vector<socket_address> addresses, const std::string& why,
                           const waiter& who) -> outcome {
  looks_up_ = nullptr;
  addresses_ = std::move(addresses);
  if (!addresses_.empty()) return try_next(who);
  return failed(base::make_error(net_errc::unreachable, to_.to_string(), why), who);
}

auto stream_attempt::try_next(const waiter& who) -> outcome {
  const socket_address& to = addresses_[next_++];
  number_ = ++numbers_;
  base::result<unique_fd> fd = open_socket(to_.kind(), to, settings_);
  if (!fd) return failed(fd.error(), who);
  const int error = start_connect(fd->get(), to, settings_);
  if (error != 0 && error != EINPROGRESS) return failed(error_of(error, to_.to_string()), who);
  socket_ = std::make_unique<io_socket>(loop_, *std::move(fd));
  if (error == 0) {
    if (check() == outcome::stands) return outcome::stands;
    return failed(std::move(why_), who);
  }
  ends_ = limit();
  socket_->wait_writable(who.socket, wait_number(number_, stream_wait::connecting));
  return outcome::pending;
}

auto stream_attempt::failed(base::error why, const waiter& who) -> outcome {
  forget();
  if (next_ < addresses_.size()) return try_next(who);
  why_ = std::move(why);
  return outcome::failed;
}

auto stream_attempt::answered(int error, const waiter& who) -> outcome {
  if (error == 0) error = connect_outcome(socket_->fd());
  if (error != 0) return failed(error_of(error, to_.to_string()), who);
  if (check() == outcome::stands) return outcome::stands;
  return failed(std::move(why_), who);
}

auto stream_attempt::check() -> outcome {
  ends_ = base::instant::never();
  why_ = {};
  // An unbound port may be the port that the system chose for this very socket.
  if (to_.kind() == transport_kind::tcp &&
      same_address(local_address(socket_->fd()), remote_address(socket_->fd())))
    why_ = base::make_error(net_errc::unreachable, to_.to_string(),
                            "no socket listens; the socket has met itself");
  if (to_.kind() == transport_kind::unix_stream) why_ = check_user(socket_->fd(), settings_);
  return why_ ? outcome::failed : outcome::stands;
}

auto stream_attempt::too_late(const waiter& who) -> outcome {
  return failed(base::make_error(net_errc::unreachable, to_.to_string(),
                                 looks_up_ != nullptr ? "its name was not looked up in time"
                                                      : "no answer in time"),
                who);
}

unique_fd stream_attempt::take() { return socket_->release(); }

}  // namespace garrick::net::internal
