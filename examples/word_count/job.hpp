// The whole job: starts the system and the tree of supervised actors, waits for the result, and
// ends the system.
//
// Thread safety: `run` blocks the calling thread, which must not be a worker.
#pragma once

#include "chaos.hpp"
#include "plan.hpp"
#include "tally.hpp"

#include <garrick/patterns/report.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace word_count {

enum class show : std::uint8_t { nothing, lines, bar };

struct job {
  std::vector<std::string> paths;
  std::uint32_t workers = 0;
  std::uint32_t unit_bytes = 32 * 1024;
  std::uint64_t seed = 1;
  std::uint32_t chaos_every = 0;  ///< 0: no chaos
  show display = show::nothing;
};

/// The work of a node in a run over several nodes.
struct node_work {
  std::uint32_t node = 0;             ///< from 1
  std::int64_t pid = 0;               ///< of its latest known process; 0: none, or this process
  std::uint32_t lives = 0;            ///< the number of its known processes
  std::uint64_t parts = 0;            ///< the parts that it has counted
  std::uint64_t bytes = 0;            ///< the bytes of these parts
  std::uint64_t words = 0;            ///< the running words of these parts
  std::uint64_t given_to_others = 0;  ///< parts that were under way when a process was lost
  std::uint32_t ended = 0;            ///< processes that have ended before their time
  bool was_killed = false;            ///< by chaos
};

struct outcome {
  std::vector<ranked_word> words;           ///< the most frequent first
  std::shared_ptr<const plan> what;         ///< the files, and the paths that were left out
  std::vector<problem> changed;             ///< files that changed during the count
  garrick::patterns::stream_report stream;  ///< the stages of the longest stream
  std::vector<node_work> nodes;             ///< empty: this process did all the work
  std::uint64_t messages = 0;
  std::array<std::uint64_t, role_count> strikes{};
  double seconds = 0;
  std::string trouble;  ///< the reason why there is no result; empty: there is one
};

[[nodiscard]] outcome run(const job& what);

/// Returns the same result by one loop over the whole files, without actors and units.
[[nodiscard]] lexicon count_sequentially(const std::vector<source>& files);

/// Returns a description of the first difference; empty if there is none.
[[nodiscard]] std::string difference(const std::vector<ranked_word>& counted,
                                     const lexicon& expected);

}  // namespace word_count
