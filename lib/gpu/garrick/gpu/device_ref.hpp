// Data that lies on a device: kernels hand it to each other without a copy on the host.
//
//   ref<protocol<device_ref<float>(device_ref<float>, device_ref<float>)>> multiply;
//
// A device_ref is a value that shares: copies name the same memory, which is freed when the last
// one is gone. Shared memory does not change: a kernel that changes its argument works in place if
// the only ref was moved to it, and otherwise on a copy. The data behind a ref is always complete;
// an answer that holds a ref comes when the kernel is done.
//
// Thread safety: distinct refs may be used on any thread; one object is one thread's.
#pragma once

#include <garrick/gpu/detail/buffer.hpp>
#include <garrick/gpu/device.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::gpu {

/// Elements of type T on a device. A ref may be sent to actors of this process; it is of no use to
/// another process, so a protocol with one cannot be published. It may outlive the runtime: then a
/// request that it is part of is `gpu_errc::closed`.
template <class T>
class device_ref {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "garrick: a device has values that can be copied byte by byte, and no bool");

 public:
  using garrick_sendable = void;   ///< shared memory does not change
  using garrick_only_here = void;  ///< no other process can use it
  using value_type = T;            ///< an element

  /// Makes an empty ref, which is refused as an argument.
  device_ref() noexcept = default;
  /// For the framework: takes over a buffer.
  explicit device_ref(detail::buffer_ptr b) noexcept : buffer_(std::move(b)) {}

  /// Returns false if it names nothing.
  explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const noexcept {
    return buffer_ ? buffer_->bytes() / sizeof(T) : 0;
  }
  /// Returns its device; an empty device if it names nothing.
  [[nodiscard]] gpu::device device() const noexcept {
    return buffer_ ? gpu::device(buffer_->owner()) : gpu::device();
  }
  /// Returns true if this is the only ref of this memory. It stays so as long as the caller does
  /// not copy it.
  [[nodiscard]] bool is_unique() const noexcept { return buffer_ && buffer_->is_unique(); }

  /// Returns true if both name the same memory.
  friend bool operator==(const device_ref& a, const device_ref& b) noexcept {
    return a.buffer_.get() == b.buffer_.get();
  }

  /// For the framework: returns the buffer.
  [[nodiscard]] const detail::buffer_ptr& buffer() const noexcept { return buffer_; }

 private:
  detail::buffer_ptr buffer_;
};

}  // namespace garrick::gpu
