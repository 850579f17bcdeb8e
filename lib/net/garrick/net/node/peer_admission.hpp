// Admission of peers to a node, for a layer that decides about it, such as a cluster.
//
// Thread safety: stated for each.
#pragma once

#include <garrick/net/peer_identity.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace garrick::net {

/// A node that asks to be a peer. Its fields are its own claims, without proof.
struct applicant {
  peer_identity who;         ///< the node, and the life that it is in
  std::string_view program;  ///< the program's name for people
  std::string_view at;       ///< the endpoint that it has connected from, or that was dialled
  bool was_dialled = false;  ///< whether this node has connected to it
};

/// Decides about each connection, before any message of an actor passes. An extension point: derive
/// from it, and put it into `node_settings::admission`.
///
/// A peer that was admitted can be removed later by `node::quarantine`.
///
///     class all_but : public net::peer_admission {
///       std::optional<std::string> objection(const net::applicant& a) override {
///         if (a.who.node == refused_) return "ask the operator";
///         return {};
///       }
///       net::node_id refused_{0, 2};
///     };
class peer_admission {
 public:
  virtual ~peer_admission() = default;
  peer_admission(const peer_admission&) = delete;
  peer_admission& operator=(const peer_admission&) = delete;
  /// Returns the reason why the applicant may not be a peer, in words for people, or nothing if it
  /// may. An applicant that has connected to this node gets at most 128 bytes of the reason; an
  /// applicant that was dialled learns that this end leaves. An exception counts as an objection;
  /// the applicant is told that the policy has failed, and the log of this node's system has the
  /// exception's text. Called by threads of the node or workers that stand in for them, several at
  /// once: must not wait, must not call `counters` or `quarantine`, and must not destroy the node.
  [[nodiscard]] virtual std::optional<std::string> objection(const applicant& who) = 0;

 protected:
  peer_admission() = default;
};

}  // namespace garrick::net
