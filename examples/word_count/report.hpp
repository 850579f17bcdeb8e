// The result in words and bars, 80 columns wide.
//
// Thread safety: any thread may call these functions. `peak_memory` and `terminal_...` ask the
// operating system; all others are pure.
#pragma once

#include "job.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

/// Returns the most frequent words, and beside them the most frequent ones without function words.
/// With `utf8`, bars are drawn with block characters.
[[nodiscard]] std::string chart(const std::vector<ranked_word>& words, std::size_t top, bool utf8);

/// Returns a chart of the percentages of words with 1, 2, … letters.
[[nodiscard]] std::string length_chart(const std::vector<ranked_word>& words, bool utf8);

/// Returns the texts that were read, the time it took, and the files that were left out. Requires a
/// result.
[[nodiscard]] std::string summary(const outcome& o);

/// Returns a line for each reason, with its first path, at most `columns` wide.
[[nodiscard]] std::vector<std::string> by_reason(const std::vector<problem>& problems,
                                                 std::size_t columns);

/// Returns the work of the stages of a stream, and the bottleneck; empty if there are no stages.
[[nodiscard]] std::string stage_lines(const garrick::patterns::stream_report& stream);

/// Returns the work of each node; empty if there are no nodes.
[[nodiscard]] std::string node_lines(const std::vector<node_work>& nodes);

/// Returns the number of failed handlers of each role.
[[nodiscard]] std::string strike_report(const outcome& o);

/// Returns a line of the report, and further lines below it: "label text".
[[nodiscard]] std::string labelled(std::string_view label, const std::vector<std::string>& lines);

/// "12 345 678"
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "12.3 MB"
[[nodiscard]] std::string as_bytes(std::uint64_t bytes);
/// Returns a bar for `part` of `whole`, in blocks of eighths or in '#', at most `columns` wide and
/// never empty.
[[nodiscard]] std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns,
                              bool utf8);
/// Returns the text or, if it is too long, a mark and the text's end.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t columns);

/// Returns a path with escapes, such as "\\n", for control characters.
[[nodiscard]] std::string printable(const std::string& path);

/// Returns the largest resident memory of this process so far, in bytes.
[[nodiscard]] std::uint64_t peak_memory();

/// Returns the width of the terminal at standard output; 80 if unknown.
[[nodiscard]] std::size_t terminal_columns();

/// Returns true if the environment says that the terminal shows UTF-8.
[[nodiscard]] bool terminal_shows_utf8();

}  // namespace word_count
