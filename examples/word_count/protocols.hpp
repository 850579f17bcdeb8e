// The protocols of all actors. Every message is a plain struct that owns its content.
//
// Units enter the stream that the foreman begins (stages.hpp), and leave it as batches for the
// ledgers. Other messages: foreman → walker (the work), foreman → ledgers (their units), ledger →
// keeper (its additions, for a later restore), foreman → ranker → ledgers (the result).
#pragma once

#include "plan.hpp"
#include "tally.hpp"

#include <garrick/garrick.hpp>
#include <garrick/patterns/stream.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace word_count {

/// A set of parts: bit p stands for part p.
using part_mask = std::uint64_t;

// ---- walker -------------------------------------------------------------------------------------

struct find_files {};

/// A plan cannot change, so all actors may share it.
using shared_plan = std::shared_ptr<const plan>;

/// Requests the files of this plan that have changed since.
struct look_again {
  shared_plan known;
};

using walker_protocol =
    garrick::protocol<shared_plan(find_files), std::vector<problem>(look_again)>;

// ---- ledger -------------------------------------------------------------------------------------

/// Requests the units of this plan that the receiver holds. A ledger that has worked on another
/// plan starts from zero.
struct audit {
  std::uint64_t plan = 0;
};
/// Requests the whole tally.
struct hand_over {
  std::uint64_t plan = 0;
};

using ledger_protocol =
    garrick::protocol<void(batch), unit_set(audit), garrick::result<tally>(hand_over)>;

// ---- keeper -------------------------------------------------------------------------------------

/// The additions of a ledger, as its change number `sequence`. Fails if the keeper's copy does not
/// end with the change before it.
struct journal {
  std::uint64_t sequence = 0;
  batch added;
};
struct replace_copy {
  tally everything;
};
struct restore {};

using keeper_protocol = garrick::protocol<garrick::result<void>(journal),
                                          garrick::result<void>(replace_copy), tally(restore)>;

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
  std::vector<problem> changed;  ///< files that have changed since the plan was made
  garrick::patterns::stream_report
      stream;  ///< by stage, of this foreman's stream with the most units
};

enum class phase : std::uint8_t { finding, auditing, counting, ranking, complete };
struct how_far {};
struct progress {
  phase now = phase::finding;
  std::uint64_t files = 0;
  std::uint64_t shares = 0;  ///< one for each part of each unit
  /// the shares that the ledgers hold, as far as the foreman knows; valid while counting and later
  std::uint64_t shares_done = 0;
  /// the stream that counts the other shares; empty if none runs
  garrick::patterns::stream_ref<> stream{};
};
/// The protocol for a display.
using progress_protocol = garrick::protocol<progress(how_far)>;
/// A file that was readable for the walker and is not any more, and the reason.
struct unread {
  problem what;
};
using foreman_protocol =
    garrick::protocol<garrick::result<finished>(finish), progress(how_far), void(unread)>;

}  // namespace word_count
