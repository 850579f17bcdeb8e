#include <garrick/core/behavior.hpp>
#include <garrick/core/cell/awaiting.hpp>
#include <garrick/core/cell/bounded_mailbox.hpp>
#include <garrick/core/cell/drain_lot.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/respond.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/cell/timer_record.hpp>
#include <garrick/core/cell/waiting_executor.hpp>
#include <garrick/core/supervision/nursery.hpp>

#include <algorithm>
#include <exception>
#include <typeinfo>

namespace garrick::core {

void respond_error(pending_request r, base::error why) noexcept {
  if (r.requester == nullptr) return;
  envelope* const e = detail::make_envelope<base::error>(std::move(why));
  e->set(envelope_flag::failure);
  detail::send_response(r, e);
}

namespace detail {

void release_shared(shared_block* b, const base::message_type* type) noexcept {
  // order: acq_rel: the last holder destroys after all others have read
  if (b->holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (type->destroy != nullptr) type->destroy(b->value());
  base::block_pool::deallocate(b, b->bytes);
}

}  // namespace detail

// ---- responses ----------------------------------------------------------------------------------

std::uint64_t response_table::reserve(std::uint32_t limit, std::uint64_t target) {
  if (active_ >= limit) return 0;
  std::uint32_t i = free_;
  if (i != none) {
    free_ = slots_[i].next_free;
  } else {
    i = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  slot& s = slots_[i];
  s.used = true;
  s.k = nullptr;
  s.early = nullptr;
  s.timer = {};
  s.exclusive = false;
  s.inner = false;
  s.target = target;
  ++active_;
  return (std::uint64_t{s.generation} << index_bits) | i;
}

bool response_table::alive(std::uint64_t id) const noexcept {
  const std::uint64_t i = id & index_mask;
  return i < slots_.size() && slots_[i].used && slots_[i].generation == id >> index_bits;
}

void response_table::finish(std::uint64_t id) noexcept {
  slot& s = at(id);
  s.used = false;
  s.generation = (s.generation + 1) & ((1u << 27) - 1);
  if (s.generation == 0) s.generation = 1;
  s.next_free = free_;
  free_ = static_cast<std::uint32_t>(id & index_mask);
  --active_;
}

namespace lifecycle {

namespace {

using access = cell_access;

/// While this lives, nothing on this thread waits for a mailbox or runs another actor, and dropped
/// promises say `why`, which has to live as long.
class no_reentry {
 public:
  explicit no_reentry(const base::error& why) noexcept : saved_(detail::here.drop_reason) {
    ++detail::here.no_wait;
    ++base::this_thread.no_in_place;
    detail::here.drop_reason = &why;
  }
  ~no_reentry() {
    --detail::here.no_wait;
    --base::this_thread.no_in_place;
    detail::here.drop_reason = saved_;
  }
  no_reentry(const no_reentry&) = delete;
  no_reentry& operator=(const no_reentry&) = delete;

 private:
  const base::error* saved_;
};

/// What requesters are told of the end: `code`, and the reason's text if it has one. Most ends have
/// none, and cost no allocation.
base::error told_of_end(base::errc code, const cell& who, const base::exit_reason& reason) {
  const bool named = reason.detail().starts_with(who.name());  // not twice
  const std::string_view where = named ? std::string_view() : who.name();
  if (reason.code() == base::exit_code::failure)
    return base::make_error(code, where, reason.as_error().to_string());
  return reason.detail().empty() ? base::error(code)
                                 : base::make_error(code, where, reason.detail());
}
base::error told_of_end(const cell& who, const base::exit_reason& reason) {
  return told_of_end(reason.is_failure() ? base::errc::receiver_failed : base::errc::receiver_gone,
                     who, reason);
}

template <class Signal, class... Args>
void tell(const address& to, Args&&... args) {
  cell* const c = handle_access::get(to);
  if (c == nullptr || !c->lock()) return;
  c->signal(detail::make_envelope<Signal>(std::forward<Args>(args)...));
  c->drop_strong();
}

/// Tells one watcher that `self` has ended.
void notify(const watcher& w, cell& self, const base::exit_reason& reason) {
  const address me = handle_access::make_address(&self);
  if (w.monitor == 0)
    tell<exit_signal>(w.who, me, reason);
  else
    tell<down>(w.who, me, reason, w.monitor);
}

/// Cancels what belongs to the present incarnation of the user's object: timers, requests,
/// coroutines.
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
    if (s.early != nullptr) {
      detail::destroy_payload(s.early);
      access::reader(self).done(s.early);
    }
    if (self.env().waits != nullptr) detail::note_answered(self, id);
    if (s.k != nullptr) s.k->abandon();
    x.pending.finish(id);
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
    tell<signals::unwatch>(m.target, handle_access::make_address(&self), m.id);
  });
}

/// The user's object goes, and with it all that it had begun. What belongs to the actor stays:
/// address, mail, links, who watches it.
void end_incarnation(cell& self, const base::exit_reason& reason) noexcept {
  try {
    // One whose spawn was refused has not lived: nothing of it may run but its destructor.
    if (access::shard(self) != cell::no_shard) access::object_exits(self, reason);
  } catch (...) {
    self.env().failed(
        self, base::make_error(base::errc::user, "exit hook", text_of(std::current_exception())));
  }
  const auto cancel_all = [&self] {
    cell_extension* const x = self.ext_if();
    if (x == nullptr) return;
    cancel_outstanding(self, *x);
    forget_monitors(self, *x);
  };
  cancel_all();
  access::destroy_object(self);
  cancel_all();  // what its destructor has begun
  self.set_unmatched(unmatched::report);
  cell_extension* const x = self.ext_if();
  if (x == nullptr) return;
  x->behaviors_below.clear();
  x->nursery.reset();
  x->trap_exit = false;
  x->interleave = false;
}

/// Hands every message that waits in the actor to `lose`.
void drop_mail(cell& self, const base::error& why) noexcept {
  if (cell_extension* const x = self.ext_if()) {
    while (envelope* const e = x->skipped.pop_front()) lose_kept(self, e, why);
    x->skipped_count = 0;
  }
  auto& reader = access::reader(self);
  reader.take_arrivals(access::gate(self));
  while (envelope* const e = reader.next_urgent()) lose_kept(self, e, why);
  while (reader.peek_front() != nullptr) lose_kept(self, reader.next(access::gate(self)), why);
}

bool wants_restart(restart_policy policy, const base::exit_reason& reason) noexcept {
  if (reason == base::exit_code::unreachable) return false;  // nobody could use it
  if (policy == restart_policy::transient)
    return reason.is_failure() || reason == base::exit_code::kill;
  return policy == restart_policy::permanent;
}

void report_suspended(cell& self, const supervised& p, const base::exit_reason& reason) {
  tell<signals::child_failed>(p.supervisor, handle_access::make_address(&self), reason, true);
}

void start_anew(cell& self, cell_extension& x) {
  supervised& p = *x.parent;
  if (!p.keep_mail) {
    const base::error why = base::make_error(base::errc::receiver_failed, self.name(),
                                             "restarted by its supervisor, which drops mail");
    const no_reentry guard(why);
    drop_mail(self, why);
  }
  x.reason = {};
  access::reader(self).set_stalled(access::gate(self), false);
  access::phase(self) = life::running;
  ++p.restarts;
  if (self.env().probe != nullptr) self.env().probe->on_actor_restarted(self.id(), p.restarts);
  try {
    access::rebuild_object(self);
  } catch (...) {
    return on_exception(self, nullptr, std::current_exception());  // counts as a failure again
  }
  retry_skipped(self);
  bounded_mailbox::serve(self, 0);
  tell<signals::child_up>(p.supervisor, handle_access::make_address(&self));
  access::begin(self);
}

/// A supervised child is at the end of a turn that was its last. False: it really ends.
bool stay_for_supervisor(cell& self, cell_extension& x) {
  supervised& p = *x.parent;
  const supervised::order order = std::exchange(p.ordered, supervised::order::none);
  if (order == supervised::order::restart) {
    start_anew(self, x);
    return true;
  }
  const base::exit_reason reason = self.end_reason();
  if (order == supervised::order::none && !wants_restart(p.policy, reason)) return false;
  cell* const sup = handle_access::get(p.supervisor);
  if (sup == nullptr || !sup->lock()) return false;
  access::phase(self) = life::suspended;
  {
    const base::error why = told_of_end(base::errc::receiver_failed, self, reason);
    const no_reentry guard(why);
    end_incarnation(self, reason);
  }
  access::reader(self).set_stalled(access::gate(self), true);
  sup->signal(detail::make_envelope<signals::child_failed>(handle_access::make_address(&self),
                                                           reason, true));
  sup->drop_strong();
  return true;
}

// ---- signals ------------------------------------------------------------------------------------

void on_suspend(cell& self) {
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->parent == nullptr || access::phase(self) == life::suspended) return;
  if (x->parent->ordered == supervised::order::restart) {
    x->parent->ordered = supervised::order::none;
    access::phase(self) = life::suspended;
    report_suspended(self, *x->parent, base::exit_code::user_shutdown);
  } else if (access::phase(self) < life::ending) {
    x->parent->ordered = supervised::order::suspend;
    self.quit(base::exit_code::user_shutdown);
  }
}

void on_restart(cell& self, bool keep_mail) {
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->parent == nullptr || access::phase(self) != life::suspended) return;
  x->parent->ordered = supervised::order::restart;
  x->parent->keep_mail = keep_mail;
  // carried out at the end of this turn, when no handler is on the stack
  access::phase(self) = life::ending;
}

