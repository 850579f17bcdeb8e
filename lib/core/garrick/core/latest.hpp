// The newest value for an actor that has no use for older ones: a price, a sensor's reading, the
// size of a window.
//
//   struct screen : actor<protocol<void(news<reading>)>> {
//     void on(news<reading> n) {
//       if (std::optional<reading> r = n.take()) show(*r);
//     }
//   };
//   latest<reading> to_screen(system.spawn<screen>());
//   to_screen.put(reading{21.5});
//
// At any rate of puts, one message at most waits in the mailbox, and one value in memory.
//
// Thread safety: any thread. Copies of a `latest` share the value.
#pragma once

#include <garrick/base/types/sendable.hpp>
#include <garrick/core/protocol/protocol.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/send.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::core {

template <class T>
class latest;

namespace detail {

/// The value, and the state of the message that announces it.
template <class T>
struct newest_value {
  std::mutex lock;
  std::optional<T> value;          // under lock
  std::weak_ptr<const char> told;  // under lock; expired: no message is under way
  std::atomic<std::uint64_t> replaced{0};
};

}  // namespace detail

/// Announces a value to an actor. `take` returns the value that is the newest at that time.
template <class T>
class news {
 public:
  using garrick_sendable = void;
  using garrick_only_here = void;  ///< it refers to the sender's memory

  /// Returns the newest value, once; an empty optional if it was taken before. Another message
  /// announces values that are put later.
  [[nodiscard]] std::optional<T> take() const {
    const std::lock_guard lock(of_->lock);
    of_->told.reset();
    return std::exchange(of_->value, std::nullopt);
  }

 private:
  friend class latest<T>;
  news(std::shared_ptr<detail::newest_value<T>> of, std::shared_ptr<const char> told) noexcept
      : of_(std::move(of)), told_(std::move(told)) {}

  std::shared_ptr<detail::newest_value<T>> of_;
  std::shared_ptr<const char> told_;  ///< when the last copy is destroyed, no message is under way
};

/// Sends an actor the newest value of a kind, and forgets the previous value if it was not taken. A
/// forgotten value is not a dead letter. A `latest` holds a strong handle to the actor.
template <class T>
class latest {
  static_assert(base::is_sendable<T>, "garrick: the value of latest<T> must own all it refers to");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>,
                "garrick: the value of latest<T> is moved without an exception");

 public:
  using garrick_sendable = void;
  using garrick_only_here = void;  ///< it refers to this process's memory

  /// Makes a sender for this actor. Throws std::bad_alloc, and std::logic_error for an empty
  /// handle.
  explicit latest(ref<protocol<void(news<T>)>> to)
      : of_(std::make_shared<detail::newest_value<T>>()), to_(std::move(to)) {
    static_cast<void>(detail::target_of(to_, "latest"));
  }

  /// Replaces the value. If no message that announces a value is under way, sends one as `send`
  /// does. Throws std::bad_alloc; then the value waits until another one is put.
  void put(T value) const {
    std::optional<T> newest(
        std::move(value));  // then the replaced one, which is destroyed after the lock is released
    std::shared_ptr<const char> telling;
    {
      const std::lock_guard lock(of_->lock);
      std::swap(of_->value, newest);
      if (of_->told.expired()) {
        telling = std::make_shared<const char>();
        of_->told = telling;
      }
    }
    if (newest) of_->replaced.fetch_add(1, std::memory_order_relaxed);  // order: a statistic
    if (telling != nullptr) send(to_, news<T>(of_, std::move(telling)));
  }

  /// Returns the number of values that newer ones replaced.
  [[nodiscard]] std::uint64_t replaced() const noexcept {
    return of_->replaced.load(std::memory_order_relaxed);  // order: a statistic
  }

 private:
  std::shared_ptr<detail::newest_value<T>> of_;
  ref<protocol<void(news<T>)>> to_;
};

}  // namespace garrick::core
