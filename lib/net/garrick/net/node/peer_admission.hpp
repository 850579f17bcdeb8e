// Who may be a peer of a node: for whoever decides that above it, such as a cluster.
//
// Thread safety: stated for each.
#pragma once

#include <garrick/net/peer_identity.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace garrick::net {

/// Who wants to be a peer. It says this of itself, and nobody has proved it.
struct applicant {
  peer_identity who;         ///< a node, and which of its lives
  std::string_view program;  ///< how the program names itself, for people
  std::string_view at;       ///< the endpoint from which it has come, or that was connected to
  bool was_dialled = false;  ///< this node has connected to it
};

/// Is asked about each connection, before anything of an actor passes. An extension point: derive
/// from it, and put it into `node_settings::admission`.
///
/// Who was let in and is to go afterwards goes by `node::quarantine`.
class peer_admission {
 public:
  virtual ~peer_admission() = default;
  peer_admission(const peer_admission&) = delete;
  peer_admission& operator=(const peer_admission&) = delete;
  /// Why it may not be a peer: words for people. Nothing: it may. Who has come here hears 128 bytes
  /// of them at most, and none over datagrams that would be longer than its own; who was dialled
  /// hears that this end leaves. On threads of the node or on workers that stand in for them,
  /// several at once; must not wait, so neither `counters` nor `quarantine` is called from here,
  /// and must not destroy the node. What it throws is an objection.
  [[nodiscard]] virtual std::optional<std::string> objection(const applicant& who) = 0;

 protected:
  peer_admission() = default;
};

}  // namespace garrick::net
