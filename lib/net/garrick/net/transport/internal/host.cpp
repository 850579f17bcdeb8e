#include "garrick/net/transport/internal/host.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"

namespace garrick::net::internal {
namespace {

/// After this many turns of one link, other residents have theirs.
constexpr int most_turns = 8;
/// The number of times that arrived bytes may put off the time: a flood in a shared socket must not
/// hold up its links for ever.
constexpr int most_put_off = 16;

}  // namespace

bool host::begin(std::unique_ptr<maker> make) {
  const std::shared_ptr<host> self = shared_from_this();
  // The place cannot be lost at this moment: only this thread tells a holder to give way.
  if (ticket_ != nullptr) static_cast<void>(ticket_->hold(self));
  std::unique_ptr<job> first = make_job([self, m = std::move(make)] {
    try {
      const connection to_self(self);
      self->hosted_ = m->make(*self, to_self);
      if (self->hosted_ == nullptr)
        self->end(net_errc::refused);
      else if (!self->closing_)
        self->open();
    } catch (...) { self->end(error_of_exception()); }
    if (self->hosted_ == nullptr && self->ticket_ != nullptr) self->ticket_->refuse();
    self->settle();
  });
  if (loop_.add(self) && loop_.post(std::move(first))) return true;
  abandon();
  return false;
}

void host::abandon() noexcept {
  // Threads that still name the link hold neither a listener nor a place there.
  farewell();
  ticket_.reset();
  const std::lock_guard lock(mutex_);
  over_ = true;
}

detail::entrance::answer host::enter() noexcept {
  // A thread that reads an old value here waits in line, where the mutex decides, so a busy link's
  // door costs one lock and not two. A thread that has seen a visitor leave reads no old value.
  if (is_occupied()) return answer::busy;
  const std::lock_guard lock(mutex_);
  if (over_) return answer::over;
  if (is_occupied()) return answer::busy;
  occupy(true);
  return answer::entered;
}

bool host::is_over() const noexcept {
  const std::lock_guard lock(mutex_);
  return over_;
}

visit_result host::wait_in_line(std::unique_ptr<detail::visit> v, bool limited) {
  return queue(std::move(v), limited);
}

visit_result host::queue(std::unique_ptr<detail::visit> v, bool limited) {
  {
    const std::lock_guard lock(mutex_);
    if (over_) return visit_result::over;
    if (limited && line_.size() >= settings_.most_waiting) return visit_result::full;
    line_.push_back(std::move(v));
    if (is_occupied()) return visit_result::queued;
    occupy(true);
  }
  hand_over();
  return visit_result::queued;
}

void host::hand_over() noexcept {
  try {
    // The loop has this resident, so it has not ended.
    loop_.post(make_job([self = shared_from_this()] { self->settle(); }));
  } catch (const std::bad_alloc&) { base::out_of_memory("a visit of a link"); }
}

void host::leave() noexcept {
  if (loop_.is_current()) return settle();
  try {
    attend_elsewhere();
    check_admission();
    arm();
  } catch (...) { end(error_of_exception()); }
  if (!closing_ && !wants_loop_) {
    const std::lock_guard lock(mutex_);
    if (line_.empty()) {
      occupy(false);
      return;
    }
  }
  hand_over();
}

void host::settle() noexcept {
  wants_loop_ = false;
  for (int turn = 0; turn < most_turns; ++turn)
    if (settle_once()) return;
  hand_over();
}

bool host::settle_once() noexcept {
  make_visits();
  bool again = false;
  auto attended = [&] { again = attend(); };
  if (hosted_ != nullptr) guarded(attended);
  auto checked = [&] {
    check_admission();
    arm();
  };
  if (hosted_ != nullptr) guarded(checked);
  if (closing_) {
    finish();
    return true;
  }
  if (again) return false;
  const std::lock_guard lock(mutex_);
  if (!line_.empty()) return false;
  occupy(false);
  return true;
}

void host::make_visits() noexcept {
  {
    const std::lock_guard lock(mutex_);
    taken_.swap(line_);
  }
  for (auto& v : taken_) {
    auto run = [&] { v->run(*hosted_); };
    guarded(run);
    v.reset();
  }
  taken_.clear();
}

void host::close() {
  GARRICK_ASSERT(is_occupied(), "a link is closed by its visitor");
  end({});
}

void host::end(base::error why) noexcept {
  if (std::exchange(closing_, true)) return;
  why_ = std::move(why);
}

base::error host::error_of_exception() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    return base::make_error(net_errc::owner_failed, e.what());
  } catch (...) { return net_errc::owner_failed; }
}

