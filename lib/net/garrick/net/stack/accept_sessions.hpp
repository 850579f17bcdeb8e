// A peer that comes back finds its session: an accept policy for stacks with `failure_detection`.
//
// It looks at the hello of a new connection. A peer whose session still lives here gets that one,
// with the new stream in place of the one that was lost. Any other peer gets a stack of its own,
// and bytes that are no hello get nothing.
//
// An incarnation has one link here. A peer that begins another session while that link is connected
// is refused, and its stack tries again until its handshake limit is over. So of two that come at
// once, one gets through, and neither takes the other's place. A peer that understands it is told
// the reason, with the identity of this end (`self`): it may have come by another address, and use
// the link that it has. For the same reason such a peer does not get the link that has lost its
// stream, unless it says that it has no session (`hello::begins_anew`). Datagrams of a peer come
// from one address: from another one it is refused as long as the link lives. When the link is
// over, it is refused from that address: late datagrams of the session come from there, and a peer
// that begins another session has another socket.
//
// A peer whose session went down may begin another one. If each incarnation is to be down once and
// for good, the policy is made with `peer_return::new_life_only`; and an owner may say so of a
// single one (`quarantine`). A peer in quarantine is told so, and may begin a new life.
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
//   S3  Once `quarantine` has returned, no link is made for this incarnation and no stream joined.
//   S4  With `new_life_only`, no link is made for an incarnation that had one which was admitted
//       and is over.
//
// Thread safety: as `accept_policy`.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "garrick/net/layer/failure_detection/handshake.hpp"
#include "garrick/net/peer_identity.hpp"
#include "garrick/net/stack/quarantine_list.hpp"
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
  /// Incarnations that are kept in quarantine; with one more the one that is there longest is
  /// forgotten.
  static constexpr std::size_t most_quarantined = quarantine_list::most;

  /// `after_down` says whether somebody may come back who had a session here, that is a link that
  /// was admitted (`hosted::admitted`), when that is over, for whatever reason.
  explicit accept_sessions(peer_return after_down = peer_return::same_life) noexcept
      : after_down_(after_down) {}

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

  /// Refuses this incarnation from now on, and tells it so. Links that it has stay as they are. The
  /// last `most_quarantined` are remembered.
  void quarantine(const peer_identity& who);
  /// True if it is refused for that, or would be for what has become of its session.
  [[nodiscard]] bool is_quarantined(const peer_identity& who) const;

  /// How many sessions are remembered: those that live, and some that do not any more.
  [[nodiscard]] std::size_t remembered() const;

 protected:
  /// Why a peer that says this of himself, which nobody has proved, is not taken; nothing: he is.
  /// He hears the reason and the words. Called before a link is made or joined, on the listener's
  /// thread, without a lock.
  [[nodiscard]] virtual std::optional<denial> objection(const arrival&, const hello&) { return {}; }
  /// Returns the identity of this end, which is told to peers that begin another session; nothing:
  /// they are not told. Called under a lock of the policy's. By default nothing.
  [[nodiscard]] virtual std::optional<peer_identity> self() const { return {}; }
  /// Makes the link for such a peer. Null refuses him without a word.
  [[nodiscard]] virtual std::unique_ptr<hosted> make_session(const arrival& from, const hello& who,
                                                             carrier& below,
                                                             const connection& self) = 0;

 private:
  [[nodiscard]] static peeked peek(const arrival& from);
  /// As is_quarantined. Under mutex_.
  [[nodiscard]] bool may_not_return(const peer_identity& who) const;
  /// What becomes of who says this. Under mutex_.
  [[nodiscard]] verdict decide(const arrival& from, const hello& says) const;
  /// Returns the identity of this end if a peer that says this is to hear of the session that it
  /// has. Under mutex_.
  [[nodiscard]] std::optional<peer_identity> named_to(const hello& says) const;
  /// Under mutex_.
  void remember(const peer_identity& who, const connection& link, const endpoint& from);

  mutable std::mutex mutex_;
  /// Whose link it is or was, and where he was.
  struct known_peer {
    connection link;
    endpoint from;
  };
  std::map<peer_identity, known_peer> known_;  // under mutex_
  std::size_t swept_at_ = 64;                  // under mutex_: how many make it look for dead ones
  quarantine_list quarantined_;                // under mutex_
  const peer_return after_down_;
};

}  // namespace garrick::net
