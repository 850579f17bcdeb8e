#include <garrick/core/actor.hpp>
#include <garrick/core/cell/awaiting.hpp>
#include <garrick/core/cell/bounded_mailbox.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/wait_graph.hpp>
#include <garrick/core/request.hpp>
#include <garrick/core/task.hpp>

#include <stdexcept>

namespace garrick::core::detail {

void throw_empty_handle() {
  throw std::logic_error("garrick: a send through an empty handle; give the handle an actor first");
}

namespace {

base::error too_many_requests(const cell& self) {
  return base::make_error(base::errc::overload, self.name(),
                          "too many requests wait for their response");
}

}  // namespace

std::uint64_t send_request(cell& self, cell& to, envelope* e, bool urgent) {
  const std::uint64_t id = self.ext().pending.reserve(self.env().limits.outstanding_limit, to.id());
  if (id == 0) {
    e->sender_id = self.id();
    lifecycle::lose(to, e, too_many_requests(self));
    return 0;
  }
  self.add_strong_from_self();
  e->requester = &self;
  e->word |= id;
  e->set(envelope_flag::request);
  if (wait_graph* const w = self.env().waits) w->asked(self.id(), id, to.id());
  if (urgent)
    to.deliver_urgent(e);
  else
    to.deliver(e);
  return id;
}

std::uint64_t send_parked(cell& self, cell& to, envelope* e) {
  const std::uint64_t id = self.ext().pending.reserve(self.env().limits.outstanding_limit, to.id());
  e->sender_id = self.id();
  if (id == 0) {
    lifecycle::lose(to, e, too_many_requests(self));
    return 0;
  }
  self.add_strong_from_self();
  to.signal(make_envelope<signals::room_wanted>(e, &self, id));
  return id;
}

base::error send_if_room(cell& to, envelope* e) noexcept {
  e->sender_id = running_id();
  return bounded_mailbox::try_deliver(to, e);
}

std::uint64_t open_request(cell& self, pending_request& r) {
  r = {};
  const std::uint64_t id = self.ext().pending.reserve(self.env().limits.outstanding_limit, 0);
  if (id == 0) return 0;
  self.add_strong_from_self();
  r = {&self, id};
  return id;
}

std::uint64_t delay_request(cell& self, base::duration d) {
  response_table& table = self.ext().pending;
  const std::uint64_t id = table.reserve(self.env().limits.outstanding_limit, 0);
  if (id == 0) return 0;
  envelope* const e = make_envelope<unit>();
  e->word |= id;
  e->set(envelope_flag::response);
  table.set_timer(id, timer_record::arm_once(self.env(), self, e, d));
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
  envelope* const e = make_envelope<base::error>(base::errc::timeout);
  e->word |= id;
  e->set(envelope_flag::response);
  e->set(envelope_flag::failure);
  timer_record*& timer = pending.at(id).timer;
  if (timer != nullptr) timer->cancel_and_drop();
  timer = timer_record::arm_once(self.env(), self, e, limit);
}

void note_answered(cell& requester, std::uint64_t id) noexcept {
  requester.env().waits->answered(requester.id(), id);
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
  envelope* const e = make_envelope<base::error>(std::move(why));
  e->set(envelope_flag::failure);
  struct guard {
    envelope* e;
    ~guard() {
      destroy_payload(e);
      free_envelope_block(e);
    }
  } const g{e};
  k->on_response(self, e);
}

/// The response came before somebody waited for it.
void take_early(cell& self, std::uint64_t id, continuation* k) {
  response_table& pending = self.ext().pending;
  response_table::slot& s = pending.at(id);
  envelope* const e = std::exchange(s.early, nullptr);
  if (s.timer != nullptr) s.timer->cancel_and_drop();
  pending.finish(id);
  struct guard {
    cell& self;
    envelope* e;
    ~guard() {
      destroy_payload(e);
      cell_access::reader(self).done(e);
    }
  } const g{self, e};
  k->on_response(self, e);
}

}  // namespace

