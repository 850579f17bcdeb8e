// Where senders wait for a full receiver: a fixed number of futex words, chosen by the receiver's
// id, so that no actor carries one.
//
// Private: installed because system_core.hpp needs it.
//
// The lot also knows the receiver of each waiting actor. A sender that waits holds up its own
// actor, so actors could wait in a circle for each other's mailboxes. Each waiting actor has an
// entry in one of a few places, which follow from its id. If all of them are taken, the wait is not
// entered: an unseen circle ends with the time limits.
//
// The lot also counts *claimers*: waiting workers that would run their receiver themselves if it
// were in a queue. While all workers wait, no other worker would run it.
//
// Thread safety: any thread. A wake may reach senders that wait for another receiver of the same
// word. Those senders check again.
//
// Invariants
// 1 A sender reads the epoch, then sets the `waiting` tag, then waits for that epoch to pass. The
//   runner clears the tag, then advances the epoch, then wakes. So no wake-up is lost. Also, every
//   wait has a time limit.
// 2 A sender enters itself, then looks for the circle, both sequentially consistent. So at least
//   one of the waits that form a circle sees it.
// 3 A sender claims an entry, then writes the receiver, then the waiting actor's id. No other
//   thread writes the entry until the sender leaves it.
// 4 A claimer counts itself here before the pool counts it as waiting. When all workers wait while
//   something is queued, the claimers are woken (A1 of waiting_workers.hpp). A claimer reads the
//   epoch, then tries to claim its receiver, then waits for that epoch to pass. So it is woken, or
//   it reads the epoch after that and claims a receiver queued before.
// 5 A sender that waits for a child's restart reads the epoch, then sees that the child still
//   awaits it, then waits for that epoch to pass. The child notes that the restart or its end has
//   come, then advances the epoch. So a sender that reads the new epoch sees the note, and any
//   other sender is woken.
// (The model checker runs 1 to 4: internal/drain_lot.model.cpp.)
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/core/cell/stacked_actor.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace garrick::core {

/// The memory orders below that the model checker weakens, one at a time.
enum class lot_order : std::uint8_t { enter, see_waiter };

/// The words on which senders wait for receivers. Any thread.
template <class Atomics, std::size_t Slots = 64>
class basic_drain_lot {
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

  struct alignas(64) slot {
    atomic<std::uint32_t> word{0};
    atomic<std::uint32_t> claimers{0};  ///< the claimers that wait here
  };

 public:
  /// Returns the epoch of this receiver's word; read it before `ask_to_wait`.
  [[nodiscard]] std::uint32_t epoch(std::uint64_t id) const noexcept {
    // order: before the tag is set; pairs with wake
    return at(id).word.load(std::memory_order_acquire);
  }
  /// Blocks until the epoch has passed, or for `limit_ns` at most. May return early.
  void wait(std::uint64_t id, std::uint32_t epoch, std::int64_t limit_ns) noexcept {
    Atomics::wait_for(at(id).word, epoch, static_cast<std::uint64_t>(limit_ns));
  }
  /// While it lives, the actors with handlers on this thread's stack wait for `receiver`: `top` and
  /// those below it. A null `top` means that the waiting thread runs no actor. An id of 0 on the
  /// stack belongs to such a thread.
  class waiting_scope {
   public:
    waiting_scope(basic_drain_lot& lot, std::uint64_t receiver,
                  const detail::stacked_actor* top) noexcept
        : lot_(lot), top_(top) {
      if (top_ == nullptr) return;
      for (const auto* a = top_; a != nullptr; a = a->outer) lot_.enter(a->id, receiver);
      for (int steps = 0; receiver != 0 && steps < longest_circle && !circle_; ++steps) {
        receiver = lot_.waits_for(receiver);
        circle_ = receiver != 0 && detail::is_on_stack(top_, receiver);
      }
    }
    ~waiting_scope() {
      for (const auto* a = top_; a != nullptr; a = a->outer) lot_.leave(a->id);
    }
    waiting_scope(const waiting_scope&) = delete;
    waiting_scope& operator=(const waiting_scope&) = delete;

    /// Returns true if the receiver waits for one of these actors, directly or through others.
    [[nodiscard]] bool closes_circle() const noexcept { return circle_; }

   private:
    static constexpr int longest_circle = 16;
    basic_drain_lot& lot_;
    const detail::stacked_actor* top_;
    bool circle_ = false;
  };

  /// Advances the epoch of this receiver's word and wakes its senders.
  void wake(std::uint64_t id) noexcept {
    // order: after the tag was cleared; pairs with epoch
    at(id).word.fetch_add(1, std::memory_order_acq_rel);
    Atomics::wake_all(at(id).word);
  }

  /// While it lives, the calling thread counts as a claimer of this receiver.
  class claimer {
   public:
    claimer(basic_drain_lot& lot, std::uint64_t receiver) noexcept : slot_(lot.at(receiver)) {
      // order: relaxed: the count of workers publishes it (A1 of waiting_workers.hpp)
      slot_.claimers.fetch_add(1, std::memory_order_relaxed);
    }
    ~claimer() {
      // order: relaxed: a count that is too high only costs a needless wake-up
      slot_.claimers.fetch_sub(1, std::memory_order_relaxed);
    }
    claimer(const claimer&) = delete;
    claimer& operator=(const claimer&) = delete;

   private:
    slot& slot_;
  };

  /// Wakes the claimers: each tries once more to claim its receiver.
  void wake_claimers() noexcept {
    for (std::uint64_t i = 0; i != Slots; ++i)
      // order: relaxed: acquired with the count of workers
      if (at(i).claimers.load(std::memory_order_relaxed) != 0) wake(i);
  }

  /// Calls `f(waiter, receiver)` with the ids of an actor that waits in a send and of its full
  /// receiver, for each such wait. For diagnosis: a wait that found no place is missing, and an
  /// actor may have continued, or may wait for another receiver by now.
  template <class F>
  void for_each_wait(F f) const {
    for (const entry& s : entries_) {
      // order: relaxed, all; a picture, in which a wait may be mixed with the next one
      const std::uint64_t waiter = s.waiter.load(std::memory_order_relaxed);
      const std::uint64_t receiver = s.awaited.load(std::memory_order_relaxed);
      if (waiter != 0 && waiter != claimed && s.waiter.load(std::memory_order_relaxed) == waiter)
        f(waiter, receiver);
    }
  }

 private:
  struct entry {
    atomic<std::uint64_t> waiter{0};   ///< an actor that waits in a send; 0: none
    atomic<std::uint64_t> awaited{0};  ///< its receiver
  };
  static constexpr std::size_t entries = Slots * 4;
  static constexpr std::size_t places = Slots < 16 ? Slots : 16;  ///< for one actor
  static constexpr std::uint64_t claimed = ~std::uint64_t{0};     ///< no actor's id

  void enter(std::uint64_t who, std::uint64_t receiver) noexcept {
    if (who == 0) return;  // no actor; its entry would look free
    for (std::size_t i = 0; i != places; ++i) {
      entry& s = place(who, i);
      std::uint64_t free = 0;
      // order: relaxed, all: only the claiming thread writes the entry
      if (s.waiter.load(std::memory_order_relaxed) != 0 ||
          !s.waiter.compare_exchange_strong(free, claimed, std::memory_order_relaxed,
                                            std::memory_order_relaxed))
        continue;
      // order: published by the store to waiter
      s.awaited.store(receiver, std::memory_order_relaxed);
      // order: seq_cst, pairs with waits_for
      s.waiter.store(who, base::order<Atomics, lot_order::enter>(std::memory_order_seq_cst));
      return;
    }
  }
  void leave(std::uint64_t who) noexcept {
    if (who == 0) return;
    for (std::size_t i = 0; i != places; ++i) {
      entry& s = place(who, i);
      // order: relaxed, both: a sender that still sees the entry goes on without waiting
      if (s.waiter.load(std::memory_order_relaxed) == who)
        return s.waiter.store(0, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] std::uint64_t waits_for(std::uint64_t who) const noexcept {
    for (std::size_t i = 0; i != places; ++i) {
      const entry& s = place(who, i);
      // order: seq_cst, pairs with enter
      if (s.waiter.load(base::order<Atomics, lot_order::see_waiter>(std::memory_order_seq_cst)) ==
          who)
        return s.awaited.load(std::memory_order_relaxed);  // order: after waiter's load
    }
    return 0;
  }
  [[nodiscard]] slot& at(std::uint64_t id) noexcept { return slots_[id % Slots]; }
  [[nodiscard]] const slot& at(std::uint64_t id) const noexcept { return slots_[id % Slots]; }
  [[nodiscard]] entry& place(std::uint64_t id, std::size_t i) noexcept {
    return entries_[(id + i) % entries];
  }
  [[nodiscard]] const entry& place(std::uint64_t id, std::size_t i) const noexcept {
    return entries_[(id + i) % entries];
  }
  std::array<slot, Slots> slots_;
  std::array<entry, entries> entries_;
};

/// The product's lot.
class drain_lot final : public basic_drain_lot<base::real_atomics> {};

}  // namespace garrick::core
