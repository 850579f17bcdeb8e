// The events of a broker's sockets, which the broker gets as messages.
//
//   void on(const net::new_connection& n) { io().write(n.connection, "hello, echo").value(); }
//   void on(const net::new_data& d) { answer_.deliver(std::string(d.bytes.text())); }
//   void on(const net::connection_closed& c) { answer_.fail(c.why); }
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <memory>

#include "garrick/base/values/error.hpp"
#include "garrick/net/broker/handles.hpp"
#include "garrick/net/broker/received.hpp"
#include "garrick/net/transport/endpoint.hpp"

namespace garrick::net {

/// Tells a broker that a stream is established: it was accepted, or opened by `broker_io::connect`.
/// Its bytes are not read before `broker_io::read`, unless the settings name a policy.
struct new_connection {
  using garrick_sendable = void;
  acceptor_handle acceptor;      ///< names nothing if this broker has connected
  connection_handle connection;  ///< the stream
  endpoint peer;                 ///< the other end; see `arrival::remote`
};

/// Bytes of a stream, in a portion that its receive policy allows. The message does not hold a
/// copy: it refers to a block of the connection (see `received`).
struct new_data {
  using garrick_sendable = void;
  connection_handle connection;  ///< the stream
  received bytes;                ///< at least one
};

/// A stream has ended: the other end has closed it, it broke, or it could not be opened. This is
/// the last event of its connection. If the other end has only ended its sending, written bytes
/// still go to it as long as this message, or a copy of it, is kept; then the connection is closed.
struct connection_closed {
  using garrick_sendable = void;
  connection_handle connection;  ///< the stream
  /// `net_errc::connection_lost` or `refused`, `unreachable`, `io`, `errc::shutting_down`, and
  /// `errc::timeout` after `socket_settings::idle_limit`
  base::error why;
  std::size_t unread = 0;            ///< bytes that arrived, but were too few for the policy
  std::shared_ptr<const void> open;  ///< keeps this end's direction open; null: it is closed
};

/// The acceptor accepts no more: the broker closed it, or the I/O threads stopped.
struct acceptor_closed {
  using garrick_sendable = void;
  acceptor_handle acceptor;  ///< the acceptor
};

/// A datagram has arrived.
struct new_datagram {
  using garrick_sendable = void;
  datagram_handle socket;  ///< the receiving socket
  endpoint from;           ///< the claimed source address
  received bytes;          ///< its content; perhaps none
};

/// `broker_io::writable` was false and became true again. A broker that has written since may have
/// filled the queue again. Call `writable` again; if it returns false, another message of this kind
/// follows.
struct writable_again {
  using garrick_sendable = void;
  connection_handle connection;  ///< the stream
};

}  // namespace garrick::net
