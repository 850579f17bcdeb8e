// Copies of small messages, close together, the oldest first.
//
// Problem: a packet has a block of its own, with room for all headers. A layer that keeps many
// small packets until they are acknowledged fills the processor's caches with that room, and frees
// blocks that are cold by then. A copy is as large as the message, and the packet's block is free
// again as soon as its bytes are sent, so the next message is written into the same cache lines.
//
// Invariants:
//   K1  Each message lies whole in one chunk. Messages leave in the order in which they came.
//   K2  A chunk is freed with its last message; without messages there is none.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "garrick/base/memory/block_pool.hpp"

namespace garrick::net::internal {

/// The copies of one link.
class kept_bytes {
 public:
  /// The most bytes of a message that is worth a copy.
  static constexpr std::size_t largest = 512;

  kept_bytes() = default;
  kept_bytes(const kept_bytes&) = delete;
  kept_bytes& operator=(const kept_bytes&) = delete;
  ~kept_bytes() { clear(); }

  /// Returns a copy, valid until it is popped. Requires at most `largest` bytes. Throws
  /// std::bad_alloc.
  [[nodiscard]] const std::byte* push(std::span<const std::byte> bytes) {
    const auto taken = room_for(bytes.size());
    if (back_ == nullptr || back_->capacity - back_->used < taken) add_chunk();
    std::byte* const to = back_->bytes() + back_->used;
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    back_->used += taken;
    return to;
  }
  /// Forgets the oldest copy, which has that many bytes.
  void pop(std::size_t size) noexcept {
    front_->popped += room_for(size);
    if (front_->popped == front_->used) drop_front();
  }
  /// Forgets all copies.
  void clear() noexcept {
    while (front_ != nullptr) drop_front();
  }

 private:
  struct chunk {
    chunk* next;
    std::uint32_t capacity, used, popped;
    [[nodiscard]] std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  };
  // The first chunk is a block of the pool: one kept message at a time costs next to nothing.
  static constexpr std::size_t first_chunk = base::block_pool::largest_block;
  static constexpr std::size_t other_chunks = std::size_t{8} << 10;
  static_assert(largest <= first_chunk - sizeof(chunk));

  /// Returns the room for a message. An empty message takes a byte, too, so that `popped` reaches
  /// `used` only with the last message (K2).
  [[nodiscard]] static std::uint32_t room_for(std::size_t size) noexcept {
    return static_cast<std::uint32_t>(size != 0 ? size : 1);
  }
  void add_chunk() {
    const std::size_t size = back_ == nullptr ? first_chunk : other_chunks;
    auto* const made = ::new (base::block_pool::allocate(size))
        chunk{nullptr, static_cast<std::uint32_t>(size - sizeof(chunk)), 0, 0};
    (back_ == nullptr ? front_ : back_->next) = made;
    back_ = made;
  }
  void drop_front() noexcept {
    chunk* const gone = std::exchange(front_, front_->next);
    if (front_ == nullptr) back_ = nullptr;
    base::block_pool::deallocate(gone, sizeof(chunk) + gone->capacity);
  }

  chunk* front_ = nullptr;
  chunk* back_ = nullptr;
};

}  // namespace garrick::net::internal
