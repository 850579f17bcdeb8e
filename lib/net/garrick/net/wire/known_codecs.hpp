// The codecs of base's own classes (durations, errors, exit reasons), and stand-ins for error
// categories that this program does not have.
//
// An error travels as the name of its category, its code, the category's text for the code, and its
// own text. A program that has the category makes an equal error of it. Another program makes an
// error of a stand-in category with the foreign name, whose own text contains all of the sender's
// texts. Errors of one foreign category have one stand-in, so they are equal if their codes are. If
// the error travels on to a program that has the category, that program makes an error of the
// category itself. The texts come from untrusted processes, so they are made `printable` when they
// are read.
//
// State: one table of all stand-ins, by name, which only grows, and for each process that sends
// errors the number of those that its errors were the first to name (`foreign_names`).
//
// Invariants:
//   K1  Names come from other processes. Stand-ins live as long as the program, since errors refer
//       to them. Thus there are at most `most_foreign_categories` stand-ins, with names of at most
//       `longest_category_name` bytes. All other categories share one of them, and the category's
//       name is in the error's text.
//   K2  The errors of one process have made at most `foreign_names::most` of them. A node counts by
//       node ids, which a peer without a certificate chooses itself: `peer_admission` is the
//       defence against a process with many of them. A name in the table is known to all.
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

/// The most stand-ins for other processes' categories.
inline constexpr std::size_t most_foreign_categories = 1024;
/// The most bytes of a stand-in's name.
inline constexpr std::size_t longest_category_name = 64;

/// The count of the stand-ins that one other process has caused (K2). For the framework: a node has
/// one for each peer. Any thread.
class foreign_names {
 public:
  /// The most stand-ins that one process may cause.
  static constexpr std::size_t most = 32;
  /// Returns true if the process has caused none.
  [[nodiscard]] bool empty() const noexcept;

 private:
  friend const base::error_category& foreign_category(std::string_view, foreign_names*);
  std::size_t made_ = 0;  ///< under the lock of the table
};

/// Returns the stand-in for a category that this program does not have: its `name()` is `name`, and
/// the same name gives the same object. A new one counts for `of`; null: for all processes without
/// such an object. Beyond the limits see K1 and K2. Throws std::bad_alloc.
[[nodiscard]] const base::error_category& foreign_category(std::string_view name,
                                                           foreign_names* of = nullptr);
/// Returns true if this is a stand-in.
[[nodiscard]] bool is_foreign(const base::error_category& c) noexcept;

/// Nanoseconds, as a signed number of variable length.
template <>
struct codec<base::duration> {
  /// Appends the value.
  static void encode(byte_writer& out, base::duration d) { out.varint(zigzag(d.count())); }
  /// Reads the value.
  static void decode(byte_reader& in, base::duration& d) {
    d = base::duration::nanoseconds(from_zigzag(in.varint()));
  }
};

/// Category, code, the category's text, the error's own text.
template <>
struct codec<base::error> {
  /// Appends the error. Throws the exceptions of the category's `message`.
  static void encode(byte_writer& out, const base::error& e);
  /// Reads the error, with a text of at most `most_printed` bytes without control characters. A
  /// known category's `message` may later be called with any code, since the other process chose
  /// it.
  static void decode(byte_reader& in, base::error& e);
};

/// An exit reason, as its error.
template <>
struct codec<base::exit_reason> {
  /// Appends the reason.
  static void encode(byte_writer& out, const base::exit_reason& r);
  /// Reads the reason.
  static void decode(byte_reader& in, base::exit_reason& r);
};

}  // namespace garrick::net
