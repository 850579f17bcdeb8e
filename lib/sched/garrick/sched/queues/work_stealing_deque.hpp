// Each worker keeps its runnables in a deque of its own. The newest still has its data in the
// cache; the oldest is the best one for another worker. Owner and thieves must agree without a
// lock, and the owner must not pay for absent thieves.
//
// This is the deque of Chase and Lev: the owner pushes and pops at the bottom, thieves take at the
// top. It grows. Old arrays are kept until the deque is destroyed, because a slow thief may still
// look at one; together they are never larger than the newest one.
//
// Thread safety: `push`, `pop` and `empty_for_owner` are for the owner, `steal`, `looks_empty` and
// `size` for any thread.
//
// Invariants
// D1 top never falls, and exactly one compare-and-swap wins each of its values. Only the owner
//    writes bottom.
// D2 The indices [top, bottom) hold runnables. The thread that removes an index owns the runnable
//    there.
// D3 The owner removes bottom-1 without a compare-and-swap only if, after it had made bottom-1
//    visible, top was still below it. A thief reads top, then bottom. In the single order of these
//    four sequentially consistent operations either the owner sees the thief's new top, or the
//    thief sees the owner's new bottom. So they never both take the last runnable.
// D4 An index is overwritten only after top has passed it. So a thief that read the overwritten
//    cell loses its compare-and-swap.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/platform/assert.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace garrick::sched {

/// The memory orders below that the model checker weakens, one at a time.
enum class deque_order : std::uint8_t {
  push_bottom,   ///< the owner's new item becomes visible
  push_top,      ///< the owner looks how much room there is
  grow_buffer,   ///< the new array becomes visible
  pop_bottom,    ///< the owner claims the newest item
  pop_top,       ///< the owner looks if a thief wants it, too
  steal_top,     ///< a thief's first look
  steal_bottom,  ///< a thief's second look
  steal_buffer,  ///< a thief looks for the array
  steal_win,     ///< a thief takes the oldest item
};

/// A worker's own queue: last in, first out for its owner, first in, first out for thieves.
template <class Atomics, class T = base::runnable>
class work_stealing_deque {
 public:
  /// Makes an empty deque, with room for this number of items (rounded up to a power of two) before
  /// it first grows.
  explicit work_stealing_deque(std::size_t initial_capacity = 256) {
    install(new_buffer(initial_capacity, nullptr));
  }

  ~work_stealing_deque() {
    // order: relaxed; no other thread is left
    buffer* next = buffer_.load(std::memory_order_relaxed);
    while (next != nullptr) {
      buffer* dying = next;
      next = dying->older;
      delete dying;
    }
  }

  work_stealing_deque(const work_stealing_deque&) = delete;
  work_stealing_deque& operator=(const work_stealing_deque&) = delete;

  /// For the owner: adds `item` at the bottom. No locked operation. Doubles the array when it is
  /// full, and ends the process, with a message, if there is no memory for that.
  void push(T* item) noexcept {
    // order: relaxed; only the owner writes it
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    if (bottom - known_top_ >= capacity_) [[unlikely]]
      make_room(bottom);
    // order: relaxed; published by the store to bottom_
    cells_[static_cast<std::size_t>(bottom & (capacity_ - 1))].store(item,
                                                                     std::memory_order_relaxed);
    // order: release, pairs with steal_bottom: the thief sees the cell and the item that it points
    // to
    bottom_.store(bottom + 1,
                  base::order<Atomics, deque_order::push_bottom>(std::memory_order_release));
  }

