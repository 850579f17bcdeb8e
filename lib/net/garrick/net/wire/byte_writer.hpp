// Writes values one after the other into a packet, which has room in front for headers.
//
// A writer asks the packet for more room than it needs, and gives the rest back at the end, so that
// a value costs one comparison and a store. A part with its length in front is written directly,
// behind the room for the length that the caller expects. If that room was too small, the part is
// moved.
//
// A caller need not ask whether there was room: after the first failure values are dropped, and
// `finish` reports that failure.
//
// Invariants:
//   W1  base_ <= at_ <= end_ <= base_ + largest_, and all lie in packet_. base_ is the first
//       written byte.
//   W2  After a failure base_ = at_ = end_, so that nothing has room.
//
// Thread safety: none; a writer is one thread's.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "garrick/base/values/error.hpp"
#include "garrick/base/values/result.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/wire/codec_context.hpp"

namespace garrick::net {

/// The most bytes of a variable-length number.
inline constexpr std::size_t longest_varint = 10;

/// Returns the bytes of `x` as a variable-length number: 1 to 10.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t x) noexcept {
  return (static_cast<std::size_t>(std::bit_width(x | 1)) + 6) / 7;
}

/// Writes `x` to `to`, seven bits a byte and the lowest first; all but the last byte have their
/// highest bit set. Returns the place behind it. Requires `varint_size(x)` bytes of room.
[[nodiscard]] inline std::byte* store_varint(std::byte* to, std::uint64_t x) noexcept {
  while (x >= 0x80) {
    *to++ = static_cast<std::byte>(x | 0x80);
    x >>= 7;
  }
  *to++ = static_cast<std::byte>(x);
  return to;
}

/// Writes the same bytes as `store_varint`, eight at once. Returns the place behind it. Requires
/// `longest_varint` bytes of room, all of which it may write to.
[[nodiscard]] inline std::byte* store_long_varint(std::byte* to, std::uint64_t x) noexcept {
  constexpr std::uint64_t more_bits = 0x8080'8080'8080'8080u;
  // The lowest 56 bits, seven to a byte. To move bits up by n places, the code adds 2^n - 1 times
  // their value.
  std::uint64_t spread = x & 0x00ff'ffff'ffff'ffffu;
  spread += (spread & 0x00ff'ffff'f000'0000u) * 15;
  spread += (spread & 0x0fff'c000'0fff'c000u) * 3;
  spread += spread & 0x3f80'3f80'3f80'3f80u;
  const std::uint64_t rest = x >> 56;
  if (rest == 0) {
    const std::size_t size = varint_size(x);
    store_le(to, spread | (more_bits & ((std::uint64_t{1} << (8 * size - 8)) - 1)));
    return to + size;
  }
  store_le(to, spread | more_bits);
  // The highest of these eight bits says that a tenth byte follows, and is that byte's content.
  const std::uint64_t tenth = rest >> 7;
  store_le(to + 8, static_cast<std::uint16_t>(rest | tenth << 8));
  return to + 9 + tenth;
}

/// Returns the unsigned number for `x`, so that numbers near zero stay small: 0, -1, 1, -2, …
/// become 0, 1, 2, 3, …
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t x) noexcept {
  return static_cast<std::uint64_t>(x) << 1 ^ static_cast<std::uint64_t>(x >> 63);
}
/// Returns the number from which `zigzag` made this one.
[[nodiscard]] constexpr std::int64_t from_zigzag(std::uint64_t x) noexcept {
  return static_cast<std::int64_t>(x >> 1 ^ (0 - (x & 1)));
}

/// Settings of a `byte_writer`.
struct writer_settings {
  std::size_t front = 0;           ///< bytes of room in front of the first written byte
  std::size_t expected = 232;      ///< bytes for which there is room before anything is moved
  std::size_t largest = 1u << 30;  ///< bytes that may be written
  std::uint32_t depth = 64;        ///< aggregates inside each other, at most
  codec_context context{};         ///< for codecs that need one
};

/// Appends values to a packet.
///
///     byte_writer out({.front = s.header_size()});
///     out.varint(7);
///     out.bytes(name);
///     base::result<packet> p = std::move(out).finish();
class byte_writer {
 public:
  /// Begins without bytes. Requires that `front` and `largest` together are less than 2^31. This
  /// constructor and all functions that write throw std::bad_alloc.
  explicit byte_writer(const writer_settings& s = {});
  byte_writer(const byte_writer&) = delete;
  byte_writer& operator=(const byte_writer&) = delete;

  /// Writes a number of known width, the lowest byte first.
  template <std::unsigned_integral T>
  void fixed(T x) {
    if (std::byte* to = room(sizeof(T))) store_le(to, x);
  }
  /// Writes a number in 1 to 10 bytes.
  void varint(std::uint64_t x) {
    if (static_cast<std::size_t>(end_ - at_) >= longest_varint) [[likely]]
      at_ = x < 0x80 ? store_varint(at_, x) : store_long_varint(at_, x);
    else if (std::byte* to = room(varint_size(x)))
      static_cast<void>(store_varint(to, x));
  }
  /// Writes these bytes, without their number.
  void bytes(std::span<const std::byte> all) {
    if (all.empty()) return;
    if (std::byte* to = room(all.size())) std::memcpy(to, all.data(), all.size());
  }
  /// Writes the number of characters, then the text.
  void text(std::string_view all) {
    varint(all.size());
    bytes(std::as_bytes(std::span(all)));
  }
  /// Returns room for `n` bytes, which the caller writes before the next call; null after a
  /// failure.
  [[nodiscard]] std::byte* room(std::size_t n) {
    if (static_cast<std::size_t>(end_ - at_) < n && !grow(n)) [[unlikely]]
      return nullptr;
    return std::exchange(at_, at_ + n);
  }

  /// The start of a part with its length in front.
  struct part {
    std::size_t at;     ///< the place of the length, from the first byte
    std::size_t width;  ///< bytes that were left for the length
  };
  /// Begins a part and returns it, for `close_part`. `guess` is the expected length in bytes; after
  /// a wrong guess the part may have to be moved. Parts may be nested as deep as the settings
  /// allow; deeper ones fail with `not_encodable`.
  [[nodiscard]] part open_part(std::size_t guess) {
    if (depth_ == 0) [[unlikely]]
      too_deep();
    else
      --depth_;
    const part opened{size(), varint_size(guess)};
    static_cast<void>(room(opened.width));
    return opened;
  }
  /// Ends the part that was begun last.
  void close_part(part opened);

  /// Returns the number of bytes written so far.
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - base_); }
  /// Makes the result a failure for this reason; the first failure counts.
  void fail(base::error why);
  /// Returns the first failure, or no error.
  [[nodiscard]] const base::error& failure() const noexcept { return failure_; }
  /// Returns the context for codecs that need one.
  [[nodiscard]] codec_context context() const noexcept { return context_; }

  /// Returns the written bytes, or the first failure.
  [[nodiscard]] base::result<packet> finish() &&;

 private:
  /// Makes room for `n` more bytes; returns false if there is none.
  [[nodiscard]] bool grow(std::size_t n);
  void too_deep();

  packet packet_;
  std::byte* base_;
  std::byte* at_;
  std::byte* end_;
  std::uint32_t depth_;
  std::size_t largest_;
  codec_context context_;
  base::error failure_;
};

}  // namespace garrick::net
