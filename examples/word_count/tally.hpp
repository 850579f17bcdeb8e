// One part's counts, with the knowledge of which units they hold: applying a unit twice changes nothing.
//
// This is what makes "at least once" delivery count exactly once: a counter that fell applies whatever is sent to it again, and skips what its restored state
// already holds. `sequence` numbers the changes, so that a copy kept elsewhere notices a gap.
//
// Thread safety: a value; one owner.
//
// Invariant: `words` holds exactly the counts of the units whose bit is set in `applied`, except while `apply` runs; if a handler dies inside it, the object dies too.
#pragma once

#include "text.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace word_count {

/// Which units: one bit each.
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

  std::vector<std::uint64_t> bits;  ///< public, so that the set is an aggregate and may travel in messages
};

/// The words of one unit that belong to one part.
struct unit_words {
  std::uint32_t unit = 0;
  std::vector<counted_word> words;
};

struct tally {
  std::uint64_t plan = 0;      ///< fingerprint of the plan that the units belong to
  std::uint64_t sequence = 0;  ///< changes so far
  unit_set applied;
  counts words;

  // [apply]
  /// Counts a unit, unless that was done before. `midway` is called once, in the middle. True if anything changed.
  template <class Midway>
  bool apply(const unit_words& more, Midway midway) {
    if (applied.has(more.unit)) return false;
    const std::size_t half = more.words.size() / 2;
    for (std::size_t i = 0; i < more.words.size(); ++i) {
      if (i == half) midway();
      const counted_word& w = more.words[i];
      if (const auto known = words.find(std::string_view(w.word)); known != words.end())
        known->second += w.count;
      else
        words.emplace(w.word, w.count);
    }
    applied.add(more.unit);
    ++sequence;
    return true;
  }
  // [/apply]
};

}  // namespace word_count
