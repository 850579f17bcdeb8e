// Small messages that must be sent even without memory: answers, and signals about lifetimes.
//
// Problem: much of an actor's end is noexcept, and must tell other actors. So the messages of an
// end fall back on a reserve of blocks. If the reserve is used up, the process ends with an error
// message. Code that may give something up catches std::bad_alloc itself instead, since each place
// gives up something else: a message is refused, an error loses its text, a request is not
// withdrawn.
//
// Thread safety: any thread.
#pragma once

#include <garrick/core/mailbox/envelope.hpp>

#include <new>
#include <utility>

namespace garrick::core {

namespace detail {
/// Returns an envelope from the reserve, with an uninitialised payload. If none is left, ends the
/// process with the text `what`, which names the failure.
[[nodiscard, gnu::cold]] envelope* reserved_envelope(const base::message_type* type,
                                                     const char* what) noexcept;
}  // namespace detail

/// Returns a message made in place. Never fails.
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
