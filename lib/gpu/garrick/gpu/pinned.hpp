// Memory of the host that a device's driver has pinned, so that it is transferred without another
// copy.
//
//   result<pinned<float>> p = co_await allocate_pinned<float>(*this, gpu, 1 << 20);
//
// It is a container of a fixed size, and can be an argument or an output of a kernel. It can be
// moved, but not copied. With a driver that does not pin memory, it is ordinary memory.
//
// Thread safety: like a std::vector.
#pragma once

#include <garrick/gpu/detail/buffer.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::gpu {

/// Elements in pinned memory, which counts towards the device's budget. Made by `allocate_pinned`,
/// or as the output of a kernel.
template <class T>
class pinned {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "garrick: a device has values that can be copied byte by byte, and no bool");

 public:
  using garrick_sendable = void;   ///< it has one owner
  using garrick_only_here = void;  ///< to send it to another process, copy it to a vector
  using value_type = T;            ///< an element

  /// Makes a container without elements.
  pinned() noexcept = default;
  /// For the framework: takes over pinned memory that has no other holder.
  explicit pinned(detail::buffer_ptr b) noexcept : buffer_(std::move(b)) {}
  pinned(pinned&&) noexcept = default;
  pinned& operator=(pinned&&) noexcept = default;
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;
  ~pinned() = default;

  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const noexcept {
    return buffer_ ? buffer_->bytes() / sizeof(T) : 0;
  }
  /// Returns true if there is no element.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Returns a pointer to the first element; null if there is none.
  [[nodiscard]] T* data() noexcept {
    return buffer_ ? static_cast<T*>(buffer_->address()) : nullptr;
  }
  /// Returns the same for reading.
  [[nodiscard]] const T* data() const noexcept {
    return buffer_ ? static_cast<const T*>(buffer_->address()) : nullptr;
  }
  /// Returns element `i`, which must be below `size()`.
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  /// Returns the same for reading.
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  /// Returns a pointer to the first element.
  [[nodiscard]] T* begin() noexcept { return data(); }
  /// Returns a pointer past the last element.
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  /// Returns a pointer to the first element for reading.
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  /// Returns a pointer past the last element.
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }

  /// For the framework: returns the buffer.
  [[nodiscard]] const detail::buffer_ptr& buffer() const noexcept { return buffer_; }

 private:
  detail::buffer_ptr buffer_;
};

}  // namespace garrick::gpu
