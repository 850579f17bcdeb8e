// What happens to the peers of a node, for whoever wants to know.
//
// A verdict says what the node does: it uses a peer, or has given it up for good. Evidence says
// what it has noticed, from which it concludes nothing: who decides about the members of a cluster
// weighs it, together with that of others.
//
// Thread safety: stated for each.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/net/peer_identity.hpp>

#include <cstdint>

namespace garrick::net {

/// What has become of a peer.
enum class peer_change : std::uint8_t {
  up,    ///< it can be reached
  down,  ///< it was given up, has left, or came back as another one: its session is over, and its
         ///< life, too, unless `node_settings::after_down` lets that come back; then `up` follows
};

/// Something that was noticed of a peer that is up.
struct peer_evidence {
  /// What it is.
  enum class kind : std::uint8_t {
    suspected,        ///< nothing was heard for longer than is usual
    trusted,          ///< it was heard again
    disconnected,     ///< its connection broke, which may be mended
    resumed,          ///< there is another one
    unreachable,      ///< nobody listens at its address, or there is no way to it: so the network
                      ///< says, which nobody has proved
    observer_paused,  ///< this process itself was stopped: what it says about silence is worth
                      ///< little
  };
  kind what;                ///< what it is
  base::error why{};        ///< of `disconnected` and `unreachable`
  base::duration lasted{};  ///< of `observer_paused`
};

/// Is told of peers, on threads of the node or on workers that stand in for them, several at once:
/// so neither `counters` nor `quarantine` is called from here. Must not wait, must not
/// destroy the node, and must not throw: an exception ends the program.
class peer_listener {
 public:
  virtual ~peer_listener() = default;
  peer_listener(const peer_listener&) = delete;
  peer_listener& operator=(const peer_listener&) = delete;
  /// `why` says why it is down.
  virtual void changed(const peer_identity& who, peer_change what, const base::error& why) = 0;
  /// For who wants to judge for himself. Of one peer it comes after `up` and before `down`.
  virtual void noticed(const peer_identity&, const peer_evidence&) {}

 protected:
  peer_listener() = default;
};

}  // namespace garrick::net
