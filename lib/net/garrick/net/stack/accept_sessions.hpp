// Who comes back finds his session: an accept policy for stacks with `failure_detection`.
//
// It looks at the hello of a new connection. A peer whose session still lives here gets that one,
// with the new stream in place of the one that was lost. Everybody else gets a stack of his own,
// and bytes that are no hello get nothing.
//
// An incarnation has one link here. Who begins another session while that is connected is refused,
// and his stack tries again until its handshake limit is over. So of two that come at once, one
// gets through, and neither takes the other's place. Datagrams of a peer come from one address:
// from another one he is refused as long as the link lives.
//
// An incarnation that was given up comes back to nothing: whoever hears that a link is down says so
// (`give_up`), if he wants each incarnation to be down once and for good. The peer is told, and
// may begin a new life.
//
//   struct my_policy final : accept_sessions {
//     std::unique_ptr<hosted> make_session(const arrival&, const hello& who, carrier& below,
//                                          const connection& self) override { … }
//   };
//   auto door = listen(io, at, std::make_shared<my_policy>());
//
// Invariants:
//   S1  A stream is joined only to a link that was made for the same node and incarnation. Whether
//       that goes on is decided by its stack, which has shaken hands before.
//   S2  No two links that are not over were made for the same node and incarnation: who is started
//       is in known_ before anybody else is looked at.
//   S3  Once `give_up` has returned, no link is made for this incarnation and no stream joined.
//
// Thread safety: as `accept_policy`.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "garrick/net/layer/failure_detection/handshake.hpp"
#include "garrick/net/peer_identity.hpp"
#include "garrick/net/transport/accept_policy.hpp"

namespace garrick::net {

/// Why a peer is not taken.
struct denial {
  /// For this reason, and with these words. A datagram goes without them if it would be longer
  /// than what it answers.
  denial(refusal w, std::string text = {}) : why(w), words(std::move(text)) {}

  refusal why;        ///< the reason, as the wire says it
  std::string words;  ///< for people
};

/// A policy that joins streams to sessions.
class accept_sessions : public accept_policy {
 public:
  /// Incarnations that are kept in quarantine; with one more the one that was given up first is
  /// forgotten.
  static constexpr std::size_t most_given_up = 65536;

  /// A whole hello, with what `framing` puts in front.
  [[nodiscard]] std::size_t wants() const final;
  /// Refuses what is no hello and who has a link already, joins a stream to its session, and starts
  /// a link for the others.
  [[nodiscard]] verdict look(const arrival& from) final;
  /// Remembers whose link it is, unless he has got another one meanwhile.
  [[nodiscard]] connection claim(const arrival& from, const connection& fresh) final;
  /// Makes a link by `make_session`.
  [[nodiscard]] std::unique_ptr<hosted> make(const arrival& from, carrier& below,
                                             const connection& self) final;

  /// Refuses this incarnation from now on, and tells it so: it is in quarantine. Links that it has
  /// stay as they are. The last `most_given_up` are remembered.
  void give_up(const peer_identity& who);
  /// True if `give_up` was said of it, and is remembered.
  [[nodiscard]] bool is_given_up(const peer_identity& who) const;

  /// How many sessions are remembered: those that live, and some that do not any more.
  [[nodiscard]] std::size_t remembered() const;

 protected:
  /// Why a peer that says this of himself, which nobody has proved, is not taken; nothing: he is.
  /// He hears the reason and the words. Called before a link is made or joined, on the listener's
  /// thread, without a lock.
  [[nodiscard]] virtual std::optional<denial> objection(const arrival&, const hello&) { return {}; }
  /// Makes the link for such a peer. Null refuses him without a word.
  [[nodiscard]] virtual std::unique_ptr<hosted> make_session(const arrival& from, const hello& who,
                                                             carrier& below,
                                                             const connection& self) = 0;

 private:
  [[nodiscard]] static peeked peek(const arrival& from);
  /// What becomes of who says this. Under mutex_.
  [[nodiscard]] verdict decide(const arrival& from, const hello& says) const;
  /// Under mutex_.
  void remember(const peer_identity& who, const connection& link);

  mutable std::mutex mutex_;
  std::map<peer_identity, connection> known_;  // under mutex_
  std::size_t swept_at_ = 64;                  // under mutex_: how many make it look for dead ones
  std::set<peer_identity> given_up_;           // under mutex_
  std::deque<peer_identity> in_turn_;          // under mutex_: those of given_up_, the first first
};

}  // namespace garrick::net
