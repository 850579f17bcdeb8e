#include "garrick/net/testkit/explore_network.hpp"

#include <algorithm>

namespace garrick::net::testkit {

std::uint64_t seeds() { return garrick::testkit::seeds_from_environment(200); }

std::string run_network_seed(std::uint64_t seed, const network_program& program,
                             const network_settings& s) {
  constexpr std::size_t history_of_a_replay = 2000;
  network_settings given = s;
  if (garrick::testkit::seed_is_given()) given.history = std::max(s.history, history_of_a_replay);
  simulated_network net(seed, given);
  try {
    program(net);
    return {};
  } catch (const network_failure& x) { return x.what(); } catch (...) {
    return garrick::testkit::text_of_current_exception() + net.history().to_string();
  }
}

std::optional<garrick::testkit::found_failure> find_network_failure(std::uint64_t count,
                                                                    const network_program& program,
                                                                    const network_settings& s) {
  return garrick::testkit::find_failing_seed(
      count, [&](std::uint64_t seed) { return run_network_seed(seed, program, s); });
}

void explore_network(std::uint64_t count, const network_program& program,
                     const network_settings& s) {
  garrick::testkit::explore_seeds(
      count, [&](std::uint64_t seed) { return run_network_seed(seed, program, s); });
}

}  // namespace garrick::net::testkit
