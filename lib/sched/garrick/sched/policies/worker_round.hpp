// A worker's round: after a number of messages the oldest work has its turn, although newer work
// comes first otherwise. That is what fairness rests on (W3 of work_stealing.hpp).
//
// Thread safety: none; each worker has its own.
#pragma once

#include <garrick/sched/policies/quantum.hpp>

#include <algorithm>
#include <cstdint>

namespace garrick::sched {

/// What is left of a worker's round, and which queue begins the next one.
class worker_round {
 public:
  /// The messages of a round: a quarter of a quantum.
  [[nodiscard]] static constexpr std::uint32_t length_for(std::uint32_t quantum) noexcept {
    return quantum == unlimited ? 256 : std::max(1U, quantum / 4);
  }

  /// The first round, with `length` messages.
  explicit worker_round(std::uint32_t length) noexcept : left_(length) {}

  /// Whether its messages are used up, so that the next one begins.
  [[nodiscard]] bool is_over() const noexcept { return left_ == 0; }

  /// Begins the next round. True: with the oldest of the inbox; false: with that of the deque. They
  /// take turns.
  [[nodiscard]] bool begin(std::uint32_t length) noexcept {
    left_ = length;
    inbox_has_turn_ = !inbox_has_turn_;
    return inbox_has_turn_;
  }

  /// How many messages the next run may handle: what is left, at least one and at most a quantum.
  [[nodiscard]] std::uint32_t allowance(std::uint32_t quantum) const noexcept {
    return quantum == unlimited ? unlimited : std::min(quantum, std::max(1U, left_));
  }

  /// A run has handled `messages`; it counts for at least one.
  void use(std::uint32_t messages) noexcept { left_ -= std::min(left_, std::max(1U, messages)); }

 private:
  std::uint32_t left_;
  bool inbox_has_turn_ = true;
};

}  // namespace garrick::sched
