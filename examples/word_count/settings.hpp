// The settings of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace word_count {

struct settings {
  std::vector<std::string> paths;
  std::uint32_t top = 10;
  std::uint64_t seed = 1;
  std::uint32_t workers = 0;  ///< threads; 0: one per core
  std::uint32_t every = 250;  ///< with chaos, about one of this many places in handlers fails
  std::uint32_t nodes = 0;    ///< processes; 0: only this one, with its stream of stages
  bool chaos = false;
  bool verify = false;
  bool help = false;
};

struct parsed {
  settings values;
  std::string trouble;  ///< the error in the arguments; empty: none
};

[[nodiscard]] parsed parse(const std::vector<std::string_view>& arguments);

[[nodiscard]] std::string_view help_text() noexcept;

}  // namespace word_count
