// TCP and Unix domain sockets, with a stack of framing over them.
#include <garrick/base/values/random.hpp>

#include <algorithm>
#include <functional>
#include <future>
#include <utility>

#include <support/in_child.hpp>
#include <support/transports.hpp>

namespace streams_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

using kind = link_event::kind;

/// Returns an endpoint for every kind of stream of this machine.
std::vector<endpoint> all_streams(scratch_folder& folder) {
  std::vector<endpoint> all{at("tcp://127.0.0.1:0"), at("unix://" + folder.file("socket"))};
  if (has_ipv6())
    all.push_back(at("tcp://[::1]:0"));
  else
    MESSAGE("skipped: this machine has no IPv6");
  return all;
}

/// A link that sends as much as the transport takes, until all is sent.
struct flood final : hosted, carried {
  static constexpr std::size_t all = 512;
  static constexpr std::size_t most_in_turn = 16;  ///< pieces
  static constexpr std::size_t piece = (std::size_t{256} << 10) / most_in_turn;
  struct counts {
    std::size_t most = 0;   ///< pieces between two visits
    std::size_t turns = 0;  ///< in which it has sent
  };

  explicit flood(carrier& below) : below_(below) {}
  carried& stack() override { return *this; }
  void connected(base::instant) override {
    if (on_connected) on_connected(*this);
  }
  void disconnected(const base::error&, base::instant) override {}
  void receive(std::span<const std::byte>, base::instant) override {}
  void carrier_writable(base::instant) override { send_on(); }
  void path_changed(std::size_t, base::instant) override {}
  [[nodiscard]] base::instant deadline() const override { return base::instant::never(); }
  void advance(base::instant) override {}

  void send_on() {
    if (sent_ < all) ++counts_.turns;
    for (; sent_ < all && below_.writable(); ++sent_)
      below_.transmit(packet::copy_of(std::vector<std::byte>(piece)));
  }
  static void send_all(flood& f) {
    f.sent_ = 0;
    f.send_on();
  }
  /// Visits the link again and again until all is sent, and then sets the counts.
  static void look(const connection& link, std::promise<counts>& told) {
    link.run([&told, link](hosted& h) {
      auto& f = static_cast<flood&>(h);
      f.counts_.most = std::max(f.counts_.most, f.sent_ - std::exchange(f.seen_, f.sent_));
      if (f.sent_ == all) return told.set_value(f.counts_);
      look(link, told);
    });
  }

  std::function<void(flood&)> on_connected;

 private:
  carrier& below_;
  std::size_t sent_ = 0;
  std::size_t seen_ = 0;  ///< at the last visit
  counts counts_;
};

std::string numbered(std::size_t i) { return "message " + std::to_string(i); }

}  // namespace

TEST_CASE("streams: thousands of messages each way between two I/O threads arrive in order") {
  scratch_folder folder;
  for (const endpoint& where : all_streams(folder)) {
    constexpr std::size_t n = 5000;
    io_threads io({.threads = 2});
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    auto door = listen(io, where, accepting(there), {.thread = 0});
    REQUIRE_MESSAGE(door, door.error().to_string());
    auto peer = connect(io, door->local(), opening(here), {.thread = 1});
    REQUIRE(peer);
    REQUIRE(here->wait_for(kind::connected));
    REQUIRE(there->wait_for(kind::connected));
    const connection back = there->self();
    std::thread other([&] {
      for (std::size_t i = 0; i < n; ++i) send(back, numbered(i));
    });
    for (std::size_t i = 0; i < n; ++i) send(*peer, numbered(i));
    other.join();
    for (const auto& end : {here, there}) {
      REQUIRE(end->wait_for_messages(n));
      end->look([](const notes::all& a) {
        for (std::size_t i = 0; i < n; ++i) REQUIRE(a.messages[i] == numbered(i));
      });
    }
    // Sent bytes are counted when the call of the system returns, perhaps after they were received.
    while (peer->counters().bytes_sent != back.counters().bytes_received) std::this_thread::yield();
    CHECK(door->counters().started == 1);
  }
}

