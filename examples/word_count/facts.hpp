// Facts about the texts that follow from the counts, besides the ranking itself.
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
  std::uint64_t once = 0;                                 ///< words that occur only once
  std::array<std::uint64_t, longest_column> by_length{};  ///< running words of 1, 2, … letters
  /// the longest word that is in more than one file or, if there is none, of all words; of equally
  /// long words the most frequent
  std::string longest;
  /// the file with the most words that are in no other file; several_files: there are no such words
  std::uint32_t richest = several_files;
  std::uint64_t own = 0;  ///< the number of these words
};

[[nodiscard]] facts describe(const std::vector<ranked_word>& words);

}  // namespace word_count
