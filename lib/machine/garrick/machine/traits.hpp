// The traits that run a scheduling policy on the simulated machine (sched/policies/policy.hpp):
// atomics that cost time, a simulated clock, and parking that switches to another fibre. The parker
// is the shipped one, on simulated futexes.
//
// Memory orders are not simulated, but they have one effect: a sequentially consistent store costs
// as much as a locked operation, as on x86-64.
//
// Thread safety: like the engine's: everything belongs to one real thread.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/parker.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/machine/engine.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace garrick::machine {

/// Atomics with a simulated cost for every operation (base/concurrency/atomics_policy.hpp). Outside
/// a run, operations cost nothing.
struct machine_atomics {
  /// An atomic variable on a line of its own.
  template <class T>
  class atomic {
   public:
    constexpr atomic() noexcept = default;
    constexpr atomic(T value) noexcept : value_(value) {}  // as std::atomic
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    T load(std::memory_order) const noexcept {
      if (engine* const e = engine::current()) [[likely]]
        e->read(line_);
      return value_;
    }
    void store(T value, std::memory_order order) noexcept {
      if (engine* const e = engine::current()) [[likely]] {
        if (order == std::memory_order_seq_cst)  // order: only its price is simulated
          e->modify(line_);
        else
          e->write(line_);
      }
      value_ = value;
    }
    T exchange(T value, std::memory_order) noexcept {
      modify();
      return std::exchange(value_, value);
    }
    T fetch_add(T by, std::memory_order) noexcept {
      modify();
      return std::exchange(value_, static_cast<T>(value_ + by));
    }
    T fetch_sub(T by, std::memory_order) noexcept {
      modify();
      return std::exchange(value_, static_cast<T>(value_ - by));
    }
    T fetch_or(T bits, std::memory_order) noexcept {
      modify();
      return std::exchange(value_, static_cast<T>(value_ | bits));
    }
    T fetch_and(T bits, std::memory_order) noexcept {
      modify();
      return std::exchange(value_, static_cast<T>(value_ & bits));
    }
    bool compare_exchange_strong(T& expected, T wanted, std::memory_order,
                                 std::memory_order) noexcept {
      modify();
      if (value_ != expected) {
        expected = value_;
        return false;
      }
      value_ = wanted;
      return true;
    }
    bool compare_exchange_weak(T& expected, T wanted, std::memory_order success,
                               std::memory_order failure) noexcept {
      return compare_exchange_strong(expected, wanted, success, failure);
    }

    /// Returns the value without a simulated access, at no cost.
    [[nodiscard]] T peek() const noexcept { return value_; }

   private:
    void modify() noexcept {
      if (engine* const e = engine::current()) [[likely]]
        e->modify(line_);
    }

    mutable line line_;
    T value_{};
  };

  /// A plain variable that an atomic one protects. Costs nothing.
  template <class T>
  using cell = base::real_atomics::cell<T>;

  /// Returns the memory order as it is written; only the model checker weakens some.
  template <auto Place>
  static constexpr std::memory_order order(std::memory_order as_written) noexcept {
    return as_written;
  }
  /// Executes a full barrier of the running thread.
  static void full_fence() noexcept { drain_and_charge(&costs::locked); }
  /// Executes the frequent side of a two-sided fence, which is free.
  static void light_fence() noexcept {}
  /// Executes the rare side: a barrier in every thread of the process.
  static void heavy_fence() noexcept { drain_and_charge(&costs::barrier); }
  /// Gives the processor's hint in a waiting loop.
  static void pause() noexcept { charge(&costs::pause); }

  /// Sleeps while the word has the expected value.
  static void wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    if (engine* const e = engine::current())
      e->wait(word, [expected](const auto& w) { return w.peek() == expected; }, engine::for_ever);
  }
  /// Like `wait`, for at most `timeout_ns`. Returns false if the word still has the expected value.
  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t timeout_ns) noexcept {
    if (engine* const e = engine::current())
      e->wait(word, [expected](const auto& w) { return w.peek() == expected; }, timeout_ns * 1000);
    return word.peek() != expected;
  }
  /// Wakes one sleeper of the word.
  static void wake_one(atomic<std::uint32_t>& word) noexcept {
    if (engine* const e = engine::current()) e->wake_one(&word);
  }

 private:
  static void charge(double costs::* price) noexcept {
    if (engine* const e = engine::current()) [[likely]]
      e->spend_ns(e->prices().*price);
  }
  static void drain_and_charge(double costs::* price) noexcept {
    if (engine* const e = engine::current()) [[likely]]
      e->drain();
    charge(price);
  }
};

