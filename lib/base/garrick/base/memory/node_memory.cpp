// Free lists and chunks of each memory node, each node's under a mutex of its own.
#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/base/memory/node_memory.hpp>
#include <garrick/base/platform/platform.hpp>

#include <pthread.h>

#include <array>
#include <mutex>
#include <new>
#include <utility>

namespace garrick::base::node_memory {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 20;
static_assert(share_of_node % chunk == 0);

struct free_block {
  free_block* next;
};

/// The memory of a node.
struct alignas(64) supply {
  std::mutex mutex;
  // under the mutex
  std::array<free_block*, block_pool::class_count> free{};
  char* next = nullptr;
  char* end = nullptr;
  char* share = nullptr;      // where the next chunk begins
  char* share_end = nullptr;  // null: nothing reserved
  std::size_t in_use = 0;
  bool refused = false;  // by the system: it is not asked again
};

// Trivially destructible, so that blocks may be given back until the very end of the process.
constinit std::array<supply, most_nodes> supplies;
constinit std::mutex reserving;

/// Called before a fork, so that the child finds the locks free (B5 of block_pool.hpp). A node's
/// lock is taken before `reserving`, as in `grow`.
void lock_all() noexcept {
  for (supply& s : supplies) s.mutex.lock();
  reserving.lock();
}
void unlock_all() noexcept {
  reserving.unlock();
  for (supply& s : supplies) s.mutex.unlock();
}
/// As in block_pool.cpp: a fork handler of the program's own may use the memory that is locked
/// here. Does nothing under ThreadSanitizer, which allows a thread to hold 64 locks: with the
/// pool's locks there would be more.
[[gnu::constructor(101)]] void handle_forks() noexcept {
  if (GARRICK_TSAN == 0) ::pthread_atfork(lock_all, unlock_all, unlock_all);
}

/// Returns the beginning of the reservation, which the first call makes; 0 if the system has no
/// such range of addresses.
std::uintptr_t reserve() noexcept {
  const std::lock_guard lock(reserving);
  // order: under the mutex
  const std::uintptr_t known = detail::begin.load(std::memory_order_relaxed);
  if (known != 0) return known;
  const auto begin =
      reinterpret_cast<std::uintptr_t>(platform::reserve_addresses(share_of_node * most_nodes));
  // order: blocks are handed out under a mutex, see owns
  detail::begin.store(begin, std::memory_order_relaxed);
  return begin;
}

/// Opens another chunk for the node, under its mutex. Returns false if there is no memory for it.
bool grow(supply& of, std::uint32_t node) noexcept {
  if (of.refused) return false;
  if (of.share_end == nullptr) {
    const std::uintptr_t begin = reserve();
    if (begin == 0) {
      of.refused = true;
      return false;
    }
    of.share = reinterpret_cast<char*>(begin + node * share_of_node);
    of.share_end = of.share + share_of_node;
  }
  if (of.share == of.share_end || !platform::open_on_node(of.share, chunk, node)) {
    of.refused = true;
    return false;
  }
  of.next = of.share;
  of.end = of.share += chunk;
  return true;
}

supply& supply_of(const void* block) noexcept {
  const std::uintptr_t begin = detail::begin.load(std::memory_order_relaxed);  // order: as in owns
  return supplies[(reinterpret_cast<std::uintptr_t>(block) - begin) / share_of_node];
}

}  // namespace

void* allocate(std::uint32_t node, std::size_t bytes) noexcept {
  if (GARRICK_POOL_IS_NEW || share_of_node == 0 || node >= most_nodes ||
      bytes > block_pool::largest_block)
    return nullptr;
  const std::size_t size_class = block_pool::detail::class_of(bytes);
  const std::size_t size = (size_class + 1) * block_pool::block_step;
  supply& from = supplies[node];
  const std::lock_guard lock(from.mutex);
  if (free_block* const block = from.free[size_class]) {
    from.free[size_class] = block->next;
    ++from.in_use;
    return block;
  }
  if (static_cast<std::size_t>(from.end - from.next) < size && !grow(from, node)) return nullptr;
  ++from.in_use;
  return std::exchange(from.next, from.next + size);
}

void deallocate(void* block, std::size_t bytes) noexcept {
  supply& to = supply_of(block);
  const std::lock_guard lock(to.mutex);
  free_block*& list = to.free[block_pool::detail::class_of(bytes)];
  list = ::new (block) free_block{list};
  --to.in_use;
}

std::size_t blocks_in_use() noexcept {
  std::size_t sum = 0;
  for (supply& s : supplies) {
    const std::lock_guard lock(s.mutex);
    sum += s.in_use;
  }
  return sum;
}

}  // namespace garrick::base::node_memory
