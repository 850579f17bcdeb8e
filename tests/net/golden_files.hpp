// Files of bytes that pin version 1 of the protocol: a build must write the bytes of these files,
// for ever. A file names the type of its bytes in its first line, in the words of
// tools/wire/decode.py, and then holds them in hexadecimal.
//
// GARRICK_UPDATE_GOLDEN=1 in the environment writes those that are missing; to change one, delete
// it first. There should be no reason to.
#pragma once

#include <garrick/base/values/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.hpp"

namespace garrick_test {

/// An error with texts that never change.
enum class trouble : std::uint32_t { late = 3, broken = 70000 };
struct trouble_category final : garrick::base::error_category {
  [[nodiscard]] std::string_view name() const noexcept override { return "trouble"; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    return code == 3 ? "too late" : "broken";
  }
};
inline constexpr trouble_category troubles;
inline const garrick::base::error_category& error_category_of(trouble) noexcept { return troubles; }

inline const std::string golden_folder =
    std::string(garrick::tests::places::source_tree) + "/tests/net/golden/";

inline std::string golden_text(std::string_view type, std::span<const std::byte> bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "# " + std::string(type);
  for (std::size_t i = 0; i != bytes.size(); ++i) {
    const auto byte = std::to_integer<std::size_t>(bytes[i]);
    text += i % 16 == 0 ? '\n' : ' ';
    text += {digits[byte / 16], digits[byte % 16]};
  }
  return text + '\n';
}

/// Returns the bytes of a golden file; empty if it is not there.
inline std::vector<std::byte> golden_bytes(const std::string& name) {
  std::ifstream file(golden_folder + name + ".hex");
  std::string line;
  std::getline(file, line);
  std::vector<std::byte> bytes;
  for (unsigned x = 0; file >> std::hex >> x;) bytes.push_back(static_cast<std::byte>(x));
  return bytes;
}

/// Returns the type of a golden file's bytes, by its first line.
inline std::string golden_type(const std::string& name) {
  std::ifstream file(golden_folder + name + ".hex");
  std::string line;
  std::getline(file, line);
  return line.substr(std::min<std::size_t>(line.size(), 2));
}

/// Checks that the file `name` holds these bytes of this type.
inline void golden(const std::string& name, std::string_view type,
                   std::span<const std::byte> bytes) {
  INFO(name);
  const std::string path = golden_folder + name + ".hex";
  const std::string text = golden_text(type, bytes);
  std::ifstream file(path);
  if (!file && std::getenv("GARRICK_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  REQUIRE(file.good());
  const std::string there{std::istreambuf_iterator<char>(file), {}};
  CHECK(there == text);
}

}  // namespace garrick_test
