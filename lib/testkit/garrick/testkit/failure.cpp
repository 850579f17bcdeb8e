// The text of a failure, and the environment's variables for seeds.
#include <garrick/testkit/failure.hpp>
#include <garrick/testkit/internal/deterministic_environment.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace garrick::testkit {

namespace {

constexpr const char* variable = "GARRICK_SEED";

/// "file.cpp:12".
std::string place_of(const std::source_location& where) {
  const char* const file = where.file_name();
  const char* const slash = std::strrchr(file, '/');
  return std::string(slash != nullptr ? slash + 1 : file) + ":" + std::to_string(where.line());
}

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  std::uint64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, number);
  if (error != std::errc{} || stopped != end || stopped == text)
    throw std::invalid_argument(std::string(name) + "=" + text +
                                ": must be a whole number, for example " + name + "=17");
  return number;
}

}  // namespace

bool seed_is_given() { return std::getenv(variable) != nullptr; }

std::uint64_t seed_from_environment(std::uint64_t otherwise) {
  return number_from_environment(variable, otherwise);
}

std::uint64_t seeds_from_environment(std::uint64_t otherwise) {
  const std::uint64_t seeds = number_from_environment("GARRICK_SEEDS", otherwise);
  if (seeds == 0 && std::getenv("GARRICK_SEEDS") != nullptr)
    throw std::invalid_argument(
        "GARRICK_SEEDS=0: must be at least 1, or the scenario would not run at all");
  return seeds;
}

void detail::fail(const internal::deterministic_environment& system, const std::string& text,
                  const std::source_location& where) {
  const std::uint64_t number = system.seed();
  const std::string seed = std::to_string(number);
  throw failure(text + "\n  at " + place_of(where) + ", seed " + seed + " (GARRICK_SEED=" + seed +
                    " replays it)" + system.past().to_string(),
                number);
}

}  // namespace garrick::testkit
