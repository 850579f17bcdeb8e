// The list in which a system keeps its actors: linked through the cells themselves, so listing one
// allocates nothing.
//
// Private: installed because system_core.hpp needs it.
//
// Thread safety: none; the list's owner guards it. A cell is in one list at a time.
#pragma once

#include <garrick/core/cell/cell.hpp>

#include <cstdint>

namespace garrick::core {

/// A doubly linked list of cells, the latest addition first.
class cell_list {
 public:
  /// Puts `who` in front. `shard` is the list's own number, for `shard_of`.
  void add(cell& who, std::uint8_t shard) noexcept {
    who.shard_ = shard;
    who.list_prev_ = nullptr;
    who.list_next_ = first_;
    if (first_ != nullptr) first_->list_prev_ = &who;
    first_ = &who;
  }
  /// Requires that `who` is in this list.
  void remove(cell& who) noexcept {
    cell* const prev = who.list_prev_;
    cell* const next = who.list_next_;
    (prev != nullptr ? prev->list_next_ : first_) = next;
    if (next != nullptr) next->list_prev_ = prev;
  }
  /// Calls `f` with each cell, the latest addition first.
  template <class F>
  void for_each(F f) const {
    for (cell* c = first_; c != nullptr; c = c->list_next_) f(*c);
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  /// The number of the list that `who` was added to. It never changes after that, so any thread
  /// may ask.
  [[nodiscard]] static std::uint8_t shard_of(const cell& who) noexcept { return who.shard_; }

 private:
  cell* first_ = nullptr;
};

}  // namespace garrick::core
