// Where a node is asked for something: at an endpoint, or as a peer that is known already.
//
// Thread safety: a value.
#pragma once

#include <garrick/net/peer_identity.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace garrick::net {

/// An endpoint, to which the node connects if need be, or a peer that can be reached now, also one
/// that has connected here. Made of either:
///
///     node.remote<prices>("tcp://there:4040", "prices");
///     node.remote<prices>(node.peers()[0], "prices");
class whereabouts {
 public:
  /// An endpoint's text, which is looked at when it is used.
  whereabouts(const char* at) : at_(std::string(at)) {}
  /// The same.
  whereabouts(std::string_view at) : at_(std::string(at)) {}
  /// The same.
  whereabouts(std::string at) : at_(std::move(at)) {}
  /// This life of a peer, and no other.
  whereabouts(const peer_identity& who) : at_(who) {}

  /// The endpoint's text; null: it is a peer.
  [[nodiscard]] const std::string* text() const noexcept { return std::get_if<std::string>(&at_); }
  /// The peer; null: it is an endpoint.
  [[nodiscard]] const peer_identity* peer() const noexcept {
    return std::get_if<peer_identity>(&at_);
  }

 private:
  std::variant<std::string, peer_identity> at_;
};

}  // namespace garrick::net
