// Blocks that lie on a given memory (NUMA) node, for actors with a home that is known before they
// exist (docs/internals/places.md, "Memory"). Such actors are few: only those spawned with a hint
// that names a home on another node than their spawner's. All other actors use the block pool, and
// these use it, too, when their node has no memory here.
//
// Each node has a share of one large reservation of addresses. So the address alone tells if a
// block is from here, and from which node. Memory is cut from chunks. The system is asked to take
// their pages from that node; if the node is full, it takes them from another.
//
// Thread safety: every function may be called on any thread; all but `owns` take a lock.
//
// Invariant:
// N1 A block is in its node's free list, or with its user. It never moves to another node or to the
//    block pool.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace garrick::base::node_memory {

/// The number of nodes that can be served: those with the numbers below it.
inline constexpr std::uint32_t most_nodes = 64;
/// Bytes of addresses that are reserved for each node; 0 where addresses have less than 64 bits.
inline constexpr std::size_t share_of_node = std::size_t{sizeof(void*) == 8 ? 4 : 0} << 30;

namespace detail {
/// The beginning of the reservation; 0: there is none (yet).
inline constinit std::atomic<std::uintptr_t> begin{0};
}  // namespace detail

/// Returns a block of `bytes` bytes, aligned to 64 bytes, on the memory node with this number in
/// the operating system.
///
/// Returns null if the system does not support the choice of a node, if there is no such node, if
/// the node's share is used up, if `bytes` is more than `block_pool::largest_block`, and always
/// under AddressSanitizer. The caller then takes the block from the block pool.
[[nodiscard]] void* allocate(std::uint32_t node, std::size_t bytes) noexcept;

/// Returns true if this block is from here and not from the block pool. Only compares addresses.
[[nodiscard]] inline bool owns(const void* block) noexcept {
  // order: relaxed; the holder of a block from here got it from a thread that had seen the
  // reservation
  const std::uintptr_t begin = detail::begin.load(std::memory_order_relaxed);
  return reinterpret_cast<std::uintptr_t>(block) - begin < share_of_node * most_nodes && begin != 0;
}

/// Gives back a block that `allocate` returned for the same number of bytes. Requires
/// `owns(block)`.
void deallocate(void* block, std::size_t bytes) noexcept;

/// For tests: returns the number of blocks that have been taken and not given back.
[[nodiscard]] std::size_t blocks_in_use() noexcept;

}  // namespace garrick::base::node_memory
