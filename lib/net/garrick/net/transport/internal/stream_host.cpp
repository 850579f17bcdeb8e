#include "garrick/net/transport/internal/stream_host.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/transport/internal/last_words.hpp"

namespace garrick::net::internal {
namespace {

/// The most bytes that wait before they are written while a visitor is still in.
constexpr std::size_t flush_at = std::size_t{64} << 10;

bool has_unread_bytes(int fd) noexcept {
  int waiting = 0;
  return ::ioctl(fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

}  // namespace

// --- opening -------------------------------------------------------------------------------------

void stream_host::open() {
  if (opens_) return start_opening();
  take_accepted(std::move(accepted_), std::exchange(first_, {}));
}

void stream_host::start_opening() {
  connected(false);
  beside_.reset();
  forget();
  opening_ = std::make_unique<stream_attempt>(loop_, settings_, to_, numbers_);
  state_ = state::opening;
  opened(opening_->begin(waiter()));
}

void stream_host::opened(stream_attempt::outcome how) {
  if (how == stream_attempt::outcome::pending) return;
  if (how == stream_attempt::outcome::failed) {
    const base::error why = opening_->why();
    forget();
    return above().disconnected(why, now());
  }
  unique_fd fd = opening_->take();
  opening_.reset();
  // Replaces the socket object: once the loop has waited until a socket is writable, it reports
  // that again after each read.
  established(std::make_unique<io_socket>(loop_, std::move(fd)));
}

void stream_host::resolved(std::uint64_t what, std::vector<socket_address> found,
                           std::string failed) {
  inside([this, what, all = std::move(found), why = std::move(failed)]() mutable {
    if (opening_ && opening_->waits_for(what))
      opened(opening_->found(std::move(all), why, waiter()));
    else if (beside_ && beside_->attempt.waits_for(what))
      opened_beside(beside_->attempt.found(std::move(all), why, waiter()));
  });
}

void stream_host::established(std::unique_ptr<io_socket> socket) {
  socket_ = std::move(socket);
  state_ = state::connected;
  connected(true);
  counts_.connects.add(1);
  limit_unread(socket_->fd());
  has_room_ = above().has_room();
  // The read is completed in a later turn, so the stack gets `connected` first.
  read_some();
  above().connected(now());
}

void stream_host::take_accepted(unique_fd fd, std::vector<std::byte> first) {
  established(std::make_unique<io_socket>(loop_, std::move(fd)));
  if (first.empty() || is_closing()) return;
  counts_.reads.add(1);
  counts_.bytes_received.add(first.size());
  above().receive(first, now());
}

void stream_host::adopt(int fd, std::vector<std::byte> first) {
  connected(true);
  in_line([this, taken = unique_fd(fd), bytes = std::move(first)]() mutable {
    replace(std::move(taken), std::move(bytes));
  });
}

void stream_host::replace(unique_fd fd, std::vector<std::byte> first) {
  const bool was_connected = state_ == state::connected;
  forget();
  if (was_connected)
    above().disconnected(
        base::make_error(net_errc::connection_lost, "another connection took its place"), now());
  reopens_ = false;  // this is the connection that the stack has asked for
  if (!is_closing()) take_accepted(std::move(fd), std::move(first));
}

void stream_host::reopen() {
  // Carried out in `attend`: the stack is in the middle of a call.
  reopens_ = opens_ && (state_ == state::closed || state_ == state::connected);
}

base::instant stream_host::due() const {
  base::instant first = opening_ ? opening_->ends() : base::instant::never();
  if (beside_) first = std::min({first, beside_->attempt.ends(), beside_->ends});
  return first;
}

void stream_host::on_time(base::instant at) {
  if (beside_ && beside_->ends <= at) beside_.reset();
  if (beside_ && beside_->attempt.ends() <= at) opened_beside(beside_->attempt.too_late(waiter()));
  if (opening_ && opening_->ends() <= at) opened(opening_->too_late(waiter()));
}

void stream_host::forget() noexcept {
  opening_.reset();
  number_ = ++numbers_;
  socket_.reset();
  queue_.clear();
  broken_ = {};
  write_failed_ = 0;
  state_ = state::closed;
  blocked_ = waits_writable_ = is_full_ = time_waits_ = rests_ = input_ended_ = false;
}

// --- a connection beside this one ----------------------------------------------------------------

void stream_host::reopen_beside() {
  // Carried out in `attend`, as `reopen`.
  tries_beside_ = opens_ && state_ == state::connected && beside_ == nullptr;
}

void stream_host::keep_alive(base::duration after) {
  if (socket_ != nullptr) internal::keep_alive(socket_->fd(), after);
}

void stream_host::start_beside() {
  beside_ = std::make_unique<second>(loop_, settings_, to_, numbers_);
  opened_beside(beside_->attempt.begin(waiter()));
}

void stream_host::opened_beside(stream_attempt::outcome how) {
  if (how == stream_attempt::outcome::failed) beside_.reset();
  if (how == stream_attempt::outcome::stands) greet_beside();
}

void stream_host::greet_beside() {
  second& s = *beside_;
  s.socket = std::make_unique<io_socket>(loop_, s.attempt.take());
  s.number = ++numbers_;
  const packet first = above().greeting(now());
  // An empty socket takes the whole greeting, or is of no use.
  int failed = 0;
  const bool is_sent = !first.empty() && send_stream(s.socket->fd(), {&first, 1}, failed) ==
                                             static_cast<std::ptrdiff_t>(first.size());
  if (!is_sent) return beside_.reset();
  s.ends = now() + settings_.attempt_limit;
  s.socket->wait_readable(self(), wait_number(s.number, stream_wait::reading));
}

void stream_host::read_beside() {
  second& s = *beside_;
  const std::span<std::byte> room = loop_.read_room(settings_.read_size);
  int failed = 0;
  const std::ptrdiff_t bytes = receive_stream(s.socket->fd(), room, failed);
  if (bytes == 0 || (bytes < 0 && failed != EAGAIN)) return beside_.reset();
  const auto end = room.begin() + std::max<std::ptrdiff_t>(bytes, 0);
  s.come.insert(s.come.end(), room.begin(), end);
  switch (above().answered(s.come, now())) {
    case beside::drops: return beside_.reset();
    case beside::waits:
      return s.socket->wait_readable(self(), wait_number(s.number, stream_wait::reading));
    case beside::takes: break;
  }
  unique_fd fd = s.socket->release();
  std::vector<std::byte> come = std::move(s.come);
  beside_.reset();
  replace(std::move(fd), std::move(come));
}

// --- receiving -----------------------------------------------------------------------------------

void stream_host::read_some(bool behind) {
  if (!has_room_) return loop_.before_wait(self(), number(stream_wait::reading));
  std::optional<receive_room> next = above().room();
  rests_ = !next;
  if (rests_) return;
  room_ = *std::move(next);
  // The bytes just read wake an actor, which may run here. Before it has answered, hardly any more
  // bytes arrive, and a read without bytes costs a call of the system.
  if (behind)
    loop_.behind_others(self(), number(stream_wait::reading));
  else
    socket_->read(room_.bytes, self(), number(stream_wait::reading));
}

void stream_host::loop_waits(std::uint64_t what) {
  // This thread is not in the link. But only the loop changes the socket, and no thread changes the
  // room of the read meanwhile.
  if (what != number(stream_wait::reading) || socket_ == nullptr) return;
  if (has_room_)
    socket_->read(room_.bytes, self(), what);
  else
    socket_->wait_readable(self(), what);
}

void stream_host::read_now(int failed) {
  std::ptrdiff_t bytes = failed == 0 ? read_to_loop(failed) : -1;
  if (bytes >= least_in_burst) {
    const std::uint64_t mine = number_;
    in_burst([&] { bytes = read_burst(bytes, failed); });
    if (mine != number_ || is_closing()) return;
  }
  if (bytes < 0 && failed == EAGAIN) return read_some();
  have_read(bytes < 0 ? failed : 0, bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
}

std::ptrdiff_t stream_host::read_to_loop(int& failed) {
  room_.bytes = loop_.read_room(settings_.read_size);
  return receive_stream(socket_->fd(), room_.bytes, failed);
}

std::ptrdiff_t stream_host::read_burst(std::ptrdiff_t bytes, int& failed) {
  const std::uint64_t mine = number_;
  std::ptrdiff_t all = 0;
  do {
    all += bytes;
    pass_up(static_cast<std::size_t>(bytes));
    if (mine != number_ || is_closing()) return 0;
    if (all >= most_in_burst) {
      failed = EAGAIN;
      return -1;
    }
    bytes = read_to_loop(failed);
  } while (bytes > 0);
  return bytes;
}

void stream_host::read_on() {
  if (state_ == state::connected && rests_ && !is_closing()) read_some();
}

void stream_host::event(std::uint64_t what, int failed, std::size_t bytes) {
  inside([me = self(), what, failed, bytes] {
    if (what == me->number(stream_wait::reading))
      me->has_room_ ? me->have_read(failed, bytes) : me->read_now(failed);
    else if (what == me->number(stream_wait::writing))
      me->blocked_ = me->waits_writable_ = false;
    else
      me->event_of_attempt(what, failed);
  });
}

void stream_host::event_of_attempt(std::uint64_t what, int failed) {
  if (opening_ && opening_->waits_for(what)) return opened(opening_->answered(failed, waiter()));
  if (beside_ == nullptr) return;
  if (beside_->attempt.waits_for(what))
    opened_beside(beside_->attempt.answered(failed, waiter()));
  else if (what == wait_number(beside_->number, stream_wait::reading) && beside_->socket)
    read_beside();
}

void stream_host::have_read(int failed, std::size_t bytes) {
  if (failed != 0) return lose(error_of(failed, "read"));
  if (bytes == 0 && write_failed_ == 0 && above().input_ended(now())) {
    input_ended_ = true;
    return;
  }
  if (bytes == 0)
    return lose(write_failed_ != 0 ? error_of(write_failed_, "write")
                                   : base::make_error(net_errc::connection_lost,
                                                      "the other end has closed the connection"));
  const std::uint64_t mine = number_;
  pass_up(bytes);
  if (mine == number_ && !is_closing()) read_some(true);
}

void stream_host::pass_up(std::size_t bytes) {
  const std::uint64_t mine = number_;
  counts_.reads.add(1);
  counts_.bytes_received.add(bytes);
  const base::instant at = now();
  above().receive(room_.bytes.first(bytes), at);
  if (mine != number_ || is_closing()) return;
  if (std::exchange(time_waits_, false)) advance_if_due(at);
}

bool stream_host::bytes_before_time(base::instant) {
  // While nothing is read, bytes of the other end put no time off.
  time_waits_ = state_ == state::connected && !rests_ && has_unread_bytes(socket_->fd());
  return time_waits_;
}

void stream_host::lose(const base::error& why) {
  connected(false);
  forget();
  above().disconnected(why, now());
}

// --- sending -------------------------------------------------------------------------------------

void stream_host::transmit(packet bytes) {
  GARRICK_ASSERT_SLOW(is_occupied(), "a link is used by its visitor (connection::run)");
  if (!sends()) return counts_.dropped.add(1);
  if (bytes.empty()) return;
  in_turn_ += bytes.size();
  queue_.push(std::move(bytes));
  // Before the queue counts as full the system is asked whether it takes the bytes.
  if (queue_.bytes() >= std::min(flush_at, settings_.high_water) && !blocked_) flush();
  if (queue_.bytes() > settings_.most_queued) {
    broken_ = base::make_error(net_errc::overload, "the other end does not read");
    want_loop();
  } else if (queue_.bytes() >= settings_.high_water || in_turn_ >= most_in_turn) {
    is_full_ = true;
  }
}

bool stream_host::sends() const {
  return state_ == state::connected && !is_closing() && write_failed_ == 0 && !broken_;
}

bool stream_host::writable() const {
  return state_ == state::connected && !is_full_ && queue_.bytes() < settings_.high_water;
}

std::size_t stream_host::largest() const { return std::numeric_limits<std::uint32_t>::max(); }

void stream_host::flush() {
  while (!queue_.empty() && !blocked_) {
    int failed = 0;
    const std::ptrdiff_t sent = send_stream(socket_->fd(), queue_.waiting(), failed);
    if (sent >= 0) {
      counts_.writes.add(1);
      counts_.bytes_sent.add(static_cast<std::uint64_t>(sent));
      queue_.sent(static_cast<std::size_t>(sent));
    } else if (failed == EAGAIN) {
      blocked_ = true;
    } else if (failed == EPIPE || failed == ECONNRESET || failed == ETIMEDOUT) {
      // Earlier bytes of the other end are still to be read, and then its end.
      write_failed_ = failed;
      queue_.clear();
    } else {
      broken_ = error_of(failed, "write");
      queue_.clear();
    }
  }
}

// Returns true if this function's caller must report the stream's end. If the stream is still read,
// or has unread bytes, the reads report it.
bool stream_host::ends_unread() const noexcept {
  if (write_failed_ == 0 || state_ != state::connected) return false;
  return input_ended_ || (rests_ && !has_unread_bytes(socket_->fd()));
}

bool stream_host::attend() {
  in_turn_ = 0;
  flush_posted_ = false;
  if (std::exchange(reopens_, false)) {
    start_opening();
    return true;
  }
  if (std::exchange(tries_beside_, false) && state_ == state::connected && !beside_) start_beside();
  if (state_ != state::connected) return false;
  if (!blocked_ && !queue_.empty() && !broken_) flush();
  if (ends_unread() && !broken_) broken_ = error_of(write_failed_, "write");
  if (broken_) {
    lose(base::error(broken_));
    return true;
  }
  if (blocked_ && !std::exchange(waits_writable_, true))
    socket_->wait_writable(self(), number(stream_wait::writing));
  if (!is_full_ || queue_.bytes() > settings_.low_water) return false;
  is_full_ = false;
  above().carrier_writable(now());
  return true;
}

void stream_host::attend_elsewhere() {
  in_turn_ = 0;
  if (reopens_ || tries_beside_ || broken_ || (is_full_ && queue_.bytes() <= settings_.low_water))
    want_loop();
  if (ends_unread()) want_loop();
  if (blocked_ && !waits_writable_) want_loop();  // this much of the sent bytes was written before
  if (queue_.empty() || blocked_ || flush_posted_ || state_ != state::connected || broken_) return;
  // Messages that come faster than they can be written are left to the loop, which then writes
  // several at once. But no thread is woken for this alone: without a leader of the loop, this
  // thread writes.
  const base::instant before = now();
  if (before - last_flush_ < flush_took_ && loop_.is_led()) {
    flush_posted_ = true;
    loop_.post(make_job([me = self()] { me->inside([] {}); }));
    return;
  }
  flush();
  last_flush_ = now();
  flush_took_ = last_flush_ - before;
  if (blocked_ || broken_ || (is_full_ && queue_.bytes() <= settings_.low_water)) want_loop();
  if (ends_unread()) want_loop();
}

void stream_host::farewell() noexcept {
  if (state_ == state::connected && !blocked_ && !broken_) flush();
  const bool sends_on = state_ == state::connected && !broken_ && write_failed_ == 0;
  if (sends_on && !is_stopping())
    say_last_words(loop_, std::move(socket_), std::move(queue_), now() + settings_.close_limit,
                   std::move(ticket_));
  forget();
  beside_.reset();
  accepted_ = unique_fd();
}

}  // namespace garrick::net::internal
