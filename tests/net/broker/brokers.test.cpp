// Brokers over real sockets, with bare sockets at the other end.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <sys/resource.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "served.hpp"

namespace brokers_test {

using namespace broker_test;

TEST_CASE("brokers: an echo server sends all bytes back, on an I/O thread and on workers") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    served s(on_workers);
    std::vector<bare_socket> all;
    for (int i = 0; i < 8; ++i) all.push_back(s.call());
    for (int round = 0; round < 20; ++round)
      for (const bare_socket& c : all) {
        c.write("round " + std::to_string(round % 10));
        CHECK(c.read(7) == "round " + std::to_string(round % 10));
      }
    CHECK(s.t.opened == 8);
  }
}

TEST_CASE(
    "brokers: while the system takes all bytes at once, no broker hears that it may write again") {
  socket_settings small = greedy;
  small.transport.high_water = 10;
  small.transport.low_water = 5;
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    served s(on_workers, small);
    const bare_socket c = s.call();
    for (int i = 0; i < 20; ++i) {
      c.write(std::string(1000, 'x'));
      CHECK(c.read(1000).size() == 1000);
    }
    CHECK(s.t.writable == 0);
  }
}

TEST_CASE("brokers: a Unix domain socket is served as TCP is") {
  char folder[] = "/tmp/garrick-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/s";
  {
    served s(false, greedy, "unix://" + path);
    bare_socket c(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
    REQUIRE(::connect(c.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
    c.write("local");
    CHECK(c.read(5) == "local");
  }
  CHECK(::rmdir(folder) == 0);
}

TEST_CASE("brokers: a peer that ends its direction is answered before the connection is closed") {
  served s(false, {.read = receive_policy::exactly(4)});
  const bare_socket c = s.call();
  c.write("123456");
  CHECK(c.read(4) == "1234");
  REQUIRE(::shutdown(c.fd(), SHUT_WR) == 0);
  CHECK(c.read(100) == "bye");
  wait_until([&] { return s.t.closed == 1; });
  CHECK(s.t.half);
  CHECK(s.t.unread == 2);
}

TEST_CASE("brokers: a reset is told once, and others go on") {
  served s;
  bare_socket c = s.call();
  const bare_socket other = s.call();
  c.write("x");
  CHECK(c.read(1) == "x");
  c.reset();
  wait_until([&] { return s.t.closed == 1; });
  CHECK_FALSE(s.t.half);
  other.write("y");
  CHECK(other.read(1) == "y");
  CHECK(s.t.closed == 1);
}

TEST_CASE("brokers: a broker that holds its blocks slows its peer, and loses nothing") {
  served s(true, {.read = receive_policy::at_most(4096), .block_size = 4096, .blocks = 2});
  send(s.server, hold{true});
  const bare_socket c = s.call();
  REQUIRE(::fcntl(c.fd(), F_SETFL, O_NONBLOCK) == 0);
  const std::string much(65536, 'm');
  std::size_t sent = 0;
  // The peer cannot send for ever: the system holds a few megabytes for two sockets.
  for (;;) {
    const ssize_t n = ::send(c.fd(), much.data(), much.size(), MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
      REQUIRE(sent < (std::size_t{64} << 20));
    } else if (s.t.bytes >= 8192) {
      break;
    }
  }
  CHECK(s.t.bytes == 8192);
  send(s.server, hold{false});
  REQUIRE(::fcntl(c.fd(), F_SETFL, 0) == 0);
  for (std::size_t back = 8192; back < sent;) {
    const std::string got = c.read(std::min<std::size_t>(sent - back, 65536));
    REQUIRE_FALSE(got.empty());
    back += got.size();
  }
  CHECK(s.t.bytes == sent);
}

/// Writes to every client until it is told not to.
class flood : public broker<> {
 public:
  flood(broker_place p, tally& t, std::atomic<int>& port) : broker(p), t_(t) {
    socket_settings s;
    s.transport.high_water = 1 << 16;
    s.transport.low_water = 1 << 12;
    s.transport.most_queued = 1 << 18;
    port = io().local(io().listen("tcp://127.0.0.1:0", s).value()).port();
  }
  using broker::on;
  void on(const new_connection& n) {
    const std::string much(1 << 14, 'f');
    for (;;) {
      const auto done = io().write(n.connection, much);
      if (!done) {
        t_.half = done.error() == net_errc::overload;
        break;
      }
      t_.bytes += much.size();
    }
    CHECK(io().write(n.connection, std::string(1 << 19, 'f')).error() == net_errc::too_large);
    t_.opened = 1;
  }
  void on(const writable_again& w) {
    // The system may have taken more meanwhile, and then the broker has filled that room as well.
    if (!io().writable(w.connection) || t_.writable != 0) return;
    // Bytes on their way from the line to the queue count twice for a moment, so this write may be
    // too much at first; then another message comes.
    if (const auto done = io().write(w.connection, "last"); !done) {
      CHECK(done.error() == net_errc::overload);
      return;
    }
    ++t_.writable;
    t_.bytes += 4;
    io().close(w.connection).value();
    CHECK(io().write(w.connection, "late").error() == net_errc::connection_lost);
  }

 private:
  tally& t_;
};

TEST_CASE("brokers: a slow reader is told to the broker, at the limit nothing is taken") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    tally t;
    std::atomic<int> port{0};
    broker_threads threads;
    actor_system system(quiet());
    const any_ref server(on_workers
                             ? system.spawn<flood>(broker_place(threads), lent(t), lent(port))
                             : threads.spawn<flood>(system, lent(t), lent(port)));
    const bare_socket c = bare_socket::connected(static_cast<std::uint16_t>(port));
    wait_until([&] { return t.opened == 1; });
    CHECK(t.half);
    std::size_t got = 0;
    std::string last;
    for (;;) {
      std::string some = c.read(10000);
      if (some.empty()) break;
      got += some.size();
      last = std::move(some);
    }
    CHECK(got == t.bytes);
    CHECK(last.ends_with("last"));
    CHECK(t.writable == 1);
  }
}

/// Writes much at once to each connection, but less than high water.
class generous : public broker<std::string(where)> {
 public:
  static constexpr std::size_t piece = 300 << 10;
  static constexpr int pieces = 3;
  generous(broker_place p, tally& t) : broker(p), t_(t) {
    door_ = io().listen("tcp://127.0.0.1:0", greedy).value();
  }
  using broker::on;
  std::string on(where) { return io().local(door_).to_string(); }
  void on(const new_connection& n) {
    for (int i = 0; i < pieces; ++i) {
      io().write(n.connection, std::string(piece, 'g')).value();
      CHECK(io().writable(n.connection));
    }
  }
  void on(const new_data& d) {
    CHECK(io().writable(d.connection));
    io().write(d.connection, d.bytes.bytes()).value();
  }
  void on(const writable_again&) { ++t_.writable; }

 private:
  tally& t_;
  acceptor_handle door_;
};

TEST_CASE("brokers: below high water no peer is a slow reader, however much is written at once") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    tally t;
    broker_threads threads;
    actor_system system(quiet());
    const auto server = on_workers ? system.spawn<generous>(broker_place(threads), lent(t))
                                   : threads.spawn<generous>(system, lent(t));
    const bare_socket c =
        bare_socket::connected(at(system.request(server, where{}).get().value()).port());
    constexpr std::size_t all = generous::piece * generous::pieces;
    REQUIRE(c.read(all).size() == all);
    c.write("and?");  // the I/O thread's earlier events come before this
    CHECK(c.read(4) == "and?");
    CHECK(t.writable == 0);
  }
}

