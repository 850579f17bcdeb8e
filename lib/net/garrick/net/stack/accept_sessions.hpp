// Resumed sessions: an accept policy for stacks with `session`.
//
// The policy reads the hello of a new connection. If the peer's session still lives here, its link
// gets the new stream in place of the lost one. Any other peer gets a stack of its own. Bytes that
// are not a hello are refused silently.
//
// An incarnation has one link here. If a peer begins another session while that link is connected,
// the peer is refused, and its stack tries again until its handshake limit has passed. Of two
// connections that arrive at once, one gets through, and neither takes the other's place. A peer
// that understands the reason is told it, with the identity of this end (`self`): the peer may have
// connected to another address of this process, and can then use the link that it has. Datagrams of
// a peer come from one address: a peer is refused from any other address as long as its link lives.
// When the link has ended, the peer is refused from the old address: late datagrams of the session
// come from there, and a peer that begins another session has another socket.
//
// An identity is no secret, so a hello alone takes nobody's place. A hello that resumes is joined
// only if it proves that its sender knows the secrets of the session (layer/session/secrets.hpp). A
// hello that begins a session is joined to a link that has lost its stream if it is the hello for
// which the link was made: its sender has never got the answer. Another one is joined, and ends the
// session, if its sender says that it has no session (`hello::begins_anew`), and if by then nobody
// has resumed the session for `time_to_resume`, counted from the first such hello. So a peer that
// has given the session up need not wait until this end has done the same.
//
// A datagram may have a false address. So a hello by a datagram is answered by a challenge with a
// cookie, and changes nothing else. The peer sends the hello again with the cookie, and by this
// proves that it is at its address. The cookie is a hash under a key of the policy, so nothing is
// remembered for an address that has not proved itself.
//
// When its session has gone down, a peer may begin another one. For a policy under which each
// incarnation is down once and for good, use `peer_return::new_life_only`; an owner may also
// quarantine a single incarnation (`quarantine`). A peer in quarantine is told so, and may begin a
// new life.
//
//   struct my_policy final : accept_sessions {
//     std::unique_ptr<hosted> make_session(const arrival&, const hello& who, carrier& below,
//                                          const connection& self) override { … }
//   };
//   auto door = listen(io, at, std::make_shared<my_policy>());
//
// Invariants:
//   S1  A stream is joined only to a link that was made for the same node and incarnation, and only
//       with a proof that no other stream has used. The link's stack, which has shaken hands
//       before, decides whether its session goes on.
//   S2  No two links that are not over were made for the same node and incarnation: a started peer
//       is in known_ before the next newcomer is looked at.
//   S3  Once `quarantine` has returned, no link is made for this incarnation and no stream joined.
//   S4  With `new_life_only`, no link is made for an incarnation after an admitted link of it is
//       over.
//   S5  For a datagram without a valid cookie neither `objection` nor the set of links is asked, no
//       link is made, and the answer has at most three times its bytes.
//
// Thread safety: that of `accept_policy`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "garrick/base/time/clock.hpp"
#include "garrick/net/layer/session/handshake.hpp"
#include "garrick/net/peer_identity.hpp"
#include "garrick/net/siphash.hpp"
#include "garrick/net/stack/quarantine_list.hpp"
#include "garrick/net/transport/accept_policy.hpp"

namespace garrick::net {

/// The reason why a peer is refused.
struct denial {
  /// Refuses for this reason and with these words.
  denial(refusal w, std::string text = {}) : why(w), words(std::move(text)) {}

  refusal why;        ///< the reason, as on the wire
  std::string words;  ///< for people
};

/// A policy that joins streams to sessions.
class accept_sessions : public accept_policy {
 public:
  /// The time that the peer of a session without a stream has to resume it, before another hello
  /// with its identity may end it.
  static constexpr base::duration time_to_resume = base::duration::seconds(2);

  /// Makes the policy. `after_down` decides whether an incarnation may come back after its session
  /// here is over for any reason. Only a link that was admitted (`hosted::admitted`) counts as a
  /// session.
  /// Its secrets are made from the seed, for tests, or drawn from the system's randomness if the
  /// seed is 0. May throw.
  explicit accept_sessions(peer_return after_down = peer_return::same_life, std::uint64_t seed = 0);

