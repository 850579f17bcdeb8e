// Visits, the time, and the end of links.
#include <garrick/net/transport/hosted.hpp>

#include <array>
#include <future>
#include <optional>
#include <stdexcept>

#include <support/held_thread.hpp>
#include <support/transports.hpp>

namespace hosted_test {

using namespace garrick;
using namespace garrick::tests;

namespace {

using kind = link_event::kind;

/// Two ends of one connection, each noted.
struct pair_of_ends {
  explicit pair_of_ends(std::size_t threads = 2, transport_settings s = {},
                        stream_session::on_message_function at_there = {})
      : io({.threads = threads}) {
    s.thread = threads - 1;
    door.emplace(*listen(io, at("tcp://127.0.0.1:0"), accepting(there, std::move(at_there)), s));
    s.thread = 0;
    peer = *connect(io, door->local(), opening(here), s);
    REQUIRE(here->wait_for(kind::connected));
    REQUIRE(there->wait_for(kind::connected));
  }
  std::shared_ptr<notes> here = std::make_shared<notes>();
  std::shared_ptr<notes> there = std::make_shared<notes>();
  io_threads io;
  std::optional<listener> door;
  connection peer;
};

/// A carried object without a stack. It says hello.
struct recorder final : hosted, carried {
  explicit recorder(carrier& below) : below_(below) {}
  carried& stack() override { return *this; }
  void connected(base::instant) override { below_.transmit(packet::copy_of(bytes_of("h"))); }
  void disconnected(const base::error&, base::instant) override { calls += 'd'; }
  void receive(std::span<const std::byte>, base::instant) override { calls += 'r'; }
  void carrier_writable(base::instant) override { calls += 'w'; }
  void path_changed(std::size_t, base::instant) override { calls += 'p'; }
  [[nodiscard]] base::instant deadline() const override { return deadline_; }
  void advance(base::instant now) override {
    CHECK(now >= deadline_);
    deadline_ = base::instant::never();
    calls += 'a';
    over.set_value(calls);
  }
  carrier& below_;
  base::instant deadline_ = base::instant::never();
  std::string calls;               ///< on the I/O thread
  std::promise<std::string> over;  ///< the calls up to `advance`
};

/// A visitor that stays in until it is let go. Requires that no other visit is on.
class visitor {
 public:
  explicit visitor(const connection& to) {
    while (visit(to, [](stream_session&) {}) != visit_result::made) std::this_thread::yield();
    thread_ = std::thread([this, to] {
      visit(to, [this](stream_session&) {
        in_.set_value();
        go_.get_future().wait();
      });
    });
    in_.get_future().wait();
  }
  ~visitor() { leave(); }
  void leave() {
    if (!thread_.joinable()) return;
    go_.set_value();
    thread_.join();
  }

