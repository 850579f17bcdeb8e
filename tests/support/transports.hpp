// Tools for tests of real transports: sessions that note their events, waits for those, and bare
// sockets at the other end.
//
// A wait has no limit of its own, since a busy machine may take as long as it likes. CTest ends a
// program that hangs, which then says in which test case.
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <garrick/net/layer/framing.hpp>
#include <garrick/net/stack/stack.hpp>
#include <garrick/net/transport/sockets.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace garrick::tests {

using namespace garrick::net;

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline endpoint at(std::string_view text) { return endpoint::parse(text).value(); }

/// Returns when `p()` is true.
template <class P>
void wait_until(P p) {
  while (!p()) std::this_thread::yield();
}

/// The events of a session. Any thread.
class notes {
 public:
  struct all {
    std::vector<std::string> messages;
    std::vector<link_event> events;
    std::size_t count = 0;  ///< messages, also those that are not kept
    std::size_t hints = 0;
    std::size_t ended = 0;
    base::error why_ended;
    std::thread::id made_on, ended_on;
    connection self;
    endpoint remote;

    [[nodiscard]] std::size_t seen(link_event::kind k) const {
      std::size_t n = 0;
      for (const link_event& e : events) n += e.what == k;
      return n;
    }
    [[nodiscard]] base::error last_why() const {
      for (auto e = events.rbegin(); e != events.rend(); ++e)
        if (e->what == link_event::kind::disconnected) return e->why;
      return {};
    }
  };

