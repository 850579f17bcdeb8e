// A proxy between the two ends of a TCP connection, which resets it again and again.
//
// Thread safety: it has a thread of its own; any thread may call.
#pragma once

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <garrick/base/values/random.hpp>

#include <support/transports.hpp>

namespace garrick::tests {

/// Carries bytes between two sockets, and resets both after a random number of them.
class resetting_proxy {
 public:
  /// Makes a proxy to this port of this machine.
  explicit resetting_proxy(std::uint16_t server) : server_(server), listener_(listening(port_)) {
    thread_ = std::thread([this] { run(); });
  }
  resetting_proxy(const resetting_proxy&) = delete;
  resetting_proxy& operator=(const resetting_proxy&) = delete;
  ~resetting_proxy() {
    stopping_ = true;
    thread_.join();
    ::close(listener_);
  }
  /// Returns the port to which clients connect.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Returns the number of resets so far.
  [[nodiscard]] std::size_t resets() const { return resets_; }
  /// Resets no connection from now on.
  void be_kind() { kind_ = true; }

 private:
  static int listening(std::uint16_t& port) {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in a = bare_socket::loopback(0);
    REQUIRE(::bind(s, reinterpret_cast<sockaddr*>(&a), sizeof a) == 0);
    REQUIRE(::listen(s, 16) == 0);
    socklen_t size = sizeof a;
    REQUIRE(::getsockname(s, reinterpret_cast<sockaddr*>(&a), &size) == 0);
    port = ntohs(a.sin_port);
    return s;
  }
  static void reset(int s) {
    const linger at_once{1, 0};
    ::setsockopt(s, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(s);
  }
  void run() {
    while (!stopping_) {
      pollfd waits{listener_, POLLIN, 0};
      if (::poll(&waits, 1, 10) <= 0) continue;
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in a = bare_socket::loopback(server_);
      // Received bytes are sent on at once, even if earlier ones have not been acknowledged.
      const int on = 1;
      for (const int end : {client, server})
        ::setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (::connect(server, reinterpret_cast<const sockaddr*>(&a), sizeof a) == 0)
        carry(client, server);
      reset(client);
      reset(server);
    }
  }
  void carry(int client, int server) {
    std::size_t left = 100 + random_.below(20'000);
    std::vector<char> bytes(1 + random_.below(4000));
    while (!stopping_) {
      pollfd waits[2]{{client, POLLIN, 0}, {server, POLLIN, 0}};
      if (::poll(waits, 2, 10) <= 0) continue;
      for (int i : {0, 1}) {
        if (waits[i].revents == 0) continue;
        const ssize_t n = ::recv(i == 0 ? client : server, bytes.data(), bytes.size(), 0);
        if (n <= 0) return;
        // The last piece is sent in part, so a message is torn.
        const std::size_t most = kind_ ? bytes.size() : left;
        const auto part = std::min(static_cast<std::size_t>(n), most);
        const ssize_t sent = ::send(i == 0 ? server : client, bytes.data(), part, MSG_NOSIGNAL);
        if (sent != static_cast<ssize_t>(part)) return;
        if (kind_) continue;
        left -= part;
        if (left == 0) {
          ++resets_;
          return;
        }
      }
    }
  }

  std::uint16_t server_;
  std::uint16_t port_ = 0;
  int listener_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> kind_{false};
  std::atomic<std::size_t> resets_{0};
  base::random_source random_{17};
  std::thread thread_;
};

}  // namespace garrick::tests