 private:
  std::promise<void> in_, go_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("hosted: one visitor at a time is in, and visits of each thread keep their order") {
  pair_of_ends ends;
  constexpr std::size_t threads = 4;
  constexpr std::size_t visits = 5000;
  std::atomic<int> in{0};
  std::array<std::size_t, threads> next{};
  std::vector<std::thread> all;
  std::atomic<std::size_t> done{0};
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (std::size_t i = 0; i < visits; ++i) {
        const visit_result r = visit(ends.peer, [&, t, i](stream_session& s) {
          CHECK_MESSAGE(in.fetch_add(1) == 0, "two were in");
          CHECK_MESSAGE(std::exchange(next[t], i + 1) == i, "a visit was overtaken");
          if (i % 8 == 0) REQUIRE(!s.send("x"));
          in.fetch_sub(1);
          ++done;
        });
        REQUIRE((r == visit_result::made || r == visit_result::queued));
      }
    });
  for (std::thread& t : all) t.join();
  REQUIRE(ends.there->wait_for_messages(threads * visits / 8));
  wait_until([&] { return done == threads * visits; });
  for (const std::size_t n : next) CHECK(n == visits);
}

TEST_CASE("hosted: a visitor of an idle link writes to the socket himself") {
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const auto here = std::make_shared<notes>();
  auto peer = connect(io, at("tcp://127.0.0.1:" + std::to_string(door.port())), opening(here));
  const bare_socket there = door.accept();
  REQUIRE(here->wait_for(kind::connected));
  // The thread may still be in, to note that it is connected.
  while (visit(*peer, [](stream_session&) {}) != visit_result::made) std::this_thread::yield();
  const held_thread held(io);
  held.wait();
  CHECK(send(*peer, "direct") == visit_result::made);
  CHECK(there.read(10) == framed("direct"));
}

TEST_CASE("hosted: messages of one visit, and of a busy link's line, go out in few calls") {
  pair_of_ends ends;
  visit(ends.peer, [](stream_session& s) {
    for (int i = 0; i < 200; ++i) REQUIRE(!s.send("together"));
  });
  REQUIRE(ends.there->wait_for_messages(200));
  CHECK(ends.peer.counters().writes <= 1);
  {
    visitor somebody(ends.peer);
    for (int i = 0; i < 200; ++i) CHECK(send(ends.peer, "queued") == visit_result::queued);
  }
  REQUIRE(ends.there->wait_for_messages(400));
  CHECK(ends.peer.counters().writes <= 2);
}

TEST_CASE("hosted: no more visits wait than the settings allow") {
  pair_of_ends ends(2, {.most_waiting = 3});
  const visitor somebody(ends.peer);
  for (int i = 0; i < 3; ++i) CHECK(send(ends.peer, "queued") == visit_result::queued);
  CHECK(send(ends.peer, "too many") == visit_result::full);
}

TEST_CASE(
    "hosted: a message that comes back while the link is in a call waits until it has returned") {
  pair_of_ends ends(1, {}, [](stream_session& s, incoming m) { REQUIRE(!s.send(m.bytes)); });
  std::promise<visit_result> inner;
  visit(ends.peer, [&](stream_session& s) {
    inner.set_value(send(ends.peer, "inner"));
    REQUIRE(!s.send("outer"));
  });
  CHECK(inner.get_future().get() == visit_result::queued);
  REQUIRE(ends.here->wait_for_messages(2));
  ends.here->look(
      [](const notes::all& a) { CHECK(a.messages == std::vector<std::string>{"outer", "inner"}); });
}

TEST_CASE("hosted: a link that is closed in a callback ends once, on its I/O thread") {
  pair_of_ends ends(2, {}, [](stream_session& s, incoming) {
    s.net_link().leave(base::real_clock().now());
    s.below().close();
    CHECK(s.send("refused") == net_errc::peer_down);
  });
  visit(ends.peer, [](stream_session& s) {
    for (int i = 0; i < 10; ++i) REQUIRE(!s.send("x"));
  });
  REQUIRE(ends.there->wait_for_end());
  REQUIRE(ends.here->wait_for(kind::disconnected));
  ends.there->look([](const notes::all& a) {
    CHECK(a.ended == 1);
    CHECK(a.count == 1);
    CHECK(!a.why_ended);
  });
  ends.io.stop();
  ends.there->look([](const notes::all& a) { CHECK(a.made_on == a.ended_on); });
  CHECK(ends.there->self().is_over());
}

TEST_CASE("hosted: a link may be closed while its I/O thread calls it, from any thread") {
  for (int round = 0; round < 50; ++round) {
    pair_of_ends ends(2, {.most_waiting = 100},
                      [](stream_session& s, incoming m) { std::ignore = s.send(m.bytes); });
    std::atomic<bool> over{false};
    std::thread other([&] {
      while (!over) visit(ends.peer, [](stream_session& s) { std::ignore = s.send("x"); });
    });
    REQUIRE(ends.here->wait_for_messages(20));
    while (visit(ends.peer, [](stream_session& s) {
             s.net_link().leave(base::real_clock().now());
           }) == visit_result::full)
      std::this_thread::yield();
    CHECK(ends.here->wait_for_end());
    CHECK(ends.there->wait_for(kind::disconnected));
    over = true;
    other.join();
    CHECK(ends.here->look([](const notes::all& a) { return a.ended; }) == 1);
  }
}

TEST_CASE("hosted: a function that throws in a call from below ends its link, with the words") {
  pair_of_ends ends(2, {}, [](stream_session&, incoming) { throw std::runtime_error("oops"); });
  send(ends.peer, "x");
  REQUIRE(ends.there->wait_for_end());
  ends.there->look([](const notes::all& a) {
    CHECK(a.why_ended == net_errc::owner_failed);
    CHECK(a.why_ended.detail() == "oops");
  });
  REQUIRE(ends.here->wait_for(kind::disconnected));
  // A visitor's exception leaves its own call, and the link stays.
  while (visit(ends.peer, [](stream_session&) {}) != visit_result::made) std::this_thread::yield();
  CHECK_THROWS(visit(ends.peer, [](stream_session&) { throw std::runtime_error("mine"); }));
  CHECK(!ends.peer.is_over());
  CHECK(visit(ends.peer, [](stream_session&) {}) != visit_result::over);
}

TEST_CASE("hosted: an object that cannot be made is a link that is over") {
  io_threads io;
  auto nothing = connect(io, at("tcp://127.0.0.1:1"),
                         [](carrier&, const connection&) { return std::unique_ptr<hosted>(); });
  auto thrown = connect(io, at("tcp://127.0.0.1:1"),
                        [](carrier&, const connection&) -> std::unique_ptr<hosted> {
                          throw std::runtime_error("no");
                        });
  REQUIRE(nothing);
  REQUIRE(thrown);
  io.stop();
  CHECK(nothing->is_over());
  CHECK(thrown->is_over());
  CHECK(connection().is_over());
  CHECK(connection().run([](hosted&) {}) == visit_result::over);
}

TEST_CASE("hosted: a link that was closed while it was made hears nothing but its end") {
  const std::shared_ptr<notes> all[] = {std::make_shared<notes>(), std::make_shared<notes>()};
  const auto closed = [](const std::shared_ptr<notes>& n) {
    return [n](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
      auto made = std::make_unique<stream_session>(below, self, n);
      below.close();
      return made;
    };
  };
  const bare_socket door = bare_socket::listening();
  io_threads io;
  const std::string port = std::to_string(door.port());
  REQUIRE(connect(io, at("tcp://127.0.0.1:" + port), closed(all[0])));
  REQUIRE(connect(io, at("udp://127.0.0.1:" + port), closed(all[1])));
  for (const auto& n : all) {
    REQUIRE(n->wait_for_end());
    n->look([](const notes::all& a) { CHECK(a.events.empty()); });
  }
}

TEST_CASE("hosted: when the I/O threads stop, all links end, and visits that wait are not made") {
  for (int round = 0; round < 50; ++round) {
    pair_of_ends ends(2, {.most_waiting = 100});
    const auto lost = std::make_shared<int>(0);
    std::atomic<bool> stopped{false};
    std::thread other([&] {
      while (!ends.peer.is_over())
        visit(ends.peer, [lost](stream_session& s) { std::ignore = s.send("x"); });
      stopped = true;
    });
    REQUIRE(ends.there->wait_for_messages(10));
    ends.io.stop();
    other.join();
    CHECK(stopped);
    CHECK(lost.use_count() == 1);
    for (const auto& end : {ends.here, ends.there})
      end->look([](const notes::all& a) {
        CHECK(a.ended == 1);
        CHECK(a.why_ended == base::errc::shutting_down);
        CHECK(a.ended_on == a.made_on);
      });
    CHECK(send(ends.peer, "late") == visit_result::over);
    CHECK(!ends.io.post(0, [] {}));
    CHECK(connect(ends.io, ends.door->local(), opening(ends.here)).error() ==
          base::errc::shutting_down);
    CHECK(listen(ends.io, at("tcp://127.0.0.1:0"), accepting(ends.here)).error() ==
          base::errc::shutting_down);
  }
}

TEST_CASE("hosted: the I/O threads may be stopped by several threads at once") {
  for (int round = 0; round < 50; ++round) {
    io_threads io({.threads = 2});
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i)
      all.emplace_back([&] {
        io.stop();
        CHECK(!io.post(0, [] {}));
      });
    for (std::thread& t : all) t.join();
  }
}

