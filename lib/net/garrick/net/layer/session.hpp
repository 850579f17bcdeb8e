// A session with one peer: its identity, its signs of life, and its end.
//
// This is the lowest layer but `framing`. Both ends shake hands: versions, layers, node,
// incarnation. From then on all layers above talk to one incarnation of one peer with the same
// stack. Each packet is preceded by its kind, and each datagram by a tag.
//
// Identities are no secret. So each end draws a secret for each session, and tells it in its first
// hello or in the answer to one (session/secrets.hpp). Answers repeat the secret of the other end.
// The tag, and the proofs by which a session goes on, are hashes under a key of both secrets. So
// packets that an earlier life or a stranger has sent get no further than here.
//
// A silent peer is suspected, and given up after `down_after` (liveness.hpp). The loss ends the
// session; so does a peer that leaves or comes back with another incarnation. The end is final: the
// stack is over, and delivers nothing of the session later. The policy that lets peers in decides
// whether the same incarnation may begin another session (`peer_return`), and may put it into
// quarantine (`peer`).
//
// A broken stream does not end the session, which stays for the resume window at least. The end
// that has connected connects again, the handshake is repeated, and the session is `resumed`.
//
// A stream may also stop carrying bytes without an end: a device on the path has forgotten it, or
// lets only new streams pass. So while the peer is suspected, the end that has connected tries
// another connection beside the stream, with growing pauses, and says there that the session
// continues. Both connections live until the peer confirms this by the new one, which carries the
// session from then on, as after a loss. If packets of the peer come by the old connection before
// that, no further attempt is made. A connection with a greeting under way still takes over if the
// answer comes, since the peer has left the old connection by then. So an attempt costs nothing if
// the peer is only slow or stopped, or if its address leads to another process by now. Messages
// under way are lost with the old stream, so this is done only if layers above carry messages over
// from one stream to another (`properties::connected` of the whole stack is false).
//
// On datagrams a session opens only when the other end has repeated this end's secret, or has sent
// the right tag: then it receives the packets sent to its address. A hello of another life, or of
// another session, is answered by a challenge with a cookie, and counts only with that cookie. So a
// sender with a false address can neither open a session nor end one.
//
// Only an observed silence counts: arrived bytes are received before time passes, and if this end
// itself was called later than it has asked for, the delay is taken out of every limit. So from the
// first attempt to connect until `down` it asks for a call at least once an interval. A delay of at
// least one interval raises the event `link_event::kind::paused`.
//
// Invariants:
//   D1  Messages pass only while the session is open; each in either direction belongs to it.
//   D2  `down` comes at most once, and after it nothing is sent or passed up.
//   D3  `opened` comes at most once; `resumed` only after `disconnected` of an open session.
//   D4  No session is open between ends with stacks of different fingerprints.
//   D5  A second connection takes the place of the present one only if the peer of this session has
//       said there that the session goes on.
//   D6  A stranger's packet changes nothing but a counter, and is answered with at most one packet
//       that is no larger than a hello.
//   D7  The session goes on by another stream only with an end that proves that it knows both
//       secrets, and no such proof counts twice.
//
// Thread safety: none; a layer is its stack's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/base/values/random.hpp"
#include "garrick/net/beside.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/layer/session/handshake.hpp"
#include "garrick/net/layer/session/liveness.hpp"
#include "garrick/net/layer/session/path.hpp"
#include "garrick/net/layer/session/phi_accrual.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/peer_identity.hpp"
#include "garrick/net/siphash.hpp"

namespace garrick::net {

/// Settings of `session`.
struct session_settings {
  /// The identity of this end. Its incarnation must not be zero, and should be drawn at random.
  peer_identity self{};
  bool connects = true;         ///< this end says hello first, and opens a lost stream again
  version_range versions{};     ///< the versions of this end
  capability_set capabilities;  ///< the capabilities of this end
  std::string program;          ///< the program's name for itself, for people
  std::string stack;            ///< the program's name for this stack, for errors of this end

