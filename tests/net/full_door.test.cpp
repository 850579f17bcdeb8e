// A door that is full of silent connections: one of them gives way to each newcomer.
#include <garrick/net/transport/accept_policy.hpp>

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <support/transports.hpp>

namespace full_door_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

/// A link that answers a greeting, and is admitted by it.
template <class Transport>
struct by_greeting final : hosted, link_owner {
  by_greeting(carrier& c, std::shared_ptr<notes> n)
      : link_(link_over(*this, c, Transport())), notes_(std::move(n)) {}
  carried& stack() override { return *link_; }
  [[nodiscard]] bool admitted() const override { return is_admitted; }
  void ended(const base::error& why) noexcept override { notes_->end(why); }
  bool on_message(const incoming& m) override {
    if (text_of(m.bytes) == "mumble") return true;
    is_admitted = true;
    std::ignore = link_->send({packet::copy_of(bytes_of("!"), link_->header_size())},
                              base::real_clock().now());
    return true;
  }
  void on_event(const link_event&) override {}
  std::unique_ptr<net::any_link> link_;
  std::shared_ptr<notes> notes_;
  bool is_admitted = false;
};

/// Wants some first bytes of a stream, as the policies of nodes do. A datagram "noise" is refused.
struct for_guests final : accept_policy {
  for_guests(std::size_t wanted, std::shared_ptr<notes> n) : wanted_(wanted), n_(std::move(n)) {}
  [[nodiscard]] std::size_t wants() const override { return wanted_; }
  verdict look(const arrival& a) override {
    if (a.bytes.size() < wanted_ && a.local.kind() != transport_kind::udp) return verdict::more();
    return text_of(a.bytes) == "noise" ? verdict::refuse() : verdict::start();
  }
  std::unique_ptr<hosted> make(const arrival& a, carrier& c, const connection&) override {
    if (a.local.kind() == transport_kind::udp)
      return std::make_unique<by_greeting<datagrams>>(c, n_);
    return std::make_unique<by_greeting<byte_stream>>(c, n_);
  }
  std::size_t wanted_;
  std::shared_ptr<notes> n_;
};

/// Longer than any test: no connection ends because its time is over.
constexpr base::duration for_ever = base::duration::seconds(3600);
constexpr std::size_t room = 8;

/// A listener with room for few that wait, and none of them says enough.
struct besieged {
  explicit besieged(std::size_t wanted, const accept_limits& limits, std::size_t threads = 1)
      : io({.threads = threads}),
        door(listen(io, at("tcp://127.0.0.1:0"), std::make_shared<for_guests>(wanted, n),
                    {.thread = 0, .close_limit = for_ever}, limits)) {}
  [[nodiscard]] listener_counters counters() const { return door->counters(); }
  [[nodiscard]] bare_socket knock() const { return bare_socket::connected(door->local().port()); }
  /// Returns true if a newcomer with something to say is served.
  [[nodiscard]] bool serves() const {
    const bare_socket s = knock();
    const std::string words = framed("hello");
    if (::send(s.fd(), words.data(), words.size(), MSG_NOSIGNAL) < 0) return false;
    return s.read(5) == framed("!");
  }

  const std::shared_ptr<notes> n = std::make_shared<notes>();
  io_threads io;
  base::result<listener> door;
};

}  // namespace

TEST_CASE("full door: silent connections before their first bytes give way to newcomers") {
  const besieged b(5, {.pending = room, .admission = for_ever});
  std::vector<bare_socket> silent;
  for (std::size_t i = 0; i != room; ++i) silent.push_back(b.knock());
  wait_until([&] { return b.counters().pending == room; });
  for (std::size_t i = 1; i != 2 * room; ++i) {
    // The newcomer is drawn by no other: it is served at the first attempt.
    CHECK(b.serves());
    CHECK(b.counters().dropped == i);
    silent.push_back(b.knock());
    wait_until([&] { return b.counters().pending == room; });
  }
  CHECK(b.counters().too_late == 0);
  CHECK(b.counters().refused == b.counters().dropped);
}

TEST_CASE("full door: silent links give way to newcomers, on any thread") {
  for (const std::size_t threads : {1u, 2u}) {
    CAPTURE(threads);
    const besieged b(0, {.pending = room, .admission = for_ever}, threads);
    std::vector<bare_socket> silent;
    for (std::size_t i = 0; i != room; ++i) silent.push_back(b.knock());
    wait_until([&] { return b.counters().started == room; });
    CHECK(b.serves());
    CHECK(b.counters().dropped == 1);
    REQUIRE(b.n->wait_for_end());
    CHECK(b.n->look([](const notes::all& a) { return a.why_ended; }) == net_errc::refused);
    // The silent end has not closed its socket; this end has closed its own all the same, and has
    // the other silent ones and the served one.
    wait_until([&] { return b.counters().connections == room; });
  }
}

