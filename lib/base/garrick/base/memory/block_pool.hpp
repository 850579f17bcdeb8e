// Memory for envelopes and cells: blocks of 64, 128, ... 1024 bytes, aligned to 64, in a few
// nanoseconds, from any thread to any thread.
//
// Messages are allocated on one thread and freed on another, all the time and in one direction. So
// each thread keeps, for each size class, two lists of up to `batch_blocks` free blocks. Full lists
// change hands as a whole, through a few atomic slots for each class; what does not fit there goes
// to a depot under a mutex. Fresh memory is cut from large mappings that live as long as the
// process. Larger requests go to operator new. (docs/internals/blocks.md)
//
// Under AddressSanitizer every block comes from operator new, so that it sees use after free and
// leaks.
//
// Thread safety: every function may be called on any thread, also while the thread or the process
// is being torn down.
//
// Invariants:
// B1 A free block is in exactly one list: a thread's loaded or spare list, a slot's batch, or the
//    depot.
// B2 A slot holds null or a list of exactly `batch_blocks` blocks that nobody else can reach. Slots
//    are only ever filled from null and emptied by exchange, so there is no ABA problem.
// B3 A thread that ended has given its lists to the depot. It may still allocate and free
//    (destructors of thread-local objects): then every call takes the slow path and leaves nothing
//    behind in the thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define GARRICK_POOL_IS_NEW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GARRICK_POOL_IS_NEW 1
#endif
#endif
#ifndef GARRICK_POOL_IS_NEW
#define GARRICK_POOL_IS_NEW 0
#endif

namespace garrick::base::block_pool {

/// Bytes between size classes, and the alignment of every block.
inline constexpr std::size_t block_step = 64;
/// Bytes of the largest size class; larger requests go to operator new.
inline constexpr std::size_t largest_block = 1024;
/// How many size classes there are.
inline constexpr std::size_t class_count = largest_block / block_step;
/// Blocks that change hands at once.
inline constexpr std::uint32_t batch_blocks = 64;

namespace detail {

struct free_block {
  free_block* next;
};

/// One thread's free blocks of one class. Only the owner writes `count`; it is atomic so that tests
/// may count without a race.
struct thread_list {
  free_block* loaded = nullptr;  ///< where blocks are taken from and given back to
  /// blocks in `loaded`; "full" at first, so that the first free registers the thread
  std::atomic<std::uint32_t> count{batch_blocks};
  free_block* spare = nullptr;  ///< null or a full list
};

struct thread_lists {
  thread_list of[class_count];
};

inline constinit thread_local thread_lists lists{};

[[nodiscard, gnu::noinline]] void* allocate_slow(std::size_t size_class);
[[gnu::noinline]] void deallocate_slow(void* block, std::size_t size_class) noexcept;
[[nodiscard]] void* allocate_large(std::size_t bytes);
void deallocate_large(void* block, std::size_t bytes) noexcept;

[[nodiscard]] constexpr std::size_t class_of(std::size_t bytes) noexcept {
  return bytes == 0 ? 0 : (bytes - 1) / block_step;
}

[[nodiscard]] inline void* allocate_class(std::size_t size_class) {
  thread_list& list = lists.of[size_class];
  free_block* block = list.loaded;
  if (block == nullptr) [[unlikely]]
    return allocate_slow(size_class);
  list.loaded = block->next;
  // order: relaxed; only this thread writes it, and tests read it when the thread is quiet.
  list.count.store(list.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  __builtin_prefetch(block->next, 1);
  return block;
}

inline void deallocate_class(void* memory, std::size_t size_class) noexcept {
  thread_list& list = lists.of[size_class];
  // order: relaxed; as in allocate_class.
  const std::uint32_t count = list.count.load(std::memory_order_relaxed);
  if (count == batch_blocks) [[unlikely]]
    return deallocate_slow(memory, size_class);
  list.loaded = ::new (memory) free_block{list.loaded};
  list.count.store(count + 1, std::memory_order_relaxed);  // order: relaxed; as in allocate_class.
}

}  // namespace detail

/// Memory for `bytes` bytes, aligned to 64 bytes and not initialised; give it back with
/// `deallocate`.
///
/// Costs a few nanoseconds and takes no lock, except once for every `batch_blocks` blocks. Throws
/// std::bad_alloc when the system has no memory.
[[nodiscard]] inline void* allocate(std::size_t bytes) {
  if (GARRICK_POOL_IS_NEW || bytes > largest_block) [[unlikely]]
    return detail::allocate_large(bytes);
  return detail::allocate_class(detail::class_of(bytes));
}

/// Gives back what `allocate` returned for the same number of bytes, on whichever thread. Null is
/// allowed. The memory stays with the pool: it is not returned to the system.
inline void deallocate(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  if (GARRICK_POOL_IS_NEW || bytes > largest_block) [[unlikely]]
    return detail::deallocate_large(block, bytes);
  detail::deallocate_class(block, detail::class_of(bytes));
}

/// As above, for a size known at compile time.
template <std::size_t Bytes>
[[nodiscard]] inline void* allocate() {
  return allocate(Bytes);
}
/// As above, for a size known at compile time.
template <std::size_t Bytes>
inline void deallocate(void* block) noexcept {
  deallocate(block, Bytes);
}

/// A block of `block_step` bytes for what must be said although there is no memory, such as the
/// answer to a request; give it back with `deallocate`. Taken from a reserve of `reserved_blocks`
/// that the program begins with and that is not filled up. Null if nothing is left of it, and
/// always under AddressSanitizer. Allocates nothing.
[[nodiscard]] void* allocate_reserved() noexcept;
/// How many blocks the reserve begins with.
inline constexpr std::uint32_t reserved_blocks = 64;

/// For tests: how many blocks of the size class of `bytes` have been taken and not given back.
///
/// Exact while no other thread allocates or frees. All requests above `largest_block` are counted
/// in one number; under AddressSanitizer all requests are. Takes locks.
[[nodiscard]] std::size_t blocks_in_use(std::size_t bytes) noexcept;

/// For tests: the same, summed over all classes and with all large requests.
[[nodiscard]] std::size_t blocks_in_use() noexcept;

/// Bytes mapped so far for blocks. Never shrinks. Takes a lock.
[[nodiscard]] std::size_t mapped_bytes() noexcept;

}  // namespace garrick::base::block_pool
