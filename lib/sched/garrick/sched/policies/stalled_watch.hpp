// A busy worker looks at the others now and then, since one of them may be stalled: its handler
// waits or computes for long, or its thread has no processor. The work in the queues of such a
// worker would wait for as long. W4 of work_stealing.hpp rests on these looks.
//
// This header chooses the worker to look at, and the time. The policy chooses the work to take from
// a stalled worker.
//
// Thread safety: none; each worker has its own.
#pragma once

#include <algorithm>
#include <cstdint>

namespace garrick::sched {

/// Messages that a busy worker handles at most between two looks at another one. The worker counts
/// rounds: as many as have this many messages if each has its full length.
inline constexpr std::uint32_t default_look_interval = 2048;

/// The choice of the worker that a worker watches, and the test if it has moved.
class stalled_watch {
 public:
  /// Makes the watch of worker `self`, with rounds of at most `round` messages. The worker looks at
  /// another one at least once in `interval` messages, or once a round if rounds are longer.
  stalled_watch(std::uint32_t self, std::uint32_t round, std::uint32_t interval) noexcept
      : self_(self), whom_(self), rounds_(std::max(1U, interval / round)), left_(rounds_) {}

  /// Called at the beginning of a round. Returns true if the worker must look at the worker that it
  /// watches, and then watch the next one.
  [[nodiscard]] bool is_due() noexcept {
    if (--left_ != 0) return false;
    left_ = rounds_;
    return true;
  }

  /// Returns the worker that is watched; `self` before the first look.
  [[nodiscard]] std::uint32_t whom() const noexcept { return whom_; }

  /// Returns true if the watched worker has not moved since `watch_next`. `beats` counts its signs
  /// of life.
  [[nodiscard]] bool stands_still(std::uint64_t beats) const noexcept {
    return whom_ != self_ && beats == beats_;
  }

  /// Goes on to the next of `count` workers, at least two, and returns its index. The caller then
  /// notes its `beats` with `note`.
  [[nodiscard]] std::uint32_t watch_next(std::uint32_t count) noexcept {
    do { whom_ = whom_ + 1 < count ? whom_ + 1 : 0; } while (whom_ == self_);
    return whom_;
  }

  /// Notes how often the watched worker has given a sign of life so far.
  void note(std::uint64_t beats) noexcept { beats_ = beats; }

 private:
  std::uint32_t self_;
  std::uint32_t whom_;
  std::uint32_t rounds_;
  std::uint32_t left_;
  std::uint64_t beats_ = 0;
};

}  // namespace garrick::sched
