// The last steps after a failed assertion, and for work that cannot go on without memory or a
// service that the system has withdrawn.
#include "garrick/base/platform/assert.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include "garrick/base/platform/ending.hpp"

namespace garrick::base {

void assertion_failed(const char* file, int line, const char* condition,
                      const char* advice) noexcept {
  std::array<char, 12> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), line).ptr;
  end_process(fatal_cause::assertion,
              {"assertion failed: ", condition, ": ", file, ":",
               std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())),
               advice != nullptr ? ": " : "", advice != nullptr ? advice : ""});
}

void out_of_memory(const char* what) noexcept {
  end_process(fatal_cause::out_of_memory, {"out of memory: ", what});
}

void refused_by_system(const char* what) noexcept {
  end_process(fatal_cause::refused_by_system, {"the system refuses ", what});
}

}  // namespace garrick::base
