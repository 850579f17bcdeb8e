// Requests: sent, limited, awaited, taken over, forgotten.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/internal/awaiting.hpp>
#include <garrick/core/cell/internal/last_words.hpp>
#include <garrick/core/cell/internal/lost_mail.hpp>
#include <garrick/core/cell/signals.hpp>
#include <garrick/core/cell/suspended_frame.hpp>
#include <garrick/core/cell/timer_record.hpp>
#include <garrick/core/cell/wait_graph.hpp>
#include <garrick/core/request.hpp>

#include <string>
#include <utility>

namespace garrick::core::detail {

namespace {

base::error too_many_requests(const cell& self) {
  return base::make_error(base::errc::overload, self.name(),
                          "too many requests wait for their response");
}

}  // namespace

std::uint64_t send_request(cell& self, cell& to, envelope* e, bool urgent) {
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
    self.ext().pending.asked_by(id, to);
  if (wait_graph* const w = self.env().waits) w->asked(self.id(), id, to.id());
  if (urgent)
    to.deliver_urgent(e);
  else
    to.deliver(e);
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
    table.finish(id, self);
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
  if (!pending.alive(id)) return;  // used and over
  envelope* const answer = make_envelope<base::error>(base::errc::timeout);
  answer->word |= id;
  answer->set(envelope_flag::response);
  answer->set(envelope_flag::failure);
  answer->set(envelope_flag::timed_out);
  timer_record*& timer = pending.at(id).timer;
  if (timer != nullptr) std::exchange(timer, nullptr)->cancel_and_drop();
  timer = timer_record::arm_once(self.env(), self, answer, limit);
}

bool closes_cycle(cell& self, std::uint64_t id) noexcept {
  environment& env = self.env();
  if (env.waits == nullptr || id == 0 || !env.waits->awaits(self.id(), id)) return false;
  if (env.probe != nullptr) env.probe->on_request_cycle(self.id());
  return true;
}

namespace {

/// A request that is not answered by its receiver: gives the continuation an error here and now.
void fail_here(cell& self, continuation* k, base::error why) {
  const envelope_ptr e(last_words<base::error>("a request cannot fail", std::move(why)));
  e->set(envelope_flag::failure);
  k->on_response(self, e.get());
}

/// The response came before somebody waited for it.
void take_early(cell& self, std::uint64_t id, continuation* k) {
  response_table& pending = self.ext().pending;
  response_table::slot& slot = pending.at(id);
  envelope* const early = std::exchange(slot.early, nullptr);
  if (slot.timer != nullptr) slot.timer->cancel_and_drop();
  pending.finish(id, self);
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
    forget_request(self, id);  // what the other sends later is ignored
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
  extension->pending.finish(id, self);
  if (exclusive && std::erase(extension->awaiting, id) != 0) awaiting::changed(self, *extension);
}

base::error wrong_answer(const envelope* e) {
  return base::make_error(base::errc::unexpected_message, "response",
                          "the answer is of type " + std::string(e->type->name) +
                              ", which the requester did not ask for");
}

void fail_by_response(cell& self, const base::error& why) { self.quit(base::exit_reason(why)); }

void hand_request_over(cell& self, const cell& to, envelope* e) noexcept {
  const pending_request request = take_current_request(self);
  if (request.requester == nullptr) {
    e->sender_id = self.current() != nullptr && !self.current()->is(envelope_flag::response)
                       ? self.current()->sender_id
                       : self.id();
    return;
  }
  if (wait_graph* const w = request.requester->env().waits)
    w->handed_over(request.requester->id(), request.id, to.id());
  e->requester = request.requester;
  e->word |= request.id;
  e->set(envelope_flag::request);
  e->set(envelope_flag::seen);
}

}  // namespace garrick::core::detail