  /// The longest time without a packet to the peer; from 1 ms to an hour.
  base::duration interval = base::duration::milliseconds(500);
  phi_settings suspicion{};                                 ///< the rule for an unusual silence
  base::duration down_after = base::duration::seconds(15);  ///< silence that ends the session
  /// The least time for which a session survives the loss of its stream; at most `down_after`.
  base::duration resume_window = base::duration::seconds(10);

  /// The longest time until `opened`. The end that connects counts from its first attempt on.
  base::duration handshake_limit = base::duration::seconds(10);
  base::duration hello_first = base::duration::milliseconds(100);  ///< pause before a second hello
  base::duration hello_most = base::duration::seconds(2);  ///< the longest pause between two
  base::duration reopen_first = base::duration::milliseconds(20);  ///< first pause before a
                                                                   ///< stream is opened again
  base::duration reopen_most = base::duration::seconds(2);         ///< the longest such pause
  std::uint64_t seed = 0;  ///< of the jitter; should differ between peers
  /// The secret of this end, for this session alone; should be unguessable. 0: it is made from
  /// `seed`, or drawn from the system's randomness if that is 0, too.
  std::uint64_t secret = 0;
  probing_settings probing{};  ///< of the path of datagrams
};

/// Counters of `session`.
struct session_counters {
  std::uint64_t heartbeats_sent = 0;      ///< also as probes
  std::uint64_t heartbeats_received = 0;  ///< from the peer
  std::uint64_t hellos_sent = 0;          ///< also as answers
  std::uint64_t suspicions = 0;           ///< how often the peer was suspected
  std::uint64_t resumptions = 0;          ///< how often the session went on with another stream
  std::uint64_t strangers = 0;  ///< dropped packets of other senders or of foreign protocols
  std::uint64_t not_sent = 0;   ///< messages from above while no session was open
  base::duration round_trip{};  ///< of the newest heartbeat that was answered; 0: of none
  base::duration paused{};      ///< delays of this end itself that were not charged to the peer

  /// Returns all counters with their names.
  [[nodiscard]] auto named() const noexcept {
    return std::array{layer_count{"heartbeats_sent", heartbeats_sent},
                      layer_count{"heartbeats_received", heartbeats_received},
                      layer_count{"hellos_sent", hellos_sent},
                      layer_count{"suspicions", suspicions},
                      layer_count{"resumptions", resumptions},
                      layer_count{"strangers", strangers},
                      layer_count{"not_sent", not_sent},
                      layer_count{"round_trip_ns", static_cast<std::uint64_t>(round_trip.count())},
                      layer_count{"paused_ns", static_cast<std::uint64_t>(paused.count())}};
  }
};

/// Opens a session by a handshake, watches the peer by heartbeats, and ends the session.
class session : public layer_defaults {
 public:
  /// The layer's name on the wire; see layer/layer.hpp.
  static constexpr std::string_view wire_name = "failure_detection";
  static constexpr std::size_t header_size = 5;  ///< kind, and a tag on datagrams
  /// Returns the reason why the layer does not fit on `below`, or `none`.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    if (!below.messages) return misfit::needs_messages_as_framing_makes_them;
    return below.sessions ? misfit::what_is_below_has_sessions_already : misfit::none;
  }
  /// Returns `below` with the guarantee `sessions`. Requires messages.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;
  /// Checks the settings. Returns `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const session_settings& s);

  /// Makes a layer without a session. Requires `!check(s)`. May throw.
  explicit session(session_settings s);

