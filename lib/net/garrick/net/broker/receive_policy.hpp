// How a connection's bytes become messages.
//
// Thread safety: a value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace garrick::net {

/// How many bytes a `new_data` has.
///
///     io.read(c, receive_policy::exactly(4).once());  // a header; its handler says how to go on
class receive_policy {
 public:
  using garrick_sendable = void;
  /// What the number of bytes says.
  enum class kind : std::uint8_t {
    at_most,   ///< whatever has come, up to it
    at_least,  ///< all that has come, from it on
    exactly,   ///< this many
  };

  /// Whatever has come, `n` bytes of it at most.
  [[nodiscard]] static receive_policy at_most(std::size_t n) noexcept { return {kind::at_most, n}; }
  /// All that has come once it is `n` bytes, up to a block.
  [[nodiscard]] static receive_policy at_least(std::size_t n) noexcept {
    return {kind::at_least, n};
  }
  /// Each `n` bytes.
  [[nodiscard]] static receive_policy exactly(std::size_t n) noexcept { return {kind::exactly, n}; }
  /// The same for one message: then the connection waits until it is told how to go on.
  [[nodiscard]] receive_policy once() const noexcept {
    receive_policy p = *this;
    p.once_ = true;
    return p;
  }

  /// What the number says.
  [[nodiscard]] kind what() const noexcept { return what_; }
  /// The number of bytes.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// See `once`.
  [[nodiscard]] bool is_once() const noexcept { return once_; }

 private:
  receive_policy(kind what, std::size_t n) noexcept : bytes_(n), what_(what) {}
  std::size_t bytes_;
  kind what_;
  bool once_ = false;
};

}  // namespace garrick::net