TEST_CASE("streams: big messages come whole, both ways at once") {
  scratch_folder folder;
  for (const endpoint& where : all_streams(folder)) {
    io_threads io({.threads = 2});
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    auto door = listen(io, where, accepting(there), {.thread = 0});
    auto peer = connect(io, door->local(), opening(here), {.thread = 1});
    REQUIRE(here->wait_for(kind::connected));
    REQUIRE(there->wait_for(kind::connected));
    base::random_source random(5);
    std::string big(12u << 20, '\0');
    for (char& c : big) c = static_cast<char>(random.below(256));
    send(*peer, big);
    send(there->self(), big);
    for (const auto& end : {here, there}) {
      REQUIRE(end->wait_for_messages(1));
      CHECK(end->look([&](const notes::all& a) { return a.messages[0] == big; }));
    }
  }
}

TEST_CASE("streams: while the other end does not read, the queue is bounded, then all arrives") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  const transport_settings s{.high_water = 100'000, .low_water = 10'000};
  auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here), s);
  const bare_socket there = door.accept();
  REQUIRE(here->wait_for(kind::connected));
  std::size_t sent = 0;
  // The link is full if the next visitor finds it so: the socket was offered all bytes by then.
  for (std::atomic<bool> is_full{false}; !is_full;) {
    REQUIRE(sent < 1'000'000);
    std::atomic<bool> done{false};
    visit(*peer, [&](stream_session& v) {
      is_full = !v.net_link().writable();
      if (is_full) CHECK(v.send("one more") == net_errc::overload);
      for (int i = 0; i < 100 && v.net_link().writable(); ++i) REQUIRE(!v.send(numbered(sent++)));
      done = true;
      done.notify_all();
    });
    done.wait(false);
  }
  // The system took as many of these bytes as the other end has room for, and little more.
  CHECK(peer->counters().bytes_sent < 1'000'000);
  const auto told = [](const notes::all& a) { return a.seen(kind::writable); };
  const std::size_t before = here->look(told);
  std::string expected;
  for (std::size_t i = 0; i < sent; ++i) expected += framed(numbered(i));
  REQUIRE(expected.size() > s.high_water);
  CHECK(there.read(expected.size()) == expected);
  CHECK(here->wait_for(kind::writable, before + 1));
  std::atomic<int> asked{0};
  visit(*peer, [&](stream_session& v) {
    CHECK(v.net_link().writable());
    asked = 1;
    asked.notify_all();
  });
  asked.wait(0);
}

TEST_CASE("streams: others visit a link in between while its stack sends much") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  std::promise<flood::counts> told;
  const auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())),
                            [&](carrier& below, const connection& self) {
                              auto made = std::make_unique<flood>(below);
                              made->on_connected = [&told, self](flood& f) {
                                flood::look(self, told);
                                flood::send_all(f);
                              };
                              return made;
                            });
  REQUIRE(peer);
  CHECK(door.accept().read(flood::all * flood::piece).size() == flood::all * flood::piece);
  const flood::counts counts = told.get_future().get();
  CHECK(counts.most <= flood::most_in_turn);
  CHECK(counts.turns == flood::all / flood::most_in_turn);  // no shorter turns
}

TEST_CASE("streams: a stack that sends much goes on though no thread visits its link") {
  const bare_socket door = bare_socket::listening();
  const int room = 4 << 20;  // soon enough for a whole turn, so that no byte waits
  REQUIRE(::setsockopt(door.fd(), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) == 0);
  io_threads io;
  const auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())),
                            [&](carrier& below, const connection&) {
                              auto made = std::make_unique<flood>(below);
                              made->on_connected = &flood::send_all;
                              return made;
                            })
                        .value();
  const bare_socket there = door.accept();
  CHECK(there.read(flood::all * flood::piece).size() == flood::all * flood::piece);
  for (int i = 0; i < 3; ++i) {  // now from this thread
    peer.run([](hosted& h) { flood::send_all(static_cast<flood&>(h)); });
    CHECK(there.read(flood::all * flood::piece).size() == flood::all * flood::piece);
  }
}

