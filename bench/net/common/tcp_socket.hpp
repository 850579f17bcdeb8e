// Sockets of the kernel's TCP between the two ends of a lossy link (lossy.hpp).
//
// Thread safety: plain functions.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/measure.hpp"
#include "net/common/lossy.hpp"

namespace bench {

inline sockaddr_in tcp_server() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(4040);
  inet_pton(AF_INET, lossy_end::server_address(), &address.sin_addr);
  return address;
}

// The server's, which others connect to.
inline int listening_socket() {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = tcp_server();
  if (bind(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(s, 8) != 0)
    arguments::fail("the server cannot listen");
  return s;
}

// The client's. `prepare` gets each socket before it is connected.
template <class Prepare>
int connected_socket(Prepare prepare) {
  const sockaddr_in address = tcp_server();
  for (int tries = 0; tries < 1000; ++tries) {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    prepare(s);
    if (connect(s, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return s;
    close(s);
    // The server is a process that was started together with this one; until it listens, its end
    // refuses at once, and nothing says when it does.
    usleep(2000);
  }
  arguments::fail("no server listens");
}

// Each message goes out at once, as ours do.
inline void without_delay(int s) {
  const int on = 1;
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace bench
