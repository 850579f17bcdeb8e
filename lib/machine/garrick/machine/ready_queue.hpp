// Threads by the time at which they go on: a binary heap that knows where each thread stands, so
// that one can be moved or taken out.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace garrick::machine {

class ready_queue {
 public:
  using time = std::uint64_t;
  static constexpr time never = std::numeric_limits<time>::max();

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::uint32_t first() const noexcept { return heap_[0].thread; }
  [[nodiscard]] time first_time() const noexcept { return heap_[0].at; }
  /// The time of the one after the first.
  [[nodiscard]] time second_time() const noexcept {
    const time left = heap_.size() > 1 ? heap_[1].at : never;
    return heap_.size() > 2 && heap_[2].at < left ? heap_[2].at : left;
  }
  [[nodiscard]] bool contains(std::uint32_t thread) const noexcept {
    return thread < where_.size() && where_[thread] != nowhere;
  }

  /// Adds the thread, or moves it.
  void put(std::uint32_t thread, time at) {
    if (thread >= where_.size()) where_.resize(thread + 1, nowhere);
    std::size_t i = where_[thread];
    if (i == nowhere) {
      i = heap_.size();
      heap_.push_back({at, thread});
      where_[thread] = i;
    }
    heap_[i].at = at;
    down(up(i));
  }
  void remove(std::uint32_t thread) noexcept {
    const std::size_t i = where_[thread];
    where_[thread] = nowhere;
    const entry last = heap_.back();
    heap_.pop_back();
    if (i == heap_.size()) return;
    place(i, last);
    down(up(i));
  }

 private:
  struct entry {
    time at;
    std::uint32_t thread;
    /// Equal times go by thread number.
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
    const entry e = heap_[i];
    while (i != 0 && e.before(heap_[(i - 1) / 2])) {
      place(i, heap_[(i - 1) / 2]);
      i = (i - 1) / 2;
    }
    place(i, e);
    return i;
  }
  void down(std::size_t i) noexcept {
    const entry e = heap_[i];
    for (;;) {
      std::size_t child = 2 * i + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
      if (!heap_[child].before(e)) break;
      place(i, heap_[child]);
      i = child;
    }
    place(i, e);
  }

  std::vector<entry> heap_;
  std::vector<std::size_t> where_;
};

}  // namespace garrick::machine
