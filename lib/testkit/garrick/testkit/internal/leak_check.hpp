// Ends every actor of a deterministic system, and finds meanwhile the ones that lived only because
// actors held handles to each other.
//
// Method: an actor's state does not show the handles that it holds. But ending an actor destroys
// its state, and with it its handles. So the actors are ended one after the other. If then no
// handle to an ended actor is left anywhere, all handles to it were held by itself or by actors
// that went with it: a cycle. If handles are left, their holder is elsewhere: the test, or an actor
// that the test can reach.
//
// Not reported: actors with an armed timer or an unanswered request of their own (something can
// still wake them), and actors with a handle held from outside, or by an actor of unknown state.
//
// Thread safety: the system's thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace garrick::testkit::internal {

class deterministic_environment;

/// `run_all` lets actors run until none can. Returns one text for each cycle.
std::vector<std::string> end_all_actors(deterministic_environment& system,
                                        const std::function<void()>& run_all);

}  // namespace garrick::testkit::internal