/// Time as a policy sees it. Requires a running engine.
struct machine_clock {
  /// Returns the running thread's clock, in nanoseconds.
  static std::uint64_t now_ns() noexcept {
    engine& e = *engine::current();
    e.spend_ns(e.prices().clock_read);
    return e.now() / 1000;
  }
  /// Returns the running thread's processor time, in nanoseconds.
  static std::uint64_t thread_cpu_ns() noexcept {
    engine& e = *engine::current();
    e.spend_ns(e.prices().cpu_clock_read);
    return e.busy(e.self()) / 1000;
  }
  /// Puts the running thread to sleep.
  static void sleep_ns(std::uint64_t ns) noexcept { engine::current()->sleep(ns * 1000); }
};

/// The processors of threads. If each thread has a processor of its own, no thread delays another,
/// and no thread moves.
struct machine_place {
  /// The processor of a thread.
  class thread {
   public:
    static constexpr std::int32_t unknown = -1;  ///< returned by `processor` if it does not know
    /// Returns the running thread.
    static thread of_this_thread() noexcept {
      thread t;
      t.of_ = engine::current();
      if (t.of_ != nullptr) t.number_ = t.of_->self();
      return t;
    }
    /// Returns the processor where the thread runs, waits or ran last; `unknown` if it has a
    /// processor of its own.
    [[nodiscard]] std::int32_t processor() const noexcept {
      return of_ != nullptr && of_->shares_processors()
                 ? static_cast<std::int32_t>(of_->unit_of(number_))
                 : unknown;
    }

    /// Returns the times for which the thread has run and waited for a processor; nothing if it has
    /// a processor of its own.
    [[nodiscard]] std::optional<base::platform::processor_times> times() const noexcept {
      if (of_ == nullptr || !of_->shares_processors()) return {};
      return base::platform::processor_times{.ran_ns = of_->busy(number_) / 1000,
                                             .waited_ns = of_->run_delay(number_) / 1000};
    }

   private:
    const engine* of_ = nullptr;
    std::uint32_t number_ = 0;
  };
  /// Returns the running thread.
  static thread of_this_thread() noexcept { return thread::of_this_thread(); }
  /// Moves the running thread away from the processors in `busy`. Returns false if it cannot move.
  static bool leave(std::span<const std::int32_t> busy) noexcept {
    return engine::current()->leave_processors(busy);
  }
};

/// A lock whose waiters sleep in the system, like glibc's.
class machine_mutex {
 public:
  /// Takes the lock; sleeps while another thread has it.
  void lock() noexcept {
    std::uint32_t seen = free;
    // order: acquire, pairs with unlock; orders are not simulated
    if (word_.compare_exchange_strong(seen, taken, std::memory_order_acquire,
                                      std::memory_order_relaxed))
      return;
    while (word_.exchange(wanted, std::memory_order_acquire) != free)  // order: as above
      machine_atomics::wait(word_, wanted);
  }
  /// Releases the lock and wakes one waiter.
  void unlock() noexcept {
    // order: release, pairs with lock
    if (word_.exchange(free, std::memory_order_release) == wanted) machine_atomics::wake_one(word_);
  }

 private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t wanted = 2;
  machine_atomics::atomic<std::uint32_t> word_{free};
};

/// The `Traits` of a scheduling policy, with all of the above.
struct machine_traits {
  using atomics = machine_atomics;
  using parker = base::basic_parker<machine_atomics>;
  using clock = machine_clock;
  using place = machine_place;
  using random = sched::xorshift;
  using mutex = machine_mutex;
};

}  // namespace garrick::machine