void end_for_good(cell& self, base::exit_reason reason, bool also_children) {
  cell_extension* const x = self.ext_if();
  if (x != nullptr && x->parent != nullptr) {
    x->parent->restartable = false;
    x->parent->ordered = supervised::order::none;
  }
  const bool waits_for_children =
      x != nullptr && x->nursery != nullptr && x->nursery->ends_its_actor();
  if (also_children && x != nullptr && x->nursery != nullptr) x->nursery->abandon();
  if (access::phase(self) != life::suspended)
    self.quit(std::move(reason));
  else if (!waits_for_children || also_children)
    access::phase(self) = life::ending;  // the reason stays what suspended it
}

void on_kill(cell& self, signals::kill& k) {
  if (k.final) return end_for_good(self, std::move(k.reason), true);
  if (access::phase(self) != life::suspended) self.quit(std::move(k.reason));
}

void add_watcher(cell_extension& x, signals::watch& w) {
  keyed_list<watcher>& watchers = x.watch().watchers;
  if (!watchers.contains({w.watcher.id(), w.monitor}))
    watchers.add({std::move(w.watcher), w.monitor});
}

void on_down(cell& self, envelope* e) {
  const auto& d = *static_cast<down*>(e->raw());
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->watching == nullptr) return;
  const std::optional<own_monitor> m = x->watching->monitors.take({0, d.monitor});
  if (!m) return;  // cancelled meanwhile
  continuation* const k = m->callback;
  if (k != nullptr)
    k->on_response(self, e);
  else if (!access::dispatch_system(self, e))
    report_unexpected(self, e);
}

