// Text that another process has said, as it may stand in an error, a dead letter or a log.
//
// Problem: names and texts of errors come from peers, who may be hostile or broken. Megabytes of
// them must not be printed, nor escape sequences reach a terminal, nor a line break look like the
// end of a line of ours.
//
// Invariant:
//   P1  What has been made printable is so: to do it again changes nothing. So a text that passes
//       several nodes is cut and escaped once.
//
// Thread safety: a plain function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace garrick::net {

/// Bytes of another process's text that are shown, at most.
inline constexpr std::size_t most_printed = 4096;
/// The same of a name in a text.
inline constexpr std::size_t most_printed_of_a_name = 512;

/// For the framework. The text with control characters, and bytes that are no UTF-8, written as
/// "\n", "\t" or "\x1b". It has at most `most` bytes; what is longer is cut, and ends in "...".
/// Requires that `most` is at least 8.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = most_printed);

}  // namespace garrick::net