  /// Sends the message to the peer; drops it if the session is not open.
  void send(outgoing&& m, layer_context& c);
  /// Passes up the peer's messages, and handles all other packets.
  void receive(const incoming& m, layer_context& c);
  /// Shakes hands on a new connection.
  void notice(const link_event& e, layer_context& c);
  /// Sends heartbeats and repeated hellos that are due; suspects the peer, and gives it up.
  void advance(layer_context& c);
  /// Returns the time for the next `advance`: at the latest an interval after the last call, so
  /// that a pause of this end is noticed.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// Returns true while the session is open and the layer below takes more.
  [[nodiscard]] bool writable(const layer_context& c) const;
  /// Returns the most bytes of a message: on datagrams as far as the path is known.
  [[nodiscard]] std::size_t largest(const layer_context& c) const;
  /// Returns the first packet for a second connection beside the present one. Empty unless the peer
  /// is suspected or the present connection is lost by now.
  [[nodiscard]] packet greeting(layer_context& c);
  /// Returns the verdict on that connection, given the first `bytes` that the peer has sent by it.
  [[nodiscard]] beside answered(std::span<const std::byte> bytes, layer_context& c) const;
  /// Tells the peer that this end leaves.
  void leave(layer_context& c);
  /// Tells the peer why a layer above ends the link.
  void ends(const base::error& why, layer_context& c);

  /// Returns the peer's statement about itself, from `opened` on and after `down`, too, so its
  /// identity can be put into quarantine. Null before `opened`, unless the peer has refused this
  /// end because the two have a session already: then only the identity is known.
  [[nodiscard]] const hello* peer() const noexcept {
    return knows_peer_ || has_session_ ? &peer_ : nullptr;
  }
  /// Returns the version that both ends speak; 0 before `opened`.
  [[nodiscard]] std::uint16_t version() const noexcept { return version_; }
  /// Returns how unusual the peer's silence is; 0 unless the session is open.
  [[nodiscard]] double phi(base::instant now) const noexcept;
  /// Returns the counters so far, which include those of its parts.
  [[nodiscard]] session_counters counters() const noexcept;
  /// Returns the state of the path of datagrams.
  [[nodiscard]] const net::path& path_size() const noexcept { return path_; }
  /// Returns the tag in the peer's datagrams; 0 as long as none is known.
  [[nodiscard]] std::uint32_t tag_of_peer() const noexcept { return tag_from_; }

 private:
  // A peer's interval is believed within these limits, in milliseconds.
  static constexpr std::uint32_t least_interval = 1;
  static constexpr std::uint32_t most_interval = 3'600'000;

  enum class phase : std::uint8_t {
    before,    // nothing has happened
    greeting,  // the first handshake is under way, or the stream for it
    open,      // messages pass
    lost,      // the stream of an open session was lost; perhaps there is a new one
    over,      // the last event has come
  };
  void on_connected(layer_context& c);
  void on_disconnected(const link_event& e, layer_context& c);
  void start(layer_context& c);
  void pass_time(layer_context& c);

  void on_hello(std::span<const std::byte> bytes, layer_context& c);
  void on_hello_by_datagram(const hello& h, layer_context& c);
  void on_hello_while_lost(const hello& h, layer_context& c);
  void on_hello_ack(std::span<const std::byte> bytes, layer_context& c);
  void on_challenge(std::span<const std::byte> bytes, layer_context& c);
  void on_refusal(std::span<const std::byte> bytes, layer_context& c);
  void on_session_elsewhere(const refusal_notice& r, layer_context& c);
  [[nodiscard]] bool is_the_peers(std::span<const std::byte> bytes) const noexcept;
  /// Returns true if an earlier packet of the same read of a stream was a sign of life: a further
  /// one adds nothing, since no time has passed. While the peer is suspected the result is false,
  /// since its last packet came before now.
  [[nodiscard]] bool has_just_heard(base::instant now) const noexcept {
    return stream_ && phase_ == phase::open && confirmed_ && life_.last_heard() == now;
  }
  void on_session_packet(session_packet kind, std::span<const std::byte> bytes, layer_context& c);
  void on_heartbeat_ack(std::uint32_t number, layer_context& c);
  void on_stranger(std::span<const std::byte> bytes, layer_context& c);

