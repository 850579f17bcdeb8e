// The counts of one part, with the units that they hold: applying a unit twice changes nothing.
//
// So with "at least once" delivery each unit still counts exactly once: a restarted ledger refuses
// the units that its restored state already holds. `sequence` numbers the changes, so that the
// holder of a copy notices a gap.
//
// Entries of a word can be joined in any order: the count is a sum, and the home is the only file
// with the word, or "several files".
//
// Thread safety: values; one owner.
//
// Invariant: `words` holds exactly the counts of the units whose bit is set in `applied`, except
// while `apply` runs. If `apply` throws, the object is destroyed with its actor.
#pragma once

#include "words/text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace word_count {

/// A set of units: one bit each.
class unit_set {
 public:
  [[nodiscard]] bool has(std::uint32_t unit) const noexcept {
    return unit / 64 < bits.size() && (bits[unit / 64] >> (unit % 64) & 1) != 0;
  }
  void add(std::uint32_t unit) {
    if (unit / 64 >= bits.size()) bits.resize(unit / 64 + 1);
    bits[unit / 64] |= std::uint64_t{1} << (unit % 64);
  }
  [[nodiscard]] bool has_all(std::uint32_t units) const noexcept {
    for (std::uint32_t u = 0; u < units; ++u)
      if (!has(u)) return false;
    return true;
  }

  /// public, so that the set is an aggregate and may travel in messages
  std::vector<std::uint64_t> bits;
};

inline constexpr std::uint32_t several_files = UINT32_MAX;

/// The entry of a word.
struct entry {
  std::uint64_t count = 0;
  /// the number of the only file with the word, or several_files
  std::uint32_t home = several_files;

  bool operator==(const entry&) const = default;
};
using lexicon = std::unordered_map<std::string, entry, text_hash, std::equal_to<>>;

struct ranked_word {
  std::string word;
  std::uint64_t count = 0;
  std::uint32_t home = several_files;
};

/// Adds further occurrences of a word, from one file or from several, to its entry.
inline void note(lexicon& known, std::string_view word, std::uint64_t count, std::uint32_t file) {
  const auto at = known.find(word);
  if (at == known.end()) {
    known.emplace(word, entry{count, file});
    return;
  }
  at->second.count += count;
  if (at->second.home != file) at->second.home = several_files;
}

/// Returns the most frequent words first; words with equal counts in the order of their bytes.
[[nodiscard]] std::vector<ranked_word> ranked(lexicon words);

/// The words of a few units that belong to one part.
struct batch {
  std::uint64_t plan = 0;  ///< the fingerprint of the units' plan
  std::uint32_t part = 0;
  std::vector<std::uint32_t> units;
  lexicon words;
};

struct tally {
  std::uint64_t plan = 0;      ///< the fingerprint of the units' plan
  std::uint64_t sequence = 0;  ///< changes so far
  unit_set applied;
  lexicon words;

  // [apply]
  /// Adds a batch, unless one of its units was added before. If the batch has words, calls `midway`
  /// once, in the middle. Returns true if the batch was added.
  template <class Midway>
  bool apply(const batch& more, Midway midway) {
    for (const std::uint32_t unit : more.units)
      if (applied.has(unit)) return false;
    std::size_t until_half = more.words.size() / 2;
    for (const auto& [word, what] : more.words) {
      if (until_half-- == 0) midway();
      note(words, word, what.count, what.home);
    }
    for (const std::uint32_t unit : more.units) applied.add(unit);
    ++sequence;
    return true;
  }
  // [/apply]
};

}  // namespace word_count
