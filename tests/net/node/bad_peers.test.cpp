// A client that is not a node, stops in mid-handshake, or never goes on: its connection is closed,
// and others are served.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace bad_peers_test {

using namespace garrick;
using namespace garrick::tests;
using net::net_errc;
using net::node;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

using echo_type = protocol<std::int64_t(std::int64_t)>;
class echo : public actor<echo_type> {
 public:
  std::int64_t on(std::int64_t n) { return n; }
};

/// A node that gives newcomers a second.
struct besieged {
  actor_system system{quiet()};
  node self;
  std::uint16_t port = 0;

  explicit besieged(net::node_settings s = impatient()) : self(system, std::move(s)) {
    const auto at = self.listen("tcp://127.0.0.1:0");
    REQUIRE(at.has_value());
    port = at->port();
    REQUIRE(self.publish("echo", system.spawn<echo>()).has_value());
  }
  static net::node_settings impatient() {
    net::node_settings s;
    s.accept.admission = ms(1000);
    // The limits are low, so that connections left behind by a stranger would keep others out.
    s.accept.pending = few;
    s.accept.connections = few;
    return s;
  }
  static constexpr std::uint32_t few = 32;
  /// Checks that another node is served.
  void serve() {
    actor_system of_guest(quiet());
    node guest(of_guest);
    const auto found = guest.remote<echo_type>("tcp://127.0.0.1:" + std::to_string(port), "echo",
                                               duration::seconds(60));
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    CHECK(of_guest.request(*found, std::int64_t{5}).get().value() == 5);
  }
};

/// Reads until the other end has closed. Returns false if it does not close for long.
bool is_let_go(const bare_socket& s) {
  const timeval long_time{60, 0};
  REQUIRE(::setsockopt(s.fd(), SOL_SOCKET, SO_RCVTIMEO, &long_time, sizeof(long_time)) == 0);
  char bytes[1024];
  for (;;) {
    const ssize_t n = ::recv(s.fd(), bytes, sizeof(bytes), 0);
    if (n <= 0) return n == 0 || errno == ECONNRESET;
  }
}

/// Returns the first frame of a peer, with this length in its header; the bytes may be fewer.
std::string framed(std::uint32_t length, const std::string& bytes) {
  std::string all;
  for (int i = 0; i < 4; ++i) all += static_cast<char>(length >> (8 * i));
  return all + bytes;
}

TEST_CASE("bad peers: bytes that are no hello end their connection, and others are served") {
  besieged b;
  std::mt19937_64 random(5);
  std::string noise(4096, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  const std::string half_a_hello = std::string("\x02GRCK", 5) + std::string(6, '\0');
  for (const std::string& words :
       {std::string("GET / HTTP/1.1\r\nHost: here\r\n\r\n"), std::string("\x16\x03\x01\x02\x00", 5),
        noise, framed(0xffffffffu, ""), framed(0, ""), framed(11, half_a_hello),
        framed(5, std::string("\x01GRCK", 5)), framed(1, "\x05")}) {
    CAPTURE(words);
    const bare_socket s = bare_socket::connected(b.port);
    s.write(words);
    CHECK(is_let_go(s));
    CHECK(b.self.peers().empty());
  }
  b.serve();
}

TEST_CASE("bad peers: a peer that says a byte now and then has no more time than a silent one") {
  besieged b;
  const auto begin = std::chrono::steady_clock::now();
  const bare_socket silent = bare_socket::connected(b.port);
  const bare_socket slow = bare_socket::connected(b.port);
  // The largest possible hello: at this pace the client would send it for half a minute.
  const std::string hello = framed(512, std::string("\x02GRCK\x01", 6) + std::string(506, '\0'));
  std::size_t said = 0;
  std::thread loris([&] {
    for (const char c : hello) {
      if (::send(slow.fd(), &c, 1, MSG_NOSIGNAL) != 1) return;
      ++said;
      pollfd closed{slow.fd(), POLLRDHUP, 0};
      if (::poll(&closed, 1, 50) != 0) return;
    }
  });
  CHECK(is_let_go(silent));
  CHECK(is_let_go(slow));
  const auto lasted = std::chrono::steady_clock::now() - begin;
  loris.join();
  CHECK(lasted > std::chrono::milliseconds(900));  // the client's time had passed
  // In its second the client sends 20 bytes, or more if this machine is busy, but far from all.
  CHECK(said < hello.size() / 2);
  b.serve();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
  wait_until([&] { return b.self.peers().empty(); });
}

TEST_CASE(
    "bad peers: a peer that goes away in the middle of a hello, or reads nothing, costs nothing") {
  besieged b;
  for (int i = 0; i < 200; ++i) {
    const bare_socket s = bare_socket::connected(b.port);
    // Sending fails if earlier ones of these connections still take the place.
    const std::string half = framed(90, "\x02GR");
    static_cast<void>(::send(s.fd(), half.data(), half.size(), MSG_NOSIGNAL));
  }
  b.serve();
  wait_until([&] { return b.self.peers().empty(); });  // the guest has left, too
}

TEST_CASE("bad peers: silent connections that fill the door and are renewed keep no other out") {
  net::node_settings s = besieged::impatient();
  s.accept.admission = duration::seconds(3600);  // no place is given because its time is over
  s.accept.pending = 4;
  besieged b(s);
  std::vector<bare_socket> silent;
  for (int round = 0; round < 5; ++round) {
    // They stand in the system's line before the guest, so the guest takes a place of theirs.
    for (std::size_t i = 0; i < 2 * s.accept.pending; ++i)
      silent.push_back(bare_socket::connected(b.port));
    b.serve();
  }
}

TEST_CASE("bad peers: all listeners of a node have one limit of connections together") {
  net::node_settings s = besieged::impatient();
  s.accept.admission = duration::seconds(3600);
  s.accept.connections = 1;
  besieged b(s);
  const auto other_door = b.self.listen("tcp://127.0.0.1:0");
  REQUIRE(other_door.has_value());
  {
    actor_system of_guest(quiet());
    node guest(of_guest);
    REQUIRE(guest.connect("tcp://127.0.0.1:" + std::to_string(b.port)).has_value());
    const bare_socket late = bare_socket::connected(other_door->port());
    CHECK(is_let_go(late));
  }
  b.port = other_door->port();
  b.serve();
}

TEST_CASE("bad peers: a name that cannot be resolved is a time-out when the limit is over") {
  actor_system system(quiet());
  net::node_settings s;
  s.insecure = true;
  node self(system, s);
  const auto who = self.connect("tcp://nobody.invalid:1", ms(100));
  REQUIRE(!who.has_value());
  CHECK_MESSAGE(who.error() == errc::timeout, who.error().to_string());
}

}  // namespace bad_peers_test
