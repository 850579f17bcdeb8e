// Sending: messages and requests, frames that wait for the stack, and frames that are given up.
#include <garrick/core/send.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/internal/node_core.hpp>
#include <garrick/net/node/link/internal/link.hpp>

#include <algorithm>
#include <utility>

namespace garrick::net::internal {

using core::envelope_flag;
using core::envelope_ptr;

packet link::empty_payload() const { return packet::with_room(front(), 0); }

void link::post(const frame& f, packet payload) { post(to_outgoing(f, std::move(payload)), now()); }

/// Posts a frame with handles in its payload. The actor of a handle that comes home must still be
/// held there when the frame arrives, so releases wait for the frame.
void link::post_written(outgoing m) {
  if (handles_.brings_home()) m.report = credit_.begin_frame();
  post(std::move(m), now());
}

void link::post(outgoing m, base::instant at) {
  if (is_closed_) return give_up(m, why_);
  outbox_.post(std::move(m), at);
}

void link::flush() {
  if (outbox_.flush(now())) send_waiting();
}

/// Returns false if the frame is a request that is withdrawn or out of time by now; then it was
/// given up. Else writes the rest of its time into the request.
bool link::may_leave(outgoing& m) {
  base::result<frame> f = decode_frame(m.bytes.bytes());
  if (!f || f->kind != frame_kind::request) return true;
  const questions::place at = questions_.find(f->number);
  if (!questions_.is_open(at)) return give_up(m, {}), false;
  if (at->second.until.is_never()) return true;
  f->time_left = at->second.until - actors_now();
  if (*f->time_left <= base::duration()) return give_up(m, base::errc::timeout), false;
  m.bytes.drop_front(static_cast<std::size_t>(f->payload.data() - m.bytes.bytes().data()));
  prepend_header(*f, m.bytes);
  return true;
}

/// Ends a frame that the stack has not taken, so no actor of the peer has seen it.
void link::give_up(outgoing& m, const base::error& why) {
  const base::error told =
      base::make_error(base::errc::not_handled, "a node", why ? why.to_string() : "");
  const bool says_all = why == net_errc::too_large || why == base::errc::timeout;
  base::error because = says_all ? why : told;
  if (const base::result<frame> f = decode_frame(m.bytes.bytes())) {
    if (why == net_errc::too_large) because = why.at(content_name(*f));
    for (std::uint32_t i = 0; i < f->handles; ++i)
      static_cast<void>(exports_.release(number_behind(*f, i), 1));
    const bool takes_credit = f->kind == frame_kind::message || f->kind == frame_kind::request;
    // The peer grants a receiver's credit again only for messages that have arrived.
    if (remote_cell* const to = takes_credit ? proxies_.find(f->receiver) : nullptr) {
      to->give_bytes_back(size_behind_header(*f));
      to->grant_credit(1);
    }
    // The peer has chosen the numbers of other kinds.
    const bool asks = f->kind == frame_kind::request || f->kind == frame_kind::resolve ||
                      f->kind == frame_kind::spawn;
    const questions::place at = questions_.find(asks ? f->number : 0);
    if (questions_.is_open(at)) {
      questions_.answer(questions_.take(at), because);
    } else if (f->kind == frame_kind::response && why == net_errc::too_large) {
      ++not_encoded_;
      outgoing instead = refusal_of({.kind = frame_kind::request,
                                     .receiver = f->sender,
                                     .sender = f->receiver,
                                     .number = f->number},
                                    because, link_->header_size());
      instead.lane = m.lane;
      post(std::move(instead), now());
    }
  }
  if (m.report != 0) settle(m.report, because);
}

/// Settles the message or signal that was sent with this report: without an error it was delivered.
void link::settle(std::uint64_t report, const base::error& why) {
  if (report == outbox::signal_report) {
    outbox_.signal_settled();
    return send_signals();
  }
  if (!credit_.settle(report, why)) return;
  if (!holds_) credit_.give_back();
  post_releases();
}

/// A message goes into the slot if others wait there, so the messages of one thread stay in order.
/// `flush` sends the slot's entries later.
std::uint32_t link::send(remote_cell& to, envelope_ptr& e, base::instant until) {
  if (!outbox_.is_behind()) return send_now(to, e, until, answering_cell::whose_lane(*e), 0);
  const core::no_wait_scope scope;  // as in `handles::encode`
  std::uint32_t weight = 1;
  // The thread that left the first entry may have lost all entries, without memory for a visit.
  // Then this entry is the first one.
  if (to.leave_waiting(std::move(e), until, weight)) asker_->bring_visit();
  return weight;
}

/// Returns the local number of a sender that the peer names, the inverse of `sender_id`. It is
/// trusted for a dead letter only.
std::uint64_t link::local_sender(const actor_id& id) const noexcept {
  constexpr std::uint64_t inverse = 0xf1de83e19937733du;
  static_assert(0x9e3779b97f4a7c15u * inverse == 1);
  return id.high == 1 ? (id.low ^ asker_->how().salt) * inverse - 1 : 0;
}

/// Sends the message in the lane of `by`.
std::uint32_t link::send_now(remote_cell& to, envelope_ptr& e, base::instant until,
                             std::uint64_t by, std::uint32_t counted_as, packet payload) {
  const bool may_be_left = counted_as == 0 && !to.hints().needs_link(e->type);
  counted_as = std::max(counted_as, 1u);
  const std::size_t has_taken = payload.size();  // it was encoded by its sender, with its bytes
  const auto lose = [&](base::error why) {
    to.give_bytes_back(has_taken);
    to.lost(std::move(e), std::move(why), counted_as);
    return counted_as;
  };
  if (is_closed_)
    return lose(base::make_error(base::errc::not_handled, to.name(), why_.to_string()));
  const bool is_limited = !until.is_never();
  const base::duration time_left = is_limited ? until - actors_now() : base::duration::infinite();
  if (time_left <= base::duration()) return to.overdue(e, counted_as), counted_as;
  const signature_codec* const s = to.by_content(e->type);
  if (s == nullptr)
    return lose(
        base::make_error(net_errc::not_encodable, e->type->name,
                         "no protocol with which the receiver was seen here has this message"));
  if (e->is(envelope_flag::request) && questions_.size() >= most_requests_)
    return lose(base::make_error(base::errc::overload, to.name(),
                                 "too many requests to its node wait for their answers"));
  frame f{.kind = frame_kind::message, .receiver = to.id(), .type = s->message.type};
  base::result<packet> p =
      !payload.empty()
          ? std::move(payload)
          : handles_.encode(s->message, core::content_pointer(e.get()), f, front(),
                            may_be_left ? most_encoded_inside : writer_settings().largest);
  if (!p && may_be_left && p.error() == net_errc::too_large)
    return to.hints().set_large(e->type), 0;
  if (!p) return lose(p.error().at(e->type->name));
  if (has_taken == 0 && !to.take_bytes(p->size())) {
    handles_.take_back();
    return lose(to.too_many_bytes());
  }
  const std::uint32_t weight = std::max(asker_->weight_of(p->size()), counted_as);
  asker_->weigh(weight, counted_as);
  f.sender = sender_id(by);
  const lane_number lane = net::lane_of(f);
  f.urgent = e->is(envelope_flag::urgent);
  const base::message_type* type = e->type;
  if (e->is(envelope_flag::request)) {
    f.kind = frame_kind::request;
    f.number = ++next_number_;
    const std::uint64_t asker = e->requester->id();
    // The peer sends the answer in the lane of messages to this number. So the number must be the
    // one to which it sends other messages for the asker.
    f.sender = exports_.number_of(core::handle_access::make_address(e->requester))
                   .value_or(sender_id(asker));
    type = nullptr;  // a lost request ends with an error, and not with a dead letter
    if (is_limited) f.time_left = time_left;
    questions_.ask(f.number, *e, *s, lane, until);
  }
  outgoing m = to_outgoing(f, std::move(*p));
  m.lane = lane;
  m.report = credit_.begin(to.local_id(), type, by, weight);
  post(std::move(m), now());
  if (is_limited) outbox_.look_before_leaving();
  return weight;
}

void link::send_waiting() {
  if (!outbox_.is_behind()) return;
  const base::instant at = now();
  outbox_.take([&](mail_slot::entry& e) { send_taken(e, at); });
}

void link::send_taken(mail_slot::entry& e, base::instant at) {
  using enum mail_slot::kind;
  if (e.as == answer) return answer_taken(e);
  auto& to = static_cast<remote_cell&>(*e.what.to);
  if (e.as == release) return released_now(to);
  if (e.as == signal) return signal_now(to, std::move(e.envelope));
  if (envelope_ptr message = std::move(e.envelope))
    return static_cast<void>(
        send_now(to, message, e.what.until, e.what.sender, e.what.weight, std::move(e.whole)));
  const std::uint32_t weight = asker_->weight_of(e.size());
  if (is_closed_)
    return to.lost(e.what.type, e.what.sender, weight,
                   base::make_error(base::errc::not_handled, to.name(), why_.to_string()));
  packet p = e.whole.empty() ? packet::copy_of(e.bytes, asker_->how().headers) : std::move(e.whole);
  outgoing m{std::move(p), e.what.lane};
  m.report = credit_.begin(to.local_id(), e.what.type, e.what.sender, weight);
  post(std::move(m), at);
}

void link::released(remote_cell& who) {
  if (!outbox_.is_behind()) return released_now(who);
  envelope_ptr nothing;
  static_cast<void>(asker_->slot().add({.to = &who}, nothing, mail_slot::kind::release));
}

void link::released_now(remote_cell& who) {
  if (is_closed_) return;
  // No grant finds the proxy any more. So a sender that pauses for a grant, as the last holder may,
  // is resumed here.
  if (const std::int64_t left = who.credit(); left < 0)
    who.grant_credit(static_cast<std::uint32_t>(-left));
  if (const std::uint64_t n = std::exchange(who.received, 0); n != 0) {
    credit_.release(who.id(), n);
    post_releases();
  }
  proxies_.forget(who);
}

void link::post_releases() {
  while (!is_closed_) {
    const std::optional<credit::release_order> next = credit_.next_release();
    if (!next) return;
    post({.kind = frame_kind::release, .receiver = next->who, .number = next->number},
         empty_payload());
  }
}

}  // namespace garrick::net::internal
