// A million pending timers, armed and cancelled in constant time: a hierarchical timing wheel
// (Varghese and Lauck), driven by its owner.
//
// There are eight levels of 64 slots. A slot of level 0 is a tick of 2^17 ns (131 us), a slot of
// level k is 64^k ticks. A timer lies in the level of the highest digit (base 64) in which its tick
// differs from the wheel's tick. So a bit scan finds the next occupied slot, and nothing ticks. The
// timers of the current tick lie in a small heap ordered by (deadline, order of arming): they fire
// to the nanosecond, in that order.
//
// When the wheel comes to a slot, it spreads the slot's timers over lower levels and the heap. A
// slot may hold a million of them, so the work can be done in steps (`sort_until`). Between two
// steps the owner may arm and cancel. (docs/internals/time.md)
//
// Thread safety: none; one owner at a time.
//
// Invariants, which hold between any two calls:
// W1 Every timer in the heap has a tick of at most `tick_`; every timer in a slot has a later one,
//    except in the slot that is being opened.
// W2 In level k, occupied slots have an index above digit k of `tick_`, and the timers in them
//    agree with `tick_` in all higher digits. The slot that is being opened has digit k itself as
//    its index, so no timer that is armed meanwhile is put into it.
// W3 A node's generation is odd while it is armed and even while it is free. An id names a timer
//    only if the generations are equal.
// W4 `pop` takes out no timer while a slot is being opened: an earlier one may still lie in it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "garrick/base/time/clock.hpp"

namespace garrick::base {

/// The timers of a clock service, sorted as far as needed. The wheel calls no task: its owner takes
/// out the timers that are due.
class timing_wheel {
 public:
  /// A timer that is due.
  struct expired {
    instant deadline;  ///< when it was due
    timer_task task;   ///< now the caller's
  };

  /// Makes an empty wheel. Allocates nothing yet.
  explicit timing_wheel(instant now) noexcept;
  /// Drops no task: take out the rest with `pop_any` first.
  ~timing_wheel() = default;
  timing_wheel(const timing_wheel&) = delete;
  timing_wheel& operator=(const timing_wheel&) = delete;

  /// Arms a timer; a deadline of `never()` arms none. Constant time. Throws std::bad_alloc when
  /// there is no memory, and then nothing has changed.
  timer_id arm(instant deadline, const timer_task& task);

  /// Takes the timer out; false if it is not armed. Constant time. Stores the task in `*task`
  /// unless `task` is null.
  bool cancel(timer_id id, timer_task* task = nullptr) noexcept;

  /// Finds the timers that are due at `now`, as far as `pop` needs it, and moves at most `moves`
  /// timers; subtracts the number of moves from `moves`. Returns false if more moves are needed:
  /// call again. Requires that `now` does not go back from call to call.
  bool sort_until(instant now, unsigned& moves) noexcept;

  /// Takes out the first timer with a deadline of at most `now`, in the order of (deadline, order
  /// of arming); returns false if there is none. Sorts first, with as many moves as needed:
  /// constant time only after a `sort_until` that returned true. Requires that `now` does not go
  /// back from call to call.
  bool pop(instant now, expired& out) noexcept;

  /// Takes out any timer, in no order; returns false if there is none.
  bool pop_any(timer_task& out) noexcept;

  /// The most timers of one slot that `next_look` compares, so that it takes bounded time.
  static constexpr unsigned most_looked_at = 64;
  /// Returns a time at which to look again: never after the first deadline, and `never()` without
  /// timers. It is the first deadline itself unless more than `most_looked_at` timers share the
  /// first slot, or that slot is being opened; then it is the beginning of that slot.
  [[nodiscard]] instant next_look() const noexcept { return look_ahead().when; }

  /// Returns the first deadline, always exactly; `never()` without timers. May open crowded slots,
  /// which makes later arming in them slower.
  [[nodiscard]] instant first_deadline() noexcept;

  /// Returns the number of armed timers.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr unsigned tick_bits = 17;  // a tick is 2^17 ns
  static constexpr unsigned digit_bits = 6;
  static constexpr unsigned level_count = 8;  // 17 + 8 * 6 > 63: any deadline
  static constexpr unsigned slot_count = 1u << digit_bits;
  static constexpr std::uint32_t none = 0xffff'ffff;
  static constexpr std::uint32_t in_heap = 0xffff'fffe;  // a node's slot, while it is in the heap
  static constexpr unsigned chunk_bits = 10;

  struct alignas(64) node {
    timer_task task;
    std::int64_t deadline = 0;
    std::uint64_t sequence = 0;
    std::uint32_t next = none;  // in the slot, or in the free list
    // the timer before it in its slot; but while `slot` is in_heap, its position in the heap
    std::uint32_t before = none;
    std::uint32_t generation = 0;
    std::uint32_t slot = none;  // level * slot_count + index, or in_heap
  };
  static_assert(sizeof(node) == 64);

  /// Nodes, and as many entries of the heap. So the heap has room for every timer and never moves.
  struct chunk {
    node nodes[1u << chunk_bits];
    std::uint32_t heap[1u << chunk_bits];
  };

  [[nodiscard]] node& at(std::uint32_t index) const noexcept {
    return chunks_[index >> chunk_bits]->nodes[index & ((1u << chunk_bits) - 1)];
  }
  [[nodiscard]] std::uint32_t& heap_at(std::uint32_t position) const noexcept {
    return chunks_[position >> chunk_bits]->heap[position & ((1u << chunk_bits) - 1)];
  }
  [[nodiscard]] static std::uint64_t tick_of(std::int64_t ns) noexcept {
    return ns <= 0 ? 0 : static_cast<std::uint64_t>(ns) >> tick_bits;
  }

  [[nodiscard]] std::uint32_t take_node();
  void free_node(std::uint32_t index) noexcept;
  void place(std::uint32_t index) noexcept;
  void link(std::uint32_t index, std::uint32_t slot) noexcept;
  void unlink(std::uint32_t index) noexcept;
  struct look {
    instant when;
    bool exact;
  };
  [[nodiscard]] look look_ahead() const noexcept;
  [[nodiscard]] unsigned lowest_level() const noexcept;
  [[nodiscard]] std::uint64_t first_tick_of(unsigned level, unsigned index) const noexcept;
  void open_slot(unsigned level, unsigned index) noexcept;
  bool spread(unsigned& moves) noexcept;
  void mark_empty(unsigned slot) noexcept;

  [[nodiscard]] bool earlier(std::uint32_t a, std::uint32_t b) const noexcept;
  void heap_push(std::uint32_t index) noexcept;
  void heap_remove(std::uint32_t position) noexcept;
  void sift_up(std::uint32_t position) noexcept;
  void sift_down(std::uint32_t position) noexcept;

  std::uint64_t tick_;
  std::uint64_t sequence_ = 0;
  std::size_t size_ = 0;
  std::uint32_t free_ = none;
  std::uint64_t occupied_[level_count]{};
  std::uint32_t slots_[level_count * slot_count];
  std::uint32_t opening_ = none;  // the slot that is being opened; its list may be empty
  std::uint32_t heap_size_ = 0;
  std::vector<std::unique_ptr<chunk>> chunks_;
};

}  // namespace garrick::base
