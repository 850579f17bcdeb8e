// The choice of the worker for an actor under soft pinning: the two decisions of paper 002 §3.2
// (figures 3 and 4), as functions of nothing but worker numbers.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace garrick::sched {

/// A worker's index, or `no_worker`.
using worker_index = std::uint16_t;
inline constexpr worker_index no_worker = 0xffff;  ///< a thread that is not a worker, or no home

/// Returns the home of an actor that was placed at `placed` and now runs for the first time, on
/// `executing`. If a direct neighbour of `placed` has stolen the actor, its home is `executing`. If
/// a worker far away has stolen it, its home is `placed`, so that actors which were spawned
/// together are not torn apart.
template <class AreNeighbours>
[[nodiscard]] constexpr worker_index home_at_first_run(worker_index placed, worker_index executing,
                                                       const AreNeighbours& neighbours) {
  if (placed == no_worker || placed == executing) return executing;
  return neighbours(placed, executing) ? executing : placed;
}

/// Returns the worker for an idle actor that has got a message. The actor goes home, or to the
/// sender's worker if that is a direct neighbour of home, since then both the message and the state
/// are near. An actor without a home goes to the sender's worker. Returns `no_worker` if any worker
/// will do: the actor has no home, and a thread that is not a worker sent the message.
template <class AreNeighbours>
[[nodiscard]] constexpr worker_index worker_for(worker_index home, worker_index sender,
                                                const AreNeighbours& neighbours) {
  if (home == no_worker || home == sender) return sender;
  if (sender == no_worker) return home;
  return neighbours(home, sender) ? sender : home;
}

}  // namespace garrick::sched
