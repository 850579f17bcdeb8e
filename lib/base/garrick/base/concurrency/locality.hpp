// The place where an actor would like to run: a wish given at spawn, and the scheduling policy's
// decision on it. Sixteen bits in every runnable.
//
// A wish never breaks correctness. A policy that does not know places ignores it. A node that does
// not exist counts as no wish. And an idle worker may still steal an actor from its home.
//
// Thread safety: a `locality_hint` is a plain value; `locality` as its functions say.
#pragma once

#include <atomic>
#include <cstdint>

namespace garrick::base {

/// A wish for the place where an actor runs. A plain value of 16 bits.
class locality_hint {
 public:
  /// The kind of the wish, or of the policy's decision. Users wish with the functions below.
  enum class kind : std::uint8_t {
    /// with its spawner; an actor that a thread spawns is given to the workers in turn
    none,
    /// on the workers in turn, of one memory node after the other; home is where it first runs
    spread,
    /// as spread, but that worker stays its home: for an actor that many partners want to be `near`
    hub,
    node,     ///< home is on that memory node
    placed,   ///< waits for its first run at that worker
    settled,  ///< home is that worker
  };
  static constexpr std::uint16_t largest_value = 0x1fff;  ///< of a node's or a worker's number

  constexpr locality_hint() noexcept = default;
  /// For scheduling policies. `value` is the number of a node or a worker, according to `what`.
  constexpr locality_hint(kind what, std::uint16_t value) noexcept
      : bits_(static_cast<std::uint16_t>((static_cast<unsigned>(what) << 13) |
                                         (value & largest_value))) {}

  /// Returns a hint for the workers in turn, of one memory node after the other.
  [[nodiscard]] static constexpr locality_hint spread() noexcept { return {kind::spread, 0}; }
  /// Returns a hint as `spread`; the chosen worker stays the actor's home, even if another worker
  /// steals the actor before it first runs.
  [[nodiscard]] static constexpr locality_hint hub() noexcept { return {kind::hub, 0}; }
  /// Returns a hint for the memory node with this number, counted from 0 as the topology does.
  [[nodiscard]] static constexpr locality_hint home(std::uint32_t node) noexcept {
    return {kind::node, static_cast<std::uint16_t>(node < largest_value ? node : largest_value)};
  }

  /// Returns the kind of the wish.
  [[nodiscard]] constexpr kind what() const noexcept { return static_cast<kind>(bits_ >> 13); }
  /// Returns the number of the node or the worker; 0 for the other kinds.
  [[nodiscard]] constexpr std::uint16_t value() const noexcept { return bits_ & largest_value; }
  friend constexpr bool operator==(locality_hint, locality_hint) noexcept = default;

 private:
  friend class locality;
  std::uint16_t bits_ = 0;
};

/// The hint of one runnable. The holder of its run right writes it. Any thread may read it, and may
/// see an older one.
class locality {
 public:
  /// Returns the hint, perhaps an older one. Any thread.
  [[nodiscard]] locality_hint get() const noexcept {
    locality_hint hint;
    // order: relaxed; a wish, complete in one word
    hint.bits_ = bits_.load(std::memory_order_relaxed);
    return hint;
  }
  /// Replaces the hint. Holder of the run right.
  void set(locality_hint hint) noexcept {
    bits_.store(hint.bits_, std::memory_order_relaxed);  // order: relaxed; as get
  }

 private:
  std::atomic<std::uint16_t> bits_{0};
};

}  // namespace garrick::base
