// A block of a device's memory, or of pinned memory of the host, with a count of its holders.
//
// Private: installed because templates need it.
//
// Invariants
// B1 The last holder gives the block to the device's submitting thread, which releases it: a worker
//    never calls the driver. If that thread has ended, the block is released at once.
// B2 If the holder of the last reference finds `is_unique` true, all uses by other holders are
//    over.
//
// Thread safety: distinct `buffer_ptr`s on any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace garrick::gpu::internal {
class device_core;
}

namespace garrick::gpu::detail {

/// An object that a device's thread destroys. It is its own list entry, so a list of them allocates
/// no memory.
class disposable {
 public:
  disposable() = default;
  disposable(const disposable&) = delete;
  disposable& operator=(const disposable&) = delete;
  /// Destroys this object and its objects of the driver.
  virtual void dispose() noexcept = 0;

  disposable* next_disposed = nullptr;  ///< under the device's lock

 protected:
  virtual ~disposable() = default;
};

/// Memory of a device, or pinned memory, which has an address.
class buffer final : public disposable {
 public:
  /// Takes over the driver's object `memory`, whose bytes were charged to the device.
  buffer(std::shared_ptr<internal::device_core> of, void* memory, std::size_t bytes) noexcept;

  /// Adds a holder. The caller must be a holder.
  void retain() noexcept {
    holders_.fetch_add(1, std::memory_order_relaxed);  // order: relaxed: the caller holds it
  }
  /// Removes a holder.
  void release() noexcept {
    // order: acq_rel: pairs with itself and is_unique: for the last holder, uses by others are over
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) discard();
  }
  /// Returns true if the caller is the only holder, which it remains until it adds another.
  [[nodiscard]] bool is_unique() const noexcept {
    // order: acquire: pairs with release(): the others' uses come before the caller's (B2)
    return holders_.load(std::memory_order_acquire) == 1;
  }

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] internal::device_core& device() const noexcept { return *of_; }
  [[nodiscard]] const std::shared_ptr<internal::device_core>& owner() const noexcept { return of_; }
  /// Returns the driver's object.
  [[nodiscard]] void* memory() const noexcept { return memory_; }
  /// Returns the address for the host; null if the memory is not pinned.
  [[nodiscard]] void* address() const noexcept { return address_; }
  /// Sets the host's address of the buffer. Called by the submitting thread, before any other
  /// thread has the buffer.
  void lies_at(void* address) noexcept { address_ = address; }

  void dispose() noexcept override;

 private:
  ~buffer() override = default;
  void discard() noexcept;

  std::atomic<std::uint32_t> holders_{1};
  std::shared_ptr<internal::device_core> of_;
  void* memory_;
  std::size_t bytes_;
  void* address_ = nullptr;
};

/// A holder of a buffer, or an empty one.
class buffer_ptr {
 public:
  buffer_ptr() noexcept = default;
  /// Takes over one reference.
  explicit buffer_ptr(buffer* adopted) noexcept : at_(adopted) {}
  buffer_ptr(const buffer_ptr& o) noexcept : at_(o.at_) {
    if (at_ != nullptr) at_->retain();
  }
  buffer_ptr(buffer_ptr&& o) noexcept : at_(std::exchange(o.at_, nullptr)) {}
  buffer_ptr& operator=(buffer_ptr o) noexcept {
    std::swap(at_, o.at_);
    return *this;
  }
  ~buffer_ptr() {
    if (at_ != nullptr) at_->release();
  }
  [[nodiscard]] buffer* get() const noexcept { return at_; }
  buffer* operator->() const noexcept { return at_; }
  explicit operator bool() const noexcept { return at_ != nullptr; }

 private:
  buffer* at_ = nullptr;
};

}  // namespace garrick::gpu::detail
