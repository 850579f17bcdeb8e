// The agreement of two ends on a session: hello, its answers, and refusals.
#include <algorithm>
#include <string>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {

using base::duration;
using base::instant;

namespace {

// The length that `framing` puts in front of a packet. Packets on a second connection do not pass
// through that layer.
constexpr std::size_t frame_length = 4;

}  // namespace

bool session::agree(const hello& h, layer_context& c) {
  if (h.self == settings_.self) {
    send_refusal(refusal::oneself, h.self.incarnation, c);
    if (!may_end(h)) return ++counters_.strangers, false;
    end(base::make_error(net_errc::refused, "failure_detection",
                         "the other end is this end itself"),
        c);
    return false;
  }
  if (const auto common = settings_.versions.common(h.versions)) {
    version_ = *common;
    return has_same_layers(h, c);
  }
  send_refusal(refusal::incompatible, h.self.incarnation, c);
  if (!may_end(h)) return ++counters_.strangers, false;
  end(base::make_error(net_errc::incompatible, "failure_detection",
                       "this end speaks versions " + settings_.versions.to_string() +
                           ", the other end " + h.versions.to_string()),
      c);
  return false;
}

bool session::has_same_layers(const hello& h, layer_context& c) {
  if (h.layers == c.fingerprint()) return true;
  send_refusal(refusal::other_layers, h.self.incarnation, c);
  if (!may_end(h)) return ++counters_.strangers, false;
  end(different_stacks(), c);
  return false;
}

base::error session::different_stacks() const {
  return base::make_error(
      net_errc::incompatible, "failure_detection",
      "the two ends use different stacks" +
          (settings_.stack.empty() ? std::string(" of layers")
                                   : ", and this end's is '" + settings_.stack + "'"));
}

void session::greet(layer_context& c) {
  if (!std::exchange(greeted_, true) && stream_) c.expect_at_most(~std::size_t{0});
}

void session::learn(const hello& h) {
  peer_ = h;
  knows_peer_ = true;
  tag_to_ = session_tag(settings_.self.incarnation, h.self.incarnation);
  tag_from_ = session_tag(h.self.incarnation, settings_.self.incarnation);
}

void session::open(layer_context& c) {
  const instant now = c.now();
  const bool first = phase_ == phase::greeting;
  phase_ = phase::open;
  const bool was_suspected = life_.begin(now);
  next_hello_ = next_reopen_ = instant::never();
  reopen_pause_ = settings_.reopen_first;
  const std::uint32_t interval = std::clamp(peer_.interval, least_interval, most_interval);
  if (first) life_.expect(duration::milliseconds(interval));
  if (first && !stream_) path_.begin(c.largest_below(), now);
  if (!first) ++counters_.resumptions;
  if (was_suspected) c.notify({link_event::kind::trusted});
  if (phase_ != phase::open) return;
  c.notify({first ? link_event::kind::opened : link_event::kind::resumed});
  if (writable(c)) c.notify({link_event::kind::writable});
}

void session::on_hello(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<hello> h = decode_hello(bytes);
  if (!h || !connected_) return on_stranger(bytes, c);
  if (phase_ == phase::open) return on_hello_while_open(*h, c);
  greet(c);
  if (phase_ == phase::lost) return on_hello_while_lost(*h, c);
  if (!agree(*h, c)) return;
  if (h->resumes && stream_) {
    send_refusal(refusal::no_session, h->self.incarnation, c);
    return end(peer_down("the other end wants to go on with a session that is over"), c);
  }
  learn(*h);
  send_hello(session_packet::hello_ack, h->self.incarnation, c);
  // A peer that knows this end's number receives the packets that are sent to its address; on a
  // stream that is certain. Otherwise this end does not open yet, and does not repeat its answer,
  // since that may have gone to an end that has asked for nothing. A peer that is open sends a
  // packet within an interval, which opens this end, too.
  if (stream_ || h->to == settings_.self.incarnation) open(c);
}

void session::on_hello_while_open(const hello& h, layer_context& c) {
  // This hello came late or twice. The answer replaces one that may have been lost.
  if (h.self == peer_.self) {
    if (!stream_) send_hello(session_packet::hello_ack, h.self.incarnation, c);
    return;
  }
  if (h.self == settings_.self) return on_stranger({}, c);
  if (stream_ || h.to == settings_.self.incarnation) return restarted(h, c);
  // Perhaps the peer was restarted. Or the hello comes from an earlier life of the peer, or from a
  // stranger: then the challenge stays without an answer.
  ++counters_.strangers;
  send_hello(session_packet::challenge, h.self.incarnation, c);
}

void session::on_hello_while_lost(const hello& h, layer_context& c) {
  if (h.self != peer_.self) return restarted(h, c);
  if (!has_same_layers(h, c)) return;
  // A peer that was never told that the session is open may begin it once more.
  const bool continues = h.resumes ? h.to == settings_.self.incarnation : !confirmed_;
  if (!continues) {
    send_refusal(refusal::no_session, h.self.incarnation, c);
    return end(peer_down("the other end does not have the session any more"), c);
  }
  send_hello(session_packet::hello_ack, h.self.incarnation, c);
  open(c);
}

