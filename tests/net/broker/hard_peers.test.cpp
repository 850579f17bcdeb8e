// Peers that behave badly cost a broker no more than its limits, and others are served meanwhile.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <support/in_child.hpp>
#include <support/resident_bytes.hpp>
#include <support/rounds.hpp>
#include <support/transports.hpp>

#include "served.hpp"

namespace hard_peers_test {

using namespace broker_test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
/// Memory for a sanitizer's notes.
constexpr std::size_t slack = HAS_SANITIZER ? 512 * mebibyte : 8 * mebibyte;

/// Returns the number of sockets on the threads of this server, with the listener.
std::size_t load_of(served& s) { return s.threads.io().load(0) + s.threads.io().load(1); }

void check_that_it_serves(const served& s) {
  const bare_socket other = s.call();
  other.write("still here");
  CHECK(other.read(10) == "still here");
}

/// Writes as much as the system takes at once, at most `most`.
std::size_t write_without_waiting(const bare_socket& to, std::size_t most) {
  const std::string much(16384, 'm');
  std::size_t sent = 0;
  while (sent < most) {
    const ssize_t n = ::send(to.fd(), much.data(), much.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  return sent;
}

}  // namespace

TEST_CASE(
    "brokers: peers that never read, never send, dribble or reset cost no more than the limits") {
  socket_settings s{.read = receive_policy::at_most(4096), .block_size = 4096, .blocks = 2};
  s.transport.high_water = 64 << 10;
  s.transport.low_water = 16 << 10;
  s.transport.most_queued = 256 << 10;
  served server(false, s);
  check_that_it_serves(server);
  constexpr std::size_t of_each = 16;
  const std::size_t before = tests::resident_bytes();
  {
    std::vector<bare_socket> never_read, never_send, dribble;
    for (std::size_t i = 0; i < of_each; ++i) {
      never_read.push_back(server.call());
      never_send.push_back(server.call());
      dribble.push_back(server.call());
    }
    const auto of_the_echo = [&] { return server.t.bytes.load(); };
    // The echo reads on, although its peers take no answers: it drops those that it cannot write.
    for (int round = 0; round < 50; ++round) {
      for (const bare_socket& c : never_read) write_without_waiting(c, 64 << 10);
      for (const bare_socket& c : dribble) c.write("x");
      bare_socket resets = server.call();
      write_without_waiting(resets, 64 << 10);
      resets.reset();
      check_that_it_serves(server);
    }
    wait_until([&] { return of_the_echo() > of_each * 4 * s.transport.most_queued; });
    for (const bare_socket& c : dribble) CHECK(c.read(50) == std::string(50, 'x'));
    CHECK(tests::resident_bytes() < before + of_each * s.transport.most_queued + slack);
    for (bare_socket& c : never_read) c.reset();
  }
  check_that_it_serves(server);
  wait_until([&] { return load_of(server) == 1; });
}

TEST_CASE("brokers: thousands of short connections, however they end, leave nothing behind") {
  served s;
  const std::uint32_t all = tests::rounds(1000);
  std::size_t before = 0;
  for (std::uint32_t i = 0; i < all; ++i) {
    if (i == all / 2) {
      wait_until([&] { return load_of(s) == 1; });
      before = tests::resident_bytes();
    }
    bare_socket c = s.call();
    switch (i % 5) {
      case 0: break;  // closes without a word
      case 1: c.reset(); break;
      case 2:
        c.write("question");
        c.reset();
        break;
      case 3:
        c.write("question");
        REQUIRE(::shutdown(c.fd(), SHUT_WR) == 0);
        CHECK(c.read(100) == "questionbye");
        break;
      default: c.write("question"); CHECK(c.read(8) == "question");
    }
  }
  check_that_it_serves(s);
  wait_until([&] { return load_of(s) == 1; });
  CHECK(tests::resident_bytes() < before + slack);
}

/// Keeps the datagrams that it gets until it is told to drop them.
class keeps_datagrams : public broker<void(hold)> {
 public:
  keeps_datagrams(broker_place p, std::atomic<int>& port, tally& t) : broker(p), t_(t) {
    socket_ = io().bind("udp://127.0.0.1:0", {.most_messages = 10}).value();
    port = io().local(socket_).port();
  }
  using broker::on;
  void on(hold h) {
    holds_ = h.on;
    if (!h.on) kept_.clear();
  }
  void on(const new_datagram& d) {
    ++t_.opened;
    if (holds_)
      kept_.push_back(d);
    else
      static_cast<void>(io().send_to(d.socket, d.from, d.bytes.bytes()));
  }

 private:
  tally& t_;
  datagram_handle socket_;
  bool holds_ = true;
  std::vector<new_datagram> kept_;
};

TEST_CASE(
    "brokers: a flood of datagrams is kept up to a number, and then the next ones are served") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    tally t;
    std::atomic<int> port{0};
    broker_threads threads;
    actor_system system(quiet());
    const auto server =
        on_workers ? system.spawn<keeps_datagrams>(broker_place(threads), lent(port), lent(t))
                   : threads.spawn<keeps_datagrams>(system, lent(port), lent(t));
    const bare_socket c = bare_socket::connected(static_cast<std::uint16_t>(port), SOCK_DGRAM);
    const std::string datagram(1000, 'd');
    c.write(datagram);
    wait_until([&] { return t.opened == 1; });
    const std::size_t before = tests::resident_bytes();
    const std::uint32_t all = tests::rounds(20000);
    for (std::uint32_t i = 0; i < all; ++i)
      static_cast<void>(::send(c.fd(), datagram.data(), datagram.size(), MSG_NOSIGNAL));
    wait_until([&] { return t.opened >= 10; });
    CHECK(t.opened <= 10);
    CHECK(tests::resident_bytes() < before + slack);
    send(server, hold{false});
    // Datagrams of the flood that the system still had are answered first.
    std::string last;
    wait_until([&] {
      static_cast<void>(::send(c.fd(), "last", 4, MSG_NOSIGNAL));
      char back[2000];
      const ssize_t n = ::recv(c.fd(), back, sizeof back, 0);
      REQUIRE(n > 0);
      last.assign(back, static_cast<std::size_t>(n));
      return last == "last";
    });
  }
}

