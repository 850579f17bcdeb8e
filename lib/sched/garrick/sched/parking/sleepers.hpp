// The protocol between threads that add work and workers that look for it. Without work, workers
// sleep. With work, a worker must be awake. And no worker may be woken for nothing.
//
// A worker *searches* if it is awake, has no work, and will look into every queue. It is *parked*
// if it sleeps or is about to. One word counts both. A thread that adds work that others may take
// looks at that word. If no worker searches and one is parked, exactly one worker is woken, and
// counts as searching from that moment on. A searcher that finds work and was the last one looks if
// there is more, and if so wakes the next. Sleeping takes three steps: prepare (be counted as
// parked), look again, commit (wait for a token).
//
// Thread safety: `announce`, `observe`, `wake_one`, `wake_another`, `wake_all` and the const
// functions are for any thread, the rest for the worker whose index is given.
//
// Invariants. Work is *open* if it is in a deque or an inbox, where any worker may take it.
// S1 The searching count is the number of workers that have begun to search, by try_begin_search or
//    by being woken, and have not reached end_search or prepare_park. At most half of the workers
//    begin to search by themselves, but at least one may. Further searchers are those that are just
//    being woken: one by wake_one, and one more by each wake_another, since a woken worker may have
//    to wait for a processor; and one that wakes itself (S7).
// S2 A worker's bit is set before it is counted as parked. The thread that lowers the count, in
//    wake_one, is entitled to one bit. It finds one, since there are never fewer bits than the
//    count and the entitlements together. So each time the count falls exactly one worker is woken,
//    with one token. A bit that is on its way from another core may have to be looked for twice.
// S3 wake_one raises the searching count in the same step in which it lowers the parked count. So
//    if two threads add work at the same time, they wake one worker.
// S4 No lost wake-up. Adding: (a1) make the work visible, (a2) light fence, (a3) read the word.
//    Sleeping: (b1) change the word, (b2) heavy fence, (b3) look into all queues. One of the two
//    fences comes first. If it is a2, then b3 sees the work. If it is b2, then a3 sees the worker
//    as parked and not searching, and wakes one if no other worker searches. The end_search of the
//    last searcher has the same steps: (c1) lower the count, (c2) heavy fence, (c3) look into all
//    queues, (c4) wake one. So a worker that searches while a3 looks will see the work.
// S5 b2 may be left out if all other workers are parked or searching, and c2 if all others are
//    parked. The two counts together are the workers between try_begin_search or prepare_park and
//    end_search, no matter whose bit is taken. If that is all of them, none of them can add work
//    before its end_search, which comes after b1, so its a3 sees b1. A searcher finds the work
//    that it added earlier, or moves from queue to queue: it looks into all queues and, if it is
//    the last, once more at c3. So only outside threads can add work unseen, and they use a
//    sequentially consistent compare-and-swap (a1) and load (a3). This requires of callers that a
//    worker which is counted has an empty slot and an empty deque, and that a worker which has
//    moved work leaves by end_search, never by prepare_park. S5 matters because a heavy fence
//    interrupts all processors where threads of the process run.
// S6 From S4: while open work exists and a worker is parked, some worker searches, or has just
//    added the work and not reached a3, or has not reached b3 or c3. None of these states lasts.
//    The exception is work that was added without `announce` because some worker was awake (W1 and
//    W5 of work_stealing.hpp): the ticker calls a worker if the work stays (K5 of slot_ticker.hpp).
// S7 A worker that waits for events instead of sleeping (leading.hpp) is parked. When an event has
//    come it wakes itself: it lowers the count and takes its own bit (S2). If another thread has
//    taken this bit by then, the worker's token is on its way. And if the worker has lowered the
//    count nevertheless, it takes another bit, and wakes the owner of that bit. While the count is
//    zero all bits but those of workers that are just being counted belong to others, so the worker
//    looks at both, its token and the count, until it has its token or can lower the count.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/brief_wait.hpp>
#include <garrick/base/concurrency/leader_seat.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>

