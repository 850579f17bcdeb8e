// Waiting for room in a full mailbox.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/overload/internal/in_place.hpp>
#include <garrick/core/overload/internal/room_wait.hpp>

#include <algorithm>
#include <optional>

namespace garrick::core {

namespace {

// A mailbox may grow beyond its soft limit by as much again, but by no more than this number. From
// there on its senders always run the receiver. The sum is below the range of the count in the
// mailbox's word.
constexpr std::uint32_t most_beyond_soft_limit = 16'384;
// A wait for room ends at the latest when the receiver has handled this number of messages. If the
// receiver makes no progress, the wait fails, and the thread's next sends to full mailboxes, this
// number of them, do not wait.
constexpr std::uint32_t sends_per_wait = 64;
// A failed wait for a receiver that runs doubles the time limit of the thread's next wait, since a
// handler may take long. It is doubled this number of times at most, since a handler may also
// block.
constexpr std::uint8_t most_doublings = 4;
// The patience at the bound, with the policy `wait`.
constexpr sender_patience with_a_bound{64, ~std::uint32_t{0}};
// The patience at the hard limit of any other mailbox. A receiver that sends to itself may keep its
// mailbox full for ever, so the number of messages is limited, too.
constexpr sender_patience without_a_bound{16, 65'536};
// The patience above the soft limit of a child that awaits its restart.
constexpr sender_patience during_restart{1, ~std::uint32_t{0}};
// A sender that waits for a restart sleeps for this time at most: its own actor may get a signal.
constexpr base::duration longest_sleep = base::duration::milliseconds(10);

/// A failed wait at a receiver's hard limit. The thread's next sends to the receiver, up to
/// `sends_per_wait`, do not wait. If the receiver stood still, they wait again as soon as it makes
/// progress.
struct wait_in_vain {
  std::uint64_t receiver;  ///< 0: none
  std::uint32_t handled;   ///< the receiver's count of handled messages at the end of the wait
  bool stood_still;        ///< else it has handled many, and its mailbox stayed full
};
constinit thread_local wait_in_vain gave_up{};

// Returns true if a signal waits for an actor with a handler on this thread's stack. The signal may
// ask the actor to end, or to suspend with a group that is restarted. The restart for which the
// actor's send waits may need this step first.
bool is_wanted(const detail::stacked_actor* top) noexcept {
  for (; top != nullptr; top = top->outer)
    if (top->actor != nullptr && (top->actor->gate().peek() & mailbox_word::signal) != 0)
      return true;
  return false;
}

// Returns true if a signal waits for the actor, such as a child's failure, and this thread may run
// the actor in place.
bool runs_signal_here(const cell& c) noexcept {
  return (c.gate().peek() & mailbox_word::signal) != 0 && in_place::executor_for(c) != nullptr &&
         in_place::stack_has_room();
}

}  // namespace

observed_wait::observed_wait(const cell& receiver) noexcept
    : probe_(receiver.env().probe), receiver_(receiver.id()), sender_(detail::running_id()) {
  if (probe_ != nullptr) probe_->on_sender_waits(receiver_, sender_);
}

observed_wait::~observed_wait() {
  if (probe_ != nullptr) probe_->on_sender_goes_on(receiver_, sender_);
}

counted_wait::counted_wait() noexcept : pool_(base::this_thread.worker_of) {
  if (pool_ != nullptr) pool_->begin_wait();
}

counted_wait::~counted_wait() {
  if (pool_ != nullptr) pool_->end_wait();
}

// Returns true if the receiver is not stalled, or is a child that awaits its restart: its
// supervisor is about to decide. The restart may come between the two checks, so the tag is checked
// once more.
bool room_wait::can_run_soon() const noexcept {
  const auto is_stalled_now = [this] { return (to_.gate().peek() & mailbox_word::stalled) != 0; };
  return !is_stalled_now() || to_.awaits_restart() || !is_stalled_now();
}

// Returns true if this thread may run the receiver, or wait for it.
bool room_wait::can_make_room() const noexcept {
  return base::this_thread.no_wait == 0 && detail::here.running != &to_ && can_run_soon();
}

// Runs the receiver or waits, once. For a mailbox without a bound, over its soft limit. Returns
// true if the receiver has run, will run soon or has made progress.
bool room_wait::once(std::uint32_t length) noexcept {
  auto& thread = base::this_thread;
  auto& here = detail::here;
  if (!can_make_room()) return false;
  if (gave_up.receiver == to_.id()) gave_up.receiver = 0;
  if (thread.free_sends != 0) {
    --thread.free_sends;
    return false;
  }
  if (to_.awaits_restart()) {
    const outcome waited = below(to_.soft_limit(), during_restart);
    if (waited == outcome::no_progress) thread.free_sends = sends_per_wait;
    return waited == outcome::progress;
  }
  const std::uint32_t beyond = std::min<std::uint32_t>(to_.soft_limit(), most_beyond_soft_limit);
  const bool must = length >= std::min(to_.soft_limit() + beyond, to_.hard_limit());
  if (in_place::run(to_, must)) return true;
  if (detail::is_on_stack(here.below, to_.id())) return false;
  const outcome waited = wait();
  if (waited == outcome::claimed) in_place::run_claimed(to_, must);
  if (waited == outcome::no_progress) thread.free_sends = sends_per_wait;
  return waited == outcome::progress || waited == outcome::claimed;
}

// Waits for room at the hard limit. A message to a receiver that can run is lost only if the
// receiver makes no progress for a while. Then a thread that continues to send waits once for many
// messages, as it does above the soft limit.
bool room_wait::at_hard_limit() noexcept {
  auto& thread = base::this_thread;
  if (!can_make_room()) return false;
  if (gave_up.receiver == to_.id() && thread.free_sends != 0 &&
      (!gave_up.stood_still || to_.gate().consumed() == gave_up.handled)) {
    --thread.free_sends;
    return false;
  }
  const std::uint32_t before = to_.gate().consumed();
  const outcome waited = below(to_.hard_limit(), without_a_bound);
  if (waited == outcome::no_progress) {
    const std::uint32_t now = to_.gate().consumed();
    gave_up = {to_.id(), now, now - before < without_a_bound.handled};
    thread.free_sends = sends_per_wait;
  }
  return waited == outcome::progress;
}

// Returns true if at least `limit` messages wait, also by the runner's own count.
bool room_wait::is_at(std::uint32_t limit) const noexcept {
  return to_.gate().length() >= limit && to_.mailbox_length() >= limit;
}

// Returns true if the receiver is idle, awaits nothing and keeps this many skipped messages:
// nothing makes room there before another message comes.
bool room_wait::keeps(std::uint32_t limit) const noexcept {
  const std::uint64_t head = to_.gate().peek_acquire();  // the length that `release` has published
  // the same word afterwards: the length is that of the idle actor, without later messages
  return (head & (mailbox_word::idle | mailbox_word::stalled)) == mailbox_word::idle &&
         is_at(limit) && to_.gate().peek() == head;
}

bool room_wait::at_bound() noexcept {
  return below(to_.limits().bound, with_a_bound) == outcome::progress;
}

// Runs the receiver or waits, again and again, because the mailbox is at `limit`. Returns
// `progress` if there is room now, or if the receiver has ended.
room_wait::outcome room_wait::below(std::uint32_t limit, const sender_patience& most) noexcept {
  auto& here = detail::here;
  if (base::this_thread.no_wait != 0 || here.running == &to_) return outcome::pointless;
  const std::uint32_t first = to_.gate().consumed();
  std::uint32_t idle_rounds = 0;
  for (int failures = 0; failures != most.failures;) {
    const std::uint32_t before = to_.gate().consumed();
    outcome waited = outcome::progress;
    if (!run_now()) {
      if (detail::is_on_stack(here.below, to_.id())) return outcome::pointless;
      waited = wait();
    }
    if (waited == outcome::claimed && !in_place::run_claimed(to_, true))
      waited = outcome::no_progress;
    if (!is_at(limit) || to_.has_ended()) return outcome::progress;
    if (waited == outcome::look_again && keeps(limit)) return outcome::pointless;
    if (waited == outcome::pointless) return waited;
    const std::uint32_t now = to_.gate().consumed();
    if (now - first >= most.handled) break;
    if (now != before) {
      failures = 0;
      idle_rounds = 0;
    } else if (++idle_rounds == sends_per_wait) {
      break;  // such as restarts of a child that is killed at once
    }
    if (waited == outcome::no_progress) ++failures;
  }
  return outcome::no_progress;
}

// Runs the receiver in place. If the receiver awaits its restart, its supervisor and the children
// that the supervisor asks have their turns first. Returns false if this thread could not run the
// receiver, or if the receiver still awaits its restart.
bool room_wait::run_now() noexcept {
  if (!to_.awaits_restart()) return in_place::run(to_, true);
  for (std::uint32_t turns = 0; turns != sends_per_wait && to_.awaits_restart(); ++turns) {
    const address next = wanted_for_restart();
    if (!next || !in_place::run(*handle_access::get(next), true)) break;
  }
  return in_place::run(to_, true) && !to_.awaits_restart();
}

// For a child that awaits its restart: returns the actor that has to handle a signal first, if this
// thread may run that actor in place: the supervisor, or the child that must answer the supervisor,
// such as another one of a group. An empty address: there is none.
address room_wait::wanted_for_restart() const noexcept {
  if (!to_.is_supervised()) return {};
  const auto runs_here = [](const address& a) {
    cell* const c = handle_access::get(a);
    return c != nullptr && !c->is_proxy() && runs_signal_here(*c);
  };
  const address& supervisor = to_.ext_if()->parent->supervisor;
  if (runs_here(supervisor)) return supervisor;
  // order: acquire: the block; pairs with children::adopt
  const asked_child* const asked = to_.ext_if()->parent->asked.load(std::memory_order_acquire);
  if (asked == nullptr) return {};
  address sibling = asked->get();
  return runs_here(sibling) ? sibling : address();
}

// For a child that awaits its restart: waits until the restart or the child's end has come, or for
// `limit_ns` at most. May return early.
wait_end room_wait::wait_for_restart(std::int64_t limit_ns) noexcept {
  auto& lot = *to_.env().lot;
  const std::uint32_t epoch = lot.epoch(to_.id());
  if (!to_.awaits_restart()) return wait_end::woken;
  // The caller runs the queued actor, which costs less than a wait for another thread.
  if (const address next = wanted_for_restart(); next && handle_access::get(next)->is_queued())
    return wait_end::claimed;
  lot.wait(to_.id(), epoch, std::min(limit_ns, longest_sleep.count()));
  return wait_end::woken;
}

// Returns the outcome for a receiver that does not run. An idle receiver has emptied its mailbox,
// which other senders may have filled since, or it keeps skipped messages (`keeps`).
room_wait::outcome room_wait::why_it_does_not_run() const noexcept {
  return can_run_soon() && !to_.has_ended() ? outcome::look_again : outcome::pointless;
}

room_wait::outcome room_wait::wait() noexcept {
  const auto one_wait = static_cast<std::uint64_t>(to_.env().mailbox.full_wait.count());
  if (one_wait == 0) return in_place::wake_overlooked(), outcome::pointless;
  constexpr std::uint64_t does_not_run =
      mailbox_word::idle | mailbox_word::closed | mailbox_word::stalled;
  const bool restarts = to_.awaits_restart();
  if (!restarts && (to_.gate().peek() & does_not_run) != 0) return why_it_does_not_run();
  auto& here = detail::here;
  // Actors that wait in a circle would all stand still. So the sender that would close the circle
  // does not wait. A sender that waits for a restart waits for the supervisor.
  const detail::stacked_actor inner{detail::running_id(), here.below, here.running};
  const detail::stacked_actor* const top = here.running != nullptr ? &inner : nullptr;
  const std::uint64_t awaited = restarts ? to_.supervisor_id() : to_.id();
  if (detail::is_on_stack(top, awaited)) return outcome::pointless;
  const drain_lot::waiting_scope waits(*to_.env().lot, awaited, top);
  if (waits.closes_circle()) return outcome::pointless;
  in_place::hand_over();
  const observed_wait told(to_);
  base::executor* const ex = in_place::stack_has_room() ? in_place::executor_for(to_) : nullptr;
  std::optional<drain_lot::claimer> claimer;
  if (ex != nullptr || restarts) claimer.emplace(*to_.env().lot, to_.id());
  const counted_wait counted;
  return wait_counted(ex, top);
}

// The wait itself. `top` is the innermost actor on this thread's stack, or null.
room_wait::outcome room_wait::wait_counted(base::executor* ex,
                                           const detail::stacked_actor* top) noexcept {
  const auto one_wait = static_cast<std::uint64_t>(to_.env().mailbox.full_wait.count());
  const auto claim = [&] { return ex != nullptr && ex->claim(to_); };
  std::uint8_t& doublings = detail::here.wait_doublings;
  const std::uint64_t limit = one_wait << doublings;
  std::uint64_t longest = 0;
  const std::uint32_t before = to_.gate().consumed();
  std::uint32_t seen = before;
  std::uint64_t since = base::platform::monotonic_ns();
  for (;;) {
    if (to_.awaits_restart()) {
      if (is_wanted(top)) return outcome::pointless;
      if (wait_for_restart(static_cast<std::int64_t>(one_wait)) == wait_end::claimed)
        return outcome::look_again;
      if (claim()) return outcome::claimed;
    } else {
      switch (cell_steps::wait_for_wake(to_, static_cast<std::int64_t>(one_wait), claim)) {
        case wait_end::pointless:
          if (!to_.awaits_restart()) return why_it_does_not_run();
          break;
        case wait_end::claimed: return outcome::claimed;
        case wait_end::woken: break;
      }
    }
    const std::uint32_t consumed = to_.gate().consumed();
    if (to_.gate().length() < to_.soft_limit() || consumed - before >= sends_per_wait) break;
    const std::uint64_t now = base::platform::monotonic_ns();
    if (consumed != seen) {
      longest = std::max(longest, now - since);
      seen = consumed;
      since = now;
      continue;
    }
    // A queued receiver may wait for workers that compute in handlers. If this thread may run the
    // receiver, it claims the receiver before it gives up.
    const bool queued = to_.is_queued();
    if (now - since < (queued ? one_wait : limit)) continue;
    if (queued && claim()) return outcome::claimed;
    if (!queued && doublings < most_doublings) ++doublings;
    return outcome::no_progress;
  }
  if (doublings != 0 && longest < limit / 4) --doublings;
  return outcome::progress;
}

}  // namespace garrick::core
