// Where the block pool's memory comes from and goes to: regions, mapped from the system and cut
// into spans, each of which serves one size class at a time.
//
// Blocks of one size lie together, so that a burst of one size leaves whole spans free, which then
// serve another size or go back to the system. Where a block belongs follows from its address: a
// region is 2 MiB, aligned to its size, and begins with what is known of its spans.
//
// Thread safety: any thread; a mutex. A span that is taken is its taker's; its fields are guarded
// by the lock of the size class that it serves.
//
// Invariants:
// R1 Each span is in use, idle (free, and its memory is still there), on its way back to the
//    system, or bare (the system has its memory). `idle` and `bare` of its region say so.
// R2 A region is in the list `warm_` if one of its spans is idle, else in `cold_` if one is bare,
//    else in neither.
// R3 Address space is never unmapped: a span goes back by telling the system that its content is
//    worth nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace garrick::base::block_pool::detail {

struct free_block;

/// What is known of a span.
struct span {
  free_block* free;  // blocks that nobody uses and that no thread keeps
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
  /// Where span `index` begins and ends. The first one also has what the head leaves.
  [[nodiscard]] char* begin_of(std::size_t index) noexcept;
  [[nodiscard]] char* end_of(std::size_t index) noexcept {
    return reinterpret_cast<char*>(this) + head_bytes + (index + 1) * span_bytes;
  }
};
static_assert(region::span_count <= 128);
static_assert(sizeof(region) <= region::head_bytes - region::alignment);

/// Trivially destructible, so that it works until the very end of the process.
class span_source {
 public:
  /// A span for blocks of `block_bytes`. One that is idle, or else one that the system gives memory
  /// for. Throws std::bad_alloc.
  [[nodiscard]] span& take(std::size_t block_bytes);
  /// Where the span's first block lies.
  [[nodiscard]] static char* begin_of(span& s) noexcept;
  /// Takes back a span of which no block is in use, nor kept by anybody.
  void put(span& s) noexcept;

  /// Gives idle memory back to the system, at most `most` bytes (rounded up to a span) and only
  /// what is above the bytes to be kept. With `only_rested`, only as much as has not been in use
  /// since the last such call. Returns how much idle memory there is above the bytes to be kept.
  std::size_t give_back(std::size_t most, bool only_rested) noexcept;

  /// Somebody new cares, and may be called.
  void set_kept(std::size_t bytes) noexcept;
  /// True once after idle memory has come above the bytes to be kept: then somebody should call
  /// `give_back` until it returns 0.
  [[nodiscard]] bool wants_care() noexcept {
    // order: relaxed both; a hint, and what it is about is under the mutex
    return wants_care_.load(std::memory_order_relaxed) &&
           wants_care_.exchange(false, std::memory_order_relaxed);
  }
  /// After a fork, in the child: nobody cares yet.
  void forget_care() noexcept { cared_for_ = false; }

  struct figures {
    std::size_t mapped;  ///< address space
    std::size_t held;    ///< of it in use or idle, so that it may be resident
    std::size_t idle;
  };
  [[nodiscard]] figures now() const noexcept;

  std::mutex& mutex() noexcept { return mutex_; }  ///< for fork

 private:
  static constexpr std::size_t first_mapping = region::bytes;
  static constexpr std::size_t largest_mapping = std::size_t{16} << 20;

  void map_regions();
  void make_region();
  void list(region& r) noexcept;
  void unlist(region& r) noexcept;
  void give_back_from(region& r, std::size_t most, std::unique_lock<std::mutex>& lock) noexcept;

  mutable std::mutex mutex_;
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
  bool cared_for_ = false;  // somebody was told, and `give_back` has not yet returned 0

  std::atomic<bool> wants_care_{false};
};

}  // namespace garrick::base::block_pool::detail
