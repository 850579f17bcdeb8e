#include <garrick/patterns/channel/tuple_queue.hpp>

#include <algorithm>
#include <new>

namespace garrick::patterns::detail {

/// A block. Its slots lie behind it; the slots from `begin` to before `end` hold tuples.
struct tuple_queue::block {
  block* next = nullptr;
  block* before = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

namespace {

[[nodiscard]] std::size_t slots_of_a_block(const tuple_type& type) noexcept {
  return std::max<std::size_t>(1, 1024 / type.size);
}
[[nodiscard]] std::size_t alignment_of_a_block(const tuple_type& type) noexcept {
  return std::max(type.alignment, alignof(std::max_align_t));
}
/// Returns the distance of the slots from the beginning of a block.
[[nodiscard]] std::size_t behind(std::size_t head, const tuple_type& type) noexcept {
  return (head + type.alignment - 1) / type.alignment * type.alignment;
}

}  // namespace

void* tuple_queue::slot(block& of, std::size_t i) const noexcept {
  return reinterpret_cast<std::byte*>(&of) + behind(sizeof(block), type_) + i * type_.size;
}

void* tuple_queue::front() const noexcept { return slot(*first_, first_->begin); }

void tuple_queue::push_back(void* tuple) {
  const std::size_t most = slots_of_a_block(type_);
  if (last_ == nullptr || last_->end == most) {
    void* const memory = ::operator new(behind(sizeof(block), type_) + most * type_.size,
                                        std::align_val_t{alignment_of_a_block(type_)});
    auto* const made = ::new (memory) block{.before = last_};
    (last_ == nullptr ? first_ : last_->next) = made;
    last_ = made;
  }
  type_.move_one(slot(*last_, last_->end), tuple);
  ++last_->end;
  ++size_;
}

void tuple_queue::pop_front() noexcept {
  type_.destroy_some(front(), 1);
  --size_;
  if (++first_->begin == first_->end) drop(first_);
}

void tuple_queue::pop_back() noexcept {
  type_.destroy_some(slot(*last_, last_->end - 1), 1);
  --size_;
  if (--last_->end == last_->begin) drop(last_);
}

void tuple_queue::clear() noexcept {
  while (first_ != nullptr) {
    block* const b = first_;
    type_.destroy_some(slot(*b, b->begin), b->end - b->begin);
    first_ = b->next;
    free_block(b);
  }
  last_ = nullptr;
  size_ = 0;
}

std::size_t tuple_queue::tuples() const noexcept {
  std::size_t n = 0;
  for (block* b = first_; b != nullptr; b = b->next)
    n += type_.tuples_among(slot(*b, b->begin), b->end - b->begin);
  return n;
}

/// Drops the first or the last block, which must be empty. The queue keeps its only block: the next
/// tuple without room comes soon.
void tuple_queue::drop(block* b) noexcept {
  if (first_ == last_) {
    b->begin = b->end = 0;
    return;
  }
  (b->before == nullptr ? first_ : b->before->next) = b->next;
  (b->next == nullptr ? last_ : b->next->before) = b->before;
  free_block(b);
}

void tuple_queue::free_block(block* b) noexcept {
  ::operator delete(static_cast<void*>(b), std::align_val_t{alignment_of_a_block(type_)});
}

}  // namespace garrick::patterns::detail
