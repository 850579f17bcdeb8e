// A layer by which datagrams arrive at most once, over a network that may duplicate them. The layer
// neither orders datagrams nor sends them again.
//
// Each datagram has a number. The receiver remembers which of the last 1024 have come, and drops
// older ones, which may be duplicates.
//
// Invariant:
//   U1  A number is passed up at most once: only if it is new, or unmarked within the window.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "garrick/net/layer/layer.hpp"

namespace garrick::net {

/// Counters of dropped datagrams.
struct duplicate_suppression_counters {
  std::uint64_t duplicates = 0;  ///< came before
  std::uint64_t too_old = 0;     ///< came after 1024 others or more that were sent later
  std::uint64_t malformed = 0;   ///< datagrams without a number

  /// Returns all counters with their names.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"duplicates", duplicates}, layer_count{"too_old", too_old},
                      layer_count{"malformed", malformed}};
  }
};

/// Drops second copies of datagrams.
class duplicate_suppression : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "duplicate_suppression";
  static constexpr std::size_t header_size = 4;      ///< the number
  static constexpr std::uint32_t remembered = 1024;  ///< the most numbers remembered
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    return below.messages ? misfit::none : misfit::needs_messages_as_framing_makes_them;
  }
  /// Returns `below` with the guarantee `once`. Requires messages.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept {
    below.once = true;
    return below;
  }

  /// Puts the number in front and sends the message.
  void send(outgoing&& m, layer_context& c);
  /// Passes up a message that has not come before.
  void receive(const incoming& m, layer_context& c);

  /// Returns the counters so far.
  [[nodiscard]] const duplicate_suppression_counters& counters() const noexcept {
    return counters_;
  }

 private:
  [[nodiscard]] bool is_new(std::uint32_t number) noexcept;
  [[nodiscard]] bool marked(std::uint32_t number) const noexcept {
    return (seen_[number / 64 % seen_.size()] >> number % 64 & 1) != 0;
  }
  void mark(std::uint32_t number, bool seen) noexcept;

  std::uint32_t next_ = 0;
  std::uint32_t newest_ = ~std::uint32_t{0};  ///< the highest number that has come
  std::array<std::uint64_t, remembered / 64> seen_{};
  duplicate_suppression_counters counters_;
};

}  // namespace garrick::net
