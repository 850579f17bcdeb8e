// The bytes of large messages that may still be sent to one actor of a peer.
//
// Credit counts messages, and a message may have many megabytes. So a message whose payload has
// `least_counted` bytes or more also takes its size from this credit. While no byte is left, the
// sender is to wait as it does without credit for messages. So the change that uses the bytes up
// takes a block of the message credit away, and the change that brings bytes again returns it. Then
// a proxy's one account tells every sender whether to wait, and small messages cost nothing more.
//
// Invariants
// B1 The change that brings the bytes from above 0 to 0 or below takes the block, and the one that
//    brings them above 0 returns it. These two changes alternate. So once all calls have returned,
//    the block is taken exactly while no byte is left.
// B2 A message is taken while the bytes are at least -`first_bytes`, whatever its size.
//
// Thread safety: any thread.
#pragma once

#include <garrick/net/node/node_settings.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace garrick::net::internal {

/// The bytes of large messages that may still be sent to one actor.
class byte_credit {
 public:
  /// The messages of a block: more than the credit that an honest peer grants ahead, so that none
  /// is left while the block is taken.
  static constexpr std::uint32_t block = 1u << 20;

  /// Returns true if messages with so many bytes take them from this credit.
  [[nodiscard]] static constexpr bool counts(std::size_t bytes) noexcept {
    return bytes >= least_counted;
  }
  /// Takes the bytes of a message. Returns false, and takes nothing, if the bytes are below
  /// -`first_bytes`. Calls `owe(block)` if no byte is left now.
  template <class Owe>
  [[nodiscard]] bool take(std::size_t bytes, Owe owe) noexcept {
    std::int64_t n = left();
    do {
      if (n < -lowest) return false;
      // order: relaxed; the block has an account of its own
    } while (!left_.compare_exchange_weak(n, n - static_cast<std::int64_t>(bytes),
                                          std::memory_order_relaxed));
    if (n > 0 && n <= static_cast<std::int64_t>(bytes)) owe(block);
    return true;
  }
  /// Adds bytes. Calls `grant(block)` if there were none left, and are some now.
  template <class Grant>
  void give(std::uint64_t bytes, Grant grant) noexcept {
    const auto more = static_cast<std::int64_t>(std::min(bytes, std::uint64_t{most}));
    std::int64_t n = left();
    std::int64_t now = 0;
    do {
      now = std::min(n + more, most);
      // order: relaxed, as above
    } while (!left_.compare_exchange_weak(n, now, std::memory_order_relaxed));
    if (n <= 0 && now > 0) grant(block);
  }
  /// Returns true if the next message would not be taken.
  [[nodiscard]] bool is_used_up() const noexcept { return left() < -lowest; }
  /// Returns the bytes that are left; a negative number is a debt.
  [[nodiscard]] std::int64_t left() const noexcept {
    return left_.load(std::memory_order_relaxed);  // order: an estimate
  }

 private:
  static constexpr std::int64_t lowest = first_bytes;
  static constexpr std::int64_t most = std::int64_t{1} << 40;  // whatever a peer grants

  std::atomic<std::int64_t> left_{first_bytes};
};

}  // namespace garrick::net::internal
