// The source of the block pool's memory: regions, mapped from the system and cut into spans, each
// of which serves one size class at a time.
//
// Blocks of one size lie together, so that a burst of one size leaves whole spans free, which then
// serve another size or go back to the system. The span of a block follows from its address: a
// region is 2 MiB, aligned to its size, and begins with the descriptions of its spans.
//
// Thread safety: any thread; a mutex. A taken span belongs to its taker; the lock of the size class
// that it serves guards its fields.
//
// Invariants:
// R1 Each span is in use, idle (free, and its memory is still there), on its way back to the
//    system, or bare (the system has its memory). `idle` and `bare` of its region record it.
// R2 A region is in the list `warm_` if one of its spans is idle, else in `cold_` if one is bare,
//    else in neither.
// R3 Address space is never unmapped: a span goes back by telling the system that its content is no
//    longer needed.
// (The model checker runs this: span_source.model.cpp.)
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include "garrick/base/concurrency/atomics_policy.hpp"

namespace garrick::base::block_pool::detail {

struct free_block;

/// The description of a span.
struct span {
  free_block* free;  // blocks that are not in use and that no thread keeps
  span* next;        // in its class's list of spans with such blocks
  span* before;
  std::uint16_t free_count;
  std::uint16_t cut;       // blocks that have been cut from it so far
  std::uint16_t capacity;  // blocks that it can hold
};

struct region {
  static constexpr std::size_t bytes = std::size_t{2} << 20;
  static constexpr std::size_t span_bytes = std::size_t{24} << 10;
  static constexpr std::size_t head_bytes = std::size_t{8} << 10;
  static constexpr std::size_t alignment = 64;  // of every block
  static constexpr std::size_t span_count = (bytes - head_bytes) / span_bytes;
  using span_set = std::array<std::uint64_t, 2>;

  span spans[span_count];
  region* next;  // in the source's list
  region* before;
  span_set idle;
  span_set bare;

  [[nodiscard]] static region& of(const void* inside) noexcept {
    return *reinterpret_cast<region*>(reinterpret_cast<std::uintptr_t>(inside) & ~(bytes - 1));
  }
  [[nodiscard]] static span& span_of(const void* block) noexcept {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) & (bytes - 1);
    return of(block).spans[offset < head_bytes ? 0 : (offset - head_bytes) / span_bytes];
  }
  /// Returns the beginning of span `index`. The first one also has the rest of the head.
  [[nodiscard]] char* begin_of(std::size_t index) noexcept {
    if (index != 0) return end_of(index - 1);
    return reinterpret_cast<char*>(this) + (sizeof(region) + alignment - 1) / alignment * alignment;
  }
  [[nodiscard]] char* end_of(std::size_t index) noexcept {
    return reinterpret_cast<char*>(this) + head_bytes + (index + 1) * span_bytes;
  }
};
static_assert(region::span_count <= 128);
static_assert(sizeof(region) <= region::head_bytes - region::alignment);

/// The services of the operating system, and the mutex. The model checker brings its own.
struct span_system {
  using atomics = real_atomics;
  using mutex = std::mutex;

  /// Returns address space, aligned to a region. With `huge`, the system should take large pages,
  /// which make fresh memory several times cheaper. Throws std::bad_alloc.
  [[nodiscard]] static char* map(std::size_t bytes, bool huge);
  /// Tells the system that the content of the whole pages in between is no longer needed (R3).
  static void forget(char* begin, char* end) noexcept;
};

/// The source itself. It is trivially destructible, so it works until the very end of the process.
template <class System>
class basic_span_source {
 public:
  /// Returns a span for blocks of `block_bytes`. It is an idle one, or else one with fresh memory
  /// from the system. Throws std::bad_alloc.
  [[nodiscard]] span& take(std::size_t block_bytes);
  /// Returns the place of the span's first block.
  [[nodiscard]] static char* begin_of(span& s) noexcept {
    return region::of(&s).begin_of(index_of(s));
  }
  /// Takes back a span. Requires that none of its blocks is in use or kept by a thread.
  void put(span& s) noexcept;

  /// Gives idle memory back to the system, at most `most` bytes (rounded up to a span) and only
  /// memory above the bytes to be kept. With `only_rested`, only as much as has not been in use
  /// since the last such call. Returns how much idle memory there is above the bytes to be kept.
  std::size_t give_back(std::size_t most, bool only_rested) noexcept;

