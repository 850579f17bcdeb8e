// The two ways of a sender to make room in a full mailbox: it runs the receiver in place, or waits
// for it.
//
// A wait ends early where it cannot help: the receiver awaits an answer, has ended, or waits for
// this thread, also through other actors. While a child awaits its restart, a sender to the child
// runs or awaits the supervisor and the children that the supervisor asks.
//
// Thread safety: the sender's thread, which has a handle to the receiver.
#pragma once

#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/handle.hpp>
#include <garrick/core/cell/stacked_actor.hpp>

#include <cstdint>

namespace garrick::base {
class executor;
}

namespace garrick::core {

/// The limits of a sender's attempts to get a mailbox below its limit.
struct sender_patience {
  int failures;           ///< waits without progress, in a row
  std::uint32_t handled;  ///< messages that the receiver handles meanwhile, at most
};

/// A sender and its full receiver.
class room_wait {
 public:
  explicit room_wait(cell& receiver) noexcept : to_(receiver) {}

  /// Above the soft limit, with `length` messages in the mailbox: runs the receiver or waits, once.
  /// Returns true if the receiver has run, will run soon or has made progress.
  bool once(std::uint32_t length) noexcept;
  /// At the hard limit: runs the receiver or waits, again and again. Returns true if there is room
  /// now, or if the receiver has ended.
  bool at_hard_limit() noexcept;
  /// The same at the bound, with the policy `wait`.
  bool at_bound() noexcept;

  /// Returns true if at least `limit` messages wait, also by the runner's own count.
  [[nodiscard]] bool is_at(std::uint32_t limit) const noexcept;

 private:
  enum class outcome : std::uint8_t {
    progress,     ///< there is room, or the receiver has handled a good number of messages
    claimed,      ///< the receiver waited in a queue, and this thread has its run right
    look_again,   ///< the receiver was idle; or an actor that its restart needs is queued
    no_progress,  ///< the time limit has passed
    pointless,    ///< the receiver is stalled or has ended; or it waits for the sender
  };
  [[nodiscard]] bool can_run_soon() const noexcept;
  [[nodiscard]] bool can_make_room() const noexcept;
  [[nodiscard]] bool keeps(std::uint32_t limit) const noexcept;
  [[nodiscard]] outcome why_it_does_not_run() const noexcept;
  outcome below(std::uint32_t limit, const sender_patience& most) noexcept;
  bool run_now() noexcept;
  [[nodiscard]] address wanted_for_restart() const noexcept;
  outcome wait() noexcept;
  outcome wait_counted(base::executor* ex, const detail::stacked_actor* top) noexcept;
  wait_end wait_for_restart(std::int64_t limit_ns) noexcept;

  cell& to_;
};

/// Tells the probe of a wait, which lasts as long as this object.
class observed_wait {
 public:
  explicit observed_wait(const cell& receiver) noexcept;
  ~observed_wait();
  observed_wait(const observed_wait&) = delete;
  observed_wait& operator=(const observed_wait&) = delete;

 private:
  base::probe* const probe_;
  const std::uint64_t receiver_;
  const std::uint64_t sender_;
};

/// While it lives, this thread counts as waiting in a send.
class counted_wait {
 public:
  counted_wait() noexcept;
  ~counted_wait();
  counted_wait(const counted_wait&) = delete;
  counted_wait& operator=(const counted_wait&) = delete;

 private:
  base::executor* const pool_;
};

}  // namespace garrick::core
