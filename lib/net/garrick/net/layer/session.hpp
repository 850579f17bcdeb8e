// Knows who is at the other end, that it lives, and when it does not any more.
//
// The lowest layer but `framing`. Both ends shake hands: versions, layers, node, incarnation. From
// then on everything above talks to one incarnation of one peer, whose stack is the same. Each
// packet is preceded by its kind, and each datagram by a tag made of both incarnations, so that
// what an earlier life or a stranger has left in the network gets no further than here.
//
// While nothing is heard the peer is suspected, and given up after `down_after` (liveness.hpp).
// That ends the session, and so do a peer that leaves and one that comes back with another
// incarnation. That is final for the session: the stack is over, and nothing of it is delivered
// later. Whether the same incarnation may begin another one is not known here: whoever lets peers
// in decides that (`peer_return`), and may put it into quarantine (`peer`).
//
// A stream that breaks is not the end. The session stays for the resume window at least; who has
// connected connects again, the handshake is repeated, and the session is `resumed`.
//
// A stream may also carry nothing any more without an end: something between the two has forgotten
// it, or lets only new ones pass. So while the peer is suspected, the end that has connected tries
// another connection beside it, with growing pauses, and says there that the session is to go on.
// Both live until the peer answers by the new one that it goes on there; that one carries the
// session from then on, as after a loss. If the peer is heard by the old one before that, no other
// is tried; one that was greeted already still takes over if the answer comes, since the peer has
// left the old one by then. So a peer that is only slow or stopped loses nothing by the attempt,
// nor does one whose address leads to another process by now. Messages under way are lost with the
// old stream, so this is done only if layers above carry messages over from one stream to another
// (`properties::connected` of the whole stack is false).
//
// On datagrams a session is open only when the other end has proved that it sees what is sent to
// it. Someone who sends from a false address can therefore neither open a session nor end one.
//
// Silence is what was observed. What comes in is received before time passes, and if this end
// itself was called later than it has asked for, the delay is taken out of every limit. So from the
// first attempt to connect until `down` it asks for a call at least once an interval. A delay as
// long as an interval is told (`link_event::kind::paused`).
//
// Invariants:
//   D1  Messages pass only while the session is open; each in either direction belongs to it.
//   D2  `down` comes at most once, and after it nothing is sent or passed up.
//   D3  `opened` comes at most once; `resumed` only after `disconnected` of an open session.
//   D4  No session is open between ends whose stacks have different fingerprints.
//   D5  A connection beside the one that stands takes its place only if the peer of this session
//       has said there that it goes on with it.
//   D6  A stranger's packet changes nothing but a counter, and is answered with at most one packet
//       that is no larger than a hello.
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

namespace garrick::net {

/// What `session` can be told.
struct session_settings {
  /// Who this end is. The incarnation is not zero, and drawn at random.
  peer_identity self{};
  bool connects = true;         ///< says hello first, and opens a lost stream again
  version_range versions{};     ///< what this end speaks
  capability_set capabilities;  ///< what this end can
  std::string program;          ///< how the program names itself, for people
  std::string stack;            ///< how the program names this stack; errors at this end say it

  /// Something is sent at least so often; from 1 ms to an hour.
  base::duration interval = base::duration::milliseconds(500);
  phi_settings suspicion{};                                 ///< when a silence is unusual
  base::duration down_after = base::duration::seconds(15);  ///< silence that ends the session
  /// How long a session survives the loss of its stream, at least; at most `down_after`.
  base::duration resume_window = base::duration::seconds(10);

