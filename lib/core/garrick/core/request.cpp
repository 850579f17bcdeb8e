// Requests: sent, limited, awaited, taken over, forgotten.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/life/internal/asked_proxy.hpp>
#include <garrick/core/life/internal/last_words.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/life/wait_graph.hpp>
#include <garrick/core/request.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/core/turn/internal/awaiting.hpp>
#include <garrick/core/turn/suspended_frame.hpp>
#include <garrick/core/turn/timer_record.hpp>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace garrick::core::detail {

namespace {

base::error too_many_requests(const cell& self) {
  return base::make_error(base::errc::overload, self.name(),
                          "too many requests wait for their response");
}

/// Makes `e` a request of `self`. Returns 0 if the actor has too many open requests; then `e` is
/// lost.
inline std::uint64_t begin_request(cell& self, cell& to, envelope* e) {
  envelope_ptr mine(e);
  const std::uint64_t id =
      self.ext().pending.reserve(self.env().requests.outstanding_limit, to.id());
  if (id == 0) {
    e->sender_id = self.id();
    lost_mail::lose(to, std::move(mine), too_many_requests(self));
    return 0;
  }
  static_cast<void>(mine.release());
  self.add_strong_from_self();
  e->requester = &self;
  e->word |= id;
  e->set(envelope_flag::request);
  if (to.is_proxy()) [[unlikely]]
    asked_proxy::note(self.ext().pending.at(id), to);
  if (wait_graph* const w = self.env().waits) w->asked(self.id(), id, to.id());
  return id;
}

}  // namespace

std::uint64_t send_request(cell& self, cell& to, envelope* e, bool urgent) {
  const std::uint64_t id = begin_request(self, to, e);
  if (id == 0) return 0;
  if (urgent)
    to.deliver_urgent(e);
  else
    to.deliver(e);
  return id;
}

std::uint64_t send_limited_request(cell& self, cell& to, envelope* e, base::duration limit,
                                   bool urgent) {
  if (!to.is_elsewhere()) [[likely]]
    return send_request(self, to, e, urgent);
  // The limit begins here, so that the wait for credit counts.
  const base::instant until = self.env().clock->now() + std::max(limit, base::duration());
  const std::uint64_t id = begin_request(self, to, e);
  if (id == 0) return 0;
  if (urgent) e->set(envelope_flag::urgent);
  static_cast<proxy_cell&>(to).deliver_until(e, until);
  return id;
}

std::uint64_t send_parked(cell& self, cell& to, envelope* e) {
  envelope_ptr mine(e);
  const std::uint64_t id =
      self.ext().pending.reserve(self.env().requests.outstanding_limit, to.id());
  e->sender_id = self.id();
  if (id == 0) {
    lost_mail::lose(to, std::move(mine), too_many_requests(self));
    return 0;
  }
  self.add_strong_from_self();
  to.signal(last_words<signals::room_wanted>("a message cannot wait for room", mine.release(),
                                             &self, id));
  return id;
}

std::uint64_t open_request(cell& self, pending_request& r) {
  r = {};
  const std::uint64_t id = self.ext().pending.reserve(self.env().requests.outstanding_limit, 0);
  if (id == 0) return 0;
  self.add_strong_from_self();
  r = {&self, id};
  return id;
}

std::uint64_t open_request_to_outside(cell& self, pending_request& r) {
  const std::uint64_t id = open_request(self, r);
  if (id != 0) self.ext().pending.expect_from_outside(id, self.env());
  return id;
}

std::uint64_t delay_request(cell& self, base::duration d) {
  envelope_ptr e(make_envelope<unit>());
  response_table& table = self.ext().pending;
  const std::uint64_t id = table.reserve(self.env().requests.outstanding_limit, 0);
  if (id == 0) return 0;
  e->word |= id;
  e->set(envelope_flag::response);
  try {
    table.set_timer(id, timer_record::arm_once(self.env(), self, e.release(), d));
  } catch (...) {
    asked_proxy::finish(table, id, self);
    throw;
  }
  return id;
}

pending_request take_current_request(cell& self) noexcept {
  envelope* const e = self.current();
  if (e != nullptr && e->is(envelope_flag::request)) return take_request_for_later(e);
  return running_frame != nullptr ? running_frame->hand_over_request(self) : pending_request{};
}

void limit_request(cell& self, std::uint64_t id, base::duration limit) {
  response_table& pending = self.ext().pending;
  if (!pending.alive(id)) return;  // answered and used, or forgotten
  envelope* const answer = make_envelope<base::error>(base::errc::timeout);
  answer->word |= id;
  answer->set(envelope_flag::response);
  answer->set(envelope_flag::failure);
  answer->set(envelope_flag::timed_out);
  timer_record*& timer = pending.at(id).timer;
  if (timer != nullptr) std::exchange(timer, nullptr)->cancel_and_drop();
  // Without time left, the time-out is pushed here and not by the clock's thread. So it lies behind
  // an answer that has come already, and before every later one.
  if (limit.count() <= 0) return self.deliver_answer(answer);
  timer = timer_record::arm_once(self.env(), self, answer, limit);
}

