// Affinity strings made of the processors that this process may use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace garrick::tests {

/// "<0> <1> <2>": a group for each.
inline std::string one_group_each(const std::vector<std::int32_t>& all) {
  std::string text;
  for (const std::int32_t p : all) text += "<" + std::to_string(p) + "> ";
  return text;
}

}  // namespace garrick::tests
