// The requests that a member of a team has been told of. The member works on them in their order:
// requests that came together end one after the other, instead of all at the end. So that a long
// request does not hold up the others, it goes to the back after eight milliseconds.
//
// Private: installed because templates need it.
//
// Thread safety: a queue belongs to the turns of its actor.
//
// Invariants
// Q1 While a request is in the queue, one message that lets its actor go on is under way to that
//    actor. If there is no memory for the message, the exception ends the actor, and with it its
//    team: a requester of work that no actor does any more gets an error, since the promise is
//    destroyed. The actor of a stage may live on: it has given its container up, and the next
//    container lets the queue go on.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/team/shared_work.hpp>

#include <deque>

namespace garrick::patterns::detail {

/// The work of a participant.
class work_queue {
 public:
  /// Takes the message `t` of its actor, on this turn: a request to take part in, or an empty one
  /// to go on. Works for a turn, and sends the actor, `to_it`, an empty `work_on` if work is left.
  /// Throws std::bad_alloc; then `t` may be lost, and the queue stands still until the next
  /// message.
  void go_on(work_on t, actor_base& on, const hand& to_it);

 private:
  std::deque<work_on> parts_;  ///< in the order in which they came
  duration in_a_row_;          ///< the time that the first of them has had
  bool goes_on_ = false;       ///< the message is under way
};

}  // namespace garrick::patterns::detail
