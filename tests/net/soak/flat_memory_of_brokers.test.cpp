// Brokers need no more memory the longer they run, at full rate. Each program has both ends in this
// process. It runs for a fraction of a second here and for a minute in `./dev soak`;
// GARRICK_TORTURE=450 makes that three.
#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <net/broker/served.hpp>
#include <support/memory_slope.hpp>

namespace flat_memory_of_brokers_test {

using namespace garrick;
using namespace garrick::tests;
using broker_test::served;
using broker_test::tally;

/// Sends back its input for ever, so that this many bytes are always under way.
class ball : public broker<> {
 public:
  ball(broker_place p, const std::string& to, std::size_t under_way) : broker(p) {
    const auto c = io().connect(to, broker_test::greedy).value();
    io().write(c, std::string(under_way, 'b')).value();
  }
  using broker::on;
  void on(const new_data& d) { static_cast<void>(io().write(d.connection, d.bytes.bytes())); }
};

/// Serves one connection.
class session : public broker<> {
 public:
  explicit session(bound_connection c) : broker(c.place()) {
    io().read(io().adopt(std::move(c)), receive_policy::exactly(5)).value();
  }
  using broker::on;
  void on(const new_data& d) { static_cast<void>(io().write(d.connection, d.bytes.bytes())); }
  void on(const connection_closed&) { quit(); }
};
class forks : public broker<> {
 public:
  forks(broker_place p, const std::string& at) : broker(p) {
    socket_settings s;
    s.spread = true;
    door_ = io().listen(at, s).value();
  }
  using broker::on;
  void on(const new_connection& n) { static_cast<void>(fork<session>(n.connection)); }

 private:
  acceptor_handle door_;
};

/// Opens connections and closes them when they have been answered, some at a time.
class caller : public broker<> {
 public:
  caller(broker_place p, std::string to, std::atomic<std::uint64_t>& answered,
         std::atomic<bool>& enough)
      : broker(p), to_(std::move(to)), answered_(answered), enough_(enough) {
    for (int i = 0; i < 16; ++i) call();
  }
  using broker::on;
  void on(const new_data& d) {
    ++answered_;
    static_cast<void>(io().close(d.connection));
    call();
  }
  void on(const connection_closed&) { call(); }

 private:
  void call() {
    if (enough_) return;
    const auto c = io().connect(to_, {.read = receive_policy::exactly(5)}).value();
    io().write(c, "hello").value();
  }
  const std::string to_;
  std::atomic<std::uint64_t>& answered_;
  std::atomic<bool>& enough_;
};

/// Writes as much as it may.
class fountain : public broker<> {
 public:
  fountain(broker_place p, std::atomic<int>& port, std::atomic<std::uint64_t>& waits)
      : broker(p), waits_(waits) {
    socket_settings s;
    s.transport.high_water = 1 << 18;
    s.transport.low_water = 1 << 16;
    port = io().local(io().listen("tcp://127.0.0.1:0", s).value()).port();
  }
  using broker::on;
  void on(const new_connection& n) { pour(n.connection); }
  void on(const writable_again& w) {
    ++waits_;
    pour(w.connection);
  }

 private:
  void pour(const connection_handle& c) {
    while (io().writable(c))
      if (!io().write(c, std::string(10000, 'f'))) return;
  }
  std::atomic<std::uint64_t>& waits_;
};

/// Sends datagrams back.
class parrot : public broker<> {
 public:
  parrot(broker_place p, std::atomic<int>& port, std::atomic<std::uint64_t>& seen)
      : broker(p), seen_(seen) {
    port = io().local(io().bind("udp://127.0.0.1:0").value()).port();
  }
  using broker::on;
  void on(const new_datagram& d) {
    ++seen_;
    static_cast<void>(io().send_to(d.socket, d.from, d.bytes.bytes()));
  }

 private:
  std::atomic<std::uint64_t>& seen_;
};

TEST_CASE("flat memory of brokers: bytes that go to and fro at full rate") {
  served s;
  for (const std::size_t under_way : {100u, 10000u, 200000u})
    s.threads.spawn<ball>(s.system, s.at_.to_string(), under_way);
  memory_slope memory("bytes between two brokers");
  memory.wait([&] { return s.t.bytes > 1000000; });
  memory.check();
}

TEST_CASE("flat memory of brokers: connections that come, are forked and go") {
  scratch_folder folder;  // ports are few, and each rests for a while
  std::atomic<std::uint64_t> answered{0};
  std::atomic<bool> enough{false};
  broker_threads threads({.threads = 2});
  actor_system system(quiet());
  const std::string at = "unix://" + folder.file("door");
  const any_ref door(threads.spawn<forks>(system, at));
  const any_ref all(threads.spawn<caller>(system, at, lent(answered), lent(enough)));
  memory_slope memory("connections of brokers");
  memory.wait([&] { return answered > 100; });
  enough = true;
  memory.check();
}

TEST_CASE("flat memory of brokers: one that writes to readers that are too slow") {
  std::atomic<int> port{0};
  std::atomic<std::uint64_t> waits{0};
  broker_threads threads;
  actor_system system(quiet());
  const any_ref server(threads.spawn<fountain>(system, lent(port), lent(waits)));
  const bare_socket slow = bare_socket::connected(static_cast<std::uint16_t>(port));
  const bare_socket never = bare_socket::connected(static_cast<std::uint16_t>(port));
  memory_slope memory("slow readers of a broker");
  while (memory.goes_on(waits >= 2)) REQUIRE(slow.read(1000).size() == 1000);
  memory.check();
}

TEST_CASE("flat memory of brokers: a flood of datagrams, most of which are lost") {
  std::atomic<int> port{0};
  std::atomic<std::uint64_t> seen{0};
  broker_threads threads;
  actor_system system(quiet());
  const any_ref server(threads.spawn<parrot>(system, lent(port), lent(seen)));
  const bare_socket c = bare_socket::connected(static_cast<std::uint16_t>(port), SOCK_DGRAM);
  const std::string datagram(1000, 'd');
  memory_slope memory("datagrams of a broker");
  while (memory.goes_on(seen > 100))
    static_cast<void>(::send(c.fd(), datagram.data(), datagram.size(), MSG_NOSIGNAL));
  memory.check();
}

}  // namespace flat_memory_of_brokers_test
