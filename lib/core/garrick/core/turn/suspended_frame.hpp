// An unfinished coroutine handler, as its actor sees it.
//
// Private: installed because templates need it.
//
// Thread safety: the actor's turn.
#pragma once

#include <garrick/core/life/respond.hpp>

namespace garrick::core {

/// The top-level coroutine of a handler. Its actor lists it, and destroys it with the user's
/// object.
class suspended_frame {
 public:
  virtual void destroy_frame() noexcept = 0;
  /// Returns the request that the frame would answer, if it is a frame of `self`; the request then
  /// belongs to the caller.
  [[nodiscard]] virtual pending_request hand_over_request(const cell& self) noexcept = 0;

  suspended_frame* next_frame = nullptr;
  suspended_frame** slot_of_me = nullptr;

 protected:
  ~suspended_frame() = default;
};

namespace detail {

/// The top-level coroutine that runs on this thread: make_promise and delegate take the request
/// from it.
inline constinit thread_local suspended_frame* running_frame = nullptr;

}  // namespace detail

}  // namespace garrick::core
