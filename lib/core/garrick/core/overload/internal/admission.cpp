// The rows of the table in admission.hpp.
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/overload/internal/admission.hpp>
#include <garrick/core/overload/internal/room_wait.hpp>

#include <bit>
#include <new>
#include <string>
#include <utility>

namespace garrick::core {

bool admission::admit(envelope* e, std::uint64_t head) noexcept {
  const mailbox_limits limits = to_.limits();
  const std::uint32_t length = to_.gate().length();
  if (length < limits.bound || (head & mailbox_word::closed) != 0) return true;
  if (limits.policy != mailbox_policy::unbounded) {
    const bool passes_bound =
        limits.policy == mailbox_policy::wait && base::this_thread.has_waited != 0;
    if (to_.mailbox_length() < limits.bound) return true;
    if (!passes_bound) return admit_bounded(e);
  } else if (has_room_beyond_soft_limit(length)) {
    return true;
  }
  if (room_wait(to_).is_at(to_.hard_limit())) {
    lost_mail::lose(
        to_, envelope_ptr(e),
        base::make_error(base::errc::overload, to_.name(), "mailbox is at its hard limit"));
    return false;
  }
  return true;
}

bool admission::admit_bounded(envelope* e) noexcept {
  if (to_.limits().policy == mailbox_policy::wait && room_wait(to_).at_bound()) return true;
  lost_mail::lose(to_, envelope_ptr(e), full());
  return false;
}

// Returns true if the mailbox is below its hard limit, or if the sender's attempt to make room has
// not failed. Other senders may have taken the room meanwhile: each may pass the hard limit by one
// message. They may also have filled a mailbox that was below its hard limit, so that limit is
// checked last.
bool admission::has_room_beyond_soft_limit(std::uint32_t length) noexcept {
  if (length < to_.soft_limit()) return true;  // it is stalled
  base::probe* const probe = to_.env().probe;
  if (probe != nullptr && std::has_single_bit(length)) probe->on_mailbox_doubled(to_.id(), length);
  const std::uint32_t hard = to_.hard_limit();
  room_wait room(to_);
  if ((length < hard || !room.is_at(hard)) && room.once(length)) return true;
  return !room.is_at(hard) || room.at_hard_limit();
}

base::error admission::try_deliver(envelope_ptr e) noexcept {
  if (to_.is_elsewhere()) {
    to_.deliver(e.release());
    return {};
  }
  if (to_.has_ended()) return base::errc::not_handled;
  if (room_wait(to_).is_at(to_.soft_limit())) {
    if (to_.limits().policy != mailbox_policy::drop_newest) return full();
    lost_mail::lose(to_, std::move(e), full());  // the sender need not know
    return {};
  }
  const push_outcome pushed = to_.gate().push(e.get());
  if (pushed == push_outcome::closed) return base::errc::not_handled;
  static_cast<void>(e.release());
  if (pushed == push_outcome::woke) to_.home_executor().schedule(to_);
  return {};
}

base::error admission::full() const noexcept {
  const bool bounded = to_.limits().policy != mailbox_policy::unbounded;
  try {
    return base::make_error(base::errc::overload, to_.name(),
                            std::string("the mailbox is at its ") +
                                (bounded ? "bound" : "soft limit") + " of " +
                                std::to_string(to_.soft_limit()) + " messages");
  } catch (const std::bad_alloc&) { return base::errc::overload; }
}

}  // namespace garrick::core
