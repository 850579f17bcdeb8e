// The actors with handlers on a thread's stack, the innermost first.
//
// Private: installed because thread_context.hpp needs it.
//
// Thread safety: the thread itself.
#pragma once

#include <cstdint>

namespace garrick::core {

class cell;

namespace detail {

/// An actor with a handler on a thread's stack, and the actors below it.
struct stacked_actor {
  std::uint64_t id;
  const stacked_actor* outer;   ///< runs this one in place, in a send; null: none
  const cell* actor = nullptr;  ///< its cell; null: none, or unknown
};

/// Returns true if a handler of the actor with this id is on the stack.
[[nodiscard]] inline bool is_on_stack(const stacked_actor* top, std::uint64_t id) noexcept {
  while (top != nullptr && top->id != id) top = top->outer;
  return top != nullptr;
}

}  // namespace detail

}  // namespace garrick::core
