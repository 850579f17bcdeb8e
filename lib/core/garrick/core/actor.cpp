// The operations of an actor on its own turn: links, monitors, orders to end, timers.
#include <garrick/base/platform/assert.hpp>
#include <garrick/core/actor.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/detail/receive_timeout.hpp>
#include <garrick/core/message.hpp>
#include <garrick/core/turn/internal/system_lane.hpp>

#include <optional>
#include <stdexcept>

namespace garrick::core {

namespace detail {

namespace {

base::exit_reason reason_of(const address& gone) {
  cell* const c = handle_access::get(gone);
  if (c == nullptr)
    return base::exit_reason(base::exit_code::unreachable, "an empty address: never lived");
  return c->has_ended() ? c->end_reason() : base::exit_reason(base::exit_code::unreachable);
}

}  // namespace

cell* claim_constructing_cell() noexcept {
  cell* const c = here.constructing;
  GARRICK_ASSERT(c != nullptr,
                 "an actor is built by spawn, not by hand: system.spawn<my_actor>(args...)");
  return c;
}

void link_cells(cell& self, const address& other) {
  if (other == handle_access::make_address(&self)) return;
  // An empty address is a programming error: it must end `self`, which `unreachable` would not.
  if (!other) {
    self.signal(make_envelope<exit_signal>(
        other, base::exit_reason(base::make_error(base::errc::not_found, "link()",
                                                  "an empty address: never lived"))));
    return;
  }
  keyed_list<watcher>& watchers = self.ext().watch().watchers;
  if (!watchers.contains({other.id(), 0})) watchers.add({other, 0});
  const address me = handle_access::make_address(&self);
  if (!system_lane::tell<signals::watch>(other, me, std::uint64_t{0}))
    self.signal(make_envelope<exit_signal>(other, reason_of(other)));
}

void unlink_cells(cell& self, const address& other) {
  if (cell_extension* const x = self.ext_if(); x != nullptr && x->watching != nullptr)
    x->watching->watchers.take({other.id(), 0});
  system_lane::tell<signals::unwatch>(other, handle_access::make_address(&self), std::uint64_t{0});
}

monitor_id monitor_cell(cell& self, const address& other, continuation* callback) {
  std::uint64_t id = 0;
  try {
    watch_lists& w = self.ext().watch();
    id = w.next_monitor++;
    w.monitors.add({id, other, callback});
  } catch (...) {
    if (callback != nullptr) callback->abandon();
    throw;
  }
  if (!system_lane::tell<signals::watch>(other, handle_access::make_address(&self), id))
    system_lane::bring_down(self, other, reason_of(other), id);
  return {id};
}

void demonitor_cell(cell& self, monitor_id id) {
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->watching == nullptr) return;
  const std::optional<own_monitor> m = x->watching->monitors.take({0, id.value});
  if (!m) return;
  if (m->callback != nullptr) m->callback->abandon();
  system_lane::tell<signals::unwatch>(m->target, handle_access::make_address(&self), m->id);
}

bool kill_cell(const address& who, base::exit_reason reason, bool final) {
  return system_lane::tell<signals::kill>(who, std::move(reason), final);
}

bool exit_cell(cell* self, const address& who, base::exit_reason reason) {
  return system_lane::tell<exit_signal>(
      who, self != nullptr ? handle_access::make_address(self) : address{}, std::move(reason));
}

bool leave_cell(const address& who) { return system_lane::tell<signals::leave>(who); }

// ---- timers -------------------------------------------------------------------------------------

namespace {

timer keep(cell& self, timer_record* r) {
  r->add_holder();
  list_timer(self, r);
  return timer(r);
}

}  // namespace

timer delayed(cell& self, cell& target, envelope* e, base::duration delay) {
  e->sender_id = self.id();
  return keep(self, timer_record::arm_once(self.env(), target, e, delay));
}

timer periodic(cell& self, cell& target, envelope* e, base::duration period) {
  envelope_ptr unsent(e);
  if (period.count() <= 0)
    throw std::invalid_argument("garrick: send_every(): the period must be above zero, and is " +
                                period.to_string());
  // The beats share the content, so that the clock's thread copies no user's object.
  if (!is_never_shared(*e->type)) static_cast<void>(message_access::from_envelope(e));
  e->sender_id = self.id();
  return keep(self, timer_record::arm_periodic(self.env(), target, unsent.release(), period));
}

void limit_silence(cell& self, base::duration limit) {
  // The function called takes zero as "no time-out", so "at once" is one nanosecond.
  set_receive_timeout(self, limit.is_infinite()  ? base::duration()
                            : limit.count() <= 0 ? base::duration::nanoseconds(1)
                                                 : limit);
}

}  // namespace detail

void actor_base::trap_exit(bool on) { cell_->ext().trap_exit = on; }

void actor_base::interleave(bool on) { cell_->ext().interleave = on; }

}  // namespace garrick::core
