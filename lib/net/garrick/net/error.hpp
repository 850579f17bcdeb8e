// The error codes of this library: failures of codec, layers, transports and links.
//
// Thread safety: constants.
#pragma once

#include <cstdint>

#include "garrick/base/values/error.hpp"

namespace garrick::net {

/// Errors of codec, layers, transports and links.
///
///     const auto found = node.remote<archive_type>(where, "archive");
///     if (!found && found.error() == net::net_errc::incompatible)
///       std::puts(found.error().to_string().c_str());
enum class net_errc : std::uint32_t {
  decode_failed = 1,  ///< bytes that are not a message of this protocol, or not a whole one
  not_encodable,      ///< a value that has no meaning for another process
  too_large,          ///< a message, a frame, a datagram or a name above its limit
  incompatible,       ///< the other end speaks other versions, or means another type
  not_garrick,        ///< the other end speaks another protocol altogether
  refused,            ///< a rule of the other end, or of this one, refused the connection
  unreachable,        ///< no process answers there, or no route leads there
  bad_endpoint,       ///< an endpoint's text that cannot be understood
  connection_lost,    ///< the transport broke, which may be mended
  peer_down,          ///< the other end was given up, or left; it never comes back by this link
  perhaps_delivered,  ///< the message was sent, but its arrival cannot be known
  overload,           ///< a buffer, or a number of actors or links, is at its limit
  io,                 ///< an error of the operating system; the text holds its words
  owner_failed,       ///< a function of the link's owner threw; the text holds its words
  node_down,          ///< the actor's node was given up, has left, or came back as another one
  denied,             ///< a rule of the other node, or of this one, forbids it
  address_in_use,     ///< another socket listens there
};

/// Returns the category of `net_errc`.
[[nodiscard]] const base::error_category& error_category_of(net_errc) noexcept;

}  // namespace garrick::net
