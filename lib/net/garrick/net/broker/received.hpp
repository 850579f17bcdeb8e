// Bytes that have come, where the socket has put them.
//
// Thread safety: as a std::shared_ptr: objects may be used on different threads, one object on one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace garrick::net {

/// A part of a connection's block. The block is read to again when nobody has a part of it any
/// more, and a connection has few blocks: who keeps bytes for long copies them.
class received {
 public:
  using garrick_sendable = void;  ///< nobody writes to them

  /// No bytes.
  received() noexcept = default;
  /// A copy of `bytes`, as for a test. Throws std::bad_alloc.
  [[nodiscard]] static received copy_of(std::span<const std::byte> bytes);
  /// For the framework: bytes, and what keeps them.
  received(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) noexcept
      : owner_(std::move(owner)), bytes_(bytes) {}

  /// The bytes: valid as long as this, or a copy of it, has them.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// The same as characters.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  /// How many there are.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
};

}  // namespace garrick::net
