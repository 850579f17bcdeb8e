#include "garrick/net/layer/actor_protocol.hpp"

#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"
#include "garrick/net/wire/codec.hpp"

namespace garrick::net {
namespace {

[[nodiscard]] bool asks(frame_kind k) noexcept {
  return k == frame_kind::request || k == frame_kind::resolve || k == frame_kind::spawn;
}
[[nodiscard]] bool answers(frame_kind k) noexcept {
  return k == frame_kind::response || k == frame_kind::error || k == frame_kind::resolved ||
         k == frame_kind::spawned;
}
[[nodiscard]] bool fits(frame_kind answer, frame_kind question) noexcept {
  switch (answer) {
    case frame_kind::error: return true;
    case frame_kind::response: return question == frame_kind::request;
    case frame_kind::resolved: return question == frame_kind::resolve;
    case frame_kind::spawned: return question == frame_kind::spawn;
    default: return false;
  }
}

[[nodiscard]] lane_number lane_between(const actor_id& sender, const actor_id& receiver) noexcept {
  // The identifiers are random. A pair and its reverse are different pairs.
  const std::uint64_t mixed = (sender.low ^ (receiver.low * 3)) * 0x9e3779b97f4a7c15u;
  return static_cast<lane_number>(1 + (mixed >> 32) % (layer_lane - 1));
}

[[nodiscard]] bool is_about_lives(frame_kind k) noexcept {
  switch (k) {
    case frame_kind::link:
    case frame_kind::unlink:
    case frame_kind::monitor:
    case frame_kind::demonitor:
    case frame_kind::down:
    case frame_kind::exit:
    case frame_kind::kill: return true;
    default: return false;
  }
}

}  // namespace

base::error actor_protocol::check(const actor_protocol_settings& s) {
  return internal::check_range("actor_protocol.most_questions", s.most_questions, 1);
}

lane_number lane_of(const frame& f) noexcept {
  return is_about_lives(f.kind) ? system_lane : lane_between(f.sender, f.receiver);
}

outgoing to_outgoing(const frame& f, packet payload) {
  prepend_header(f, payload);
  return {std::move(payload), lane_of(f)};
}

outgoing message_to(const actor_id& receiver, const actor_id& sender, std::uint64_t type,
                    packet payload) {
  prepend_message_header(receiver, sender, type, payload);
  return {std::move(payload), lane_between(sender, receiver)};
}

outgoing refusal_of(const frame& f, const base::error& why, std::size_t front) {
  base::result<packet> text = encode(why, {.front = frame_room + front});
  // The texts of an error may be too long to be sent; then a bare `decode_failed` is sent instead.
  if (!text) text = encode(base::error(net_errc::decode_failed), {.front = frame_room + front});
  frame answer{.kind = frame_kind::error, .receiver = f.sender, .sender = f.receiver};
  if (asks(f.kind)) {
    answer.number = f.number;
  } else {
    answer.kind = frame_kind::decode_error;
    answer.type = f.type;
  }
  return to_outgoing(answer, std::move(*text));
}

base::error error_of(const frame& f, foreign_names* names) {
  byte_reader in(f.payload, {.names = names});
  base::error why;
  decode_value(in, why);
  in.expect_end();
  if (in.failed()) return in.failure();
  // An error without a code is still an error.
  return why ? why : base::make_error(net_errc::decode_failed, "an error without a code");
}

void actor_protocol::send(outgoing&& m, layer_context& c) {
  if (asks(kind_of(m.bytes.bytes()))) {
    const base::result<frame> f = decode_frame(m.bytes.bytes());
    GARRICK_ASSERT(f.has_value(), "to_outgoing makes the messages of an actor_protocol");
    const base::instant deadline = f->time_left ? c.now() + *f->time_left : base::instant::never();
    const bool is_new =
        questions_.emplace(f->number, question{f->kind, f->sender, f->receiver, deadline}).second;
    GARRICK_ASSERT(is_new, "two open questions have one number");
    if (!deadline.is_never()) by_time_.emplace(deadline, f->number);
    ++counters_.questions;
  } else if (kind_of(m.bytes.bytes()) == frame_kind::cancel) {
    if (const base::result<frame> f = decode_frame(m.bytes.bytes())) cancel(f->number, c);
  }
  c.down(std::move(m));
}

void actor_protocol::cancel(std::uint64_t number, layer_context& c) {
  const auto found = questions_.find(number);
  if (found == questions_.end()) return;  // it was answered meanwhile
  const bool was_full = questions_.size() >= settings_.most_questions;
  static_cast<void>(close(found));
  ++counters_.cancelled;
  if (was_full) c.notify({link_event::kind::writable});
}

std::pair<std::uint64_t, actor_protocol::question> actor_protocol::close(questions::iterator at) {
  const std::pair<std::uint64_t, question> closed = *at;
  if (!closed.second.deadline.is_never()) by_time_.erase({closed.second.deadline, closed.first});
  questions_.erase(at);
  return closed;
}

bool actor_protocol::was_asked_for(const frame& f, layer_context& c) {
  const auto found = questions_.find(f.number);
  // Only a request goes to an actor: the other end itself resolves a name or spawns, and answers
  // with an actor.
  const bool right = found != questions_.end() && fits(f.kind, found->second.kind) &&
                     (found->second.kind != frame_kind::request ||
                      (f.sender == found->second.asked && f.receiver == found->second.asker));
  if (!right) return ++counters_.unasked, false;
  const bool was_full = questions_.size() >= settings_.most_questions;
  static_cast<void>(close(found));
  if (was_full) c.notify({link_event::kind::writable});
  return true;
}

void actor_protocol::receive(const incoming& m, layer_context& c) {
  if (is_lent_ || !decode_plain_message(m.bytes, plain_)) [[unlikely]]
    return receive_other(m, c);
  struct lending {
    actor_protocol& from;
    explicit lending(actor_protocol& p) : from(p) { from.is_lent_ = true; }
    ~lending() {
      from.is_lent_ = false;
      from.plain_.payload = {};  // later readers find no message in it
    }
  };
  const lending until_read(*this);
  static_cast<void>(c.up({.bytes = m.bytes,
                          .lane = m.lane,
                          .made_here = m.made_here,
                          .decoded = &plain_,
                          .block = m.block}));
}

void actor_protocol::receive_other(const incoming& m, layer_context& c) {
  const base::result<frame> f = decode_frame(m.bytes);
  if (!f) {
    ++counters_.malformed;
    // A peer that takes nothing is not told of its error, and a decode_error is not answered by
    // another.
    if (kind_of(m.bytes) != frame_kind::decode_error && c.below_is_writable())
      c.down(refusal_of({}, f.error(), c.headers_below()));
    return;
  }
  const bool is_late = answers(f->kind) && !was_asked_for(*f, c);
  if (is_late && f->handles == 0) return;
  static_cast<void>(c.up({.bytes = m.bytes,
                          .lane = m.lane,
                          .made_here = m.made_here,
                          .is_late = is_late,
                          .decoded = &*f,
                          .block = m.block}));
}

void actor_protocol::answer(std::uint64_t number, const question& q, const base::error& why,
                            layer_context& c) {
  const outgoing made = refusal_of(
      {.kind = q.kind, .receiver = q.asked, .sender = q.asker, .number = number}, why, 0);
  const base::result<frame> f = decode_frame(made.bytes.bytes());
  GARRICK_ASSERT(f.has_value(), "to_outgoing makes frames");
  static_cast<void>(
      c.up({.bytes = made.bytes.bytes(), .lane = made.lane, .made_here = true, .decoded = &*f}));
}

base::instant actor_protocol::deadline() const noexcept {
  return by_time_.empty() ? base::instant::never() : by_time_.begin()->first;
}

void actor_protocol::advance(layer_context& c) {
  while (deadline() <= c.now()) {
    const bool was_full = questions_.size() >= settings_.most_questions;
    const auto [number, q] = close(questions_.find(by_time_.begin()->second));
    ++counters_.timeouts;
    if (q.kind == frame_kind::request) {
      const frame cancel{
          .kind = frame_kind::cancel, .receiver = q.asked, .sender = q.asker, .number = number};
      c.down(to_outgoing(cancel, packet::with_room(frame_room + c.headers_below(), 0)));
    }
    if (was_full) c.notify({link_event::kind::writable});
    answer(number, q, base::errc::timeout, c);
  }
}

void actor_protocol::answer_all(const base::error& why, layer_context& c) {
  while (!questions_.empty()) {
    const auto [number, q] = close(questions_.begin());
    ++counters_.unanswered;
    answer(number, q, why, c);
  }
}

void actor_protocol::notice(const link_event& e, layer_context& c) {
  if (e.what == link_event::kind::down)
    answer_all(
        base::make_error(net_errc::perhaps_delivered, "the link went down", e.why.to_string()), c);
  c.notify(e);
}

void actor_protocol::leave(layer_context& c) {
  answer_all(base::make_error(net_errc::perhaps_delivered, "this end has left"), c);
}

}  // namespace garrick::net
