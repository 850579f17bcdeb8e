// Events of a node's peers, for a layer above the node.
//
// A verdict is the node's decision: it uses a peer, or has given it up for good. Evidence is an
// observation from which the node concludes nothing: a layer that decides about the members of a
// cluster weighs it, together with the evidence of other nodes.
//
// Thread safety: stated for each.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/net/peer_identity.hpp>

#include <cstdint>

namespace garrick::net {

/// A change of a peer's state.
enum class peer_change : std::uint8_t {
  up,    ///< the peer can be reached
  down,  ///< the peer was given up, has left, or came back in another life: its session is over,
  ///< and its life, too, unless `node_settings::after_down` lets it return; then `up` follows
};

/// An observation of a peer that is up.
struct peer_evidence {
  /// The kind of an observation.
  enum class kind : std::uint8_t {
    suspected,        ///< the peer was silent for longer than is usual
    trusted,          ///< packets of the peer came again
    disconnected,     ///< the peer's connection broke; the session may go on
    resumed,          ///< the peer has a new connection
    unreachable,      ///< the network reports, without proof, that no socket listens at the peer's
                      ///< address, or that no route leads there
    observer_paused,  ///< this process itself was stopped: its evidence of silence is worth little
  };
  kind what;                ///< the kind
  base::error why{};        ///< the reason for `disconnected` and `unreachable`
  base::duration lasted{};  ///< the time for which the observer stood still, for `observer_paused`
};

/// Receives the events of peers. Its functions are called by threads of the node, or workers that
/// stand in for them, several at once, and within the link: they must not call `counters` or
/// `quarantine`, must not wait, must not destroy the node, and must not throw, as an exception ends
/// the program.
///
///     struct reporter final : net::peer_listener {
///       void changed(const net::peer_identity& who, net::peer_change what,
///                    const base::error& why) override { … }
///     };
///     node.subscribe(std::make_shared<reporter>());
class peer_listener {
 public:
  virtual ~peer_listener() = default;
  peer_listener(const peer_listener&) = delete;
  peer_listener& operator=(const peer_listener&) = delete;
  /// Called when a peer has changed its state; `why` is the reason for `down`.
  virtual void changed(const peer_identity& who, peer_change what, const base::error& why) = 0;
  /// Called with evidence, after the peer's `up` and before its `down`. Ignores it by default.
  virtual void noticed(const peer_identity&, const peer_evidence&) {}

 protected:
  peer_listener() = default;
};

}  // namespace garrick::net
