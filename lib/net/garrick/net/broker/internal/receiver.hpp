// Cuts messages out of a socket's bytes, without I/O.
//
// Bytes are read to blocks (`room`, `filled`), and messages are parts of blocks (`next`). Further
// bytes go into a block behind messages that are still held, so a small message does not take a
// block to itself. If the rest of a message does not fit there, the beginning of the message is
// copied to another block; this is the only copy.
//
// Invariants:
//   V1  `room` lies behind all bytes that have been read to its block since the last time when no
//       message held a part of it.
//   V2  begin_ <= end_ <= block size; without a block both are zero.
//   V3  If `room` or `next` returns nothing for lack of blocks or messages, the pool is starved:
//       the return of the next part calls `wake`.
//
// Thread safety: none, but parts are returned on any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "garrick/base/values/error.hpp"
#include "garrick/net/broker/receive_policy.hpp"
#include "garrick/net/broker/received.hpp"

namespace garrick::net::internal {

/// The blocks of one connection.
class read_pool {
 public:
  read_pool(std::size_t size, std::size_t blocks, std::uint32_t messages)
      : size_(size), blocks_(blocks), most_messages_(messages) {}
  virtual ~read_pool() = default;
  read_pool(const read_pool&) = delete;
  read_pool& operator=(const read_pool&) = delete;

 protected:
  /// Called on any thread, when a part was returned while the pool was starved.
  virtual void wake() noexcept {}

 private:
  friend class receiver;
  struct block {
    std::unique_ptr<std::byte[]> bytes;
    std::atomic<std::uint32_t> parts{0};
  };
  struct part {
    part(std::shared_ptr<read_pool> p, block& b) noexcept : pool(std::move(p)), of(b) {}
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    ~part() { pool->returned(of); }
    const std::shared_ptr<read_pool> pool;
    block& of;
  };
  void returned(block& b) noexcept;
  [[nodiscard]] bool takes_message() const noexcept;

  const std::size_t size_;
  std::vector<block> blocks_;
  const std::uint32_t most_messages_;
  std::atomic<std::uint32_t> messages_{0};
  std::atomic<bool> starved_{false};
};

class receiver {
 public:
  explicit receiver(std::shared_ptr<read_pool> pool) noexcept : pool_(std::move(pool)) {}

  /// Returns the reason why a policy does not fit blocks of this size; no error if it does.
  [[nodiscard]] static base::error wrong_with(const receive_policy& p, std::size_t block_size);
  /// Sets the policy from the next message on. Requires that `wrong_with` has no objection.
  void set(const receive_policy& p) noexcept { policy_ = p; }
  /// Returns the memory for the next bytes; nothing if no bytes may be read now.
  [[nodiscard]] std::optional<std::span<std::byte>> room();
  /// Records that this many bytes have been read to the room.
  void filled(std::size_t n) noexcept { end_ += n; }
  /// Returns the next message, if it is whole and may be passed on.
  [[nodiscard]] std::optional<received> next();
  /// Returns the number of bytes that are in no message yet.
  [[nodiscard]] std::size_t unread() const noexcept { return end_ - begin_; }

 private:
  [[nodiscard]] std::size_t ready() const noexcept;
  [[nodiscard]] std::size_t wanted() const noexcept;
  [[nodiscard]] read_pool::block* free_block() noexcept;

  const std::shared_ptr<read_pool> pool_;
  std::optional<receive_policy> policy_;
  read_pool::block* in_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace garrick::net::internal
