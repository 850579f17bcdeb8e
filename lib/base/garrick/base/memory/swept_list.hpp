// A list whose entries end by themselves, at any time and on any thread, and are taken out later.
//
// Problem: an actor lists the timers that it has set. A timer that fires does not tell the actor,
// so its record stays in the list until it is looked at. To look at all of them at once, whenever
// the list has doubled, costs a constant time on average, but one call of many milliseconds with a
// million timers. So each `add` looks at a few entries, and goes on where the last one stopped.
//
// Thread safety: the owner's thread, except `T::active()`, which may turn false on another thread.
//
// Invariants, which hold between any two calls:
// S1 `add` looks at no more than `most_looked_at` entries, and `remove` at none but its own.
// S2 `next_look_` is an entry of the list, or null where a pass has ended. A pass visits all
//    entries that were listed when it began: entries that are added meanwhile lie in front of it.
// S3 The list has at most twice as many entries as were ever active at once, plus `swept_from`. The
//    reason: a pass over n entries takes n / 3 calls of `add`, which add n / 3 entries. Of the n
//    entries, only those remain that were active when the pass began.
#pragma once

#include <cstdint>

namespace garrick::base {

template <class T>
class swept_list;

/// The base class of an entry of a `swept_list`. An entry is in one list at most.
template <class T>
class swept_entry {
 public:
  /// Returns true if it is in a list.
  [[nodiscard]] bool listed() const noexcept { return slot_ != nullptr; }
  /// Returns the entry behind this one, which was added before it; null if there is none.
  [[nodiscard]] T* next_listed() const noexcept { return next_; }

 private:
  friend swept_list<T>;
  T* next_ = nullptr;
  T** slot_ = nullptr;  // the pointer to this entry; null: not listed
};

/// The list, newest first. It owns nothing. T derives from `swept_entry<T>` and has `bool active()
/// const noexcept`, which is false for good once it is false.
template <class T>
class swept_list {
 public:
  static constexpr unsigned most_looked_at = 3;    ///< entries, by one `add`
  static constexpr std::uint32_t swept_from = 16;  ///< a shorter list is left alone

  /// Lists `x`, which must not be listed. Takes out entries that it finds inactive, and calls
  /// `drop(entry)` for each; `drop` may destroy the entry, and must not use the list.
  template <class Drop>
  void add(T& x, Drop drop) noexcept {
    if (size_ >= swept_from) sweep(drop);
    x.next_ = first_;
    x.slot_ = &first_;
    if (first_ != nullptr) first_->slot_ = &x.next_;
    first_ = &x;
    ++size_;
  }

  /// Takes out `x`, which must be in this list.
  void remove(T& x) noexcept {
    if (next_look_ == &x) next_look_ = x.next_;  // S2
    *x.slot_ = x.next_;
    if (x.next_ != nullptr) x.next_->slot_ = x.slot_;
    x.next_ = nullptr;
    x.slot_ = nullptr;
    --size_;
  }

  /// Returns the newest entry; null if there is none.
  [[nodiscard]] T* first() const noexcept { return first_; }
  /// Returns the number of entries, including inactive ones.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  template <class Drop>
  void sweep(Drop& drop) noexcept {
    if (next_look_ == nullptr) next_look_ = first_;
    for (unsigned looks = 0; looks < most_looked_at && next_look_ != nullptr; ++looks) {
      T& x = *next_look_;
      next_look_ = x.next_;
      if (x.active()) continue;
      remove(x);
      drop(x);
    }
  }

  T* first_ = nullptr;
  T* next_look_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace garrick::base
