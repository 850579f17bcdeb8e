#include "garrick/net/packet.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "garrick/base/memory/block_pool.hpp"
#include "garrick/base/platform/assert.hpp"

namespace garrick::net {

packet::block* packet::make(std::size_t capacity) {
  GARRICK_ASSERT(capacity <= std::numeric_limits<std::uint32_t>::max(),
                 "a packet has less than 2^32 bytes: slice larger messages");
  void* memory = base::block_pool::allocate(sizeof(block) + capacity);
  auto* made = new (memory) block();
  made->capacity = static_cast<std::uint32_t>(capacity);
  return made;
}

void packet::drop() noexcept {
  // order: acquire pairs with the release of the thread that dropped the second-last handle: its
  // reads of the bytes came before they are freed. The only handle needs no locked operation.
  if (block_->handles.load(std::memory_order_acquire) != 1) {
    // order: release for this thread's reads and writes; acquire as above.
    if (block_->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  }
  base::block_pool::deallocate(block_, sizeof(block) + block_->capacity);
}

packet packet::with_room(std::size_t front, std::size_t behind) {
  packet p;
  p.block_ = make(front + behind);
  p.range_ = range(front, front);
  p.may_write_front_ = true;
  return p;
}

packet packet::copy_of(std::span<const std::byte> bytes, std::size_t front) {
  packet p = with_room(front, bytes.size());
  if (!bytes.empty()) std::memcpy(p.data() + front, bytes.data(), bytes.size());
  p.range_ = range(front, front + bytes.size());
  return p;
}

packet packet::share() const noexcept {
  packet p;
  if (block_ != nullptr) {
    // order: relaxed: the maker of a handle has one, so the count cannot reach zero meanwhile.
    block_->handles.fetch_add(1, std::memory_order_relaxed);
    p.block_ = block_;
    p.range_ = range_;
  }
  return p;
}

packet packet::share_front() {
  if (!may_write_front_) own_front();
  packet p = share();
  p.may_write_front_ = std::exchange(may_write_front_, false);
  return p;
}

bool packet::is_shared() const noexcept {
  // order: acquire pairs with the release of the thread that dropped the second-last handle: its
  // reads in front of the bytes came before this handle writes there.
  return block_ != nullptr && block_->handles.load(std::memory_order_acquire) != 1;
}

void packet::own_front() {
  if (is_shared()) *this = copy_of(bytes(), begin());
  may_write_front_ = true;
}

void packet::enlarge(std::size_t n) {
  const std::size_t twice =
      std::min<std::size_t>(std::size_t{end()} * 2, std::numeric_limits<std::uint32_t>::max());
  const std::size_t wanted = std::max<std::size_t>(end() + n, twice);
  block* larger = make(std::max(wanted, std::size_t{64}));
  if (block_ != nullptr)
    std::memcpy(reinterpret_cast<std::byte*>(larger + 1) + begin(), data() + begin(), size());
  release();
  block_ = larger;
  may_write_front_ = true;
}

void packet::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::memcpy(append(bytes.size()), bytes.data(), bytes.size());
}

void packet::drop_front(std::size_t n) noexcept {
  GARRICK_ASSERT(n <= size(), "more bytes are dropped than there are");
  range_ += n;
  may_write_front_ = false;  // others may show the dropped bytes
}

void packet::keep_front(std::size_t n) noexcept {
  GARRICK_ASSERT(n <= size(), "more bytes are kept than there are");
  range_ = range(begin(), begin() + n);
}

}  // namespace garrick::net