void session::on_hello_ack(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<hello> h = decode_hello(bytes);
  if (!h || !connected_ || h->to != settings_.self.incarnation || h->self == settings_.self)
    return on_stranger(bytes, c);
  greet(c);
  if (phase_ == phase::greeting) {
    if (!agree(*h, c)) return;
    learn(*h);
    confirmed_ = true;
    open(c);
  } else if (h->self != peer_.self) {
    if (stream_) return restarted(*h, c);
    return on_stranger(bytes, c);
  } else if (phase_ == phase::lost) {
    if (!has_same_layers(*h, c)) return;
    if (!h->resumes) return end(peer_down("the other end has begun another session"), c);
    open(c);
  } else if (stream_) {
    return;  // both have said hello at once
  }
  // The heartbeat tells the other end that this end is open.
  if (phase_ == phase::open) send_heartbeat(0, c);
}

void session::on_challenge(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<hello> h = decode_hello(bytes);
  if (!h || stream_ || !settings_.connects || phase_ != phase::greeting ||
      h->to != settings_.self.incarnation)
    return on_stranger(bytes, c);
  challenged_by_ = h->self.incarnation;
  send_hello(session_packet::hello, challenged_by_, c);
}

void session::on_refusal(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<refusal_notice> r = decode_refusal(bytes);
  const bool expected = phase_ == phase::greeting || phase_ == phase::lost;
  if (!r || !connected_ || !expected || r->to != settings_.self.incarnation)
    return on_stranger(bytes, c);
  switch (r->why) {
    case refusal::incompatible:
      return end(base::make_error(net_errc::incompatible, "failure_detection",
                                  "this end speaks versions " + settings_.versions.to_string() +
                                      ", the other end " + r->versions.to_string()),
                 c);
    case refusal::given_up: return end(peer_down("the other end has given this incarnation up"), c);
    case refusal::no_session:
      // An end that begins a session has not asked for an earlier one. Its hello has met the rest
      // of such a session, which is over now. The other end closes the stream, and the next hello
      // begins the session, all within the handshake's limit.
      if (phase_ == phase::greeting) return;
      return end(peer_down("the other end does not have the session any more"), c);
    case refusal::other_layers: return end(different_stacks(), c);
    case refusal::has_session: return on_session_elsewhere(*r, c);
    case refusal::oneself:
    case refusal::not_allowed: break;
  }
  std::string text = r->why == refusal::oneself ? "the other end is this end itself"
                                                : "the other end's rules do not allow it";
  if (!r->words.empty()) text += ": " + r->words;
  end(base::make_error(net_errc::refused, "failure_detection", text), c);
}

packet session::greeting(layer_context& c) {
  const bool wanted = phase_ == phase::lost || (phase_ == phase::open && life_.is_suspected());
  if (!wanted) return {};
  packet p = packet::with_room(frame_length, largest_hello);
  encode_hello(session_packet::hello, own_hello(peer_.self.incarnation, true, c), p);
  const auto size = static_cast<std::uint32_t>(p.size());  // before there is more in front
  store_le(p.prepend(frame_length), size);
  ++counters_.hellos_sent;
  return p;
}

beside session::answered(std::span<const std::byte> bytes, layer_context& c) const {
  if (phase_ != phase::open && phase_ != phase::lost) return beside::drops;
  if (bytes.size() < frame_length) return beside::waits;
  const std::size_t size = load_le<std::uint32_t>(bytes.data());
  if (size == 0 || size > largest_hello) return beside::drops;
  bytes = bytes.subspan(frame_length);
  if (bytes.size() < size) return beside::waits;
  bytes = bytes.first(size);
  if (static_cast<session_packet>(bytes[0]) != session_packet::hello_ack) return beside::drops;
  const std::optional<hello> h = decode_hello(bytes);
  const bool goes_on = h && h->resumes && h->self == peer_.self &&
                       h->to == settings_.self.incarnation && h->layers == c.fingerprint();
  return goes_on ? beside::takes : beside::drops;
}

/// Perhaps this end has that session, too, by a link to another address of the peer: then the owner
/// of this link leaves. Otherwise the peer has yet to notice or to be told that the session has
/// ended.
void session::on_session_elsewhere(const refusal_notice& r, layer_context& c) {
  if (phase_ != phase::greeting || knows_peer_ || r.self.incarnation == 0)
    return static_cast<void>(++counters_.strangers);
  peer_.self = r.self;
  has_session_ = true;
  c.notify({link_event::kind::has_session});
}

void session::restarted(const hello& h, layer_context& c) {
  end(peer_down(h.self.node == peer_.self.node
                    ? "the peer was restarted as " + h.self.to_string()
                    : "another node is in the peer's place: " + h.self.to_string()),
      c);
}

}  // namespace garrick::net
