// Leader and followers: of the threads that could wait for a loop's events, one leads and waits.
//
// Problem: a loop's own thread reads a message and then has to wake a worker that runs the actor.
// This change of threads occurs with each message of a quiet system, and takes longer than all the
// other steps. An idle worker could wait for the events itself, handle them, and run the woken
// actor. But it may then be busy for long, and another thread has to wait for the events meanwhile.
//
// So such a loop has a *keeper*, its own thread, and one seat. The thread on the seat leads: it
// waits for events and handles them. A *guest* is an idle worker. It takes the seat instead of
// falling asleep, and leaves it when an event has given it something to run. The keeper sits down
// when the seat has stayed empty for `most_absent_ns`. As long as guests come and go, the keeper
// looks at the seat once in that time. When a guest stays, the keeper sleeps until the guest
// leaves. So a guest that is back soon costs no wake-up.
//
// Events that arrive while the seat is empty wait. If guests stay away for long on the average,
// their work takes long, and a wake-up is cheap beside it. So they then give the seat back, and the
// keeper leads for some time. The keeper leaves the seat again after a guest has found it taken.
// Since that guest may have fallen asleep by then, the keeper calls a guest.
//
// Thread safety: stated for each function. Guests are any threads, several at once.
//
// Invariants
// L1 One thread at a time leads: the word names its role, and each taking is a compare-and-swap
//    from a word without a leader. A guest takes the seat from `empty` only; the keeper also from
//    `given_back` and, when it opens the seat, from `closed`.
// L2 The actions of a leader are visible to the next one (release/acquire on the word).
// L3 A seat does not stay empty. Each leaving changes the count in the word. The keeper waits for a
//    limited time, again and again, as long as the word changes. Only while a guest sits does it
//    wait without a limit: it sets `asleep` in the word, and the guest wakes it when leaving.
// L4 After `over` no guest sits down, and the keeper's `follow` returns `ended`. After `close` the
//    loop is not touched.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/spin_lock.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::base {

/// The memory orders below that the model checker weakens, one at a time.
enum class leader_seat_order : std::uint8_t {
  take,   ///< a thread sits down
  leave,  ///< a thread leaves the seat
};

/// The reason why the keeper's wait has ended.
enum class keeper_turn : std::uint8_t {
  leads,  ///< no other thread does; guests were away for too long
  ended,  ///< the loop has come to its end
};

/// The seat of one loop. `Loop` is the led object; this header does not call it. Times are by any
/// clock that only goes forward.
template <class Atomics, class Loop>
class basic_leader_seat {
 public:
  using loop_type = Loop;  ///< the led object
  /// The time after which the keeper takes an empty seat; up to twice as long if it has just
  /// looked.
  static constexpr std::uint64_t most_absent_ns = 500'000;
  /// The longest mean absence of guests. A wake-up takes some ten microseconds.
  static constexpr std::uint64_t mean_absent_ns = 50'000;
  static constexpr std::uint32_t most_stays = 1u << 24;  ///< see `stays`

  basic_leader_seat() = default;
  basic_leader_seat(const basic_leader_seat&) = delete;
  basic_leader_seat& operator=(const basic_leader_seat&) = delete;

  // --- guests ------------------------------------------------------------------------------------

  /// Sits down if the seat is empty. Returns null if another thread sits there or there is no loop.
  /// With a loop the caller leads it until `leave` or `over`. Any thread.
  [[nodiscard]] Loop* try_lead(std::uint64_t now_ns) noexcept {
    std::uint32_t seen = now();
    if (role(seen) == keeper && (seen & wanted) == 0)
      word_.fetch_or(wanted, std::memory_order_relaxed);  // order: relaxed; a hint
    if (role(seen) != empty || !take(seen, guest)) return nullptr;
    const std::uint64_t left = left_ns_.get();
    if (left != 0 && now_ns > left) note_absence(now_ns - left);
    return loop_.get();
  }

  /// Leaves the seat. `now_ns` is the time at which the guest was woken for this. Makes a system
  /// call only if the keeper sleeps, or must lead now.
  void leave(std::uint64_t now_ns) noexcept {
    left_ns_.set(now_ns);
    stand_up(mean_ns_.get() > mean_absent_ns ? given_back : empty);
  }

