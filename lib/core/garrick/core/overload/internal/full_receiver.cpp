// What a sender does for a receiver that is full: it runs it in place, waits for room, or goes on.
// docs/internals/overload.md tells when it does which.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/overload/internal/bounded_mailbox.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/overload/internal/sender_credit.hpp>
#include <garrick/core/turn/running_cell.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/cell/thread_context.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace garrick::core {

namespace {

// How many stages of a pipeline one full mailbox at its beginning runs at most.
constexpr std::uint32_t longest_in_place_chain = 16;
// A mailbox may grow by its soft limit beyond it, and by no more than this, until its sender runs
// it whatever else there is to do. The sum is less than what the mailbox's word can count.
constexpr std::uint32_t most_beyond_soft_limit = 16'384;
// A wait for room ends at the latest when the receiver has handled this number of messages. If the
// receiver makes no progress, the wait fails, and the thread's next sends to full mailboxes, this
// number of them, do not wait.
constexpr std::uint32_t sends_per_wait = 64;
// A failed wait for a receiver that runs doubles the time limit of the thread's next wait, since a
// handler may take long. It is doubled this number of times at most, since a handler may also
// block.
constexpr std::uint8_t most_doublings = 4;
// What a handler sends without credit before it waits for some: of one message, the receiver's and
// that of the link to its node.
constexpr std::uint8_t most_owed = 2;
// With the policy `wait`, at the bound.
constexpr sender_patience at_bound{64, ~std::uint32_t{0}};
// At the hard limit of any other mailbox. A receiver that sends to itself may keep its mailbox full
// for ever, so the number of messages is limited, too.
constexpr sender_patience at_hard_limit{16, 65'536};
// Above the soft limit of a child that awaits its restart.
constexpr sender_patience during_restart{1, ~std::uint32_t{0}};
// A sleep of a sender that waits for a restart ends after this time: its own actor may be wanted.
constexpr base::duration longest_sleep = base::duration::milliseconds(10);

/// A wait in vain at a receiver's hard limit. The thread's next sends there, `sends_per_wait` of
/// them, do not wait again unless the receiver goes on.
struct wait_in_vain {
  std::uint64_t receiver;  ///< 0: none
  std::uint32_t handled;   ///< how many messages the receiver had handled when the wait ended
  bool stood_still;        ///< else it has handled many, and its mailbox stayed full
};
constinit thread_local wait_in_vain gave_up{};

/// Lets in those coroutines that wait for room, as far as there is credit.
class letting_in final : public errand {
 public:
  void run(cell& self) override { bounded_mailbox::serve(self); }
  void turned_away() noexcept override {}
};

/// Tells the probe of a wait, from its making to its end.
class observed_wait {
 public:
  explicit observed_wait(const cell& receiver) noexcept
      : probe_(receiver.env().probe), receiver_(receiver.id()), sender_(detail::running_id()) {
    if (probe_ != nullptr) probe_->on_sender_waits(receiver_, sender_);
  }
  ~observed_wait() {
    if (probe_ != nullptr) probe_->on_sender_goes_on(receiver_, sender_);
  }
  observed_wait(const observed_wait&) = delete;
  observed_wait& operator=(const observed_wait&) = delete;

 private:
  base::probe* const probe_;
  const std::uint64_t receiver_;
  const std::uint64_t sender_;
};

/// While it lives, this thread waits in a send.
class counted_wait {
 public:
  counted_wait() noexcept {
    if (pool_ != nullptr) pool_->begin_wait();
  }
  ~counted_wait() {
    if (pool_ != nullptr) pool_->end_wait();
  }
  counted_wait(const counted_wait&) = delete;
  counted_wait& operator=(const counted_wait&) = delete;

 private:
  base::executor* const pool_ = base::this_thread.worker_of;
};

std::uint64_t turns_of_this_thread() noexcept {
  return base::this_thread.turns.load(std::memory_order_relaxed);  // order: own thread's value
}

std::uintptr_t stack_now() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// Sends that run receivers in place may lie within one another on half of the stack. The other half
// is for the innermost handler.
bool stack_has_room() noexcept {
  static const std::size_t share = base::platform::default_stack_bytes() / 2;
  // a handler that has gone to a stack of its own seems to have used very much
  return detail::here.chain == nullptr || detail::here.in_place_stack - stack_now() < share;
}

// Returns true if a signal waits for an actor whose handler this thread runs. The signal may ask it
// to end, or to suspend with a group that is restarted. The restart that its send waits for may
// wait for that.
bool is_wanted(const detail::stacked_actor* top) noexcept {
  for (; top != nullptr; top = top->outer)
    if (top->actor != nullptr && (top->actor->gate().peek() & mailbox_word::signal) != 0)
      return true;
  return false;
}

// The send further down the stack that has claimed `c` and will run it; null: none.
detail::in_place_chain* claimed_by(const cell* c) noexcept {
  detail::in_place_chain* chain = detail::here.chain;
  while (chain != nullptr && chain->next != c) chain = chain->outer;
  return chain;
}

}  // namespace

bool running_cell::run_if_it_waits() noexcept {
  if (base::this_thread.no_wait != 0 || !run_in_place(true)) return false;
  wake_overlooked();  // the caller may have other things to do than to fill it again
  return true;
}

bool running_cell::admit(envelope* e, std::uint64_t head) noexcept {
  const std::uint32_t length = gate_.length();
  if (length < bound_) return true;
  if ((head & mailbox_word::closed) != 0) return true;  // the push will find it closed
  const std::uint32_t hard = hard_limit();
  if (policy_ != mailbox_policy::unbounded) {
    if (mailbox_length() < bound_) return true;
    const bool waits = policy_ == mailbox_policy::wait;
    const bool has_waited = waits && base::this_thread.has_waited != 0;
    if (waits && !has_waited && wait_below_bound()) return true;
    if (!has_waited) return bounded_mailbox::turn_away(*this, e), false;
  } else if (senders_credit() == nullptr) {
    if (length < soft_limit_) return true;  // it is stalled
    if (env_->probe != nullptr && std::has_single_bit(length))
      env_->probe->on_mailbox_doubled(id_, length);
    // Others may have taken the room meanwhile: each sender may pass the hard limit by one message.
    // Or they have filled a mailbox that was below its hard limit: so the look at it comes last.
    if ((length < hard || !is_at(hard)) && make_room(length)) return true;
    if (!is_at(hard) || make_room_at_hard_limit()) return true;
  }
  if (is_at(hard)) {
    lost_mail::lose(*this, envelope_ptr(e),
                    base::make_error(base::errc::overload, name(), "mailbox is at its hard limit"));
    return false;
  }
  if (senders_credit() != nullptr) static_cast<void>(take_or_owe(*this));
  return true;
}

// A child that awaits its restart is `stalled`, but its supervisor is about to decide. The restart
// may come between the looks.
bool running_cell::can_run_soon() const noexcept {
  const auto is_stalled_now = [this] { return (gate_.peek() & mailbox_word::stalled) != 0; };
  return !is_stalled_now() || awaits_restart() || !is_stalled_now();
}

// May this thread run the receiver, or wait for it?
bool running_cell::can_make_room() const noexcept {
  return base::this_thread.no_wait == 0 && detail::here.running != this && can_run_soon();
}

// The mailbox has no bound and is over its soft limit: runs the receiver or waits, once. Returns
// true if there is room now, or if the receiver has ended.
bool running_cell::make_room(std::uint32_t length) noexcept {
  auto& thread = base::this_thread;
  auto& here = detail::here;
  if (!can_make_room()) return false;
  if (gave_up.receiver == id_) gave_up.receiver = 0;
  if (thread.free_sends != 0) {
    --thread.free_sends;
    return false;
  }
  if (awaits_restart()) {
    const wait_outcome waited = wait_below(soft_limit_, during_restart);
    if (waited == wait_outcome::no_progress) thread.free_sends = sends_per_wait;
    return waited == wait_outcome::progress;
  }
  const std::uint32_t beyond = std::min<std::uint32_t>(soft_limit_, most_beyond_soft_limit);
  const bool must = length >= std::min(soft_limit_ + beyond, hard_limit());
  if (run_in_place(must)) return true;
  if (detail::is_on_stack(here.below, id_)) return false;
  const wait_outcome waited = wait_for_room();
  if (waited == wait_outcome::claimed) run_claimed(must);
  if (waited == wait_outcome::no_progress) thread.free_sends = sends_per_wait;
  return waited == wait_outcome::progress || waited == wait_outcome::claimed;
}

// A message to a receiver that can run is lost only if the receiver makes no progress for a while.
// Then a thread that goes on sending waits once for many messages, as it does above the soft limit.
bool running_cell::make_room_at_hard_limit() noexcept {
  auto& thread = base::this_thread;
  if (!can_make_room()) return false;
  if (gave_up.receiver == id_ && thread.free_sends != 0 &&
      (!gave_up.stood_still || gate_.consumed() == gave_up.handled)) {
    --thread.free_sends;
    return false;
  }
  const std::uint32_t before = gate_.consumed();
  const wait_outcome waited = wait_below(hard_limit(), at_hard_limit);
  if (waited == wait_outcome::no_progress) {
    const std::uint32_t now = gate_.consumed();
    gave_up = {id_, now, now - before < at_hard_limit.handled};
    thread.free_sends = sends_per_wait;
  }
  return waited == wait_outcome::progress;
}

// Returns true if there are so many messages, also by the runner's own count.
bool running_cell::is_at(std::uint32_t limit) const noexcept {
  return gate_.length() >= limit && mailbox_length() >= limit;
}

// Returns true if the receiver is idle, awaits nothing and keeps so many skipped messages: nothing
// makes room there before another message comes.
bool running_cell::keeps(std::uint32_t limit) const noexcept {
  const std::uint64_t head = gate_.peek_acquire();  // the length that `release` has published
  // the same word afterwards: that length is of the idle actor, not of what others sent since
  return (head & (mailbox_word::idle | mailbox_word::stalled)) == mailbox_word::idle &&
         is_at(limit) && gate_.peek() == head;
}

// The handler of an actor on a worker sends without credit, and its actor pauses afterwards. False:
// it is no such handler, or it has done so before, and waits here.
bool running_cell::owe_and_pause(cell& of) noexcept {
  auto& thread = base::this_thread;
  auto& here = detail::here;
  if (here.running == nullptr || thread.worker_of == nullptr || here.owed == most_owed ||
      of.senders_credit()->patience().count() == 0)
    return false;
  ++here.owed;
  if (here.owes_to != nullptr) return true;
  of.add_weak();
  here.owes_to = &of;
  // its run ends after this message
  if (here.chain == nullptr && !here.batch_over) here.in_place_since = turns_of_this_thread();
  here.batch_over = true;
  return true;
}

// After a handler that has sent without credit. True: the run right is gone.
bool running_cell::pause() noexcept {
  auto& here = detail::here;
  cell* const of = std::exchange(here.owes_to, nullptr);
  here.owed = 0;
  base::clock_service* const clock = env_->timers;
  const bool pauses =
      phase() < life::ending && clock != nullptr &&
      of->senders_credit()->pause(*this, home_executor(), *clock, [of] { return of->has_ended(); });
  of->drop_weak();
  return pauses;
}

bool running_cell::take_or_owe(cell& of, bool may_pause) noexcept {
  sender_credit& credit = *of.senders_credit();
  auto& thread = base::this_thread;
  auto& here = detail::here;
  if (credit.take()) return true;
  const detail::stacked_actor inner{detail::running_id(), here.below};
  const detail::stacked_actor* const top = here.running != nullptr ? &inner : nullptr;
  // where nobody waits for room, as in a simulation, nobody waits for credit
  const bool may_wait = thread.no_wait == 0 && of.env().mailbox.full_wait.count() != 0;
  if (may_wait && !detail::is_on_stack(top, of.id())) {
    if (may_pause && owe_and_pause(of)) return credit.owe(), true;
    const drain_lot::waiting_scope waits(*of.env().lot, of.id(), top);
    if (!waits.closes_circle()) {
      prepare_to_wait();
      const observed_wait told(of);
      const counted_wait counted;
      if (credit.wait(*of.env().lot, of.id(), [&of] { return of.has_ended(); })) return true;
    }
  }
  credit.owe();
  return false;
}

void running_cell::grant_credit(std::uint32_t messages) noexcept {
  sender_credit& credit = *senders_credit();
  if (!credit.grant(*env_->lot, id_, messages)) return;
  try {
    signal(detail::make_envelope<signals::run_errand>(std::make_unique<letting_in>()));
  } catch (const std::bad_alloc&) {
    credit.set_parked();  // the next grant tries again
  }
}

std::int64_t running_cell::credit() const noexcept { return senders_credit()->left(); }

// The mailbox is at its bound. Returns true if it has room now, or has been closed.
bool running_cell::wait_below_bound() noexcept {
  return wait_below(bound_, at_bound) == wait_outcome::progress;
}

// The mailbox is at `limit`: runs the receiver or waits, again and again. Returns `progress` if
// there is room now, or if the receiver has ended.
running_cell::wait_outcome running_cell::wait_below(std::uint32_t limit,
                                                    const sender_patience& most) noexcept {
  auto& here = detail::here;
  if (base::this_thread.no_wait != 0 || here.running == this) return wait_outcome::pointless;
  const std::uint32_t first = gate_.consumed();
  std::uint32_t idle_rounds = 0;
  for (int failures = 0; failures != most.failures;) {
    const std::uint32_t before = gate_.consumed();
    wait_outcome waited = wait_outcome::progress;
    if (!run_now()) {
      if (detail::is_on_stack(here.below, id_)) return wait_outcome::pointless;
      waited = wait_for_room();
    }
    if (waited == wait_outcome::claimed && !run_claimed(true)) waited = wait_outcome::no_progress;
    if (!is_at(limit) || has_ended()) return wait_outcome::progress;
    if (waited == wait_outcome::look_again && keeps(limit)) return wait_outcome::pointless;
    if (waited == wait_outcome::pointless) return waited;
    const std::uint32_t now = gate_.consumed();
    if (now - first >= most.handled) break;
    if (now != before) {
      failures = 0;
      idle_rounds = 0;
    } else if (++idle_rounds == sends_per_wait) {
      break;  // such as restarts of a child that is killed at once
    }
    if (waited == wait_outcome::no_progress) ++failures;
  }
  return wait_outcome::no_progress;
}

// Runs the receiver in place. If it waits for its restart, its supervisor and those whom that asks
// have their turns before. Returns false if this thread could not, or if the receiver still waits.
bool running_cell::run_now() noexcept {
  if (!awaits_restart()) return run_in_place(true);
  for (std::uint32_t turns = 0; turns != sends_per_wait && awaits_restart(); ++turns) {
    const address next = wanted_for_restart();
    if (!next || !of(*handle_access::get(next)).run_in_place(true)) break;
  }
  return run_in_place(true) && !awaits_restart();
}

// Returns true if a signal waits for the actor, such as a child's failure, and this thread may run
// the actor in place.
bool running_cell::runs_signal_here() const noexcept {
  return (gate_.peek() & mailbox_word::signal) != 0 && executor_in_place() != nullptr &&
         stack_has_room();
}

// The child awaits its restart. Returns the actor that has to handle a signal before that, if this
// thread may run it in place: the supervisor, or the child whose answer the supervisor waits for,
// such as another one of a group. An empty address: there is none.
address running_cell::wanted_for_restart() const noexcept {
  if (!is_supervised()) return {};
  const auto runs_here = [](const address& a) {
    cell* const c = handle_access::get(a);
    return c != nullptr && !c->is_proxy() && of(*c).runs_signal_here();
  };
  const address& supervisor = ext_->parent->supervisor;
  if (runs_here(supervisor)) return supervisor;
  // order: acquire: the block; pairs with children::adopt
  const asked_child* const asked = ext_->parent->asked.load(std::memory_order_acquire);
  if (asked == nullptr) return {};
  address sibling = asked->get();
  return runs_here(sibling) ? sibling : address();
}

// Returns the executor whose worker this thread is, if this actor may run in a handler's send
// there; else null.
base::executor* running_cell::executor_in_place() const noexcept {
  const auto& thread = base::this_thread;
  if (!env_->mailbox.in_place || !in_place_ || thread.no_in_place != 0 ||
      detail::here.run_depth == 0 || thread.worker_of == nullptr)
    return nullptr;
  base::executor& ex = home_executor();
  return thread.worker_of == &ex ? &ex : nullptr;
}

// `must`: now, and not when the present batch is over or its turn comes.
bool running_cell::run_in_place(bool must) noexcept {
  base::executor* const ex = executor_in_place();
  if (ex == nullptr) return false;
  detail::in_place_chain* const chain = detail::here.chain;
  if (chain != nullptr && chain->next == this) {
    if (!must) return true;  // its turn comes when the present batch is over
    chain->next = nullptr;
  } else if (ex->claim(*this)) {
    return run_claimed(must);
  } else if (auto* const holder = claimed_by(this)) {
    if (!must) return true;
    holder->next = nullptr;
  } else {
    return false;
  }
  return run_claimed(true);
}

// This thread has the run right. Returns true if it has run this actor, will, or has queued it for
// its turn; false if the stack has no room: then the actor is queued.
bool running_cell::run_claimed(bool must) noexcept {
  base::executor& ex = home_executor();
  detail::in_place_chain* const chain = detail::here.chain;
  if (!must && chain != nullptr && chain->next == nullptr) {
    chain->next = this;
    detail::here.batch_over = true;
    return true;
  }
  const bool has_turn_later = !must && has_run_enough_in_place();
  if (has_turn_later || !stack_has_room()) {
    ex.schedule(*this);
    return has_turn_later;
  }
  run_in_place_chain(ex);
  return true;
}

// Has the outermost handler on this thread run so many messages in place that another receiver can
// wait until it has twice its limit, or its turn? Who floods one receiver runs it again and again:
// that costs no more messages than it sends.
bool running_cell::has_run_enough_in_place() const noexcept {
  const auto& here = detail::here;
  return (here.batch_over || here.chain != nullptr) && here.last_in_place != id_ &&
         turns_of_this_thread() - here.in_place_since >= env_->mailbox.in_place_batch;
}

// Runs a claimed cell for a batch. Then it runs the receiver that the cell has filled or else, if
// it is still next on this worker, the one that the cell woke last; and so on, a bounded number of
// times. Left where it is, the one woken last would be pushed out of the next slot, and a worker
// would be called for a few messages.
void running_cell::run_in_place_chain(base::executor& ex) noexcept {
  auto& here = detail::here;
  const std::uint64_t first = id_;
  if (here.chain == nullptr) {
    here.in_place_stack = stack_now();
    if (!here.batch_over) here.in_place_since = turns_of_this_thread();
  }
  detail::in_place_chain chain{.outer = here.chain};
  here.chain = &chain;
  running_cell* turn = this;
  for (std::uint32_t i = 0; turn != nullptr; ++i) {
    std::uint32_t budget = turn->env_->mailbox.in_place_batch;
    chain.woken = nullptr;
    here.batch_over = false;
    const bool runs = i != longest_in_place_chain;
    if (runs && env_->probe != nullptr)
      env_->probe->on_run_in_place(turn->id(), detail::running_id());
    const bool more = !runs || turn->run(budget) == base::run_outcome::more;
    auto* next = static_cast<running_cell*>(std::exchange(chain.next, nullptr));
    if (next == nullptr && chain.woken != nullptr && ex.claim_next(chain.woken)) {
      next = static_cast<running_cell*>(chain.woken);
      if (!next->in_place_) {
        ex.schedule(*next);
        next = nullptr;
      }
    }
    if (more) ex.schedule(*turn);
    turn = next;
  }
  here.chain = chain.outer;
  here.batch_over = true;
  here.last_in_place = first;
}

// What this thread has claimed and does not run yet others may run while it waits, and senders that
// it has left waiting go on: its receiver may wait for one of them.
void running_cell::prepare_to_wait() noexcept {
  for (auto* chain = detail::here.chain; chain != nullptr; chain = chain->outer)
    if (cell* const next = std::exchange(chain->next, nullptr))
      next->home_executor().schedule(*next);
  wake_overlooked();
}

// The child awaits its restart: waits until that or the end has come, or for `limit_ns` at most.
// May return early.
wait_end running_cell::wait_for_restart(std::int64_t limit_ns) noexcept {
  auto& lot = *env_->lot;
  const std::uint32_t epoch = lot.epoch(id_);
  if (!awaits_restart()) return wait_end::woken;
  // The caller runs it, which costs this thread less than to wait for another one.
  if (const address next = wanted_for_restart(); next && handle_access::get(next)->is_queued())
    return wait_end::claimed;
  lot.wait(id_, epoch, std::min(limit_ns, longest_sleep.count()));
  return wait_end::woken;
}

// An idle receiver has emptied its mailbox, and other senders may have filled it since. Or it keeps
// skipped messages (`keeps`).
running_cell::wait_outcome running_cell::why_it_does_not_run() const noexcept {
  return can_run_soon() && !has_ended() ? wait_outcome::look_again : wait_outcome::pointless;
}

running_cell::wait_outcome running_cell::wait_for_room() noexcept {
  const auto once = static_cast<std::uint64_t>(env_->mailbox.full_wait.count());
  if (once == 0) return wake_overlooked(), wait_outcome::pointless;
  constexpr std::uint64_t does_not_run =
      mailbox_word::idle | mailbox_word::closed | mailbox_word::stalled;
  const bool restarts = awaits_restart();
  if (!restarts && (gate_.peek() & does_not_run) != 0) return why_it_does_not_run();
  auto& here = detail::here;
  // Actors whose handlers wait in a circle would all stand still. So the sender that would close
  // the circle goes on instead. A sender that waits for a restart waits for the supervisor.
  const detail::stacked_actor inner{detail::running_id(), here.below, here.running};
  const detail::stacked_actor* const top = here.running != nullptr ? &inner : nullptr;
  const std::uint64_t awaited = restarts ? supervisor_id() : id_;
  if (detail::is_on_stack(top, awaited)) return wait_outcome::pointless;
  const drain_lot::waiting_scope waits(*env_->lot, awaited, top);
  if (waits.closes_circle()) return wait_outcome::pointless;
  prepare_to_wait();
  const observed_wait told(*this);
  base::executor* const ex = stack_has_room() ? executor_in_place() : nullptr;
  std::optional<drain_lot::claimer> claimer;
  if (ex != nullptr || restarts) claimer.emplace(*env_->lot, id_);
  const counted_wait counted;
  return wait_counted(ex, top);
}

// The wait itself. `top` is the innermost actor on this thread's stack, or null.
running_cell::wait_outcome running_cell::wait_counted(base::executor* ex,
                                                      const detail::stacked_actor* top) noexcept {
  const auto once = static_cast<std::uint64_t>(env_->mailbox.full_wait.count());
  const auto claim = [&] { return ex != nullptr && ex->claim(*this); };
  std::uint8_t& doublings = detail::here.wait_doublings;
  const std::uint64_t limit = once << doublings;
  std::uint64_t longest = 0;
  const std::uint32_t before = gate_.consumed();
  std::uint32_t seen = before;
  std::uint64_t since = base::platform::monotonic_ns();
  for (;;) {
    if (awaits_restart()) {
      if (is_wanted(top)) return wait_outcome::pointless;
      if (wait_for_restart(static_cast<std::int64_t>(once)) == wait_end::claimed)
        return wait_outcome::look_again;
      if (claim()) return wait_outcome::claimed;
    } else {
      switch (cell_steps::wait_for_wake(*this, static_cast<std::int64_t>(once), claim)) {
        case wait_end::pointless:
          if (!awaits_restart()) return why_it_does_not_run();
          break;
        case wait_end::claimed: return wait_outcome::claimed;
        case wait_end::woken: break;
      }
    }
    const std::uint32_t consumed = gate_.consumed();
    if (gate_.length() < soft_limit() || consumed - before >= sends_per_wait) break;
    const std::uint64_t now = base::platform::monotonic_ns();
    if (consumed != seen) {
      longest = std::max(longest, now - since);
      seen = consumed;
      since = now;
      continue;
    }
    // A queued receiver may wait for workers whose handlers compute. If this thread may run the
    // receiver, it does so before it gives up.
    const bool queued = is_queued();
    if (now - since < (queued ? once : limit)) continue;
    if (queued && claim()) return wait_outcome::claimed;
    if (!queued && doublings < most_doublings) ++doublings;
    return wait_outcome::no_progress;
  }
  if (doublings != 0 && longest < limit / 4) --doublings;
  return wait_outcome::progress;
}

}  // namespace garrick::core
