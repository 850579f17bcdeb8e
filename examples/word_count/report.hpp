// The result in words and bars, 80 columns wide.
//
// Thread safety: any thread may call these; `peak_memory` and `terminal_...` ask the operating
// system, all others are pure.
#pragma once

#include "job.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

/// The most frequent words, and beside them the most frequent ones without function words. `utf8`:
/// the bars may be drawn with its blocks.
[[nodiscard]] std::string chart(const std::vector<ranked_word>& words, std::size_t top, bool utf8);

/// Returns how many of a hundred words have 1, 2, … letters, as a chart.
[[nodiscard]] std::string length_chart(const std::vector<ranked_word>& words, bool utf8);

/// The texts that were read, the time it took, and the files that were left out. Needs a result.
[[nodiscard]] std::string summary(const outcome& o);

/// By reason, with the first path of each; `columns` wide.
[[nodiscard]] std::vector<std::string> by_reason(const std::vector<problem>& problems,
                                                 std::size_t columns);

/// The work of the stages of a stream, and the bottleneck; empty if there are none.
[[nodiscard]] std::string stage_lines(const garrick::patterns::stream_report& stream);

/// The work of each node; empty if there is none.
[[nodiscard]] std::string node_lines(const std::vector<node_work>& nodes);

/// Returns how many handlers died, by role.
[[nodiscard]] std::string strike_report(const outcome& o);

/// A line of the report, and further lines below it: "label            text".
[[nodiscard]] std::string labelled(std::string_view label, const std::vector<std::string>& lines);

/// "12 345 678"
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "12.3 MB"
[[nodiscard]] std::string as_bytes(std::uint64_t bytes);
/// `part` of `whole` in blocks of eighths or in '#', at most `columns` wide, and at least a sliver.
[[nodiscard]] std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns,
                              bool utf8);
/// The end of a text that is too long, after a mark.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t columns);

/// A path with escapes, such as "\\n", for characters that a terminal would obey instead of
/// showing.
[[nodiscard]] std::string printable(const std::string& path);

/// The largest resident memory of this process so far, in bytes.
[[nodiscard]] std::uint64_t peak_memory();

/// Returns the width of the terminal at standard output; 80 if it is unknown.
[[nodiscard]] std::size_t terminal_columns();

/// Returns true if the environment says that the terminal shows UTF-8.
[[nodiscard]] bool terminal_shows_utf8();

}  // namespace word_count