TEST_CASE("streams: a visitor on another thread has a turn of his own") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  const auto peer =
      connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here));
  const bare_socket there = door.accept();
  REQUIRE(here->wait_for(kind::connected));
  const std::string much((std::size_t{256} << 10) / 5 * 2, 'm');
  for (int i = 0; i < 5; ++i) {
    std::promise<bool> has_room;
    visit(*peer,
          [&](stream_session& v) { has_room.set_value(!v.send(much) && v.net_link().writable()); });
    REQUIRE(has_room.get_future().get());
    CHECK(there.read(framed(much).size()) == framed(much));
  }
  CHECK(here->look([](const notes::all& a) { return a.seen(kind::writable); }) == 0);
}

// An emulated program is told only the first bytes of TCP_INFO.
TEST_CASE("streams: on a short way the system holds little that has not been read" *
          doctest::skip(IS_EMULATED)) {
  const auto option = [](int fd, int name) {
    int value = 0;
    socklen_t size = sizeof(value);
    REQUIRE(::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0);
    return value;
  };
  const bare_socket door = bare_socket::listening();
  // The room for 256 KiB, as the system counts it: with as much again for itself.
  const bare_socket like(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int wanted = 256 << 10;
  REQUIRE(::setsockopt(like.fd(), SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted)) == 0);
  const int limited = option(like.fd(), SO_RCVBUF);
  io_threads io;
  // After a handshake that was held up the way may seem long.
  bool is_limited = option(door.fd(), SO_RCVBUF) == limited;
  if (is_limited) MESSAGE("skipped: the system holds as little by itself");
  for (int tries = 0; tries < 100 && !is_limited; ++tries) {
    const auto here = std::make_shared<notes>();
    const auto peer =
        connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here));
    const bare_socket there = door.accept();
    REQUIRE(here->wait_for(kind::connected));
    const std::uint16_t theirs = there.peer_port();
    for (int fd = 0; fd < 1024; ++fd)
      if (bare_socket::port_of(fd) == theirs) is_limited = option(fd, SO_RCVBUF) == limited;
  }
  CHECK(is_limited);
}

TEST_CASE("streams: a link that is made to hold too much gives its connection up") {
  const std::string big(1u << 20, 'x');  // first, since visits that wait in line use it to the end
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  const transport_settings s{.high_water = 1000, .low_water = 100, .most_queued = 1u << 20};
  auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here), s);
  const bare_socket there = door.accept();
  REQUIRE(here->wait_for(kind::connected));
  // The system's lane is sent although the peer does not read.
  for (int i = 0; i < 64 && here->look([](const notes::all& a) { return a.events.size() == 1; });
       ++i)
    visit(*peer, [&big](stream_session& v) {
      std::ignore = v.net_link().send({packet::copy_of(bytes_of(big)), system_lane},
                                      base::real_clock().now());
    });
  REQUIRE(here->wait_for(kind::disconnected));
  CHECK(here->look([](const notes::all& a) { return a.last_why(); }) == net_errc::overload);
}

TEST_CASE("streams: a reset in mid-message is reported at once, and nothing of the message") {
  io_threads io;
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
  bare_socket here = bare_socket::connected(door->local().port());
  here.write(framed("whole") + framed("not whole").substr(0, 7));
  REQUIRE(there->wait_for_messages(1));
  here.reset();
  REQUIRE(there->wait_for(kind::disconnected));
  there->look([](const notes::all& a) {
    CHECK(a.messages == std::vector<std::string>{"whole"});
    CHECK(a.last_why() == net_errc::connection_lost);
    CHECK(a.ended == 0);
  });
}