void attach_continuation(cell& self, std::uint64_t id, continuation* k, bool exclusive) {
  if (id == 0) return fail_here(self, k, too_many_requests(self));
  response_table& pending = self.ext().pending;
  if (!pending.alive(id) || pending.at(id).k != nullptr)
    return fail_here(self, k,
                     base::make_error(base::errc::cancelled, "response",
                                      "it was taken before: each is used once"));
  response_table::slot& s = pending.at(id);
  if (s.early != nullptr) return take_early(self, id, k);
  if (exclusive && closes_cycle(self, id)) {
    forget_request(self, id);  // what the other sends later is ignored
    return fail_here(self, k,
                     base::make_error(base::errc::request_cycle, self.name(),
                                      "awaits an actor that waits, directly or through others, for "
                                      "this one; use then, or ask later"));
  }
  s.k = k;
  if (exclusive) awaiting::begin(self, id);
}

void forget_request(cell& self, std::uint64_t id) noexcept {
  cell_extension* const x = self.ext_if();
  if (id == 0 || x == nullptr || !x->pending.alive(id)) return;
  response_table::slot& s = x->pending.at(id);
  if (s.early != nullptr) {
    destroy_payload(s.early);
    cell_access::reader(self).done(s.early);
  }
  if (s.timer != nullptr) s.timer->cancel_and_drop();
  if (self.env().waits != nullptr) note_answered(self, id);
  const bool exclusive = s.exclusive;
  x->pending.finish(id);
  if (exclusive && std::erase(x->awaiting, id) != 0) awaiting::changed(self, *x);
}

base::error wrong_answer(const envelope* e) {
  return base::make_error(base::errc::unexpected_message, "response",
                          "the answer is of type " + std::string(e->type->name) +
                              ", which the requester did not ask for");
}

void fail_by_response(cell& self, const base::error& why) { self.quit(base::exit_reason(why)); }

void hand_request_over(cell& self, const cell& to, envelope* e) noexcept {
  const pending_request r = take_current_request(self);
  if (r.requester == nullptr) {
    e->sender_id = self.current() != nullptr && !self.current()->is(envelope_flag::response)
                       ? self.current()->sender_id
                       : self.id();
    return;
  }
  if (wait_graph* const w = r.requester->env().waits)
    w->handed_over(r.requester->id(), r.id, to.id());
  e->requester = r.requester;
  e->word |= r.id;
  e->set(envelope_flag::request);
}

// ---- coroutines ---------------------------------------------------------------------------------

bool interleaves(cell& self) noexcept {
  return self.ext_if() != nullptr && self.ext_if()->interleave;
}

void link_frame(cell& self, suspended_frame& f) noexcept {
  cell_extension& x = self.ext();
  f.next_frame = x.frames;
  f.slot_of_me = &x.frames;
  if (x.frames != nullptr) x.frames->slot_of_me = &f.next_frame;
  x.frames = &f;
}

void unlink_frame(suspended_frame& f) noexcept {
  if (f.slot_of_me == nullptr) return;
  *f.slot_of_me = f.next_frame;
  if (f.next_frame != nullptr) f.next_frame->slot_of_me = f.slot_of_me;
  f.slot_of_me = nullptr;
}

void frame_failed(cell& self, const handled_message& message, pending_request request,
                  const std::exception_ptr& what) noexcept {
  if (message.type == nullptr) return lifecycle::on_exception(self, nullptr, what);
  undelivered u;
  u.sender = message.sender;
  u.receiver = self.id();
  u.type = message.type->name;
  u.descriptor = message.type;
  u.reason = base::make_error(base::errc::receiver_failed, self.name(), lifecycle::text_of(what));
  self.env().dead_letter(u);
  respond_error(request, u.reason);
  lifecycle::on_exception(self, nullptr, what);
}

}  // namespace garrick::core::detail
