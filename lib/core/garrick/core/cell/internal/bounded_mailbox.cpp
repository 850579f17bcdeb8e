// What a full mailbox takes, drops and refuses.
#include <garrick/core/cell/internal/bounded_mailbox.hpp>
#include <garrick/core/cell/internal/lost_mail.hpp>
#include <garrick/core/cell/respond.hpp>

#include <string>
#include <utility>

namespace garrick::core::bounded_mailbox {

namespace {

// How many messages may wait in all while the runner is inside one handler, when nobody can drop
// the oldest.
std::uint32_t valve(std::uint32_t bound) noexcept { return 2 * bound + 64; }

base::error full(cell& receiver) {
  return base::make_error(
      base::errc::overload, receiver.name(),
      "the mailbox is at its bound of " + std::to_string(receiver.soft_limit()) + " messages");
}

/// Takes the oldest message of normal priority or, if there is none, the oldest urgent one. Null:
/// none was taken from the word.
envelope* oldest_of(cell& self) noexcept {
  if (cell_extension* const extension = self.ext_if();
      extension != nullptr && extension->skipped.front != nullptr) {
    --extension->skipped_count;
    return extension->skipped.pop_front();
  }
  auto& reader = self.reader();
  return reader.peek_front() != nullptr ? reader.next(self.gate()) : reader.next_urgent();
}

void drop(cell& self, envelope* e) noexcept {
  const base::error why = full(self);
  lost_mail::report(self, e, why);
  respond_error(e, why);
}

}  // namespace

bool admit(cell& receiver, envelope* e, std::uint32_t length) noexcept {
  if (receiver.policy() == mailbox_policy::drop_oldest && length < valve(receiver.soft_limit()))
    return true;
  lost_mail::lose(receiver, envelope_ptr(e), full(receiver));
  return false;
}

base::error try_deliver(cell& receiver, envelope_ptr e) noexcept {
  base::error why;
  const std::uint32_t bound = receiver.soft_limit();
  const bool drops_oldest = receiver.policy() == mailbox_policy::drop_oldest;
  if (receiver.has_ended()) {
    why = base::errc::receiver_gone;
  } else if (receiver.mailbox_length() >= (drops_oldest ? valve(bound) : bound)) {
    if (receiver.policy() == mailbox_policy::drop_newest) {
      lost_mail::lose(receiver, std::move(e), full(receiver));  // the sender need not know
      return {};
    }
    why = full(receiver);
  } else {
    const push_outcome pushed = receiver.gate().push(e.get());
    if (pushed == push_outcome::closed) return base::errc::receiver_gone;
    static_cast<void>(e.release());
    if (pushed == push_outcome::woke) receiver.home_executor().schedule(receiver);
    return {};
  }
  return why;
}

bool before_message(cell& self, envelope* e) noexcept {
  self.reader().publish(self.gate());
  if (self.policy() == mailbox_policy::drop_oldest && self.mailbox_length() > self.soft_limit()) {
    cell_extension& extension = self.ext();
    envelope* const oldest = extension.skipped.pop_front();
    if (oldest == nullptr) {
      drop(self, e);
      return false;
    }
    --extension.skipped_count;
    drop(self, oldest);
    self.finish(oldest);
  }
  serve(self, 1);
  return true;
}

void trim(cell& self) noexcept {
  if (self.policy() != mailbox_policy::drop_oldest) return;
  auto& gate = self.gate();
  auto& reader = self.reader();
  reader.publish(gate);
  envelope_chain responses;
  while (self.mailbox_length() > self.soft_limit()) {
    envelope* const oldest = oldest_of(self);
    if (oldest == nullptr) break;
    if (oldest->is(envelope_flag::response)) {
      responses.push_back(oldest);
      continue;
    }
    lost_mail::lose_kept(self, oldest, full(self));
    reader.publish(gate);
  }
  if (responses.front != nullptr) reader.prepend(responses.front, responses.back);
}

void on_room_wanted(cell& self, const signals::room_wanted& w) {
  self.ext().parked.push_back({w.message, w.sender, w.id});
  self.set_bounded(true);
  self.reader().publish(self.gate());
  serve(self, 0);
}

void serve(cell& self, std::uint32_t leaving) noexcept {
  cell_extension* const extension = self.ext_if();
  if (extension == nullptr) return;
  while (extension->first_parked != extension->parked.size() &&
         self.mailbox_length() < self.soft_limit() + leaving) {
    const parked_message p = extension->parked[extension->first_parked++];
    self.deliver_now(p.message);
    respond_value<unit>({p.sender, p.id});
  }
  if (extension->first_parked != extension->parked.size()) {
    if (extension->first_parked < 64 || extension->first_parked * 2 < extension->parked.size())
      return;
    extension->parked.erase(
        extension->parked.begin(),
        extension->parked.begin() + static_cast<std::ptrdiff_t>(extension->first_parked));
  } else {
    extension->parked.clear();
    if (self.policy() == mailbox_policy::unbounded) self.set_bounded(false);
  }
  extension->first_parked = 0;
}

void refuse_one(cell& receiver, const parked_message& p, const base::error& why) noexcept {
  lost_mail::lose(receiver, envelope_ptr(p.message), why);
  respond_error(pending_request{p.sender, p.id}, why);
}

void refuse_parked(cell& self, const base::error& why) noexcept {
  cell_extension* const extension = self.ext_if();
  if (extension == nullptr) return;
  for (; extension->first_parked != extension->parked.size(); ++extension->first_parked)
    refuse_one(self, extension->parked[extension->first_parked], why);
  extension->parked.clear();
  extension->first_parked = 0;
}

}  // namespace garrick::core::bounded_mailbox
