// Compiled programs in a folder, one in each file, named by their keys.
//
// A file contains a mark of eight bytes, the SHA-256 of the key and the binary, and the binary. It
// is written under another name and then renamed, so a reader finds the whole file or none. A byte
// that has changed later is detected before the driver gets the binary.
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

/// Returns the binary of this key; nullopt if there is none, or if it is damaged.
[[nodiscard]] std::optional<std::vector<std::byte>> load_binary(const std::string& folder,
                                                                const std::string& key);
/// Stores a binary. An error is ignored: the program will be built again.
void store_binary(const std::string& folder, const std::string& key,
                  std::span<const std::byte> bytes);

}  // namespace garrick::gpu::internal
