// Running receivers inside sends.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/overload/internal/in_place.hpp>

#include <cstddef>
#include <utility>

namespace garrick::core::in_place {

namespace {

// The most actors that one send runs in a row, as along a pipeline whose first mailbox is full.
constexpr std::uint32_t longest_chain = 16;
// Senders on other workers may wait for a receiver that runs in place. They are woken once in this
// number of batches (docs/internals/overload.md).
constexpr std::uint32_t batches_per_wake = 64;

std::uint64_t turns_of_this_thread() noexcept {
  return base::this_thread.turns.load(std::memory_order_relaxed);  // order: own thread's value
}

std::uintptr_t stack_now() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

/// Returns the send further down the stack that has claimed `c` and will run it; null: none.
detail::in_place_chain* claimed_by(const cell& c) noexcept {
  detail::in_place_chain* chain = detail::here.chain;
  while (chain != nullptr && chain->next != &c) chain = chain->outer;
  return chain;
}

/// Returns true if the outermost handler on this thread has run so many messages in place that it
/// leaves `receiver` to its turn in the queue, unless that must run. The receiver that ran last is
/// excepted: a sender that floods one receiver runs it again and again, which costs no more
/// messages than the sender sends.
bool has_run_enough(const cell& receiver) noexcept {
  const auto& here = detail::here;
  return (here.batch_over || here.chain != nullptr) && here.last_in_place != receiver.id() &&
         turns_of_this_thread() - here.in_place_since >= receiver.env().mailbox.in_place_batch;
}

// Runs a claimed cell for a batch. Then runs the receiver that the cell has filled, or else the
// actor that the cell woke last, if that actor is still in this worker's next slot; and so on, a
// bounded number of times. If the woken actor stayed in the slot, the next wake would push it out,
// and call a worker for a few messages.
void run_chain(cell& first, base::executor& ex) noexcept {
  auto& here = detail::here;
  const std::uint64_t id = first.id();
  if (here.chain == nullptr) {
    here.in_place_stack = stack_now();
    if (!here.batch_over) here.in_place_since = turns_of_this_thread();
  }
  detail::in_place_chain chain{.outer = here.chain};
  here.chain = &chain;
  cell* turn = &first;
  for (std::uint32_t i = 0; turn != nullptr; ++i) {
    std::uint32_t budget = turn->env().mailbox.in_place_batch;
    chain.woken = nullptr;
    here.batch_over = false;
    const bool runs = i != longest_chain;
    if (runs && turn->env().probe != nullptr)
      turn->env().probe->on_run_in_place(turn->id(), detail::running_id());
    const bool more = !runs || turn->run(budget) == base::run_outcome::more;
    cell* next = std::exchange(chain.next, nullptr);
    if (next == nullptr && chain.woken != nullptr && ex.claim_next(chain.woken)) {
      next = chain.woken;
      if (!next->limits().in_place) {
        ex.schedule(*next);
        next = nullptr;
      }
    }
    if (more) ex.schedule(*turn);
    turn = next;
  }
  here.chain = chain.outer;
  here.batch_over = true;
  here.last_in_place = id;
}

}  // namespace

// Returns true if the stack has room for another run in place. Nested runs may use half of the
// stack. The other half is for the innermost handler.
bool stack_has_room() noexcept {
  static const std::size_t share = base::platform::default_stack_bytes() / 2;
  // a handler on a stack of its own seems to have used far more than this share
  return detail::here.chain == nullptr || detail::here.in_place_stack - stack_now() < share;
}

base::executor* executor_for(const cell& receiver) noexcept {
  const auto& thread = base::this_thread;
  if (!receiver.env().mailbox.in_place || !receiver.limits().in_place || thread.no_in_place != 0 ||
      detail::here.run_depth == 0 || thread.worker_of == nullptr)
    return nullptr;
  base::executor& ex = receiver.home_executor();
  return thread.worker_of == &ex ? &ex : nullptr;
}

bool run(cell& receiver, bool must) noexcept {
  base::executor* const ex = executor_for(receiver);
  if (ex == nullptr) return false;
  detail::in_place_chain* const chain = detail::here.chain;
  if (chain != nullptr && chain->next == &receiver) {
    if (!must) return true;  // its turn comes when the present batch has ended
    chain->next = nullptr;
  } else if (ex->claim(receiver)) {
    return run_claimed(receiver, must);
  } else if (auto* const holder = claimed_by(receiver)) {
    if (!must) return true;
    holder->next = nullptr;
  } else {
    return false;
  }
  return run_claimed(receiver, true);
}

bool run_claimed(cell& receiver, bool must) noexcept {
  base::executor& ex = receiver.home_executor();
  detail::in_place_chain* const chain = detail::here.chain;
  if (!must && chain != nullptr && chain->next == nullptr) {
    chain->next = &receiver;
    detail::here.batch_over = true;
    return true;
  }
  const bool has_turn_later = !must && has_run_enough(receiver);
  if (has_turn_later || !stack_has_room()) {
    ex.schedule(receiver);
    return has_turn_later;
  }
  run_chain(receiver, ex);
  return true;
}

void hand_over() noexcept {
  for (auto* chain = detail::here.chain; chain != nullptr; chain = chain->outer)
    if (cell* const next = std::exchange(chain->next, nullptr))
      next->home_executor().schedule(*next);
  wake_overlooked();
}

// Returns true if the other waiting senders are not woken now. The sender that runs the receiver in
// place will fill it again at once, so the others are not woken for each batch, but at the latest
// when that run has ended.
bool overlooks_senders(const cell& receiver) noexcept {
  auto& here = detail::here;
  if ((receiver.gate().peek() & mailbox_word::waiting) == 0 ||
      ++here.in_place_batches % batches_per_wake == 0)
    return false;
  here.batch_over = true;  // at depth 1 they are woken when the run has ended
  if (here.overlooked != receiver.id()) {
    wake_overlooked();
    here.overlooked = receiver.id();
    here.overlooked_in = receiver.env().lot;
  }
  return true;
}

void wake_overlooked() noexcept {
  auto& here = detail::here;
  if (here.overlooked != 0) here.overlooked_in->wake(std::exchange(here.overlooked, 0));
}

void charge(std::uint32_t& budget) noexcept {
  auto& here = detail::here;
  budget = 0U - static_cast<std::uint32_t>(turns_of_this_thread() - here.in_place_since);
  here.batch_over = false;
  wake_overlooked();
}

void begin_count() noexcept {
  auto& here = detail::here;
  if (here.chain == nullptr && !here.batch_over) here.in_place_since = turns_of_this_thread();
}

}  // namespace garrick::core::in_place