/// Says goodbye, and closes.
class leaves : public broker<std::string(where)> {
 public:
  leaves(broker_place p, tally& t) : broker(p), t_(t) {
    door_ = io().listen("tcp://127.0.0.1:0", greedy).value();
  }
  using broker::on;
  std::string on(where) { return io().local(door_).to_string(); }
  void on(const new_connection& n) {
    io().put(n.connection, "good").value();
    io().put(n.connection, "bye").value();
    io().close(n.connection).value();
    CHECK(io().close(n.connection).error() == net_errc::connection_lost);
    CHECK(io().read(n.connection, receive_policy::at_most(1)).error() == net_errc::connection_lost);
  }
  void on(const connection_closed&) { ++t_.closed; }

 private:
  tally& t_;
  acceptor_handle door_;
};

TEST_CASE("brokers: gathered bytes are sent at a close, and then nothing more is told") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    tally t;
    broker_threads threads;
    actor_system system(quiet());
    const auto server = on_workers ? system.spawn<leaves>(broker_place(threads), lent(t))
                                   : threads.spawn<leaves>(system, lent(t));
    const endpoint there = at(system.request(server, where{}).get().value());
    for (int i = 0; i < 5; ++i) {
      const bare_socket c = bare_socket::connected(there.port());
      CHECK(c.read(100) == "goodbye");
    }
    wait_until([&] { return threads.io().load(0) == 1; });
    // The I/O thread's earlier events come before this answer.
    CHECK(system.request(server, where{}).get());
    CHECK(t.closed == 0);
  }
}

