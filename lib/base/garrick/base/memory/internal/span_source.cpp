// Mapping, and which span comes next.
#include "garrick/base/memory/internal/span_source.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>

// Present only under LeakSanitizer: tells it that blocks may hold the last pointer to heap memory.
extern "C" [[gnu::weak]] void __lsan_register_root_region(const void* begin, std::size_t size);

namespace garrick::base::block_pool::detail {

namespace {

constexpr std::size_t none = region::span_count;

[[nodiscard]] std::size_t first_of(const region::span_set& set) noexcept {
  if (set[0] != 0) return static_cast<std::size_t>(std::countr_zero(set[0]));
  if (set[1] != 0) return 64 + static_cast<std::size_t>(std::countr_zero(set[1]));
  return none;
}
[[nodiscard]] bool contains(const region::span_set& set, std::size_t index) noexcept {
  return (set[index / 64] >> (index % 64) & 1) != 0;
}
void flip(region::span_set& set, std::size_t index) noexcept {
  set[index / 64] ^= std::uint64_t{1} << (index % 64);
}
[[nodiscard]] bool is_empty(const region::span_set& set) noexcept { return (set[0] | set[1]) == 0; }

/// R3. Whole pages only; there are pages as large as two spans.
void forget_content(char* begin, char* end) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const auto last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

[[nodiscard]] std::size_t index_of(const span& s) noexcept {
  return static_cast<std::size_t>(&s - region::of(&s).spans);
}

}  // namespace

char* region::begin_of(std::size_t index) noexcept {
  if (index != 0) return end_of(index - 1);
  return reinterpret_cast<char*>(this) + (sizeof(region) + alignment - 1) / alignment * alignment;
}

char* span_source::begin_of(span& s) noexcept { return region::of(&s).begin_of(index_of(s)); }

span& span_source::take(std::size_t block_bytes) {
  const std::lock_guard lock(mutex_);
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

void span_source::put(span& s) noexcept {
  region& r = region::of(&s);
  const std::lock_guard lock(mutex_);
  unlist(r);
  flip(r.idle, index_of(s));
  list(r);
  idle_ += region::span_bytes;
  if (idle_ <= kept_ || cared_for_) return;
  cared_for_ = true;
  wants_care_.store(true, std::memory_order_relaxed);  // order: see wants_care
}

std::size_t span_source::give_back(std::size_t most, bool only_rested) noexcept {
  std::unique_lock lock(mutex_);
  const std::size_t free = only_rested ? rested_ : idle_;
  std::size_t left = std::min(most, free > kept_ ? free - kept_ : 0);
  while (left > 0 && warm_ != nullptr) {
    const std::size_t before = idle_;
    // the one that is the last to be used again
    give_back_from(*warm_->before, left, lock);
    left -= std::min(left, before - std::min(before, idle_));
  }
  if (only_rested) rested_ = idle_;
  const std::size_t above = idle_ > kept_ ? idle_ - kept_ : 0;
  if (above == 0) cared_for_ = false;
  return above;
}

/// Gives back the first idle spans that lie side by side. Others may use the source meanwhile.
void span_source::give_back_from(region& r, std::size_t most,
                                 std::unique_lock<std::mutex>& lock) noexcept {
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
  // what the head leaves to the first span shares a page with it, and stays
  forget_content(r.end_of(first) - region::span_bytes, r.end_of(end - 1));
  lock.lock();
  unlist(r);
  for (std::size_t i = first; i < end; ++i) flip(r.bare, i);
  bare_ += bytes;
  list(r);
}

void span_source::set_kept(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  kept_ = bytes;
  cared_for_ = false;
  wants_care_.store(false, std::memory_order_relaxed);  // order: see wants_care
}

span_source::figures span_source::now() const noexcept {
  const std::lock_guard lock(mutex_);
  return {mapped_, mapped_ - bare_ - static_cast<std::size_t>(end_ - next_), idle_};
}

/// Maps room for some regions. The first is for one, and later ones ask for huge pages, which make
/// fresh memory several times cheaper.
void span_source::map_regions() {
  const std::size_t slack = region::bytes;
  void* const mapping =
      ::mmap(nullptr, mapping_ + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  char* const from = static_cast<char*>(mapping);
  const std::size_t over = reinterpret_cast<std::uintptr_t>(from) % region::bytes;
  char* const begin = over == 0 ? from : from + (region::bytes - over);
  char* const end = begin + mapping_;
  if (begin != from) ::munmap(from, static_cast<std::size_t>(begin - from));
  if (char* const mapped_end = from + mapping_ + slack; mapped_end != end)
    ::munmap(end, static_cast<std::size_t>(mapped_end - end));
#ifdef MADV_HUGEPAGE
  if (mapped_ != 0) ::madvise(begin, mapping_, MADV_HUGEPAGE);
#endif
  if (__lsan_register_root_region != nullptr) __lsan_register_root_region(begin, mapping_);
  next_ = begin;
  end_ = end;
  mapped_ += mapping_;
  if (mapped_ != first_mapping) mapping_ = std::min(mapping_ * 2, largest_mapping);
}

void span_source::make_region() {
  if (next_ == end_) map_regions();
  auto* const r = ::new (next_) region{};
  next_ += region::bytes;
  for (std::size_t i = 0; i < region::span_count; ++i) flip(r->bare, i);
  bare_ += region::span_count * region::span_bytes;
  list(*r);
}

/// R2. Into the list where it belongs, in front.
void span_source::list(region& r) noexcept {
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

/// R2. Out of the list where it is, before its spans change.
void span_source::unlist(region& r) noexcept {
  if (is_empty(r.idle) && is_empty(r.bare)) return;
  region*& head = is_empty(r.idle) ? cold_ : warm_;
  r.next->before = r.before;
  r.before->next = r.next;
  if (head == &r) head = r.next == &r ? nullptr : r.next;
}

}  // namespace garrick::base::block_pool::detail