void host::check_admission() {
  if (admitted_ || !hosted_->admitted()) return;
  if (ticket_ != nullptr && !ticket_->admit()) return end_for_newcomer();
  admitted_ = true;
}

void host::end_for_newcomer() noexcept {
  end(base::make_error(net_errc::refused, "a newcomer got its place before it was admitted"));
}

void host::give_way() noexcept {
  try {
    auto leave = [self = shared_from_this()] { self->end_for_newcomer(); };
    loop_.is_current() ? inside(std::move(leave)) : in_line(std::move(leave));
  } catch (const std::bad_alloc&) {
    return;  // it ends when its time is over
  }
}

void host::arm() {
  if (closing_) return;
  base::instant first = std::min(above().deadline(), due());
  if (ticket_ != nullptr) first = std::min(first, ticket_->deadline());
  // A timer that is set too early costs one look; setting it again at each call would cost more.
  if (first >= armed_) return;
  if (timer_ == nullptr) timer_ = std::make_unique<io_timer>(loop_);
  timer_->expire_at(first, shared_from_this(), timer_number);
  armed_ = first;
}

void host::completed(std::uint64_t what, int failed, std::size_t bytes) {
  if (what != timer_number) return event(what, failed, bytes);
  // Bytes that came before this instant are received before it, here or in bytes_before_time.
  const base::instant at = now();
  if (receive_first() && ++put_off_ < most_put_off) {
    loop_.post(make_job([self = shared_from_this()] { self->completed(timer_number, 0, 0); }));
    return;
  }
  put_off_ = 0;
  inside([self = shared_from_this(), at] { self->timer_expired(at); });
}

void host::timer_expired(base::instant at) {
  // A timer that was set again may have expired already, at its old time.
  if (at < armed_) return;
  armed_ = base::instant::never();
  if (ticket_ != nullptr && ticket_->deadline() <= at) {
    ++ticket_->of().too_late;
    ticket_->refuse();
    return end(base::make_error(net_errc::refused, "not admitted in time"));
  }
  if (due() <= at) on_time(at);
  if (!closing_ && above().deadline() <= at && !bytes_before_time(at)) advance_if_due(at);
}

void host::advance_if_due(base::instant at) {
  if (!closing_ && above().deadline() <= at) above().advance(at);
}

void host::stop() {
  inside([this] {
    stopping_ = true;
    end(base::make_error(base::errc::shutting_down, "the I/O threads were stopped"));
  });
}

void host::finish() noexcept {
  const std::shared_ptr<host> self = shared_from_this();
  timer_.reset();
  if (hosted_ != nullptr) {
    tell_stack();
    try {
      check_admission();  // its last call may have admitted it
    } catch (...) { why_ = error_of_exception(); }
    hosted_->ended(why_);
    hosted_.reset();
  }
  farewell();
  ticket_.reset();
  std::vector<std::unique_ptr<detail::visit>> dropped;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    occupy(false);
    dropped.swap(line_);
  }
  dropped.clear();
  loop_.remove(*this);
}

void host::tell_stack() noexcept {
  if (!why_) return;  // closed from here: the stack knows
  try {
    above().over(why_, now());
  } catch (...) {
    return;  // the owner's mistake, in its last call but one; `ended` is still called
  }
}

transport_counters host::counters() const {
  return {counts_.bytes_sent.get(), counts_.bytes_received.get(), counts_.writes.get(),
          counts_.reads.get(),      counts_.dropped.get(),        counts_.connects.get(),
          counts_.hints.get()};
}

}  // namespace garrick::net::internal
