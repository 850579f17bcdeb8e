// Compiled programs in a folder, one a file, named by their key.
//
// A file is a mark of eight bytes, the SHA-256 of the key and the rest, and the binary. It is
// written under another name and renamed, so a reader sees all of it or nothing; and a byte that
// changed later, for any reason, is found before a driver sees it.
//
// Thread safety: plain functions; several processes may share a folder.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace garrick::gpu::internal {

/// The largest binary, in bytes, that is kept or read.
inline constexpr std::size_t largest_binary = std::size_t{256} << 20;

/// Returns the binary of this key; nothing if there is none, or if it is damaged.
[[nodiscard]] std::optional<std::vector<std::byte>> load_binary(const std::string& folder,
                                                                const std::string& key);
/// Keeps a binary. An error here is no failure: the binary will be built again.
void store_binary(const std::string& folder, const std::string& key,
                  std::span<const std::byte> bytes);

}  // namespace garrick::gpu::internal
