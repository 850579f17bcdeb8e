#include "garrick/gpu/internal/binary_cache.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace binary_cache_test {

namespace {

namespace fs = std::filesystem;
using namespace garrick::gpu::internal;

TEST_CASE("a file is the stored bytes, or nothing") {
  const fs::path folder =
      fs::temp_directory_path() / ("garrick_binary_cache_" + std::to_string(getpid()));
  const std::string key(64, 'a');
  CHECK_FALSE(load_binary(folder.string(), key));
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  store_binary(folder.string(), key, bytes);
  REQUIRE(load_binary(folder.string(), key));
  CHECK(*load_binary(folder.string(), key) == bytes);
  const fs::path file = fs::directory_iterator(folder)->path();
  std::string whole;
  {
    std::ifstream in(file, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  const auto with = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    return load_binary(folder.string(), key).has_value();
  };
  CHECK(with(whole));
  for (const std::size_t at : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{39},
                               std::size_t{40}, whole.size() - 1}) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 4);
    CHECK_FALSE(with(other));
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{8}, std::size_t{40}, whole.size() / 2, whole.size() - 1})
    CHECK_FALSE(with(whole.substr(0, size)));
  CHECK_FALSE(with(whole + "x"));
  store_binary(folder.string(), key, bytes);
  CHECK(load_binary(folder.string(), key));
  const std::string other_key(64, 'b');
  fs::copy_file(file, folder / (other_key + ".clbin"));
  CHECK_FALSE(load_binary(folder.string(), other_key));
  fs::remove_all(folder);
}

TEST_CASE("a folder that cannot be written is no failure") {
  const std::vector<std::byte> bytes(10);
  store_binary("/dev/null/nowhere", "key", bytes);
  CHECK_FALSE(load_binary("/dev/null/nowhere", "key"));
}

}  // namespace

}  // namespace binary_cache_test
