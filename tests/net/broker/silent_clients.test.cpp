// Connections in which nothing moves: they are closed after the broker's limit, so that strangers
// who say nothing keep no other client out. The limits here pass in real time.
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/broker/served.hpp"

namespace silent_clients_test {

using namespace garrick;
using namespace garrick::tests;
using namespace garrick::net;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct counts {
  std::atomic<int> opened{0}, closed{0}, timed_out{0}, remarks{0};
};
struct where {};
struct tell {
  std::string text;
};

/// Answers each message, while its client reads the answers, with as many bytes; a remark, which
/// begins with '-', gets no answer. Tells the second client.
class desk : public broker<std::string(where), void(tell)> {
 public:
  desk(broker_place at, counts& c, socket_settings s) : broker(at), counts_(c) {
    s.read = some;
    door_ = io().listen("tcp://127.0.0.1:0", s).value();
  }
  using broker::on;
  std::string on(where) { return io().local(door_).to_string(); }
  void on(const tell& t) { static_cast<void>(io().write(second_, t.text)); }
  void on(const new_connection& n) {
    if (++counts_.opened == 2) second_ = n.connection;
  }
  void on(const new_data& d) {
    if (d.bytes.text().front() == '-')
      ++counts_.remarks;
    else
      static_cast<void>(io().write(d.connection, std::string(d.bytes.size(), 'x')));
    if (io().writable(d.connection)) static_cast<void>(io().read(d.connection, some));
  }
  void on(const writable_again& w) { static_cast<void>(io().read(w.connection, some)); }
  void on(const connection_closed& c) {
    counts_.timed_out += c.why == errc::timeout ? 1 : 0;
    ++counts_.closed;
  }

 private:
  inline static const receive_policy some = receive_policy::at_most(4096).once();
  counts& counts_;
  acceptor_handle door_;
  connection_handle second_;
};

struct open_desk {
  counts of;
  broker_threads threads;
  actor_system system{quiet()};
  ref<desk::protocol_type> server;
  std::uint16_t port;

  explicit open_desk(const socket_settings& s)
      : server(threads.spawn<desk>(system, lent(of), s)),
        port(at(system.request(server, where{}).get().value()).port()) {}
  [[nodiscard]] bare_socket call() const { return bare_socket::connected(port); }
};

TEST_CASE("silent clients: half heads are closed, and the places are free again") {
  socket_settings s{.idle_limit = ms(100)};
  s.accept.connections = 16;
  s.transport.close_limit = ms(100);
  open_desk at(s);
  std::vector<bare_socket> half_heads;
  for (int i = 0; i != 16; ++i) {
    half_heads.push_back(at.call());
    half_heads.back().write("GET / HT");
  }
  wait_until([&] { return at.of.closed == 16; });
  CHECK(at.of.timed_out == 16);
  for (const bare_socket& c : half_heads) CHECK(c.read(100) == "xxxxxxxx");  // and the end
  // Their clients keep their own ends open, for which a place waits no longer than `close_limit`.
  for (std::string answer; answer.empty();) {
    const bare_socket next = at.call();
    static_cast<void>(::send(next.fd(), "hello", 5, MSG_NOSIGNAL));
    answer = next.read(5);
    CHECK((answer.empty() || answer == "xxxxx"));
  }
}

TEST_CASE("silent clients: a stream in which bytes come or leave is kept") {
  open_desk at({.idle_limit = ms(1000)});
  const bare_socket talks = at.call();
  wait_until([&] { return at.of.opened == 1; });
  const bare_socket listens = at.call();
  wait_until([&] { return at.of.opened == 2; });
  const bare_socket silent = at.call();  // its end shows that the limit has passed
  while (at.of.closed == 0) {
    const int before = at.of.remarks;
    talks.write("-");
    wait_until([&] { return at.of.remarks != before; });
    send(at.server, tell{"news"});
    REQUIRE(listens.read(4) == "news");
  }
  CHECK(silent.read(1).empty());
  talks.write("?");
  CHECK(talks.read(1) == "x");
  CHECK(at.of.timed_out == 1);
  CHECK(at.of.closed == 1);
}

TEST_CASE("silent clients: a client that asks and does not read its answers is closed, too") {
  socket_settings s{.idle_limit = ms(300)};
  s.transport.high_water = 16384;
  s.transport.low_water = 4096;
  s.transport.close_limit = ms(10);
  open_desk at(s);
  const bare_socket c = at.call();
  const std::string question(65536, '?');
  while (at.of.closed == 0)  // until it is full, and then until its end
    static_cast<void>(
        ::send(c.fd(), question.data(), question.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  CHECK(at.of.timed_out == 1);
}

/// Returns the option of the descriptor here whose other end is at this port.
int option_of(std::uint16_t other_end, int level, int name) {
  for (int fd = 3; fd != 1000; ++fd) {
    sockaddr_in there{};
    socklen_t size = sizeof there;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &size) != 0) continue;
    if (there.sin_family != AF_INET || ntohs(there.sin_port) != other_end) continue;
    int value = -1;
    socklen_t of_value = sizeof value;
    REQUIRE(::getsockopt(fd, level, name, &value, &of_value) == 0);
    return value;
  }
  return -1;
}

TEST_CASE("silent clients: the system asks whether the machine of a silent one is there") {
  const auto options = [](const socket_settings& s) {
    open_desk at(s);
    const bare_socket c = at.call();
    c.write("?");
    REQUIRE(c.read(1) == "x");
    const int is_asked = option_of(c.port(), SOL_SOCKET, SO_KEEPALIVE);
    return is_asked == 1 ? option_of(c.port(), IPPROTO_TCP, TCP_KEEPIDLE) : is_asked;
  };
  CHECK(options({}) == 60);
  CHECK(options({.keep_alive = ms(6001)}) == 7);
  CHECK(options({.keep_alive = {}}) == 0);
}

/// Counts the settings that are refused.
class tries : public broker<int(where)> {
 public:
  explicit tries(broker_place at) : broker(at) {}
  using broker::on;
  int on(where) {
    int refused = 0;
    for (const socket_settings& s :
         {socket_settings{.keep_alive = ms(-1)}, socket_settings{.idle_limit = ms(-1)}}) {
      refused += io().listen("tcp://127.0.0.1:0", s).error() == errc::invalid_setting;
      refused += io().connect("tcp://127.0.0.1:9", s).error() == errc::invalid_setting;
    }
    return refused;
  }
};

TEST_CASE("silent clients: times below zero are refused") {
  broker_threads threads;
  actor_system system(quiet());
  CHECK(system.request(threads.spawn<tries>(system), where{}).get().value() == 4);
}

}  // namespace silent_clients_test
