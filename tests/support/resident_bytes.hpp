// The resident memory of this process.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>

namespace garrick::tests {

/// Bytes of this process that are resident.
inline std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  if (f == nullptr || std::fscanf(f, "%*u %zu", &pages) != 1) pages = 0;
  if (f != nullptr) std::fclose(f);
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace garrick::tests
