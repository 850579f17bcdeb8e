#include "garrick/gpu/internal/binary_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "garrick/gpu/internal/sha256.hpp"

namespace garrick::gpu::internal {
namespace {

constexpr std::string_view mark("GRKCL\0\0\2", 8);
constexpr std::size_t header = mark.size() + sizeof(digest);

struct closer {
  void operator()(std::FILE* f) const noexcept { static_cast<void>(std::fclose(f)); }
};
using file = std::unique_ptr<std::FILE, closer>;

std::filesystem::path path_of(const std::string& folder, const std::string& key) {
  return std::filesystem::path(folder) / (key + ".clbin");
}

// The sum includes the key, so that a renamed file is not taken for another program.
digest sum_of(const std::string& key, std::span<const std::byte> bytes) {
  sha256 h;
  h.add(key);
  h.add(bytes);
  return h.finish();
}

}  // namespace

std::optional<std::vector<std::byte>> load_binary(const std::string& folder,
                                                  const std::string& key) {
  const std::filesystem::path path = path_of(folder, key);
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (none || size <= header || size > header + largest_binary) return {};
  const file f(std::fopen(path.c_str(), "rb"));
  if (f == nullptr) return {};
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (std::fread(bytes.data(), 1, bytes.size(), f.get()) != bytes.size()) return {};
  const auto marked = std::as_bytes(std::span(mark));
  if (!std::equal(marked.begin(), marked.end(), bytes.begin())) return {};
  const std::span whole(bytes);
  const digest d = sum_of(key, whole.subspan(header));
  if (!std::equal(d.begin(), d.end(), bytes.begin() + mark.size())) return {};
  bytes.erase(bytes.begin(), bytes.begin() + header);
  return bytes;
}

void store_binary(const std::string& folder, const std::string& key,
                  std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() > largest_binary) return;
  std::error_code none;
  std::filesystem::create_directories(folder, none);
  static std::atomic<std::uint32_t> count{0};
  std::filesystem::path temporary = path_of(folder, key);
  temporary += "." + std::to_string(::getpid()) + "." +
               // order: relaxed: the numbers need only differ
               std::to_string(count.fetch_add(1, std::memory_order_relaxed)) + ".part";
  bool written = false;
  if (file f{std::fopen(temporary.c_str(), "wbx")}; f != nullptr) {
    const digest d = sum_of(key, bytes);
    written = std::fwrite(mark.data(), 1, mark.size(), f.get()) == mark.size() &&
              std::fwrite(d.data(), 1, d.size(), f.get()) == d.size() &&
              std::fwrite(bytes.data(), 1, bytes.size(), f.get()) == bytes.size();
    written = std::fclose(f.release()) == 0 && written;
  }
  if (written) std::filesystem::rename(temporary, path_of(folder, key), none);
  if (!written || none) std::filesystem::remove(temporary, none);
}

}  // namespace garrick::gpu::internal
