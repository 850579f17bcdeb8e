// What a full mailbox takes, drops and refuses.
#include <garrick/core/overload/internal/bounded_mailbox.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/overload/internal/sender_credit.hpp>
#include <garrick/core/cell/respond.hpp>

#include <new>
#include <string>
#include <utility>

namespace garrick::core::bounded_mailbox {

namespace {

base::error full(const cell& receiver, std::uint32_t limit) noexcept {
  const bool bounded = receiver.policy() != mailbox_policy::unbounded;
  try {
    return base::make_error(base::errc::overload, receiver.name(),
                            std::string("the mailbox is at its ") +
                                (bounded ? "bound" : "soft limit") + " of " +
                                std::to_string(limit) + " messages");
  } catch (const std::bad_alloc&) { return base::errc::overload; }
}

/// Is there room for one message? Takes the credit for it where mail is drained elsewhere. The
/// runner.
bool has_room(cell& self) noexcept {
  sender_credit* const credit = self.senders_credit();
  if (credit == nullptr) return self.waiting_now() < self.soft_limit();
  return credit->take_or_park();
}

/// The message is not among those that wait for room any more. Tells the probe if it was told of
/// the wait.
void no_longer_parked(const cell& receiver, const parked_message& p) noexcept {
  base::probe* const probe = receiver.env().probe;
  if (probe != nullptr && p.told) probe->on_sender_goes_on(receiver.id(), p.sender->id());
}

}  // namespace

void turn_away(cell& receiver, envelope* e) noexcept {
  lost_mail::lose(receiver, envelope_ptr(e), full(receiver, receiver.soft_limit()));
}

base::error try_deliver(cell& receiver, envelope_ptr e) noexcept {
  if (receiver.is_elsewhere()) {
    receiver.deliver(e.release());
    return {};
  }
  if (receiver.has_ended()) return base::errc::not_handled;
  if (sender_credit* const credit = receiver.senders_credit()) {
    if (!credit->take())
      return base::make_error(base::errc::overload, receiver.name(),
                              "there is no credit for more messages");
  } else if (receiver.gate().length() >= receiver.soft_limit() &&
             receiver.mailbox_length() >= receiver.soft_limit()) {
    base::error why = full(receiver, receiver.soft_limit());
    if (receiver.policy() != mailbox_policy::drop_newest) return why;
    lost_mail::lose(receiver, std::move(e), std::move(why));  // the sender need not know
    return {};
  }
  const push_outcome pushed = receiver.gate().push(e.get());
  if (pushed == push_outcome::closed) return base::errc::not_handled;
  static_cast<void>(e.release());
  if (pushed == push_outcome::woke) receiver.home_executor().schedule(receiver);
  return {};
}

void before_message(cell& self) noexcept {
  self.reader().publish(self.gate(), 1);
  serve(self);
}

void on_room_wanted(cell& self, const signals::room_wanted& w) noexcept {
  try {
    self.ext().parked.push_back({w.message, w.sender, w.id});
  } catch (const std::bad_alloc&) {
    return refuse_one(self, {w.message, w.sender, w.id},
                      base::make_error(base::errc::overload, self.name(),
                                       "no memory for a message that waits for room"));
  }
  self.set_bounded(true);
  self.reader().publish(self.gate());
  serve(self);
  auto& parked = self.ext().parked;
  if (self.env().probe == nullptr || parked.empty()) return;
  parked.back().told = true;
  self.env().probe->on_sender_waits(self.id(), w.sender->id());
}

void serve(cell& self) noexcept {
  cell_extension* const extension = self.ext_if();
  if (extension == nullptr) return;
  while (extension->first_parked != extension->parked.size() && has_room(self)) {
    const parked_message p = extension->parked[extension->first_parked++];
    self.deliver_now(p.message);
    no_longer_parked(self, p);
    respond_done({p.sender, p.id});
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
  for (; extension->first_parked != extension->parked.size(); ++extension->first_parked) {
    const parked_message& p = extension->parked[extension->first_parked];
    no_longer_parked(self, p);
    refuse_one(self, p, why);
  }
  extension->parked.clear();
  extension->first_parked = 0;
}

}  // namespace garrick::core::bounded_mailbox
