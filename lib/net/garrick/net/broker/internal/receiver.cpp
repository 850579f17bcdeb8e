#include "garrick/net/broker/internal/receiver.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace garrick::net {

received received::copy_of(std::span<const std::byte> bytes) {
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const std::span<const std::byte> all(*copy);
  return {std::move(copy), all};
}

namespace internal {

void read_pool::returned(block& b) noexcept {
  // order: seq_cst, also below: either this thread sees that the pool is starved, or its receiver
  // sees the returned part; and a read to the block comes after the reads of its earlier bytes
  b.parts.fetch_sub(1, std::memory_order_seq_cst);
  messages_.fetch_sub(1, std::memory_order_seq_cst);        // order: as above
  if (starved_.load(std::memory_order_seq_cst) &&           // order: as above
      starved_.exchange(false, std::memory_order_seq_cst))  // order: as above
    wake();
}

bool read_pool::takes_message() const noexcept {
  return messages_.load(std::memory_order_seq_cst) < most_messages_;  // order: as above
}

base::error receiver::wrong_with(const receive_policy& p, std::size_t block_size) {
  if (p.bytes() == 0)
    return base::make_error(base::errc::invalid_setting, "receive_policy", "of no bytes");
  if (p.what() != receive_policy::kind::at_most && p.bytes() > block_size)
    return base::make_error(base::errc::invalid_setting, "receive_policy",
                            "of " + std::to_string(p.bytes()) + " bytes, and a block has " +
                                std::to_string(block_size));
  return {};
}

/// Returns the number of bytes that have to lie in one block.
std::size_t receiver::wanted() const noexcept {
  if (policy_->what() != receive_policy::kind::at_most) return policy_->bytes();
  // A read of a few bytes only, because a block is nearly full, would cost a call of its own.
  return std::min(policy_->bytes(), unread() + std::max<std::size_t>(pool_->size_ / 4, 1));
}

/// Returns the number of bytes of the next message; 0 if it is not whole.
std::size_t receiver::ready() const noexcept {
  if (!policy_) return 0;
  const std::size_t have = unread();
  switch (policy_->what()) {
    case receive_policy::kind::at_most: return std::min(have, policy_->bytes());
    case receive_policy::kind::at_least: return have >= policy_->bytes() ? have : 0;
    case receive_policy::kind::exactly: break;
  }
  return have >= policy_->bytes() ? policy_->bytes() : 0;
}

std::optional<received> receiver::next() {
  const std::size_t n = ready();
  if (n == 0) return {};
  if (!pool_->takes_message()) {
    pool_->starved_.store(true, std::memory_order_seq_cst);  // order: as read_pool::returned
    if (!pool_->takes_message()) return {};
  }
  // order: this thread alone adds parts, and the return of this one comes after
  in_->parts.fetch_add(1, std::memory_order_relaxed);
  pool_->messages_.fetch_add(1, std::memory_order_relaxed);  // order: as above
  std::shared_ptr<const void> owner;
  try {
    owner = std::make_shared<read_pool::part>(pool_, *in_);
  } catch (...) {
    pool_->returned(*in_);
    throw;
  }
  received m(std::move(owner), {in_->bytes.get() + begin_, n});
  begin_ += n;
  if (policy_->is_once()) policy_.reset();
  return m;
}

read_pool::block* receiver::free_block() noexcept {
  for (read_pool::block& b : pool_->blocks_)
    if (&b != in_ && b.parts.load(std::memory_order_seq_cst) == 0)  // order: as read_pool::returned
      return &b;
  return nullptr;
}

std::optional<std::span<std::byte>> receiver::room() {
  if (!policy_ || ready() != 0) return {};
  const std::size_t size = pool_->size_;
  // order: as read_pool::returned
  if (in_ != nullptr && begin_ == end_ && in_->parts.load(std::memory_order_seq_cst) == 0)
    begin_ = end_ = 0;
  if (in_ == nullptr || size - begin_ < std::min(wanted(), size) || end_ == size) {
    read_pool::block* next = free_block();
    if (next == nullptr) {
      pool_->starved_.store(true, std::memory_order_seq_cst);  // order: as read_pool::returned
      if ((next = free_block()) == nullptr) {
        // With all its parts back, the block in use is as good as a free one.
        if (in_ == nullptr || in_->parts.load(std::memory_order_seq_cst) != 0)  // order: as above
          return {};
        std::memmove(in_->bytes.get(), in_->bytes.get() + begin_, unread());
        end_ = unread();
        begin_ = 0;
        return std::span(in_->bytes.get() + end_, size - end_);
      }
    }
    if (next->bytes == nullptr) next->bytes = std::make_unique_for_overwrite<std::byte[]>(size);
    if (unread() != 0) std::memcpy(next->bytes.get(), in_->bytes.get() + begin_, unread());
    in_ = next;
    end_ = unread();
    begin_ = 0;
  }
  return std::span(in_->bytes.get() + end_, size - end_);
}

}  // namespace internal

}  // namespace garrick::net
