// Reads values from untrusted bytes.
//
// The first failure stays: from then on no bytes are left, so every number is 0 and every loop over
// the rest ends. A decoder tests for failure once, at the end. Decoded values may take much more
// memory than their bytes, so each allocation is announced before it is made.
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

class foreign_names;  // wire/known_codecs.hpp

/// Limits of the cost of decoding a message.
struct decode_limits {
  std::uint32_t depth = 64;        ///< aggregates inside each other
  std::size_t memory = 64u << 20;  ///< bytes that containers and pointers may allocate, in all
  /// The names of error categories from the process that has sent the bytes. Null: those of all
  /// processes for which there is no such object. Must live as long as the reader.
  foreign_names* names = nullptr;
};

/// Takes values from bytes, which it does not own.
///
///     byte_reader in(bytes);
///     const std::uint64_t count = in.varint();
///     const std::string_view name = in.text();
///     if (in.failed()) return in.failure();
class byte_reader {
 public:
  /// Begins at the first of `bytes`, which must live as long as the reader and the views that it
  /// returns.
  explicit byte_reader(std::span<const std::byte> bytes, const decode_limits& limits = {},
                       codec_context context = {}) noexcept
      : begin_(bytes.data()),
        at_(begin_),
        end_(begin_ + bytes.size()),
        memory_(limits.memory),
        most_memory_(limits.memory),
        depth_(limits.depth),
        names_(limits.names),
        context_(context) {}

  /// Returns a number of known width. 0 after a failure.
  template <std::unsigned_integral T>
  [[nodiscard]] T fixed() noexcept {
    const std::byte* from = take(sizeof(T));
    return from != nullptr ? load_le<T>(from) : T{0};
  }
  /// Returns a number of 1 to 10 bytes; fails if the number is longer than needed. 0 after a
  /// failure.
  [[nodiscard]] std::uint64_t varint() noexcept {
    if (at_ != end_ && static_cast<std::uint8_t>(*at_) < 0x80) [[likely]]
      return static_cast<std::uint8_t>(*at_++);
    return long_varint();
  }
  /// Returns a flag of one byte, 0 or 1; any other byte fails.
  [[nodiscard]] bool flag() noexcept {
    const auto x = fixed<std::uint8_t>();
    if (x > 1) [[unlikely]]
      fail("a flag that is neither 0 nor 1", x);
    return x == 1;
  }
  /// Returns the next `n` bytes, where they lie. Empty after a failure.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t n) noexcept {
    const std::byte* from = take(n);
    return {from, from != nullptr ? n : 0};
  }
  /// Returns the rest of the innermost part.
  [[nodiscard]] std::span<const std::byte> rest() noexcept { return bytes(remaining()); }
  /// Returns a text with its length in front, where it lies. Empty after a failure.
  [[nodiscard]] std::string_view text() noexcept {
    const std::span<const std::byte> all = bytes(count(1));
    return {reinterpret_cast<const char*>(all.data()), all.size()};
  }
  /// Returns a number of elements, each of which takes at least `least` bytes; fails if there are
  /// too few bytes for that many. Requires that `least` is not 0. 0 after a failure.
  [[nodiscard]] std::size_t count(std::size_t least) noexcept {
    const std::uint64_t n = varint();
    if (n <= remaining() / least) [[likely]]
      return static_cast<std::size_t>(n);
    fail("a count beyond the bytes that are left", n);
    return 0;
  }

  /// The end of the bytes around a part.
  struct part {
    const std::byte* end;  ///< `end_` before the part was opened
  };
  /// Reads a length, opens a part of that many bytes, and returns it. Until `close_part` only the
  /// part can be read. Fails if there are too few bytes, or if parts are nested too deep.
  [[nodiscard]] part open_part() noexcept;
  /// Leaves the part that was opened last, and skips its unread bytes.
  void close_part(part opened) noexcept {
    if (failed()) return;
    ++depth_;
    at_ = end_;
    end_ = opened.end;
  }
  /// Announces that `count` objects of `size` bytes will be allocated. Returns false, and fails, if
  /// that is more than allowed. Requires that `size` is not 0.
  [[nodiscard]] bool allow(std::size_t count, std::size_t size) noexcept {
    if (count > memory_ / size) [[unlikely]]
      return too_much(count, size);
    memory_ -= count * size;
    return true;
  }

  /// Returns the bytes that were announced by `allow` so far.
  [[nodiscard]] std::size_t expanded() const noexcept { return most_memory_ - memory_; }

  /// Returns the number of bytes left in the innermost part. 0 after a failure.
  [[nodiscard]] std::size_t remaining() const noexcept {
    return static_cast<std::size_t>(end_ - at_);
  }
  /// Returns the number of bytes read or skipped; after a failure, its position.
  [[nodiscard]] std::size_t position() const noexcept {
    return static_cast<std::size_t>(at_ - begin_);
  }
  /// Returns the context for codecs that need one.
  [[nodiscard]] codec_context context() const noexcept { return context_; }

  /// Returns `decode_limits::names`.
  [[nodiscard]] foreign_names* names() const noexcept { return names_; }

  /// Fails: the bytes cannot be decoded. `why` is a constant text. The first failure counts.
  void fail(std::string_view why) noexcept { fail(why, 0, false); }
  /// Fails, with a number for the text.
  void fail(std::string_view why, std::uint64_t number) noexcept { fail(why, number, true); }
  /// Fails unless all bytes were read.
  void expect_end() noexcept {
    if (at_ != end_) fail("bytes behind the end", remaining());
  }
  /// Returns true if a read has failed.
  [[nodiscard]] bool failed() const noexcept { return !why_.empty(); }
  /// Adds the type and the field to an existing failure; the first call counts.
  void blame(std::string_view type, std::size_t field) noexcept;
  /// Returns the failure as `net_errc::decode_failed`, with a text that names place and reason; no
  /// error if none has happened. Throws std::bad_alloc.
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
  /// Fails, and returns false.
  bool too_much(std::size_t count, std::size_t size) noexcept;

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  std::size_t memory_;             ///< bytes that may still be allocated
  const std::size_t most_memory_;  ///< the value of `memory_` at the start
  std::uint32_t depth_;
  bool has_number_ = false;
  bool wants_memory_ = false;  ///< `number_` is a number of bytes
  foreign_names* names_;
  codec_context context_;

  std::string_view why_;   ///< empty: no failure
  std::string_view type_;  ///< the type in which the failure happened; empty: unknown
  std::size_t field_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace garrick::net
