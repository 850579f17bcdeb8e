// What a broker's sockets tell it: messages.
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

/// A stream stands, which was accepted or which this broker wanted (`broker_io::connect`). Nothing
/// is read from it before `broker_io::read`, unless the settings say how.
struct new_connection {
  using garrick_sendable = void;
  acceptor_handle acceptor;      ///< names nothing if this broker has connected
  connection_handle connection;  ///< the stream
  endpoint peer;                 ///< the other end; as in `arrival::remote`
};

/// Bytes of a stream, as many as its policy says. Its bytes stay where the socket has put them.
struct new_data {
  using garrick_sendable = void;
  connection_handle connection;  ///< the stream
  received bytes;                ///< at least one
};

/// A stream is over: the other end has closed it, or it broke, or could not be opened. The last
/// event of its connection. If the other end has only said that it sends no more, what is written
/// still goes to it as long as this message, or a copy of it, is kept; then the connection is
/// closed.
struct connection_closed {
  using garrick_sendable = void;
  connection_handle connection;  ///< the stream
  /// `net_errc::connection_lost` or `refused`, `unreachable`, `io`, `errc::shutting_down`
  base::error why;
  std::size_t unread = 0;            ///< bytes that came, but were too few for the policy
  std::shared_ptr<const void> open;  ///< keeps this end's direction open; null: it is closed
};

/// Nobody is let in any more: the broker has closed it, or the I/O threads were stopped.
struct acceptor_closed {
  using garrick_sendable = void;
  acceptor_handle acceptor;  ///< which
};

/// A datagram.
struct new_datagram {
  using garrick_sendable = void;
  datagram_handle socket;  ///< where it came
  endpoint from;           ///< who says that he has sent it
  received bytes;          ///< its content; perhaps none
};

/// `broker_io::writable` was false, and became true again. A broker that has written since may have
/// filled the queue anew: so ask it again, and if it is false, another message of this kind comes.
struct writable_again {
  using garrick_sendable = void;
  connection_handle connection;  ///< the stream
};

}  // namespace garrick::net