TEST_CASE("brokers: all is closed when a broker ends, or its system does") {
  served s;
  std::vector<bare_socket> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(s.call());
    all.back().write("a");
    CHECK(all.back().read(1) == "a");
  }
  s.system.exit(s.server, exit_code::user_shutdown);
  for (const bare_socket& c : all) CHECK(c.read(1).empty());
  wait_until([&] { return s.t.ended == 1; });
  const bare_socket late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = bare_socket::loopback(s.at_.port());
  wait_until([&] {
    return ::connect(late.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0;
  });
  wait_until([&] { return s.threads.io().load(0) + s.threads.io().load(1) == 0; });

  std::unique_ptr<bare_socket> open;
  {
    served other;
    open = std::make_unique<bare_socket>(other.call());
    open->write("b");
    CHECK(open->read(1) == "b");
  }
  CHECK(open->read(1).empty());
}

TEST_CASE("brokers: a closed acceptor admits no connection, and its connections stay") {
  served s;
  const bare_socket c = s.call();
  c.write("1");
  CHECK(c.read(1) == "1");
  send(s.server, shut{});
  wait_until([&] { return s.t.acceptors_closed == 1; });
  c.write("2");
  CHECK(c.read(1) == "2");
}

struct outcome {
  std::string text;
};
struct go {
  std::string to;
};
/// Connects, and tells the result.
class caller : public broker<result<std::string>(go), result<std::string>(std::string)> {
 public:
  explicit caller(broker_place p) : broker(p) {}
  using broker::on;
  result<std::string> on(const go& g) {
    const auto c = io().connect(g.to, {.read = receive_policy::exactly(5)});
    if (!c) return c.error();
    answer_ = make_promise<std::string>();
    return answer_;
  }
  result<std::string> on(const std::string& at) {
    const auto a = io().listen(at);
    if (!a) return a.error();
    return io().local(*a).to_string();
  }
  void on(const new_connection& n) {
    CHECK_FALSE(n.acceptor);
    io().put(n.connection, "he").value();
    io().put(n.connection, "llo").value();
    io().flush(n.connection).value();
  }
  void on(const new_data& d) { answer_.deliver(std::string(d.bytes.text())); }
  void on(const connection_closed& c) { answer_.fail(c.why); }

 private:
  response_promise<std::string> answer_;
};

TEST_CASE("brokers: to connect works, or says why not") {
  served s;
  const auto c = s.threads.spawn<caller>(s.system);
  CHECK(s.system.request(c, go{s.at_.to_string()}).get().value() == "hello");
  const bare_socket gone = bare_socket::listening();
  const std::string closed = "tcp://127.0.0.1:" + std::to_string(gone.port());
  REQUIRE(::shutdown(gone.fd(), SHUT_RDWR) == 0);
  CHECK(s.system.request(c, go{closed}).get().error() == net_errc::unreachable);
  CHECK(s.system.request(c, go{"nonsense"}).get().error() == net_errc::bad_endpoint);
  CHECK(s.system.request(c, go{"tcp://127.0.0.1:0"}).get().error() == net_errc::bad_endpoint);
  CHECK(s.system.request(c, go{"udp://127.0.0.1:1"}).get().error() == net_errc::bad_endpoint);
  CHECK(s.system.request(c, s.at_.to_string()).get().error() == net_errc::address_in_use);
}

