// The result in words and bars.
#pragma once

#include "job.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

/// A bar for each of the first `top` words, scaled to the first.
[[nodiscard]] std::string chart(const std::vector<counted_word>& words, std::size_t top, bool utf8);

/// What was not counted, by reason, with a few of the paths.
[[nodiscard]] std::string problem_report(const std::vector<problem>& problems);

/// "12 345 678"
[[nodiscard]] std::string grouped(std::uint64_t number);
/// "12.3 MB"
[[nodiscard]] std::string as_bytes(std::uint64_t bytes);

/// The largest resident memory of this process so far, in bytes.
[[nodiscard]] std::uint64_t peak_memory();

}  // namespace word_count
