// Runs a program in a simulated network under many seeds. The first seed that fails is printed with
// its history, and with the command that replays it.
//
//   explore_network(200, [](simulated_network& net) {
//     …
//     net.run_for(duration::seconds(10));
//     net.require(sum == 100, "money was lost");
//   });
//
// Like `testkit::explore`: with GARRICK_SEED=17 in the environment only seed 17 runs, and its
// history is longer; GARRICK_SEEDS=20 sets how many are tried.
//
// Thread safety: the program runs on the calling thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "garrick/net/testkit/simulated_network.hpp"
#include "garrick/testkit/seeds.hpp"

namespace garrick::net::testkit {

/// The program to run: it gets a new network, and throws if a check fails. It is called once or
/// more for every seed, so it must not keep state from call to call.
using network_program = std::function<void(simulated_network&)>;

/// Returns the number of seeds for a test: the value of GARRICK_SEEDS, or 200. Throws as
/// `testkit::seeds_from_environment` does.
[[nodiscard]] std::uint64_t seeds();

/// Runs `program` once, under this seed. Returns an empty text if it passed, otherwise the reason
/// of the failure with the history. Catches all exceptions of `program`.
[[nodiscard]] std::string run_network_seed(std::uint64_t seed, const network_program& program,
                                           const network_settings& s = {});

/// Tries the seeds from 1 to `count` until one fails; with GARRICK_SEED set, only that one. Returns
/// the failure, or nothing if all have passed. Prints nothing. Throws std::invalid_argument if
/// GARRICK_SEED holds no number.
[[nodiscard]] std::optional<garrick::testkit::found_failure> find_network_failure(
    std::uint64_t count, const network_program& program, const network_settings& s = {});

/// Like `find_network_failure`, with the number of seeds from GARRICK_SEEDS or, without it,
/// `count`. If a seed fails, prints it and throws a `testkit::failure`.
void explore_network(std::uint64_t count, const network_program& program,
                     const network_settings& s = {});

}  // namespace garrick::net::testkit
