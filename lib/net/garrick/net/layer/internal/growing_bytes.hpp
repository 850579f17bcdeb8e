// Bytes that are appended piece by piece to many megabytes, on a thread on which others depend.
//
// A growing vector moves its bytes, and touches the same amount of new memory: for some megabytes
// that takes ten milliseconds and more in one go. The system can move pages without touching them,
// and `realloc` makes use of this.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <utility>

namespace garrick::net::internal {

/// A growing array of bytes.
class growing_bytes {
 public:
  growing_bytes() noexcept = default;
  /// Takes the other's bytes.
  growing_bytes(growing_bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  /// Swaps the bytes.
  growing_bytes& operator=(growing_bytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~growing_bytes() { std::free(data_); }

  /// Makes room for `n` bytes in all. Throws std::bad_alloc, and then nothing has changed.
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    void* const moved = std::realloc(data_, n);
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(moved);
    capacity_ = n;
  }
  /// Appends a copy of `more`, which must not be a part of these bytes. Throws std::bad_alloc, and
  /// then nothing has changed.
  void append(std::span<const std::byte> more) {
    if (more.empty()) return;
    if (more.size() > capacity_ - size_) reserve(std::max(size_ + more.size(), 2 * capacity_));
    std::memcpy(data_ + size_, more.data(), more.size());
    size_ += more.size();
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  /// Returns true if `some` lies within these bytes.
  [[nodiscard]] bool holds(std::span<const std::byte> some) const noexcept {
    const std::less_equal<> before;  // of pointers that may be of different objects
    return before(data_, some.data()) && before(some.data() + some.size(), data_ + size_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace garrick::net::internal
