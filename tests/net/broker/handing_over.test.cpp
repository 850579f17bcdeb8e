// Connections before they are established, and on their way from one broker to another.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace handing_over_test {

using namespace garrick;
using namespace garrick::tests;

struct said {
  std::string text;
};
struct open_to {
  std::string at;
  bool closes;
};

/// A broker that writes before it is connected.
class eager : public broker<result<std::string>(open_to)> {
 public:
  explicit eager(broker_place p) : broker(p) {}
  using broker::on;
  result<std::string> on(const open_to& o) {
    const auto c = io().connect(o.at, {.read = receive_policy::exactly(9)});
    if (!c) return c.error();
    io().put(*c, "one ").value();
    io().write(*c, "two ").value();
    CHECK(io().writable(*c));
    answer_ = make_promise<std::string>();
    return answer_;
  }
  void on(const new_connection& n) { io().write(n.connection, "3").value(); }
  void on(const new_data& d) { answer_.deliver(std::string(d.bytes.text())); }
  void on(const connection_closed& c) { answer_.fail(c.why); }

 private:
  response_promise<std::string> answer_;
};

TEST_CASE("handing over: bytes written before a stream stands are sent when it does, in order") {
  broker_threads threads;
  actor_system system(quiet());
  const bare_socket door = bare_socket::listening();
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    const auto e =
        on_workers ? system.spawn<eager>(broker_place(threads)) : threads.spawn<eager>(system);
    auto answer =
        system.request(e, open_to{"tcp://127.0.0.1:" + std::to_string(door.port()), false});
    const bare_socket peer = door.accept();
    CHECK(peer.read(9) == "one two 3");
    peer.write("well done");
    CHECK(answer.get().value() == "well done");
  }
}

/// A broker that writes more than may wait before it is connected.
class too_eager : public broker<result<int>(open_to)> {
 public:
  explicit too_eager(broker_place p) : broker(p) {}
  using broker::on;
  result<int> on(const open_to& o) {
    socket_settings s;
    s.transport.high_water = 4096;
    s.transport.low_water = 1024;
    s.transport.most_queued = 8192;
    const auto c = io().connect(o.at, s);
    if (!c) return c.error();
    for (int i = 0; i < 100; ++i) {
      const auto done = io().write(*c, std::string(1000, 'e'));
      taken_ += done.has_value();
      if (!done) CHECK(done.error() == net_errc::overload);
    }
    CHECK_FALSE(io().writable(*c));
    answer_ = make_promise<int>();
    return answer_;
  }
  void on(const writable_again& w) {
    if (!answer_.pending()) return;
    CHECK(io().writable(w.connection));
    answer_.deliver(taken_);
  }
  void on(const connection_closed& c) { answer_.fail(c.why); }

 private:
  int taken_ = 0;
  response_promise<int> answer_;
};

TEST_CASE("handing over: before a stream stands as much may wait as later, and no more") {
  broker_threads threads;
  actor_system system(quiet());
  const bare_socket door = bare_socket::listening();
  const auto e = threads.spawn<too_eager>(system);
  auto answer = system.request(e, open_to{"tcp://127.0.0.1:" + std::to_string(door.port()), false});
  const bare_socket peer = door.accept();
  const result<int> taken = answer.get();
  REQUIRE(taken);
  CHECK(*taken == 8);
  CHECK(peer.read(8000) == std::string(8000, 'e'));
}

struct try_again {
  int turns;
};
/// Writes in turn after turn to a peer that does not answer.
class patient : public broker<result<int>(open_to), void(try_again)> {
 public:
  explicit patient(broker_place p) : broker(p) {}
  using broker::on;
  result<int> on(const open_to& o) {
    socket_settings s;
    s.transport.high_water = 4096;
    s.transport.low_water = 1024;
    s.transport.most_queued = 8192;
    s.transport.attempt_limit = duration::seconds(1000);
    s.transport.close_limit = duration::milliseconds(20);
    there_ = io().connect(o.at, s).value();
    answer_ = make_promise<int>();
    on(try_again{200});
    return answer_;
  }
  void on(try_again t) {
    for (int i = 0; i < 4; ++i) taken_ += io().write(there_, std::string(1000, 'p')).has_value();
    if (t.turns == 0) return answer_.deliver(taken_);
    send(ref<protocol<void(try_again)>>(self()), try_again{t.turns - 1});
  }
  void on(const connection_closed& c) { answer_.fail(c.why); }

 private:
  connection_handle there_;
  int taken_ = 0;
  response_promise<int> answer_;
};

