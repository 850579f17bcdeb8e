// The answer of both servers, and the client of both: connections that send one request after the
// other, each when the answer to the last has come.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/measure.hpp"
#include "net/common/tcp_socket.hpp"

namespace bench {

inline constexpr std::string_view hello_request =
    "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n";
inline constexpr std::string_view hello_answer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world\n";

// Requests that end in these bytes, which follow `tail`: the last three before.
inline std::size_t requests_in(std::string_view bytes, std::string& tail) {
  const std::size_t before = tail.size();
  std::size_t n = 0;
  if (before == 0) {  // the usual case: whole requests
    std::size_t at = 0;
    for (std::size_t end = bytes.find("\r\n\r\n"); end != bytes.npos;
         end = bytes.find("\r\n\r\n", at)) {
      ++n;
      at = end + 4;
    }
    tail = bytes.substr(at);
    return n;
  }
  const std::string all = tail + std::string(bytes);
  tail.clear();
  return requests_in(all, tail);
}

// `connections` clients of a server at this port of this machine, on this thread, until this many
// requests are answered.
inline std::uint64_t load(int port, int connections, std::uint64_t requests, result& out) {
  const int poll = epoll_create1(0);
  std::vector<std::size_t> got(static_cast<std::size_t>(connections));
  std::vector<int> sockets;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::uint64_t sent = 0, done = 0;
  const auto ask = [&](std::size_t i) {
    if (sent >= requests) return;
    ++sent;
    if (write(sockets[i], hello_request.data(), hello_request.size()) !=
        static_cast<ssize_t>(hello_request.size()))
      arguments::fail("a request does not go out");
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
    if (connect(sockets[i], reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      arguments::fail("no server listens");
    without_delay(sockets[i]);
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u64 = i;
    epoll_ctl(poll, EPOLL_CTL_ADD, sockets[i], &e);
  }
  const std::int64_t begin = now_ns();
  for (std::size_t i = 0; i < got.size(); ++i) ask(i);
  std::array<epoll_event, 64> events{};
  std::array<char, 65536> bytes{};
  while (done < requests) {
    const int n = epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1);
    for (int k = 0; k < n; ++k) {
      const std::size_t i = events[static_cast<std::size_t>(k)].data.u64;
      const ssize_t r = read(sockets[i], bytes.data(), bytes.size());
      if (r <= 0) arguments::fail("the server has hung up");
      const std::string_view came(bytes.data(), static_cast<std::size_t>(r));
      if (hello_answer.substr(got[i], came.size()) != came) arguments::fail("a wrong answer");
      got[i] += came.size();
      if (got[i] < hello_answer.size()) continue;
      got[i] = 0;
      ++done;
      ask(i);
    }
  }
  out.seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  for (const int s : sockets) close(s);
  close(poll);
  return done;
}

}  // namespace bench
