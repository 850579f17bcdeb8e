// Instrumentation points: core and sched report their events to a probe. A listener (metrics,
// traces, a test) derives from it.
//
// Every event has an empty body, so a listener overrides only the events it wants. Where there is
// no probe, an event costs one predicted branch.
//
// Thread safety: events come from any thread, several at once.
#pragma once

#include <cstdint>
#include <string_view>

#include "garrick/base/time/clock.hpp"

namespace garrick::base {

class exit_reason;
class error;
struct message_type;

/// The way an actor is run.
enum class actor_kind : std::uint8_t {
  event,     ///< on the system's workers
  detached,  ///< on a thread of its own, message by message
  blocking,  ///< on a thread of its own that receives in a loop, or on the user's thread (scoped)
};

/// The description of an actor that begins to live. The texts are valid during the call only.
struct spawned_actor {
  std::uint64_t actor = 0;              ///< its id
  std::string_view name;                ///< its given name, or else its type's
  std::string_view type;                ///< the name of its type
  actor_kind kind = actor_kind::event;  ///< the way it is run
  std::uint64_t spawner = 0;            ///< the actor in whose turn it was spawned; 0: a thread
  std::uint64_t supervisor = 0;         ///< 0: none
};

/// A listener to the events of a system. Its functions must not block, throw, send messages or
/// spawn, since they are called in the middle of the framework's own steps.
class probe {
 public:
  probe() = default;
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;
  virtual ~probe();

  // core. `actor` is the actor's id.

  /// Called when an actor has been spawned, before it runs.
  virtual void on_actor_spawned(const spawned_actor& who) noexcept;
  /// Called when an actor has ended, for `reason`.
  virtual void on_actor_ended(std::uint64_t actor, const exit_reason& reason) noexcept;
  /// Called when a handler has failed; `message` is the type it was handling, null if none.
  virtual void on_actor_failed(std::uint64_t actor, const message_type* message,
                               const exit_reason& reason) noexcept;
  /// Called when a supervisor has restarted an actor; `restarts` is the number so far.
  virtual void on_actor_restarted(std::uint64_t actor, std::uint32_t restarts) noexcept;
  /// Called when a message could not be delivered. The reason's code is one of `errc`. If no actor
  /// sent it, `sender` is 0.
  virtual void on_dead_letter(std::uint64_t receiver, std::uint64_t sender,
                              const message_type* message, const error& reason) noexcept;
  /// Called when the mailbox of an actor that cannot run has doubled again.
  virtual void on_mailbox_doubled(std::uint64_t actor, std::uint64_t messages) noexcept;
  /// Called when a send of `sender`, or its coroutine in `send_when_room`, begins to wait for room
  /// in a full mailbox or for credit. If a thread that is not an actor sends, `sender` is 0.
  virtual void on_sender_waits(std::uint64_t receiver, std::uint64_t sender) noexcept;
  /// Called once for each `on_sender_waits`, when the wait of `sender` has ended: there is room,
  /// the send goes on without room, or the message is lost.
  virtual void on_sender_goes_on(std::uint64_t receiver, std::uint64_t sender) noexcept;
  /// Called when a send of `sender` runs a receiver in place, for a batch.
  virtual void on_run_in_place(std::uint64_t receiver, std::uint64_t sender) noexcept;
  /// Called on the clock's thread when a timer has fired and pushes a message of this type: a
  /// delayed or periodic send, a wait's end, the time limit of a request.
  virtual void on_timer_fired(std::uint64_t receiver, const message_type* message) noexcept;
  /// Called when a requester notices that a request has got no response within its time limit.
  /// `receiver` is the asked actor; 0: no particular actor.
  virtual void on_request_timed_out(std::uint64_t requester, std::uint64_t receiver) noexcept;
  /// Called when actors were found that wait for each other's responses in a circle; `actor` is one
  /// of them.
  virtual void on_request_cycle(std::uint64_t actor) noexcept;

  // sched. `worker` is the worker's index.

  /// Called when a worker goes to sleep.
  virtual void on_worker_parked(std::uint32_t worker) noexcept;
  /// Called when a worker was woken.
  virtual void on_worker_woke(std::uint32_t worker) noexcept;
  /// Called when worker `thief` has taken work from worker `victim`.
  virtual void on_stolen(std::uint32_t thief, std::uint32_t victim) noexcept;

  // system

  static constexpr std::uint32_t no_worker = 0xffffffff;  ///< a thread that is not a worker
  /// Called when the watchdog has found a handler that has run for `how_long` on this worker; on a
  /// detached actor's thread `worker` is `no_worker`.
  virtual void on_stall(std::uint32_t worker, std::uint64_t actor, const message_type* message,
                        duration how_long) noexcept;
};

}  // namespace garrick::base
