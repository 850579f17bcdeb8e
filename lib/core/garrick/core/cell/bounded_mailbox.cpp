#include <garrick/core/cell/bounded_mailbox.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/respond.hpp>

#include <string>

namespace garrick::core::bounded_mailbox {

namespace {

using access = cell_access;

// While the runner is inside one handler, nobody can drop the oldest: so much may wait in all.
std::uint32_t valve(std::uint32_t bound) noexcept { return 2 * bound + 64; }

base::error full(cell& receiver) {
  return base::make_error(base::errc::overload, receiver.name(),
                          "the mailbox is at its bound of " +
                              std::to_string(access::soft_limit(receiver)) + " messages");
}

/// Takes the oldest message of normal priority or, if there is none, the oldest urgent one. Null:
/// none was taken from the word.
envelope* oldest_of(cell& self) noexcept {
  if (cell_extension* const x = self.ext_if(); x != nullptr && x->skipped.front != nullptr) {
    --x->skipped_count;
    return x->skipped.pop_front();
  }
  auto& reader = access::reader(self);
  return reader.peek_front() != nullptr ? reader.next(access::gate(self)) : reader.next_urgent();
}

void drop(cell& self, envelope* e) noexcept {
  const base::error why = full(self);
  lifecycle::report_lost(self, e, why);
  respond_error(e, why);
}

}  // namespace

bool admit(cell& receiver, envelope* e, std::uint32_t length) noexcept {
  if (access::policy(receiver) == mailbox_policy::drop_oldest &&
      length < valve(access::soft_limit(receiver)))
    return true;
  lifecycle::lose(receiver, e, full(receiver));
  return false;
}

base::error try_deliver(cell& receiver, envelope* e) noexcept {
  base::error why;
  const std::uint32_t bound = access::soft_limit(receiver);
  const bool drops_oldest = access::policy(receiver) == mailbox_policy::drop_oldest;
  if (receiver.has_ended()) {
    why = base::errc::receiver_gone;
  } else if (receiver.mailbox_length() >= (drops_oldest ? valve(bound) : bound)) {
    if (access::policy(receiver) == mailbox_policy::drop_newest) {
      lifecycle::lose(receiver, e, full(receiver));  // the sender need not know
      return {};
    }
    why = full(receiver);
  } else {
    switch (access::gate(receiver).push(e)) {
      case push_outcome::queued: return {};
      case push_outcome::woke: receiver.home_executor().schedule(receiver); return {};
      case push_outcome::closed: why = base::errc::receiver_gone; break;
    }
  }
  detail::destroy_payload(e);
  detail::free_envelope_block(e);
  return why;
}

bool before_message(cell& self, envelope* e) noexcept {
  access::reader(self).publish(access::gate(self));
  if (access::policy(self) == mailbox_policy::drop_oldest &&
      self.mailbox_length() > access::soft_limit(self)) {
    cell_extension& x = self.ext();
    envelope* const oldest = x.skipped.pop_front();
    if (oldest == nullptr) {
      drop(self, e);
      return false;
    }
    --x.skipped_count;
    drop(self, oldest);
    detail::destroy_payload(oldest);
    access::reader(self).done(oldest);
  }
  serve(self, 1);
  return true;
}

void trim(cell& self) noexcept {
  if (access::policy(self) != mailbox_policy::drop_oldest) return;
  auto& gate = access::gate(self);
  auto& reader = access::reader(self);
  reader.publish(gate);
  envelope_chain responses;
  while (self.mailbox_length() > access::soft_limit(self)) {
    envelope* const e = oldest_of(self);
    if (e == nullptr) break;
    if (e->is(envelope_flag::response)) {
      responses.push_back(e);
      continue;
    }
    lifecycle::lose_kept(self, e, full(self));
    reader.publish(gate);
  }
  if (responses.front != nullptr) reader.prepend(responses.front, responses.back);
}

void on_room_wanted(cell& self, const signals::room_wanted& w) {
  self.ext().parked.push_back({w.message, w.sender, w.id});
  self.set_watched(true);
  access::reader(self).publish(access::gate(self));
  serve(self, 0);
}

void serve(cell& self, std::uint32_t leaving) noexcept {
  cell_extension* const x = self.ext_if();
  if (x == nullptr) return;
  while (x->first_parked != x->parked.size() &&
         self.mailbox_length() < access::soft_limit(self) + leaving) {
    const parked_message p = x->parked[x->first_parked++];
    self.deliver_now(p.message);
    respond_value<unit>({p.sender, p.id});
  }
  if (x->first_parked != x->parked.size()) {
    if (x->first_parked < 64 || x->first_parked * 2 < x->parked.size()) return;
    x->parked.erase(x->parked.begin(),
                    x->parked.begin() + static_cast<std::ptrdiff_t>(x->first_parked));
  } else {
    x->parked.clear();
    if (access::policy(self) == mailbox_policy::unbounded) self.set_watched(false);
  }
  x->first_parked = 0;
}

void refuse_one(cell& receiver, const parked_message& p, const base::error& why) noexcept {
  lifecycle::lose(receiver, p.message, why);
  respond_error(pending_request{p.sender, p.id}, why);
}

void refuse_parked(cell& self, const base::error& why) noexcept {
  cell_extension* const x = self.ext_if();
  if (x == nullptr) return;
  for (; x->first_parked != x->parked.size(); ++x->first_parked)
    refuse_one(self, x->parked[x->first_parked], why);
  x->parked.clear();
  x->first_parked = 0;
}

}  // namespace garrick::core::bounded_mailbox
