// Undelivered messages: counted by reason, logged at debug level, and told to subscribers.
//
//   system.dead_letters().subscribe(ref);     // an actor that understands void(dead_letter)
//
// Limits: a subscriber with a mailbox at the backlog gets no more letters until it has caught up;
// `suppressed` counts the letters that were not told. A dead letter about a dead letter is counted,
// but not told.
//
// Thread safety: any thread.
#pragma once

#include <garrick/base/concurrency/spin_lock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/seam/environment.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace garrick::system {

/// An undelivered message, as its subscribers see it. A message itself: copyable and sendable.
struct dead_letter {
  std::uint64_t sender = 0;    ///< 0: a thread, or unknown
  std::uint64_t receiver = 0;  ///< the id of the actor that it was meant for
  std::string type;            ///< the message's type
  /// the message, printed; after a coroutine failed, a note that it was destroyed with the
  /// coroutine's frame
  std::string content;
  base::error reason;  ///< the reason why it was not delivered or handled; mostly an `errc`
  /// how often a letter was not told to a subscriber, since the system began: the increase since
  /// the previous letter is the number of letters missed between the two
  std::uint64_t suppressed = 0;
};

/// The part of an undelivered message that is kept: no text and no content.
struct recent_letter {
  std::uint64_t sender = 0;                        ///< 0: a thread, or unknown
  std::uint64_t receiver = 0;                      ///< id of the actor that it was meant for
  const base::message_type* type = nullptr;        ///< null: unknown
  const base::error_category* category = nullptr;  ///< of the reason, as is `code`
  std::uint32_t code = 0;                          ///< of the reason
};

/// The message that a subscriber must understand.
using dead_letter_protocol = core::protocol<void(dead_letter)>;

/// The dead letters of one system: always counted, and told to subscribers. Reached by
/// `system.dead_letters()`. Any thread; nothing here blocks for long.
///
///     struct listener : actor<system::dead_letter_protocol> { void on(const dead_letter& d); };
///     system.dead_letters().subscribe(system.spawn<listener>());
class dead_letters {
 public:
  /// Sets the backlog: a subscriber with `backlog` messages in its mailbox gets no more until it
  /// has caught up.
  explicit dead_letters(std::uint32_t backlog) noexcept : backlog_(backlog) {}

  /// Subscribes `who`: it gets every later dead letter, and gets it twice if subscribed twice.
  /// Holds the handle until `unsubscribe` or the system's end. Throws std::logic_error for an empty
  /// handle, and std::bad_alloc.
  void subscribe(core::ref<dead_letter_protocol> who);
  /// Ends one subscription of `who`. Letters that were already sent to it still arrive. Does
  /// nothing for an actor that is not subscribed.
  void unsubscribe(const core::handle& who);

  /// For the system: counts the letter and sends it to the subscribers. If memory is short, the
  /// letter is only counted, also in `suppressed`.
  void take(const core::undelivered& what) noexcept;

  /// Returns the number of letters with this reason since the system began. Exact once their
  /// senders' calls have returned.
  [[nodiscard]] std::uint64_t count(base::errc reason) const noexcept;
  /// Returns the same for a reason of any category. Reasons that are not an `errc` are counted one
  /// by one for the first 256 that occur; later ones count only in the sum.
  [[nodiscard]] std::uint64_t count(const base::error& reason) const;
  /// Returns the number of all letters since the system began.
  [[nodiscard]] std::uint64_t count() const noexcept;
  static constexpr std::size_t most_recent = 64;  ///< the most letters that are kept
  /// Returns the latest letters, at most `most_recent`, the newest first. Throws std::bad_alloc.
  [[nodiscard]] std::vector<recent_letter> recent() const;
  /// For the system, at its end: drops the subscribers' handles, which must not outlive the
  /// system's threads.
  void close() noexcept;

 private:
  static constexpr std::size_t reasons = 64;  ///< codes of `errc`; place 0: all other reasons
  static constexpr std::size_t most_other_reasons = 256;
  struct other_reason {
    const base::error_category* category;
    std::uint32_t code;
    std::uint64_t count;
  };
  void count_other(const base::error& reason) noexcept;
  void keep(const core::undelivered& what) noexcept;

  const std::uint32_t backlog_;
  std::array<std::atomic<std::uint64_t>, reasons> counts_{};
  std::atomic<std::uint64_t> suppressed_{0};

  mutable base::spin_lock recent_lock_;
  // under `recent_lock_`
  std::array<recent_letter, most_recent> recent_{};
  std::uint64_t kept_ = 0;  ///< letters so far; modulo the size, the place of the next one

  std::atomic<bool> anybody_{false};

  mutable std::mutex mutex_;
  std::vector<core::ref<dead_letter_protocol>> subscribers_;  // under `mutex_`
  std::vector<other_reason> others_;                          // under `mutex_`
};

}  // namespace garrick::system
