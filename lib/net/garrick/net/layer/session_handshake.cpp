// The agreement of two ends on a session: hello, its answers, and refusals.
#include <algorithm>
#include <string>
#include <utility>

#include "garrick/net/error.hpp"
#include "garrick/net/layer/session.hpp"
#include "garrick/net/layer/session/secrets.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {

using base::duration;
using base::instant;

namespace {

// The length that `framing` puts in front of a packet. Packets on a second connection do not pass
// through that layer.
constexpr std::size_t frame_length = 4;

}  // namespace

// -- Sending ------------------------------------------------------------------

hello session::resuming(std::uint64_t number, const layer_context& c) const {
  hello h = own_hello(peer_.self.incarnation, c);
  h.resumes = true;
  h.number = number;
  h.proof = resume_proof(key_, session_packet::hello, h);
  return h;
}

void session::send_hello(session_packet kind, const hello& h, layer_context& c) {
  packet p = packet::with_room(header_size + c.headers_below(), 192);
  encode_hello(kind, h, p);
  ++counters_.hellos_sent;
  c.down({std::move(p), layer_lane});
}

void session::send_answer(const hello& to, layer_context& c) {
  hello h = own_hello(to.self.incarnation, c);
  h.resumes = phase_ == phase::lost;
  h.number = to.resumes ? to.number : secret_;
  h.proof = to.resumes ? resume_proof(key_, session_packet::hello_ack, h) : to.number;
  send_hello(session_packet::hello_ack, h, c);
}

void session::send_challenge(const hello& to, std::uint64_t cookie, layer_context& c) {
  hello h = own_hello(to.self.incarnation, c);
  h.program.clear();  // the answer to a stranger is short
  h.number = cookie;
  h.proof = to.number;
  send_hello(session_packet::challenge, h, c);
}

void session::send_refusal(refusal why, const hello& to, layer_context& c) {
  packet p = packet::with_room(header_size + c.headers_below(), 32);
  const std::uint64_t proof = to.resumes ? 0 : to.number;
  encode_refusal({why, settings_.versions, to.self.incarnation, {}, {}, proof}, p);
  c.down({std::move(p), layer_lane});
}

// -- Agreement ----------------------------------------------------------------

bool session::proves(session_packet kind, const hello& h) const noexcept {
  return knows_peer_ && h.resumes && h.self == peer_.self && h.to == settings_.self.incarnation &&
         h.proof == resume_proof(key_, kind, h);
}

bool session::is_an_answer(const hello& h) const noexcept {
  if (phase_ == phase::lost)
    return proves(session_packet::hello_ack, h) && (h.number == by_stream_ || h.number == beside_);
  return h.to == settings_.self.incarnation && h.proof == secret_;
}

bool session::agree(const hello& h, bool may_end, layer_context& c) {
  if (h.self == settings_.self) {
    send_refusal(refusal::oneself, h, c);
    if (!may_end) return ++counters_.strangers, false;
    end(base::make_error(net_errc::refused, "failure_detection",
                         "the other end is this end itself"),
        c);
    return false;
  }
  if (const auto common = settings_.versions.common(h.versions)) {
    version_ = *common;
    return has_same_layers(h, may_end, c);
  }
  send_refusal(refusal::incompatible, h, c);
  if (!may_end) return ++counters_.strangers, false;
  end(base::make_error(net_errc::incompatible, "failure_detection",
                       "this end speaks versions " + settings_.versions.to_string() +
                           ", the other end " + h.versions.to_string()),
      c);
  return false;
}

