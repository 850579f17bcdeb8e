// Seeds tried one after the other, whatever it is that they decide. `explore` does this for actor
// systems; whoever has a simulation of another kind uses it for that.
//
//   testkit::explore_seeds(200, [](std::uint64_t seed) {
//     return simulate(seed) ? "" : "the simulation failed";
//   });
//
// Thread safety: every function runs on the calling thread, and returns when it is done.
#pragma once

#include <garrick/testkit/failure.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace garrick::testkit {

/// A seed that fails, and how.
struct found_failure {
  std::uint64_t seed = 0;  ///< replays it
  std::string text;        ///< what the failure said
  bool replays = false;    ///< the second run failed with the same text
};

/// Runs something under a seed. An empty text: it passed; otherwise why it failed. Must not throw,
/// and must not keep anything from call to call.
using seeded_run = std::function<std::string(std::uint64_t seed)>;

/// Tries the seeds from 1 to `seeds` until one fails, and runs that one a second time; with
/// GARRICK_SEED set, only that one. Prints nothing. Throws std::invalid_argument if GARRICK_SEED
/// holds no number.
[[nodiscard]] std::optional<found_failure> find_failing_seed(std::uint64_t seeds,
                                                             const seeded_run& run);

/// As `find_failing_seed`, of as many seeds as GARRICK_SEEDS says or, without it, `seeds`. If one
/// fails, prints the failure and how it is replayed to the standard error stream, and throws a
/// `failure`.
void explore_seeds(std::uint64_t seeds, const seeded_run& run);

/// What an exception says, within a catch clause; never empty.
[[nodiscard]] std::string text_of_current_exception();

}  // namespace garrick::testkit
