// What core keeps per thread: which cells are on the stack, what is to be reclaimed, a block of
// ids.
//
// Private: installed with its room; the testkit numbers actors through it.
//
// Owner: the thread itself; nothing here is read by others.
#pragma once

#include <cstdint>

namespace garrick::base {
class error;
}
namespace garrick::core {
class cell;
class drain_lot;
}  // namespace garrick::core

namespace garrick::core::detail {

class running_behavior;

struct thread_context {
  cell* running = nullptr;  ///< the innermost cell whose handler is on the stack
  cell* outer = nullptr;    ///< the cell whose send runs `running` in place
  /// the cell whose object is being built: the base class of the object asks for it
  cell* constructing = nullptr;
  /// unreachable cells to end after the current handler, linked by `queue_link`
  cell* reclaim = nullptr;
  /// 1: a worker runs a cell; 2: a send runs its receiver in place
  std::uint32_t run_depth = 0;
  /// above zero: sends never wait for a full receiver (destructors, I/O callbacks)
  std::uint32_t no_wait = 0;
  std::uint32_t in_place_batches = 0;  ///< those after which senders were left waiting
  /// of the time that a send waits for a full receiver that shows no progress
  std::uint8_t wait_doublings = 0;
  bool in_place_chain = false;  ///< a send on this thread runs receivers in place
  /// A full receiver of the cell that runs in place: its run right is this thread's, and it is run
  /// after that batch.
  cell* next_in_place = nullptr;
  /// the cell woken last by one that runs in place; compared, not touched: it may be gone
  cell* woken_in_place = nullptr;
  /// id of a receiver that ran in place and whose waiting senders were not woken; 0: none
  std::uint64_t overlooked = 0;
  drain_lot* overlooked_in = nullptr;
  /// what a promise that is dropped now answers with; null: broken_promise
  const base::error* drop_reason = nullptr;
  running_behavior* behavior = nullptr;  ///< the innermost behavior of which a case runs
  std::uint64_t next_id = 0;
  std::uint64_t last_id = 0;

  [[nodiscard]] bool is_running(const cell* c) const noexcept { return c == running || c == outer; }
};

inline constinit thread_local thread_context here{};

}  // namespace garrick::core::detail
