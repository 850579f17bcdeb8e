// The address of a node in a call: an endpoint, or a known peer.
//
// Thread safety: a value.
#pragma once

#include <garrick/net/peer_identity.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace garrick::net {

/// An endpoint, to which the node connects if need be, or a peer that can be reached now, even a
/// peer that has connected here. Converts from either:
///
///     node.remote<prices>("tcp://there:4040", "prices");
///     node.remote<prices>(node.peers()[0], "prices");
class whereabouts {
 public:
  /// Names the node at this endpoint. The text is parsed at its use.
  whereabouts(const char* at) : at_(std::string(at)) {}
  /// The same.
  whereabouts(std::string_view at) : at_(std::string(at)) {}
  /// The same.
  whereabouts(std::string at) : at_(std::move(at)) {}
  /// Names this life of a peer, and no other.
  whereabouts(const peer_identity& who) : at_(who) {}

  /// Returns the endpoint's text, or null for a peer.
  [[nodiscard]] const std::string* text() const noexcept { return std::get_if<std::string>(&at_); }
  /// Returns the peer, or null for an endpoint.
  [[nodiscard]] const peer_identity* peer() const noexcept {
    return std::get_if<peer_identity>(&at_);
  }

 private:
  std::variant<std::string, peer_identity> at_;
};

}  // namespace garrick::net
