// Changes the behaviors of an actor and offers messages to them.
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turn.
#pragma once

#include <garrick/core/behavior.hpp>
#include <garrick/core/cell/cell.hpp>

namespace garrick::core::detail {

/// Puts `b` in the place of `present`, which stays below it if `keep`. If `b` is empty, the
/// actor keeps `present` if `keep`, and otherwise returns to the behavior below. An actor without a
/// behavior then ends. Skipped messages are tried again, and the silence before a time-out begins
/// again.
void push_behavior(cell& self, behavior& present, behavior b, bool keep);
/// Returns to the behavior below; without one the actor ends.
void pop_behavior(cell& self, behavior& present);

/// Offers a message to the actor's present behavior. Returns the fate of the message.
[[nodiscard]] dispatch_outcome dispatch_to_behavior(cell& self, behavior& present, envelope* e);
/// The same for a message that a behavior need not take. Returns true if a case took it.
[[nodiscard]] bool offer_to_behavior(cell& self, behavior& present, envelope* e);

}  // namespace garrick::core::detail
