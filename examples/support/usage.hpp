// The reactions to `--help` and to unknown arguments, for the examples that take arguments.
#pragma once

#include <cstdio>
#include <string_view>

/// Prints the usage and returns true if the first argument is `--help` or `-h`.
inline bool asks_for_help(int argc, char** argv, const char* usage) {
  if (argc < 2) return false;
  const std::string_view first = argv[1];
  if (first != "--help" && first != "-h") return false;
  std::puts(usage);
  return true;
}

/// Prints the usage to standard error and returns the exit status for unknown arguments.
inline int misused(const char* usage) {
  std::fprintf(stderr, "%s\n", usage);
  return 2;
}
