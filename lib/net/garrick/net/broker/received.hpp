// Received bytes, where the socket has put them.
//
// Thread safety: that of a std::shared_ptr: one object is one thread's at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace garrick::net {

/// A part of a connection's block. The block is read into again when no part of it is held any
/// more, and a connection has few blocks: copy bytes that are kept for long.
///
///     void on(const net::new_data& d) { heard_ += d.bytes.text(); }
class received {
 public:
  using garrick_sendable = void;  ///< no thread writes to the bytes

  /// Holds no bytes.
  received() noexcept = default;
  /// Returns an object with a copy of `bytes`, for example for a test. Throws std::bad_alloc.
  [[nodiscard]] static received copy_of(std::span<const std::byte> bytes);
  /// For the framework: refers to `bytes`, which `owner` keeps.
  received(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) noexcept
      : owner_(std::move(owner)), bytes_(bytes) {}

  /// Returns the bytes. They are valid as long as this object or a copy of it exists.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Returns the bytes as characters.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  /// Returns the number of bytes.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace garrick::net
