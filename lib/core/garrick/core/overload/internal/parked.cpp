// Parking messages, and letting them in.
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/overload/internal/parked.hpp>

#include <new>

namespace garrick::core::parked {

namespace {

bool has_room(const cell& self) noexcept { return self.waiting_now() < self.soft_limit(); }

/// Tells the probe that the message no longer waits for room, if it was told of the wait.
void no_longer_parked(const cell& receiver, const parked_message& p) noexcept {
  base::probe* const probe = receiver.env().probe;
  if (probe != nullptr && p.told) probe->on_sender_goes_on(receiver.id(), p.sender->id());
}

}  // namespace

void before_message(cell& self) noexcept {
  self.reader().publish(self.gate(), 1);
  serve(self);
}

void add(cell& self, const signals::room_wanted& w) noexcept {
  try {
    self.ext().parked.push_back({w.message, w.sender, w.id});
  } catch (const std::bad_alloc&) {
    return lost_mail::lose_parked(self, {w.message, w.sender, w.id},
                                  base::make_error(base::errc::overload, self.name(),
                                                   "no memory for a message that waits for room"));
  }
  self.set_watched(true);
  self.reader().publish(self.gate());
  serve(self);
  auto& all = self.ext().parked;
  if (self.env().probe == nullptr || all.empty()) return;
  all.back().told = true;
  self.env().probe->on_sender_waits(self.id(), w.sender->id());
}

void serve(cell& self) noexcept {
  cell_extension* const x = self.ext_if();
  if (x == nullptr) return;
  while (x->first_parked != x->parked.size() && has_room(self)) {
    const parked_message p = x->parked[x->first_parked++];
    self.deliver_now(p.message);
    no_longer_parked(self, p);
    respond_done({p.sender, p.id});
  }
  if (x->first_parked != x->parked.size()) {
    if (x->first_parked < 64 || x->first_parked * 2 < x->parked.size()) return;
    x->parked.erase(x->parked.begin(),
                    x->parked.begin() + static_cast<std::ptrdiff_t>(x->first_parked));
  } else {
    x->parked.clear();
    if (self.limits().policy == mailbox_policy::unbounded) self.set_watched(false);
  }
  x->first_parked = 0;
}

void refuse_all(cell& self, const base::error& why) noexcept {
  cell_extension* const x = self.ext_if();
  if (x == nullptr) return;
  for (; x->first_parked != x->parked.size(); ++x->first_parked) {
    const parked_message& p = x->parked[x->first_parked];
    no_longer_parked(self, p);
    lost_mail::lose_parked(self, p, why);
  }
  x->parked.clear();
  x->first_parked = 0;
}

}  // namespace garrick::core::parked
