// Where an actor would like to run: a wish given at spawn, and what the scheduling policy made of
// it. Sixteen bits in every runnable.
//
// A wish never breaks correctness: a policy that knows no places ignores it, a node that is not
// there counts as no wish, and whoever has nothing to do may still steal an actor from its home.
#pragma once

#include <atomic>
#include <cstdint>

namespace garrick::base {

class locality_hint {
 public:
  enum class kind : std::uint8_t {
    none,  ///< with its spawner; in turn, if a thread spawns it
    /// on the workers in turn, of one memory node after the other; home is where it first runs
    spread,
    /// as spread, and its home for good: for an actor that many talk to, whose partners ask to be
    /// `near` it
    hub,
    node,     ///< home is on that memory node
    placed,   ///< waits for its first run at that worker
    settled,  ///< home is that worker
  };
  static constexpr std::uint16_t largest_value = 0x1fff;

  constexpr locality_hint() noexcept = default;
  constexpr locality_hint(kind k, std::uint16_t value) noexcept
      : bits_(static_cast<std::uint16_t>((static_cast<unsigned>(k) << 13) |
                                         (value & largest_value))) {}

  [[nodiscard]] static constexpr locality_hint spread() noexcept { return {kind::spread, 0}; }
  [[nodiscard]] static constexpr locality_hint hub() noexcept { return {kind::hub, 0}; }
  /// The memory node with this number, counted from 0 as the topology does.
  [[nodiscard]] static constexpr locality_hint home(std::uint32_t node) noexcept {
    return {kind::node, static_cast<std::uint16_t>(node < largest_value ? node : largest_value)};
  }

  [[nodiscard]] constexpr kind what() const noexcept { return static_cast<kind>(bits_ >> 13); }
  [[nodiscard]] constexpr std::uint16_t value() const noexcept { return bits_ & largest_value; }
  friend constexpr bool operator==(locality_hint, locality_hint) noexcept = default;

 private:
  friend class locality;
  std::uint16_t bits_ = 0;
};

/// The hint of one runnable. Written by the holder of its run right; read by anybody, who may see
/// an older one.
class locality {
 public:
  [[nodiscard]] locality_hint get() const noexcept {
    locality_hint h;
    // order: relaxed; a wish, complete in one word
    h.bits_ = bits_.load(std::memory_order_relaxed);
    return h;
  }
  // order: relaxed; as get
  void set(locality_hint h) noexcept { bits_.store(h.bits_, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint16_t> bits_{0};
};

}  // namespace garrick::base
