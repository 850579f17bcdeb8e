// Messages of the framework to an actor whose mailbox may be at its bound.
//
// Problem: the actor behind a stream's handle leaves tuples in its mailbox while the stream winds
// down, so the mailbox may stay full. The message that ends the winding down would then be turned
// away, and the actor would wait for that message for ever.
//
// Private: installed because templates need it.
//
// Thread safety: any thread that holds the handle.
#pragma once

#include <garrick/garrick.hpp>

#include <utility>

namespace garrick::patterns::detail {

/// Puts `e` into the mailbox of `to`, however full that is, and does not wait. With `first`, the
/// message comes before all others, as an urgent one. A mailbox that keeps its newest messages
/// takes each such message as urgent, since it drops urgent messages last.
void deliver_past_bounds(const core::handle& to, core::envelope* e, bool first) noexcept;

/// Sends a message as above, behind those in the mailbox.
template <class P, class Message>
void send_past_bounds(const ref<P>& to, Message&& m) {
  using content = typename core::detail::checked_message<P, Message>::type;
  deliver_past_bounds(to, core::detail::make_message_envelope<content>(std::forward<Message>(m)),
                      false);
}

/// Sends a message as above, before all others.
template <class P, class Message>
void send_first(const ref<P>& to, Message&& m) {
  using content = typename core::detail::checked_message<P, Message>::type;
  deliver_past_bounds(to, core::detail::make_message_envelope<content>(std::forward<Message>(m)),
                      true);
}

}  // namespace garrick::patterns::detail
