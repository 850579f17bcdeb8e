// What a scheduling policy is made of on the simulated machine (sched/policies/policy.hpp): atomics that
// charge, a clock that is simulated, and parking that gives the fibre up. The parker is the shipped
// one, on simulated futexes.
//
// Memory orders are not simulated; of them only this is taken from the code: a sequentially
// consistent store costs as a locked operation, as on x86-64.
//
// Thread safety: of the engine that runs.
#pragma once

#include <garrick/base/concurrency/parker.hpp>
#include <garrick/machine/engine.hpp>
#include <garrick/sched/policies/policy.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

namespace garrick::machine {

struct machine_atomics {
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

    /// What is there, without an access.
    [[nodiscard]] T peek() const noexcept { return value_; }

   private:
    void modify() noexcept {
      if (engine* const e = engine::current()) [[likely]]
        e->modify(line_);
    }

    mutable line line_;
    T value_{};
  };

  template <class T>
  class cell {
   public:
    cell() = default;
    explicit cell(T value) noexcept : value_(value) {}
    [[nodiscard]] T get() const noexcept { return value_; }
    void set(T value) noexcept { value_ = value; }

   private:
    T value_{};
  };

  template <int N>
  static constexpr std::memory_order order(std::memory_order as_written) noexcept {
    return as_written;
  }
  static void full_fence() noexcept { drain_and_charge(&costs::locked); }
  static void light_fence() noexcept {}
  static void heavy_fence() noexcept { drain_and_charge(&costs::barrier); }
  static void pause() noexcept { charge(&costs::pause); }

  static void wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    if (engine* const e = engine::current())
      e->wait(word, [expected](const auto& w) { return w.peek() == expected; }, engine::for_ever);
  }
  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t timeout_ns) noexcept {
    if (engine* const e = engine::current())
      e->wait(word, [expected](const auto& w) { return w.peek() == expected; }, timeout_ns * 1000);
    return word.peek() != expected;
  }
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

/// Time as a policy sees it.
struct machine_clock {
  static std::uint64_t now_ns() noexcept {
    engine& e = *engine::current();
    e.spend_ns(e.prices().clock_read);
    return e.now() / 1000;
  }
  static std::uint64_t thread_cpu_ns() noexcept {
    engine& e = *engine::current();
    e.spend_ns(e.prices().cpu_clock_read);
    return e.busy(e.self()) / 1000;
  }
  static void sleep_ns(std::uint64_t ns) noexcept { engine::current()->sleep(ns * 1000); }
};

/// Every thread has a processor of its own, so nobody stands in another's way.
struct machine_place {
  struct thread {
    static constexpr std::int32_t unknown = -1;
    static thread of_this_thread() noexcept { return {}; }
    [[nodiscard]] std::int32_t processor() const noexcept { return unknown; }
  };
  static thread of_this_thread() noexcept { return {}; }
  static bool leave(std::span<const std::int32_t>) noexcept { return false; }
};

/// A lock that sleeps in the system when it is taken, as glibc's.
class machine_mutex {
 public:
  void lock() noexcept {
    std::uint32_t seen = free;
    // order: acquire, pairs with unlock; orders are not simulated
    if (word_.compare_exchange_strong(seen, taken, std::memory_order_acquire,
                                      std::memory_order_relaxed))
      return;
    while (word_.exchange(wanted, std::memory_order_acquire) != free)  // order: as above
      machine_atomics::wait(word_, wanted);
  }
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

struct machine_traits {
  using atomics = machine_atomics;
  using parker = base::basic_parker<machine_atomics>;
  using clock = machine_clock;
  using place = machine_place;
  using random = sched::xorshift;
  using mutex = machine_mutex;
};

}  // namespace garrick::machine
