// A stack by what can be done with it, and who does it.
//
// A link is a stack whose layers are forgotten: what configuration picks by name, what a socket or
// a simulated network drives, what a node keeps for each peer.
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
  std::string_view name;    ///< which figure
  std::uint64_t value = 0;  ///< see layer_count
};

/// Who sends and receives messages by a link: the upper side. Neither of its functions may destroy
/// the link that calls it; `any_link::leave` ends that.
class link_owner {
 public:
  /// A message has come. It is lent until this returns, with its bytes and what they say
  /// (`incoming::decoded`): whoever keeps something of it copies that. True: it is where it was to
  /// go, so that the sender may be told. False: it will be, and `any_link::delivered` says when.
  /// Over a stack that does not confirm (`properties::confirmed`) the answer changes nothing.
  virtual bool on_message(const incoming& m) = 0;
  /// Something has changed. If it throws, what was to follow in the same call is not told.
  virtual void on_event(const link_event& e) = 0;

 protected:
  link_owner() = default;
  ~link_owner() = default;
  link_owner(const link_owner&) = default;
  link_owner& operator=(const link_owner&) = default;
};

/// A stack of layers, by what can be done with it.
class any_link : public carried {
 public:
  virtual ~any_link() = default;
  any_link(const any_link&) = delete;
  any_link& operator=(const any_link&) = delete;

  /// Sends a message. Messages that are sent while the link calls its owner go out when that call
  /// has returned. Requires `writable()`, but for messages of the system lane: otherwise it is
  /// `net_errc::overload`. Above the limit of its layers: `too_large`. After the end: `peer_down`.
  /// With an error nothing is sent, and `m` is as it was.
  [[nodiscard]] virtual base::error send(outgoing&& m, base::instant now) = 0;
  /// True if another message may be sent. `link_event::kind::writable` says when that becomes true.
  [[nodiscard]] virtual bool writable() const = 0;
  /// One message of this lane, for which `on_message` returned false, is where it was to go.
  virtual void delivered(lane_number lane, base::instant now) = 0;
  /// Room in front that the layers want; a packet with less is copied.
  [[nodiscard]] virtual std::size_t header_size() const = 0;
  /// Leaves in good order: what was sent before goes out first, as far as the layers may send it
  /// now; what was never confirmed is reported, by those that do so. The event `down` follows. Is
  /// it called while the link calls its owner, all this happens when that call has returned, but
  /// from now on nothing of the peer comes up, and nothing more is taken.
  virtual void leave(base::instant now) = 0;
  /// What the peer has said about itself, from `opened` on, if a layer of the stack shakes hands;
  /// null before, and without such a layer. From `link_event::kind::has_session` on its identity.
  [[nodiscard]] virtual const hello* peer() const noexcept { return nullptr; }
  /// What its layers have counted, the top first. Throws std::bad_alloc.
  [[nodiscard]] virtual std::vector<link_count> counters() const { return {}; }

 protected:
  any_link() = default;
};

}  // namespace garrick::net
