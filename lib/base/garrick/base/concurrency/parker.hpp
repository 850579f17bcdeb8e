// A parker: its owner, one thread, waits there for a token, and any thread may leave the token.
//
// Thread safety: `park` and `park_for` belong to the owner, `unpark` to any thread.
//
// Invariants
// P1 The word is `empty`, `token`, `sleeping` or `elsewhere`. Only `unpark` writes `token`, and
//    only the owner writes the other values.
// P2 A token is never lost: `unpark` writes it unconditionally. Only the owner removes it, and its
//    wait then ends.
// P3 A waker's actions before `unpark` are visible to the owner after `park` (release/acquire on
//    the word). Tokens that pile up become one, and the owner sees the actions of all of their
//    wakers.
// P4 `unpark` makes a system call only if the owner sleeps or is about to: one futex call per
//    wake-up.
// P5 The owner may wait elsewhere instead of here, for events that arrive in another way. `unpark`
//    then lets its caller interrupt that wait.
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>

#include <atomic>
#include <cstdint>

namespace garrick::base {

/// The memory orders below that the model checker weakens, one at a time.
enum class parker_order : std::uint8_t {
  take_token,   ///< the owner's exchange
  leave_token,  ///< the waker's exchange
};

/// A place where one thread, its owner, sleeps until another thread leaves a token for it.
template <class Atomics>
class basic_parker {
 public:
  /// Waits for a token and takes it. Blocks the owner until a token arrives; costs no system call
  /// if a token was left already.
  void park() noexcept {
    if (!fall_asleep()) return;
    // order: relaxed; take_token() acquires
    while (state_.load(std::memory_order_relaxed) == sleeping) Atomics::wait(state_, sleeping);
    take_token();
  }

  /// Like `park`, for at most `timeout_ns` nanoseconds. Returns false if no token came.
  bool park_for(std::uint64_t timeout_ns) noexcept {
    if (!fall_asleep()) return true;
    // An early return for no reason counts as the end of the time.
    Atomics::wait_for(state_, sleeping, timeout_ns);
    return take_token() == token;
  }

  /// Leaves a token. Returns true if the owner slept, so that a system call was made. Any thread;
  /// never blocks. Requires that the owner does not wait elsewhere.
  bool unpark() noexcept {
    return unpark_or([] {});
  }

  /// Like `unpark`, but if the owner waits elsewhere, `interrupt()` has to bring it back.
  template <class Interrupt>
  bool unpark_or(Interrupt interrupt) noexcept {
    // order: release, pairs with take_token: the owner sees the waker's actions
    const std::uint32_t before = state_.exchange(
        token, order<Atomics, parker_order::leave_token>(std::memory_order_release));
    if (before == sleeping)
      Atomics::wake_one(state_);
    else if (before == elsewhere)
      interrupt();
    else
      return false;
    return true;
  }

  /// Begins a wait of the owner elsewhere (P5). Returns false if it found a token, which it took.
  [[nodiscard]] bool begin_elsewhere() noexcept { return leave_here(elsewhere); }

  /// Ends the owner's wait elsewhere. Returns true if it found a token, which it took.
  bool end_elsewhere() noexcept { return take_token() == token; }

  /// Returns true if a token was left, which the owner may take then. For the owner.
  [[nodiscard]] bool has_token() const noexcept {
    return state_.load(std::memory_order_relaxed) == token;  // order: relaxed; take_token acquires
  }

 private:
  static constexpr std::uint32_t empty = 0;
  static constexpr std::uint32_t token = 1;
  static constexpr std::uint32_t sleeping = 2;
  static constexpr std::uint32_t elsewhere = 3;

  /// Returns false if it found a token, which it took.
  bool fall_asleep() noexcept { return leave_here(sleeping); }

  bool leave_here(std::uint32_t how) noexcept {
    std::uint32_t seen = empty;
    // order: relaxed both ways; take_token() acquires
    if (state_.compare_exchange_strong(seen, how, std::memory_order_relaxed,
                                       std::memory_order_relaxed))
      return true;
    take_token();
    return false;
  }

  std::uint32_t take_token() noexcept {
    // order: acquire, pairs with leave_token of every unpark so far: an exchange reads the newest
    // one
    return state_.exchange(empty,
                           order<Atomics, parker_order::take_token>(std::memory_order_acquire));
  }

  typename Atomics::template atomic<std::uint32_t> state_{empty};
};

/// The product's parker.
using parker = basic_parker<real_atomics>;

}  // namespace garrick::base
