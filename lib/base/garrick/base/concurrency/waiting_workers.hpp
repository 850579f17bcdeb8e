// The workers of a pool that wait inside handlers: their number, and the listener that is called
// when all of them wait while something is queued. No worker looks into the queues then.
//
// Thread safety: `listen` must be called before any other thread has the pool, and `limit` before
// the pool's start has ended. Any thread may call the other functions.
//
// Invariant
// A1 A worker makes its own work available to others and counts itself. The worker that completes
//    the count then looks, after a heavy fence, into the queues. A thread that is not a worker of
//    the pool fills a queue and then looks, after a light fence, at the count. One of the two
//    fences comes first. So if all workers wait and something is queued, the thread whose step was
//    the later one tells the listener. Workers that wait queue nothing. An item that the pool's
//    helper takes from a worker's slot is queued before that worker counts itself (N4 of
//    next_slot.hpp). A worker that takes an item from another one's slot queues it before it counts
//    itself.
// (The model checker runs this: core/overload/internal/drain_lot.model.cpp.)
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::base {

/// The memory orders below that the model checker weakens, one at a time.
enum class waiting_order : std::uint8_t {
  begin,  ///< a worker counts itself
};

/// The workers of a pool that wait inside handlers.
template <class Atomics = real_atomics>
class waiting_workers {
 public:
  /// Makes the count for a pool with this many workers, none of which waits.
  explicit waiting_workers(std::uint32_t workers) noexcept : workers_(workers) {}

  /// Limits the pool to this many workers.
  void limit(std::uint32_t workers) noexcept {
    workers_.store(workers, std::memory_order_relaxed);  // order: before the pool's start has ended
  }

  /// Registers a listener: `call(context)` is called when all workers wait while something is
  /// queued.
  void listen(void (*call)(void* context) noexcept, void* context) noexcept {
    call_ = call;
    context_ = context;
  }

  /// Counts a worker as waiting. Requires that other workers can take its work. `has_work()` must
  /// return true if a queue may hold work from a worker, or from another thread before that
  /// thread's light fence.
  template <class HasWork>
  void begin(const HasWork& has_work) noexcept {
    // order: release: the work this worker has left in queues, to the last one's fence
    const std::uint32_t before =
        waiting_.fetch_add(1, order<Atomics, waiting_order::begin>(std::memory_order_release));
    if (before + 1 < workers()) return;
    Atomics::heavy_fence();
    if (has_work()) tell();
  }
  /// Ends a worker's wait.
  void end() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }  // order: a count

  /// Called by a thread that is not a worker of this pool, after it has queued work.
  void queued() noexcept {
    Atomics::light_fence();
    if (all_wait()) [[unlikely]]
      tell();
  }

  /// Returns true if all workers wait; an estimate.
  [[nodiscard]] bool all_wait() const noexcept {
    // order: acquire: the work that they have left in queues, and the listener
    return waiting_.load(std::memory_order_acquire) >= workers();
  }

 private:
  [[nodiscard]] std::uint32_t workers() const noexcept {
    return workers_.load(std::memory_order_relaxed);  // order: as limit
  }
  void tell() noexcept {
    if (call_ != nullptr) call_(context_);
  }

  typename Atomics::template atomic<std::uint32_t> workers_;
  void (*call_)(void*) noexcept = nullptr;
  void* context_ = nullptr;
  typename Atomics::template atomic<std::uint32_t> waiting_{0};
};

}  // namespace garrick::base
