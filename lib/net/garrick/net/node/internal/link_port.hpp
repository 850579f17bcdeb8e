// What others may ask of a link of a node: its node, and the proxies of its peer's actors. What it
// is, only it knows (link.hpp).
//
// Thread safety: by a visit (transport/hosted.hpp).
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

/// See above.
class link_port : public hosted {
 public:
  // ---- for the node -----------------------------------------------------------------------------

  /// The peer, from `opened` on, or from the event `has_session`.
  [[nodiscard]] virtual const peer_identity& peer() const noexcept = 0;
  /// What the peer has said about itself; null before.
  [[nodiscard]] virtual const hello* says() const noexcept = 0;
  /// The endpoint that this end has connected to; empty if the peer has.
  [[nodiscard]] virtual const std::string& dialled() const noexcept = 0;
  [[nodiscard]] virtual const connection& self() const noexcept = 0;
  /// The peer may send here, and this end there.
  virtual void let_use() = 0;
  /// As `leave`, once nothing is under way any more.
  virtual void finish(const base::error& why) = 0;
  /// Says goodbye; `why` is what the actors here are told.
  virtual void leave(const base::error& why) = 0;
  /// From now on nothing that comes is delivered, and the link ends.
  virtual void shut(const base::error& why) = 0;
  /// What the layers have counted.
  [[nodiscard]] virtual std::vector<link_count> counters() const = 0;
  /// Asks who has this name. False: the link is over, and `done` is as it was.
  [[nodiscard]] virtual bool resolve(const std::string& name, const protocol_table& as,
                                     std::unique_ptr<name_answer>& done) = 0;
  /// Asks for an actor of a type that the peer has allowed. False: as above.
  [[nodiscard]] virtual bool spawn(const std::string& name, const spawn_arguments& with,
                                   const protocol_table& as,
                                   std::unique_ptr<name_answer>& done) = 0;
  /// What has become of the actor that the peer wanted by its question `number`.
  virtual void spawned(std::uint64_t number, const spawnable& what,
                       base::result<core::any_ref> who) = 0;

  // ---- for proxies ------------------------------------------------------------------------------

  /// A message or a request. The caller holds the proxy. Of a request, `until` is when its time is
  /// over, if that is known. Returns the number of messages that it counts as; 0 if it is left to
  /// the caller, which encodes it outside and leaves it among the waiting frames.
  [[nodiscard]] virtual std::uint32_t send(remote_cell& to, core::envelope_ptr& e,
                                           base::instant until) = 0;
  virtual void signal(remote_cell& to, core::envelope_ptr e) = 0;
  /// What senders have left while somebody else was in (mail_slot.hpp), as far as the link
  /// has room; the rest follows by itself.
  virtual void send_waiting() = 0;
  /// Sends the answer to a request of the peer, unless the envelope is still in `e` afterwards.
  /// Then the caller leaves it among the waiting frames. Returns the codec with which the caller
  /// encodes it before, or null.
  [[nodiscard]] virtual const content_codec* answer(core::envelope_ptr& e) = 0;
  /// An actor here has handed a request of the peer on, to an actor elsewhere.
  virtual void handed_on(std::uint64_t request, core::cell& proxy) = 0;
  /// A worker has decoded a message that has come, or will not do so.
  virtual void decoded() = 0;
  /// Nobody here holds the proxy any more.
  virtual void released(remote_cell& who) = 0;
};

}  // namespace garrick::net::internal
