// Ends every actor of a deterministic system, and finds the actors that lived only because actors
// held handles to each other.
//
// Method: an actor's state does not show the handles that it holds. But the end of an actor
// destroys its state, and the handles in it. So the actors are ended one after the other. If no
// handle to an ended actor is left, the actor itself or actors that ended with it held all of them:
// a cycle. If handles are left, another object holds them: the test, or an actor that the test can
// reach.
//
// Not reported are actors with an armed timer or an unanswered request of their own, which can
// still wake, and actors to which the test or an actor with another holder has a handle.
//
// Thread safety: only the system's thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace garrick::testkit::internal {

class deterministic_environment;

/// Ends all actors; `run_all` runs actors until none can run. Returns one text for each cycle.
std::vector<std::string> end_all_actors(deterministic_environment& system,
                                        const std::function<void()>& run_all);

}  // namespace garrick::testkit::internal
