// A broker ends, or is restarted, while its sockets are in every state: nothing is left open, and
// the next client finds the new one.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <support/in_child.hpp>
#include <support/rounds.hpp>
#include <support/transports.hpp>

#include "served.hpp"

namespace broker_ends_test {

using namespace garrick;
using namespace garrick::tests;
using broker_test::hold;
using broker_test::tally;

enum class way { quits, fails, is_asked, is_killed, with_the_system };
struct end_now {
  way how;
};
struct addresses {
  std::string silent;  ///< a listener that accepts no connection
  std::string never_reads;
  std::string refuses;
};

/// The last owner of a connection that was given away.
class heir : public broker<> {
 public:
  heir(bound_connection c, tally& t) : broker(c.place()), t_(t) {
    const auto mine = io().adopt(std::move(c));
    static_cast<void>(io().read(mine, receive_policy::at_most(100)));
  }
  using broker::on;
  void on(const new_data& d) { static_cast<void>(io().write(d.connection, d.bytes.bytes())); }
  void on(const connection_closed&) { quit(); }
  void on_exit(const exit_reason&) { ++t_.ended; }

 private:
  tally& t_;
};

/// A broker with a socket in every state.
class busy : public broker<void(end_now)> {
 public:
  busy(broker_place p, tally& t, std::atomic<int>& port, addresses a)
      : broker(p), t_(t), there_(std::move(a)) {
    socket_settings s;
    s.transport.close_limit = duration::milliseconds(20);
    door_ = io().listen("tcp://127.0.0.1:0", s).value();
    udp_ = io().bind("udp://127.0.0.1:0").value();
    const int here = io().local(udp_).port();
    io().send_to(udp_, io().local(udp_), std::as_bytes(std::span("kept", 4))).value();
    CHECK(here != 0);
    const auto open = [&](const std::string& to) { return io().connect(to, s).value(); };
    connecting_ = open(there_.silent);
    io().write(connecting_, "waits for the connection").value();
    looked_up_ = open("tcp://localhost:" + there_.refuses);
    refused_ = open("tcp://127.0.0.1:" + there_.refuses);
    blocked_ = open(there_.never_reads);
    io().write(blocked_, std::string(4u << 20, 'b')).value();
    const auto closing = open(there_.never_reads);
    io().write(closing, std::string(4u << 20, 'c')).value();
    io().put(blocked_, "gathered").value();
    io().close(closing).value();
    port = io().local(door_).port();
  }
  using broker::on;
  void on_exit(const exit_reason&) { ++t_.ended; }
  void on(const new_datagram& d) { datagram_ = d; }
  void on(const new_connection& n) {
    if (!n.acceptor) return;
    ++t_.opened;
    switch (t_.opened) {
      case 1: io().read(n.connection, receive_policy::exactly(4)).value(); break;
      case 2: io().read(n.connection, receive_policy::exactly(4).once()).value(); break;
      case 3: on_its_way_.emplace(io().release(n.connection).value()); break;
      case 4: CHECK(fork<heir>(n.connection, lent(t_))); break;
      default: break;  // nothing is read
    }
  }
  void on(const new_data& d) {
    held_.push_back(d);
    t_.bytes += d.bytes.size();
  }
  void on(const connection_closed& c) {
    half_.push_back(c);  // this end stays open if it is open
    ++t_.closed;
  }
  void on(end_now e) {
    if (e.how == way::fails) throw std::runtime_error("on purpose");
    quit();
  }

 private:
  tally& t_;
  const addresses there_;
  acceptor_handle door_;
  datagram_handle udp_;
  connection_handle connecting_, looked_up_, refused_, blocked_;
  std::optional<bound_connection> on_its_way_;
  std::optional<new_datagram> datagram_;
  std::vector<new_data> held_;
  std::vector<connection_closed> half_;
};

void end_by(way how, actor_system& system, const ref<busy::protocol_type>& b) {
  switch (how) {
    case way::quits:
    case way::fails: return send(b, end_now{how});
    case way::is_asked: return system.exit(b, exit_code::user_shutdown);
    case way::is_killed: return system.kill(b);
    case way::with_the_system: return;
  }
}

TEST_CASE("brokers: however a broker ends, in every state of its sockets, nothing stays open") {
  const bare_socket never_reads = bare_socket::listening(1024);
  const bare_socket silent = bare_socket::listening(0);
  const bare_socket fills_it = bare_socket::connected(silent.port());
  const bare_socket gone = bare_socket::listening();
  REQUIRE(::shutdown(gone.fd(), SHUT_RDWR) == 0);
  const auto tcp = [](const bare_socket& s) {
    return "tcp://127.0.0.1:" + std::to_string(s.port());
  };
  const addresses there{tcp(silent), tcp(never_reads), std::to_string(gone.port())};
  for (const way how :
       {way::quits, way::fails, way::is_asked, way::is_killed, way::with_the_system})
    for (const bool on_workers : {false, true}) {
      CAPTURE(static_cast<int>(how));
      CAPTURE(on_workers);
      tally t;
      std::atomic<int> port{0};
      broker_threads threads({.threads = 2});
      auto system = std::make_unique<actor_system>(quiet());
      const auto b = on_workers
                         ? system->spawn<busy>(broker_place(threads), lent(t), lent(port), there)
                         : threads.spawn<busy>(*system, lent(t), lent(port), there);
      std::vector<bare_socket> in;
      for (int i = 1; i <= 6; ++i) {
        in.push_back(bare_socket::connected(static_cast<std::uint16_t>(port)));
        wait_until([&] { return t.opened == i; });
      }
      in[0].write("12345678");
      wait_until([&] { return t.bytes == 8; });
      in[1].write("12");
      REQUIRE(::shutdown(in[1].fd(), SHUT_WR) == 0);
      in[2].write("for nobody");
      in[3].write("heir");
      CHECK(in[3].read(4) == "heir");
      in[4].write("unread");
      wait_until([&] { return t.closed >= 3; });  // the half-closed, the refused, the looked up
      end_by(how, *system, b);
      if (how == way::with_the_system)
        system.reset();
      else
        wait_until([&] { return t.ended == 1; });
      for (const std::size_t i : {0u, 1u, 2u, 4u, 5u}) {
        CAPTURE(i);
        CHECK(in[i].read(1).empty());
      }
      if (system != nullptr) {
        in[3].write("on");
        CHECK(in[3].read(2) == "on");
        in[3].close();
        wait_until([&] { return t.ended == 2; });
      }
      wait_until([&] { return threads.io().load(0) + threads.io().load(1) == 0; });
    }
}

/// A broker that listens at the same place in each life, and fails on order.
class phoenix : public broker<void(end_now)> {
 public:
  phoenix(broker_place p, tally& t, std::string at) : broker(p), t_(t) {
    socket_settings s{.read = receive_policy::at_most(100)};
    const auto door = io().listen(at, s);
    if (!door) throw std::runtime_error(door.error().to_string());
    ++t_.opened;
  }
  using broker::on;
  void on(end_now) { throw std::runtime_error("on purpose"); }
  void on(const new_data& d) {
    if (d.bytes.text() == "fail") throw std::runtime_error("by a peer");
    const auto done = io().write(d.connection, d.bytes.bytes());
    if (!done) CHECK(done.error() == net_errc::denied);  // a connection of the last life
  }

