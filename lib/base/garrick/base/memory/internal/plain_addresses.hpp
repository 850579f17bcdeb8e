// Ensures B6 of block_pool.hpp where the pool gets memory, so that no push has to check it.
//
// Thread safety: any thread.
#pragma once

#include <garrick/base/platform/assert.hpp>
#include <garrick/base/platform/supported.hpp>

#include <cstddef>
#include <cstdint>

namespace garrick::base::block_pool::detail {

/// Ends the process with a message unless all of the block, of at least one byte, lies at addresses
/// of at most `address_bits` bits.
inline void expect_plain_addresses(const void* block, std::size_t bytes) noexcept {
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(block) + (bytes - 1);
  GARRICK_ASSERT(last >> address_bits == 0,
                 "memory for messages must lie at addresses of at most 48 bits, and without tags "
                 "in the bits above: see docs/portability.md");
}

}  // namespace garrick::base::block_pool::detail
