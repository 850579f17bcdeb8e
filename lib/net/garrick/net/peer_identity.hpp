// Who is at the other end: a node, and which of its lives.
//
// Thread safety: plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace garrick::net {

/// Names a node for as long as it is configured so, over all its restarts. 128 bits, random or
/// bound to a certificate.
struct node_id {
  std::uint64_t high = 0;  ///< the upper half
  std::uint64_t low = 0;   ///< the lower half

  /// As 32 hexadecimal digits.
  [[nodiscard]] std::string to_string() const;

  friend constexpr auto operator<=>(const node_id&, const node_id&) = default;
};

/// One life of a node, as a peer sees it.
///
/// Incarnations are drawn at random, so that no two of a node are ever equal: then what an earlier
/// life has left in the network is told from what this one says. Zero stands for none. Who was
/// `down` (`link_event::kind::down`) may begin another session, unless `peer_return` says that he
/// may not, or he is put into quarantine, by `accept_sessions::quarantine` or `node::quarantine`:
/// then he is refused, and the same node is talked to only when it comes with another incarnation.
struct peer_identity {
  node_id node;                   ///< which node
  std::uint64_t incarnation = 0;  ///< which of its lives; 0: none

  /// The node, a slash, and the incarnation as 16 hexadecimal digits.
  [[nodiscard]] std::string to_string() const;

  friend constexpr auto operator<=>(const peer_identity&, const peer_identity&) = default;
};

}  // namespace garrick::net
