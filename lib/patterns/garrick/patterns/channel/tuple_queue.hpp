// A queue for tuples that found no room in a channel, first in, first out. It grows and shrinks by
// blocks, so no tuple is moved while it is in the queue. A queue without tuples has at most one
// block, and no memory if it has never had a tuple.
//
// Private: installed because templates need it.
//
// Thread safety: none.
#pragma once

#include <garrick/patterns/channel/tuple_type.hpp>

#include <cstddef>

namespace garrick::patterns::detail {

/// A queue of tuples. Only its ends know their type.
class tuple_queue {
 public:
  explicit tuple_queue(const tuple_type& of) noexcept : type_(of) {}
  ~tuple_queue() { clear(); }
  tuple_queue(const tuple_queue&) = delete;
  tuple_queue& operator=(const tuple_queue&) = delete;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the oldest tuple. Requires that there is one.
  [[nodiscard]] void* front() const noexcept;
  /// Moves `tuple` behind the newest. Throws std::bad_alloc, and then `tuple` is as before.
  void push_back(void* tuple);
  /// Destroys the oldest.
  void pop_front() noexcept;
  /// Destroys the newest.
  void pop_back() noexcept;
  void clear() noexcept;
  /// Returns how many of the items are tuples.
  [[nodiscard]] std::size_t tuples() const noexcept;

 private:
  struct block;
  [[nodiscard]] void* slot(block& of, std::size_t i) const noexcept;
  void drop(block* b) noexcept;
  void free_block(block* b) noexcept;

  const tuple_type& type_;
  block* first_ = nullptr;
  block* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace garrick::patterns::detail
