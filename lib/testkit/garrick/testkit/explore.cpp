// Seeds tried one after the other, each in a new system.
#include <garrick/testkit/explore.hpp>

#include <cstdio>

namespace garrick::testkit {

std::string run_seed(std::uint64_t seed, const scenario& test, settings given) {
  given.seed = seed;
  try {
    test_system kit(given);
    test(kit);
    kit.expect_no_leaks();
    return {};
  } catch (const std::exception& x) {
    return *x.what() != '\0' ? x.what() : "an exception without a text";
  } catch (...) { return "a failed check, or an exception that is not a std::exception"; }
}

std::optional<found_failure> find_failure(std::uint64_t seeds, const scenario& test,
                                          const settings& given) {
  const bool one = seed_is_given();
  const std::uint64_t first = one ? seed_from_environment(1) : 1;
  const std::uint64_t last = one ? first : seeds;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    std::string text = run_seed(seed, test, given);
    if (text.empty()) continue;
    const bool replays = run_seed(seed, test, given) == text;
    return found_failure{seed, std::move(text), replays};
  }
  return std::nullopt;
}

void explore(std::uint64_t seeds, const scenario& test, const settings& given) {
  seeds = seeds_from_environment(seeds);
  const std::optional<found_failure> found = find_failure(seeds, test, given);
  if (!found) return;
  const auto seed = static_cast<unsigned long long>(found->seed);
  std::fprintf(stderr,
               "testkit: seed %llu of 1 to %llu fails: %s\n  replay: GARRICK_SEED=%llu with the "
               "same command%s\n",
               seed, static_cast<unsigned long long>(seeds), found->text.c_str(), seed,
               found->replays ? ""
                              : "\n  warning: the second run of this seed went another way: the "
                                "test depends on something that "
                                "the seed does not decide");
  throw failure("seed " + std::to_string(found->seed) + " fails: " + found->text, found->seed);
}

}  // namespace garrick::testkit