bool closes_cycle(cell& self, std::uint64_t id) noexcept {
  environment& env = self.env();
  if (env.waits == nullptr || id == 0 || !env.waits->awaits(self.id(), id)) return false;
  if (env.probe != nullptr) env.probe->on_request_cycle(self.id());
  return true;
}

namespace {

/// Gives the continuation an error here and now, without an answer from the receiver.
void fail_here(cell& self, continuation* k, base::error why) {
  const envelope_ptr e(last_words<base::error>("a request cannot fail", std::move(why)));
  e->set(envelope_flag::failure);
  k->on_response(self, e.get());
}

/// Runs a continuation that was attached after its response came.
void take_early(cell& self, std::uint64_t id, continuation* k) {
  response_table& pending = self.ext().pending;
  response_table::slot& slot = pending.at(id);
  envelope* const early = std::exchange(slot.early, nullptr);
  if (slot.timer != nullptr) slot.timer->cancel_and_drop();
  asked_proxy::finish(pending, id, self);
  struct guard {
    cell& self;
    envelope* early;
    ~guard() { self.finish(early); }
  } const at_the_end{self, early};
  k->on_response(self, early);
}

}  // namespace

void attach_continuation(cell& self, std::uint64_t id, continuation* k, bool exclusive) {
  if (id == 0) return fail_here(self, k, too_many_requests(self));
  response_table& pending = self.ext().pending;
  if (!pending.alive(id) || pending.at(id).k != nullptr)
    return fail_here(self, k,
                     base::make_error(base::errc::cancelled, "response",
                                      "it was taken before: each is used once"));
  response_table::slot& slot = pending.at(id);
  if (slot.early != nullptr) return take_early(self, id, k);
  if (exclusive && closes_cycle(self, id)) {
    forget_request(self, id);  // a later answer of the other actor is ignored
    return fail_here(self, k,
                     base::make_error(base::errc::request_cycle, self.name(),
                                      "awaits an actor that waits, directly or through others, for "
                                      "this one; use then, or ask later"));
  }
  slot.k = k;
  if (exclusive) awaiting::begin(self, id);
}

void forget_request(cell& self, std::uint64_t id) noexcept {
  cell_extension* const extension = self.ext_if();
  if (id == 0 || extension == nullptr || !extension->pending.alive(id)) return;
  response_table::slot& s = extension->pending.at(id);
  if (s.early != nullptr) self.finish(s.early);
  if (s.timer != nullptr) s.timer->cancel_and_drop();
  if (self.env().waits != nullptr) note_answered(self, id);
  const bool exclusive = s.exclusive;
  asked_proxy::finish(extension->pending, id, self);
  if (exclusive && std::erase(extension->awaiting, id) != 0) awaiting::changed(self, *extension);
}

base::error wrong_answer(const envelope* e) {
  return base::make_error(base::errc::unexpected_message, "response",
                          "the answer is of type " + std::string(e->type->name) +
                              ", which the requester did not ask for");
}

void fail_by_response(cell& self, const base::error& why) { self.quit(base::exit_reason(why)); }

namespace {

/// Hands the request on to an actor elsewhere. Tells the requester, which may withdraw its request.
void hand_on_elsewhere(pending_request r, cell& to, envelope* e) noexcept {
  cell& requester = *r.requester;
  requester.add_strong();
  to.deliver(e);  // first, since a withdrawn request has to be known there
  try {
    requester.signal(make_envelope<signals::handed_on>(to, r.id));
  } catch (const std::bad_alloc&) {  // then the actor elsewhere hears of no withdrawal
  }
  requester.drop_strong();
}

}  // namespace

void hand_on(pending_request r, cell& to, envelope* e) noexcept {
  if (wait_graph* const w = r.requester->env().waits)
    w->handed_over(r.requester->id(), r.id, to.id());
  e->requester = r.requester;
  e->word |= r.id;
  e->set(envelope_flag::request);
  e->set(envelope_flag::seen);
  // Both checks read only fields that a send reads anyway.
  if (r.requester->is_elsewhere()) [[unlikely]]
    e->set(envelope_flag::revocable);
  if (to.is_elsewhere()) [[unlikely]]
    return hand_on_elsewhere(r, to, e);
  to.deliver(e);
}

void hand_on_current(cell& self, cell& to, envelope* e) noexcept {
  if (const pending_request r = take_current_request(self); r.requester != nullptr)
    return hand_on(r, to, e);
  e->sender_id = self.current() != nullptr && !self.current()->is(envelope_flag::response)
                     ? self.current()->sender_id
                     : self.id();
  to.deliver(e);
}

}  // namespace garrick::core::detail