TEST_CASE("streams: bytes that the other end has sent before its end are received before that") {
  io_threads io;
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
  {
    bare_socket here = bare_socket::connected(door->local().port());
    std::string all;
    for (std::size_t i = 0; i < 10'000; ++i) all += framed(numbered(i));
    here.write(all);
  }
  REQUIRE(there->wait_for(kind::disconnected));
  CHECK(there->look([](const notes::all& a) { return a.count; }) == 10'000);
}

TEST_CASE(
    "streams: bytes before a reset are received, also by a writer that learns of it in writing") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here));
  bare_socket there = door.accept();
  REQUIRE(here->wait_for(kind::connected));
  while (visit(*peer, [](stream_session&) {}) != visit_result::made) std::this_thread::yield();
  std::promise<void> held, go;
  auto going = go.get_future();
  io.post(0, [&] {
    held.set_value();
    going.wait();
  });
  held.get_future().wait();
  there.write(framed("last words"));
  there.reset();
  CHECK(send(*peer, "too late") == visit_result::made);
  go.set_value();
  REQUIRE(here->wait_for(kind::disconnected));
  here->look([](const notes::all& a) {
    CHECK(a.messages == std::vector<std::string>{"last words"});
    CHECK(a.last_why() == net_errc::connection_lost);
  });
}

TEST_CASE("streams: no listener, no such name and no answer are told apart by their words") {
  io_threads io;
  const auto outcome = [&](const endpoint& to, const transport_settings& s = {}) {
    const auto here = std::make_shared<notes>();
    auto peer = connect(io, to, opening(here), s);
    REQUIRE(peer);
    REQUIRE(here->wait_for(kind::disconnected));
    const base::error why = here->look([](const notes::all& a) {
      CHECK(a.events.size() == 1);
      return a.last_why();
    });
    CHECK(why == net_errc::unreachable);
    return std::string(why.detail());
  };
  const std::uint16_t port = bare_socket::listening().port();
  const std::string nobody = "tcp://127.0.0.1:" + std::to_string(port);
  CHECK(outcome(at(nobody)) == nobody + ": Connection refused");
  CHECK(outcome(at("unix:///nowhere/socket")) ==
        "unix:///nowhere/socket: No such file or directory");
  CHECK(outcome(at("tcp://nobody.invalid:1")).starts_with("tcp://nobody.invalid:1: "));
  // A full queue of newcomers drops requests for a connection.
  const bare_socket full = bare_socket::listening(0);
  const bare_socket first = bare_socket::connected(full.port());
  const std::string silent = "tcp://127.0.0.1:" + std::to_string(full.port());
  CHECK(outcome(at(silent), {.attempt_limit = base::duration::milliseconds(50)}) ==
        silent + ": no answer in time");
}

TEST_CASE("streams: a name is looked up, and each of its addresses is tried") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  const auto there = std::make_shared<notes>();
  auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(there));
  const std::string port = std::to_string(door->local().port());
  auto peer = connect(io, at("tcp://localhost:" + port), opening(here));
  REQUIRE(here->wait_for(kind::connected));
  send(*peer, "by name");
  CHECK(there->wait_for_messages(1));
  auto named = listen(io, at("tcp://localhost:0"), accepting(there));
  REQUIRE(named);
  CHECK(named->local().port() != 0);
}

TEST_CASE("streams: a socket that meets itself has no peer") {
  io_threads io;
  const std::uint16_t port = bare_socket::listening().port();
  const endpoint itself = at("tcp://127.0.0.1:" + std::to_string(port));
  const auto here = std::make_shared<notes>();
  auto peer = connect(io, itself, opening(here), {.from = itself});
  REQUIRE(here->wait_for(kind::disconnected));
  here->look([](const notes::all& a) {
    CHECK(a.seen(kind::connected) == 0);
    CHECK(a.last_why() == net_errc::unreachable);
  });
}

TEST_CASE("streams: a process may connect to itself, on one I/O thread, too") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  const auto there = std::make_shared<notes>();
  auto door =
      listen(io, at("tcp://127.0.0.1:0"),
             accepting(there, [](stream_session& s, incoming m) { REQUIRE(!s.send(m.bytes)); }));
  auto peer = connect(io, door->local(), opening(here));
  REQUIRE(here->wait_for(kind::connected));
  for (int i = 0; i < 100; ++i) send(*peer, "echo");
  CHECK(here->wait_for_messages(100));
}

