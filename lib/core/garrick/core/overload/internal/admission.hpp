// The treatment of a message that finds its receiver's mailbox full, stalled or closed. The table
// below has all cases.
//
// Problem: an ordinary mailbox slows its senders and has no bound; some receivers want one, such as
// a gateway that would rather refuse than queue. All mailboxes have the same queue, and a limit is
// a count: a sender compares the mailbox's length with it before it pushes. (The room of a proxy is
// elsewhere: credit.hpp.)
//
// The first row that fits decides the action of a `send`. A receiver can make room unless it awaits
// something other than its restart; a sender can help unless its thread must not wait
// (`no_wait_scope`), or runs the receiver.
//
// | mailbox             | messages in it    | room can be made | the sender                       |
// |---------------------|-------------------|------------------|----------------------------------|
// | any, has ended      | any               |                  | pushes: a dead letter            |
// | bounded             | below the bound   |                  | pushes                           |
// | reject, drop_newest | at the bound      |                  | is turned away                   |
// | wait                | at the bound      | yes              | waits; pushes or is turned away  |
// | wait                | at the bound      | no               | is turned away                   |
// | unbounded           | below soft limit  |                  | pushes                           |
// | unbounded           | below hard limit  | yes              | runs it or waits, once; pushes   |
// | unbounded           | below hard limit  | no               | pushes                           |
// | unbounded           | at the hard limit | yes              | runs it or waits, long; pushes   |
// | any                 | at the hard limit | no, or it failed | loses the message                |
//
// A sender that has waited elsewhere for the room (`thread_state::has_waited`: a link, for its
// credit) passes the bound of a mailbox with the policy `wait`, up to the hard limit.
//
// Guarantees: a message that is not taken is a dead letter with the reason `overload`, and a
// request gets `overload`. Responses, time-outs and the system lane have no bound; but waiting
// responses count, so while there are many no message is taken. Limit: senders that push at the
// same moment may pass a limit by one message each.
//
// Thread safety: any thread that has a handle to the receiver.
#pragma once

#include <garrick/base/values/error.hpp>
#include <garrick/core/cell/cell.hpp>

#include <cstdint>

namespace garrick::core {

/// The mailbox of one receiver as its senders find it.
class admission {
 public:
  explicit admission(cell& receiver) noexcept : to_(receiver) {}

  /// Decides on `e`, which finds the mailbox full, stalled or closed; the word was `head`. Returns
  /// true if the caller must still push `e`; false if it is lost. May run other actors and wait.
  [[nodiscard]] bool admit(envelope* e, std::uint64_t head) noexcept;

  /// Pushes `e` if there is room (below the bound; without a bound: below the soft limit). Returns
  /// the reason if `e` was not taken; no error if it was pushed, or dropped by `drop_newest`. Waits
  /// only for the credit of a proxy, to which it delivers `e` like a send.
  [[nodiscard]] base::error try_deliver(envelope_ptr e) noexcept;

  /// Returns the error for a message that is not taken at the bound, or at the soft limit.
  [[nodiscard]] base::error full() const noexcept;

 private:
  [[nodiscard]] bool admit_bounded(envelope* e) noexcept;
  [[nodiscard]] bool has_room_beyond_soft_limit(std::uint32_t length) noexcept;

  cell& to_;
};

}  // namespace garrick::core
