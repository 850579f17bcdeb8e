// Small messages that must be said although there is no memory: answers and news of life and death.
//
// Problem: much of an actor's end is noexcept, and has to tell others. So what it says falls back
// on a reserve of blocks. When that is used up, the process ends and says so.
//
// Thread safety: any thread.
#pragma once

#include <garrick/core/mailbox/envelope.hpp>

#include <new>
#include <utility>

namespace garrick::core {

namespace detail {
/// An envelope from the reserve, its payload raw. Ends the process if there is none: `what` says
/// what could not be done.
[[nodiscard, gnu::cold]] envelope* reserved_envelope(const base::message_type* type,
                                                     const char* what) noexcept;
}  // namespace detail

/// A message made in place, in any case.
template <class Content, class... Args>
[[nodiscard]] envelope* last_words(const char* what, Args&&... args) noexcept {
  static_assert(detail::block_bytes(sizeof(Content)) == base::block_pool::block_step,
                "it has to fit into a block of the reserve");
  try {
    return detail::make_envelope<Content>(std::forward<Args>(args)...);
  } catch (const std::bad_alloc&) {  // the arguments are still there
  }
  envelope* const e = detail::reserved_envelope(&base::message_type_of<Content>, what);
  ::new (e->raw()) Content{std::forward<Args>(args)...};
  return e;
}

}  // namespace garrick::core