TEST_CASE("streams: a link opens again when it asks, and a new connection is a new beginning") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())),
                      [here](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
                        auto s = std::make_unique<stream_session>(below, self, here);
                        s->on_event_ = [](stream_session& v, const link_event& e) {
                          if (e.what == kind::disconnected) v.below().reopen();
                        };
                        return s;
                      });
  for (std::size_t i = 1; i <= 20; ++i) {
    bare_socket there = door.accept();
    REQUIRE(here->wait_for(kind::connected, i));
    there.write(framed(numbered(i)) + framed("half").substr(0, 6));
    REQUIRE(here->wait_for_messages(i));
    if (i % 2 == 0) there.reset();
  }
  here->look([](const notes::all& a) {
    for (std::size_t i = 0; i < 20; ++i) CHECK(a.messages[i] == numbered(i + 1));
  });
  CHECK(peer->counters().connects >= 20);
}

TEST_CASE("streams: bytes of an earlier connection are not heard by the next one") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  std::promise<void> go;
  auto going = go.get_future();
  auto peer =
      connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())),
              [&](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
                // The thread is stopped when the link has begun to connect.
                io.post(0, [&] { going.wait(); });
                auto s = std::make_unique<stream_session>(below, self, here);
                s->on_event_ = [first = true](stream_session& v, const link_event& e) mutable {
                  if (e.what == kind::connected && std::exchange(first, false)) v.below().reopen();
                };
                return s;
              });
  const bare_socket first = door.accept();
  first.write(framed("to the first"));
  go.set_value();  // these bytes are there when the link is told that it is connected
  const bare_socket second = door.accept();
  REQUIRE(here->wait_for(kind::connected, 2));
  second.write(framed("to the second"));
  REQUIRE(here->wait_for_messages(1));
  here->look(
      [](const notes::all& a) { CHECK(a.messages == std::vector<std::string>{"to the second"}); });
}

TEST_CASE("streams: an attempt's time is over when it was answered") {
  constexpr base::duration limit = base::duration::milliseconds(50);
  io_threads io({.threads = 2});
  const auto here = std::make_shared<notes>();
  const auto there = std::make_shared<notes>();
  auto door =
      listen(io, at("tcp://127.0.0.1:0"),
             accepting(there, [](stream_session& s, incoming m) { REQUIRE(!s.send(m.bytes)); }),
             {.thread = 0});
  auto peer = connect(io, door->local(),
                      [here](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
                        auto s = std::make_unique<stream_session>(below, self, here);
                        s->on_event_ = [](stream_session& v, const link_event& e) {
                          if (e.what == kind::disconnected) v.below().reopen();
                        };
                        return s;
                      },
                      {.thread = 1, .attempt_limit = limit});
  REQUIRE(here->wait_for(kind::connected));
  // A busy machine may have needed several.
  const auto lost = [](const notes::all& a) { return a.seen(kind::disconnected); };
  const std::size_t before = here->look(lost);
  const base::instant until = base::real_clock().now() + limit * 2;
  for (std::size_t i = 1; base::real_clock().now() < until; ++i) {
    send(*peer, "still there?");
    REQUIRE(here->wait_for_messages(i));
  }
  CHECK(here->look(lost) == before);
}

TEST_CASE("streams: a connection that is said to be broken is replaced without a word") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here));
  const bare_socket first = door.accept();
  REQUIRE(here->wait_for(kind::connected));
  visit(*peer, [](stream_session& s) { s.below().reopen(); });
  const bare_socket second = door.accept();
  REQUIRE(here->wait_for(kind::connected, 2));
  CHECK(first.read(1).empty());
  send(*peer, "again");
  CHECK(second.read(9) == framed("again"));
  CHECK(here->look([](const notes::all& a) { return a.seen(kind::disconnected); }) == 0);
}

