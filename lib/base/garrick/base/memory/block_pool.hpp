// Memory for envelopes and cells: blocks of 64, 128, ... 1024 bytes, aligned to 64, in a few
// nanoseconds, from any thread to any thread.
//
// Messages are allocated on one thread and freed on another, all the time and in one direction. So
// each thread keeps, for each size class, two lists of up to `batch_blocks` free blocks. Full lists
// change hands as a whole, through a few atomic slots for each class. Surplus blocks go back, one
// by one, to the spans of 24 KiB that they were cut from. A span that is free as a whole serves
// another size class, or goes back to the system when more than enough of them are free. Larger
// requests go to operator new. (docs/internals/blocks.md)
//
// Under AddressSanitizer every block comes from operator new, so that the sanitizer sees use after
// free and leaks. The build of the archive decides: a program with the sanitizer may be linked with
// an archive without it, whose blocks come from the pool.
//
// Thread safety: every function may be called on any thread, also while the thread or the process
// is being torn down.
//
// Invariants:
// B1 A free block is in exactly one list: a thread's loaded or spare list, a slot's batch, or the
//    list of its span, in the depot.
// B2 A slot holds null or a list of exactly `batch_blocks` blocks that no thread can reach
//    otherwise. Slots are only ever filled from null and emptied by exchange, so there is no ABA
//    problem.
// B3 A thread that ended has given its lists to the depot. It may still allocate and free
//    (destructors of thread-local objects): then every call takes the slow path and leaves nothing
//    behind in the thread.
// B4 A span serves one size class. It is in the depot's list as long as some of its blocks are in
//    the depot, but not all; when all of them are, it serves no class any more.
// B5 In a process that has forked, every lock is free on both sides.
// B6 The address of a block has at most `base::address_bits` bits. A process that gets memory
//    elsewhere ends with a message.
#pragma once

#include <garrick/base/platform/supported.hpp>

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
/// The number of size classes.
inline constexpr std::size_t class_count = largest_block / block_step;
/// Blocks that change hands at once.
inline constexpr std::uint32_t batch_blocks = 64;

namespace detail {

struct free_block {
  free_block* next;
};

/// The free blocks of a class that a thread keeps. Only the owner writes `count`; it is atomic so
/// that tests may count without a race.
struct thread_list {
  free_block* loaded = nullptr;  ///< blocks are taken from here and given back here
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
// For programs with AddressSanitizer, which do not know how the archive was built.
[[nodiscard]] void* allocate_as_built(std::size_t bytes);
void deallocate_as_built(void* block, std::size_t bytes) noexcept;

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

/// Returns memory for `bytes` bytes, aligned to 64 bytes and not initialised; give it back with
/// `deallocate`.
///
/// Costs a few nanoseconds and takes no lock, except once for every `batch_blocks` blocks. Throws
/// std::bad_alloc when the system has no memory.
[[nodiscard]] inline void* allocate(std::size_t bytes) {
  if (GARRICK_POOL_IS_NEW) return detail::allocate_as_built(bytes);
  if (bytes > largest_block) [[unlikely]]
    return detail::allocate_large(bytes);
  return detail::allocate_class(detail::class_of(bytes));
}

/// Gives back memory that `allocate` returned for the same number of bytes, on any thread. Null is
/// allowed. The memory serves later calls, of other sizes too, or goes back to the system in time
/// (`caretaker`).
inline void deallocate(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return;
  if (GARRICK_POOL_IS_NEW) return detail::deallocate_as_built(block, bytes);
  if (bytes > largest_block) [[unlikely]]
    return detail::deallocate_large(block, bytes);
  detail::deallocate_class(block, detail::class_of(bytes));
}

/// Returns a block as above, for a size known at compile time.
template <std::size_t Bytes>
[[nodiscard]] inline void* allocate() {
  return allocate(Bytes);
}
/// Like the function above, for a size known at compile time.
template <std::size_t Bytes>
inline void deallocate(void* block) noexcept {
  deallocate(block, Bytes);
}

/// Returns a block of `block_step` bytes for a message that must be sent even without memory, such
/// as the answer to a request; give it back with `deallocate`. The block is taken from a reserve of
/// `reserved_blocks` that the program begins with and that is not filled up. Returns null if the
/// reserve is used up, and always under AddressSanitizer. Allocates nothing.
[[nodiscard]] void* allocate_reserved() noexcept;
/// The number of blocks that the reserve begins with.
inline constexpr std::uint32_t reserved_blocks = 64;

/// For tests: returns the number of blocks of the size class of `bytes` that have been taken and
/// not given back.
///
/// Exact while no other thread allocates or frees. All requests above `largest_block` are counted
/// in one number; under AddressSanitizer all requests are. Takes locks.
[[nodiscard]] std::size_t blocks_in_use(std::size_t bytes) noexcept;

/// For tests: returns the number of such blocks of all classes, with all large requests.
[[nodiscard]] std::size_t blocks_in_use() noexcept;

/// Returns the number of bytes of address space for blocks. Never shrinks. Takes a lock.
[[nodiscard]] std::size_t mapped_bytes() noexcept;

/// Returns the number of the `mapped_bytes()` that hold blocks, used or free, or that wait for a
/// size class: only these bytes may be resident. Shrinks when memory is given back. Zero under
/// AddressSanitizer. Takes a lock.
[[nodiscard]] std::size_t held_bytes() noexcept;

/// Gives memory that no size class has used since the last call back to the operating system: at
/// most `most` bytes, and only memory above the bytes to be kept. Returns the number of bytes left
/// above them. For caretakers; a call takes some microseconds for every 100 KiB.
std::size_t give_back(std::size_t most) noexcept;

/// An object that gives idle memory back after a burst, such as a system, which has a clock for it.
/// Without a caretaker, memory stays with the pool. Any thread.
class caretaker {
 public:
  caretaker() noexcept = default;
  caretaker(const caretaker&) = delete;
  caretaker& operator=(const caretaker&) = delete;

  /// Begins the duty of this caretaker. From now on at least `kept_bytes` of idle memory are kept
  /// for the next burst; with several caretakers the largest number counts.
  void join(std::size_t kept_bytes) noexcept;
  /// Ends the duty: `wake` is not called any more. The last caretaker that leaves gives back at
  /// once all memory above the bytes to be kept. Later calls do nothing.
  void leave() noexcept;

  /// Called if there is more idle memory than the pool should keep, on any thread, in the middle of
  /// a `deallocate`. Must be quick, must not free blocks, and must cause calls of `give_back` now
  /// and then until it returns 0.
  virtual void wake() noexcept = 0;

 protected:
  /// Requires that `leave` was called, or `join` never was.
  ~caretaker() = default;

 private:
  [[nodiscard]] static std::size_t most_kept(const caretaker* first) noexcept;

  std::size_t kept_ = 0;
  caretaker* next_ = nullptr;
};

}  // namespace garrick::base::block_pool
