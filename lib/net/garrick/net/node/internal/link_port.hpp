// The operations of a node's link for its users: its node, and the proxies of its peer's actors.
// The link's own class is hidden from them (link.hpp).
//
// Thread safety: for visitors (transport/hosted.hpp).
#pragma once

#include <garrick/core/seam/content.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/node/name_answer.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/spawnable.hpp>
#include <garrick/net/peer_identity.hpp>
#include <garrick/net/stack/any_link.hpp>
#include <garrick/net/transport/hosted.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace garrick::net::internal {

class remote_cell;

/// A link, as its node and its proxies see it.
class link_port : public hosted {
 public:
  // ---- for the node -----------------------------------------------------------------------------

  /// Returns the peer, from `opened` on, or from the event `has_session`.
  [[nodiscard]] virtual const peer_identity& peer() const noexcept = 0;
  /// Returns the peer's greeting, or null before it has come.
  [[nodiscard]] virtual const hello* says() const noexcept = 0;
  /// Returns the endpoint that this end has connected to; empty if the peer has connected.
  [[nodiscard]] virtual const std::string& dialled() const noexcept = 0;
  [[nodiscard]] virtual const connection& self() const noexcept = 0;
  /// Lets both ends send.
  virtual void let_use() = 0;
  /// Does the same as `leave`, once no message is under way any more.
  virtual void finish(const base::error& why) = 0;
  /// Says goodbye to the peer; the actors here get the reason `why`.
  virtual void leave(const base::error& why) = 0;
  /// Ends the link; no incoming message is delivered from now on.
  virtual void shut(const base::error& why) = 0;
  /// Returns the counters of all layers.
  [[nodiscard]] virtual std::vector<link_count> counters() const = 0;
  /// Asks for the actor of this name. Returns false, with `done` unchanged, if the link is over.
  [[nodiscard]] virtual bool resolve(const std::string& name, const protocol_table& as,
                                     std::unique_ptr<name_answer>& done) = 0;
  /// Asks for an actor of a type that the peer has allowed. Returns false as `resolve` does.
  [[nodiscard]] virtual bool spawn(const std::string& name, const spawn_arguments& with,
                                   const protocol_table& as,
                                   std::unique_ptr<name_answer>& done) = 0;
  /// Reports the outcome of spawning for the peer's question `number`.
  virtual void spawned(std::uint64_t number, const spawnable& what,
                       base::result<core::any_ref> who) = 0;

  // ---- for proxies ------------------------------------------------------------------------------

  /// Sends a message or a request; the caller holds the proxy. `until` is the end of a request's
  /// time, if it is known. Returns the number of messages that it counts as, or 0 if the caller
  /// must encode it outside of the link and leave it among the waiting frames.
  [[nodiscard]] virtual std::uint32_t send(remote_cell& to, core::envelope_ptr& e,
                                           base::instant until) = 0;
  virtual void signal(remote_cell& to, core::envelope_ptr e) = 0;
  /// Sends the frames that senders have left while another thread was in the link, as far as they
  /// fit (mail_slot.hpp). The link sends the rest by itself.
  virtual void send_waiting() = 0;
  /// Sends the answer to a request of the peer. If the envelope is still in `e` afterwards, the
  /// caller has to leave the answer among the waiting frames. Returns the codec with which the
  /// caller encodes it, or null if it stays an envelope.
  [[nodiscard]] virtual const content_codec* answer(core::envelope_ptr& e) = 0;
  /// Reports that an actor here has handed on a request of the peer to an actor of another node.
  virtual void handed_on(std::uint64_t request, core::cell& proxy) = 0;
  /// Reports that a worker has decoded an incoming message, or will not decode it.
  virtual void decoded() = 0;
  /// Reports that the last handle here to the proxy was released.
  virtual void released(remote_cell& who) = 0;
};

}  // namespace garrick::net::internal
