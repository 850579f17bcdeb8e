// A wait in a loop for another thread that is a few instructions from done.
//
// The waiting thread spins, since the wait ends in a moment. But the other thread may have lost its
// processor. If the waiting thread has a higher real-time priority on the same processor, the other
// thread does not get the processor back as long as any thread spins or yields there. So after a
// while the waiting thread sleeps for moments.
//
//   brief_wait<Atomics> wait;
//   while (!there.load(std::memory_order_relaxed)) wait.once();
//
// Thread safety: none; each waiting thread has its own.
#pragma once

#include <atomic>
#include <cstdint>

namespace garrick::base {

/// The body of a loop that waits for another thread.
template <class Atomics>
class brief_wait {
 public:
  static constexpr std::uint32_t spins = 64;       ///< before it sleeps
  static constexpr std::uint64_t nap_ns = 20'000;  ///< of each sleep

  /// Waits a little: the first times it only spins, then the thread sleeps.
  void once() noexcept {
    if (spun_ < spins) {
      ++spun_;
      Atomics::pause();
    } else {
      Atomics::wait_for(never_, 0, nap_ns);  // no thread wakes it
    }
  }

 private:
  std::uint32_t spun_ = 0;
  typename Atomics::template atomic<std::uint32_t> never_{0};
};

}  // namespace garrick::base
