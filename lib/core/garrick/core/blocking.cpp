// Receiving in a loop, on a thread that waits; and actors of threads that do not belong to the
// system.
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/core/blocking.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/detail/actor_cell.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/overload/internal/parked.hpp>
#include <garrick/core/turn/internal/lifecycle.hpp>

#include <memory>
#include <new>
#include <stdexcept>

namespace garrick::core {

blocking_actor_ends::blocking_actor_ends(const base::exit_reason& why) noexcept {
  if (why.detail().empty()) return;
  try {
    text_.emplace("garrick: this blocking actor was told to end: " + why.to_string());
  } catch (const std::bad_alloc&) {  // then `what` does not name the reason
  }
}

namespace detail {

namespace {

/// A handle of an actor to itself while it waits for a limited time: the time-out can still wake
/// it, so it is not unreachable, and can be told to end.
class self_handle {
 public:
  self_handle(cell& self, bool wanted) noexcept : self_(wanted ? &self : nullptr) {
    if (wanted) self.add_strong_from_self();
  }
  ~self_handle() {
    if (self_ != nullptr) self_->drop_strong();
  }
  self_handle(const self_handle&) = delete;
  self_handle& operator=(const self_handle&) = delete;

 private:
  cell* self_;
};

/// Waits for mail with the run right given up. Returns false if the time has passed. On return the
/// caller holds the run right again. If `awaits`, only a response lets the caller continue.
bool sleep_until_mail(running_cell& self, std::int64_t limit_ns, bool awaits) noexcept {
  const self_handle keep(self, limit_ns >= 0);
  auto& gate = self.gate();
  auto& reader = self.reader();
  auto& ex = static_cast<waiting_executor&>(self.home_executor());
  switch (reader.release(gate, awaits || self.is_stalled() ? mailbox_word::stalled : 0)) {
    case release_outcome::arrivals: self.after_batch(); return true;
    // no handle is left, and this thread waits for ever: no mail can come any more
    case release_outcome::unreachable: self.become_unreachable(); return true;
    case release_outcome::released: break;
  }
  if (ex.wait(limit_ns)) return true;
  if (reader.claim_idle(gate)) return false;
  while (!ex.wait(-1)) {}  // a pusher was quicker: its schedule() is on its way
  return true;
}

void check_end(running_cell& self) {
  if (self.wants_attention()) self.attend();
  if (self.phase() >= life::ending) throw blocking_actor_ends(self.end_reason());
}

/// Returns the next message, or null, after the signals that came before it. Throws if the actor is
/// told to end.
envelope* next_message(running_cell& self) {
  for (;;) {
    check_end(self);
    envelope* const e = self.take_next();
    // signals go before `e`, as in running_cell::run_loop
    if (e == nullptr || !self.wants_attention()) return e;
    self.put_back(e);
  }
}

/// Handles one response, or offers one message to the cases. Returns true if a case took it.
bool offer(running_cell& self, behavior_impl& cases, envelope* e) {
  if (e->is(envelope_flag::response)) {
    self.handle(e);
    return false;
  }
  if (self.is_watched()) parked::before_message(self);
  if (e->is(envelope_flag::revocable) && lost_mail::lose_overdue(e)) {
    self.finish(e);
    return false;
  }
  self.set_current(e);
  // a scoped actor's thread does not belong to the system
  const sending_as me(self.id());
  // order: a sample for a diagnosis
  base::this_thread.handling.store(e->type, std::memory_order_relaxed);
  struct leave {
    running_cell& self;
    ~leave() { self.set_current(nullptr); }
  } const guard{self};
  bool taken = false;
  try {
    taken = cases.invoke(self, e);
  } catch (...) {
    lost_mail::lose_failed(self, e,
                           base::make_error(base::errc::receiver_failed, self.name(),
                                            lost_mail::text_of(std::current_exception())));
    throw;
  }
  if (!taken) {
    self.skip(e);
    return false;
  }
  lost_mail::answer_unanswered(self, e);
  self.finish(e);
  return true;
}

/// Tries skipped messages again; from now on senders wait for room.
void offer_skipped_again(running_cell& self) noexcept {
  self.retry_skipped();
  self.slow_senders_again();
}

/// Handles `e` if it is a response. Any other message stays in the mailbox, in its order.
void offer_to_nobody(running_cell& self, envelope* e) {
  if (e->is(envelope_flag::response) && !e->is(envelope_flag::system)) return self.handle(e);
  if (self.is_watched()) parked::before_message(self);
  self.skip(e);
}

}  // namespace

base::error may_not_wait(const cell& self, std::string_view what) {
  if (self.env().is_copy())
    return base::make_error(base::errc::would_block, what,
                            "this process is a fork of the one that made the system, whose threads "
                            "are not here");
  if (base::this_thread.worker_of == nullptr) return {};
  if (static_cast<const waiting_executor&>(self.home_executor()).runs_others()) return {};
  return base::make_error(
      base::errc::would_block, what,
      "this is a worker thread: use .then, .await or co_await in an actor, or spawn it detached");
}

bool receive_one(cell& receiver, behavior_impl& cases) {
  running_cell& self = running_cell::of(receiver);
  if (const base::error why = may_not_wait(self, "receive()"))
    throw std::logic_error(why.to_string());
  offer_skipped_again(self);
  const base::clock& clock = *self.env().clock;
  const std::int64_t timeout_ns = cases.timeout_ns();
  const base::instant deadline = timeout_ns != 0
                                     ? clock.now() + base::duration::nanoseconds(timeout_ns)
                                     : base::instant::never();
  for (;;) {
    if (envelope* const e = next_message(self)) {
      if (offer(self, cases, e)) return true;
      continue;
    }
    std::int64_t left = -1;
    if (timeout_ns != 0) {
      left = (deadline - clock.now()).count();
      if (left <= 0 || timeout_ns == behavior_impl::at_once) {
        cases.timed_out();
        return false;
      }
    }
    static_cast<void>(sleep_until_mail(self, left, false));
  }
}

base::error wait_for_response(cell& requester, const bool& done) {
  running_cell& self = running_cell::of(requester);
  try {
    while (!done) {
      if (envelope* const e = next_message(self))
        offer_to_nobody(self, e);
      else
        static_cast<void>(sleep_until_mail(self, -1, true));
    }
  } catch (const blocking_actor_ends&) {
    if (!self.ext().scoped) throw;
    // The answer may have come before the order to end, which overtakes it.
    while (!done) {
      envelope* const e = self.take_next();
      if (e == nullptr)
        return base::make_error(
            base::errc::cancelled, "get()",
            "this scoped actor was told to end: " + self.end_reason().to_string());
      offer_to_nobody(self, e);
    }
  }
  offer_skipped_again(self);
  return {};
}

}  // namespace detail

// ---- scoped actors ------------------------------------------------------------------------------

namespace {

class scoped_self final : public blocking_actor {};

class parked_thread final : public waiting_executor {
 public:
  void schedule(base::runnable&) noexcept override { parker_.unpark(); }
  bool wait(std::int64_t limit_ns) noexcept override {
    if (limit_ns >= 0) return parker_.park_for(static_cast<std::uint64_t>(limit_ns));
    parker_.park();
    return true;
  }
  void actor_ended() noexcept override {}

