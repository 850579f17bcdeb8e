// Runs a test under many seeds, and so in many orders. Prints the first seed that fails, with the
// command that replays it.
//
//   testkit::explore(1000, [](testkit::test_system& kit) {
//     auto bank = kit.spawn<bank_actor>();
//     …
//     kit.run();
//     kit.require(kit.request(bank, total{}).get().value() == 100, "money was lost");
//   });
//
// A run fails if the function throws (a testkit::failure, a failed REQUIRE, anything) or if the
// actors leak (test_system::finish). The failing seed runs a second time at once, to show that it
// fails again. With GARRICK_SEED=17 in the environment, only seed 17 runs. With GARRICK_SEEDS=20,
// `explore` tries 20 seeds in place of the program's number: useful for few seeds under a
// sanitizer, or many seeds overnight.
//
// Thread safety: every function runs the scenario on the calling thread, and returns after the last
// run.
#pragma once

#include <garrick/testkit/seeds.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace garrick::testkit {

/// The test function: it gets a new system, spawns actors, runs them, and throws if a check fails.
/// It is called at least once for every seed, so it must not keep state from call to call.
using scenario = std::function<void(test_system&)>;

/// Runs `test` once, under this seed. Returns an empty text if it passed, otherwise the reason for
/// the failure. Catches every exception of `test`.
[[nodiscard]] std::string run_seed(std::uint64_t seed, const scenario& test, settings given = {});

/// Tries the seeds from 1 to `seeds` until one fails, and returns that failure; with GARRICK_SEED
/// set, tries only that seed. Prints nothing. Throws std::invalid_argument if GARRICK_SEED holds no
/// number.
[[nodiscard]] std::optional<found_failure> find_failure(std::uint64_t seeds, const scenario& test,
                                                        const settings& given = {});

/// Like `find_failure`, but if a seed fails, prints the failure and the command that replays it to
/// the standard error stream, and throws a `failure`.
///
///     explore(1000, [](test_system& kit) { … kit.require(sum == 100, "money was lost"); });
void explore(std::uint64_t seeds, const scenario& test, const settings& given = {});

}  // namespace garrick::testkit
