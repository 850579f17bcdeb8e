// The receive time-out: one timer, and the time when a message was last handled.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/detail/receive_timeout.hpp>
#include <garrick/core/receive_timeout.hpp>
#include <garrick/core/turn/timer_record.hpp>

#include <utility>

namespace garrick::core::detail {

namespace {

void stop_timer(cell_extension& x) noexcept {
  if (x.idle_timer != nullptr) std::exchange(x.idle_timer, nullptr)->cancel_and_drop();
}

void arm_timer(cell& self, cell_extension& x, base::duration delay) {
  stop_timer(x);
  x.idle_timer = timer_record::arm_once(self.env(), self,
                                        make_envelope<receive_timeout>(x.silence_limit), delay);
}

}  // namespace

void set_receive_timeout(cell& self, base::duration limit) {
  cell_extension* const old = self.ext_if();
  if (old != nullptr) {
    stop_timer(*old);
    old->silence_limit = {};
  }
  if (limit.count() == 0 || self.phase() >= life::ending) return;
  cell_extension& x = self.ext();
  x.silence_limit = limit;
  x.last_activity = self.env().clock->now();
  arm_timer(self, x, limit);
}

bool receive_timeout_is_due(cell& self) {
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->silence_limit.count() == 0) return false;
  const base::duration idle = self.env().clock->now() - x->last_activity;
  if (idle >= x->silence_limit) return true;
  arm_timer(self, *x, x->silence_limit - idle);
  return false;
}

void renew_receive_timeout(cell& self) {
  if (cell_extension* const x = self.ext_if()) set_receive_timeout(self, x->silence_limit);
}

const void* present_timeout(cell& self) noexcept { return self.ext_if()->idle_timer; }

void end_silence(cell& self, const void* timeout) noexcept {
  cell_extension& x = *self.ext_if();
  if (x.idle_timer == timeout) x.last_activity = self.env().clock->now();
}

}  // namespace garrick::core::detail
