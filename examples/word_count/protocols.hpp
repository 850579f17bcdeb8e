// Who may say what to whom. Every message is a plain struct that owns what it holds.
//
// The way of a unit: foreman → reader → splitter → counters, and the answer back along the same
// way, or an error from wherever the way broke. Beside it: foreman → walker (what there is to do),
// counter → keeper (what a counter did, so that it can be restored), foreman → ranker → counters
// (the result).
#pragma once

#include "plan.hpp"
#include "tally.hpp"

#include <garrick/garrick.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace word_count {

/// Bit p: part p is meant.
using part_mask = std::uint64_t;
inline constexpr std::size_t most_parts = 64;

// ---- walker -------------------------------------------------------------------------------------

struct find_files {};

/// Nobody can change a plan, so all may share it.
using shared_plan = std::shared_ptr<const plan>;

/// Which files of this plan have changed since?
struct look_again {
  shared_plan known;
};

using walker_protocol =
    garrick::protocol<shared_plan(find_files), std::vector<problem>(look_again)>;

// ---- counter ------------------------------------------------------------------------------------

struct count_unit {
  std::uint64_t plan = 0;
  unit_words content;
};
/// Which units of this plan do you hold? A counter that has worked on another plan begins anew.
struct audit {
  std::uint64_t plan = 0;
};
/// Everything you hold.
struct hand_over {
  std::uint64_t plan = 0;
};

using counter_protocol = garrick::protocol<garrick::result<void>(count_unit), unit_set(audit),
                                           garrick::result<tally>(hand_over)>;

// ---- keeper -------------------------------------------------------------------------------------

/// What a counter did since its last word, in order; `first` is the number of the first change.
/// Fails if the keeper's copy does not end just before it.
struct journal {
  std::uint64_t plan = 0;
  std::uint64_t first = 0;
  std::vector<unit_words> changes;
};
struct replace_copy {
  tally everything;
};
struct restore {};

using keeper_protocol = garrick::protocol<garrick::result<void>(journal),
                                          garrick::result<void>(replace_copy), tally(restore)>;

// ---- splitter and reader ------------------------------------------------------------------------

struct unit_done {
  std::string trouble;  ///< why the file could not be read, though the walker could
};
struct split_unit {
  std::uint64_t plan = 0;
  std::uint32_t unit = 0;
  std::uint32_t file = 0;
  part_mask parts = 0;
  piece text;
};
using splitter_protocol = garrick::protocol<garrick::result<unit_done>(split_unit)>;

struct read_unit {
  std::uint64_t plan = 0;
  std::uint32_t unit = 0;
  part_mask parts = 0;
  word_count::unit what;
  std::string path;
  form how = form::plain;
};
using reader_protocol = garrick::protocol<garrick::result<unit_done>(read_unit)>;

// ---- ranker -------------------------------------------------------------------------------------

struct rank_all {
  std::uint64_t plan = 0;
  std::uint32_t units = 0;
};
struct ranking {
  std::vector<ranked_word> words;  ///< the most frequent first
};
using ranker_protocol = garrick::protocol<garrick::result<ranking>(rank_all)>;

// ---- foreman ------------------------------------------------------------------------------------

/// Answered when everything is counted and ranked.
struct finish {};
struct finished {
  ranking result;
  shared_plan what;
  std::vector<problem> changed;  ///< files that are not what they were when the plan was made
};

enum class phase : std::uint8_t { finding, auditing, counting, ranking, complete };
struct how_far {};
struct progress {
  phase now = phase::finding;
  std::uint64_t files = 0;
  std::uint64_t units = 0;  ///< in the plan
  /// held by every counter, as far as the foreman knows; valid while counting and later
  std::uint64_t units_done = 0;
};
using foreman_protocol = garrick::protocol<garrick::result<finished>(finish), progress(how_far)>;

}  // namespace word_count
