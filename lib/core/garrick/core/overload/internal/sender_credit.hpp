// The credit for mail to a proxy.
//
// Problem: a proxy takes its mail at once, as if it always had room. The room is in another
// process, which grants it as a number of messages. A sender takes one credit for each message. If
// none is left, the sender waits for the next grant, since there is no receiver that it could run.
// An actor on a worker sends without credit, and pauses afterwards (paused_senders.hpp).
//
// Thread safety: any thread. Invariant: a sender that waits counts itself, then takes a credit or
// finds none; a grant adds, then looks for waiting senders. Both are sequentially consistent, so a
// grant sees a wait, or the wait sees the grant. (The model checker runs this:
// sender_credit.model.cpp.)
#pragma once

#include <garrick/base/concurrency/atomics_policy.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/overload/internal/paused_senders.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace garrick::core {

/// The memory orders below that the model checker weakens, one at a time.
enum class credit_order : std::uint8_t {
  see_credit,
  count_waiter,
  grant,
  see_waiter,
  begin_pause,
  see_pause
};

/// The credit of one cell. If it is negative, senders that could not wait owe messages.
template <class Atomics>
class basic_sender_credit {
 public:
  basic_sender_credit(std::uint32_t messages, base::duration patience) noexcept
      : left_(messages), patience_(patience) {}

  /// Takes the credit for one message. Returns false if there is none.
  [[nodiscard]] bool take() noexcept {
    // order: seq_cst, pairs with grant
    std::int64_t n = left_.load(at<credit_order::see_credit>(std::memory_order_seq_cst));
    while (n > 0)
      // order: seq_cst, pairs with grant
      if (left_.compare_exchange_weak(n, n - 1, std::memory_order_seq_cst,
                                      std::memory_order_seq_cst))
        return true;
    return false;
  }
  /// Takes credit even if there is none.
  void owe(std::uint32_t messages = 1) noexcept {
    left_.fetch_sub(messages, std::memory_order_relaxed);  // order: a count
  }
  [[nodiscard]] std::int64_t left() const noexcept {
    return left_.load(std::memory_order_relaxed);  // order: an estimate
  }

  /// Waits until there is credit, and takes it. Returns false if that took too long, or if
  /// `ended()` reported the end of the receiver `id`.
  template <class Lot, class Ended>
  [[nodiscard]] bool wait(Lot& lot, std::uint64_t id, Ended ended) noexcept {
    const auto patience = static_cast<std::uint64_t>(patience_.count());
    const std::uint64_t begin = base::platform::monotonic_ns();
    // order: seq_cst, pairs with grant
    waiting_.fetch_add(1, at<credit_order::count_waiter>(std::memory_order_seq_cst));
    bool taken = false;
    while (!ended()) {
      const std::uint32_t epoch = lot.epoch(id);
      taken = take();
      const std::uint64_t waited = base::platform::monotonic_ns() - begin;
      if (taken || waited >= patience) break;
      const auto rest = static_cast<std::int64_t>(patience - waited);
      lot.wait(id, epoch, std::min(rest, longest_sleep.count()));
    }
    waiting_.fetch_sub(1, std::memory_order_relaxed);  // order: a grant from now on wakes no sender
    return taken;
  }

  /// Adds credit, and wakes the senders that wait for it.
  template <class Lot>
  void grant(Lot& lot, std::uint64_t id, std::uint32_t messages) noexcept {
    // order: seq_cst, pairs with wait
    left_.fetch_add(messages, at<credit_order::grant>(std::memory_order_seq_cst));
    // order: seq_cst, pairs with wait
    if (waiting_.load(at<credit_order::see_waiter>(std::memory_order_seq_cst)) != 0) lot.wake(id);
  }

  /// Announces an actor that is about to pause, so that grants find it. Returns false if there is
  /// no debt.
  [[nodiscard]] bool begin_pause() noexcept {
    // order: seq_cst, pairs with grant and ends_pauses
    pauses_.store(true, at<credit_order::begin_pause>(std::memory_order_seq_cst));
    // order: seq_cst, the same
    return left_.load(at<credit_order::see_credit>(std::memory_order_seq_cst)) < 0;
  }
  /// Called after a grant. Returns true if the pausing actors must continue.
  [[nodiscard]] bool ends_pauses() noexcept {
    // order: seq_cst, pairs with begin_pause
    if (!pauses_.load(at<credit_order::see_pause>(std::memory_order_seq_cst))) return false;
    if (left() < 0) return false;
    // order: seq_cst, as the load: an actor that pauses afterwards looks for credit afterwards
    return pauses_.exchange(false, std::memory_order_seq_cst);
  }
  [[nodiscard]] base::duration patience() const noexcept { return patience_; }

 private:
  /// a sleep ends after this time, since the end of the receiver wakes no sender here
  static constexpr base::duration longest_sleep = base::duration::milliseconds(10);

  template <class T>
  using atomic = typename Atomics::template atomic<T>;
  template <credit_order Place>
  static constexpr std::memory_order at(std::memory_order as_written) noexcept {
    return base::order<Atomics, Place>(as_written);
  }

  atomic<std::int64_t> left_;
  atomic<std::uint32_t> waiting_{0};
  atomic<bool> pauses_{false};
  const base::duration patience_;
};

/// The product's credit, with the actors that have sent without credit.
class sender_credit final : public basic_sender_credit<base::real_atomics>, public belongings {
 public:
  using basic_sender_credit::basic_sender_credit;

  /// Adds credit, and wakes the senders that wait for it; pausing actors continue once the credit
  /// covers the debts.
  template <class Lot>
  void grant(Lot& lot, std::uint64_t id, std::uint32_t messages) noexcept {
    basic_sender_credit::grant(lot, id, messages);
    if (ends_pauses()) senders_.go_on();
  }
  /// Pauses `who`, which has sent without credit. Returns true if `who` pauses; then its run right
  /// is gone. Returns false if no debt is left, if `ended()` reports the receiver's end, or without
  /// memory. For the runner of `who`.
  template <class Ended>
  [[nodiscard]] bool pause(base::runnable& who, base::executor& home, base::clock_service& clock,
                           Ended ended) noexcept {
    paused_sender* const one = senders_.add(who, home, clock, patience());
    if (one == nullptr) return false;
    // `who` may run elsewhere by now (P1).
    const bool stays = begin_pause() && !ended();
    const bool goes_on = !stays && one->claim();
    if (goes_on) one->disarm();
    one->drop();
    return !goes_on;
  }
  /// Lets all pausing actors continue, because the receiver has ended.
  void end_pauses() noexcept { senders_.go_on(); }

 private:
  paused_senders senders_;
};

}  // namespace garrick::core
