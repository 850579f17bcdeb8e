// The failure of an expectation of the testkit: an exception whose text shows the expected and the
// found message, the place and the seed.
//
// Every test framework reports an exception that leaves a test, so the testkit depends on none.
//
// Thread safety: a failure is a value; the functions may be called on any thread.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

namespace garrick::testkit {

namespace internal {
class deterministic_environment;
}

/// An expectation that does not hold. `what()` shows the expected and the found message, the line,
/// the seed, the last messages and the actors that failed.
class failure : public std::runtime_error {
 public:
  /// Makes a failure with this text, under this seed.
  failure(const std::string& text, std::uint64_t seed) : std::runtime_error(text), seed_(seed) {}
  /// Returns the seed of the run: with `GARRICK_SEED` set to it, the run is replayed.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  std::uint64_t seed_;
};

/// Returns the seed in the environment variable GARRICK_SEED or, if it is not set, `otherwise`.
/// Throws std::invalid_argument if the variable does not hold a whole number.
[[nodiscard]] std::uint64_t seed_from_environment(std::uint64_t otherwise);

/// Returns the number of seeds to try: the number in the environment variable GARRICK_SEEDS or, if
/// it is not set, `otherwise`. Throws std::invalid_argument if the variable does not hold a whole
/// number from 1.
[[nodiscard]] std::uint64_t seeds_from_environment(std::uint64_t otherwise);

/// Returns true if the environment variable GARRICK_SEED is set.
[[nodiscard]] bool seed_is_given();

namespace detail {

/// Throws a failure that adds the place, the seed and the last events to `text`.
[[noreturn]] void fail(const internal::deterministic_environment& system, const std::string& text,
                       const std::source_location& where);

}  // namespace detail

}  // namespace garrick::testkit
