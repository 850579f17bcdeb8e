// Instrumentation points down: core and sched report what happens to a probe; who listens (metrics,
// traces, a test) derives from it.
//
// Every event has an empty body, so a listener overrides only what it wants. A null probe costs one
// predicted branch at each place.
//
// Thread safety: events come from any thread, several at once; the bodies must not block, throw,
// send messages or spawn.
#pragma once

#include <cstdint>
#include <string_view>

#include "garrick/base/time/clock.hpp"

namespace garrick::base {

class exit_reason;
class error;
struct message_type;

class probe {
 public:
  probe() = default;
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;
  virtual ~probe();

  // core. `actor` is the actor's id.
  virtual void on_actor_spawned(std::uint64_t actor, std::string_view name) noexcept;
  virtual void on_actor_ended(std::uint64_t actor, const exit_reason& reason) noexcept;
  /// A handler failed; `message` is the type it was handling, null if none.
  virtual void on_actor_failed(std::uint64_t actor, const message_type* message,
                               const exit_reason& reason) noexcept;
  virtual void on_actor_restarted(std::uint64_t actor, std::uint32_t restarts) noexcept;
  /// The reason's code is one of `errc`.
  virtual void on_dead_letter(std::uint64_t receiver, std::uint64_t sender,
                              const message_type* message, const error& reason) noexcept;
  /// The mailbox of an actor that cannot run has doubled again.
  virtual void on_mailbox_doubled(std::uint64_t actor, std::uint64_t messages) noexcept;
  /// Actors that wait for each other's responses in a circle were found; `actor` is one of them.
  virtual void on_request_cycle(std::uint64_t actor) noexcept;

  // sched
  virtual void on_worker_parked(std::uint32_t worker) noexcept;
  virtual void on_worker_woke(std::uint32_t worker) noexcept;
  virtual void on_stolen(std::uint32_t thief, std::uint32_t victim) noexcept;

  // system
  static constexpr std::uint32_t no_worker = 0xffffffff;
  /// The watchdog found a handler that has run for `how_long` on this worker, or on a detached
  /// actor's thread: `no_worker`.
  virtual void on_stall(std::uint32_t worker, std::uint64_t actor, const message_type* message,
                        duration how_long) noexcept;
};

}  // namespace garrick::base
