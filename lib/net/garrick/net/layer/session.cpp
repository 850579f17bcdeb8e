#include "garrick/net/layer/session.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "garrick/base/platform/assert.hpp"
#include "garrick/base/platform/platform.hpp"
#include "garrick/net/error.hpp"
#include "garrick/net/layer/internal/setting_checks.hpp"
#include "garrick/net/layer/session/secrets.hpp"
#include "garrick/net/little_endian.hpp"

namespace garrick::net {
namespace {

using base::duration;
using base::instant;

constexpr std::size_t kind_size = 1;
constexpr auto data_kind = static_cast<std::byte>(session_packet::data);
constexpr std::size_t tag_size = 4;
constexpr std::size_t number_size = 4;
// A datagram that says goodbye may be lost, and has no answer; so it is sent several times.
constexpr int goodbyes = 3;

duration jittered(duration pause, base::random_source& random) {
  return pause / 2 + duration::nanoseconds(
                         static_cast<std::int64_t>(random.unit() * double(pause.count() / 2)));
}

/// Returns a number that cannot be guessed without the seed. The generator of the jitter does not
/// give such numbers: its outputs show in times.
std::uint64_t unguessable(const session_settings& s, std::uint64_t use) {
  std::uint64_t drawn = 0;
  if (s.seed == 0) base::platform::draw_unguessable(std::as_writable_bytes(std::span(&drawn, 1)));
  return not_zero(siphash({s.seed, s.self.incarnation}, {drawn, use}));
}

}  // namespace

base::error session::check(const session_settings& s) {
  const auto& wrong = internal::invalid;
  if (s.self.incarnation == 0) return wrong("failure_detection.self", "the incarnation is zero");
  if (s.versions.lowest > s.versions.highest)
    return wrong("failure_detection.versions", "the lowest is above the highest");
  if (s.interval < duration::milliseconds(least_interval) ||
      s.interval > duration::milliseconds(most_interval))
    return wrong("failure_detection.interval", "must be from 1 ms to an hour");
  if (s.down_after < s.resume_window)
    return wrong("failure_detection.down_after", "must not be below the resume window");
  if (s.down_after <= s.interval)
    return wrong("failure_detection.down_after", "must be above the interval of heartbeats");
  if (!(s.suspicion.threshold > 0 && s.suspicion.threshold <= 100) || s.suspicion.history == 0 ||
      !(s.suspicion.least_deviation > 0))
    return wrong("failure_detection.suspicion",
                 "needs a threshold above 0 and up to 100, a history and a deviation above 0");
  const std::pair<std::string_view, duration> times[] = {
      {"failure_detection.resume_window", s.resume_window},
      {"failure_detection.handshake_limit", s.handshake_limit},
      {"failure_detection.hello_first", s.hello_first},
      {"failure_detection.hello_most", s.hello_most},
      {"failure_detection.reopen_first", s.reopen_first},
      {"failure_detection.reopen_most", s.reopen_most},
      {"failure_detection.probing.timeout", s.probing.timeout},
      {"failure_detection.probing.confirm", s.probing.confirm},
      {"failure_detection.probing.again", s.probing.again}};
  for (const auto& [name, time] : times)
    if (base::error e = internal::check_positive(name, time)) return e;
  if (s.probing.base < largest_hello || s.probing.tries == 0 || s.probing.confirm_tries == 0)
    return wrong("failure_detection.probing", "needs a base of 512 bytes and one try at least");
  return {};
}

session::session(session_settings s)
    : settings_(std::move(s)),
      random_(settings_.seed ^ settings_.self.incarnation),
      secret_(settings_.secret != 0 ? settings_.secret : unguessable(settings_, 1)),
      cookies_{unguessable(settings_, 2), unguessable(settings_, 3)},
      hello_pause_(settings_.hello_first),
      reopen_pause_(settings_.reopen_first),
      life_(settings_.suspicion, settings_.interval, settings_.down_after),
      path_(settings_.probing) {
  GARRICK_ASSERT(!check(settings_), "`check` says which setting is wrong");
}

// -- Time ---------------------------------------------------------------------

/// Returns the time by which this end asks for a call in any case. A call that comes too late shows
/// a pause; and while this end waits, as for an attempt to connect, nothing else may be due for
/// long.
instant session::heeded_until() const noexcept {
  return life_.seen() + std::min(settings_.interval, settings_.hello_most);
}

instant session::deadline() const noexcept {
  switch (phase_) {
    case phase::before:
      // The handshake's limit includes the first attempt to connect, however long that takes.
      return settings_.connects ? instant{} : instant::never();
    case phase::over: return instant::never();
    case phase::greeting:
      return std::min({greet_until_, next_hello_, next_reopen_, heeded_until()});
    case phase::lost: return std::min({keep_until_, next_hello_, next_reopen_, heeded_until()});
    case phase::open: break;
  }
  return std::min({life_.deadline(), path_.deadline(), next_reopen_});
}

void session::pass_time(layer_context& c) {
  const instant now = c.now();
  const instant seen = life_.seen();
  if (now == seen && phase_ != phase::before) return;  // packets of one read come together
  duration pause{};
  if (life_.may_be_late(now) && phase_ != phase::before) {
    const instant due = std::max(deadline(), seen);
    if (now > due) {
      pause = now - due;
      life_.excuse(pause, now);
      greet_until_ = greet_until_ + pause;
      keep_until_ = keep_until_ + pause;
    }
  }
  life_.see(now);
  if (pause >= settings_.interval && phase_ != phase::over)
    c.notify({link_event::kind::paused, static_cast<std::uint64_t>(pause.count())});
}

void session::advance(layer_context& c) {
  const instant now = c.now();
  pass_time(c);
  if (phase_ == phase::over) return;
  if (phase_ == phase::before) start(c);
  if (phase_ == phase::greeting && greet_until_ <= now) return end(unanswered(), c);
  if (phase_ == phase::lost && keep_until_ <= now)
    return end(
        peer_down("the stream was lost, and no other came in time: " + last_loss_.to_string()), c);
  if (next_reopen_ <= now) open_again(c);
  if (next_hello_ <= now) {
    hello_pause_ = std::min(hello_pause_ * 2, settings_.hello_most);
    next_hello_ = now + jittered(hello_pause_, random_);
    say_hello(c);
  }
  if (phase_ == phase::open) advance_open(c);
}

void session::open_again(layer_context& c) {
  if (!connected_) {
    next_reopen_ = instant::never();
    return c.reopen();
  }
  schedule_reopen(c.now());
  c.reopen_beside();
}

void session::advance_open(layer_context& c) {
  const instant now = c.now();
  if (life_.down_at() <= now) {
    // Perhaps the peer lives, and only its packets get lost: then this packet tells it.
    packet given_up = packet::with_room(header_size + c.headers_below(), 1);
    *given_up.append(1) = static_cast<std::byte>(parting::given_up);
    send_own(session_packet::leave, std::move(given_up), c);
    return end(peer_down("nothing was heard for " + settings_.down_after.to_string()), c);
  }
  if (life_.suspect(now)) {
    if (may_open_beside(c)) next_reopen_ = now;
    c.notify({link_event::kind::suspected});
    if (phase_ != phase::open) return;
  }
  if (path_.deadline() <= now) probe_path(c);
  if (phase_ == phase::open && life_.beat_at() <= now) send_heartbeat(0, c);
}

void session::probe_path(layer_context& c) {
  const path::step s = path_.advance(c.now(), life_.next_number());
  if (s.probe != 0) send_heartbeat(s.probe, c);
  if (s.lowered) c.notify({link_event::kind::path, *path_.size()});
}

base::error session::peer_down(std::string_view text) {
  return base::make_error(net_errc::peer_down, "failure_detection", text);
}

base::error session::unanswered() const {
  if (last_foreign_) return last_foreign_;
  std::string text = "no handshake within " + settings_.handshake_limit.to_string();
  if (has_session_)
    text += ": " + peer_.self.to_string() + " has an earlier session with this end";
  else if (last_loss_)
    text += ": " + last_loss_.to_string();
  return base::make_error(net_errc::unreachable, "failure_detection", text);
}

// -- The transport ------------------------------------------------------------

void session::start(layer_context& c) {
  stream_ = c.below().connected;
  if (phase_ != phase::before) return;
  phase_ = phase::greeting;
  greet_until_ = c.now() + settings_.handshake_limit;
}

void session::notice(const link_event& e, layer_context& c) {
  pass_time(c);
  if (phase_ == phase::over) return;
  switch (e.what) {
    case link_event::kind::connected: return on_connected(c);
    case link_event::kind::disconnected: return on_disconnected(e, c);
    case link_event::kind::writable:
      if (phase_ == phase::open) c.notify(e);
      return;
    case link_event::kind::path:
      if (path_.limit_changed(c.largest_below(), c.now()) && phase_ == phase::open)
        c.notify({link_event::kind::path, *path_.size()});
      return;
    default: return c.notify(e);
  }
}

void session::on_connected(layer_context& c) {
  start(c);
  connected_ = true;
  greeted_ = false;
  if (stream_) c.expect_at_most(largest_hello);  // until `greet`
  // This stream, too, may carry no bytes: then another one is tried.
  next_reopen_ = phase_ == phase::lost && settings_.connects ? c.now() + settings_.hello_most
                                                             : instant::never();
  c.notify({link_event::kind::connected});
  if (phase_ == phase::over || !settings_.connects) return;
  if (phase_ == phase::lost) by_stream_ = ++attempts_;
  if (!stream_ && phase_ != phase::greeting) return;
  // Hellos are repeated on a stream, too: if only the other end has lost the stream, the system
  // reports that only after bytes were sent.
  if (stream_) hello_pause_ = settings_.hello_first;
  next_hello_ = c.now() + jittered(hello_pause_, random_);
  say_hello(c);
}

void session::say_hello(layer_context& c) {
  if (phase_ == phase::lost) return send_hello(session_packet::hello, resuming(by_stream_, c), c);
  hello first = own_hello(challenged_by_, c);
  first.proof = cookie_;
  send_hello(session_packet::hello, first, c);
}

void session::on_disconnected(const link_event& e, layer_context& c) {
  start(c);
  connected_ = false;
  if (stream_) next_hello_ = instant::never();
  last_loss_ = e.why;
  if (e.why == net_errc::bad_endpoint) return end(e.why, c);
  // On datagrams only silence ends a session. But a handshake needs a socket, and there may be
  // none, as when a name was not found.
  if (!stream_ && phase_ == phase::greeting && settings_.connects) schedule_reopen(c.now());
  if (!stream_) return;
  // `framing` has closed the transport for good.
  if (e.why == net_errc::too_large) {
    if (phase_ == phase::greeting)
      return end(base::make_error(net_errc::not_garrick, "failure_detection", e.why.detail()), c);
    refuse_more(e.why, c);
    return end(e.why, c);
  }
  if (phase_ == phase::greeting && !settings_.connects) return end(e.why, c);
  if (phase_ == phase::open) {
    phase_ = phase::lost;
    keep_until_ = std::max(c.now() + settings_.resume_window, life_.down_at());
  }
  if (settings_.connects) schedule_reopen(c.now());
  c.notify(e);
}

bool session::may_open_beside(const layer_context& c) const {
  return stream_ && settings_.connects && !c.provided().connected;
}

void session::schedule_reopen(instant now) {
  next_reopen_ = now + jittered(reopen_pause_, random_);
  reopen_pause_ = std::min(reopen_pause_ * 2, settings_.reopen_most);
}

void session::end(const base::error& why, layer_context& c) {
  phase_ = phase::over;
  connected_ = false;
  c.close();
  c.notify({link_event::kind::down, 0, why});
}

// -- Arriving packets ---------------------------------------------------------

void session::receive(const incoming& m, layer_context& c) {
  if (has_just_heard(c.now()) && !m.bytes.empty() && m.bytes[0] == data_kind) [[likely]]
    return static_cast<void>(c.up({m.bytes.subspan(kind_size)}));
  pass_time(c);
  if (phase_ == phase::over || phase_ == phase::before) return;
  const auto kind = m.bytes.empty() ? session_packet{} : static_cast<session_packet>(m.bytes[0]);
  switch (kind) {
    case session_packet::data:
    case session_packet::heartbeat:
    case session_packet::heartbeat_ack:
    case session_packet::leave:
      if (!is_the_peers(m.bytes)) return on_stranger(m.bytes, c);
      // The sender of this tag knows the secrets of both ends.
      if (phase_ == phase::greeting) open(c);
      if (phase_ == phase::open) on_session_packet(kind, m.bytes, c);
      return;
    case session_packet::hello: return on_hello(m.bytes, c);
    case session_packet::hello_ack: return on_hello_ack(m.bytes, c);
    case session_packet::challenge: return on_challenge(m.bytes, c);
    case session_packet::refuse: return on_refusal(m.bytes, c);
  }
  on_stranger(m.bytes, c);
}

bool session::is_the_peers(std::span<const std::byte> bytes) const noexcept {
  if (stream_) return phase_ == phase::open;
  return knows_peer_ && bytes.size() >= kind_size + tag_size &&
         load_le<std::uint32_t>(bytes.data() + kind_size) == tag_from_;
}

void session::on_session_packet(session_packet kind, std::span<const std::byte> bytes,
                                layer_context& c) {
  const std::span<const std::byte> body = bytes.subspan(stream_ ? kind_size : header_size);
  const auto number = [&] { return load_le<std::uint32_t>(body.data()); };
  const bool is_beat = kind == session_packet::heartbeat || kind == session_packet::heartbeat_ack;
  if (is_beat && body.size() < number_size) return on_stranger(bytes, c);
  if (!has_just_heard(c.now())) heard(c);
  if (phase_ != phase::open) return;
  if (kind == session_packet::data) {
    static_cast<void>(c.up({body}));
  } else if (kind == session_packet::heartbeat) {
    life_.beaten();
    send_heartbeat_ack(number(), c);
  } else if (kind == session_packet::heartbeat_ack) {
    on_heartbeat_ack(number(), c);
  } else {
    end(peer_down(parting_text(body)), c);
  }
}

void session::heard(layer_context& c) {
  confirmed_ = true;
  path_.heard();
  if (!life_.heard(c.now())) return;
  next_reopen_ = instant::never();
  reopen_pause_ = settings_.reopen_first;
  c.notify({link_event::kind::trusted});
}

void session::on_heartbeat_ack(std::uint32_t number, layer_context& c) {
  life_.answered(number, c.now());
  if (path_.answered(number, c.now())) c.notify({link_event::kind::path, *path_.size()});
}

void session::on_stranger(std::span<const std::byte> bytes, layer_context& c) {
  ++counters_.strangers;
  if (phase_ != phase::greeting || (bytes.empty() && !stream_)) return;
  // A stream belongs to one peer, which its first packet shows. A datagram may come from any host,
  // so the handshake goes on, and if it fails, its error mentions the foreign datagram.
  const bool ours = !bytes.empty() && bytes[0] != std::byte{0} &&
                    bytes[0] <= std::byte{static_cast<std::uint8_t>(session_packet::refuse)};
  if (!stream_ && !ours) last_foreign_ = foreign_protocol(bytes);
  if (!stream_ || greeted_) return;
  if (!has_mark(bytes)) return end(foreign_protocol(bytes), c);
  end(base::make_error(net_errc::decode_failed, "failure_detection", "no valid handshake"), c);
}

// -- Sending ------------------------------------------------------------------

void session::send(outgoing&& m, layer_context& c) {
  if (phase_ != phase::open) {
    ++counters_.not_sent;
    return;
  }
  if (stream_) {
    *m.bytes.prepend(kind_size) = data_kind;
  } else {
    std::byte* header = m.bytes.prepend(header_size);
    *header = data_kind;
    store_le(header + kind_size, tag_to_);
    path_.sent(m.bytes.size());
  }
  life_.sent(c.now());
  c.down(std::move(m));
}

bool session::writable(const layer_context& c) const {
  return phase_ == phase::open && c.below_is_writable();
}

std::size_t session::largest(const layer_context& c) const {
  std::size_t below = c.largest_below();
  std::size_t header = kind_size;
  if (!c.below().connected) {
    below = std::min(below, path_.size().value_or(path_.first_size(below)));
    header = header_size;
  }
  return below > header ? below - header : 0;
}

hello session::own_hello(std::uint64_t to, const layer_context& c) const {
  hello h;
  h.versions = settings_.versions;
  h.self = settings_.self;
  h.to = to;
  h.begins_anew = phase_ == phase::greeting && has_session_;
  h.interval = static_cast<std::uint32_t>(settings_.interval.count() / 1'000'000);
  h.layers = c.fingerprint();
  h.capabilities = settings_.capabilities;
  h.program = settings_.program;
  h.number = secret_;
  return h;
}

void session::send_own(session_packet kind, packet body, layer_context& c) {
  if (!stream_) store_le(body.prepend(tag_size), tag_to_);
  *body.prepend(kind_size) = static_cast<std::byte>(kind);
  life_.sent(c.now());
  c.down({std::move(body), layer_lane});
}

void session::send_heartbeat(std::size_t size, layer_context& c) {
  const std::size_t least = header_size + number_size;
  packet p = packet::with_room(header_size + c.headers_below(), std::max(size, least));
  std::byte* body = p.append(size > least ? size - header_size : number_size);
  std::fill_n(body, p.size(), std::byte{0});
  store_le(body, life_.beat(c.now()));
  send_own(session_packet::heartbeat, std::move(p), c);
}

void session::send_heartbeat_ack(std::uint32_t number, layer_context& c) {
  packet p = packet::with_room(header_size + c.headers_below(), number_size);
  store_le(p.append(number_size), number);
  send_own(session_packet::heartbeat_ack, std::move(p), c);
}

void session::leave(layer_context& c) {
  if (phase_ == phase::open) {
    for (int i = 0; i != (stream_ ? 1 : goodbyes); ++i)
      send_own(session_packet::leave, packet::with_room(header_size + c.headers_below(), 0), c);
  }
  phase_ = phase::over;
}

void session::ends(const base::error& why, layer_context& c) {
  refuse_more(why, c);
  phase_ = phase::over;
}

void session::refuse_more(const base::error& why, layer_context& c) {
  if (phase_ != phase::open) return;
  for (int i = 0; i != (stream_ ? 1 : goodbyes); ++i) {
    packet words = packet::with_room(header_size + c.headers_below(), 1 + longest_words);
    encode_parting(why.to_string(), words);
    send_own(session_packet::leave, std::move(words), c);
  }
}

double session::phi(instant now) const noexcept {
  return phase_ == phase::open ? life_.phi(now) : 0;
}

session_counters session::counters() const noexcept {
  session_counters all = counters_;
  const liveness::figures& life = life_.counted();
  all.heartbeats_sent = life.heartbeats_sent;
  all.heartbeats_received = life.heartbeats_received;
  all.suspicions = life.suspicions;
  all.round_trip = life.round_trip;
  all.paused = life.paused;
  return all;
}

}  // namespace garrick::net
