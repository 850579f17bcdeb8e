// Queues of messages under way, in blocks of the pool.
//
// A queue in use takes a block of some ten entries at its end for every block that it drops at its
// front. So with the general allocator each message would pay a tenth of an allocation.
//
// Thread safety: an allocator has no state.
#pragma once

#include <cstddef>
#include <deque>

#include "garrick/base/memory/block_pool.hpp"

namespace garrick::net::internal {

/// Allocates from the block pool.
template <class T>
struct pool_allocator {
  using value_type = T;
  static_assert(alignof(T) <= base::block_pool::block_step);

  pool_allocator() = default;
  template <class U>
  pool_allocator(const pool_allocator<U>&) noexcept {}
  [[nodiscard]] T* allocate(std::size_t n) {
    return static_cast<T*>(base::block_pool::allocate(n * sizeof(T)));
  }
  void deallocate(T* at, std::size_t n) noexcept {
    base::block_pool::deallocate(at, n * sizeof(T));
  }
  friend bool operator==(const pool_allocator&, const pool_allocator&) = default;
};

template <class T>
using pooled_deque = std::deque<T, pool_allocator<T>>;

}  // namespace garrick::net::internal
