// Seeds tried one after the other, for simulations of any kind. `explore` does this for actor
// systems; a simulation of another kind uses this directly.
//
//   testkit::explore_seeds(200, [](std::uint64_t seed) {
//     return simulate(seed) ? "" : "the simulation failed";
//   });
//
// Thread safety: every function makes its runs on the calling thread.
#pragma once

#include <garrick/testkit/failure.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace garrick::testkit {

/// A failing seed, and its failure.
struct found_failure {
  std::uint64_t seed = 0;  ///< replays the failure
  std::string text;        ///< the failure's text
  bool replays = false;    ///< the second run failed with the same text
};

/// Makes one run under a seed. Returns an empty text if the run passed; otherwise the reason of the
/// failure. Must not throw, and must not keep state from call to call.
using seeded_run = std::function<std::string(std::uint64_t seed)>;

/// Tries the seeds from 1 to `seeds` until one fails, runs that seed a second time, and returns the
/// failure; with GARRICK_SEED set, tries only that seed. Prints nothing. Throws
/// std::invalid_argument if GARRICK_SEED holds no number.
[[nodiscard]] std::optional<found_failure> find_failing_seed(std::uint64_t seeds,
                                                             const seeded_run& run);

/// Like `find_failing_seed`, for as many seeds as GARRICK_SEEDS says or, without it, `seeds`. If
/// one fails, prints the failure and the command that replays it to the standard error stream, and
/// throws a `failure`.
void explore_seeds(std::uint64_t seeds, const seeded_run& run);

/// Returns the text of an exception, within a catch clause; never empty.
[[nodiscard]] std::string text_of_current_exception();

}  // namespace garrick::testkit