struct take {
  connection_handle theirs;
};
/// Tries the forbidden calls.
class thief : public broker<int(take)> {
 public:
  explicit thief(broker_place p) : broker(p) {}
  using broker::on;
  int on(const take& t) {
    int refused = 0;
    refused += io().write(t.theirs, "mine").error() == net_errc::denied;
    refused += io().put(t.theirs, "mine").error() == net_errc::denied;
    refused += io().flush(t.theirs).error() == net_errc::denied;
    refused += io().close(t.theirs).error() == net_errc::denied;
    refused += io().read(t.theirs, receive_policy::exactly(1)).error() == net_errc::denied;
    refused += io().release(t.theirs).error() == net_errc::denied;
    refused += !io().writable(t.theirs);
    refused += io().write({}, "mine").error() == net_errc::denied;
    return refused;
  }
};
struct victim_known {
  connection_handle it;
};
class victim : public broker<> {
 public:
  victim(broker_place p, std::atomic<int>& port, ref<thief::protocol_type> t,
         std::atomic<int>& refused)
      : broker(p), t_(std::move(t)), refused_(refused) {
    port = io().local(io().listen("tcp://127.0.0.1:0").value()).port();
  }
  using broker::on;
  void on(const new_connection& n) {
    request(t_, take{n.connection}).then([this, c = n.connection](int refused) {
      io().write(c, "safe").value();
      refused_ = refused;
    });
  }

 private:
  ref<thief::protocol_type> t_;
  std::atomic<int>& refused_;
};

TEST_CASE("brokers: a handle that another broker has got is of no use to it") {
  broker_threads threads;
  std::atomic<int> port{0}, refused{0};
  actor_system system(quiet());
  const auto t = threads.spawn<thief>(system);
  const auto v = threads.spawn<victim>(system, lent(port), t, lent(refused));
  const bare_socket c = bare_socket::connected(static_cast<std::uint16_t>(port));
  CHECK(c.read(4) == "safe");
  wait_until([&] { return refused == 8; });
}

/// Serves one connection: a digit says how many bytes follow, which go back.
class session : public broker<> {
 public:
  session(bound_connection c, std::atomic<int>& ended) : broker(c.place()), ended_(ended) {
    const auto mine = io().adopt(std::move(c));
    io().read(mine, receive_policy::exactly(1).once()).value();
  }
  using broker::on;
  void on(const new_data& d) {
    is_header_ = !is_header_;
    if (!is_header_) {
      const auto n = static_cast<std::size_t>(d.bytes.text()[0] - '0');
      io().read(d.connection, receive_policy::exactly(n).once()).value();
    } else {
      io().write(d.connection, d.bytes.bytes()).value();
      io().read(d.connection, receive_policy::exactly(1).once()).value();
    }
  }
  void on(const connection_closed&) { quit(); }
  void on_exit(const exit_reason&) { ++ended_; }

 private:
  bool is_header_ = true;
  std::atomic<int>& ended_;
};
class forking : public broker<> {
 public:
  forking(broker_place p, std::atomic<int>& port, std::atomic<int>& ended)
      : broker(p), ended_(ended) {
    socket_settings s;
    s.spread = true;
    port = io().local(io().listen("tcp://127.0.0.1:0", s).value()).port();
  }
  using broker::on;
  void on(const new_connection& n) {
    CHECK(fork<session>(n.connection, lent(ended_)));
    CHECK(io().write(n.connection, "not mine").error() == net_errc::denied);
  }
  void on(const new_data&) { FAIL("a forked connection is its session's"); }

 private:
  std::atomic<int>& ended_;
};

