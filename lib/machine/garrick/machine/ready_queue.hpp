// Threads by the time at which they continue: a binary heap that knows the place of each thread, so
// that a thread can be moved or taken out.
//
// Thread safety: none; one owner.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace garrick::machine {

/// The simulated threads that will continue by themselves, the earliest first, and of equal times
/// the smallest number first.
class ready_queue {
 public:
  using time = std::uint64_t;                                      ///< picoseconds
  static constexpr time never = std::numeric_limits<time>::max();  ///< later than any other

  /// Returns true if no thread is in the queue.
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// Returns the thread that continues first. Requires a thread in the queue.
  [[nodiscard]] std::uint32_t first() const noexcept { return heap_[0].thread; }
  /// Returns the time at which the first thread continues. Requires a thread in the queue.
  [[nodiscard]] time first_time() const noexcept { return heap_[0].at; }
  /// Returns the time at which the second thread continues; `never` if there is none.
  [[nodiscard]] time second_time() const noexcept {
    const time left = heap_.size() > 1 ? heap_[1].at : never;
    return heap_.size() > 2 && heap_[2].at < left ? heap_[2].at : left;
  }
  /// Returns true if this thread is in the queue.
  [[nodiscard]] bool contains(std::uint32_t thread) const noexcept {
    return thread < where_.size() && where_[thread] != nowhere;
  }

  /// Returns the time at which this thread continues. Requires `contains(thread)`.
  [[nodiscard]] time time_of(std::uint32_t thread) const noexcept {
    return heap_[where_[thread]].at;
  }

  /// Adds the thread, or moves it to another time. Costs the logarithm of the queue's size.
  void put(std::uint32_t thread, time at) {
    if (thread >= where_.size()) where_.resize(thread + 1, nowhere);
    std::size_t position = where_[thread];
    if (position == nowhere) {
      position = heap_.size();
      heap_.push_back({at, thread});
      where_[thread] = position;
    }
    heap_[position].at = at;
    down(up(position));
  }
  /// Takes the thread out. Requires `contains(thread)`.
  void remove(std::uint32_t thread) noexcept {
    const std::size_t hole = where_[thread];
    where_[thread] = nowhere;
    const entry last = heap_.back();
    heap_.pop_back();
    if (hole == heap_.size()) return;
    place(hole, last);
    down(up(hole));
  }

 private:
  struct entry {
    time at;
    std::uint32_t thread;
    /// Returns true if this entry is the earlier one; entries with equal times are ordered by
    /// thread number.
    [[nodiscard]] bool before(const entry& other) const noexcept {
      return at != other.at ? at < other.at : thread < other.thread;
    }
  };
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

  void place(std::size_t i, entry e) noexcept {
    heap_[i] = e;
    where_[e.thread] = i;
  }
  std::size_t up(std::size_t i) noexcept {
    const entry moving = heap_[i];
    while (i != 0 && moving.before(heap_[(i - 1) / 2])) {
      place(i, heap_[(i - 1) / 2]);
      i = (i - 1) / 2;
    }
    place(i, moving);
    return i;
  }
  void down(std::size_t i) noexcept {
    const entry moving = heap_[i];
    for (;;) {
      std::size_t child = 2 * i + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
      if (!heap_[child].before(moving)) break;
      place(i, heap_[child]);
      i = child;
    }
    place(i, moving);
  }

  std::vector<entry> heap_;
  std::vector<std::size_t> where_;
};

}  // namespace garrick::machine
