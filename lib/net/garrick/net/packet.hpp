// The bytes of one message on their way to the wire.
//
// Each layer puts a header in front of what it gets from above. So that this never moves the bytes
// behind it, a packet begins with room for the headers of all layers below, which a stack knows at
// compile time. A layer that may have to send a packet again keeps a second handle to the same
// bytes; the headers that lower layers have written in front of them do not matter to it.
//
// There is one room in front, so of all handles to the same bytes one has the right to write there:
// the first, until it passes the right on. Another that is to get a header copies the bytes first,
// unless it is the last one left. So who sends one message over many links shares it, and each link
// but one copies.
//
// Thread safety: a packet is one thread's at a time, but handles to the same bytes may be dropped
// on different threads.
//
// Invariants:
//   P1  begin() <= end() <= the block's capacity; without a block both are zero.
//   P2  Who shares bytes never changes those that the other handle shows: `append` needs the only
//       handle, and `prepend` writes in front of what is shared (P3).
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
  /// No bytes, no room.
  constexpr packet() noexcept = default;
  /// No bytes yet: room for `front` of them in front, and for `behind` before `append` has to move
  /// them. Throws std::bad_alloc; requires at most 2^32 - 1 bytes in all.
  [[nodiscard]] static packet with_room(std::size_t front, std::size_t behind);
  /// A copy of `bytes` with room for `front` more in front of them.
  [[nodiscard]] static packet copy_of(std::span<const std::byte> bytes, std::size_t front = 0);

  /// Takes the other's handle.
  packet(packet&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        range_(std::exchange(other.range_, 0)),
        may_write_front_(other.may_write_front_) {}
  /// Drops the own handle and takes the other's.
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

  /// Another handle to the same bytes. From now on nobody may append to either of them. `prepend`
  /// to the new one copies them, as long as there are others.
  [[nodiscard]] packet share() const noexcept;
  /// As `share`, but the new handle has the right to write in front, and this one no more: for who
  /// keeps a packet while it is on its way. If this one did not have the right, and others show the
  /// bytes, they are copied here, once. Throws std::bad_alloc.
  [[nodiscard]] packet share_front();
  /// True if another handle shows these bytes. Once false, it stays so until they are shared again.
  [[nodiscard]] bool is_shared() const noexcept;

  /// The bytes. Valid until this handle, or the last that shares them, is dropped, or appended to.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {data() + begin(), size()};
  }
  /// How many bytes there are.
  [[nodiscard]] std::size_t size() const noexcept { return end() - begin(); }
  /// True without bytes.
  [[nodiscard]] bool empty() const noexcept { return begin() == end(); }
  /// How many bytes `prepend` may still be asked for.
  [[nodiscard]] std::size_t room_in_front() const noexcept { return begin(); }

  /// `n` bytes more in front, to be written by the caller. Requires that much room. Copies them all
  /// if others show them and this handle has no right to write in front. Throws std::bad_alloc.
  [[nodiscard]] std::byte* prepend(std::size_t n) {
    GARRICK_ASSERT(n <= begin(), "a layer wrote a larger header than it has announced");
    if (!may_write_front_) [[unlikely]]
      own_front();
    range_ -= n;
    return data() + begin();
  }
  /// `n` bytes more behind, to be written by the caller. Moves the others if there is no room, by
  /// which time is linear in all that is appended. Requires that nobody shares them. Throws
  /// std::bad_alloc.
  [[nodiscard]] std::byte* append(std::size_t n) {
    if (block_ == nullptr || n > block_->capacity - end()) [[unlikely]]
      enlarge(n);
    // order: relaxed: a second handle would be this thread's own mistake.
    GARRICK_ASSERT(block_->handles.load(std::memory_order_relaxed) == 1,
                   "bytes that somebody shares are not appended to");
    std::byte* const at = data() + end();
    range_ += std::uint64_t{n} << 32;
    return at;
  }
  /// A copy of `bytes` behind the others; as above.
  void append(std::span<const std::byte> bytes);
  /// Takes the first `n` bytes away; they become room, which this handle may write to once nobody
  /// else shows them. Requires that there are so many.
  void drop_front(std::size_t n) noexcept;
  /// Takes all but the first `n` bytes away. Requires that there are so many.
  void keep_front(std::size_t n) noexcept;

 private:
  /// In front of the bytes, in one allocation.
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
  // Where the bytes begin, and above that, where they end. One number, since a packet is moved at
  // once after one of the two has changed: a processor waits for what was written in two pieces.
  std::uint64_t range_ = 0;
  bool may_write_front_ = false;
};

}  // namespace garrick::net
