// A count that one thread at a time raises, without a locked operation, and that other threads may
// read now and then.
//
// Thread safety: `raise` and assignment are for the writer, `get` for any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace garrick::base {

/// A count modulo 2^32 with one writer. Another thread may become the writer if its writes are
/// ordered after those of the former writer. Readers learn only the number.
class single_writer_count {
 public:
  /// Begins with `value`.
  explicit single_writer_count(std::uint32_t value = 0) noexcept : value_(value) {}
  /// Copies the number.
  single_writer_count(const single_writer_count& other) noexcept : value_(other.get()) {}
  single_writer_count& operator=(const single_writer_count& other) noexcept {
    value_.store(other.get(), std::memory_order_relaxed);  // order: a count
    return *this;
  }
  /// Adds one.
  void raise() noexcept {
    value_.store(get() + 1, std::memory_order_relaxed);  // order: a count; only this thread writes
  }
  /// Returns the count, perhaps an older one.
  [[nodiscard]] std::uint32_t get() const noexcept {
    return value_.load(std::memory_order_relaxed);  // order: a count
  }

 private:
  std::atomic<std::uint32_t> value_;
};

}  // namespace garrick::base