  /// Makes the guest leave the seat because the loop has ended. After that only the keeper may use
  /// the loop.
  void over() noexcept { stand_up(ended); }

  /// Returns true if a thread sits on the seat. Any thread; a hint.
  [[nodiscard]] bool is_taken() const noexcept { return role(now()) != empty; }

  /// Seats the keeper if the seat is empty: for work that should not wait until a guest returns.
  /// Any thread; makes a system call only in that case.
  void call_keeper() noexcept {
    for (std::uint32_t seen = now(); role(seen) == empty;) {
      // order: relaxed both; the work itself has an order of its own
      if (!word_.compare_exchange_weak(seen, with_role(seen, given_back), std::memory_order_relaxed,
                                       std::memory_order_relaxed))
        continue;
      return Atomics::wake_one(word_);
    }
  }

  // --- the keeper --------------------------------------------------------------------------------

  /// Begins to lead `loop`; the caller is its keeper. Returns false if the seat has a loop already.
  [[nodiscard]] bool open(Loop& loop) noexcept {
    std::uint32_t seen = now();
    do {
      if (role(seen) != closed) return false;
    } while (!take(seen, opening));
    loop_.set(&loop);
    forget_absences();
    become(keeper);
    return true;
  }

  /// Returns true if a guest has wanted the seat since the keeper took it. For the keeper.
  [[nodiscard]] bool is_wanted() const noexcept { return (now() & wanted) != 0; }

  /// Makes the keeper leave the seat and calls `offer()`, which tells a guest of the free seat.
  /// Blocks until the keeper leads again or the loop has ended, and returns which of the two.
  template <class Offer>
  [[nodiscard]] keeper_turn follow(Offer offer) noexcept {
    become(empty);
    offer();
    for (;;) {
      // order: acquire, the last guest's actions on a loop that is over (L2)
      std::uint32_t seen = word_.load(std::memory_order_acquire);
      if (role(seen) == ended) return keeper_turn::ended;
      if (role(seen) != given_back) {
        Atomics::wait_for(word_, seen, most_absent_ns);
        if (now() != seen) continue;
      }
      if (role(seen) == guest) {
        sleep(seen);
      } else if (take(seen, keeper)) {
        forget_absences();
        return keeper_turn::leads;
      }
    }
  }

  /// Like the function above, without an offer.
  [[nodiscard]] keeper_turn follow() noexcept {
    return follow([] {});
  }

  /// Returns how often guests have left the seat, modulo `most_stays`. For the keeper.
  [[nodiscard]] std::uint32_t stays() const noexcept { return count(now()); }

  /// Removes the loop. The keeper must lead, or have been told that the loop has ended.
  void close() noexcept { become(closed); }

 private:
  /// the state of the seat, or the role of the thread on it; the lowest bits of the word
  enum : std::uint32_t { closed, opening, empty, keeper, guest, given_back, ended, role_mask };
  static constexpr std::uint32_t asleep = 8;   ///< a guest sits; the keeper sleeps until it leaves
  static constexpr std::uint32_t wanted = 16;  ///< the keeper sits, and a guest wants the seat
  static constexpr std::uint32_t count_one = 256;  ///< how often a guest has left: the upper bits

  static constexpr std::uint32_t role(std::uint32_t word) noexcept { return word & role_mask; }
  static constexpr std::uint32_t count(std::uint32_t word) noexcept { return word / count_one; }
  static constexpr std::uint32_t with_role(std::uint32_t word, std::uint32_t is) noexcept {
    return count(word) * count_one + is;
  }
  [[nodiscard]] std::uint32_t now() const noexcept {
    return word_.load(std::memory_order_relaxed);  // order: relaxed; a taker acquires
  }

  /// Takes the seat if the word is still `seen`. If another thread wins, `seen` becomes the present
  /// word.
  bool take(std::uint32_t& seen, std::uint32_t as) noexcept {
    // order: acquire, the former leader's actions (L2); relaxed, nothing was taken
    return word_.compare_exchange_strong(
        seen, with_role(seen, as),
        order<Atomics, leader_seat_order::take>(std::memory_order_acquire),
        std::memory_order_relaxed);
  }

