#include <garrick/testkit/failure.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace garrick::testkit {

namespace {
constexpr const char* variable = "GARRICK_SEED";
}

bool seed_is_given() { return std::getenv(variable) != nullptr; }

std::uint64_t seed_from_environment(std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  std::uint64_t seed = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, seed);
  if (error != std::errc{} || stopped != end || stopped == text)
    throw std::invalid_argument(std::string(variable) + "=" + text +
                                ": must be a whole number, for example " + variable + "=17");
  return seed;
}

std::string place_of(const std::source_location& where) {
  const char* const file = where.file_name();
  const char* const slash = std::strrchr(file, '/');
  return std::string(slash != nullptr ? slash + 1 : file) + ":" + std::to_string(where.line());
}

}  // namespace garrick::testkit