void on_exit(cell& self, envelope* e) {
  auto& s = *static_cast<exit_signal*>(e->raw());
  cell_extension* const x = self.ext_if();
  if (x != nullptr && x->watching != nullptr) x->watching->watchers.take({s.from.id(), 0});
  if (access::phase(self) == life::suspended) return;
  if (x != nullptr && x->trap_exit) {
    if (!access::dispatch_system(self, e)) report_unexpected(self, e);
    // nobody could use it any more: no failure
  } else if (!s.reason.is_normal() && s.reason != base::exit_code::unreachable) {
    self.quit(std::move(s.reason));
  }
}

}  // namespace

void lose_kept(cell& self, envelope* e, const base::error& why) noexcept {
  report_lost(self, e, why);
  respond_error(e, why);
  detail::destroy_payload(e);
  access::reader(self).done(e);
}

base::error gone(const cell& receiver) {
  return told_of_end(base::errc::receiver_gone, receiver, receiver.end_reason());
}

void report_lost(cell& receiver, const envelope* e, const base::error& why) noexcept {
  if (e->is(envelope_flag::response)) return;  // its requester went away by its own will
  undelivered u;
  u.sender = e->is(envelope_flag::request) ? (e->requester != nullptr ? e->requester->id() : 0)
                                           : e->sender_id;
  u.receiver = receiver.id();
  u.type = e->type->name;
  u.descriptor = e->type;
  u.content = e;
  u.reason = why;
  receiver.env().dead_letter(u);
}

void lose(cell& receiver, envelope* e, base::error why) noexcept {
  report_lost(receiver, e, why);
  respond_error(e, std::move(why));
  detail::destroy_payload(e);
  detail::free_envelope_block(e);
}

