// Outgoing answers to the requests of the peer. A large answer is left to its giver, which encodes
// it outside of the link.
#include <garrick/core/seam/content.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/link/internal/link.hpp>

#include <utility>

namespace garrick::net::internal {

using core::envelope_flag;
using core::envelope_ptr;

const content_codec* link::answer(envelope_ptr& e) {
  if (!outbox_.is_behind()) return answer_now(e, !asker_->hints().needs_link(e->type));
  const peer_requests::place at = asked_.find(e->id());
  return asked_.is_open(at) ? &at->second.signature->answer : nullptr;
}

const content_codec* link::answer_now(envelope_ptr& left, bool may_be_left) {
  envelope_ptr e = std::move(left);
  if (is_closed_) return nullptr;
  const std::uint64_t number = e->id();
  const peer_requests::place at = asked_.find(number);
  if (!asked_.is_open(at)) return asked_.answered_late(number), nullptr;
  if (e->is(envelope_flag::failure)) {
    send_error(asked_.take(at), number, *static_cast<const base::error*>(e->raw()));
    return nullptr;
  }
  const content_codec& how = at->second.signature->answer;
  if (e->type != how.content) {
    send_wrong_type(asked_.take(at), number, e->type);
    return nullptr;
  }
  frame f{.number = number};
  base::result<packet> p =
      handles_.encode(how, core::content_pointer(e.get()), f, front(),
                      may_be_left ? most_encoded_inside : writer_settings().largest);
  if (!p && may_be_left && p.error() == net_errc::too_large) {
    left = std::move(e);
    return &how;
  }
  const peer_requests::request to = asked_.take(at);
  if (p) {
    post_written(answer_to(to, f, std::move(*p)));
  } else {
    ++not_encoded_;
    send_error(to, number, p.error().at(e->type->name));
  }
  return nullptr;
}

void link::answer_now(std::uint64_t number, const base::message_type* type, packet payload) {
  if (is_closed_) return;
  const peer_requests::place at = asked_.find(number);
  if (!asked_.is_open(at)) return asked_.answered_late(number);
  const peer_requests::request to = asked_.take(at);
  if (type != to.signature->answer.content) return send_wrong_type(to, number, type);
  post(answer_to(to, {.number = number}, std::move(payload)), now());
}

/// Sends an answer that was left for the link. An envelope of any size is encoded here.
void link::answer_taken(mail_slot::entry& e) {
  if (e.envelope != nullptr) return static_cast<void>(answer_now(e.envelope, false));
  answer_now(e.what.sender, e.what.type,
             e.whole.empty() ? packet::copy_of(e.bytes, frame_room + asker_->how().headers)
                             : std::move(e.whole));
}

/// Returns the frame of an answer. `f` has its number, and the count of its handles.
outgoing link::answer_to(const peer_requests::request& to, frame f, packet payload) const {
  f.kind = frame_kind::response;
  f.receiver = to.asker;
  f.sender = to.asked;
  f.type = to.signature->answer.type;
  outgoing m = to_outgoing(f, std::move(payload));
  m.lane = lane_of(to);
  return m;
}

/// Returns the lane of messages from the giver to the asker, so that an answer keeps their order.
lane_number link::lane_of(const peer_requests::request& to) const noexcept {
  return net::lane_of(
      {.kind = frame_kind::message, .receiver = to.asker, .sender = sender_id(to.giver)});
}

void link::send_error(const peer_requests::request& to, std::uint64_t number,
                      const base::error& why) {
  outgoing m = refusal_of(
      {.kind = frame_kind::request, .receiver = to.asked, .sender = to.asker, .number = number},
      why, link_->header_size());
  m.lane = lane_of(to);
  post(std::move(m), now());
}

void link::send_wrong_type(const peer_requests::request& to, std::uint64_t number,
                           const base::message_type* type) {
  send_error(to, number,
             base::make_error(base::errc::unexpected_message, type->name,
                              "the answer is of another type than the protocol says"));
}

}  // namespace garrick::net::internal
