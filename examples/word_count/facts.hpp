// Facts about the texts from the counts, beside the ranking itself.
//
// Thread safety: values and pure functions.
#pragma once

#include "tally.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

/// Words of this many letters and more are counted together.
inline constexpr std::size_t longest_column = 12;

struct facts {
  std::uint64_t words = 0;  ///< running words
  std::uint64_t different = 0;
  std::uint64_t once = 0;                                 ///< words that occur a single time
  std::array<std::uint64_t, longest_column> by_length{};  ///< running words of 1, 2, … letters
  /// of the words that more than one file has, or of all if there is none such; of equally long
  /// ones the most frequent
  std::string longest;
  /// the file with the most words that no other file has; several_files: no file has any
  std::uint32_t richest = several_files;
  std::uint64_t own = 0;  ///< how many those are
};

[[nodiscard]] facts describe(const std::vector<ranked_word>& words);

}  // namespace word_count
