// Signals: one function for each, and a table that finds it.
#include <garrick/core/cell/continuation.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/internal/asked_proxy.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/overload/internal/parked.hpp>
#include <garrick/core/turn/internal/system_lane.hpp>

#include <new>
#include <optional>

namespace garrick::core::system_lane {

namespace {

// Sends `e` as a response: past every bound, and off the path of plain messages. No request has the
// id 0, so it arrives as a response that no actor waits for.
void put_behind_mail(cell& receiver, envelope* e) noexcept {
  e->set(envelope_flag::system);
  e->set(envelope_flag::response);
  receiver.deliver_now(e);
}

template <class Signal>
Signal& content(envelope* e) noexcept {
  return *static_cast<Signal*>(e->raw());
}

// ---- on the actor's turn ------------------------------------------------------------------------

void on_suspend(cell& self, envelope*) {
  cell_extension* const extension = self.ext_if();
  if (extension == nullptr || extension->parent == nullptr || self.phase() == life::suspended)
    return;
  if (extension->parent->due == demand::restart) {
    extension->parent->due = demand::none;
    self.set_phase(life::suspended);
    tell<signals::child_failed>(extension->parent->supervisor, handle_access::make_address(&self),
                                base::exit_reason(base::exit_code::user_shutdown), true);
  } else if (self.phase() < life::ending) {
    extension->parent->due = demand::suspend;
    self.quit(base::exit_code::user_shutdown);
  }
}

void on_restart(cell& self, envelope* e) {
  cell_extension* const extension = self.ext_if();
  if (extension == nullptr || extension->parent == nullptr || self.phase() != life::suspended)
    return;
  extension->parent->due = demand::restart;
  extension->parent->keep_mail = content<signals::restart>(e).keep_mail;
  // carried out at the end of this turn, when no handler is on the stack
  self.set_phase(life::ending);
}

void end_for_good(cell& self, base::exit_reason reason, bool also_children) {
  cell_extension* const extension = self.ext_if();
  if (extension != nullptr && extension->parent != nullptr) {
    extension->parent->restartable = false;
    extension->parent->due = demand::none;
  }
  const bool waits_for_children = extension != nullptr && extension->dependents != nullptr &&
                                  extension->dependents->ends_its_actor();
  if (also_children && extension != nullptr && extension->dependents != nullptr)
    extension->dependents->abandon();
  if (self.phase() != life::suspended)
    self.quit(std::move(reason));
  else if (!waits_for_children || also_children)
    self.set_phase(life::ending);  // keeps the reason of its suspension
}

void on_kill(cell& self, envelope* e) {
  auto& k = content<signals::kill>(e);
  if (k.final) return end_for_good(self, std::move(k.reason), true);
  if (self.phase() != life::suspended) self.quit(std::move(k.reason));
}

void on_leave(cell& self, envelope*) {
  const cell_extension* const extension = self.ext_if();
  const bool waits = extension != nullptr && extension->pending.active() != 0;
  if (!waits && self.phase() == life::running) self.quit(base::exit_code::user_shutdown);
}

void on_stop(cell& self, envelope* e) {
  end_for_good(self, std::move(content<signals::stop>(e).reason), false);
}

void note_watcher(cell& self, const signals::watch& w) {
  keyed_list<watcher>& watchers = self.ext().watch().watchers;
  if (!watchers.contains({w.watcher.id(), w.monitor})) watchers.add({w.watcher, w.monitor});
}

// Without memory for its watcher the actor fails. The watcher must be told of that, so its request
// waits in the mailbox, as a `down` does: it is answered with the rest of the mail when the actor
// ends, or noted after a restart.
void on_watch(cell& self, envelope* e) {
  const auto& w = content<signals::watch>(e);
  try {
    note_watcher(self, w);
  } catch (const std::bad_alloc&) {
    put_behind_mail(self,
                    last_words<signals::watch>("an actor cannot be watched", w.watcher, w.monitor));
    throw;
  }
}

void on_unwatch(cell& self, envelope* e) {
  const auto& w = content<signals::unwatch>(e);
  if (cell_extension* const extension = self.ext_if();
      extension != nullptr && extension->watching != nullptr)
    extension->watching->watchers.take({w.watcher.id(), w.monitor});
}

void on_down(cell& self, envelope* e) {
  const auto& d = content<down>(e);
  cell_extension* const extension = self.ext_if();
  if (extension == nullptr || extension->watching == nullptr) return;
  const std::optional<own_monitor> m = extension->watching->monitors.take({0, d.monitor});
  if (!m) return;  // cancelled meanwhile
  continuation* const k = m->callback;
  if (k != nullptr) return k->on_response(self, e);
  e->clear(envelope_flag::response);  // from here on it is a message, which may be a dead letter
  if (!self.dispatch_system(e)) lost_mail::report_unexpected(self, e);
}

/// Hands a signal that was put behind the mail to its hook, a coroutine.
void on_turn(cell& self, envelope* e) {
  if (self.dispatch_system(e)) return;
  e->clear(envelope_flag::response);  // as in `on_down`
  lost_mail::report_unexpected(self, e);
}

void on_exit(cell& self, envelope* e) {
  if (detail::has_its_turn(e)) return on_turn(self, e);
  auto& signal = content<exit_signal>(e);
  cell_extension* const extension = self.ext_if();
  if (extension != nullptr && extension->watching != nullptr)
    extension->watching->watchers.take({signal.from.id(), 0});
  if (self.phase() == life::suspended) return;
  if (extension != nullptr && extension->trap_exit) {
    if (!self.dispatch_system(e)) lost_mail::report_unexpected(self, e);
    // `unreachable`: the linked actor had no users, and has not failed
  } else if (!signal.reason.is_normal() && signal.reason != base::exit_code::unreachable) {
    self.quit(std::move(signal.reason));
  }
}

void on_room_wanted(cell& self, envelope* e) {
  parked::add(self, content<signals::room_wanted>(e));
}

/// Handles a report from a child, or an alarm for one.
void on_dependent(cell& self, envelope* e) {
  if (detail::has_its_turn(e)) return on_turn(self, e);
  cell_extension* const extension = self.ext_if();
  // otherwise the signal comes from a released child
  if (extension != nullptr && extension->dependents != nullptr)
    extension->dependents->on_signal(self, e);
}

/// Notes the proxy, as if the receiver had asked it.
void on_handed_on(cell& self, envelope* e) {
  const auto& h = content<signals::handed_on>(e);
  cell_extension* const x = self.ext_if();
  if (x == nullptr || !x->pending.alive(h.request()))
    return tell_withdrawn(h.proxy(), self, h.request());
  response_table::slot& s = x->pending.at(h.request());
  if (s.early == nullptr && s.proxy == nullptr) asked_proxy::note(s, h.proxy());
}

void on_run_errand(cell& self, envelope* e) { content<signals::run_errand>(e).run(self); }

/// Does nothing: `on_signal` has answered for all dropped promises.
void nothing_left_to_do(cell&, envelope*) {}

// ---- for the dead -------------------------------------------------------------------------------

void nobody_asks(cell&, envelope*) {}

void dead_is_watched(cell& dead, envelope* e) {
  const auto& w = content<signals::watch>(e);
  notify({w.watcher, w.monitor}, dead, dead.end_reason());
}

void dead_has_no_room(cell& dead, envelope* e) {
  const auto& w = content<signals::room_wanted>(e);
  lost_mail::lose_parked(dead, {w.message, w.sender, w.id}, base::errc::not_handled);
}

void dead_waits_no_more(cell& dead, envelope* e) {
  const auto& h = content<signals::handed_on>(e);
  tell_withdrawn(h.proxy(), dead, h.request());
}

/// Reports the end of a dead child again to its supervisor, which waits for an answer: the first
/// report may have come while the supervisor had no handle.
void dead_child_is_asked(cell& dead, envelope*) {
  if (const cell_extension* const x = dead.ext_if(); x != nullptr && x->parent != nullptr)
    tell<signals::child_failed>(x->parent->supervisor, handle_access::make_address(&dead),
                                dead.end_reason(), false);
}

// ---- the table ----------------------------------------------------------------------------------

struct row {
  const base::message_type* type;
  void (*act)(cell& self, envelope* e);     ///< on the actor's turn
  void (*answer)(cell& dead, envelope* e);  ///< for an actor that has ended; any thread
};

template <class Signal>
constexpr const base::message_type* type_of = &base::message_type_of<Signal>;

constexpr row rows[] = {
    {type_of<down>, on_down, nobody_asks},
    {type_of<exit_signal>, on_exit, nobody_asks},
    {type_of<signals::watch>, on_watch, dead_is_watched},
    {type_of<signals::unwatch>, on_unwatch, nobody_asks},
    {type_of<signals::kill>, on_kill, nobody_asks},
    {type_of<signals::leave>, on_leave, nobody_asks},
    {type_of<signals::room_wanted>, on_room_wanted, dead_has_no_room},
    {type_of<signals::suspend>, on_suspend, dead_child_is_asked},
    {type_of<signals::restart>, on_restart, dead_child_is_asked},
    {type_of<signals::stop>, on_stop, dead_child_is_asked},
    {type_of<signals::child_failed>, on_dependent, nobody_asks},
    {type_of<signals::child_up>, on_dependent, nobody_asks},
    {type_of<signals::child_alarm>, on_dependent, nobody_asks},
    {type_of<signals::withdrawn>, nothing_left_to_do, nobody_asks},
    {type_of<signals::handed_on>, on_handed_on, dead_waits_no_more},
    {type_of<signals::promises_dropped>, nothing_left_to_do, nobody_asks},
    {type_of<signals::run_errand>, on_run_errand, nobody_asks},
};

const row* row_of(const base::message_type* type) noexcept {
  for (const row& r : rows)
    if (r.type == type) return &r;
  return nullptr;
}

}  // namespace

void on_signal(cell& self, envelope* e) {
  // The earlier handlers are over: they have caught the exceptions that dropped promises in them.
  lost_mail::answer_unkept(self, base::errc::broken_promise);
  if (const row* const r = row_of(e->type)) return r->act(self, e);
  if (!self.dispatch_system(e)) lost_mail::report_unexpected(self, e);
}

void answer_for_the_dead(cell& dead) noexcept {
  envelope* next = mailbox_reader<envelope>::take_signals_of_the_dead(dead.gate());
  while (next != nullptr) {
    const envelope_ptr e(next);
    next = e->next;
    answer_for_the_dead(dead, e.get());
  }
}

void answer_for_the_dead(cell& dead, envelope* e) noexcept {
  if (const row* const r = row_of(e->type)) r->answer(dead, e);
}

void drop_from_mail(cell& self, envelope* e, const base::error& why) noexcept {
  if (e->type == type_of<exit_signal> || e->type == type_of<signals::child_failed>) {
    e->clear(envelope_flag::response);  // as in `on_down`
    return lost_mail::report(self, e, why);
  }
  if (self.has_ended()) return answer_for_the_dead(self, e);
  if (e->type != type_of<signals::watch>) return;
  try {
    on_watch(self, e);
  } catch (const std::bad_alloc&) {  // then it is in the new mail
  }
}

void notify(const watcher& w, cell& self, const base::exit_reason& reason) noexcept {
  const address me = handle_access::make_address(&self);
  if (w.monitor == 0) {
    tell<exit_signal>(w.who, me, reason);
  } else if (cell* const c = handle_access::get(w.who); c != nullptr) {
    bring_down(*c, me, reason, w.monitor);
  }
}

void bring_down(cell& watcher, const address& dead, const base::exit_reason& reason,
                std::uint64_t monitor) noexcept {
  envelope* const e =
      last_words<down>("an actor cannot be told of another one's end", dead, reason, monitor);
  const bool is_elsewhere = watcher.is_elsewhere();  // a proxy, which needs no handle
  if (is_elsewhere || watcher.lock()) {
    put_behind_mail(watcher, e);
    if (!is_elsewhere) watcher.drop_strong();
    return;
  }
  envelope_ptr mine(e);
  e->set(envelope_flag::system);
  e->set(envelope_flag::response);
  if (watcher.deliver_unheld(e)) static_cast<void>(mine.release());
}

}  // namespace garrick::core::system_lane

