// The search for a failing seed, and the report about it.
#include <garrick/testkit/seeds.hpp>

#include <cstdio>
#include <exception>
#include <utility>

namespace garrick::testkit {

std::string text_of_current_exception() {
  try {
    throw;
  } catch (const std::exception& x) {
    return *x.what() != '\0' ? x.what() : "an exception without a text";
  } catch (...) { return "a failed check, or an exception that is not a std::exception"; }
}

std::optional<found_failure> find_failing_seed(std::uint64_t seeds, const seeded_run& run) {
  const bool one = seed_is_given();
  const std::uint64_t first = one ? seed_from_environment(1) : 1;
  const std::uint64_t last = one ? first : seeds;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    std::string text = run(seed);
    if (text.empty()) continue;
    const bool replays = run(seed) == text;
    return found_failure{seed, std::move(text), replays};
  }
  return std::nullopt;
}

void explore_seeds(std::uint64_t seeds, const seeded_run& run) {
  seeds = seeds_from_environment(seeds);
  const std::optional<found_failure> found = find_failing_seed(seeds, run);
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