  /// Sets the bytes to be kept for a new caretaker, which may be called from now on.
  void set_kept(std::size_t bytes) noexcept;
  /// Returns true once after idle memory has grown above the bytes to be kept: then a caretaker
  /// should call `give_back` until it returns 0.
  [[nodiscard]] bool wants_care() noexcept {
    // order: relaxed both; a hint, and its subject is under the mutex
    return wants_care_.load(std::memory_order_relaxed) &&
           wants_care_.exchange(false, std::memory_order_relaxed);
  }
  /// Forgets, in the child after a fork, that a caretaker was told.
  void forget_care() noexcept { cared_for_ = false; }

  struct figures {
    std::size_t mapped;  ///< address space
    std::size_t held;    ///< of it in use or idle, so that it may be resident
    std::size_t idle;
  };
  [[nodiscard]] figures now() const noexcept;

  auto& mutex() noexcept { return mutex_; }  ///< for fork

 private:
  static constexpr std::size_t first_mapping = region::bytes;
  static constexpr std::size_t largest_mapping = std::size_t{16} << 20;

  using lock_guard = std::lock_guard<typename System::mutex>;
  using unique_lock = std::unique_lock<typename System::mutex>;
  static constexpr std::size_t none = region::span_count;

  [[nodiscard]] static std::size_t index_of(const span& s) noexcept {
    return static_cast<std::size_t>(&s - region::of(&s).spans);
  }
  [[nodiscard]] static std::size_t first_of(const region::span_set& set) noexcept {
    if (set[0] != 0) return static_cast<std::size_t>(std::countr_zero(set[0]));
    if (set[1] != 0) return 64 + static_cast<std::size_t>(std::countr_zero(set[1]));
    return none;
  }
  [[nodiscard]] static bool contains(const region::span_set& set, std::size_t index) noexcept {
    return (set[index / 64] >> (index % 64) & 1) != 0;
  }
  static void flip(region::span_set& set, std::size_t index) noexcept {
    set[index / 64] ^= std::uint64_t{1} << (index % 64);
  }
  [[nodiscard]] static bool is_empty(const region::span_set& set) noexcept {
    return (set[0] | set[1]) == 0;
  }

  void map_regions();
  void make_region();
  void list(region& r) noexcept;
  void unlist(region& r) noexcept;
  void give_back_from(region& r, std::size_t most, unique_lock& lock) noexcept;

  mutable typename System::mutex mutex_;
  // under the mutex
  region* warm_ = nullptr;
  region* cold_ = nullptr;
  char* next_ = nullptr;  // mapped, and not yet a region
  char* end_ = nullptr;
  std::size_t mapping_ = first_mapping;  // bytes to map next
  std::size_t mapped_ = 0;
  std::size_t bare_ = 0;    // bytes
  std::size_t idle_ = 0;    // bytes
  std::size_t rested_ = 0;  // the least that `idle_` has been since the last call for it
  std::size_t kept_ = std::size_t{64} << 20;
  bool cared_for_ = false;  // a caretaker was told, and `give_back` has not yet returned 0

  typename System::atomics::template atomic<bool> wants_care_{false};
};

/// The product's source.
using span_source = basic_span_source<span_system>;

template <class System>
span& basic_span_source<System>::take(std::size_t block_bytes) {
  const lock_guard lock(mutex_);
  if (warm_ == nullptr && cold_ == nullptr) make_region();
  const bool is_warm = warm_ != nullptr;
  region& r = is_warm ? *warm_ : *cold_;
  region::span_set& set = is_warm ? r.idle : r.bare;
  const std::size_t index = first_of(set);
  unlist(r);
  flip(set, index);
  list(r);
  if (is_warm) {
    idle_ -= region::span_bytes;
    rested_ = std::min(rested_, idle_);
  } else {
    bare_ -= region::span_bytes;
  }
  span& s = r.spans[index];
  const auto room = static_cast<std::size_t>(r.end_of(index) - r.begin_of(index));
  s = {nullptr, nullptr, nullptr, 0, 0, static_cast<std::uint16_t>(room / block_bytes)};
  return s;
}