 private:
  base::parker parker_;
};

}  // namespace

struct scoped_actor::state {
  explicit state(environment& of) noexcept : env(of) {}
  ~state() {
    if (cell == nullptr) return;
    cell->quit({});
    lifecycle::conclude(*cell);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  environment& env;
  scoped_entry entry;
  parked_thread thread;
  ref<any_protocol> handle;
  actor_cell<scoped_self>* cell = nullptr;
};

scoped_actor::scoped_actor(environment& env, bool asks_for_thread) {
  auto mine = std::make_unique<state>(env);
  cell* const c = mine->cell = ::new (base::block_pool::allocate(sizeof(actor_cell<scoped_self>)))
      actor_cell<scoped_self>(env, cell_kind::blocking, false);
  if (asks_for_thread) c->set_asks_for_thread();
  mine->handle = handle_access::adopt<any_protocol>(c);
  waiting_executor* const own = env.executor_of_scoped(*c);
  c->set_executor(own != nullptr ? *own : mine->thread);
  c->ext().hidden = true;
  c->ext().scoped = true;
  c->ext().name = "scoped actor";
  {
    const detail::constructing_scope scope(*c);
    mine->cell->build();
  }
  c->set_phase(life::running);
  self_ = &mine->cell->object();
  mine->entry.who = c;
  env.hold();
  // A forked child does not end its parent's system. And a thread that the child does not have may
  // have held the list's lock.
  if (!env.is_copy()) env.scoped_joined(mine->entry);
  state_ = mine.release();
}

scoped_actor::~scoped_actor() {
  if (state_ == nullptr) return;  // moved from
  environment& env = state_->env;
  if (env.is_copy()) return;  // the parent's actor: the list may be locked for ever here
  env.scoped_left(state_->entry);
  delete state_;
  env.release();
}

}  // namespace garrick::core