TEST_CASE("hosted: the I/O threads stop in every state of a link") {
  const bare_socket full = bare_socket::listening(0);
  const bare_socket first = bare_socket::connected(full.port());
  const bare_socket idle = bare_socket::listening();
  const auto here = std::make_shared<notes>();
  {
    io_threads io({.threads = 3});
    const auto begin = [&](const std::string& to) {
      auto peer = connect(io, at(to), opening(here));
      REQUIRE(peer);
      return *peer;
    };
    begin("tcp://127.0.0.1:" + std::to_string(full.port()));  // connecting
    begin("tcp://localhost:" + std::to_string(idle.port()));  // looking up, or connected
    begin("udp://localhost:" + std::to_string(idle.port()));
    begin("udp://127.0.0.1:" + std::to_string(idle.port()));
    begin("tcp://127.0.0.1:1");  // refused
    const connection blocked = begin("tcp://127.0.0.1:" + std::to_string(idle.port()));
    visit(blocked, [](stream_session& s) { std::ignore = s.send(std::string(8u << 20, 'x')); });
    const connection closing = begin("tcp://127.0.0.1:" + std::to_string(idle.port()));
    visit(closing, [](stream_session& s) {
      std::ignore = s.send(std::string(8u << 20, 'x'));
      s.below().close();
    });
    auto door = listen(io, at("tcp://127.0.0.1:0"), accepting(here));
    const bare_socket knocks = bare_socket::connected(door->local().port());
    auto datagram_door = listen(io, at("udp://127.0.0.1:0"), accepting<datagram_session>(here));
    const bare_socket sends = bare_socket::connected(datagram_door->local().port(), SOCK_DGRAM);
    sends.write("x");
  }
  here->look([](const notes::all& a) { CHECK(a.ended >= 7); });
}

