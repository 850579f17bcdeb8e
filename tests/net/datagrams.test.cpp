// UDP: links with a socket of their own, and many peers of one socket.
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <future>
#include <optional>
#include <span>

#include <support/in_child.hpp>
#include <support/transports.hpp>

namespace datagrams_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

using kind = link_event::kind;

std::vector<endpoint> all_datagrams() {
  std::vector<endpoint> all{at("udp://127.0.0.1:0")};
  if (has_ipv6())
    all.push_back(at("udp://[::1]:0"));
  else
    MESSAGE("skipped: this machine has no IPv6");
  return all;
}

auto echoing(std::shared_ptr<notes> n) {
  return accepting<datagram_session>(
      n, [](datagram_session& s, incoming m) { REQUIRE(!s.send(m.bytes)); });
}

}  // namespace

TEST_CASE("datagrams: whole messages go both ways, of every size up to the largest") {
  for (const endpoint& where : all_datagrams()) {
    io_threads io({.threads = 2});
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    auto door = listen(io, where, echoing(there), {.thread = 0});
    REQUIRE_MESSAGE(door, door.error().to_string());
    auto peer = connect(io, door->local(), opening<datagram_session>(here), {.thread = 1});
    REQUIRE(here->wait_for(kind::connected));
    std::size_t n = 0;
    for (const std::size_t size : {0u, 1u, 1200u, 9000u, 65000u}) {
      // Messages go one at a time, so that a socket's buffer drops none.
      send<datagram_session>(*peer, std::string(size, 'x'));
      REQUIRE(here->wait_for_messages(++n));
      CHECK(here->look([](const notes::all& a) { return a.messages.back().size(); }) == size);
    }
    CHECK(there->look([](const notes::all& a) { return a.remote.kind(); }) == transport_kind::udp);
    CHECK(there->self().counters().bytes_received == 75201);
  }
}

TEST_CASE("datagrams: thousands between two threads, with no more under way than a buffer holds") {
  io_threads io({.threads = 2});
  const auto here = std::make_shared<notes>();
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("udp://127.0.0.1:0"), echoing(there), {.thread = 0});
  auto peer = connect(io, door->local(), opening<datagram_session>(here), {.thread = 1});
  REQUIRE(here->wait_for(kind::connected));
  std::size_t sent = 0;
  for (int round = 0; round < 200; ++round) {
    visit<datagram_session>(*peer, [&](datagram_session& s) {
      for (int i = 0; i < 20; ++i) REQUIRE(!s.send(std::to_string(sent++)));
    });
    REQUIRE(here->wait_for_messages((static_cast<std::size_t>(round) + 1) * 20));
  }
  here->look([](const notes::all& a) {
    for (std::size_t i = 0; i < a.messages.size(); ++i) REQUIRE(a.messages[i] == std::to_string(i));
  });
  CHECK(peer->counters().writes < 4000);
  CHECK(peer->counters().dropped == 0);
}

TEST_CASE("datagrams: a socket of all addresses answers from the one that the peer has reached") {
  const auto echoed = [](const char* where, const char* host) {
    io_threads io;
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    auto door = listen(io, at(where), echoing(there));
    REQUIRE_MESSAGE(door, door.error().to_string());
    const auto to = endpoint::of(transport_kind::udp, host, door->local().port());
    auto peer = connect(io, *to, opening<datagram_session>(here));
    REQUIRE(here->wait_for(kind::connected));
    send<datagram_session>(*peer, "hello");
    return here->wait_for_messages(1);
  };
  CHECK(echoed("udp://0.0.0.0:0", "127.0.0.1"));
  CHECK(echoed("udp://0.0.0.0:0", "127.0.0.2"));
  CHECK(echoed("udp://127.0.0.2:0", "127.0.0.2"));
  if (has_ipv6())
    CHECK(echoed("udp://[::]:0", "::1"));
  else
    MESSAGE("skipped: there is no IPv6");
}

