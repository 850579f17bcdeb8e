// Data on a device, which kernels pass to each other without a copy on the host.
//
//   ref<protocol<device_ref<float>(device_ref<float>, device_ref<float>)>> multiply;
//
// Copies of a device_ref share the same memory, which is freed with the last copy. Shared memory
// does not change: a kernel that changes its argument works in place if the only ref was moved to
// it, and otherwise on a copy. The data behind a ref is always complete: an answer that holds a ref
// is sent after the kernel has run.
//
// Thread safety: distinct refs may be used on any thread; one object may be used on one thread at a
// time.
#pragma once

#include <garrick/gpu/detail/buffer.hpp>
#include <garrick/gpu/device.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace garrick::gpu {

/// Elements of type T on a device. A ref may be sent to actors of this process; it is of no use to
/// another process, so a protocol with one cannot be published. It may outlive the runtime: a
/// request that contains it then fails with `gpu_errc::closed`.
template <class T>
class device_ref {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>,
                "garrick: a device has values that can be copied byte by byte, and no bool");

 public:
  using garrick_sendable = void;   ///< shared memory does not change
  using garrick_only_here = void;  ///< no other process can use it
  using value_type = T;            ///< an element

  /// Makes an empty ref, which requests refuse as an argument.
  device_ref() noexcept = default;
  /// For the framework: takes over a buffer.
  explicit device_ref(detail::buffer_ptr b) noexcept : buffer_(std::move(b)) {}

  /// Returns false if the ref is empty.
  explicit operator bool() const noexcept { return static_cast<bool>(buffer_); }
  /// Returns the number of elements.
  [[nodiscard]] std::size_t size() const noexcept {
    return buffer_ ? buffer_->bytes() / sizeof(T) : 0;
  }
  /// Returns the device of the memory; an empty device if the ref is empty.
  [[nodiscard]] gpu::device device() const noexcept {
    return buffer_ ? gpu::device(buffer_->owner()) : gpu::device();
  }
  /// Returns true if this is the only ref of its memory. This remains true until the ref is copied.
  [[nodiscard]] bool is_unique() const noexcept { return buffer_ && buffer_->is_unique(); }

  /// Returns true if both refs name the same memory.
  friend bool operator==(const device_ref& a, const device_ref& b) noexcept {
    return a.buffer_.get() == b.buffer_.get();
  }

  /// For the framework: returns the buffer.
  [[nodiscard]] const detail::buffer_ptr& buffer() const noexcept { return buffer_; }

 private:
  detail::buffer_ptr buffer_;
};

}  // namespace garrick::gpu