TEST_CASE("hosted: bytes that have come are fed before the time, however long the thread stood") {
  recorder* r = nullptr;
  connection peer;
  std::promise<void> made;
  const auto make = [&](carrier& below, const connection& self) -> std::unique_ptr<hosted> {
    auto one = std::make_unique<recorder>(below);
    r = one.get();
    peer = self;
    made.set_value();
    return one;
  };
  const auto policy = accept_each(
      [&](const arrival&, carrier& c, const connection& self) { return make(c, self); });
  io_threads io;
  std::optional<listener> door;
  std::optional<bare_socket> there;
  std::string before;
  SUBCASE("of a stream") {
    door.emplace(*listen(io, at("tcp://127.0.0.1:0"), policy));
    there.emplace(bare_socket::connected(door->local().port()));
  }
  SUBCASE("of one of many peers") {
    door.emplace(*listen(io, at("udp://127.0.0.1:0"), policy));
    there.emplace(bare_socket::connected(door->local().port(), SOCK_DGRAM));
    there->write("hello");
    before = "r";
  }
  SUBCASE("of a socket of its own") {
    there.emplace(bare_socket::listening(0, SOCK_DGRAM));
    REQUIRE(connect(io, at("udp://127.0.0.1:" + std::to_string(there->port())), make));
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    char hello = 0;
    REQUIRE(::recvfrom(there->fd(), &hello, 1, 0, reinterpret_cast<sockaddr*>(&from), &size) == 1);
    REQUIRE(::connect(there->fd(), reinterpret_cast<const sockaddr*>(&from), size) == 0);
  }
  made.get_future().wait();
  const auto in_time = [&](base::duration from_now) {
    std::promise<base::instant> set;
    std::future<std::string> over;
    peer.run([&](hosted&) {
      r->calls = before;
      r->over = {};
      over = r->over.get_future();
      r->deadline_ = base::real_clock().now() + from_now;
      set.set_value(r->deadline_);
    });
    const base::instant deadline = set.get_future().get();
    // While it is held, its timer expires, and it looks for events between the two. Then the bytes
    // come: it has seen the timer, but not the bytes.
    held_thread first(io);
    first.wait();
    const bool is_held = base::real_clock().now() < deadline;
    while (base::real_clock().now() < deadline) std::this_thread::yield();
    held_thread second(io);
    first.let_go();
    second.wait();
    if (is_held) there->write("in time");
    second.let_go();
    CHECK(over.get() == before + (is_held ? "ra" : "a"));
    return is_held;
  };
  // On a busy machine the time may be over before the thread is held.
  base::duration from_now = base::duration::milliseconds(5);
  while (!in_time(from_now)) from_now = from_now * 4;
}

TEST_CASE("hosted: a visitor may set the time, and each time is told") {
  /// Is due three times, in steps of a millisecond.
  struct clock_watcher final : hosted, carried {
    carried& stack() override { return *this; }
    void connected(base::instant) override {}
    void disconnected(const base::error&, base::instant) override {}
    void receive(std::span<const std::byte>, base::instant) override {}
    void carrier_writable(base::instant) override {}
    void path_changed(std::size_t, base::instant) override {}
    [[nodiscard]] base::instant deadline() const override { return due; }
    void advance(base::instant now) override {
      if (++told != 3) {
        due = now + base::duration::milliseconds(1);
      } else {
        due = base::instant::never();
        over.set_value();
      }
    }
    base::instant due = base::instant::never();
    int told = 0;
    std::promise<void> over;
  };
  const bare_socket there = bare_socket::listening(0, SOCK_DGRAM);
  io_threads io;
  std::future<void> over;
  auto peer = connect(io, at("udp://127.0.0.1:" + std::to_string(there.port())),
                      [&](carrier&, const connection&) -> std::unique_ptr<hosted> {
                        auto made = std::make_unique<clock_watcher>();
                        over = made->over.get_future();
                        return made;
                      });
  while (peer->run([](hosted&) {}) != visit_result::made) std::this_thread::yield();
  // No visitor is in any more, so this visit is made here.
  REQUIRE(peer->run([](hosted& h) {
    static_cast<clock_watcher&>(h).due = base::real_clock().now();
  }) == visit_result::made);
  over.get();
}

