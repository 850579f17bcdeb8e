// What could not be delivered: counted by reason, logged at debug level, and told to whoever
// subscribed.
//
//   system.dead_letters().subscribe(ref);     // an actor that understands void(dead_letter)
//
// Limits: a subscriber whose mailbox holds more than the backlog gets no more until it has caught
// up; what it missed is in `suppressed`. A dead letter about a dead letter is counted, not told.
//
// Thread safety: any thread.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/ref.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace garrick::system {

/// One undelivered message, as its subscribers see it.
struct dead_letter {
  std::uint64_t sender = 0;  ///< 0: a thread, or unknown
  std::uint64_t receiver = 0;
  std::string type;  ///< the message's type
  /// the message, printed; after a coroutine failed, that it went with its frame
  std::string content;
  base::error reason;
  std::uint64_t suppressed = 0;  ///< letters that no subscriber was told about before this one
};

using dead_letter_protocol = core::protocol<void(dead_letter)>;

class dead_letters {
 public:
  explicit dead_letters(std::uint32_t backlog) noexcept : backlog_(backlog) {}

  void subscribe(core::ref<dead_letter_protocol> who);
  void unsubscribe(const core::handle& who);

  void take(const core::undelivered& what) noexcept;

  [[nodiscard]] std::uint64_t count(base::errc reason) const noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept;
  /// No more subscribers: their handles must not outlive the system's threads.
  void close() noexcept;

 private:
  static constexpr std::size_t reasons = 16;
  const std::uint32_t backlog_;
  std::array<std::atomic<std::uint64_t>, reasons> counts_{};
  std::atomic<std::uint64_t> suppressed_{0};
  std::atomic<bool> anybody_{false};

  std::mutex mutex_;
  std::vector<core::ref<dead_letter_protocol>> subscribers_;  // under `mutex_`
};

}  // namespace garrick::system
