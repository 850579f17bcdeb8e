// How an actor that is made of behaviors changes them and offers messages to them.
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turn.
#pragma once

#include <garrick/core/behavior.hpp>
#include <garrick/core/cell/cell.hpp>

namespace garrick::core::detail {

/// Puts `b` in the place of `present`, which stays below it if `keep`. An empty `b` is none:
/// without `keep` the actor returns to the behavior below, or ends.
void push_behavior(cell& self, behavior& present, behavior b, bool keep);
/// Back to the behavior below; without one the actor ends.
void pop_behavior(cell& self, behavior& present);

/// Offers a message to the actor's present behavior, and says what is to become of it.
[[nodiscard]] dispatch_outcome dispatch_to_behavior(cell& self, behavior& present, envelope* e);
/// The same for what a behavior may, but need not take.
[[nodiscard]] bool offer_to_behavior(cell& self, behavior& present, envelope* e);

}  // namespace garrick::core::detail
