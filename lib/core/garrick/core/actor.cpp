#include <garrick/base/platform/assert.hpp>
#include <garrick/core/actor.hpp>
#include <garrick/core/behavior.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/thread_context.hpp>

#include <optional>
#include <stdexcept>

namespace garrick::core {

std::string address::to_string() const {
  if (cell_ == nullptr) return "nobody";
  return std::string(cell_->name()) + "#" + std::to_string(cell_->id());
}

std::string handle::to_string() const { return address().to_string(); }

namespace detail {

namespace {

/// Sends a system message to an actor that may be gone: then it is answered for it. False if it is
/// gone.
template <class Signal, class... Args>
bool signal_to(const address& to, Args&&... args) {
  cell* const c = handle_access::get(to);
  if (c == nullptr || !c->lock()) return false;
  c->signal(make_envelope<Signal>(std::forward<Args>(args)...));
  c->drop_strong();
  return true;
}

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
  // a programming error, which must not pass as the end of an actor that nobody needed
  if (!other) {
    self.signal(make_envelope<exit_signal>(
        other, base::exit_reason(base::make_error(base::errc::receiver_gone, "link()",
                                                  "an empty address: never lived"))));
    return;
  }
  keyed_list<watcher>& watchers = self.ext().watch().watchers;
  if (!watchers.contains({other.id(), 0})) watchers.add({other, 0});
  const address me = handle_access::make_address(&self);
  if (!signal_to<signals::watch>(other, me, std::uint64_t{0}))
    self.signal(make_envelope<exit_signal>(other, reason_of(other)));
}

void unlink_cells(cell& self, const address& other) {
  if (cell_extension* const x = self.ext_if(); x != nullptr && x->watching != nullptr)
    x->watching->watchers.take({other.id(), 0});
  signal_to<signals::unwatch>(other, handle_access::make_address(&self), std::uint64_t{0});
}

monitor_id monitor_cell(cell& self, const address& other, continuation* callback) {
  watch_lists& w = self.ext().watch();
  const std::uint64_t id = w.next_monitor++;
  w.monitors.add({id, other, callback});
  if (!signal_to<signals::watch>(other, handle_access::make_address(&self), id))
    self.signal(make_envelope<down>(other, reason_of(other), id));
  return {id};
}

void demonitor_cell(cell& self, monitor_id id) {
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->watching == nullptr) return;
  const std::optional<own_monitor> m = x->watching->monitors.take({0, id.value});
  if (!m) return;
  if (m->callback != nullptr) m->callback->abandon();
  signal_to<signals::unwatch>(m->target, handle_access::make_address(&self), m->id);
}

bool kill_cell(const address& who, base::exit_reason reason, bool final) {
  return signal_to<signals::kill>(who, std::move(reason), final);
}

bool exit_cell(cell* self, const address& who, base::exit_reason reason) {
  return signal_to<exit_signal>(
      who, self != nullptr ? handle_access::make_address(self) : address{}, std::move(reason));
}

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
  if (period.count() <= 0) {
    destroy_payload(e);
    free_envelope_block(e);
    throw std::invalid_argument("garrick: send_every(): the period must be above zero, and is " +
                                period.to_string());
  }
  e->sender_id = self.id();
  return keep(self, timer_record::arm_periodic(self.env(), target, e, period));
}

// ---- behaviors ----------------------------------------------------------------------------------

/// While it lives, the actor's present behavior stays in memory although a case of it may change
/// the behavior. The actor holds it until then, and this takes over what the actor lets go; so a
/// message counts nothing.
class running_behavior {
 public:
  explicit running_behavior(const behavior& present) noexcept
      : present_(present), impl_(*present.impl()), outer_(std::exchange(here.behavior, this)) {}
  ~running_behavior() { here.behavior = outer_; }
  running_behavior(const running_behavior&) = delete;
  running_behavior& operator=(const running_behavior&) = delete;

  [[nodiscard]] behavior_impl& impl() const noexcept { return impl_; }

  /// An actor whose behavior is kept in `present` lets `old` go. Another actor's is not kept: no
  /// case of it runs, or this would not be the innermost.
  void replaced(const behavior& present, behavior& old) noexcept {
    if (&present == &present_ && old.impl() == &impl_) kept_ = std::move(old);
  }

 private:
  const behavior& present_;
  behavior_impl& impl_;
  running_behavior* outer_;
  behavior kept_;
};

