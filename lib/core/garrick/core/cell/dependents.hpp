// The supervised children of an actor, which must end before it does. The code of an actor's end
// sees them through this interface.
//
// Problem: the code of an actor's end is in turn/, and that of a supervisor in supervision/, a room
// above, which turn/ may not include. So the end uses this interface.
//
// Private: installed with its room; only sources of core, system and the testkit include it.
//
// Thread safety: the supervising actor's turn.
#pragma once

namespace garrick::core {

class cell;
struct envelope;

/// The children of one actor.
class dependents {
 public:
  virtual ~dependents() = default;

  /// Handles a `child_failed`, `child_up` or `child_alarm`.
  virtual void on_signal(cell& self, envelope* e) = 0;

  /// Stops the children, because the actor is about to end. Returns true if no child is left.
  /// Returns false if children are being stopped: then the actor lives on, without handling mail,
  /// until they have ended.
  [[nodiscard]] virtual bool wound_down(cell& self) = 0;

  /// Returns true if the actor waits for its children in order to end.
  [[nodiscard]] virtual bool ends_its_actor() const noexcept = 0;

  /// Ends all children without waiting.
  virtual void abandon() noexcept = 0;
};

}  // namespace garrick::core
