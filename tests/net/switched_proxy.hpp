// A proxy between the two ends of TCP connections, which is cut or falls silent on a test's order.
//
// Thread safety: it has a thread of its own; any thread may call.
#pragma once

#include <doctest/doctest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <support/transports.hpp>

namespace garrick::tests {

/// Carries bytes between pairs of sockets.
class switched_proxy {
 public:
  /// Makes a proxy to this port of this machine.
  explicit switched_proxy(std::uint16_t server)
      : server_(server), door_(bare_socket::listening()), thread_([this] { run(); }) {}
  switched_proxy(const switched_proxy&) = delete;
  switched_proxy& operator=(const switched_proxy&) = delete;
  ~switched_proxy() {
    set([this] { stops_ = true; });
    thread_.join();
  }
  /// Returns the port to which clients connect.
  [[nodiscard]] std::uint16_t port() const { return door_.port(); }

  /// Resets all connections, and from now on each new one. Returns when that is so.
  void cut() {
    set([this] { is_cut_ = true; });
  }
  /// Lets new connections carry bytes again.
  void mend() {
    set([this] { is_cut_ = false; });
  }
  /// Stalls the present connections: they carry nothing any more, and are not closed. New ones are
  /// carried. Returns when that is so.
  void stall() {
    set([this] { stalls_ = true; });
  }
  /// Lets the stalled connections carry again, beginning with the bytes that have waited. Returns
  /// when that is so.
  void wake() {
    set([this] { wakes_ = true; });
  }
  /// If `is` is true, later connections are established and never carry bytes. Returns when that is
  /// so.
  void hush(bool is) {
    set([this, is] { hushes_ = is; });
  }
  /// Returns the number of connections that it has carried.
  [[nodiscard]] std::size_t carried() {
    const std::lock_guard lock(mutex_);
    return carried_;
  }

 private:
  struct pair {
    std::array<int, 2> ends;
    bool is_stalled = false;
    bool is_mute = false;
  };

  template <class F>
  void set(F change) {
    std::unique_lock lock(mutex_);
    change();
    const std::size_t mine = ++wanted_;
    changed_.wait(lock, [&] { return done_ >= mine || has_ended_; });
  }
  static void reset(int s) {
    const linger at_once{1, 0};
    ::setsockopt(s, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(s);
  }
  static void reset(const pair& p) {
    for (const int s : p.ends) reset(s);
  }
  /// Carries out the orders. Returns false if it ends.
  bool obey() {
    const std::lock_guard lock(mutex_);
    if (stalls_)
      for (pair& p : pairs_) p.is_stalled = true;
    if (wakes_)
      for (pair& p : pairs_) p.is_stalled = false;
    stalls_ = wakes_ = false;
    if (is_cut_ || stops_) {
      for (const pair& p : pairs_) reset(p);
      pairs_.clear();
    }
    done_ = wanted_;
    has_ended_ = stops_;
    changed_.notify_all();
    return !stops_;
  }
  void run() {
    while (obey()) {
      std::vector<pollfd> all{{door_.fd(), POLLIN, 0}};
      for (const pair& p : pairs_)
        for (const int s : p.ends) all.push_back({p.is_stalled || p.is_mute ? -1 : s, POLLIN, 0});
      if (::poll(all.data(), all.size(), 5) <= 0) continue;
      std::vector<pair> left;
      for (std::size_t i = 0; i != pairs_.size(); ++i) {
        const pair& p = pairs_[i];
        const bool goes_on = (all[1 + 2 * i].revents == 0 || carry(p.ends[0], p.ends[1])) &&
                             (all[2 + 2 * i].revents == 0 || carry(p.ends[1], p.ends[0]));
        goes_on ? left.push_back(p) : reset(p);
      }
      pairs_ = std::move(left);
      if (all[0].revents != 0) admit();
    }
  }
  static bool carry(int from, int to) {
    std::array<char, 4096> bytes;
    const ssize_t n = ::recv(from, bytes.data(), bytes.size(), 0);
    if (n <= 0) return false;
    return ::send(to, bytes.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL) == n;
  }
  void admit() {
    pair p{{::accept4(door_.fd(), nullptr, nullptr, SOCK_CLOEXEC),
            ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}};
    const int on = 1;
    for (const int s : p.ends) ::setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const sockaddr_in a = bare_socket::loopback(server_);
    if (::connect(p.ends[1], reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) return reset(p);
    const std::lock_guard lock(mutex_);
    p.is_mute = hushes_;
    pairs_.push_back(p);
    if (!is_cut_) ++carried_;
  }

  const std::uint16_t server_;
  const bare_socket door_;
  std::vector<pair> pairs_;  // the thread's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t wanted_ = 0;  // under mutex_, as all below
  std::size_t done_ = 0;
  std::size_t carried_ = 0;
  bool is_cut_ = false;
  bool stalls_ = false;
  bool wakes_ = false;
  bool hushes_ = false;
  bool stops_ = false;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace garrick::tests
