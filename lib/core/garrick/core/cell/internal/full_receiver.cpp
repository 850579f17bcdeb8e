// What a sender does for a receiver that is full: it runs it in place, waits for room, or goes on.
// docs/internals/overload.md tells when it does which.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/cell/drain_lot.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/internal/bounded_mailbox.hpp>
#include <garrick/core/cell/internal/lost_mail.hpp>
#include <garrick/core/cell/internal/sender_credit.hpp>
#include <garrick/core/cell/running_cell.hpp>
#include <garrick/core/cell/signals.hpp>
#include <garrick/core/cell/thread_context.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
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
// With the policy `wait`: so many waits in a row may fail before the message is given up.
constexpr int most_failed_waits = 64;

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

/// Of the system whose worker this is; null: it is no worker, or runs no handler.
drain_lot* lot_of_this_worker() noexcept {
  cell* const running = detail::here.running;
  const bool is_worker = base::this_thread.worker_of != nullptr && running != nullptr;
  return is_worker ? running->env().lot : nullptr;
}

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
  if (policy_ == mailbox_policy::drop_oldest) return bounded_mailbox::keep_latest(*this, e), false;
  if ((head & mailbox_word::closed) != 0) return true;  // the push will find it closed
  auto& thread = base::this_thread;
  auto& here = detail::here;
  const std::uint32_t hard = hard_limit();
  if (length >= hard && mailbox_length() >= hard) {
    lost_mail::lose(*this, envelope_ptr(e),
                    base::make_error(base::errc::overload, name(), "mailbox is at its hard limit"));
    return false;
  }
  if (senders_credit() != nullptr) return static_cast<void>(take_or_owe(*this)), true;
  const bool stalled = (head & mailbox_word::stalled) != 0;
  if (policy_ != mailbox_policy::unbounded) {
    if (mailbox_length() < bound_) return true;
    if (policy_ == mailbox_policy::wait && (thread.has_waited != 0 || wait_below_bound()))
      return true;
    bounded_mailbox::turn_away(*this, e);
    return false;
  }
  if (!stalled && length < soft_limit_) return true;
  if (env_->probe != nullptr && length >= soft_limit_ && std::has_single_bit(length))
    env_->probe->on_mailbox_doubled(id_, length);
  if (stalled || thread.no_wait != 0 || here.running == this) return true;
  if (thread.free_sends != 0) {
    --thread.free_sends;
    return true;
  }
  const std::uint32_t beyond = std::min<std::uint32_t>(soft_limit_, most_beyond_soft_limit);
  if (run_in_place(length >= soft_limit_ + beyond) || detail::is_on_stack(here.below, id_))
    return true;
  if (wait_for_room() == wait_outcome::no_progress) thread.free_sends = sends_per_wait;
  return true;
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
      const drain_lot::waiting_worker counted(lot_of_this_worker());
      if (thread.worker_of != nullptr) thread.worker_of->expose();
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

// The mailbox is at its bound. True: it has room now, or it has been closed.
bool running_cell::wait_below_bound() noexcept {
  auto& here = detail::here;
  if (base::this_thread.no_wait != 0 || here.running == this) return false;
  for (int failed = 0; failed != most_failed_waits;) {
    wait_outcome waited = wait_outcome::progress;
    if (!run_in_place(true)) {
      if (detail::is_on_stack(here.below, id_)) return false;
      waited = wait_for_room();
    }
    if (gate_.length() < bound_ || has_ended()) return true;
    if (waited == wait_outcome::pointless) return false;
    failed = waited == wait_outcome::no_progress ? failed + 1 : 0;
  }
  return false;
}

// `must`: now, and not when the present batch is over or its turn comes.
bool running_cell::run_in_place(bool must) noexcept {
  auto& thread = base::this_thread;
  auto& here = detail::here;
  if (!env_->mailbox.in_place || !in_place_ || thread.no_in_place != 0 || here.run_depth == 0 ||
      thread.worker_of == nullptr)
    return false;
  base::executor& ex = home_executor();
  if (thread.worker_of != &ex) return false;
  detail::in_place_chain* const chain = here.chain;
  if (chain != nullptr && chain->next == this) {
    if (!must) return true;  // its turn comes when the present batch is over
    chain->next = nullptr;
  } else if (ex.claim(*this)) {
    if (!must && chain != nullptr && chain->next == nullptr) {
      chain->next = this;
      here.batch_over = true;
      return true;
    }
    if (!must && has_run_enough_in_place()) {
      ex.schedule(*this);
      return true;
    }
  } else if (auto* const holder = claimed_by(this)) {
    if (!must) return true;
    holder->next = nullptr;
  } else {
    return false;
  }
  if (!stack_has_room()) {
    ex.schedule(*this);
    return false;
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

running_cell::wait_outcome running_cell::wait_for_room() noexcept {
  const auto once = static_cast<std::uint64_t>(env_->mailbox.full_wait.count());
  if (once == 0) return wake_overlooked(), wait_outcome::pointless;
  auto& thread = base::this_thread;
  auto& here = detail::here;
  // Actors whose handlers wait in a circle would all stand still. So the sender that would close
  // the circle goes on instead.
  const detail::stacked_actor inner{detail::running_id(), here.below};
  const drain_lot::waiting_scope waits(*env_->lot, id_, here.running != nullptr ? &inner : nullptr);
  if (waits.closes_circle()) return wait_outcome::pointless;
  prepare_to_wait();
  const observed_wait told(*this);
  const drain_lot::waiting_worker counted(lot_of_this_worker());
  std::uint8_t& doublings = here.wait_doublings;
  const std::uint64_t limit = once << doublings;
  std::uint64_t longest = 0;
  const std::uint32_t before = gate_.consumed();
  std::uint32_t seen = before;
  std::uint64_t since = base::platform::monotonic_ns();
  for (;;) {
    if (!cell_steps::wait_for_wake(*this, static_cast<std::int64_t>(once), [&thread] {
          if (thread.worker_of != nullptr) thread.worker_of->expose();
        }))
      return wait_outcome::pointless;
    const std::uint32_t consumed = gate_.consumed();
    if (gate_.length() < soft_limit() || consumed - before >= sends_per_wait) break;
    const std::uint64_t now = base::platform::monotonic_ns();
    if (consumed != seen) {
      longest = std::max(longest, now - since);
      seen = consumed;
      since = now;
      continue;
    }
    // If it waits for a worker, perhaps every worker waits like this one, and nobody can run it.
    const bool queued = is_queued();
    if (now - since < (queued ? once : limit)) continue;
    if (!queued && doublings < most_doublings) ++doublings;
    return wait_outcome::no_progress;
  }
  if (doublings != 0 && longest < limit / 4) --doublings;
  return wait_outcome::progress;
}

}  // namespace garrick::core