void answer_signals_of_the_dead(cell& dead) noexcept {
  envelope* e = access::reader(dead).take_signals_of_the_dead(access::gate(dead));
  while (e != nullptr) {
    envelope* const next = e->next;
    if (e->type == &base::message_type_of<signals::watch>) {
      const auto& w = *static_cast<signals::watch*>(e->raw());
      notify({w.watcher, w.monitor}, dead, dead.end_reason());
    } else if (e->type == &base::message_type_of<signals::room_wanted>) {
      const auto& w = *static_cast<signals::room_wanted*>(e->raw());
      bounded_mailbox::refuse_one(dead, {w.message, w.sender, w.id}, base::errc::receiver_gone);
    } else if (e->type == &base::message_type_of<signals::stop> ||
               e->type == &base::message_type_of<signals::suspend> ||
               e->type == &base::message_type_of<signals::restart>) {
      // Its supervisor waits for an answer: the report of its end may have come when nobody held
      // the supervisor.
      if (const cell_extension* const x = dead.ext_if(); x != nullptr && x->parent != nullptr)
        tell<signals::child_failed>(x->parent->supervisor, handle_access::make_address(&dead),
                                    dead.end_reason(), false);
    } else if (e->type == &base::message_type_of<adoption>) {
      nursery::turn_away(*static_cast<adoption*>(e->raw()));
    }
    detail::destroy_payload(e);
    detail::free_envelope_block(e);
    e = next;
  }
}

void reclaim_all() noexcept {
  auto& h = detail::here;
  ++h.run_depth;  // what ends here may drop further handles: they are added to the same list
  while (h.reclaim != nullptr) {
    cell* const c = h.reclaim;
    h.reclaim = static_cast<cell*>(c->queue_link);
    // One that waits for its children first goes on as an actor that runs.
    if (!reach_end(*c)) c->home_executor().schedule(*c);
  }
  --h.run_depth;
}

void on_signal(cell& self, envelope* e) {
  const base::message_type* const t = e->type;
  if (t == &base::message_type_of<down>) return on_down(self, e);
  if (t == &base::message_type_of<exit_signal>) return on_exit(self, e);
  if (t == &base::message_type_of<signals::watch>)
    return add_watcher(self.ext(), *static_cast<signals::watch*>(e->raw()));
  if (t == &base::message_type_of<signals::unwatch>) {
    const auto& w = *static_cast<signals::unwatch*>(e->raw());
    if (cell_extension* const x = self.ext_if(); x != nullptr && x->watching != nullptr)
      x->watching->watchers.take({w.watcher.id(), w.monitor});
    return;
  }
  if (t == &base::message_type_of<signals::kill>)
    return on_kill(self, *static_cast<signals::kill*>(e->raw()));
  if (t == &base::message_type_of<signals::room_wanted>)
    return bounded_mailbox::on_room_wanted(self, *static_cast<signals::room_wanted*>(e->raw()));
  if (t == &base::message_type_of<signals::suspend>) return on_suspend(self);
  if (t == &base::message_type_of<signals::restart>)
    return on_restart(self, static_cast<signals::restart*>(e->raw())->keep_mail);
  if (t == &base::message_type_of<signals::stop>)
    return end_for_good(self, std::move(static_cast<signals::stop*>(e->raw())->reason), false);
  if (nursery::takes(t)) return nursery::on_signal(self, e);
  if (t == &base::message_type_of<signals::invoke>) {
    const auto& i = *static_cast<signals::invoke*>(e->raw());
    return i.run(self, i.argument);
  }
  if (!access::dispatch_system(self, e)) report_unexpected(self, e);
}