  /// Sets the role. Requires that the caller sits on the seat, or acts for the last thread that sat
  /// there. Meanwhile other threads may change only the hint `wanted`, which this store clears.
  void become(std::uint32_t what) noexcept {
    // order: release, for the next one (L2)
    word_.store(with_role(now(), what),
                order<Atomics, leader_seat_order::leave>(std::memory_order_release));
  }

  void stand_up(std::uint32_t to) noexcept {
    // order: release, for the next one (L2). Of the other threads only the keeper writes, when it
    // marks that it sleeps (L3).
    std::uint32_t seen = now();
    while (!word_.compare_exchange_weak(
        seen, with_role(seen + count_one, to),
        order<Atomics, leader_seat_order::leave>(std::memory_order_release),
        std::memory_order_relaxed)) {  // order: relaxed; it is tried again
    }
    if ((seen & asleep) != 0 || to != empty) Atomics::wake_one(word_);
  }

  /// Sleeps until the guest leaves, if it is still the same one.
  void sleep(std::uint32_t seen) noexcept {
    const std::uint32_t sleeping = seen | asleep;
    // order: relaxed both; the guest's swap follows or precedes it on the same word (L3)
    if (word_.compare_exchange_strong(seen, sleeping, std::memory_order_relaxed,
                                      std::memory_order_relaxed))
      while (now() == sleeping) Atomics::wait(word_, sleeping);
  }

  // The following functions belong to the thread on the seat.

  void note_absence(std::uint64_t ns) noexcept {
    const std::uint64_t capped = ns < 8 * most_absent_ns ? ns : 8 * most_absent_ns;
    mean_ns_.set(mean_ns_.get() - mean_ns_.get() / 8 + capped / 8);
  }
  void forget_absences() noexcept {
    left_ns_.set(0);
    mean_ns_.set(0);
  }

  typename Atomics::template atomic<std::uint32_t> word_{closed};
  typename Atomics::template cell<Loop*> loop_{nullptr};
  typename Atomics::template cell<std::uint64_t> left_ns_{0};  // see `leave`; 0: no guest yet
  typename Atomics::template cell<std::uint64_t> mean_ns_{0};  // of the times without a guest
};

/// Events that one thread at a time waits for and handles.
class event_loop {
 public:
  /// The leading thread's listener. Called back once, on that thread.
  class leader {
   public:
    /// Called before the first event is handled. `at_once` is true if the event came without a
    /// wait; then more events may follow.
    virtual void event_has_come(bool at_once) noexcept = 0;

   protected:
    ~leader() = default;
  };

  /// Waits for events, or until it is interrupted, and handles one or more. Never waits for
  /// anything else. Returns false if the loop has come to its end. The caller leads the loop.
  [[nodiscard]] virtual bool lead(leader& who) noexcept = 0;

 protected:
  ~event_loop() = default;
};

/// A place where a thread waits and from which it can be brought back.
class interruptible {
 public:
  /// Makes the thread that waits there return soon. If no thread waits, the next wait ends soon.
  /// Any thread.
  virtual void interrupt() noexcept = 0;

 protected:
  ~interruptible() = default;
};

/// The seat of real programs, with a descriptor by which a leader is interrupted. The descriptor
/// belongs to the seat and not to the loop, since an interrupt may come after the loop has ended.
class leader_seat final : public basic_leader_seat<real_atomics, event_loop>, public interruptible {
 public:
  leader_seat() = default;
  ~leader_seat();

  /// Makes the leader return soon from `event_loop::lead`. Requires that the descriptor was made.
  void interrupt() noexcept override;
  /// Returns a descriptor that is readable after `interrupt` until it has been read; the loop waits
  /// for that. The first call makes it. Returns a negative number if there is none, because the
  /// system has no room or does not support it; then only the loop's own thread may lead. Any
  /// thread.
  [[nodiscard]] int descriptor() noexcept;

  /// Sets the function that wakes an idle worker, which then finds the seat empty: `call(whose)`.
  /// Null removes it; when this returns, no thread is in such a call. Any thread.
  void guests_come_by(void (*call)(void* whose) noexcept, void* whose) noexcept;
  /// Wakes an idle worker, if there is one. Any thread.
  void call_guest() noexcept;

 private:
  std::atomic<int> descriptor_{-1};
  spin_lock lock_;
  void (*call_)(void* whose) noexcept = nullptr;  // under lock_, as whose_
  void* whose_ = nullptr;
};

}  // namespace garrick::base
