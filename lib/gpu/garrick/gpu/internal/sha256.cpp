#include "garrick/gpu/internal/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace garrick::gpu::internal {
namespace {

constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::byte* at) noexcept {
  std::uint32_t x = 0;
  for (int i = 0; i < 4; ++i) x = x << 8 | std::to_integer<std::uint32_t>(at[i]);
  return x;
}

}  // namespace

void sha256::take_block(const std::byte* block) noexcept {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> out{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += out[i];
}

void sha256::add(std::span<const std::byte> bytes) noexcept {
  std::size_t filled = size_ % 64;
  size_ += bytes.size();
  while (!bytes.empty()) {
    if (filled == 0 && bytes.size() >= 64) {
      take_block(bytes.data());
      bytes = bytes.subspan(64);
      continue;
    }
    const std::size_t n = std::min(bytes.size(), 64 - filled);
    std::memcpy(rest_.data() + filled, bytes.data(), n);
    filled += n;
    bytes = bytes.subspan(n);
    if (filled == 64) {
      take_block(rest_.data());
      filled = 0;
    }
  }
}

digest sha256::finish() noexcept {
  const std::uint64_t bits = size_ * 8;
  constexpr std::byte end{0x80};
  add(std::span(&end, 1));
  constexpr std::byte zero{};
  while (size_ % 64 != 56) add(std::span(&zero, 1));
  std::array<std::byte, 8> length;
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  add(length);
  digest d;
  for (std::size_t i = 0; i < d.size(); ++i)
    d[i] = static_cast<std::byte>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return d;
}

std::string to_hex(const digest& d) {
  std::string s;
  for (const std::byte b : d) {
    s += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4];
    s += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15];
  }
  return s;
}

}  // namespace garrick::gpu::internal
