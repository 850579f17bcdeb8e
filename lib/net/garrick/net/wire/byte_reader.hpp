// Reads values from bytes that nobody vouches for.
//
// The first failure stays: from then on nothing is left to be read, so every number is 0 and every
// loop over what is left ends. Whoever decodes looks once, at the end. What is read may expand to
// much more in memory, so each allocation is announced before it is made.
//
// Invariants:
//   R1  begin_ <= at_ <= end_; end_ is the end of the innermost open part.
//   R2  After a failure at_ = end_, for good.
//
// Thread safety: none; a reader is one thread's.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "garrick/base/values/error.hpp"
#include "garrick/net/little_endian.hpp"
#include "garrick/net/wire/codec_context.hpp"

namespace garrick::net {

/// What a message may cost whoever decodes it.
struct decode_limits {
  std::uint32_t depth = 64;        ///< aggregates inside each other
  std::size_t memory = 64u << 20;  ///< bytes that containers and pointers may allocate, in all
};

/// Takes values from bytes, which it does not own.
///
///     byte_reader in(bytes);
///     const std::uint64_t count = in.varint();
///     const std::string_view name = in.text();
///     if (in.failed()) return in.failure();
class byte_reader {
 public:
  /// At the first of `bytes`, which have to live as long as the reader and what it has returned.
  explicit byte_reader(std::span<const std::byte> bytes, const decode_limits& limits = {},
                       codec_context context = {}) noexcept
      : begin_(bytes.data()),
        at_(begin_),
        end_(begin_ + bytes.size()),
        memory_(limits.memory),
        most_memory_(limits.memory),
        depth_(limits.depth),
        context_(context) {}

  /// A number of known width. 0 after a failure.
  template <std::unsigned_integral T>
  [[nodiscard]] T fixed() noexcept {
    const std::byte* from = take(sizeof(T));
    return from != nullptr ? load_le<T>(from) : T{0};
  }
  /// A number of 1 to 10 bytes in its only form: one that is longer than needed fails. 0 after a
  /// failure.
  [[nodiscard]] std::uint64_t varint() noexcept {
    if (at_ != end_ && static_cast<std::uint8_t>(*at_) < 0x80) [[likely]]
      return static_cast<std::uint8_t>(*at_++);
    return long_varint();
  }
  /// 0 or 1; anything else fails.
  [[nodiscard]] bool flag() noexcept {
    const auto x = fixed<std::uint8_t>();
    if (x > 1) [[unlikely]]
      fail("a flag that is neither 0 nor 1", x);
    return x == 1;
  }
  /// The next `n` bytes, where they lie. Empty after a failure.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t n) noexcept {
    const std::byte* from = take(n);
    return {from, from != nullptr ? n : 0};
  }
  /// All that is left of the innermost part.
  [[nodiscard]] std::span<const std::byte> rest() noexcept { return bytes(remaining()); }
  /// A text with its length in front, where it lies. Empty after a failure.
  [[nodiscard]] std::string_view text() noexcept {
    const std::span<const std::byte> all = bytes(count(1));
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }
  /// A number of elements, each of which takes at least `least` bytes: a number for which there are
  /// too few bytes fails. Requires that `least` is not 0. 0 after a failure.
  [[nodiscard]] std::size_t count(std::size_t least) noexcept {
    const std::uint64_t n = varint();
    if (n <= remaining() / least) [[likely]]
      return static_cast<std::size_t>(n);
    fail("a count beyond the bytes that are left", n);
    return 0;
  }

  /// The end of what lies around a part.
  struct part {
    const std::byte* end;  ///< end_ before
  };
  /// A length and a part of that many bytes; until `close_part` nothing else can be read. Fails if
  /// there are not so many, or if parts lie too deep in each other.
  [[nodiscard]] part open_part() noexcept;
  /// Leaves the part that was opened last; what was not read of it is skipped.
  void close_part(part opened) noexcept {
    if (failed()) return;
    ++depth_;
    at_ = end_;
    end_ = opened.end;
  }
  /// Announces that `count` objects of `size` bytes will be allocated. False, and a failure, if
  /// that is more than allowed. Requires that `size` is not 0.
  [[nodiscard]] bool allow(std::size_t count, std::size_t size) noexcept {
    if (count > memory_ / size) [[unlikely]]
      return too_much(count, size);
    memory_ -= count * size;
    return true;
  }

  /// Bytes that are left, of the innermost part. 0 after a failure.
  [[nodiscard]] std::size_t remaining() const noexcept {
    return static_cast<std::size_t>(end_ - at_);
  }
  /// Bytes that were read or skipped; after a failure, where that was.
  [[nodiscard]] std::size_t position() const noexcept {
    return static_cast<std::size_t>(at_ - begin_);
  }
  /// For codecs that need to know more.
  [[nodiscard]] codec_context context() const noexcept { return context_; }

  /// The bytes cannot be understood. `why` is a constant text. The first failure counts.
  void fail(std::string_view why) noexcept { fail(why, 0, false); }
  /// The same with a number that tells more.
  void fail(std::string_view why, std::uint64_t number) noexcept { fail(why, number, true); }
  /// Fails unless everything was read.
  void expect_end() noexcept {
    if (at_ != end_) fail("bytes behind the end", remaining());
  }
  /// Whether something has failed.
  [[nodiscard]] bool failed() const noexcept { return !why_.empty(); }
  /// Tells a failure, once it is there, in which field of which type it was; the first call counts.
  void blame(std::string_view type, std::size_t field) noexcept;
  /// The failure as `net_errc::decode_failed`, with a text that says where and why; no error
  /// without one. Throws std::bad_alloc.
  [[nodiscard]] base::error failure() const;

 private:
  [[nodiscard]] const std::byte* take(std::size_t n) noexcept {
    if (n > remaining()) [[unlikely]] {
      fail("the bytes end too early");
      return nullptr;
    }
    const std::byte* from = at_;
    at_ += n;
    return from;
  }
  [[nodiscard]] std::uint64_t long_varint() noexcept;
  void fail(std::string_view why, std::uint64_t number, bool has_number) noexcept;
  /// Fails; false.
  bool too_much(std::size_t count, std::size_t size) noexcept;

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  std::size_t memory_;             ///< bytes that may still be allocated
  const std::size_t most_memory_;  ///< in all
  std::uint32_t depth_;
  bool has_number_ = false;
  bool wants_memory_ = false;  ///< `number_` is how many bytes
  codec_context context_;

  std::string_view why_;   ///< empty: no failure
  std::string_view type_;  ///< in which it was; empty: unknown
  std::size_t field_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace garrick::net