bool session::has_same_layers(const hello& h, bool may_end, layer_context& c) {
  if (h.layers == c.fingerprint()) return true;
  send_refusal(refusal::other_layers, h, c);
  if (!may_end) return ++counters_.strangers, false;
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
  secret_of_peer_ = std::exchange(peer_.number, 0);
  peer_.proof = 0;
  key_ = session_key(secret_, secret_of_peer_);
  tag_to_ = session_tag(key_, settings_.self.incarnation);
  tag_from_ = session_tag(key_, peer_.self.incarnation);
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

// -- Arriving packets ---------------------------------------------------------

void session::on_hello(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<hello> h = decode_hello(bytes);
  if (!h || !connected_) return on_stranger(bytes, c);
  if (!stream_) return on_hello_by_datagram(*h, c);
  if (phase_ == phase::open) {  // the peer repeats its hello until it has the answer
    if (h->self != peer_.self) on_stranger(bytes, c);
    return;
  }
  if (phase_ == phase::lost) return on_hello_while_lost(*h, c);
  greet(c);
  if (!agree(*h, true, c)) return;
  if (h->resumes) {
    send_refusal(refusal::no_session, *h, c);
    return end(peer_down("the other end wants to go on with a session that is over"), c);
  }
  learn(*h);
  send_answer(*h, c);
  open(c);
}

void session::on_hello_by_datagram(const hello& h, layer_context& c) {
  if (h.resumes) return on_stranger({}, c);
  if (knows_peer_ && !is_the_first(h)) {
    if (h.self == settings_.self) return on_stranger({}, c);
    // Perhaps the peer was restarted, or has begun another session. Or the hello comes from an
    // earlier life of the peer, or from a stranger: then the challenge stays without an answer.
    const std::uint64_t cookie = cookie_of(cookies_, h, 0);
    if (h.proof != cookie) {
      ++counters_.strangers;
      return send_challenge(h, cookie, c);
    }
    if (phase_ == phase::open) return restarted(h, c);
  }
  if (phase_ == phase::greeting) {
    greet(c);
    // Any host may send this. So an end that connects learns its peer only by the answer to its own
    // hello, and an end that listens waits for a packet with the right tag before it opens. A peer
    // that is open sends one within an interval.
    if (!agree(h, !settings_.connects, c)) return;
    if (!settings_.connects) learn(h);
  }
  send_answer(h, c);  // again, if an earlier answer may have been lost
}

void session::on_hello_while_lost(const hello& h, layer_context& c) {
  if (proves(session_packet::hello, h)) {
    if (h.number <= last_attempt_) return on_stranger({}, c);
    last_attempt_ = h.number;
  } else if (!is_the_first(h) || confirmed_) {
    ++counters_.strangers;
    send_refusal(refusal::no_session, h, c);
    // The accept policy has given the peer time to resume, and has given the session up.
    if (!settings_.connects && h.begins_anew && !h.resumes && h.self == peer_.self)
      end(peer_down("the other end does not have the session any more"), c);
    return;
  }  // else the peer was never told that the session is open, and begins it once more
  greet(c);
  if (!has_same_layers(h, true, c)) return;
  send_answer(h, c);
  open(c);
}

void session::on_hello_ack(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<hello> h = decode_hello(bytes);
  if (!h || !connected_ || h->self == settings_.self) return on_stranger(bytes, c);
  if (phase_ == phase::open && stream_) return;  // both have said hello at once
  if (!is_an_answer(*h)) return on_stranger(bytes, c);
  greet(c);
  if (phase_ == phase::greeting) {
    if (!agree(*h, true, c)) return;
    learn(*h);
    confirmed_ = true;
    open(c);
  } else if (phase_ == phase::lost) {
    if (!has_same_layers(*h, true, c)) return;
    by_stream_ = beside_ = 0;
    open(c);
  } else if (h->self != peer_.self || h->number != secret_of_peer_) {
    return on_stranger(bytes, c);
  }
  // The heartbeat tells the other end that this end is open.
  if (phase_ == phase::open) send_heartbeat(0, c);
}

void session::on_challenge(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<hello> h = decode_hello(bytes);
  if (!h || stream_ || !settings_.connects || phase_ != phase::greeting || !is_an_answer(*h))
    return on_stranger(bytes, c);
  challenged_by_ = h->self.incarnation;
  cookie_ = h->number;
  say_hello(c);
}

void session::on_refusal(std::span<const std::byte> bytes, layer_context& c) {
  const std::optional<refusal_notice> r = decode_refusal(bytes);
  const bool expected = phase_ == phase::greeting || phase_ == phase::lost;
  const bool is_proved = stream_ || (r && r->proof == secret_);
  if (!r || !connected_ || !expected || !is_proved || r->to != settings_.self.incarnation)
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

// -- A second connection ------------------------------------------------------

packet session::greeting(layer_context& c) {
  const bool wanted = phase_ == phase::lost || (phase_ == phase::open && life_.is_suspected());
  if (!wanted) return {};
  packet p = packet::with_room(frame_length, largest_hello);
  beside_ = ++attempts_;
  encode_hello(session_packet::hello, resuming(beside_, c), p);
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
  const bool goes_on = h && proves(session_packet::hello_ack, *h) && h->number == beside_ &&
                       h->layers == c.fingerprint();
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
