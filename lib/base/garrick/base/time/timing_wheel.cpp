// The timing wheel's code; the header describes its structure.
#include "garrick/base/time/timing_wheel.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "garrick/base/platform/assert.hpp"

namespace garrick::base {

namespace {
// As many moves as are needed; a number that a loop can count down.
constexpr unsigned most_moves = ~0u;
}  // namespace

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

bool timing_wheel::sort_until(instant now, unsigned& moves) noexcept {
  const std::uint64_t now_tick = tick_of(now.since_beginning().count());
  for (;;) {
    if (!spread(moves)) return false;
    if (heap_size_ != 0) return true;
    const unsigned level = lowest_level();
    const unsigned index =
        level < level_count ? static_cast<unsigned>(std::countr_zero(occupied_[level])) : 0;
    if (level == level_count || first_tick_of(level, index) > now_tick) {
      // W2: every occupied slot begins later than now, so the wheel passes none of them.
      tick_ = std::max(tick_, now_tick);
      return true;
    }
    open_slot(level, index);
  }
}

bool timing_wheel::pop(instant now, expired& out) noexcept {
  for (unsigned moves = most_moves; !sort_until(now, moves);) moves = most_moves;
  if (heap_size_ == 0) return false;
  const std::uint32_t first = heap_at(0);
  node& timer = at(first);
  if (timer.deadline > now.since_beginning().count()) return false;
  out = {instant::at(duration::nanoseconds(timer.deadline)), timer.task};
  heap_remove(0);
  free_node(first);
  return true;
}

bool timing_wheel::pop_any(timer_task& out) noexcept {
  std::uint32_t index = none;
  if (heap_size_ != 0)
    index = heap_at(0);
  else if (const unsigned level = lowest_level(); level < level_count)
    index = slots_[level * slot_count + static_cast<unsigned>(std::countr_zero(occupied_[level]))];
  if (index == none) return false;
  const node& n = at(index);
  return cancel({index, n.generation}, &out);
}

timing_wheel::look timing_wheel::look_ahead() const noexcept {
  std::int64_t in_heap_first = std::numeric_limits<std::int64_t>::max();
  if (heap_size_ != 0) in_heap_first = at(heap_at(0)).deadline;
  if (opening_ != none) {
    const auto begin = static_cast<std::int64_t>(tick_ << tick_bits);
    return {instant::at(duration::nanoseconds(std::min(begin, in_heap_first))), false};
  }
  if (heap_size_ != 0) return {instant::at(duration::nanoseconds(in_heap_first)), true};
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
    if (opening_ == none) {
      const unsigned level = lowest_level();
      open_slot(level, static_cast<unsigned>(std::countr_zero(occupied_[level])));
    }
    for (unsigned moves = most_moves; !spread(moves);) moves = most_moves;
  }
}

// --- nodes ---

std::uint32_t timing_wheel::take_node() {
  if (free_ == none) {
    constexpr std::uint32_t size = 1u << chunk_bits;
    const auto base = static_cast<std::uint32_t>(chunks_.size()) << chunk_bits;
    GARRICK_ASSERT(base < in_heap - size, "over four billion timers are armed at once");
    chunks_.push_back(std::make_unique<chunk>());
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
  if (timer.next == none) mark_empty(timer.slot);
}

void timing_wheel::mark_empty(unsigned slot) noexcept {
  occupied_[slot / slot_count] &= ~(std::uint64_t{1} << (slot % slot_count));
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

/// Moves the wheel to the beginning of a slot. Its timers are still to be spread.
void timing_wheel::open_slot(unsigned level, unsigned index) noexcept {
  tick_ = first_tick_of(level, index);
  opening_ = level * slot_count + index;
}

/// Spreads timers of the slot that is being opened over lower levels and the heap. Returns false if
/// it holds more of them than `moves`. The rest stays a proper list, so its timers can be
/// cancelled.
bool timing_wheel::spread(unsigned& moves) noexcept {
  if (opening_ == none) return true;
  std::uint32_t timer = slots_[opening_];
  for (; timer != none && moves > 0; --moves) {
    const std::uint32_t next = at(timer).next;
    place(timer);
    timer = next;
  }
  slots_[opening_] = timer;
  if (timer != none) {
    at(timer).before = none;
    return false;
  }
  mark_empty(opening_);
  opening_ = none;
  return true;
}

// --- the heap of the current tick ---

bool timing_wheel::earlier(std::uint32_t a, std::uint32_t b) const noexcept {
  const node& x = at(a);
  const node& y = at(b);
  return x.deadline != y.deadline ? x.deadline < y.deadline : x.sequence < y.sequence;
}

void timing_wheel::heap_push(std::uint32_t index) noexcept {
  const std::uint32_t position = heap_size_++;
  heap_at(position) = index;
  node& timer = at(index);
  timer.slot = in_heap;
  timer.before = position;
  sift_up(position);
}

void timing_wheel::heap_remove(std::uint32_t position) noexcept {
  const std::uint32_t last = heap_at(--heap_size_);
  if (position == heap_size_) return;
  heap_at(position) = last;
  at(last).before = position;
  sift_up(position);
  sift_down(at(last).before);
}

void timing_wheel::sift_up(std::uint32_t position) noexcept {
  const std::uint32_t moving = heap_at(position);
  while (position > 0) {
    const std::uint32_t parent = (position - 1) / 2;
    if (!earlier(moving, heap_at(parent))) break;
    heap_at(position) = heap_at(parent);
    at(heap_at(position)).before = position;
    position = parent;
  }
  heap_at(position) = moving;
  at(moving).before = position;
}

void timing_wheel::sift_down(std::uint32_t position) noexcept {
  const std::uint32_t moving = heap_at(position);
  const std::uint32_t size = heap_size_;
  for (;;) {
    std::uint32_t child = position * 2 + 1;
    if (child >= size) break;
    if (child + 1 < size && earlier(heap_at(child + 1), heap_at(child))) ++child;
    if (!earlier(heap_at(child), moving)) break;
    heap_at(position) = heap_at(child);
    at(heap_at(position)).before = position;
    position = child;
  }
  heap_at(position) = moving;
  at(moving).before = position;
}

}  // namespace garrick::base