template <class System>
void basic_span_source<System>::put(span& s) noexcept {
  region& r = region::of(&s);
  const lock_guard lock(mutex_);
  unlist(r);
  flip(r.idle, index_of(s));
  list(r);
  idle_ += region::span_bytes;
  if (idle_ <= kept_ || cared_for_) return;
  cared_for_ = true;
  wants_care_.store(true, std::memory_order_relaxed);  // order: see wants_care
}

template <class System>
std::size_t basic_span_source<System>::give_back(std::size_t most, bool only_rested) noexcept {
  unique_lock lock(mutex_);
  const std::size_t free = only_rested ? rested_ : idle_;
  std::size_t left = std::min(most, free > kept_ ? free - kept_ : 0);
  while (left > 0 && warm_ != nullptr) {
    const std::size_t before = idle_;
    // the last region of the list is the last to be used again
    give_back_from(*warm_->before, left, lock);
    left -= std::min(left, before - std::min(before, idle_));
  }
  if (only_rested) rested_ = idle_;
  const std::size_t above = idle_ > kept_ ? idle_ - kept_ : 0;
  if (above == 0) cared_for_ = false;
  return above;
}

/// Gives back the first adjacent idle spans. Other threads may use the source meanwhile.
template <class System>
void basic_span_source<System>::give_back_from(region& r, std::size_t most,
                                               unique_lock& lock) noexcept {
  const std::size_t first = first_of(r.idle);
  std::size_t end = first;
  unlist(r);
  do flip(r.idle, end++);
  while (end < region::span_count && contains(r.idle, end) &&
         (end - first) * region::span_bytes < most);
  const std::size_t bytes = (end - first) * region::span_bytes;
  idle_ -= bytes;
  rested_ = std::min(rested_, idle_);
  list(r);
  lock.unlock();
  // the first span's part of the head shares a page with the head, and stays
  System::forget(r.end_of(first) - region::span_bytes, r.end_of(end - 1));
  lock.lock();
  unlist(r);
  for (std::size_t i = first; i < end; ++i) flip(r.bare, i);
  bare_ += bytes;
  list(r);
}

template <class System>
void basic_span_source<System>::set_kept(std::size_t bytes) noexcept {
  const lock_guard lock(mutex_);
  kept_ = bytes;
  cared_for_ = false;
  wants_care_.store(false, std::memory_order_relaxed);  // order: see wants_care
}

template <class System>
auto basic_span_source<System>::now() const noexcept -> figures {
  const lock_guard lock(mutex_);
  return {mapped_, mapped_ - bare_ - static_cast<std::size_t>(end_ - next_), idle_};
}

/// Maps room for regions: the first two calls for one region each, later calls for more. All calls
/// but the first ask for huge pages.
template <class System>
void basic_span_source<System>::map_regions() {
  next_ = System::map(mapping_, mapped_ != 0);
  end_ = next_ + mapping_;
  mapped_ += mapping_;
  if (mapped_ != first_mapping) mapping_ = std::min(mapping_ * 2, largest_mapping);
}

template <class System>
void basic_span_source<System>::make_region() {
  if (next_ == end_) map_regions();
  auto* const r = ::new (next_) region{};
  next_ += region::bytes;
  for (std::size_t i = 0; i < region::span_count; ++i) flip(r->bare, i);
  bare_ += region::span_count * region::span_bytes;
  list(*r);
}

/// R2. Puts the region in front of the list where it belongs.
template <class System>
void basic_span_source<System>::list(region& r) noexcept {
  if (is_empty(r.idle) && is_empty(r.bare)) return;
  region*& head = is_empty(r.idle) ? cold_ : warm_;
  if (head == nullptr) {
    r.next = r.before = &r;
  } else {
    r.next = head;
    r.before = head->before;
    r.before->next = r.next->before = &r;
  }
  head = &r;
}

/// R2. Takes the region out of its list, before its spans change.
template <class System>
void basic_span_source<System>::unlist(region& r) noexcept {
  if (is_empty(r.idle) && is_empty(r.bare)) return;
  region*& head = is_empty(r.idle) ? cold_ : warm_;
  r.next->before = r.before;
  r.before->next = r.next;
  if (head == &r) head = r.next == &r ? nullptr : r.next;
}

}  // namespace garrick::base::block_pool::detail
