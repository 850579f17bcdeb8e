// How an expectation of the testkit fails: by an exception whose text says what was expected, what
// was found, where, and with which seed.
//
// Every test framework reports an exception that leaves a test, so none is named here.
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

/// An expectation that does not hold. `what()` says what was expected, what was found, the line,
/// the seed, the last messages and which actors failed.
class failure : public std::runtime_error {
 public:
  /// Fails with this text, under this seed.
  failure(const std::string& text, std::uint64_t seed) : std::runtime_error(text), seed_(seed) {}
  /// The seed under which it happened: `GARRICK_SEED` set to it replays the run.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  std::uint64_t seed_;
};

/// The seed that the environment variable GARRICK_SEED holds or, if it is not set, `otherwise`.
/// Throws std::invalid_argument if the variable does not hold a whole number.
[[nodiscard]] std::uint64_t seed_from_environment(std::uint64_t otherwise);

/// How many seeds to try: what the environment variable GARRICK_SEEDS holds or, if it is not set,
/// `otherwise`. Throws std::invalid_argument if the variable does not hold a whole number from 1.
[[nodiscard]] std::uint64_t seeds_from_environment(std::uint64_t otherwise);

/// True if the environment variable GARRICK_SEED is set.
[[nodiscard]] bool seed_is_given();

namespace detail {

/// Throws a failure that adds the place, the seed and what has happened to `text`.
[[noreturn]] void fail(const internal::deterministic_environment& system, const std::string& text,
                       const std::source_location& where);

}  // namespace detail

}  // namespace garrick::testkit