  /// Until `opened`. At the end that connects, from its first attempt to connect on.
  base::duration handshake_limit = base::duration::seconds(10);
  base::duration hello_first = base::duration::milliseconds(100);  ///< until hello is said again
  base::duration hello_most = base::duration::seconds(2);          ///< and how rare it becomes
  base::duration reopen_first = base::duration::milliseconds(20);  ///< pause before a stream is
                                                                   ///< opened again, doubled
  base::duration reopen_most = base::duration::seconds(2);         ///< up to this
  std::uint64_t seed = 0;      ///< of the jitter; should differ between peers
  probing_settings probing{};  ///< of the path of datagrams
};

/// What `session` has noticed.
struct session_counters {
  std::uint64_t heartbeats_sent = 0;      ///< also as probes
  std::uint64_t heartbeats_received = 0;  ///< from the peer
  std::uint64_t hellos_sent = 0;          ///< also as answers
  std::uint64_t suspicions = 0;           ///< how often the peer was suspected
  std::uint64_t resumptions = 0;          ///< how often the session went on with another stream
  std::uint64_t strangers = 0;  ///< packets of others, or of nobody's protocol, that were dropped
  std::uint64_t not_sent = 0;   ///< messages from above while no session was open
  base::duration round_trip{};  ///< of the newest heartbeat that was answered; 0: of none
  base::duration paused{};      ///< delays of this end itself that were not charged to the peer

  /// See layer/layer.hpp.
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

/// Handshake, heartbeats, suspicion, and the end of a session.
class session : public layer_defaults {
 public:
  /// See layer/layer.hpp.
  static constexpr std::string_view wire_name = "failure_detection";
  static constexpr std::size_t header_size = 5;  ///< kind, and a tag on datagrams
  /// See layer_defaults.
  [[nodiscard]] static constexpr misfit check_below(properties below) noexcept {
    if (!below.messages) return misfit::needs_messages_as_framing_makes_them;
    return below.sessions ? misfit::what_is_below_has_sessions_already : misfit::none;
  }
  /// As below. Requires whole messages.
  [[nodiscard]] static constexpr properties provides(properties below) noexcept;
  /// What is wrong with the settings: `errc::invalid_setting`, or no error.
  [[nodiscard]] static base::error check(const session_settings& s);

  /// A session to come. Requires `!check(s)`.
  explicit session(session_settings s);

  /// Sends it to the peer; drops it if the session is not open.
  void send(outgoing&& m, layer_context& c);
  /// Passes up what the peer sends, and answers the rest.
  void receive(const incoming& m, layer_context& c);
  /// Shakes hands on a new connection.
  void notice(const link_event& e, layer_context& c);
  /// Heartbeats, repeated hellos, suspicion, the end.
  void advance(layer_context& c);
  /// When one of these is due, or an interval without a call has passed that shows pauses.
  [[nodiscard]] base::instant deadline() const noexcept;
  /// True while the session is open and what is below takes more.
  [[nodiscard]] bool writable(const layer_context& c) const;
  /// Bytes of a message: on datagrams as far as the path is known.
  [[nodiscard]] std::size_t largest(const layer_context& c) const;
  /// Returns the first packet for a connection beside the one that stands. It is empty unless the
  /// peer is suspected, or that connection is lost by now.
  [[nodiscard]] packet greeting(layer_context& c);
  /// Returns the verdict on that connection, whose first bytes from the peer are `bytes`.
  [[nodiscard]] beside answered(std::span<const std::byte> bytes, layer_context& c) const;
  /// Tells the peer that this end goes.
  void leave(layer_context& c);

  /// What the peer has said about itself, from `opened` on and after `down`, too: its identity is
  /// what goes into quarantine. Null before, unless the peer has refused this end because it has a
  /// session with it: then the identity is known.
  [[nodiscard]] const hello* peer() const noexcept {
    return knows_peer_ || has_session_ ? &peer_ : nullptr;
  }
  /// The version that both speak; 0 before `opened`.
  [[nodiscard]] std::uint16_t version() const noexcept { return version_; }
  /// How unusual the peer's silence is; 0 unless the session is open.
  [[nodiscard]] double phi(base::instant now) const noexcept;
  /// What was noticed.
  [[nodiscard]] session_counters counters() const noexcept;
  /// The path of datagrams.
  [[nodiscard]] const net::path& path_size() const noexcept { return path_; }

 private:
  // A peer's interval is believed within these, in milliseconds.
  static constexpr std::uint32_t least_interval = 1;
  static constexpr std::uint32_t most_interval = 3'600'000;