namespace {

/// The receive time-out of a behavior: a message to the actor itself that is ignored if anything
/// was handled meanwhile.
struct idle_timeout {};

void stop_idle_timer(cell_extension& x) noexcept {
  if (x.idle_timer != nullptr) std::exchange(x.idle_timer, nullptr)->cancel_and_drop();
}

void arm_idle_timer(cell& self, cell_extension& x, base::duration delay) {
  stop_idle_timer(x);
  x.idle_timer = timer_record::arm_once(self.env(), self, make_envelope<idle_timeout>(), delay);
}

/// Zero: none.
base::duration idle_limit(const behavior& b) noexcept {
  return base::duration::nanoseconds(b ? b.impl()->timeout_ns() : 0);
}

void restart_idle_timer(cell& self, const behavior& present) {
  if (cell_extension* const x = self.ext_if()) stop_idle_timer(*x);
  const base::duration limit = idle_limit(present);
  if (limit.count() == 0 || self.phase() >= life::ending) return;
  cell_extension& x = self.ext();
  x.last_activity = self.env().clock->now();
  arm_idle_timer(self, x, limit);
}

/// The time-out's message came: is it true that nothing else came for so long?
void on_idle_timeout(cell& self, behavior& present) {
  const base::duration limit = idle_limit(present);
  if (limit.count() == 0) return;
  cell_extension& x = self.ext();
  const base::duration idle = self.env().clock->now() - x.last_activity;
  if (idle < limit) return arm_idle_timer(self, x, limit - idle);
  running_behavior(present).impl().timed_out();
  restart_idle_timer(self, present);
}

/// Puts `next` in the place of `present`.
void replace(behavior& present, behavior next) noexcept {
  behavior old = std::exchange(present, std::move(next));
  if (here.behavior != nullptr) here.behavior->replaced(present, old);
}

/// The behavior below becomes the present one. False: there is none.
bool return_to_below(cell& self, behavior& present) {
  behavior below;
  if (cell_extension* const x = self.ext_if(); x != nullptr && !x->behaviors_below.empty()) {
    below = std::move(x->behaviors_below.back());
    x->behaviors_below.pop_back();
  }
  replace(present, std::move(below));
  return static_cast<bool>(present);
}

void behavior_changed(cell& self, const behavior& present) {
  lifecycle::retry_skipped(self);
  restart_idle_timer(self, present);
}

dispatch_outcome on_unmatched(cell& self, envelope* e) {
  switch (self.on_unmatched()) {
    case unmatched::report: return dispatch_outcome::unexpected;
    case unmatched::skip: return dispatch_outcome::skipped;
    case unmatched::drop: return dispatch_outcome::handled;
    case unmatched::bounce:
      if (!e->is(envelope_flag::request)) return dispatch_outcome::unexpected;
      respond_error(e,
                    base::make_error(base::errc::unexpected_message, self.name(), e->type->name));
      return dispatch_outcome::handled;
  }
  return dispatch_outcome::unexpected;
}

}  // namespace

void push_behavior(cell& self, behavior& present, behavior b, bool keep) {
  if (!b) {
    if (!(keep ? static_cast<bool>(present) : return_to_below(self, present))) self.quit({});
  } else {
    if (keep && present) self.ext().behaviors_below.push_back(std::move(present));
    replace(present, std::move(b));
  }
  behavior_changed(self, present);
}

void pop_behavior(cell& self, behavior& present) {
  if (!return_to_below(self, present)) self.quit({});
  behavior_changed(self, present);
}

bool offer_to_behavior(cell& self, behavior& present, envelope* e) {
  return present && running_behavior(present).impl().invoke(self, e);
}

dispatch_outcome dispatch_to_behavior(cell& self, behavior& present, envelope* e) {
  if (e->type == &base::message_type_of<idle_timeout>) [[unlikely]] {
    on_idle_timeout(self, present);
    return dispatch_outcome::handled;
  }
  cell_extension* const x = self.ext_if();
  const timer_record* const timing = x != nullptr ? x->idle_timer : nullptr;
  const dispatch_outcome outcome = offer_to_behavior(self, present, e) ? dispatch_outcome::handled
                                   : present                           ? on_unmatched(self, e)
                                             : dispatch_outcome::unexpected;
  // Skipped mail has yet to come: it does not end the silence, and costs no look at the clock each
  // time that it is tried again. A behavior that replaced the one with the time-out has begun a
  // silence of its own.
  if (timing != nullptr && outcome != dispatch_outcome::skipped && x->idle_timer == timing)
    x->last_activity = self.env().clock->now();
  return outcome;
}

}  // namespace detail

}  // namespace garrick::core