TEST_CASE(
    "datagrams: a peer that reaches two addresses of one socket has two links, each with its own") {
  io_threads io;
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("udp://0.0.0.0:0"), echoing(there));
  const bare_socket one = bare_socket::listening(0, SOCK_DGRAM);
  for (const in_addr_t host : {INADDR_LOOPBACK, INADDR_LOOPBACK + 1}) {
    sockaddr_in to = bare_socket::loopback(door->local().port());
    to.sin_addr.s_addr = htonl(host);
    REQUIRE(::sendto(one.fd(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 1);
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    char text = 0;
    REQUIRE(::recvfrom(one.fd(), &text, 1, 0, reinterpret_cast<sockaddr*>(&from), &size) == 1);
    CHECK(from.sin_addr.s_addr == htonl(host));
  }
  CHECK(door->counters().started == 2);
}

TEST_CASE(
    "datagrams: each address at one socket is a link of its own, also after the door closes") {
  io_threads io;
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("udp://127.0.0.1:0"), echoing(there));
  std::vector<bare_socket> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(bare_socket::connected(door->local().port(), SOCK_DGRAM));
    all.back().write("a" + std::to_string(i));
  }
  const auto heard = [](const bare_socket& s) {
    std::string text(100, '\0');
    const ssize_t n = ::recv(s.fd(), text.data(), text.size(), 0);
    REQUIRE(n >= 0);
    text.resize(static_cast<std::size_t>(n));
    return text;
  };
  for (int i = 0; i < 20; ++i)
    CHECK(heard(all[static_cast<std::size_t>(i)]) == "a" + std::to_string(i));
  CHECK(door->counters().connections == 20);
  door->close();
  const bare_socket late = bare_socket::connected(door->local().port(), SOCK_DGRAM);
  late.write("late");
  for (int i = 0; i < 20; ++i) {
    all[static_cast<std::size_t>(i)].write("b");
    CHECK(heard(all[static_cast<std::size_t>(i)]) == "b");
  }
  CHECK(there->look([](const notes::all& a) { return a.count; }) == 40);
  CHECK(door->counters().started == 20);
}

TEST_CASE("datagrams: a link that is closed is forgotten, and its address begins anew") {
  io_threads io;
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("udp://127.0.0.1:0"),
                     accepting<datagram_session>(there, [](datagram_session& s, incoming m) {
                       if (text_of(m.bytes) == "bye")
                         s.net_link().leave(base::real_clock().now());
                       else
                         std::ignore = s.send(m.bytes);
                     }));
  const bare_socket here = bare_socket::connected(door->local().port(), SOCK_DGRAM);
  for (std::size_t i = 1; i <= 5; ++i) {
    here.write("hello");
    CHECK(here.read(5) == "hello");
    here.write("bye");
    wait_until([&] { return door->counters().connections == 0; });
    CHECK(there->look([](const notes::all& a) { return a.ended; }) == i);
  }
  CHECK(door->counters().started == 5);
}

TEST_CASE("datagrams: the policy sees the first one, and a refused one leaves nothing behind") {
  struct picky final : accept_policy {
    explicit picky(std::shared_ptr<notes> n) : notes_(std::move(n)) {}
    bool may_begin(std::span<const std::byte> bytes) const noexcept override {
      return bytes.empty() || bytes[0] != std::byte{'#'};
    }
    verdict look(const arrival& a) override {
      const std::string text = text_of(a.bytes);
      ++looks;
      return text == "yes"    ? verdict::start()
             : text == "more" ? verdict::more()
                              : verdict::refuse();
    }
    std::unique_ptr<hosted> make(const arrival& a, carrier& c, const connection& self) override {
      return std::make_unique<datagram_session>(c, self, notes_, nullptr, a.remote);
    }
    std::shared_ptr<notes> notes_;
    std::atomic<int> looks{0};
  };
  io_threads io;
  const auto there = std::make_shared<notes>();
  const auto policy = std::make_shared<picky>(there);
  auto door = listen(io, at("udp://127.0.0.1:0"), policy);
  const bare_socket here = bare_socket::connected(door->local().port(), SOCK_DGRAM);
  here.write("# noise, about which the policy is not asked");
  here.write("no");
  here.write("more");
  here.write("yes");
  here.write("then");
  REQUIRE(there->wait_for_messages(2));
  CHECK(there->look([](const notes::all& a) { return a.messages; }) ==
        std::vector<std::string>{"yes", "then"});
  CHECK(policy->looks == 3);
  CHECK(door->counters().refused == 3);
  CHECK(door->counters().connections == 1);
}