 private:
  tally& t_;
};

bare_socket calls(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  path.copy(to.sun_path, sizeof(to.sun_path) - 1);
  for (;;) {
    bare_socket s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(s.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return s;
    std::this_thread::yield();  // between two lives
  }
}

TEST_CASE("brokers: one that is restarted listens at its address again, with no old connections") {
  scratch_folder folder;
  const std::string path = folder.file("socket");
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    tally t;
    broker_threads threads;
    actor_system system(quiet());
    const auto top = system.spawn<supervisor>(
        supervision{.max_restarts = 1000, .window = duration::seconds(1000)});
    child_options o{.name = "phoenix"};
    if (!on_workers) o.spawn = threads.on(0);
    const auto p = supervise<phoenix>(top, o, broker_place(threads), lent(t), "unix://" + path);
    const int lives = static_cast<int>(rounds(20));
    for (int life = 1; life <= lives; ++life) {
      const bare_socket c = calls(path);
      c.write("hello");
      // A connection that the last life had in its queue is closed with it.
      const std::string back = c.read(5);
      if (back.empty()) continue;
      CHECK(back == "hello");
      if (life % 2 == 0)
        c.write("fail");
      else
        send(p, end_now{way::fails});
      CHECK(c.read(1).empty());
    }
    wait_until([&] { return t.opened > lives / 2; });
    const bare_socket last = calls(path);
    last.write("last");
    CHECK(last.read(4) == "last");
  }
}

TEST_CASE("brokers: the end of a system after its I/O threads stopped says so, and does not hang") {
  const auto [words, status] = in_child([] {
    tally t;
    broker_threads threads;
    actor_system system(quiet());
    const auto idle = threads.spawn<broker_test::echo>(system, lent(t), "", broker_test::greedy);
    static_cast<void>(system.request(idle, broker_test::say{{}, "it runs"}).get());
    threads.io().stop();
  });
  CHECK(has_aborted(status));
  CHECK(words.find("on I/O threads that were stopped") != std::string::npos);
}

constexpr std::size_t speech = 4u << 20;
/// Writes more than a socket takes.
class speaker : public broker<> {
 public:
  speaker(broker_place p, std::atomic<int>& port, std::atomic<bool>& has_written)
      : broker(p), has_written_(has_written) {
    port = io().local(io().listen("tcp://127.0.0.1:0").value()).port();
  }
  using broker::on;
  void on(const new_connection& n) {
    io().write(n.connection, std::string(speech, 's')).value();
    has_written_ = true;
  }

 private:
  std::atomic<bool>& has_written_;
};

TEST_CASE("brokers: bytes written when the system and its I/O threads end are sent all the same") {
  for (const bool on_workers : {false, true}) {
    CAPTURE(on_workers);
    std::atomic<int> port{0};
    std::atomic<bool> has_written{false};
    auto threads = std::make_unique<broker_threads>();
    auto system = std::make_unique<actor_system>(quiet());
    if (on_workers)
      static_cast<void>(
          system->spawn<speaker>(broker_place(*threads), lent(port), lent(has_written)));
    else
      static_cast<void>(threads->spawn<speaker>(*system, lent(port), lent(has_written)));
    wait_until([&] { return port != 0; });
    const bare_socket hears = bare_socket::connected(static_cast<std::uint16_t>(port));
    wait_until([&] { return has_written.load(); });
    std::atomic<bool> ends_threads{false};
    std::thread ends([&] {
      system.reset();
      ends_threads = true;
      threads.reset();
    });
    wait_until([&] { return ends_threads.load(); });
    CHECK(hears.read(speech).size() == speech);
    CHECK(hears.read(1).empty());
    ends.join();
  }
}

}  // namespace broker_ends_test
