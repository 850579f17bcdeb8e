// How an expectation of the testkit fails: by an exception whose text says what was expected, what
// was found, where, and with which seed.
//
// Any test framework reports an exception that leaves a test, so none is named here.
//
// Thread safety: a value.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>

namespace garrick::testkit {

namespace internal {
class deterministic_environment;
}

class failure : public std::runtime_error {
 public:
  failure(const std::string& text, std::uint64_t seed) : std::runtime_error(text), seed_(seed) {}
  /// The seed under which it happened.
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

 private:
  std::uint64_t seed_;
};

/// The seed that the environment variable GARRICK_SEED names, or `otherwise`. Throws
/// std::invalid_argument if the variable holds no number.
[[nodiscard]] std::uint64_t seed_from_environment(std::uint64_t otherwise);
/// Is GARRICK_SEED set?
[[nodiscard]] bool seed_is_given();

namespace detail {

/// Throws a failure that adds the place, the seed and what has happened to `text`.
[[noreturn]] void fail(const internal::deterministic_environment& system, const std::string& text,
                       const std::source_location& where);

}  // namespace detail

}  // namespace garrick::testkit
