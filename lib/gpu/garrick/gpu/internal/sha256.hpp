// SHA-256 (FIPS 180-4): the name and the checksum of a cached program. Not for secrets.
//
// Thread safety: a plain value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace garrick::gpu::internal {

using digest = std::array<std::byte, 32>;

/// Computes a digest: add the bytes, then call `finish` once.
class sha256 {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }
  [[nodiscard]] digest finish() noexcept;

 private:
  void take_block(const std::byte* block) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_{};
  std::uint64_t size_ = 0;
};

/// Returns the digest as 64 hexadecimal digits.
[[nodiscard]] std::string to_hex(const digest& d);

}  // namespace garrick::gpu::internal