dispatch_outcome on_response(cell& self, envelope* e) {
  cell_extension* const x = self.ext_if();
  const std::uint64_t id = e->id();
  if (x == nullptr || !x->pending.alive(id))
    return dispatch_outcome::handled;  // late: timed out, cancelled, or from before a restart
  response_table::slot& s = x->pending.at(id);
  if (s.k == nullptr) return awaiting::keep(s, e);
  if (!x->awaiting.empty() && !s.inner) {
    if (s.exclusive && x->awaiting.back() != id) return awaiting::keep(s, e);  // the newest first
    // `then` came after the response had passed
    if (!s.exclusive) {
      x->answer_skipped = true;
      return dispatch_outcome::skipped;
    }
    x->awaiting.pop_back();
  }
  continuation* const k = s.k;
  if (s.timer != nullptr) s.timer->cancel_and_drop();
  if (self.env().waits != nullptr) detail::note_answered(self, id);
  x->pending.finish(id);
  struct after {
    cell& self;
    cell_extension& x;
    ~after() { awaiting::changed(self, x); }
  } const at_the_end{self, *x};
  auto& diagnosis = base::this_thread;
  // order: read by the watchdog as a sample
  diagnosis.in_response.store(true, std::memory_order_relaxed);
  struct leave {
    std::atomic<bool>& flag;
    // order: read by the watchdog as a sample
    ~leave() { flag.store(false, std::memory_order_relaxed); }
  } const no_longer{diagnosis.in_response};
  k->on_response(self, e);
  return dispatch_outcome::handled;
}

void retry_skipped(cell& self) noexcept {
  cell_extension* const x = self.ext_if();
  if (x == nullptr || x->skipped.front == nullptr) return;
  access::reader(self).prepend(x->skipped.front, x->skipped.back);
  x->skipped = {};
  x->skipped_count = 0;
}

void report_unexpected(cell& self, envelope* e) noexcept {
  report_lost(self, e,
              base::make_error(base::errc::unexpected_message, self.name(), e->type->name));
}

std::string text_of(const std::exception_ptr& what) noexcept {
  try {
    try {
      std::rethrow_exception(what);
    } catch (const std::exception& x) { return x.what(); } catch (...) {
      return "an exception that is not a std::exception";
    }
  } catch (const std::exception&) {
    return "no memory";  // for the text; short enough to need none itself
  }
}

void on_exception(cell& self, envelope* e, const std::exception_ptr& what) noexcept {
  const std::string text = text_of(what);
  base::exit_reason reason = base::exit_reason::exception(text);
  self.env().failed(self, reason.as_error());
  if (e != nullptr) {
    const base::error why = base::make_error(base::errc::receiver_failed, self.name(), text);
    report_lost(self, e, why);
    respond_error(e, why);
  }
  self.quit(std::move(reason));  // at the end of this turn a supervised child is suspended instead
}

bool reach_end(cell& self) noexcept {
  cell_extension* const x = self.ext_if();
  if (x != nullptr) {
    if (x->nursery != nullptr && !x->nursery->wound_down(self)) return false;
    if (x->parent != nullptr && x->parent->restartable && stay_for_supervisor(self, *x))
      return false;
  }
  conclude(self);
  return true;
}

void conclude(cell& self) noexcept {
  auto& gate = access::gate(self);
  auto& reader = access::reader(self);
  environment& env = self.env();
  cell_extension* x = self.ext_if();
  const base::exit_reason reason = self.end_reason();
  {
    const base::error why = told_of_end(self, reason);
    const no_reentry guard(why);
    end_incarnation(self, reason);
    x = self.ext_if();
    access::phase(self) = life::ended;
    // A handle that outlives the actor may outlive the system: the environment has to stay for it.
    const bool alone = (gate.peek() & mailbox_word::unreachable) != 0;
    // And whoever drops the last handle after the close may free the block: it has to stay until
    // this function is done.
    if (!alone) {
      env.hold();
      self.add_weak();
    }
    const std::uint64_t tags = reader.close(gate);
    const bool unreachable = (tags & mailbox_word::unreachable) != 0;
    if (unreachable && !alone) env.release();
    drop_mail(self, why);
    bounded_mailbox::refuse_parked(self, why);
    answer_signals_of_the_dead(self);
    if ((tags & mailbox_word::waiting) != 0) env.lot->wake(self.id());
    if (x != nullptr) {
      if (x->watching != nullptr)
        x->watching->watchers.for_each([&](const watcher& w) { notify(w, self, reason); });
      if (x->parent != nullptr)
        tell<signals::child_failed>(x->parent->supervisor, handle_access::make_address(&self),
                                    reason, false);
      if (x->watching != nullptr) x->watching->watchers.clear();
    }
    if (access::shard(self) != cell::no_shard) env.left(self);
    if (access::own_executor(self))
      static_cast<waiting_executor&>(self.home_executor()).actor_ended();
    if (unreachable) self.drop_weak();
    if (!alone) self.drop_weak();
  }
}

}  // namespace lifecycle
}  // namespace garrick::core
