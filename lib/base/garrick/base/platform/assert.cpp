// The end of the road for a failed assertion, and for work that cannot go on without memory or what
// the system has withdrawn. It uses stdio only, because it must work when the heap or the logger is
// what failed.
#include "garrick/base/platform/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace garrick::base {

void assertion_failed(const char* file, int line, const char* condition,
                      const char* advice) noexcept {
  std::fprintf(stderr, "garrick: assertion failed: %s: %s:%d%s%s\n", condition, file, line,
               advice != nullptr ? ": " : "", advice != nullptr ? advice : "");
  std::fflush(stderr);
  std::abort();
}

void out_of_memory(const char* what) noexcept {
  std::fprintf(stderr, "garrick: out of memory: %s\n", what);
  std::fflush(stderr);
  std::abort();
}

void refused_by_system(const char* what) noexcept {
  std::fprintf(stderr, "garrick: the system refuses %s\n", what);
  std::fflush(stderr);
  std::abort();
}

}  // namespace garrick::base
