// A stack behind a runtime interface, and its owner.
//
// A link is a stack without its type: configuration picks it by name, a socket or a simulated
// network drives it, and a node keeps one for each peer.
//
// Thread safety: a link is one thread's at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/base/values/error.hpp"
#include "garrick/net/layer/layer.hpp"
#include "garrick/net/packet.hpp"
#include "garrick/net/transport/carrier.hpp"

namespace garrick::net {

struct hello;

/// A figure of one of a link's layers.
struct link_count {
  std::string_view layer;   ///< its `wire_name`; empty if it has none
  std::string_view name;    ///< the name of the figure
  std::uint64_t value = 0;  ///< see layer_count
};

/// The upper side of a link: sends and receives its messages. Neither of its functions may destroy
/// the calling link; `any_link::leave` ends it.
class link_owner {
 public:
  /// Gets a message. It is lent until the call returns, with its bytes and their decoded form
  /// (`incoming::decoded`): copy the parts to keep. Returns true if the message has reached its
  /// destination, so the sender may be told, and false if `any_link::delivered` will report that
  /// later. Over a stack that does not confirm (`properties::confirmed`) the result has no effect.
  virtual bool on_message(const incoming& m) = 0;
  /// Gets an event. If it throws, later events of the same call are not reported.
  virtual void on_event(const link_event& e) = 0;

 protected:
  link_owner() = default;
  ~link_owner() = default;
  link_owner(const link_owner&) = default;
  link_owner& operator=(const link_owner&) = default;
};

/// A stack of layers, behind a runtime interface.
///
///     std::unique_ptr<net::any_link> link = kind.make(owner, below, settings);
///     net::packet payload =
///         net::encode(7, {.front = net::frame_room + link->header_size()}).value();
///     net::outgoing m = net::to_outgoing(
///         {.kind = net::frame_kind::message, .receiver = to}, std::move(payload));
///     if (const base::error e = link->send(std::move(m), base::real_clock().now()))
///       std::puts(e.to_string().c_str());
class any_link : public carried {
 public:
  virtual ~any_link() = default;
  any_link(const any_link&) = delete;
  any_link& operator=(const any_link&) = delete;

  /// Sends a message. Messages that are sent while the link calls its owner go out when that call
  /// has returned. Requires `writable()`, except for messages of the system lane. Returns an error
  /// if nothing was sent; then `m` is unchanged: `net_errc::overload` if the link is not writable,
  /// `too_large` above the limit of the layers, `peer_down` after the end.
  [[nodiscard]] virtual base::error send(outgoing&& m, base::instant now) = 0;
  /// Returns true if another message may be sent. `link_event::kind::writable` tells when it
  /// becomes true.
  [[nodiscard]] virtual bool writable() const = 0;
  /// Reports that one message of this lane, for which `on_message` returned false, has reached its
  /// destination.
  virtual void delivered(lane_number lane, base::instant now) = 0;
  /// Returns the room in front that the layers want; a packet with less is copied.
  [[nodiscard]] virtual std::size_t header_size() const = 0;
  /// Leaves in good order: earlier messages go out first, as far as the layers may send them now;
  /// layers that confirm report the unconfirmed ones. The event `down` follows. Within a call of
  /// the link to its owner, all this happens when that call has returned, but the link passes up no
  /// message of the peer and takes no message from now on.
  virtual void leave(base::instant now) = 0;
  /// Returns the peer's statement about itself, from `opened` on, if a layer of the stack shakes
  /// hands; null before, and without such a layer. From `link_event::kind::has_session` on the
  /// statement contains the peer's identity.
  [[nodiscard]] virtual const hello* peer() const noexcept { return nullptr; }
  /// Returns the counters of its layers, the top first. Throws std::bad_alloc.
  [[nodiscard]] virtual std::vector<link_count> counters() const { return {}; }

 protected:
  any_link() = default;
};

}  // namespace garrick::net
