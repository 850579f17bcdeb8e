// A relay between two processes that writes down every byte that passes, as a capture that
// tools/wire/decode.py reads. It has a thread of its own.
//
// A capture has the bytes that the ends have got. So recorded bytes are sent on, and when a stream
// is cut, the ends learn that behind all bytes that were sent on; later bytes are dropped.
//
// Thread safety: `end` and `cut` on the thread that has made it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <garrick/base/time/clock.hpp>

#include "net/capture.hpp"

namespace garrick::tests {

class recording_relay {
 public:
  /// Carries to this port of this address. `type`: SOCK_STREAM or SOCK_DGRAM.
  recording_relay(std::string_view stack, const std::string& host, std::uint16_t port, int type)
      : recording_relay(garrick_test::capture(stack, base::real_clock().now()), host, port, type) {}
  /// The same, with a capture that knows types already.
  recording_relay(garrick_test::capture begun, const std::string& host, std::uint16_t port,
                  int type)
      : stream_(type == SOCK_STREAM), written_(std::move(begun)) {
    listener_.sin_family = AF_INET;
    listener_.sin_port = htons(port);
    ::inet_pton(AF_INET, host.c_str(), &listener_.sin_addr);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    door_ = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof own;
    if (::bind(door_, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
        (stream_ && ::listen(door_, 4) != 0) ||
        ::getsockname(door_, reinterpret_cast<sockaddr*>(&own), &size) != 0)
      throw std::runtime_error("a relay finds no port");
    port_ = ntohs(own.sin_port);
    if (!stream_) grow_buffers(door_);
    thread_ = std::thread([this] { stream_ ? run_streams() : run_datagrams(); });
  }
  ~recording_relay() { end(); }
  recording_relay(const recording_relay&) = delete;
  recording_relay& operator=(const recording_relay&) = delete;

  /// Returns the port to which the connector connects.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Breaks the stream.
  void cut() { cuts_ = true; }
  /// Ends the relay, and returns the capture.
  const std::string& end() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    if (door_ >= 0) ::close(std::exchange(door_, -1));
    return written_.text();
  }

 private:
  static void grow_buffers(int s) {
    const int size = 4 << 20;
    ::setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    ::setsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  }
  [[nodiscard]] int connected() const {
    const int type = stream_ ? SOCK_STREAM : SOCK_DGRAM;
    const int s = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (::connect(s, reinterpret_cast<const sockaddr*>(&listener_), sizeof listener_) != 0)
      return ::close(s), -1;
    if (!stream_) grow_buffers(s);
    return s;
  }
  /// Records an event of both ends, which hear it at about the same time.
  void note(std::string_view what) {
    const base::instant now = base::real_clock().now();
    for (const std::size_t i : {1u, 0u}) written_.note(now, what, i);
  }
  void passed(std::size_t to, const std::vector<std::byte>& bytes, std::size_t n) {
    written_.bytes(base::real_clock().now(), to, std::span(bytes).first(n));
  }

  // ---- streams
  void run_streams() {
    while (!stopping_) {
      pollfd waits{door_, POLLIN, 0};
      if (::poll(&waits, 1, 10) <= 0) continue;
      const int a = ::accept4(door_, nullptr, nullptr, SOCK_CLOEXEC);
      const int b = connected();
      if (b >= 0) {
        note("up");
        carry(a, b);
        note("lost");
        ::close(b);
      }
      ::close(a);
    }
  }
  /// Until one of the ends, or a cut, ends it; then nothing more is sent on.
  void carry(int a, int b) {
    const int ends[2] = {a, b};
    std::vector<std::byte> bytes(std::size_t{64} << 10);
    bool over[2] = {false, false};
    bool sends_on = true;
    while (!over[0] || !over[1]) {
      if (sends_on && (cuts_.exchange(false) || over[0] || over[1] || stopping_)) {
        sends_on = false;
        for (const int s : ends) ::shutdown(s, SHUT_WR);
      }
      pollfd waits[2]{{over[0] ? -1 : a, POLLIN, 0}, {over[1] ? -1 : b, POLLIN, 0}};
      if (::poll(waits, 2, 10) <= 0) {
        if (stopping_) return;
        continue;
      }
      for (const std::size_t i : {0u, 1u}) {
        if (waits[i].revents == 0) continue;
        const ssize_t n = ::recv(ends[i], bytes.data(), bytes.size(), 0);
        over[i] = n <= 0;
        if (over[i] || !sends_on) continue;
        const auto size = static_cast<std::size_t>(n);
        passed(1 - i, bytes, size);
        for (std::size_t sent = 0; sent != size;) {
          const ssize_t m = ::send(ends[1 - i], bytes.data() + sent, size - sent, MSG_NOSIGNAL);
          if (m <= 0) break;  // this end has gone, which its next event shows
          sent += static_cast<std::size_t>(m);
        }
      }
    }
  }

  // ---- datagrams
  void run_datagrams() {
    const int to_listener = connected();
    sockaddr_in connector{};
    std::vector<std::byte> bytes(std::size_t{64} << 10);
    note("up");
    while (!stopping_) {
      pollfd waits[2]{{door_, POLLIN, 0}, {to_listener, POLLIN, 0}};
      if (::poll(waits, 2, 10) <= 0) continue;
      if (waits[0].revents != 0) {
        socklen_t size = sizeof connector;
        const ssize_t n = ::recvfrom(door_, bytes.data(), bytes.size(), MSG_DONTWAIT,
                                     reinterpret_cast<sockaddr*>(&connector), &size);
        if (n >= 0) {
          passed(1, bytes, static_cast<std::size_t>(n));
          ::send(to_listener, bytes.data(), static_cast<std::size_t>(n), 0);
        }
      }
      if (waits[1].revents != 0) {
        // The event may be an error, which the send above has taken.
        const ssize_t n = ::recv(to_listener, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (n >= 0) {
          passed(0, bytes, static_cast<std::size_t>(n));
          ::sendto(door_, bytes.data(), static_cast<std::size_t>(n), 0,
                   reinterpret_cast<const sockaddr*>(&connector), sizeof connector);
        }
      }
    }
    ::close(to_listener);
  }

  const bool stream_;
  garrick_test::capture written_;  // the thread's, then that of the caller of `end`
  sockaddr_in listener_{};
  int door_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> cuts_{false};
  std::thread thread_;
};

}  // namespace garrick::tests