namespace garrick::core {

void tell_withdrawn(cell& proxy, const cell& requester, std::uint64_t request) noexcept {
  try {
    proxy.signal(detail::make_envelope<signals::withdrawn>(requester.id(), request));
  } catch (const std::bad_alloc&) {  // then an unwanted answer may come
  }
}

void signals::run_errand::run(cell& self) noexcept {
  const std::unique_ptr<errand> now = std::move(what_);
  try {
    if (self.is_proxy())
      now->run_for_proxy(self);
    else
      now->run(self);
  } catch (...) { now->failed(std::current_exception()); }
}

void send_errand(const address& to, std::unique_ptr<errand> what) {
  envelope_ptr e(detail::make_envelope<signals::run_errand>(std::move(what)));
  cell* const c = handle_access::get(to);
  if (c == nullptr || !c->lock()) return;  // the signal's destructor turns the errand away
  c->signal(e.release());
  c->drop_strong();
}

void detail::put_behind_mail(cell& self, envelope* e) noexcept {
  system_lane::put_behind_mail(self, e);
}

bool detail::has_its_turn(const envelope* e) noexcept { return e->is(envelope_flag::response); }

void put_off_errand(cell& self, std::unique_ptr<errand> what) {
  system_lane::put_behind_mail(self, detail::make_envelope<signals::run_errand>(std::move(what)));
}

}  // namespace garrick::core
