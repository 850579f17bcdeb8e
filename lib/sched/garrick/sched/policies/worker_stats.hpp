// The figures of one worker, for users that look at a pool.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>

namespace garrick::sched {

/// The events of one worker since the start, and the length of its queues. While the worker runs,
/// the numbers may be slightly old.
struct worker_stats {
  std::uint64_t runs = 0;       ///< calls of `runnable::run`
  std::uint64_t steals = 0;     ///< runnables or batches that it took from another worker
  std::uint64_t parks = 0;      ///< times that it went to sleep
  std::uint64_t parked_ns = 0;  ///< time asleep, also of the present sleep; nanoseconds
  bool is_parked = false;       ///< it sleeps
  std::uint64_t queued = 0;     ///< runnables in its own queue; 0 with one queue for all
  bool has_inbox = false;       ///< others have put something into its inbox
};

}  // namespace garrick::sched