  /// Returns the size of a whole hello, with the header of `framing`.
  [[nodiscard]] std::size_t wants() const final;
  /// Returns true if the bytes begin like a hello.
  [[nodiscard]] bool may_begin(std::span<const std::byte> datagram) const noexcept final;
  /// Returns the verdict: refuses bytes that are not a hello and peers that have a link already,
  /// joins a stream to its session, and starts a link for all others. A datagram without a valid
  /// cookie gets a challenge (`verdict::more`).
  [[nodiscard]] verdict look(const arrival& from) final;
  /// Records the peer of `fresh` and returns `fresh`. If the peer has got another link since
  /// `look`, returns that one if the stream may join it, or else an empty connection.
  [[nodiscard]] connection claim(const arrival& from, const connection& fresh) final;
  /// Returns the link that `make_session` makes.
  [[nodiscard]] std::unique_ptr<hosted> make(const arrival& from, carrier& below,
                                             const connection& self) final;

  /// Refuses this incarnation from now on, and tells it so, as long as it is remembered
  /// (`quarantine_list`). Its present links stay as they are.
  void quarantine(const peer_identity& who);
  /// Returns true if this incarnation is refused, as quarantined or because its session has ended.
  [[nodiscard]] bool is_quarantined(const peer_identity& who) const;

  /// Returns the number of remembered sessions: those that live, and some that are over.
  [[nodiscard]] std::size_t remembered() const;

 protected:
  /// Returns the reason to refuse a peer with this unproved hello, or nothing to take it. The peer
  /// gets the reason and the words. Called before a link is made or joined, on the listener's
  /// thread, without a lock.
  /// The sender of a datagram has proved its address.
  [[nodiscard]] virtual std::optional<denial> objection(const arrival&, const hello&) { return {}; }
  /// Returns the identity of this end for peers that begin another session, or nothing if they are
  /// not told. Called under a lock of the policy. By default nothing.
  [[nodiscard]] virtual std::optional<peer_identity> self() const { return {}; }
  /// Returns the link for a peer. Null refuses it silently. `secret` must become the session's
  /// (`session_settings::secret`): otherwise the peer cannot resume it.
  [[nodiscard]] virtual std::unique_ptr<hosted> make_session(const arrival& from, const hello& who,
                                                             std::uint64_t secret, carrier& below,
                                                             const connection& self) = 0;

 private:
  [[nodiscard]] static peeked peek(const arrival& from);
  /// Returns the result of is_quarantined. Under mutex_.
  [[nodiscard]] bool may_not_return(const peer_identity& who) const;
  /// Returns the verdict on a peer with this hello, and notes the proof of one that joins. Under
  /// mutex_.
  [[nodiscard]] verdict decide(const arrival& from, const hello& says);
  /// Returns the cookie for this hello in the present step of time, or in the one before.
  [[nodiscard]] std::uint64_t cookie_for(const arrival& from, const hello& says,
                                         std::int64_t steps_before) const;
  [[nodiscard]] verdict challenge(const arrival& from, const hello& says) const;
  /// Returns the identity of this end if a peer with this hello must be told of its present
  /// session. Under mutex_.
  [[nodiscard]] std::optional<peer_identity> named_to(const hello& says) const;
  /// Draws the secret of a link for the sender of this hello. Under mutex_.
  void remember(const hello& says, const connection& link, const endpoint& from);

  mutable std::mutex mutex_;
  /// A link, living or over, the address of its peer, and the secrets of its session.
  struct known_peer {
    connection link;
    endpoint from;
    std::uint64_t secret = 0;          // of this end
    std::uint64_t secret_of_peer = 0;  // as its first hello has told it
    std::uint64_t last_attempt = 0;    // to resume that was accepted

    /// The first hello since the link was connected by which the peer says that it has no session.
    std::optional<base::instant> knocks_anew{};

    /// Returns true if this hello may end the session of the link, which has had no stream for
    /// `time_to_resume` since the first such hello.
    [[nodiscard]] bool is_given_up(base::instant now, const hello& says);
    /// Returns the verdict on a hello that resumes: a proof joins once.
    [[nodiscard]] verdict resumed_by(const arrival& now, const hello& says);
  };
  std::map<peer_identity, known_peer> known_;  // under mutex_
  std::size_t swept_at_ = 64;                  // under mutex_: the size for the next clean-up
  quarantine_list quarantined_;                // under mutex_
  std::uint64_t drawn_ = 0;                    // under mutex_: secrets so far
  const peer_return after_down_;
  const siphash_key secrets_;  // for the links' secrets
  const siphash_key cookies_;
};

}  // namespace garrick::net
