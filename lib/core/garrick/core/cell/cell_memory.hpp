// Where the block of a cell comes from: the block pool; or, if a hint names a home on another
// memory node than the spawner's, that node's memory.
//
// Private: installed because templates need it.
//
// Thread safety: any thread.
#pragma once

#include <garrick/base/concurrency/locality.hpp>
#include <garrick/base/memory/block_pool.hpp>
#include <garrick/base/memory/node_memory.hpp>

#include <cstddef>

namespace garrick::core {

class environment;

namespace detail {

[[nodiscard]] void* allocate_cell_at(const environment& env, base::locality_hint hint,
                                     std::size_t bytes);

/// Returns memory for a cell. Throws std::bad_alloc.
[[nodiscard]] inline void* allocate_cell(const environment& env, base::locality_hint hint,
                                         std::size_t bytes) {
  if (hint == base::locality_hint()) [[likely]]
    return base::block_pool::allocate(bytes);
  return allocate_cell_at(env, hint, bytes);
}

inline void deallocate_cell(void* block, std::size_t bytes) noexcept {
  if (base::node_memory::owns(block)) [[unlikely]]
    return base::node_memory::deallocate(block, bytes);
  base::block_pool::deallocate(block, bytes);
}

}  // namespace detail
}  // namespace garrick::core