  template <class F>
  void change(F f) {
    {
      const std::lock_guard lock(mutex_);
      f(all_);
    }
    changed_.notify_all();
  }
  /// Notes that a link has ended for this reason.
  void end(const base::error& why) {
    change([&](all& a) {
      ++a.ended;
      a.why_ended = why;
    });
  }
  template <class F>
  auto look(F f) {
    const std::lock_guard lock(mutex_);
    return f(all_);
  }
  /// Returns true as soon as `p(all)` is true.
  template <class P>
  [[nodiscard]] bool wait(P p) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return p(all_); });
    return true;
  }
  [[nodiscard]] bool wait_for(link_event::kind k, std::size_t times = 1) {
    return wait([&](const all& a) { return a.seen(k) >= times; });
  }
  [[nodiscard]] bool wait_for_messages(std::size_t n) {
    return wait([&](const all& a) { return a.count >= n; });
  }
  [[nodiscard]] bool wait_for_end() {
    return wait([](const all& a) { return a.ended != 0; });
  }
  [[nodiscard]] connection self() {
    return look([](const all& a) { return a.self; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  all all_;
};

/// A layer that passes everything on: a stack over datagrams needs one.
struct passing : layer_defaults {};

inline auto link_over(link_owner& owner, carrier& below, byte_stream) {
  return std::make_unique<stack<byte_stream, framing>>(owner, below, framing());
}
inline auto link_over(link_owner& owner, carrier& below, datagrams) {
  return std::make_unique<stack<datagrams, passing>>(owner, below, passing());
}

/// A link that notes its events, and acts as the test says.
template <class Transport>
class session final : public hosted, public link_owner {
 public:
  using on_message_function = std::function<void(session&, incoming)>;

  session(carrier& below, const connection& self, std::shared_ptr<notes> n,
          on_message_function f = {}, endpoint remote = {})
      : below_(below),
        link_(link_over(*this, below, Transport())),
        notes_(std::move(n)),
        f_(std::move(f)) {
    notes_->change([&](notes::all& a) {
      a.self = self;
      a.made_on = std::this_thread::get_id();
      a.remote = std::move(remote);
    });
  }
  ~session() override {
    notes_->change([](notes::all& a) { a.ended_on = std::this_thread::get_id(); });
  }

  [[nodiscard]] carried& stack() override { return *link_; }
  void hint(const base::error&) override {
    notes_->change([](notes::all& a) { ++a.hints; });
  }
  void ended(const base::error& why) noexcept override { notes_->end(why); }
  bool on_message(const incoming& m) override {
    if (f_) f_(*this, m);
    notes_->change([&](notes::all& a) {
      ++a.count;
      if (!f_) a.messages.push_back(text_of(m.bytes));
    });
    return true;
  }
  void on_event(const link_event& e) override {
    notes_->change([&](notes::all& a) { a.events.push_back(e); });
    if (on_event_) on_event_(*this, e);
  }

  base::error send(std::span<const std::byte> bytes) {
    return link_->send({packet::copy_of(bytes, link_->header_size())}, base::real_clock().now());
  }
  base::error send(std::string_view text) { return send(bytes_of(text)); }
  [[nodiscard]] net::any_link& net_link() { return *link_; }
  [[nodiscard]] carrier& below() { return below_; }

  std::function<void(session&, const link_event&)> on_event_;

 private:
  carrier& below_;
  std::unique_ptr<net::any_link> link_;
  std::shared_ptr<notes> notes_;
  on_message_function f_;
};

using stream_session = session<byte_stream>;
using datagram_session = session<datagrams>;

template <class S = stream_session>
auto opening(std::shared_ptr<notes> n, typename S::on_message_function f = {}) {
  return [n, f](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
    return std::make_unique<S>(below, self, n, f);
  };
}
template <class S = stream_session>
auto accepting(std::shared_ptr<notes> n, typename S::on_message_function f = {}) {
  return accept_each([n, f](const arrival& from, carrier& below,
                            const connection& self) -> std::unique_ptr<hosted> {
    return std::make_unique<S>(below, self, n, f, from.remote);
  });
}

/// Visits as a session.
template <class S = stream_session, class F>
visit_result visit(const connection& to, F f) {
  return to.run([g = std::move(f)](hosted& h) mutable { g(static_cast<S&>(h)); });
}
/// Sends when a visit is made.
template <class S = stream_session>
visit_result send(const connection& to, std::string text) {
  return visit<S>(to, [t = std::move(text)](S& s) { REQUIRE(!s.send(t)); });
}

/// A folder that goes with the test.
class scratch_folder {
 public:
  scratch_folder() {
    char name[] = "/tmp/garrick-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~scratch_folder() {
    for (const std::string& f : files_) ::unlink(f.c_str());
    ::rmdir(path_.c_str());
  }
  [[nodiscard]] std::string file(const std::string& name) {
    files_.push_back(path_ + '/' + name);
    return files_.back();
  }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

/// A bare, blocking socket.
class bare_socket {
 public:
  explicit bare_socket(int fd) : fd_(fd) { REQUIRE(fd_ >= 0); }
  ~bare_socket() { close(); }
  bare_socket(bare_socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  bare_socket& operator=(bare_socket&&) = delete;

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
  }
  static bare_socket connected(std::uint16_t port, int type = SOCK_STREAM) {
    bare_socket s(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    const sockaddr_in to = loopback(port);
    REQUIRE(::connect(s.fd_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
    return s;
  }
  static bare_socket listening(int backlog = 16, int type = SOCK_STREAM) {
    bare_socket s(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    const sockaddr_in here = loopback(0);
    REQUIRE(::bind(s.fd_, reinterpret_cast<const sockaddr*>(&here), sizeof(here)) == 0);
    if (type == SOCK_STREAM) REQUIRE(::listen(s.fd_, backlog) == 0);
    return s;
  }
  /// The port of the process's own end; 0: the descriptor is not a socket with a port.
  [[nodiscard]] static std::uint16_t port_of(int fd) { return port_by(::getsockname, fd); }
  [[nodiscard]] std::uint16_t port() const { return required(port_of(fd_)); }
  /// The port of the other end.
  [[nodiscard]] std::uint16_t peer_port() const { return required(port_by(::getpeername, fd_)); }
  [[nodiscard]] bare_socket accept() const {
    return bare_socket(::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
  }
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      REQUIRE(n > 0);
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// Up to `n` bytes: fewer only at the end.
  [[nodiscard]] std::string read(std::size_t n) const {
    std::string text(n, '\0');
    std::size_t used = 0;
    while (used < n) {
      const ssize_t got = ::recv(fd_, text.data() + used, n - used, 0);
      if (got <= 0) break;
      used += static_cast<std::size_t>(got);
    }
    text.resize(used);
    return text;
  }
  /// Ends with a reset instead of an end.
  void reset() {
    const linger now{1, 0};
    REQUIRE(::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
    close();
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  template <class F>
  static std::uint16_t port_by(F f, int fd) {
    sockaddr_in a{};
    socklen_t size = sizeof(a);
    const bool has_one = f(fd, reinterpret_cast<sockaddr*>(&a), &size) == 0;
    return has_one && a.sin_family == AF_INET ? ntohs(a.sin_port) : std::uint16_t{0};
  }
  static std::uint16_t required(std::uint16_t port) {
    REQUIRE(port != 0);
    return port;
  }

  int fd_;
};

/// The bytes of a framed message.
inline std::string framed(std::string_view text) {
  const auto n = static_cast<std::uint32_t>(text.size());
  std::string out;
  for (int i = 0; i < 4; ++i) out += static_cast<char>(n >> (8 * i) & 0xff);
  return out.append(text);
}

/// True if the machine has IPv6 on its loopback; tests that need it say when they skip it.
inline bool has_ipv6() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  if (fd < 0) return false;
  sockaddr_in6 a{};
  a.sin6_family = AF_INET6;
  a.sin6_addr = in6addr_loopback;
  const bool works = ::bind(fd, reinterpret_cast<const sockaddr*>(&a), sizeof(a)) == 0;
  ::close(fd);
  return works;
}

}  // namespace garrick::tests