  enum class phase : std::uint8_t {
    before,    // nothing has happened
    greeting,  // the first handshake is under way, or the stream for it
    open,      // messages pass
    lost,      // the stream of an open session was lost; perhaps there is a new one
    over,      // after the last event
  };
  void on_connected(layer_context& c);
  void on_disconnected(const link_event& e, layer_context& c);
  void start(layer_context& c);
  void pass_time(layer_context& c);

  void on_hello(std::span<const std::byte> bytes, layer_context& c);
  void on_hello_while_open(const hello& h, layer_context& c);
  void on_hello_while_lost(const hello& h, layer_context& c);
  void on_hello_ack(std::span<const std::byte> bytes, layer_context& c);
  void on_challenge(std::span<const std::byte> bytes, layer_context& c);
  void on_refusal(std::span<const std::byte> bytes, layer_context& c);
  void on_session_elsewhere(const refusal_notice& r, layer_context& c);
  [[nodiscard]] bool is_the_peers(std::span<const std::byte> bytes) const noexcept;
  /// Of what one read of a stream brings the first packet has said all that there is to learn:
  /// since then time has not passed, and whoever is suspected was heard last before now.
  [[nodiscard]] bool has_just_heard(base::instant now) const noexcept {
    return stream_ && phase_ == phase::open && confirmed_ && life_.last_heard() == now;
  }
  void on_session_packet(session_packet kind, std::span<const std::byte> bytes, layer_context& c);
  void on_heartbeat_ack(std::uint32_t number, layer_context& c);
  void on_stranger(std::span<const std::byte> bytes, layer_context& c);

  [[nodiscard]] bool agree(const hello& h, layer_context& c);
  /// Anybody may send a datagram: only who knows this end's number ends what this end has begun.
  [[nodiscard]] bool may_end(const hello& h) const noexcept {
    return stream_ || !settings_.connects || h.to == settings_.self.incarnation;
  }
  [[nodiscard]] bool has_same_layers(const hello& h, layer_context& c);
  void learn(const hello& h);
  void open(layer_context& c);
  void heard(layer_context& c);
  void restarted(const hello& h, layer_context& c);
  void end(const base::error& why, layer_context& c);

  [[nodiscard]] hello own_hello(std::uint64_t to, bool resumes, const layer_context& c) const;
  void send_hello(session_packet kind, std::uint64_t to, layer_context& c);
  void send_refusal(refusal why, std::uint64_t to, layer_context& c);
  void send_own(session_packet kind, packet body, layer_context& c);
  void send_heartbeat(std::size_t size, layer_context& c);
  void send_heartbeat_ack(std::uint32_t number, layer_context& c);
  void advance_open(layer_context& c);
  void probe_path(layer_context& c);
  void say_hello(layer_context& c);
  /// True if this end may try a connection beside the one that stands.
  [[nodiscard]] bool may_open_beside(const layer_context& c) const;
  void schedule_reopen(base::instant now);
  /// Opens a transport that is lost, and something beside a stream that is silent.
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
  bool knows_peer_ = false;   // peer_ is meant; from `open` on it does not change
  bool has_session_ = false;  // peer_.self has refused this end for that
  bool confirmed_ = false;    // the peer has said something that shows that it is open
  std::uint16_t version_ = 0;
  hello peer_;
  std::uint32_t tag_to_ = 0;
  std::uint32_t tag_from_ = 0;
  std::uint64_t challenged_by_ = 0;  // an incarnation at the other end that wants to see its number

  base::instant greet_until_{};  // while greeting
  base::instant keep_until_{};   // while lost
  base::instant next_hello_ = base::instant::never();
  base::instant next_reopen_ = base::instant::never();
  base::duration hello_pause_{};
  base::duration reopen_pause_{};
  base::error last_loss_{};     // why the transport was lost, or could not be had
  base::error last_foreign_{};  // what a stranger's packet looked like

  liveness life_;
  path path_;
  session_counters counters_;
};

constexpr properties session::provides(properties below) noexcept {
  below.sessions = true;
  return below;
}

}  // namespace garrick::net
