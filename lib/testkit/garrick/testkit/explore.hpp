// Runs a test under many seeds, so in many orders; the first failing seed is printed with how to
// replay it.
//
//   testkit::explore(1000, [](testkit::test_system& kit) {
//     auto bank = kit.spawn<bank_actor>();
//     …
//     kit.run();
//     kit.require(kit.request(bank, total{}).get() == 100, "money was lost");
//   });
//
// A run fails if the function throws (a testkit::failure, a failed REQUIRE, anything) or if the
// actors leak (test_system::finish). The text of the failure goes to the standard error stream; the
// failing seed runs a second time at once, to show that it fails again. With GARRICK_SEED=17 in the
// environment, only seed 17 runs.
//
// Thread safety: the calling thread.
#pragma once

#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace garrick::testkit {

/// A seed that fails, and how.
struct found_failure {
  std::uint64_t seed = 0;
  std::string text;
  bool replays = false;  ///< the second run failed with the same text
};

using scenario = std::function<void(test_system&)>;

/// One run. Empty: it passed; else why it failed.
[[nodiscard]] std::string run_seed(std::uint64_t seed, const scenario& f, options o = {});

/// Tries the seeds 1 to `seeds` until one fails. Prints nothing.
[[nodiscard]] std::optional<found_failure> find_failure(std::uint64_t seeds, const scenario& f,
                                                        const options& o = {});

/// The same, and throws a testkit::failure if one was found. Prints it, and the command that
/// replays it.
void explore(std::uint64_t seeds, const scenario& f, const options& o = {});

}  // namespace garrick::testkit
