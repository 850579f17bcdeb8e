// Text from another process, in a form that an error, a dead letter or a log may contain.
//
// Problem: names and error texts come from peers, which may be hostile or broken. Such a text must
// not fill megabytes of a log, no escape sequence of it may reach a terminal, and none of its line
// breaks may look like the end of one of our lines.
//
// Invariant:
//   P1  Making text printable a second time changes nothing: a text that passes several nodes is
//       cut and escaped once.
//
// Thread safety: a plain function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace garrick::net {

/// The most bytes of another process's text that are shown.
inline constexpr std::size_t most_printed = 4096;
/// The most bytes of another process's name that are shown.
inline constexpr std::size_t most_printed_of_a_name = 512;

/// For the framework. Returns the text with control characters, and bytes that are no UTF-8,
/// written as "\n", "\t" or "\x1b". The result has at most `most` bytes; longer text is cut and
/// ends in "...". Requires `most >= 8`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = most_printed);

}  // namespace garrick::net