struct go_on {};

/// Writes as long as it may, and reads nothing.
class writes_only : public broker<std::string(where)> {
 public:
  writes_only(broker_place p, tally& t) : broker(p), t_(t) {
    door_ = io().listen("tcp://127.0.0.1:0").value();
  }
  using broker::on;
  std::string on(where) { return io().local(door_).to_string(); }
  void on(const new_connection& n) { pour(n.connection); }
  void on(const writable_again& w) { pour(w.connection); }
  void on(const connection_closed& c) {
    CHECK(c.why == net_errc::connection_lost);
    ++t_.closed;
  }

 private:
  void pour(const connection_handle& c) {
    ++t_.opened;
    while (io().writable(c))
      if (const auto done = io().write(c, std::string(10000, 'p')); !done) {
        if (done.error() == net_errc::connection_lost) ++t_.unread;
        return;
      }
  }
  tally& t_;
  acceptor_handle door_;
};

TEST_CASE("brokers: a broker that only writes hears that its peer has gone, and does not go on") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    tally t;
    broker_threads threads;
    actor_system system(quiet());
    const auto server = on_workers ? system.spawn<writes_only>(broker_place(threads), lent(t))
                                   : threads.spawn<writes_only>(system, lent(t));
    const endpoint there = at(system.request(server, where{}).get().value());
    for (int i = 1; i <= 20; ++i) {
      bare_socket c = bare_socket::connected(there.port());
      CHECK(c.read(1) == "p");
      if (i % 2 == 0) c.reset();
      c.close();  // with bytes that it has not read, which is a reset, too
      wait_until([&] { return t.closed == i; });
    }
    CHECK(system.request(server, where{}).get());
    wait_until([&] { return threads.io().load(0) == 1; });
  }
}

/// Answers each piece, and reads the next one after the order to go on.
class answers_slowly : public broker<std::string(where), void(go_on)> {
 public:
  answers_slowly(broker_place p, tally& t) : broker(p), t_(t) {
    socket_settings s{.read = receive_policy::exactly(64).once(), .block_size = 64, .blocks = 2};
    door_ = io().listen("tcp://127.0.0.1:0", s).value();
  }
  using broker::on;
  std::string on(where) { return io().local(door_).to_string(); }
  void on(const new_data& d) {
    there_ = d.connection;
    t_.bytes += d.bytes.size();
    static_cast<void>(io().write(there_, "ok"));
    if (goes_on_) read_on();
  }
  void on(go_on) {
    goes_on_ = true;
    // The peer has gone meanwhile: it refuses the first answer, and the second one fails.
    static_cast<void>(io().write(there_, "?"));
    CHECK(io().write(there_, "?").error() == net_errc::connection_lost);
    read_on();
  }
  void on(const connection_closed&) { ++t_.closed; }

 private:
  void read_on() { static_cast<void>(io().read(there_, receive_policy::exactly(64).once())); }
  tally& t_;
  acceptor_handle door_;
  connection_handle there_;
  bool goes_on_ = false;
};

TEST_CASE("brokers: bytes of a peer come although it has gone and takes no answers") {
  tally t;
  broker_threads threads;
  actor_system system(quiet());
  const auto server = threads.spawn<answers_slowly>(system, lent(t));
  const endpoint there = at(system.request(server, where{}).get().value());
  {
    const bare_socket c = bare_socket::connected(there.port());
    c.write(std::string(64 * 100, 'q'));
    char answer[2];
    REQUIRE(::recv(c.fd(), answer, 2, MSG_PEEK | MSG_WAITALL) == 2);
  }  // with an answer that it has not read: a reset
  send(server, go_on{});
  wait_until([&] { return t.closed == 1; });
  CHECK(t.bytes == 64 * 100);
}

}  // namespace hard_peers_test
