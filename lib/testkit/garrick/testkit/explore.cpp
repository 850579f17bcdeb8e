// Tries seeds one after the other, each in a new system.
#include <garrick/testkit/explore.hpp>

namespace garrick::testkit {

std::string run_seed(std::uint64_t seed, const scenario& test, settings given) {
  given.seed = seed;
  try {
    test_system kit(given);
    test(kit);
    kit.expect_no_leaks();
    return {};
  } catch (...) { return text_of_current_exception(); }
}

std::optional<found_failure> find_failure(std::uint64_t seeds, const scenario& test,
                                          const settings& given) {
  return find_failing_seed(seeds, [&](std::uint64_t seed) { return run_seed(seed, test, given); });
}

void explore(std::uint64_t seeds, const scenario& test, const settings& given) {
  explore_seeds(seeds, [&](std::uint64_t seed) { return run_seed(seed, test, given); });
}

}  // namespace garrick::testkit
