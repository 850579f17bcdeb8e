// State that only some actors need, in one block made on demand: requests in flight, skipped mail,
// watchers, supervision, timers, coroutines, behaviors to return to.
//
// Private: installed with its room; only sources of core, system and the testkit include it.
//
// Thread safety: everything belongs to the runner, except `executor`, `name`, `hidden`, `scoped`,
// `hard_limit`, `quantum` and `room_elsewhere`, which are constant after spawn.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>
#include <garrick/base/memory/swept_list.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/exit_reason.hpp>
#include <garrick/core/cell/dependents.hpp>
#include <garrick/core/cell/response_table.hpp>
#include <garrick/core/cell/supervised.hpp>
#include <garrick/core/cell/watch_lists.hpp>
#include <garrick/core/mailbox/envelope_chain.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace garrick::core {

class suspended_frame;
class timer_record;

/// Data of a type that this room does not know, kept with an actor.
class belongings {
 public:
  virtual ~belongings() = default;
};

/// A message whose sender waits for room.
struct parked_message {
  envelope* message;
  cell* sender;  ///< a strong reference
  std::uint64_t id;
  bool told = false;  ///< the probe was told of the wait
};

/// State that only some actors need. Made on demand, freed with the cell.
struct cell_extension {
  // constant after spawn
  base::executor* executor = nullptr;
  std::string name;
  bool hidden = false;
  bool scoped = false;           ///< the actor of a thread outside the system
  std::uint32_t hard_limit = 0;  ///< messages; 0: the system's
  std::uint32_t quantum = 0;     ///< messages of one run; 0: as many as the runner allows
  /// a proxy's, if its mail takes credit (overload/); any thread may use it
  std::unique_ptr<belongings> room_elsewhere;

  // the runner's
  response_table pending;
  /// awaited requests, oldest first; their responses are handled newest first, before other mail
  std::vector<std::uint64_t> awaiting;
  /// responses that pass the await while the mailbox is held, in the order of their arrival
  envelope_chain answers;
  envelope_chain skipped;
  std::uint32_t skipped_count = 0;
  /// a response is among the skipped messages, which are tried again when the actor no longer
  /// awaits
  bool answer_skipped = false;
  std::unique_ptr<watch_lists> watching;  ///< made by `watch`
  [[nodiscard]] watch_lists& watch() {
    if (watching == nullptr) watching = std::make_unique<watch_lists>();
    return *watching;
  }
  std::unique_ptr<supervised> parent;            ///< set before the cell is known, and stays
  std::unique_ptr<core::dependents> dependents;  ///< its own children; made by `supervise`
  std::vector<parked_message> parked;  ///< from `first_parked` on: senders that wait for room
  std::size_t first_parked = 0;
  /// requests of promises that an exception has dropped, until it is known whether the handler
  /// fails with it
  std::vector<pending_request> unkept;
  bool trap_exit = false;
  bool interleave = false;  ///< other messages are handled while a coroutine handler waits
  /// the behaviors below the present one, destroyed with the user's object; see behavior_stack.cpp
  std::unique_ptr<belongings> behaviors_below;
  suspended_frame* frames = nullptr;
  base::swept_list<timer_record> timers;  ///< the timers that are cancelled with the actor
  timer_record* idle_timer = nullptr;
  base::instant last_activity;     ///< set while there is a receive time-out
  base::duration silence_limit{};  ///< of the receive time-out; zero: there is none
  base::exit_reason reason;
};

}  // namespace garrick::core