  /// Returns true if the session may begin with the sender of this hello. Otherwise the sender is
  /// refused, and the handshake ends if `may_end`.
  [[nodiscard]] bool agree(const hello& h, bool may_end, layer_context& c);
  [[nodiscard]] bool has_same_layers(const hello& h, bool may_end, layer_context& c);
  /// Returns true if this hello is the first one of the peer of this session.
  [[nodiscard]] bool is_the_first(const hello& h) const noexcept {
    return knows_peer_ && !h.resumes && h.self == peer_.self && h.number == secret_of_peer_;
  }
  /// Returns true if this hello or answer proves that its sender is the peer of this session.
  [[nodiscard]] bool proves(session_packet kind, const hello& h) const noexcept;
  /// Returns true if this hello_ack answers a hello of this end, and has come from an end that got
  /// it.
  [[nodiscard]] bool is_an_answer(const hello& h) const noexcept;
  /// Notes that a hello has come by this stream, and lets larger packets come.
  void greet(layer_context& c);
  void learn(const hello& h);
  void open(layer_context& c);
  void heard(layer_context& c);
  void restarted(const hello& h, layer_context& c);
  void end(const base::error& why, layer_context& c);

  [[nodiscard]] hello own_hello(std::uint64_t to, const layer_context& c) const;
  [[nodiscard]] hello resuming(std::uint64_t number, const layer_context& c) const;
  void send_hello(session_packet kind, const hello& h, layer_context& c);
  void send_answer(const hello& to, layer_context& c);
  void send_challenge(const hello& to, std::uint64_t cookie, layer_context& c);
  void send_refusal(refusal why, const hello& to, layer_context& c);
  void send_own(session_packet kind, packet body, layer_context& c);
  /// Tells the peer that an open session ends, and why.
  void refuse_more(const base::error& why, layer_context& c);
  void send_heartbeat(std::size_t size, layer_context& c);
  void send_heartbeat_ack(std::uint32_t number, layer_context& c);
  void advance_open(layer_context& c);
  void probe_path(layer_context& c);
  void say_hello(layer_context& c);
  /// Returns true if this end may try a second connection beside the present one.
  [[nodiscard]] bool may_open_beside(const layer_context& c) const;
  void schedule_reopen(base::instant now);
  /// Opens a lost transport again, or tries a connection beside a silent stream.
  void open_again(layer_context& c);
  [[nodiscard]] base::instant heeded_until() const noexcept;
  [[nodiscard]] base::error unanswered() const;
  [[nodiscard]] static base::error peer_down(std::string_view text);
  [[nodiscard]] base::error different_stacks() const;

  session_settings settings_;
  base::random_source random_;
  phase phase_ = phase::before;
  bool stream_ = false;       // else datagrams
  bool connected_ = false;    // the transport carries bytes
  bool greeted_ = false;      // a hello has come by this stream
  bool knows_peer_ = false;   // peer_ is the peer; from `open` on it does not change
  bool has_session_ = false;  // peer_.self has refused this end, with which it has a session
  bool confirmed_ = false;    // a packet has shown that the peer's end is open
  std::uint16_t version_ = 0;
  hello peer_;
  std::uint32_t tag_to_ = 0;
  std::uint32_t tag_from_ = 0;
  std::uint64_t challenged_by_ = 0;  // the incarnation that has sent the last challenge
  std::uint64_t cookie_ = 0;         // of the last challenge; 0: none
  std::uint64_t secret_;
  siphash_key cookies_;  // for the challenges of this end; the peer does not know it
  std::uint64_t secret_of_peer_ = 0;
  siphash_key key_{};               // of both secrets
  std::uint64_t attempts_ = 0;      // to resume, by this end
  std::uint64_t by_stream_ = 0;     // the number of the hello that this stream has had
  std::uint64_t beside_ = 0;        // the number of the last greeting
  std::uint64_t last_attempt_ = 0;  // of the peer that was accepted

  base::instant greet_until_{};  // while greeting
  base::instant keep_until_{};   // while lost
  base::instant next_hello_ = base::instant::never();
  base::instant next_reopen_ = base::instant::never();
  base::duration hello_pause_{};
  base::duration reopen_pause_{};
  base::error last_loss_{};     // the reason why the transport was lost or not opened
  base::error last_foreign_{};  // the error about a stranger's packet

  liveness life_;
  path path_;
  session_counters counters_;
};

constexpr properties session::provides(properties below) noexcept {
  below.sessions = true;
  return below;
}

}  // namespace garrick::net