  /// For the owner: removes the newest item; null if there is none. Costs one locked operation, or
  /// none if the deque is empty.
  [[nodiscard, gnu::hot]] T* pop() noexcept {
    // order: relaxed; only the owner writes it
    const std::int64_t last = bottom_.load(std::memory_order_relaxed) - 1;
    // order: relaxed; a stale top only says "not empty", and then the careful way decides
    if (top_.load(std::memory_order_relaxed) > last) return nullptr;
    // order: seq_cst, pairs with steal_bottom (D3)
    bottom_.store(last, base::order<Atomics, deque_order::pop_bottom>(std::memory_order_seq_cst));
    // order: seq_cst, pairs with steal_win (D3)
    std::int64_t top =
        top_.load(base::order<Atomics, deque_order::pop_top>(std::memory_order_seq_cst));
    // order: relaxed; the owner wrote it
    T* item =
        cells_[static_cast<std::size_t>(last & (capacity_ - 1))].load(std::memory_order_relaxed);
    if (top < last) return item;
    if (top > last) {
      item = nullptr;
      // order: relaxed both ways: the swap decides which thread has the last one, and the item's
      // content is the owner's own. A thief that sees the new top sees the new bottom too, by
      // pop_top before steal_top (D3)
    } else if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
      item = nullptr;
    }
    // order: relaxed; the deque is empty, there is nothing to publish
    bottom_.store(last + 1, std::memory_order_relaxed);
    return item;
  }

  /// The outcome of a theft.
  enum class steal_result : std::uint8_t {
    taken,  ///< an item
    empty,  ///< there was none
    lost,   ///< another thread was faster; another try may succeed
  };

  /// For any thread: removes the oldest item and stores it in `item`. Returns the outcome; only
  /// after `taken` is `item` valid.
  [[nodiscard]] steal_result steal(T*& item) noexcept {
    // order: seq_cst, pairs with steal_win, before steal_bottom (D3)
    std::int64_t top =
        top_.load(base::order<Atomics, deque_order::steal_top>(std::memory_order_seq_cst));
    // order: seq_cst, pairs with pop_bottom (D3) and with push_bottom (the cell's content)
    const std::int64_t bottom =
        bottom_.load(base::order<Atomics, deque_order::steal_bottom>(std::memory_order_seq_cst));
    if (top >= bottom) return steal_result::empty;
    // order: acquire, pairs with grow_buffer: the new array's cells
    const buffer* from =
        buffer_.load(base::order<Atomics, deque_order::steal_buffer>(std::memory_order_acquire));
    // order: relaxed; the compare-and-swap confirms it (D4)
    item = from->cells[static_cast<std::size_t>(top & (from->capacity - 1))].load(
        std::memory_order_relaxed);
    // order: seq_cst, pairs with pop_top and push_top; relaxed on failure, the item is dropped
    if (!top_.compare_exchange_strong(
            top, top + 1, base::order<Atomics, deque_order::steal_win>(std::memory_order_seq_cst),
            std::memory_order_relaxed)) {
      return steal_result::lost;
    }
    return steal_result::taken;
  }

  /// For any thread: removes and returns the oldest item, and tries again when another thread was
  /// faster. Returns null if there was none.
  [[nodiscard]] T* steal_oldest() noexcept {
    T* item = nullptr;
    for (;;) {
      const steal_result result = steal(item);
      if (result == steal_result::taken) return item;
      if (result == steal_result::empty) return nullptr;
    }
  }

  /// For any thread: returns true if there was nothing at some moment of the call. Part of the
  /// sleeping protocol (sleepers.hpp, S4).
  [[nodiscard]] bool looks_empty() const noexcept { return size() == 0; }

  /// For any thread: returns the number of items at some moment of the call, roughly.
  [[nodiscard, gnu::hot]] std::size_t size() const noexcept {
    // order: relaxed both, after the sleeper's fence (sleepers.hpp, S4)
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
  }

  /// For the owner: returns true if there is nothing. May be late, if a thief takes the last one.
  [[nodiscard]] bool empty_for_owner() const noexcept {
    // order: relaxed both; the owner's own bottom, and a top that can only make it emptier
    return top_.load(std::memory_order_relaxed) >= bottom_.load(std::memory_order_relaxed);
  }

 private:
  using cell = typename Atomics::template atomic<T*>;

  struct buffer {
    std::int64_t capacity;
    buffer* older;
    std::unique_ptr<cell[]> cells;
  };

  static buffer* new_buffer(std::size_t capacity, buffer* older) {
    std::size_t rounded = 2;
    while (rounded < capacity) rounded *= 2;
    auto cells = std::make_unique<cell[]>(rounded);
    return new buffer{static_cast<std::int64_t>(rounded), older, std::move(cells)};
  }

  void install(buffer* fresh) noexcept {
    capacity_ = fresh->capacity;
    cells_ = fresh->cells.get();
    // order: release, pairs with steal_buffer: a thief that sees the array sees its cells
    buffer_.store(fresh, base::order<Atomics, deque_order::grow_buffer>(std::memory_order_release));
  }

  void make_room(std::int64_t bottom) noexcept {
    // order: acquire, pairs with steal_win: the thief has read its cell before the owner overwrites
    // it (D4)
    known_top_ = top_.load(base::order<Atomics, deque_order::push_top>(std::memory_order_acquire));
    if (bottom - known_top_ < capacity_) return;
    // order: relaxed; only the owner writes it
    buffer* old = buffer_.load(std::memory_order_relaxed);
    buffer* fresh = nullptr;
    try {
      fresh = new_buffer(static_cast<std::size_t>(capacity_) * 2, old);
    } catch (const std::bad_alloc&) {  // the item can go nowhere else, and it must not be lost
      base::out_of_memory("a worker's queue of actors that are ready to run cannot grow");
    }
    for (std::int64_t i = known_top_; i < bottom; ++i) {
      const auto from = static_cast<std::size_t>(i & (old->capacity - 1));
      const auto to = static_cast<std::size_t>(i & (fresh->capacity - 1));
      // order: relaxed both; published by grow_buffer
      fresh->cells[to].store(old->cells[from].load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
    }
    install(fresh);
  }

  // owner only
  /// a lower bound of top_, so that a push does not touch the thieves' line
  alignas(64) std::int64_t known_top_ = 0;
  std::int64_t capacity_ = 0;
  cell* cells_ = nullptr;
  // written by the owner, read by thieves
  typename Atomics::template atomic<std::int64_t> bottom_{0};
  typename Atomics::template atomic<buffer*> buffer_{nullptr};
  // written by thieves
  alignas(64) typename Atomics::template atomic<std::int64_t> top_{0};
};

}  // namespace garrick::sched
