#include "garrick/net/siphash.hpp"

#include <doctest/doctest.h>

#include <array>
#include <span>

namespace siphash_test {

using namespace garrick::net;

// The key of the authors' reference vectors, and the bytes 0, 1, 2 …
constexpr siphash_key key{0x0706050403020100, 0x0f0e0d0c0b0a0908};

TEST_CASE("siphash: it gives the hashes of its authors' reference vectors") {
  std::array<std::byte, 64> bytes{};
  for (std::size_t i = 0; i != bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const auto hash = [&](std::size_t n) { return siphash(key, std::span(bytes).first(n)); };
  CHECK(hash(0) == 0x726fdb47dd0e0e31);
  CHECK(hash(1) == 0x74f839c593dc67fd);
  CHECK(hash(7) == 0xab0200f58b01d137);
  CHECK(hash(8) == 0x93f5f5799a932462);
  CHECK(hash(15) == 0xa129ca6149be45e5);
  CHECK(hash(16) == 0x3f2acc7f57c29bdb);
  CHECK(hash(63) == 0x958a324ceb064572);
}

TEST_CASE("siphash: numbers are hashed as their bytes") {
  CHECK(siphash(key, {0x0706050403020100}) == 0x93f5f5799a932462);
  CHECK(siphash(key, {0x0706050403020100, 0x0f0e0d0c0b0a0908}) == 0x3f2acc7f57c29bdb);
  CHECK(siphash(key, {1}) != siphash({key.low, key.high + 1}, {1}));
  CHECK(siphash(key, {1}) != siphash({key.low + 1, key.high}, {1}));
}

}  // namespace siphash_test