TEST_CASE("hosted: a visit that comes at the end is dropped with the link, not with its name") {
  struct last_caller final : hosted, carried {
    last_caller(carrier& c, connection s, std::shared_ptr<int> k, std::promise<visit_result>& r)
        : below(c), self(std::move(s)), kept(std::move(k)), result(r) {}
    carried& stack() override { return *this; }
    void ended(const base::error&) noexcept override {
      result.set_value(self.run([k = std::move(kept)](hosted&) { FAIL("it was made"); }));
    }
    void connected(base::instant) override { below.close(); }
    void disconnected(const base::error&, base::instant) override {}
    void receive(std::span<const std::byte>, base::instant) override {}
    void carrier_writable(base::instant) override {}
    void path_changed(std::size_t, base::instant) override {}
    [[nodiscard]] base::instant deadline() const override { return base::instant::never(); }
    void advance(base::instant) override {}
    carrier& below;
    connection self;
    std::shared_ptr<int> kept;
    std::promise<visit_result>& result;
  };
  const bare_socket there = bare_socket::listening(0, SOCK_DGRAM);
  const auto kept = std::make_shared<int>(0);
  std::promise<visit_result> result;
  io_threads io;
  auto peer = connect(io, at("udp://127.0.0.1:" + std::to_string(there.port())),
                      [&](carrier& c, const connection& self) -> std::unique_ptr<hosted> {
                        return std::make_unique<last_caller>(c, self, kept, result);
                      });
  CHECK(result.get_future().get() == visit_result::queued);
  io.stop();
  CHECK(peer->is_over());
  CHECK(kept.use_count() == 1);
}

TEST_CASE("hosted: a link lives on the I/O thread that has the fewest") {
  const bare_socket there = bare_socket::listening(0, SOCK_DGRAM);
  const endpoint to = at("udp://127.0.0.1:" + std::to_string(there.port()));
  const auto here = std::make_shared<notes>();
  io_threads io({.threads = 2});
  for (int i = 0; i < 5; ++i)
    REQUIRE(connect(io, to, opening<datagram_session>(here), {.thread = 0}));
  for (int i = 0; i < 5; ++i) REQUIRE(connect(io, to, opening<datagram_session>(here)));
  CHECK(io.load(0) == 5);
  CHECK(io.load(1) == 5);
}

TEST_CASE(
    "hosted: a stack that closes its link in a message's call gets nothing more of that read") {
  for (const bool leaves : {false, true}) {
    CAPTURE(leaves);
    io_threads io;
    const auto there = std::make_shared<notes>();
    auto door =
        listen(io, at("tcp://127.0.0.1:0"), accepting(there, [leaves](stream_session& s, incoming) {
                 CHECK(!s.send("a"));
                 CHECK(!s.send("b"));
                 if (leaves)
                   s.net_link().leave(base::real_clock().now());
                 else
                   s.below().close();
               }));
    const bare_socket here = bare_socket::connected(door->local().port());
    here.write(framed("one") + framed("two") + framed("three"));
    CHECK(here.read(100) == (leaves ? framed("a") + framed("b") : ""));
    REQUIRE(there->wait_for_end());
    CHECK(there->look([](const notes::all& a) { return a.count; }) == 1);
  }
}

TEST_CASE("hosted: I/O threads may be stopped by several at once, and all wait for the end") {
  for (int round = 0; round < 50; ++round) {
    io_threads io({.threads = 2});
    held_thread busy(io);
    busy.wait();
    std::atomic<int> stopping{0};
    const auto stop = [&] {
      ++stopping;
      io.stop();
      CHECK_FALSE(io.post(0, [] {}));
    };
    std::thread a(stop), b(stop), c(stop);
    while (stopping != 3) std::this_thread::yield();
    std::this_thread::yield();
    busy.let_go();
    a.join();
    b.join();
    c.join();
  }
}

TEST_CASE("hosted: one packet that is sent twice in a visit comes twice, with its own headers") {
  pair_of_ends ends;
  visit(ends.peer, [](stream_session& s) {
    packet p = packet::copy_of(bytes_of("one packet"), 64);
    packet headed = p.share();
    *headed.prepend(1) = std::byte{'>'};
    packet second = p.share();
    const base::instant now = base::real_clock().now();
    REQUIRE(!s.net_link().send({std::move(headed)}, now));
    REQUIRE(!s.net_link().send({std::move(p)}, now));
    REQUIRE(!s.net_link().send({std::move(second)}, now));
  });
  REQUIRE(ends.there->wait_for_messages(3));
  CHECK(ends.there->look([](const notes::all& a) { return a.messages; }) ==
        std::vector<std::string>{">one packet", "one packet", "one packet"});
}

}  // namespace hosted_test