TEST_CASE("streams: messages taken before a close are still sent, then comes the end") {
  scratch_folder folder;
  for (const endpoint& where : all_streams(folder)) {
    io_threads io({.threads = 2});
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    auto door = listen(io, where, accepting(there), {.thread = 0});
    // The limit is so long that the end does not come from it.
    auto peer = connect(io, door->local(), opening(here),
                        {.thread = 1, .close_limit = base::duration::seconds(3600)});
    REQUIRE(here->wait_for(kind::connected));
    REQUIRE(there->wait_for(kind::connected));
    // The other end sends as well, so some bytes are read by no owner any more.
    send(there->self(), std::string(100'000, 'y'));
    visit(*peer, [](stream_session& s) {
      REQUIRE(!s.send(std::string(8u << 20, 'x')));
      s.net_link().leave(base::real_clock().now());
    });
    REQUIRE(there->wait_for_messages(1));
    REQUIRE(there->wait_for(kind::disconnected));
    CHECK(there->look([](const notes::all& a) { return a.messages[0].size(); }) == 8u << 20);
    REQUIRE(here->wait_for_end());
    here->look([](const notes::all& a) {
      CHECK(!a.why_ended);
      CHECK(a.seen(kind::down) == 1);
    });
    // The last call comes before visits are refused, so a visit may still be accepted and not made.
    while (visit(*peer, [](stream_session&) {}) != visit_result::over) std::this_thread::yield();
  }
}

TEST_CASE("streams: a closed link with a peer that reads nothing is forgotten after its time") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here),
                      {.close_limit = base::duration::milliseconds(20)});
  const bare_socket there = door.accept();
  REQUIRE(here->wait_for(kind::connected));
  const std::size_t all = 12u << 20;
  visit(*peer, [](stream_session& s) {
    REQUIRE(!s.send(std::string(all, 'x')));
    s.below().close();
  });
  REQUIRE(here->wait_for_end());
  // The thread's load falls to nothing when the socket is given up.
  wait_until([&] { return io.load(0) == 0; });
  CHECK(there.read(all).size() < all);
}

TEST_CASE("streams: a closed listener admits no peer, and leaves its connections alone") {
  scratch_folder folder;
  for (const endpoint& where : all_streams(folder)) {
    io_threads io;
    const auto here = std::make_shared<notes>();
    const auto there = std::make_shared<notes>();
    auto door = listen(io, where, accepting(there));
    auto peer = connect(io, door->local(), opening(here));
    REQUIRE(here->wait_for(kind::connected));
    REQUIRE(there->wait_for(kind::connected));
    door->close();
    const auto late = std::make_shared<notes>();
    auto too_late = connect(io, door->local(), opening(late));
    REQUIRE(late->wait_for(kind::disconnected));
    CHECK(late->look([](const notes::all& a) { return a.last_why(); }) == net_errc::unreachable);
    send(*peer, "still here");
    CHECK(there->wait_for_messages(1));
  }
}

TEST_CASE("streams: settings that name no thread and addresses of another kind are refused") {
  io_threads io;
  const auto here = std::make_shared<notes>();
  CHECK(connect(io, at("tcp://127.0.0.1:1"), opening(here), {.thread = 1}).error() ==
        base::errc::invalid_setting);
  CHECK(connect(io, at("tcp://127.0.0.1:1"), opening(here), {.from = at("udp://127.0.0.1:0")})
            .error() == base::errc::invalid_setting);
  CHECK(listen(io, at("tcp://127.0.0.1:0"), accepting(here), {.thread = 1}).error() ==
        base::errc::invalid_setting);
  const bare_socket taken = bare_socket::listening();
  CHECK(
      listen(io, at("tcp://127.0.0.1:" + std::to_string(taken.port())), accepting(here)).error() ==
      net_errc::address_in_use);
  CHECK(listen(io, at("tcp://nobody.invalid:1"), accepting(here)).error() == net_errc::unreachable);
}

}  // namespace streams_test
