// A layer that carries messages on a byte stream: each is preceded by its length, four bytes, the
// lowest first.
//
// A whole frame of any size is passed up without a copy. Only the beginning of an incomplete frame
// is copied, once. The room for it grows with the bytes that have come: a length is believed no
// further than that.
//
// A length above the limit ends the connection: the stream has no later point at which reading
// could go on. While a layer above expects less (`expect_at_most`), as `session` does before the
// other end's hello, the limit is lower.
//
// Invariants:
//   F1  partial_ holds the beginning of one frame, its length included, and less than the whole of
//       it; between frames it is empty.
//   F2  partial_ has room for at most twice the bytes that have come, or the limit.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "garrick/net/layer/layer.hpp"

namespace garrick::net {

/// Settings of `framing`.
struct framing_settings {
  /// The most bytes of a message; a longer one ends the connection. At least 1, and below
  /// `session` at least `largest_hello`.
  std::uint32_t largest = 16u << 20;
};

/// Separates the messages on a byte stream. The lowest layer of a stack over a stream.
class framing : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "framing";
  static constexpr std::size_t header_size = 4;  ///< the length
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    return below.messages ? misfit::needs_a_stream_but_messages_are_below : misfit::none;
  }
  /// Returns `below` with the guarantee `messages`. Requires a stream.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;

  /// Checks the settings. Returns `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const framing_settings& s);

  /// Makes a layer without a connection.
  explicit framing(framing_settings s = {}) noexcept : settings_(s), limit_(s.largest) {}

  /// Puts the length in front and sends the message.
  void send(outgoing&& m, layer_context& c);
  /// Passes up each whole frame.
  void receive(const incoming& m, layer_context& c);
  /// Lowers the limit for this connection, or raises it again, at most to that of the settings.
  void expect_at_most(std::size_t bytes, layer_context&) noexcept;
  /// Begins a new frame with a new connection.
  void notice(const link_event& e, layer_context& c);

  /// Returns the most bytes of a message.
  [[nodiscard]] std::size_t largest() const noexcept { return settings_.largest; }

 private:
  /// Returns the size of the frame that begins at `length`, its length included. Returns 0 if it is
  /// too large; the connection is closed then.
  [[nodiscard]] std::size_t frame_size(const std::byte* length, layer_context& c);
  /// Takes the bytes that complete the partial frame, passes it up, and returns the rest.
  [[nodiscard]] std::span<const std::byte> complete(std::span<const std::byte> bytes,
                                                    layer_context& c);

  framing_settings settings_;
  std::size_t limit_;  ///< at present; at most `settings_.largest`
  std::vector<std::byte> partial_;
  bool broken_ = false;  ///< no byte is read until there is a new connection
};

constexpr properties framing::provides(properties below) noexcept {
  below.messages = true;
  return below;
}

}  // namespace garrick::net
