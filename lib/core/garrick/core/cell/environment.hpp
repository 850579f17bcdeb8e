// The system as its actors see it; core knows nothing else of the system.
//
// Private: installed because templates need it.
//
// Thread safety: constants are set before the first actor is spawned; every function may be called
// from any thread.
#pragma once

#include <garrick/base/concurrency/forked.hpp>
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/settings/settings.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace garrick::core {

class cell;
struct envelope;
class drain_lot;
class waiting_executor;
class wait_graph;

/// A message that could not be delivered, or that failed its receiver.
struct undelivered {
  std::uint64_t sender = 0;    ///< id of the sending actor, 0: a thread or unknown
  std::uint64_t receiver = 0;  ///< id of the actor it was meant for
  std::string_view type;       ///< name of the message's type
  const base::message_type* descriptor = nullptr;
  /// valid during the call only; null if the message is gone: it was destroyed with the coroutine
  /// that handled it, or it was sent to another node
  const envelope* content = nullptr;
  base::error reason;
};

/// Returns the message field by field, 4096 bytes of it at most and a mark for the rest, or the
/// reason why it cannot be shown.
[[nodiscard]] std::string print_content(const undelivered& what);

/// A scoped actor in its system's list.
struct scoped_entry {
  cell* who = nullptr;
  scoped_entry* previous = nullptr;
  scoped_entry* next = nullptr;
};

/// The services of a system beyond `environment`. Core passes the object on and knows nothing of
/// it.
struct facilities {
 protected:
  facilities() = default;
  ~facilities() = default;
};

/// The system behind an actor.
class environment {
 public:
  mailbox_settings mailbox;
  request_settings requests;
  base::executor* workers = nullptr;   ///< runs event-based actors
  base::probe* probe = nullptr;        ///< null: no listener
  const base::clock* clock = nullptr;  ///< real or virtual
  base::clock_service* timers = nullptr;
  /// the system ends when no work is left: delayed and periodic sends are dropped
  std::atomic<bool> draining{false};
  drain_lot* lot = nullptr;  ///< where senders wait for full receivers
  /// the awaits between actors; null unless request cycles are looked for
  wait_graph* waits = nullptr;
  facilities* offered = nullptr;  ///< null: nothing more

  /// Counts a lost message, and reports it with the reason to the subscribers.
  virtual void dead_letter(const undelivered& what) noexcept = 0;

  /// Adds a new actor to the list of living actors. Returns false if the system has begun to stop;
  /// then the caller must end the actor.
  [[nodiscard]] virtual bool joined(cell& who) noexcept = 0;
  /// Removes an actor that has ended from the list.
  virtual void left(cell& who) noexcept = 0;

  /// Logs that a handler of `who` failed with `why`.
  virtual void failed(const cell& who, const base::error& why) noexcept = 0;
  /// Logs a warning of `who`, a service such as a node, about an event of the kind `what`, in a
  /// word or two. `text` is for the people who run this program alone.
  virtual void warn(std::string_view who, std::string_view what,
                    std::string_view text) noexcept = 0;

  /// Returns a thread for a detached actor or, if `blocking`, a blocking one, from the bounded
  /// pool. The thread runs on the processors of `affinity` (`spawn_options::affinity`) or, if that
  /// is empty, on those of detached actors' threads. If no thread is left, returns an error with
  /// the reason.
  virtual base::result<waiting_executor*> detached_executor(bool blocking,
                                                            std::string_view affinity) noexcept = 0;

  /// Returns the executor with which the calling thread's scoped actor waits; null: the actor puts
  /// the thread to sleep. The testkit's version runs the other actors meanwhile.
  virtual waiting_executor* executor_of_scoped(cell&) noexcept { return nullptr; }

  /// Counts an answer that is due from outside of the actors: the system's end waits for
  /// `outside_ended`. Most callers use `outside_work` (outside_work.hpp).
  // order: the caller lives in the system or holds it, so no thread waits for the end yet
  void outside_began() noexcept { outside_.fetch_add(1, std::memory_order_relaxed); }
  /// Ends one `outside_began`: its answer has been pushed, or none will come. Called once for each.
  // order: release pairs with outside_due: a thread that finds nothing due finds the answer in the
  // mailbox
  void outside_ended() noexcept { outside_.fetch_sub(1, std::memory_order_release); }
  /// Returns the number of answers due from outside. Exact for those begun before the call.
  [[nodiscard]] std::uint64_t outside_due() const noexcept {
    return outside_.load(std::memory_order_acquire);  // order: pairs with outside_ended
  }

  /// Returns true if this process is a fork of the one that made the system: it lacks the system's
  /// threads.
  [[nodiscard]] bool is_copy() const noexcept { return base::fork_count() != made_after_; }

  /// Lists a scoped actor, so that the end of the system tells it to end.
  virtual void scoped_joined(scoped_entry&) noexcept {}
  /// Removes a scoped actor from the list: the system no longer tells it to end.
  virtual void scoped_left(scoped_entry&) noexcept {}

  /// Keeps the environment for one more cell that has ended while handles to it remain, or for a
  /// scoped actor. Both may outlive their system, and a send still needs dead_letter().
  // order: the holder is itself held
  void hold() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // order: acq_rel: the last holder destroys the object, which all others have used
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  environment() = default;
  ~environment() = default;
  virtual void destroy() noexcept = 0;

 private:
  const std::uint32_t made_after_ = base::watch_forks();

  // Actors that come and go write these fields, so they are apart from the constants that every
  // send reads.

  /// the system itself, every cell that outlives its actor, every `outside_work` and scoped actor,
  /// every actor on a foreign loop while it leaves
  alignas(64) std::atomic<std::int64_t> holders_{1};
  std::atomic<std::uint64_t> outside_{0};  ///< answers that are due from outside
};

}  // namespace garrick::core