namespace garrick::sched {

/// The memory orders below that the model checker weakens, one at a time.
enum class sleepers_order : std::uint8_t {
  park,        ///< b1 of S4
  read_state,  ///< a3 of S4
  end_search,  ///< c1 of S4
};

/// The sleeping and the searching workers of a pool, and the means to wake them.
template <class Atomics, class Parker>
class sleepers {
 public:
  static constexpr std::uint32_t max_workers = 1024;    ///< the most that a pool can have
  static constexpr std::uint32_t nobody = 0xffff'ffff;  ///< no worker's index

  /// Makes the sleepers of a pool with this number of workers, 1 to `max_workers`; none of them
  /// sleeps or searches yet. `elsewhere` interrupts a worker that waits for events instead of
  /// sleeping; null if all workers only sleep.
  explicit sleepers(std::uint32_t workers, base::interruptible* elsewhere = nullptr)
      : workers_(workers),
        search_limit_(workers / 2 == 0 ? 1 : workers / 2),
        words_((workers + 63) / 64),
        parkers_(std::make_unique<padded_parker[]>(workers)),
        bits_(std::make_unique<word64[]>(words_)),
        elsewhere_(elsewhere) {}

  sleepers(const sleepers&) = delete;
  sleepers& operator=(const sleepers&) = delete;

  /// True if a worker can wait for events instead of sleeping.
  static constexpr bool waits_elsewhere = requires(Parker& p) { p.begin_elsewhere(); };

  /// The value of the word; see `any_parked`, `may_wake` and `all_parked`.
  using state = std::uint32_t;
  /// Returns true if a worker is parked.
  static constexpr bool any_parked(state seen) noexcept { return seen >= one_parked; }
  /// Returns true if a worker is parked and none searches, so that new work needs a wake-up.
  static constexpr bool may_wake(state seen) noexcept {
    return seen >= one_parked && (seen & searching_mask) == 0;
  }
  /// Returns the number of parked workers.
  static constexpr std::uint32_t parked(state seen) noexcept { return seen >> parked_shift; }
  /// Returns true if all workers are parked.
  [[nodiscard]] bool all_parked(state seen) const noexcept { return parked(seen) == workers_; }

  /// Does the light fence and the look, after work was made visible (a2, a3 of S4). Returns the
  /// word.
  [[nodiscard]] state observe() noexcept {
    Atomics::light_fence();
    // order: seq_cst, pairs with park and end_search (S4, S5)
    return state_.load(base::order<Atomics, sleepers_order::read_state>(std::memory_order_seq_cst));
  }

  /// Announces open work that has been made visible, so that a worker looks for it. If a worker
  /// must be woken, wakes `preferred` if that worker is parked. Any thread; makes a system call
  /// only if it wakes a worker that sleeps.
  [[gnu::hot]] void announce(std::uint32_t preferred = nobody) noexcept {
    const state seen = observe();
    if (may_wake(seen)) wake_one(seen, preferred);
  }

  /// Wakes one parked worker, unless a worker searches by now. Returns true if one was woken.
  /// `seen` is the state on which the caller decided. Any thread.
  bool wake_one(state seen, std::uint32_t preferred = nobody) noexcept {
    while (may_wake(seen))
      if (try_wake(seen, preferred)) return true;
    return false;
  }

  /// Wakes one parked worker although another one may be searching: work has waited for long, and
  /// the worker that was woken for it may have to wait for a processor. Returns false if none is
  /// parked. Any thread.
  bool wake_another() noexcept {
    state seen = peek();
    while (any_parked(seen))
      if (try_wake(seen, nobody)) return true;
    return false;
  }

  /// Returns the word as it is now, for a caller that has fenced already.
  [[nodiscard]] state peek() const noexcept {
    // order: as observe
    return state_.load(base::order<Atomics, sleepers_order::read_state>(std::memory_order_seq_cst));
  }

  /// Returns how often a worker had to be woken through the system so far. Any thread; a statistic.
  [[nodiscard]] std::uint64_t wakes() const noexcept {
    return wakes_.load(std::memory_order_relaxed);  // order: relaxed; a statistic
  }