TEST_CASE("datagrams: a port without a socket is a hint and ends nothing") {
  std::optional<bare_socket> there(bare_socket::listening(0, SOCK_DGRAM));
  const std::uint16_t port = there->port();
  there.reset();
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer =
      connect(io, at("udp://127.0.0.1:" + std::to_string(port)), opening<datagram_session>(here));
  REQUIRE(here->wait_for(kind::connected));
  send<datagram_session>(*peer, "anybody?");
  REQUIRE(here->wait([](const notes::all& a) { return a.hints >= 1; }));
  CHECK(here->look([](const notes::all& a) { return a.seen(kind::disconnected); }) == 0);
  const bare_socket again(::socket(AF_INET, SOCK_DGRAM, 0));
  const sockaddr_in where = bare_socket::loopback(port);
  REQUIRE(::bind(again.fd(), reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0);
  send<datagram_session>(*peer, "hello");
  CHECK(again.read(5) == "hello");
}

TEST_CASE("datagrams: one that meets the refusal of an earlier one is sent all the same") {
  std::optional<bare_socket> there(bare_socket::listening(0, SOCK_DGRAM));
  const std::uint16_t port = there->port();
  there.reset();
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer =
      connect(io, at("udp://127.0.0.1:" + std::to_string(port)), opening<datagram_session>(here));
  REQUIRE(here->wait_for(kind::connected));
  while (visit<datagram_session>(*peer, [](datagram_session&) {}) != visit_result::made)
    std::this_thread::yield();
  // The thread that would be told of the refusal is busy.
  std::promise<void> held, go;
  auto going = go.get_future();
  io.post(0, [&] {
    held.set_value();
    going.wait();
  });
  held.get_future().wait();
  CHECK(send<datagram_session>(*peer, "anybody?") == visit_result::made);
  const bare_socket again(::socket(AF_INET, SOCK_DGRAM, 0));
  const sockaddr_in where = bare_socket::loopback(port);
  REQUIRE(::bind(again.fd(), reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0);
  CHECK(send<datagram_session>(*peer, "hello") == visit_result::made);
  go.set_value();
  // A second message, so that the test does not wait for ever if the first one is dropped.
  REQUIRE(here->wait([](const notes::all& a) { return a.hints >= 1; }));
  send<datagram_session>(*peer, "world");
  CHECK(again.read(5) == "hello");
  CHECK(peer->counters().dropped == 0);
}

namespace {

/// A link that notes how large a datagram may be.
struct big final : hosted, carried {
  big(carrier& c, std::shared_ptr<notes> n) : below(c), notes_(std::move(n)) {}
  carried& stack() override { return *this; }
  void connected(base::instant) override {
    notes_->change([&](notes::all& a) { a.count = below.largest(); });
  }
  void disconnected(const base::error&, base::instant) override {}
  void receive(std::span<const std::byte>, base::instant) override {}
  void carrier_writable(base::instant) override {}
  void path_changed(std::size_t largest, base::instant) override {
    notes_->change([&](notes::all& a) { a.messages.push_back(std::to_string(largest)); });
  }
  [[nodiscard]] base::instant deadline() const override { return base::instant::never(); }
  void advance(base::instant) override {}
  carrier& below;
  std::shared_ptr<notes> notes_;
};

void must(bool holds, const char* what) {
  if (holds) return;
  std::fputs(what, stderr);
  ::_exit(1);
}

/// Sets the largest packet of the loopback. Requires a network of the process's own.
void set_loopback(int mtu) {
  ifreq r{};
  std::strcpy(r.ifr_name, "lo");
  r.ifr_mtu = mtu;
  const bare_socket s(::socket(AF_INET, SOCK_DGRAM, 0));
  must(::ioctl(s.fd(), SIOCSIFMTU, &r) == 0, "no MTU");
  r.ifr_flags = IFF_UP;
  must(::ioctl(s.fd(), SIOCSIFFLAGS, &r) == 0, "not up");
}

/// `headers`: bytes of the loopback's largest packet that are headers of IP and UDP.
void must_be_told_the_largest(int family, unsigned headers) {
  set_loopback(9000);
  const bare_socket there(::socket(family, SOCK_DGRAM, 0));
  sockaddr_in6 where{};  // as large as the other one, too
  auto size = static_cast<socklen_t>(family == AF_INET ? sizeof(sockaddr_in) : sizeof(where));
  where.sin6_family = static_cast<sa_family_t>(family);
  if (family == AF_INET6) where.sin6_addr = in6addr_loopback;
  auto* const address = reinterpret_cast<sockaddr*>(&where);
  if (::bind(there.fd(), address, size) != 0) ::_exit(family == AF_INET6 ? 78 : 1);
  must(::getsockname(there.fd(), address, &size) == 0, "no port");
  const std::string host = family == AF_INET ? "127.0.0.1" : "[::1]";
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer = connect(io, at("udp://" + host + ":" + std::to_string(ntohs(where.sin6_port))),
                      [&](carrier& c, const connection&) -> std::unique_ptr<hosted> {
                        return std::make_unique<big>(c, here);
                      });
  must(here->wait([](const notes::all& a) { return a.count != 0; }), "not connected");
  must(here->look([](const notes::all& a) { return a.count; }) == 9000 - headers, "another limit");
  set_loopback(1500);
  const std::size_t most = 1500 - headers;
  peer->run([&](hosted& h) {
    auto& b = static_cast<big&>(h);
    b.below.transmit(packet::copy_of(bytes_of(std::string(most + 1, 'x'))));
    b.below.transmit(packet::copy_of(bytes_of(std::string(most, 'y'))));
  });
  must(here->wait([](const notes::all& a) { return !a.messages.empty(); }), "not told");
  must(here->look([](const notes::all& a) { return a.messages[0]; }) == std::to_string(most),
       "told another");
  must(there.read(most) == std::string(most, 'y'), "the smaller one was not sent");
  must(peer->counters().dropped == 1, "the larger one was not dropped");
}

}  // namespace

TEST_CASE(
    "datagrams: one that is too large is dropped, and the stack is told how large it may be") {
  // A network of its own, in which the loopback takes less than it did before.
  const auto [text, status] = in_child([] {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(77);
    must_be_told_the_largest(AF_INET, 28);
    must_be_told_the_largest(AF_INET6, 48);
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    MESSAGE("skipped: no network of its own");
    return;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 78) {
    MESSAGE("skipped: no IPv6");
    return;
  }
  CHECK(text.empty());
  CHECK(status == 0);
}

TEST_CASE("datagrams: a name is looked up, and without an address the link may open again") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("udp://127.0.0.1:0"), echoing(there));
  auto peer = connect(io, at("udp://localhost:" + std::to_string(door->local().port())),
                      opening<datagram_session>(here));
  REQUIRE(here->wait_for(kind::connected));
  const auto nobody = std::make_shared<notes>();
  auto lost = connect(io, at("udp://nobody.invalid:1"), opening<datagram_session>(nobody));
  REQUIRE(nobody->wait_for(kind::disconnected));
  CHECK(nobody->look([](const notes::all& a) { return a.last_why(); }) == net_errc::unreachable);
  visit<datagram_session>(*lost, [](datagram_session& s) { s.below().reopen(); });
  CHECK(nobody->wait_for(kind::disconnected, 2));
}

TEST_CASE("datagrams: those that come for a link while a thread is in it wait up to a limit") {
  constexpr std::size_t limit = std::size_t{64} << 10;
  constexpr int rounds = 200;
  const std::string large(8000, 'x');
  io_threads io;
  const auto busy = std::make_shared<notes>();
  const auto other = std::make_shared<notes>();
  auto door = listen(io, at("udp://127.0.0.1:0"),
                     accept_each([&, first = true](const arrival& from, carrier& below,
                                                   const connection& self) mutable {
                       return std::unique_ptr<hosted>(std::make_unique<datagram_session>(
                           below, self, std::exchange(first, false) ? busy : other,
                           [](datagram_session&, incoming) {}, from.remote));
                     }),
                     {.datagram_buffer = limit});
  const bare_socket floods = bare_socket::connected(door->local().port(), SOCK_DGRAM);
  floods.write("x");
  REQUIRE(busy->wait_for_messages(1));
  const bare_socket asks = bare_socket::connected(door->local().port(), SOCK_DGRAM);
  std::promise<void> in, go;
  std::thread visitor([&, to = busy->self()] {
    while (visit<datagram_session>(to, [](datagram_session&) {}) != visit_result::made)
      std::this_thread::yield();
    visit<datagram_session>(to, [&](datagram_session&) {
      in.set_value();
      go.get_future().wait();
    });
  });
  in.get_future().wait();
  // When the question has come, the datagrams before it have been received, too.
  for (std::size_t i = 1; i <= rounds; ++i) {
    for (int k = 0; k < 4; ++k) floods.write(large);
    asks.write("x");
    REQUIRE(other->wait_for_messages(i));
  }
  go.set_value();
  visitor.join();
  floods.write("the last");
  REQUIRE(busy->wait_for_messages(2));
  asks.write("x");
  REQUIRE(other->wait_for_messages(rounds + 1));
  busy->look([&](const notes::all& a) { CHECK(a.count < 2 * limit / large.size()); });
}

}  // namespace datagrams_test