TEST_CASE(
    "handing over: while no peer answers, waiting bytes are bounded, however long that takes") {
  broker_threads threads;
  actor_system system(quiet());
  const bare_socket silent = bare_socket::listening(0);
  const bare_socket fills_it = bare_socket::connected(silent.port());
  const std::string to = "tcp://127.0.0.1:" + std::to_string(silent.port());
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    const auto p =
        on_workers ? system.spawn<patient>(broker_place(threads)) : threads.spawn<patient>(system);
    CHECK(system.request(p, open_to{to, false}).get().value() == 8);
  }
}

/// The bytes that the brokers of a connection have got, in its order.
struct record {
  std::mutex mutex;
  std::string first, second;
  int first_closed = 0, second_closed = 0;
  bool second_ended = false;
  bool forks_at_the_end = false;  // constant

  template <class F>
  auto look(F f) {
    const std::lock_guard lock(mutex);
    return f(*this);
  }
};

class second_owner : public broker<> {
 public:
  second_owner(bound_connection c, record& r) : broker(c.place()), r_(r) {
    const auto mine = io().adopt(std::move(c));
    CHECK(!io().adopt(std::move(c)));  // NOLINT(bugprone-use-after-move): it has given all away
    static_cast<void>(io().write(mine, "adopted "));
    static_cast<void>(io().read(mine, receive_policy::exactly(3)));
  }
  using broker::on;
  void on(const new_data& d) {
    r_.look([&](record& r) { r.second += d.bytes.text(); });
    io().write(d.connection, d.bytes.bytes()).value();
  }
  void on(const connection_closed&) {
    r_.look([](record& r) { ++r.second_closed; });
    quit();
  }
  void on_exit(const exit_reason&) {
    r_.look([](record& r) { r.second_ended = true; });
  }

 private:
  record& r_;
};

struct begin {};
/// Reads three bytes, and gives the connection away.
class first_owner : public broker<std::string(said), void(begin)> {
 public:
  first_owner(broker_place p, record& r) : broker(p), r_(r) {
    door_ = io().listen("tcp://127.0.0.1:0").value();
  }
  using broker::on;
  std::string on(const said&) { return std::to_string(io().local(door_).port()); }
  void on(const new_connection& n) {
    c_ = n.connection;
    if (waits_) on(begin{});
  }
  void on(begin) {
    waits_ = !c_;
    if (c_) io().read(c_, receive_policy::exactly(3)).value();
  }
  void on(const new_data& d) {
    const bool is_first = r_.look([&](record& r) {
      r.first += d.bytes.text();
      return r.first.size() == 3;
    });
    if (r_.forks_at_the_end) return;
    if (is_first) CHECK(fork<second_owner>(d.connection, lent(r_)));
    CHECK(io().write(d.connection, "mine").error() == net_errc::denied);
  }
  void on(const connection_closed& c) {
    r_.look([](record& r) { ++r.first_closed; });
    CHECK(fork<second_owner>(c.connection, lent(r_)));
  }

 private:
  record& r_;
  acceptor_handle door_;
  connection_handle c_;
  bool waits_ = false;
};

struct two_owners {
  record r;
  broker_threads threads;
  actor_system system{quiet()};
  ref<first_owner::protocol_type> first = threads.spawn<first_owner>(system, lent(r));
  bare_socket call() {
    const auto port = system.request(first, said{}).get().value();
    return bare_socket::connected(static_cast<std::uint16_t>(std::stoi(port)));
  }
};

TEST_CASE("handing over: messages in the first broker's mailbox stay its own, the rest moves") {
  two_owners t;
  const bare_socket c = t.call();
  // The bytes come in one piece, so the first broker has all three messages when it handles one.
  c.write("abcdefghi");
  send(t.first, begin{});
  CHECK(c.read(8) == "adopted ");
  c.write("jklmno");
  CHECK(c.read(6) == "jklmno");
  t.r.look([](const record& r) {
    CHECK(r.first == "abcdefghi");
    CHECK(r.second == "jklmno");
  });
  REQUIRE(::shutdown(c.fd(), SHUT_WR) == 0);
  wait_until([&] { return t.r.look([](const record& r) { return r.second_ended; }); });
  t.r.look([](const record& r) {
    CHECK(r.second_closed == 1);
    CHECK(r.first_closed == 0);
  });
}

TEST_CASE(
    "handing over: a broker that adopts a connection which its last owner saw end hears the end") {
  two_owners t;
  t.r.forks_at_the_end = true;
  const bare_socket c = t.call();
  c.write("abcde");
  REQUIRE(::shutdown(c.fd(), SHUT_WR) == 0);
  send(t.first, begin{});
  wait_until([&] { return t.r.look([](const record& r) { return r.second_ended; }); });
  t.r.look([](const record& r) {
    CHECK(r.first == "abc");
    CHECK(r.first_closed == 1);
    CHECK(r.second_closed == 1);
  });
  CHECK(c.read(100) == "adopted ");
  wait_until([&] { return t.threads.io().load(0) == 1; });  // the acceptor
}

}  // namespace handing_over_test
