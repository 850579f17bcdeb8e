// The bytes of one message on their way to the wire.
//
// Each layer puts a header in front of the bytes from above. A packet begins with room for the
// headers of all layers below, a size that a stack knows at compile time, so no header moves the
// bytes behind it. A layer that may have to send a packet again keeps a second handle to the same
// bytes and ignores the headers that lower layers wrote in front of them.
//
// There is one room in front, so of all handles to the same bytes one has the right to write there:
// the first, until it passes the right on. Another handle that needs a header copies the bytes
// first, unless it is the last one left. When a sender shares one message between many links, each
// link but one copies it.
//
// Thread safety: a packet is one thread's at a time, but handles to the same bytes may be dropped
// on different threads.
//
// Invariants:
//   P1  begin() <= end() <= the block's capacity; without a block both are zero.
//   P2  Bytes that another handle shows never change: `append` needs the only handle, and `prepend`
//       writes in front of the shared bytes (P3).
//   P3  Of all handles to the same bytes at most one has `may_write_front_`, and no other shows a
//       byte in front of its `begin()`.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "garrick/base/platform/assert.hpp"

namespace garrick::net {

/// A movable handle to bytes with room in front and behind.
///
///     packet p = packet::with_room(16, 100);
///     p.append(payload);
///     store_le(p.prepend(4), std::uint32_t(payload.size()));
///     socket.write(p.bytes());
class packet {
 public:
  /// Makes a packet without bytes and without room.
  constexpr packet() noexcept = default;
  /// Returns an empty packet with room for `front` bytes in front, and for `behind` bytes before
  /// `append` has to move them. Requires at most 2^32 - 1 bytes in all. Throws std::bad_alloc.
  [[nodiscard]] static packet with_room(std::size_t front, std::size_t behind);
  /// Returns a packet with a copy of `bytes`, and room for `front` more in front of them. Throws
  /// std::bad_alloc.
  [[nodiscard]] static packet copy_of(std::span<const std::byte> bytes, std::size_t front = 0);

  /// Takes the other packet's handle.
  packet(packet&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        range_(std::exchange(other.range_, 0)),
        may_write_front_(other.may_write_front_) {}
  /// Drops this packet's handle and takes the other packet's.
  packet& operator=(packet&& other) noexcept {
    if (this != &other) {
      release();
      block_ = std::exchange(other.block_, nullptr);
      range_ = std::exchange(other.range_, 0);
      may_write_front_ = other.may_write_front_;
    }
    return *this;
  }
  ~packet() { release(); }

  /// Returns another handle to the same bytes. Requires that no handle appends while both exist.
  /// `prepend` to the new handle copies the bytes as long as others show them.
  [[nodiscard]] packet share() const noexcept;
  /// Returns another handle, which takes over the right to write in front: for a layer that keeps a
  /// packet while it is on its way. If this handle did not have the right, and others show the
  /// bytes, copies them once. Throws std::bad_alloc.
  [[nodiscard]] packet share_front();
  /// Returns true if another handle shows these bytes. Once false, the result stays false until the
  /// next `share`.
  [[nodiscard]] bool is_shared() const noexcept;

  /// Returns the bytes. They are valid until the last handle to them is dropped or appends.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {data() + begin(), size()};
  }
  /// Returns the number of bytes.
  [[nodiscard]] std::size_t size() const noexcept { return end() - begin(); }
  /// Returns true if there are no bytes.
  [[nodiscard]] bool empty() const noexcept { return begin() == end(); }
  /// Returns the most bytes that `prepend` can still add.
  [[nodiscard]] std::size_t room_in_front() const noexcept { return begin(); }

  /// Adds `n` bytes in front and returns their address; the caller writes them. Requires `n <=
  /// room_in_front()`. Copies all bytes if others show them and this handle has no right to write
  /// in front. Throws std::bad_alloc.
  [[nodiscard]] std::byte* prepend(std::size_t n) {
    GARRICK_ASSERT(n <= begin(), "a layer wrote a larger header than it has announced");
    if (!may_write_front_) [[unlikely]]
      own_front();
    range_ -= n;
    return data() + begin();
  }
  /// Adds `n` bytes at the end and returns their address; the caller writes them. Moves the bytes
  /// if there is no room; all moves together take time that is linear in the appended bytes.
  /// Requires that no other handle shows the bytes. Throws std::bad_alloc.
  [[nodiscard]] std::byte* append(std::size_t n) {
    if (block_ == nullptr || n > block_->capacity - end()) [[unlikely]]
      enlarge(n);
    // order: relaxed: a second handle would be this thread's own mistake.
    GARRICK_ASSERT(block_->handles.load(std::memory_order_relaxed) == 1,
                   "shared bytes are not appended to");
    std::byte* const at = data() + end();
    range_ += std::uint64_t{n} << 32;
    return at;
  }
  /// Appends a copy of `bytes`, under the same conditions.
  void append(std::span<const std::byte> bytes);
  /// Removes the first `n` bytes. They become room, which this handle may write to once no other
  /// handle shows them. Requires `n <= size()`.
  void drop_front(std::size_t n) noexcept;
  /// Removes all but the first `n` bytes. Requires `n <= size()`.
  void keep_front(std::size_t n) noexcept;

 private:
  /// The header of the allocation; the bytes follow it.
  struct block {
    std::atomic<std::uint32_t> handles{1};
    std::uint32_t capacity = 0;
  };
  [[nodiscard]] std::byte* data() const noexcept {
    return block_ == nullptr ? nullptr : reinterpret_cast<std::byte*>(block_ + 1);
  }
  void release() noexcept {
    if (block_ != nullptr) drop();
  }
  void drop() noexcept;
  static block* make(std::size_t capacity);
  void own_front();
  void enlarge(std::size_t n);

  [[nodiscard]] std::uint32_t begin() const noexcept { return static_cast<std::uint32_t>(range_); }
  [[nodiscard]] std::uint32_t end() const noexcept {
    return static_cast<std::uint32_t>(range_ >> 32);
  }
  [[nodiscard]] static constexpr std::uint64_t range(std::size_t begin, std::size_t end) noexcept {
    return begin | std::uint64_t{end} << 32;
  }

  block* block_ = nullptr;
  // The begin of the bytes, and above it the end. Both are in one number, because a packet is often
  // moved right after one of them has changed, and one load that covers two recent stores makes a
  // processor wait.
  std::uint64_t range_ = 0;
  bool may_write_front_ = false;
};

}  // namespace garrick::net
