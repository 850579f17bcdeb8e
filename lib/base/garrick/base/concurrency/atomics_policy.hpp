// Lock-free code is written once and run in three ways: as the product, under ThreadSanitizer and
// under a model checker. The three differ in this policy.
//
// A header of lock-free code takes a class `Atomics` with the members of `real_atomics`. In the
// product they compile to plain std::atomic. ThreadSanitizer understands no free-standing fences,
// so under it a fence becomes a read-modify-write of one shared word.
//
// The model checker brings its own atomics and can weaken one memory order at a time. A header
// lists, as an enumeration, the places with orders that matter, and writes such an order as
//
//   base::order<Atomics, deque_order::push_bottom>(std::memory_order_release)
//
// A test shows that the code fails when that order is weakened.
//
// The two-sided fence: code of the form *store mine, fence, load yours* on both sides (each side
// must see the other) usually has one side that runs a thousand times more often. `light_fence` is
// for the frequent side and costs nothing. `heavy_fence` is for the rare side and makes every
// thread of the process execute a barrier. Where the system cannot do that, both are full fences.
//
// Thread safety: stateless.
#pragma once

#include <garrick/base/platform/platform.hpp>

#include <atomic>
#include <cstdint>

#if !defined(GARRICK_TSAN)
#if defined(__SANITIZE_THREAD__)
#define GARRICK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GARRICK_TSAN 1
#endif
#endif
#endif
#if !defined(GARRICK_TSAN)
#define GARRICK_TSAN 0
#endif

namespace garrick::base {

/// The product's atomics, and the members that every such policy has.
struct real_atomics {
  /// An atomic variable; of its operations only those that take the order are used.
  template <class T>
  using atomic = std::atomic<T>;

  /// Plain memory that several threads hand to each other. The model checker's version reports
  /// races on it.
  template <class T>
  class cell {
   public:
    cell() = default;
    /// Makes a cell that holds `value`.
    explicit cell(T value) noexcept : value_(value) {}
    /// Returns the held value. Requires that no other thread sets it meanwhile.
    [[nodiscard]] T get() const noexcept { return value_; }
    /// Sets the held value. Requires that no other thread uses the cell meanwhile.
    void set(T value) noexcept { value_ = value; }

   private:
    T value_{};
  };

  /// Returns the memory order at `Place`, an enumerator of a header's list: as written.
  template <auto Place>
  static constexpr std::memory_order order(std::memory_order as_written) noexcept {
    return as_written;
  }

  /// Executes a full, sequentially consistent fence. Costs as much as a locked operation.
  static void full_fence() noexcept {
#if GARRICK_TSAN
    // order: stands for the fence below, in a form that ThreadSanitizer understands
    fence_word.fetch_add(1, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);  // order: pairs with another full_fence
#endif
  }

  /// Executes a full fence at `Place`, an enumerator of a header's list: for fences that the model
  /// checker leaves out, one at a time.
  template <auto Place>
  static void fence_at() noexcept {
    full_fence();
  }

  /// Executes the frequent side of a two-sided fence. Costs nothing where the system can execute
  /// barriers for other threads, otherwise as much as `full_fence`.
  static void light_fence() noexcept {
#if GARRICK_TSAN
    full_fence();
#else
    if (platform::process_barrier_enabled()) [[likely]] {
      // order: compiler only; the processor's part is done by process_barrier() in heavy_fence
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      full_fence();
    }
#endif
  }

  /// Executes the rare side of a two-sided fence. Costs a system call that interrupts every
  /// processor where a thread of this process runs.
  ///
  /// Requires that `enable_process_barrier` was called before the threads that use it were started.
  static void heavy_fence() noexcept {
    full_fence();
#if !GARRICK_TSAN
    if (platform::process_barrier_enabled()) platform::process_barrier();
#endif
  }

  /// Sleeps while `word` is `expected`, until another thread wakes a sleeper of `word`. May return
  /// early for no reason.
  static void wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    platform::futex_wait(word, expected);
  }
  /// Like `wait`, for at most `timeout_ns` nanoseconds. Returns false if the time has passed.
  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t timeout_ns) noexcept {
    return platform::futex_wait_for(word, expected, timeout_ns);
  }
  /// Wakes one thread that sleeps at `word`, if there is one.
  static void wake_one(atomic<std::uint32_t>& word) noexcept { platform::futex_wake_one(word); }
  /// Wakes all threads that sleep at `word`.
  static void wake_all(atomic<std::uint32_t>& word) noexcept { platform::futex_wake_all(word); }
  /// Tells the processor that this thread waits for another one in a loop.
  static void pause() noexcept { platform::pause(); }

#if GARRICK_TSAN
 private:
  static inline std::atomic<std::uint32_t> fence_word{0};
#endif
};

/// Returns the memory order that `Atomics` uses at `Place`, an enumerator of the calling header's
/// list of places: in the product the written order. Costs nothing.
template <class Atomics, auto Place>
[[nodiscard]] constexpr std::memory_order order(std::memory_order as_written) noexcept {
  return Atomics::template order<Place>(as_written);
}

}  // namespace garrick::base
