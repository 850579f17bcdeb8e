// Two processes joined by TCP on this machine: sockets and nothing else.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>

#include "common/measure.hpp"
#include "net/common/served.hpp"

namespace bench::bare_tcp {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline int without_delay(int s) {
  const int on = 1;
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return s;
}

/// Listens for this many connections; -1: it cannot.
template <class Tell>
int listening(Tell& tell, int connections) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, connections) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return -1;
  tell(ntohs(address.sin_port));
  return listener;
}

/// Returns the next connection that comes; -1: none can.
inline int next_accepted(int listener) { return without_delay(accept(listener, nullptr, nullptr)); }

/// Returns the one connection that comes; -1: none can.
template <class Tell>
int accepted(Tell& tell) {
  return next_accepted(listening(tell, 1));
}

inline int connected(std::uint16_t port) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = loopback(port);
  if (connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    arguments::fail("no server listens");
  return without_delay(s);
}

}  // namespace bench::bare_tcp
