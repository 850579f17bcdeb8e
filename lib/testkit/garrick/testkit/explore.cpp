#include <garrick/testkit/explore.hpp>

#include <cstdio>

namespace garrick::testkit {

std::string run_seed(std::uint64_t seed, const scenario& f, options o) {
  o.seed = seed;
  try {
    test_system kit(o);
    f(kit);
    kit.expect_no_leaks();
    return {};
  } catch (const std::exception& x) {
    return *x.what() != '\0' ? x.what() : "an exception without a text";
  } catch (...) { return "a failed check, or an exception that is not a std::exception"; }
}

std::optional<found_failure> find_failure(std::uint64_t seeds, const scenario& f,
                                          const options& o) {
  const bool given = seed_is_given();
  const std::uint64_t first = given ? seed_from_environment(1) : 1;
  const std::uint64_t last = given ? first : seeds;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    std::string text = run_seed(seed, f, o);
    if (text.empty()) continue;
    const bool replays = run_seed(seed, f, o) == text;
    return found_failure{seed, std::move(text), replays};
  }
  return std::nullopt;
}

void explore(std::uint64_t seeds, const scenario& f, const options& o) {
  const std::optional<found_failure> found = find_failure(seeds, f, o);
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
