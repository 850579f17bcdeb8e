// The codecs of base's own classes: durations, errors, exit reasons. And what becomes of an error
// whose category this program does not have.
//
// An error travels as the name of its category, its code, the category's text for the code, and its
// own text. A program that has the category makes an error of it again, equal to the first. Another
// one gets an error of a stand-in category, which has the foreign one's name, and whose text says
// all that the sender said. Errors of one foreign category have one stand-in, so they are equal if
// their codes are; and a third program that does have the category gets its own again. Texts are
// for people, and whose they are is not known: they are made `printable` when they are read.
//
// Invariant:
//   K1  Names come from other processes and stand-ins live as long as the program, so there are at
//       most `most_foreign_categories`, of names of at most `longest_category_name` bytes. What is
//       beyond has one stand-in together, and the category's name in its text.
//
// Thread safety: all functions on any thread; an unknown category takes a short lock.
#pragma once

#include <cstddef>
#include <string_view>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/base/values/exit_reason.hpp"
#include "garrick/net/wire/encodable.hpp"

namespace garrick::net {

/// Stand-ins for other processes' categories that a program keeps, at most.
inline constexpr std::size_t most_foreign_categories = 256;
/// Bytes of the name of one.
inline constexpr std::size_t longest_category_name = 64;

/// The stand-in for a category that this program does not have: its `name()` is `name`, and the
/// same name gives the same object. See K1 for what is beyond the limits. Throws std::bad_alloc.
[[nodiscard]] const base::error_category& foreign_category(std::string_view name);
/// Whether this is a stand-in.
[[nodiscard]] bool is_foreign(const base::error_category& c) noexcept;

/// Nanoseconds, as a signed number of variable length.
template <>
struct codec<base::duration> {
  /// Appends it.
  static void encode(byte_writer& out, base::duration d) { out.varint(zigzag(d.count())); }
  /// Reads it.
  static void decode(byte_reader& in, base::duration& d) {
    d = base::duration::nanoseconds(from_zigzag(in.varint()));
  }
};

/// Category, code, the category's text, the error's own text.
template <>
struct codec<base::error> {
  /// Appends it. Throws what the category's `message` throws.
  static void encode(byte_writer& out, const base::error& e);
  /// Reads it, with a text of at most `most_printed` bytes without control characters. A known
  /// category's `message` may later be asked for any code: the other process chose it.
  static void decode(byte_reader& in, base::error& e);
};

/// As the error that it is.
template <>
struct codec<base::exit_reason> {
  /// Appends it.
  static void encode(byte_writer& out, const base::exit_reason& r);
  /// Reads it.
  static void decode(byte_reader& in, base::exit_reason& r);
};

}  // namespace garrick::net