TEST_CASE("brokers: each connection is given to a broker of its own, and nothing of it is lost") {
  broker_threads threads({.threads = 2});
  std::atomic<int> port{0}, ended{0};
  actor_system system(quiet());
  const any_ref server(threads.spawn<forking>(system, lent(port), lent(ended)));
  std::vector<bare_socket> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(bare_socket::connected(static_cast<std::uint16_t>(port)));
    all.back().write("1a3bcd2");  // before the process is forked
  }
  for (const bare_socket& c : all) c.write("ef");
  for (const bare_socket& c : all) CHECK(c.read(6) == "abcdef");
  all.clear();
  wait_until([&] { return ended == 50; });
}

class datagrams_back : public broker<> {
 public:
  datagrams_back(broker_place p, std::atomic<int>& port, tally& t) : broker(p), t_(t) {
    socket_ = io().bind("udp://127.0.0.1:0", {.most_messages = 4}).value();
    port = io().local(socket_).port();
  }
  using broker::on;
  void on(const new_datagram& d) {
    CHECK(d.socket == socket_);
    const auto done = io().send_to(d.socket, d.from, d.bytes.bytes());
    const error no = io().send_to(d.socket, d.from, std::vector<std::byte>(70000)).error();
    CHECK(no == net_errc::too_large);
    CHECK_MESSAGE(no.to_string().find("70000 bytes") != std::string::npos, no.to_string());
    CHECK(done);
    if (d.bytes.text() == "end") {
      io().close(socket_).value();
      CHECK(io().send_to(d.socket, d.from, d.bytes.bytes()).error() == net_errc::connection_lost);
      ++t_.closed;
    }
  }

 private:
  tally& t_;
  datagram_handle socket_;
};

TEST_CASE("brokers: datagrams go back to their senders") {
  broker_threads threads;
  std::atomic<int> port{0};
  tally t;
  actor_system system(quiet());
  const any_ref server(threads.spawn<datagrams_back>(system, lent(port), lent(t)));
  const bare_socket c = bare_socket::connected(static_cast<std::uint16_t>(port), SOCK_DGRAM);
  for (int i = 0; i < 100; ++i) {
    const std::string text = "datagram " + std::to_string(i);
    c.write(text);
    char back[64];
    const ssize_t n = ::recv(c.fd(), back, sizeof back, 0);
    REQUIRE(n > 0);
    CHECK(std::string(back, static_cast<std::size_t>(n)) == text);
  }
  c.write("end");
  wait_until([&] { return t.closed == 1; });
  wait_until([&] { return threads.io().load(0) == 0; });
}

TEST_CASE("brokers: settings that cannot be kept are errors that say which") {
  broker_threads threads;
  tally t;
  actor_system system(quiet());
  const auto why = [&](const socket_settings& s) {
    auto made =
        system.try_spawn<echo>(broker_place(threads), lent(t), std::string("tcp://127.0.0.1:0"), s);
    return made ? std::string("none") : made.error().to_string();
  };
  CHECK(why({.read = receive_policy::exactly(65), .block_size = 64}).find("65 bytes") !=
        std::string::npos);
  CHECK(why({.block_size = 1}).find("block_size") != std::string::npos);
  CHECK(why({.blocks = 1}).find("blocks") != std::string::npos);
  CHECK(why({.most_messages = 0}).find("most_messages") != std::string::npos);
}

TEST_CASE(
    "brokers: a bounded mailbox is refused at the spawn, as it would lose pieces of streams") {
  broker_threads threads;
  tally t;
  actor_system system(quiet());
  const auto why = [&](const spawn_options& o) {
    auto made = system.try_spawn<echo>(o, broker_place(threads, 0), lent(t),
                                       std::string("tcp://127.0.0.1:0"), socket_settings());
    return made ? base::error() : made.error();
  };
  for (const auto policy :
       {mailbox_policy::reject, mailbox_policy::drop_newest, mailbox_policy::wait})
    for (const auto& place : {spawn_options(), threads.on(0)}) {
      spawn_options o = place;
      o.policy = policy;
      o.bound = 1000;
      const base::error no = why(o);
      CHECK(no == errc::spawn_failed);
      CHECK(no.to_string().find("spawn_options.policy: the mailbox of an actor with sockets must "
                                "be unbounded") != std::string::npos);
    }
  CHECK_FALSE(why({.soft_limit = 2, .hard_limit = 100}));
}

}  // namespace brokers_test
