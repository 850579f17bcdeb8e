// The budget from which a link pays for the decoding of its peer's messages.
//
// A message of one byte an element may expand to a thousand times its bytes, and its decoding takes
// time by the bytes that it expands to. So without a limit a peer with little bandwidth could take
// a whole processor, and the time of all links of its I/O thread. The budget grows with the bytes
// that the peer sends, by as much as honest messages expand, and a little with time.
//
// The clock is read only while the budget is overdrawn: then the growth of all the time since the
// last such look is added, at once. So a burst may take twice `most`.
//
// Invariants
// B1 After a message of n bytes was paid, the budget may be overdrawn by n. So in any time t, the
//    payments for r bytes of payload are at most 2 · most + per_second · t + per_byte · r, and the
//    last message.
//
// Thread safety: none; the link's.
#pragma once

#include <garrick/base/time/clock.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace garrick::net::internal {

/// Bytes that the messages of one peer may expand to.
class decoding_budget {
 public:
  static constexpr std::int64_t most = std::int64_t{64} << 20;  ///< at the start, and at any time
  static constexpr std::int64_t per_byte = 32;                  ///< for each byte of a payload
  static constexpr std::int64_t per_second = std::int64_t{32} << 20;
  /// The bytes for a type, a field or a signature of a protocol that the peer describes.
  static constexpr std::size_t of_a_description = 256;

  explicit decoding_budget(base::instant now) noexcept : filled_(now) {}

  /// Adds the bytes for a payload of this size.
  void received(std::size_t payload) noexcept {
    left_ = std::min(most, left_ + static_cast<std::int64_t>(payload) * per_byte);
  }
  /// Takes the bytes that a message has expanded to. The budget may be overdrawn by this.
  void pay(std::size_t bytes) noexcept { left_ -= static_cast<std::int64_t>(bytes); }
  /// Returns true if the peer has to wait. While that is so, `fill` may end it.
  [[nodiscard]] bool is_overdrawn() const noexcept { return left_ < 0; }
  /// Adds the bytes of the time that has passed. Returns `is_overdrawn`.
  bool fill(base::instant now) noexcept {
    const std::int64_t ns = (now - filled_).count();
    if (ns <= 0) return is_overdrawn();
    constexpr std::int64_t second = 1'000'000'000;
    // In two steps, so that no product is too large. The rest of a byte is lost.
    const std::int64_t gained =
        std::min(ns / second, most_seconds) * per_second + ns % second * per_second / second;
    left_ = std::min(most, left_ + gained);
    filled_ = now;
    return is_overdrawn();
  }
  /// Returns the time at which `fill` finds the budget not overdrawn. Requires that it is
  /// overdrawn, and that `fill` was called with the present time.
  [[nodiscard]] base::instant deadline() const noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t missing = -left_;
    // Rounded up, and by one more for the rest that `fill` loses.
    const std::int64_t ns = missing / per_second * second +
                            (missing % per_second * second + per_second - 1) / per_second + 1;
    return filled_ + base::duration::nanoseconds(ns);
  }
  /// Returns the bytes that are left; below 0 if it is overdrawn.
  [[nodiscard]] std::int64_t left() const noexcept { return left_; }

 private:
  static constexpr std::int64_t most_seconds = std::int64_t{1} << 36;

  std::int64_t left_ = most;
  base::instant filled_;
};

}  // namespace garrick::net::internal