  /// Returns the counts in words, for a diagnosis. Any thread.
  [[nodiscard]] std::string describe() const {
    const state now = peek();
    return "searching " + std::to_string(now & searching_mask) + ", parked " +
           std::to_string(parked(now));
  }

  /// Returns the index of some parked worker, or `nobody`. Returns the worker that waits elsewhere
  /// only if there is no other, since another worker would have to wait there in its place. Any
  /// thread; a hint.
  [[nodiscard]] std::uint32_t some_parked() const noexcept {
    // order: relaxed; a hint
    const std::uint32_t last = is_elsewhere_.load(std::memory_order_relaxed);
    for (std::uint32_t word = 0; word < words_; ++word) {
      // order: relaxed; a hint
      std::uint64_t bits = bits_[word].load(std::memory_order_relaxed);
      if (word == last / 64) bits &= ~bit_of(last);
      if (bits != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    return last != nobody && looks_parked(last) ? last : nobody;
  }

  /// Returns true if this worker is parked. Any thread; a hint.
  [[nodiscard]] bool looks_parked(std::uint32_t index) const noexcept {
    // order: relaxed; a hint
    return (bits_[index / 64].load(std::memory_order_relaxed) & bit_of(index)) != 0;
  }

  /// Counts the worker as searching, so that it may look into others' queues. Returns false if
  /// enough workers search already; then it must park instead.
  [[nodiscard]] bool try_begin_search() noexcept {
    // order: relaxed; the compare-and-swap confirms it
    state seen = state_.load(std::memory_order_relaxed);
    while ((seen & searching_mask) < search_limit_) {
      // order: relaxed both; end_search and park keep the promise of being counted
      if (state_.compare_exchange_weak(seen, seen + one_searching, std::memory_order_relaxed,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  /// Ends the search of a worker that has found and taken something. `more_open_work()` must return
  /// true if any queue holds more (c3 of S4); it is called at most once.
  template <class Look>
  void end_search(Look&& more_open_work) noexcept {
    // order: seq_cst, pairs with read_state (S4, S5)
    const state now =
        state_.fetch_sub(one_searching, base::order<Atomics, sleepers_order::end_search>(
                                            std::memory_order_seq_cst)) -
        one_searching;
    if (!may_wake(now)) return;
    if (parked(now) + 1 < workers_) Atomics::heavy_fence();
    if (more_open_work()) wake_one(now);
  }

  /// Does the first step of sleeping: worker `index` counts as parked from here on. `searching` is
  /// true if it has searched. The caller looks into all queues next and announces the work that it
  /// finds. Then it always calls `park`, which returns at once if a thread has woken the worker by
  /// then.
  void prepare_park(std::uint32_t index, bool searching) noexcept {
    // order: relaxed; the release of the next change of the word puts it before (S2)
    bits_[index / 64].fetch_or(bit_of(index), std::memory_order_relaxed);
    const state change = one_parked - (searching ? one_searching : 0);
    // order: seq_cst, pairs with read_state (S4, S5)
    const state now =
        state_.fetch_add(change,
                         base::order<Atomics, sleepers_order::park>(std::memory_order_seq_cst)) +
        change;
    if (parked(now) + (now & searching_mask) < workers_) Atomics::heavy_fence();
  }

  /// Does the last step of sleeping: blocks until another thread has woken this worker, which then
  /// counts as searching.
  void park(std::uint32_t index) noexcept { parkers_[index].parker.park(); }

  /// Begins a wait elsewhere, instead of `park`; a thread that wakes the worker interrupts that
  /// wait. Returns false if the worker has been woken; it counts as searching. One worker at a
  /// time.
  [[nodiscard]] bool begin_elsewhere(std::uint32_t index) noexcept {
    is_elsewhere_.store(index, std::memory_order_relaxed);  // order: relaxed; a hint
    return parkers_[index].parker.begin_elsewhere();
  }
  /// Ends the worker's wait elsewhere. Returns true if the worker has been woken; it counts as
  /// searching. Returns false after a spurious return; the worker is still parked, and must wait
  /// once more.
  [[nodiscard]] bool end_elsewhere(std::uint32_t index) noexcept {
    return parkers_[index].parker.end_elsewhere();
  }
  /// Wakes the calling worker, which waits elsewhere (S7); the worker then counts as searching.
  /// Waits at most for a thread that is just waking it.
  void come_back(std::uint32_t index) noexcept {
    auto& own = parkers_[index].parker;
    base::brief_wait<Atomics> wait;
    for (bool is_taken = false; !own.has_token();) {
      state seen = peek();
      if (is_taken || !any_parked(seen) || !count_awake(seen)) {
        wait.once();
      } else {
        if (clear_bit(index)) break;
        unpark(take_bit(nobody));
        is_taken = true;  // and the token is on its way
      }
    }
    own.end_elsewhere();
  }

  /// Wakes every worker, also one that parks later, at the pool's end. The counts mean nothing
  /// afterwards.
  void wake_all() noexcept {
    for (std::uint32_t i = 0; i < workers_; ++i) unpark(i);
  }

 private:
  static constexpr std::uint32_t parked_shift = 16;
  static constexpr state one_searching = 1;
  static constexpr state searching_mask = 0xffff;
  static constexpr state one_parked = 1U << parked_shift;

  using word64 = typename Atomics::template atomic<std::uint64_t>;
  struct alignas(64) padded_parker {
    Parker parker;
  };

  static constexpr std::uint64_t bit_of(std::uint32_t index) noexcept {
    return std::uint64_t{1} << (index % 64);
  }

  /// Tries once to count a worker as searching instead of parked.
  bool count_awake(state& seen) noexcept {
    // order: relaxed both ways; the swap alone decides which thread wakes (S3), and take_bit looks
    // until it finds (S2)
    return state_.compare_exchange_weak(seen, seen - one_parked + one_searching,
                                        std::memory_order_relaxed, std::memory_order_relaxed);
  }

  /// Tries once to count a worker as searching instead of parked, and to wake it.
  [[gnu::hot]] bool try_wake(state& seen, std::uint32_t preferred) noexcept {
    if (!count_awake(seen)) return false;
    // order: relaxed; a statistic
    if (unpark(take_bit(preferred))) wakes_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// Leaves a token for this worker, wherever it waits. Returns true if a system call was made.
  bool unpark(std::uint32_t index) noexcept {
    Parker& parker = parkers_[index].parker;
    if constexpr (waits_elsewhere)
      return parker.unpark_or([this] { elsewhere_->interrupt(); });
    else
      return parker.unpark();
  }

  bool clear_bit(std::uint32_t index) noexcept {
    // order: relaxed; exactly one of several threads that clear it sees it set
    const auto before = bits_[index / 64].fetch_and(~bit_of(index), std::memory_order_relaxed);
    return (before & bit_of(index)) != 0;
  }

  /// Clears one bit and returns its number. The caller is entitled to a bit (S2), so the loop ends.
  std::uint32_t take_bit(std::uint32_t preferred) noexcept {
    if (preferred < workers_ && clear_bit(preferred)) return preferred;
    base::brief_wait<Atomics> wait;
    for (;;) {
      const std::uint32_t found = some_parked();
      if (found != nobody && clear_bit(found)) return found;
      wait.once();
    }
  }

  // constant
  std::uint32_t workers_;
  std::uint32_t search_limit_;
  std::uint32_t words_;
  std::unique_ptr<padded_parker[]> parkers_;
  std::unique_ptr<word64[]> bits_;
  base::interruptible* elsewhere_;
  // written by the worker that waits elsewhere
  typename Atomics::template atomic<std::uint32_t> is_elsewhere_{nobody};
  // written by any thread, but only when a worker falls asleep, wakes up or searches
  alignas(64) typename Atomics::template atomic<state> state_{0};
  alignas(64) typename Atomics::template atomic<std::uint64_t> wakes_{0};
};

}  // namespace garrick::sched
