// Numbers that cannot be guessed outside of the machine: for actors, nodes and lives.
//
// Problem: a peer that knows the number of an actor may send to it, so a generator with a seed will
// not do. But a node draws two numbers for each handle that it exports, and a call of the system
// for each of them takes longer than all the rest. So one call draws many numbers.
//
// Thread safety: none; each owner has its own.
#pragma once

#include <garrick/base/platform/platform.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace garrick::net::internal {

/// A reserve of numbers from the system's randomness.
class unguessable_numbers {
 public:
  /// Fills all of the span with the system's bytes. May throw.
  using system_source = void (*)(std::span<std::byte> to);

  /// `system` is replaced in tests.
  explicit unguessable_numbers(system_source system = &base::platform::draw_unguessable) noexcept
      : system_(system) {}
  unguessable_numbers(const unguessable_numbers&) = delete;
  unguessable_numbers& operator=(const unguessable_numbers&) = delete;

  /// Returns the next number. An exception of the system's source passes through, and loses no
  /// number.
  [[nodiscard]] std::uint64_t operator()() {
    if (next_ == drawn_.size()) {
      system_(std::as_writable_bytes(std::span(drawn_)));
      next_ = 0;
    }
    return drawn_[next_++];
  }

 private:
  static constexpr std::size_t at_once = 32;

  system_source system_;
  std::size_t next_ = at_once;
  std::array<std::uint64_t, at_once> drawn_{};
};

}  // namespace garrick::net::internal
