// The rule by which a connection's bytes become messages.
//
// Thread safety: a value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace garrick::net {

/// The number of bytes in a `new_data`.
///
///     io.read(c, receive_policy::exactly(4).once());  // a header; its handler says how to go on
class receive_policy {
 public:
  using garrick_sendable = void;
  /// The meaning of the number of bytes.
  enum class kind : std::uint8_t {
    at_most,   ///< all bytes that have arrived, up to this number
    at_least,  ///< all bytes that have arrived, from this number on
    exactly,   ///< exactly this number
  };

  /// Returns the policy that passes on all bytes that have arrived, at most `n` at a time.
  [[nodiscard]] static receive_policy at_most(std::size_t n) noexcept { return {kind::at_most, n}; }
  /// Returns the policy that waits for `n` bytes, and passes on all that have arrived, up to a
  /// block.
  [[nodiscard]] static receive_policy at_least(std::size_t n) noexcept {
    return {kind::at_least, n};
  }
  /// Returns the policy that passes on exactly `n` bytes at a time.
  [[nodiscard]] static receive_policy exactly(std::size_t n) noexcept { return {kind::exactly, n}; }
  /// Returns the policy for one message; then the connection waits for the next `broker_io::read`.
  [[nodiscard]] receive_policy once() const noexcept {
    receive_policy p = *this;
    p.once_ = true;
    return p;
  }

  /// Returns the meaning of the number.
  [[nodiscard]] kind what() const noexcept { return what_; }
  /// Returns the number of bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Returns true if the policy holds for one message; see `once`.
  [[nodiscard]] bool is_once() const noexcept { return once_; }

 private:
  receive_policy(kind what, std::size_t n) noexcept : bytes_(n), what_(what) {}
  std::size_t bytes_;
  kind what_;
  bool once_ = false;
};

}  // namespace garrick::net
