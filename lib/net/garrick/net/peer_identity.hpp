// The identity of a peer: its node, and the incarnation of that node.
//
// Thread safety: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace garrick::net {

/// The id of a node: 128 bits, random or bound to a certificate. It stays the same after a restart
/// if the node is configured with it.
struct node_id {
  std::uint64_t high = 0;  ///< the upper half
  std::uint64_t low = 0;   ///< the lower half

  /// Returns the id as 32 hexadecimal digits.
  [[nodiscard]] std::string to_string() const;

  friend constexpr auto operator<=>(const node_id&, const node_id&) = default;
};

/// An incarnation of a node, as a peer sees it.
///
/// Incarnations are drawn at random, so no two of a node are ever equal, and messages that an
/// earlier incarnation left in the network can be told apart. Zero stands for none. After `down`
/// (`link_event::kind::down`) the same incarnation may begin another session, unless `peer_return`
/// forbids it or it is in quarantine (`accept_sessions::quarantine`, `node::quarantine`). A
/// forbidden incarnation is refused, and its node becomes a peer again only with a new incarnation.
///
///     for (const peer_identity& peer : node.peers()) std::puts(peer.to_string().c_str());
struct peer_identity {
  node_id node;                   ///< the node
  std::uint64_t incarnation = 0;  ///< its incarnation; 0: none

  /// Returns the node, a slash, and the incarnation as 16 hexadecimal digits.
  [[nodiscard]] std::string to_string() const;

  friend constexpr auto operator<=>(const peer_identity&, const peer_identity&) = default;
};

}  // namespace garrick::net
