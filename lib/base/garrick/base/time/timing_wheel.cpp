// The timing wheel's moving parts; the picture is in the header.
#include "garrick/base/time/timing_wheel.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "garrick/base/platform/assert.hpp"

namespace garrick::base {

timing_wheel::timing_wheel(instant now) noexcept : tick_(tick_of(now.since_beginning().count())) {
  std::ranges::fill(slots_, none);
}

timer_id timing_wheel::arm(instant deadline, const timer_task& task) {
  if (deadline.is_never()) return {};
  const std::uint32_t index = take_node();
  node& timer = at(index);
  timer.task = task;
  timer.deadline = deadline.since_beginning().count();
  timer.sequence = sequence_++;
  ++timer.generation;
  ++size_;
  place(index);
  return {index, timer.generation};
}

bool timing_wheel::cancel(timer_id id, timer_task* task) noexcept {
  if (!id || (id.index >> chunk_bits) >= chunks_.size()) return false;
  node& timer = at(id.index);
  if (timer.generation != id.generation || timer.generation % 2 == 0) return false;  // W3
  if (task != nullptr) *task = timer.task;
  if (timer.slot == in_heap)
    heap_remove(timer.before);
  else
    unlink(id.index);
  free_node(id.index);
  return true;
}

bool timing_wheel::pop(instant now, expired& out) {
  const std::int64_t now_ns = now.since_beginning().count();
  const std::uint64_t now_tick = tick_of(now_ns);
  while (heap_.empty()) {
    const unsigned level = lowest_level();
    const unsigned index =
        level < level_count ? static_cast<unsigned>(std::countr_zero(occupied_[level])) : 0;
    if (level == level_count || first_tick_of(level, index) > now_tick) {
      // W2: every occupied slot begins later than now, so no digit of it is passed.
      tick_ = std::max(tick_, now_tick);
      return false;
    }
    open_slot(level, index);
  }
  const std::uint32_t first = heap_.front();
  node& timer = at(first);
  if (timer.deadline > now_ns) return false;
  out = {instant::at(duration::nanoseconds(timer.deadline)), timer.task};
  heap_remove(0);
  free_node(first);
  return true;
}

bool timing_wheel::pop_any(timer_task& out) noexcept {
  std::uint32_t index = none;
  if (!heap_.empty())
    index = heap_.front();
  else if (const unsigned level = lowest_level(); level < level_count)
    index = slots_[level * slot_count + static_cast<unsigned>(std::countr_zero(occupied_[level]))];
  if (index == none) return false;
  const node& n = at(index);
  return cancel({index, n.generation}, &out);
}

timing_wheel::look timing_wheel::look_ahead() const noexcept {
  if (!heap_.empty()) return {instant::at(duration::nanoseconds(at(heap_.front()).deadline)), true};
  const unsigned level = lowest_level();
  if (level == level_count) return {instant::never(), true};
  const auto index = static_cast<unsigned>(std::countr_zero(occupied_[level]));
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  unsigned looked_at = 0;
  for (std::uint32_t timer = slots_[level * slot_count + index]; timer != none;
       timer = at(timer).next) {
    if (++looked_at > most_looked_at) {
      const auto begin = static_cast<std::int64_t>(first_tick_of(level, index) << tick_bits);
      return {instant::at(duration::nanoseconds(begin)), false};
    }
    first = std::min(first, at(timer).deadline);
  }
  return {instant::at(duration::nanoseconds(first)), true};
}

instant timing_wheel::first_deadline() noexcept {
  for (;;) {
    const look ahead = look_ahead();
    if (ahead.exact) return ahead.when;
    const unsigned level = lowest_level();
    open_slot(level, static_cast<unsigned>(std::countr_zero(occupied_[level])));
  }
}

// --- nodes ---

std::uint32_t timing_wheel::take_node() {
  if (free_ == none) {
    constexpr std::uint32_t size = 1u << chunk_bits;
    const auto base = static_cast<std::uint32_t>(chunks_.size()) << chunk_bits;
    GARRICK_ASSERT(base < in_heap - size, "over four billion timers are armed at once");
    const std::size_t nodes = std::size_t{base} + size;
    if (heap_.capacity() < nodes) heap_.reserve(std::max(heap_.capacity() * 2, nodes));
    chunks_.push_back(std::make_unique<node[]>(size));
    for (std::uint32_t i = size; i-- > 0;) {
      at(base + i).next = free_;
      free_ = base + i;
    }
  }
  const std::uint32_t index = free_;
  free_ = at(index).next;
  return index;
}

void timing_wheel::free_node(std::uint32_t index) noexcept {
  node& n = at(index);
  ++n.generation;  // W3; it wraps from odd to zero, which no id carries
  n.next = free_;
  free_ = index;
  --size_;
}

// --- slots ---

void timing_wheel::place(std::uint32_t index) noexcept {
  const std::uint64_t tick = tick_of(at(index).deadline);
  if (tick <= tick_) return heap_push(index);  // W1
  const auto level = static_cast<unsigned>(63 - std::countl_zero(tick ^ tick_)) / digit_bits;
  const auto digit = static_cast<unsigned>(tick >> (level * digit_bits)) % slot_count;
  link(index, level * slot_count + digit);
}

void timing_wheel::link(std::uint32_t index, std::uint32_t slot) noexcept {
  node& timer = at(index);
  timer.slot = slot;
  timer.before = none;
  timer.next = slots_[slot];
  if (timer.next != none) at(timer.next).before = index;
  slots_[slot] = index;
  occupied_[slot / slot_count] |= std::uint64_t{1} << (slot % slot_count);
}

void timing_wheel::unlink(std::uint32_t index) noexcept {
  const node& timer = at(index);
  if (timer.next != none) at(timer.next).before = timer.before;
  if (timer.before != none) {
    at(timer.before).next = timer.next;
    return;
  }
  slots_[timer.slot] = timer.next;
  if (timer.next == none)
    occupied_[timer.slot / slot_count] &= ~(std::uint64_t{1} << (timer.slot % slot_count));
}

unsigned timing_wheel::lowest_level() const noexcept {
  unsigned level = 0;
  while (level < level_count && occupied_[level] == 0) ++level;
  return level;
}

std::uint64_t timing_wheel::first_tick_of(unsigned level, unsigned index) const noexcept {
  const unsigned shift = level * digit_bits;
  // W2: a timer in this level agrees with the wheel's tick in all higher digits
  const std::uint64_t higher = tick_ >> shift >> digit_bits << digit_bits;
  return (higher | index) << shift;
}

/// Moves the wheel to the beginning of a slot and spreads the slot's timers over lower levels and
/// the heap.
void timing_wheel::open_slot(unsigned level, unsigned index) noexcept {
  tick_ = first_tick_of(level, index);
  const unsigned slot = level * slot_count + index;
  std::uint32_t timer = slots_[slot];
  slots_[slot] = none;
  occupied_[level] &= ~(std::uint64_t{1} << index);
  while (timer != none) {
    const std::uint32_t next = at(timer).next;
    place(timer);
    timer = next;
  }
}

// --- the heap of the current tick ---

bool timing_wheel::earlier(std::uint32_t a, std::uint32_t b) const noexcept {
  const node& x = at(a);
  const node& y = at(b);
  return x.deadline != y.deadline ? x.deadline < y.deadline : x.sequence < y.sequence;
}

void timing_wheel::heap_push(std::uint32_t index) noexcept {
  heap_.push_back(index);
  at(index).slot = in_heap;
  at(index).before = static_cast<std::uint32_t>(heap_.size() - 1);
  sift_up(at(index).before);
}

void timing_wheel::heap_remove(std::uint32_t position) noexcept {
  const std::uint32_t last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  heap_[position] = last;
  at(last).before = position;
  sift_up(position);
  sift_down(at(last).before);
}

void timing_wheel::sift_up(std::uint32_t position) noexcept {
  const std::uint32_t moving = heap_[position];
  while (position > 0) {
    const std::uint32_t parent = (position - 1) / 2;
    if (!earlier(moving, heap_[parent])) break;
    heap_[position] = heap_[parent];
    at(heap_[position]).before = position;
    position = parent;
  }
  heap_[position] = moving;
  at(moving).before = position;
}

void timing_wheel::sift_down(std::uint32_t position) noexcept {
  const std::uint32_t moving = heap_[position];
  const auto size = static_cast<std::uint32_t>(heap_.size());
  for (;;) {
    std::uint32_t child = position * 2 + 1;
    if (child >= size) break;
    if (child + 1 < size && earlier(heap_[child + 1], heap_[child])) ++child;
    if (!earlier(heap_[child], moving)) break;
    heap_[position] = heap_[child];
    at(heap_[position]).before = position;
    position = child;
  }
  heap_[position] = moving;
  at(moving).before = position;
}

}  // namespace garrick::base