TEST_CASE("full door: while silent connections are renewed, each newcomer is served") {
  for (const std::size_t wanted : {0u, 5u}) {
    CAPTURE(wanted);
    const besieged b(wanted, {.pending = room, .admission = for_ever}, 2);
    std::atomic<bool> goes_on{true};
    std::thread flood([&] {
      std::deque<bare_socket> silent;
      while (goes_on) {
        // The oldest ones go, too, or the process would run out of descriptors.
        if (silent.size() == 4 * room) silent.pop_front();
        silent.push_back(b.knock());
      }
    });
    wait_until([&] { return b.counters().dropped > 10 * room; });
    // A newcomer that is drawn tries again.
    for (int i = 0; i != 20; ++i) wait_until([&] { return b.serves(); });
    goes_on = false;
    flood.join();
    CHECK(b.counters().too_late == 0);
  }
}

TEST_CASE("full door: at the limit of connections only those that wait give way") {
  const besieged b(5, {.connections = 2, .admission = for_ever});
  const bare_socket peer = b.knock();
  peer.write(framed("hello"));
  REQUIRE(peer.read(5) == framed("!"));
  const bare_socket silent = b.knock();
  wait_until([&] { return b.counters().connections == 2; });
  const bare_socket second = b.knock();
  CHECK(silent.read(1).empty());
  second.write(framed("hello"));
  REQUIRE(second.read(5) == framed("!"));
  const bare_socket third = b.knock();
  CHECK(third.read(1).empty());
  CHECK(b.counters().dropped == 1);
  CHECK(b.counters().refused == 2);
  peer.write(framed("again"));
  CHECK(peer.read(5) == framed("!"));
}

TEST_CASE("full door: a peer over UDP that waits gives way, but not to a refused datagram") {
  io_threads io;
  const auto n = std::make_shared<notes>();
  auto door = listen(io, at("udp://127.0.0.1:0"), std::make_shared<for_guests>(0, n), {},
                     {.pending = room, .admission = for_ever});
  const auto knock = [&] { return bare_socket::connected(door->local().port(), SOCK_DGRAM); };
  std::vector<bare_socket> silent;
  for (std::size_t i = 0; i != room; ++i) {
    silent.push_back(knock());
    silent.back().write("mumble");
    wait_until([&, k = i + 1] { return door->counters().started == k; });
  }
  const std::size_t waiting = door->counters().pending;
  for (std::uint64_t i = 1; i != 4; ++i) {
    const bare_socket noisy = knock();
    noisy.write("noise");
    wait_until([&] { return door->counters().refused == i; });
  }
  CHECK(door->counters().dropped == 0);
  CHECK(waiting == room);
  const bare_socket newcomer = knock();
  newcomer.write("hello");
  CHECK(newcomer.read(1) == "!");
  CHECK(door->counters().dropped == 1);
}

TEST_CASE("full door: a listener for streams leaves half of the descriptors to the process") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, std::to_array<rlimit>({{200, before.rlim_max}}).data()) == 0);
  io_threads io;
  const auto n = std::make_shared<notes>();
  const auto lowered_to = [&](const char* where, std::size_t connections) {
    auto door = listen(io, at(where), accepting(n), {}, {.connections = connections});
    REQUIRE_MESSAGE(door, door.error().to_string());
    return door->counters().lowered_to;
  };
  CHECK(lowered_to("tcp://127.0.0.1:0", 101) == 100);
  CHECK(lowered_to("tcp://127.0.0.1:0", 100) == 0);
  CHECK(lowered_to("udp://127.0.0.1:0", 101) == 0);  // its peers share one descriptor
  // The admitted ones of a flood leave room for this process's own files.
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(n), {}, {.connections = 4096});
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  std::vector<bare_socket> all;
  for (int i = 0; i != 120; ++i) all.push_back(bare_socket::connected(door->local().port()));
  wait_until([&] {
    const listener_counters c = door->counters();
    return c.started + c.refused - c.dropped == 120 && c.pending == 0;
  });
  CHECK(door->counters().connections == 100);
}

}  // namespace full_door_test
