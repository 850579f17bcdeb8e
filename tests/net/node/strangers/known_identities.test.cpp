// Strangers that know the identities of two nodes, and send datagrams from the address of one of
// them, or from many addresses: over real sockets.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/layer/session/handshake.hpp>
#include <garrick/net/little_endian.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/packet.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/transports.hpp"

namespace known_identities_test {

using namespace garrick;
using tests::bare_socket;

using echo_type = protocol<int(int)>;
class echo : public actor<echo_type> {
 public:
  int on(int x) { return x; }
};

struct counting final : net::peer_listener {
  void changed(const net::peer_identity&, net::peer_change what, const error&) override {
    if (what == net::peer_change::down) ++downs;
  }
  std::atomic<int> downs{0};
};

std::string text_of(const net::packet& p) {
  return {reinterpret_cast<const char*>(p.bytes().data()), p.size()};
}

/// Returns a packet of the handshake by an end with this identity.
std::string hello_of(net::session_packet kind, const net::peer_identity& who,
                     std::uint64_t to = 0) {
  net::hello h;
  h.self = who;
  h.to = to;
  h.layers = 1;
  h.number = 77;
  net::packet p;
  net::encode_hello(kind, h, p);
  return text_of(p);
}

net::node_settings settings(std::uint64_t node) {
  net::node_settings s;
  s.id = {0, node};
  s.incarnation = node * 11;
  return s;
}

/// A node that listens, with an actor that echoes.
struct server {
  explicit server(const net::node_settings& s) : node(system, s) {
    node.subscribe(told);
    at = node.listen("udp://127.0.0.1:0").value().to_string();
    REQUIRE(node.publish("echo", system.spawn<echo>()).has_value());
  }
  [[nodiscard]] std::uint16_t port() const { return net::endpoint::parse(at).value().port(); }

  actor_system system;
  net::node node;
  std::shared_ptr<counting> told = std::make_shared<counting>();
  std::string at;
};

/// A node that asks the echo at this address.
struct client {
  explicit client(std::uint64_t number) : node(system, settings(number)) { node.subscribe(told); }
  void find(const std::string& at) {
    const auto found = node.remote<echo_type>(at, "echo");
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    there = *found;
  }
  void ask(int x) { CHECK(system.request(there, x).get().value() == x); }

  actor_system system;
  net::node node;
  std::shared_ptr<counting> told = std::make_shared<counting>();
  ref<echo_type> there;
};

/// Carries datagrams between a client and a server, and sends the server others: from the address
/// that is the client's for the server.
class relay {
 public:
  explicit relay(std::uint16_t server)
      : to_server_(bare_socket::connected(server, SOCK_DGRAM)),
        to_client_(bare_socket::listening(0, SOCK_DGRAM)),
        carries_([this] { carry(); }) {}
  ~relay() {
    is_over_ = true;
    carries_.join();
  }
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  [[nodiscard]] std::string at() const {
    return "udp://127.0.0.1:" + std::to_string(to_client_.port());
  }
  void say(const std::string& forged) const { to_server_.write(forged); }
  /// Returns true if the server has sent a challenge.
  [[nodiscard]] bool has_challenged() const { return has_challenged_; }

 private:
  void carry() {
    std::vector<char> bytes(70'000);
    const auto read = [&](const bare_socket& from) {
      return ::recv(from.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    };
    bool knows_client = false;
    while (!is_over_) {
      pollfd both[]{{to_server_.fd(), POLLIN, 0}, {to_client_.fd(), POLLIN, 0}};
      ::poll(both, 2, 10);
      if (!knows_client && (both[1].revents & POLLIN) != 0) {
        sockaddr_in from{};
        socklen_t size = sizeof(from);
        ::recvfrom(to_client_.fd(), bytes.data(), 1, MSG_PEEK, reinterpret_cast<sockaddr*>(&from),
                   &size);
        ::connect(to_client_.fd(), reinterpret_cast<const sockaddr*>(&from), size);
        knows_client = true;
      }
      for (ssize_t n = 0; knows_client && (n = read(to_client_)) > 0;)
        ::send(to_server_.fd(), bytes.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL);
      for (ssize_t n = 0; knows_client && (n = read(to_server_)) > 0;) {
        if (bytes[0] == static_cast<char>(net::session_packet::challenge)) has_challenged_ = true;
        ::send(to_client_.fd(), bytes.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL);
      }
    }
  }

  bare_socket to_server_, to_client_;
  std::atomic<bool> is_over_{false}, has_challenged_{false};
  std::thread carries_;
};

TEST_CASE("known identities: one at a peer's address that only knows them ends no session") {
  server b(settings(2));
  const relay between(b.port());
  client a(1);
  a.find(between.at());
  a.ask(1);
  const net::peer_identity me = a.node.self(), you = b.node.self();
  const net::peer_identity next_life{me.node, me.incarnation + 1};
  const auto tagged = [](net::session_packet kind, std::uint32_t tag) {
    std::string all(6, '\0');
    all[0] = static_cast<char>(kind);
    net::store_le(reinterpret_cast<std::byte*>(all.data()) + 1, tag);
    return all;
  };
  // The tag that the incarnations alone would give.
  std::uint64_t x = me.incarnation * 0x9e3779b97f4a7c15u + you.incarnation;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  for (int i = 0; i != 3; ++i) {
    between.say(tagged(net::session_packet::leave, static_cast<std::uint32_t>(x ^ x >> 32)));
    between.say(tagged(net::session_packet::data, static_cast<std::uint32_t>(x ^ x >> 32)));
    between.say(hello_of(net::session_packet::hello, next_life, you.incarnation));
    between.say(hello_of(net::session_packet::hello_ack, next_life, you.incarnation));
    between.say(hello_of(net::session_packet::hello, me, you.incarnation));
    between.say(hello_of(net::session_packet::challenge, me, you.incarnation));
  }
  tests::wait_until([&] { return between.has_challenged(); });
  for (int i = 0; i != 100; ++i) a.ask(i);
  CHECK(a.told->downs == 0);
  CHECK(b.told->downs == 0);
  CHECK(b.node.peers() == std::vector<net::peer_identity>{me});
}

TEST_CASE(
    "known identities: a hello from where nobody answers is challenged, and changes nothing") {
  net::node_settings s = settings(2);
  s.accept.pending = 4;
  s.accept.connections = 4;
  server b(s);
  const std::string hi = hello_of(net::session_packet::hello, {{0, 1}, 11});
  for (int i = 0; i != 1000; ++i) {
    const bare_socket stranger = bare_socket::connected(b.port(), SOCK_DGRAM);
    stranger.write(hi);
    if (i % 100 != 0) continue;
    std::string answer(net::largest_hello, '\0');
    const ssize_t n = ::recv(stranger.fd(), answer.data(), answer.size(), 0);
    REQUIRE(n > 0);
    CHECK(static_cast<std::size_t>(n) <= 3 * hi.size());
    CHECK(static_cast<net::session_packet>(answer[0]) == net::session_packet::challenge);
  }
  CHECK(b.node.peers().empty());
  // The same identity comes in from its own address, and another one, too: no place is taken.
  for (const std::uint64_t node : {1u, 3u}) {
    client honest(node);
    honest.find(b.at);
    honest.ask(5);
  }
}

}  // namespace known_identities_test
