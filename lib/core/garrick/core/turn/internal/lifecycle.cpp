// The failure, restart and end of an actor.
#include <garrick/core/cell/continuation.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/life/internal/asked_proxy.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/life/internal/no_reentry.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/overload/internal/parked.hpp>
#include <garrick/core/turn/internal/awaiting.hpp>
#include <garrick/core/turn/internal/lifecycle.hpp>
#include <garrick/core/turn/internal/system_lane.hpp>
#include <garrick/core/turn/internal/turn_frame.hpp>
#include <garrick/core/turn/suspended_frame.hpp>
#include <garrick/core/turn/timer_record.hpp>
#include <garrick/core/turn/waiting_executor.hpp>

#include <exception>
#include <utility>

namespace garrick::core::lifecycle {

namespace {

/// The most ends in a row: an actor's end may drop the last handle to the next actor, and so on
/// without an end.
constexpr int most_ends_at_once = 256;

/// Cancels the timers, requests and coroutines of the present incarnation of the user's object.
void cancel_outstanding(cell& self, cell_extension& x) noexcept {
  cancel_all_timers(self);
  while (x.frames != nullptr) {
    suspended_frame* const f = x.frames;
    x.frames = f->next_frame;
    if (x.frames != nullptr) x.frames->slot_of_me = &x.frames;
    f->destroy_frame();
  }
  x.pending.for_each([&](std::uint64_t id, response_table::slot& s) {
    if (s.timer != nullptr) s.timer->cancel_and_drop();
    if (s.early != nullptr) self.finish(s.early);
    if (self.env().waits != nullptr) detail::note_answered(self, id);
    if (s.k != nullptr) s.k->abandon();
    asked_proxy::finish(x.pending, id, self);
  });
  awaiting::cancel(self, x);
}

/// Withdraws the monitors that the actor has set, so that long-living targets do not collect
/// watchers that are gone.
void forget_monitors(cell& self, cell_extension& x) noexcept {
  if (x.watching == nullptr || x.watching->monitors.size() == 0) return;
  const keyed_list<own_monitor> monitors = std::exchange(x.watching->monitors, {});
  monitors.for_each([&](const own_monitor& m) {
    if (m.callback != nullptr) m.callback->abandon();
    system_lane::tell<signals::unwatch>(m.target, handle_access::make_address(&self), m.id);
  });
}

/// Destroys the user's object, and cancels its timers, requests, coroutines and monitors. The actor
/// keeps its address, mail, links and watchers.
void end_incarnation(cell& self, const base::exit_reason& reason) noexcept {
  try {
    // An actor with a refused spawn has not lived: of its functions only the destructor may run.
    if (self.is_listed()) self.object_exits(reason);
  } catch (...) {
    self.env().failed(self, base::make_error(base::errc::user, "exit hook",
                                             lost_mail::text_of(std::current_exception())));
  }
  const auto cancel_all = [&self] {
    cell_extension* const x = self.ext_if();
    if (x == nullptr) return;
    cancel_outstanding(self, *x);
    forget_monitors(self, *x);
  };
  cancel_all();
  self.destroy_object();
  cancel_all();  // timers and requests of its destructor
  self.set_unmatched(unmatched::report);
  cell_extension* const x = self.ext_if();
  if (x == nullptr) return;
  x->behaviors_below.reset();
  x->dependents.reset();
  x->trap_exit = false;
  x->interleave = false;
}

/// Hands every message that waits in the actor to `lose`.
void drop_mail(cell& self, const base::error& why) noexcept {
  const auto lose = [&](envelope* e) {
    if (!e->is(envelope_flag::system)) return lost_mail::lose_kept(self, e, why);
    system_lane::drop_from_mail(self, e, why);
    self.finish(e);
  };
  if (cell_extension* const x = self.ext_if()) {
    while (envelope* const e = x->skipped.pop_front()) lose(e);
    x->skipped_count = 0;
  }
  auto& reader = self.reader();
  reader.take_arrivals(self.gate());
  while (envelope* const e = reader.next_urgent()) lose(e);
  while (reader.peek_front() != nullptr) lose(reader.next(self.gate()));
}

bool wants_restart(const supervised& child, const base::exit_reason& reason) noexcept {
  if (reason == base::exit_code::unreachable) return false;  // no actor could use it
  const bool failed = reason.is_failure() || reason == base::exit_code::kill;
  return failed ? child.restarts_after_failure : child.restarts_after_quit;
}

/// Notes that the restart or the end has come. The caller has shown in the mailbox's word which of
/// them.
void await_restart_no_more(cell& self, supervised& parent) noexcept {
  // order: relaxed, both: the runner's own value, and published by the epoch
  if (!parent.awaits_restart.load(std::memory_order_relaxed)) return;
  parent.awaits_restart.store(false, std::memory_order_relaxed);
  self.env().lot->wake(self.id());
}

void start_anew(cell& self, cell_extension& x) {
  supervised& parent = *x.parent;
  // first: from now on senders wait for it as for any actor that runs
  self.set_stalled(false);
  await_restart_no_more(self, parent);
  if (!parent.keep_mail) {
    constexpr std::string_view text = "restarted by its supervisor, which drops mail";
    const base::error held = base::make_error(base::errc::broken_promise, self.name(), text);
    const no_reentry guard(held);
    drop_mail(self, base::make_error(base::errc::not_handled, self.name(), text));
  }
  x.reason = {};
  self.set_phase(life::running);
  const std::uint32_t restarts = self.restarts() + 1;
  parent.restarts.store(restarts, std::memory_order_relaxed);  // order: others only look
  if (self.env().probe != nullptr) self.env().probe->on_actor_restarted(self.id(), restarts);
  try {
    self.rebuild_object();
  } catch (...) {
    return on_exception(self, nullptr, std::current_exception());  // counts as a failure again
  }
  self.retry_skipped();
  self.reader().publish(self.gate());  // the mail that was dropped has made room
  parked::serve(self);
  system_lane::tell<signals::child_up>(parent.supervisor, handle_access::make_address(&self));
  begin(self);
}

/// Called after the last turn of a supervised child. Returns false if it really ends.
bool stay_for_supervisor(cell& self, cell_extension& x) {
  supervised& parent = *x.parent;
  const demand due = std::exchange(parent.due, demand::none);
  if (due == demand::restart) {
    start_anew(self, x);
    return true;
  }
  const base::exit_reason reason = self.end_reason();
  if (due == demand::none && !wants_restart(parent, reason)) return false;
  cell* const sup = handle_access::get(parent.supervisor);
  // The supervisor may run although no handle to it is left. If it ends meanwhile it stops its
  // children.
  const bool is_held = sup != nullptr && sup->lock();
  if (!is_held && (sup == nullptr || !sup->has_turns())) return false;
  self.set_phase(life::suspended);
  {
    const base::error held = lost_mail::told_of_promises(self, reason);
    const no_reentry guard(held);
    lost_mail::answer_unkept(self, held);
    end_incarnation(self, reason);
  }
  // order: relaxed; a sender that does not see it yet does not wait
  parent.awaits_restart.store(true, std::memory_order_relaxed);
  self.set_stalled(true);
  system_lane::tell<signals::child_failed>(parent.supervisor, handle_access::make_address(&self),
                                           reason, true);
  if (is_held) sup->drop_strong();
  return true;
}

}  // namespace

void begin(cell& self) noexcept {
  self.set_phase(life::running);
  // order: read by the watchdog as a sample
  base::this_thread.handling.store(nullptr, std::memory_order_relaxed);
  try {
    self.start();
  } catch (...) { on_exception(self, nullptr, std::current_exception()); }
}

void reclaim_some() noexcept {
  auto& here = detail::here;
  // An end may drop the last handles of further actors, which are added to the same list.
  for (int turns = 0; here.reclaim != nullptr; ++turns) {
    cell* const c = here.reclaim;
    here.reclaim = static_cast<cell*>(c->queue_link);
    bool ended = false;
    if (turns < most_ends_at_once) {
      // so that its last answers and messages, and the watchdog, name this actor
      const turn_frame turn(*c, turn_frame::kind::borrowed);
      ended = reach_end(*c);
    }
    // An actor that waits for its children first continues as a running actor. The rest of a long
    // list ends in later turns, among those of other actors.
    if (!ended) c->home_executor().schedule(*c);
  }
}

void on_exception(cell& self, envelope* e, const std::exception_ptr& what) noexcept {
  const std::string text = lost_mail::text_of(what);
  base::exit_reason reason = base::exit_reason::exception(text);
  self.env().failed(self, reason.as_error());
  lost_mail::lose_failed(self, e, base::make_error(base::errc::receiver_failed, self.name(), text));
  self.quit(std::move(reason));  // at the end of this turn a supervised child is suspended instead
}

namespace {

/// Stops the children in order; without memory, or a thread for the clock, ends them without
/// waiting. Returns true if none is left.
bool wound_down(cell& self, dependents& children) noexcept {
  try {
    return children.wound_down(self);
  } catch (...) {
    children.abandon();
    return true;
  }
}

}  // namespace

bool reach_end(cell& self) noexcept {
  cell_extension* const x = self.ext_if();
  if (x != nullptr) {
    if (x->dependents != nullptr && !wound_down(self, *x->dependents)) return false;
    if (x->parent != nullptr && x->parent->restartable && stay_for_supervisor(self, *x))
      return false;
  }
  conclude(self);
  return true;
}

namespace {

/// The data for the steps of an end.
struct ending {
  cell& self;
  environment& env;
  const base::exit_reason reason;
  const base::error unread;  ///< for senders of unhandled messages
  const base::error held;    ///< for requesters of promises that go with the actor
};

void answer_dropped_promises(ending& e) noexcept { lost_mail::answer_unkept(e.self, e.held); }
void end_object(ending& e) noexcept { end_incarnation(e.self, e.reason); }
void become_ended(ending& e) noexcept { e.self.set_phase(life::ended); }
void lose_mail(ending& e) noexcept { drop_mail(e.self, e.unread); }
void refuse_parked_senders(ending& e) noexcept { parked::refuse_all(e.self, e.unread); }

/// Actors on a foreign loop have no thread to give back.
void give_thread_back(ending& e) noexcept {
  if (e.self.has_own_executor() && e.self.kind() != cell_kind::event)
    static_cast<waiting_executor&>(e.self.home_executor()).actor_ended();
}

void wake_senders_of_restart(ending& e) noexcept {
  const cell_extension* const x = e.self.ext_if();
  if (x != nullptr && x->parent != nullptr) await_restart_no_more(e.self, *x->parent);
}

void tell_watchers(ending& e) noexcept {
  const cell_extension* const x = e.self.ext_if();
  if (x == nullptr || x->watching == nullptr) return;
  x->watching->watchers.for_each(
      [&](const watcher& w) { system_lane::notify(w, e.self, e.reason); });
}

void tell_supervisor(ending& e) noexcept {
  const cell_extension* const x = e.self.ext_if();
  if (x == nullptr || x->parent == nullptr) return;
  system_lane::tell<signals::child_failed>(x->parent->supervisor,
                                           handle_access::make_address(&e.self), e.reason, false);
}

void forget_watchers(ending& e) noexcept {
  const cell_extension* const x = e.self.ext_if();
  if (x != nullptr && x->watching != nullptr) x->watching->watchers.clear();
}

void leave_system(ending& e) noexcept {
  if (e.self.is_listed()) e.env.left(e.self);
}

/// A table of steps, which are called directly. Through pointers, an actor that only spawns two
/// others and ends took a sixth longer (`./dev bench spawn_tree`).
template <void (*... Steps)(ending&) noexcept>
struct steps {
  static void take(ending& e) noexcept { (Steps(e), ...); }
};

// The end of an actor, from top to bottom. The mailbox is closed between the two tables: signals
// left there are answered, and senders that wait for room continue (cell_steps::end). The thread is
// given back before any actor is told of the end, since such an actor may want that thread. After
// the last step the system may be gone.
using while_mail_comes = steps<  //
    answer_dropped_promises,     //
    end_object,                  //
    become_ended>;
using when_mailbox_is_closed = steps<  //
    lose_mail,                         //
    refuse_parked_senders,             //
    give_thread_back,                  //
    wake_senders_of_restart,           //
    tell_watchers,                     //
    tell_supervisor,                   //
    forget_watchers,                   //
    leave_system>;

}  // namespace

void conclude(cell& self) noexcept {
  const base::exit_reason reason = self.end_reason();
  ending e{self, self.env(), reason, lost_mail::told_of_end(base::errc::not_handled, self, reason),
           lost_mail::told_of_promises(self, reason)};
  const no_reentry guard(e.held);
  while_mail_comes::take(e);
  cell_steps::end(self, [&e] { when_mailbox_is_closed::take(e); });
}

}  // namespace garrick::core::lifecycle
