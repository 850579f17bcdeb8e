// A node that ends has sent its earlier messages, and knows that they have come: its last messages
// are not dead letters.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/link_source.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/simulated_machines.hpp"

namespace leaving_test {

using namespace garrick;

/// Readers of a `slow` message wait here.
struct gate {
  std::atomic<bool> is_reached{false}, is_open{false};
  void pass() {
    is_reached = true;
    is_open.wait(false);
  }
  void open() {
    is_open = true;
    is_open.notify_all();
  }
};
gate* reading = nullptr;
struct slow {
  using garrick_sendable = void;
  std::vector<std::uint8_t> all;
};

}  // namespace leaving_test

template <>
struct garrick::net::codec<leaving_test::slow> {
  static void encode(byte_writer& out, const leaving_test::slow& x) { encode_value(out, x.all); }
  static void decode(byte_reader& in, leaving_test::slow& x) {
    leaving_test::reading->pass();
    decode_value(in, x.all);
  }
};

namespace leaving_test {

using tests::wait_until;

struct note {};
using noting_type = protocol<void(note)>;

class noting : public actor<noting_type> {
 public:
  explicit noting(std::atomic<int>& noted) : noted_(noted) {}
  void on(note) { ++noted_; }

 private:
  std::atomic<int>& noted_;
};

TEST_CASE("leaving: a message sent before a node ends is no dead letter, and comes") {
  for (const std::string at : {"tcp://127.0.0.1:0", "udp://127.0.0.1:0"})
    for (const int many : {1, 200, 3000}) {
      CAPTURE(at);
      CAPTURE(many);
      std::atomic<int> noted{0};
      actor_system here(tests::quiet()), there(tests::quiet());
      net::node stays(there);
      const auto local = stays.listen(at);
      REQUIRE(local.has_value());
      REQUIRE(stays.publish("noting", there.spawn<noting>(lent(noted))).has_value());
      {
        net::node_settings patient;  // also on a busy machine
        patient.leave_limit = duration::seconds(60);
        net::node leaves(here, patient);
        const auto to = leaves.remote<noting_type>(local->to_string(), "noting").value();
        for (int i = 0; i < many; ++i) send(to, note{});
      }
      wait_until([&] { return noted == many; });
      CHECK(here.dead_letter_count() == 0);
    }
}

TEST_CASE("leaving: a peer that confirms nothing is not waited for longer than the limit") {
  actor_system here(tests::quiet());
  net::node_settings s;
  s.leave_limit = duration::milliseconds(50);
  const tests::bare_socket silent = tests::bare_socket::listening();
  std::optional<net::node> leaves(std::in_place, here, s);
  const auto before = std::chrono::steady_clock::now();
  CHECK(
      leaves
          ->connect("tcp://127.0.0.1:" + std::to_string(silent.port()), duration::milliseconds(20))
          .error() == errc::timeout);
  leaves.reset();
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(30));
}

using slow_type = protocol<void(slow)>;
class taking : public actor<slow_type> {
 public:
  explicit taking(std::atomic<int>& taken) : taken_(taken) {}
  void on(const slow&) { ++taken_; }

 private:
  std::atomic<int>& taken_;
};

/// Opens the gate when its node, which leaves, has told all links to finish.
class opening_source final : public net::link_source {
 public:
  explicit opening_source(gate& at) : at_(at) {}
  base::result<net::connection> connect(const net::endpoint& to,
                                        std::unique_ptr<net::hosted_maker> make) override {
    return sockets_.connect(to, std::move(make));
  }
  base::result<net::listener> listen(const net::endpoint& at,
                                     std::shared_ptr<net::accept_policy> policy) override {
    return sockets_.listen(at, std::move(policy));
  }
  instant now() const noexcept override { return sockets_.now(); }
  void wait_for_end(const std::vector<net::connection>& links, duration limit) override {
    at_.open();
    sockets_.wait_for_end(links, limit);
  }
  void stop() noexcept override { sockets_.stop(); }

 private:
  gate& at_;
  net::socket_source sockets_;
};

TEST_CASE("leaving: a large message that a worker reads when its node ends is taken, and told so") {
  gate at;
  reading = &at;
  std::atomic<int> taken{0};
  actor_system here(tests::quiet()), there(tests::quiet());
  net::node stays(here);
  net::node_settings s;
  s.leave_limit = duration::seconds(60);  // also on a busy machine
  s.source = std::make_shared<opening_source>(at);
  {
    net::node leaves(there, s);
    const auto local = leaves.listen("tcp://127.0.0.1:0");
    REQUIRE(local.has_value());
    REQUIRE(leaves.publish("taking", there.spawn<taking>(lent(taken))).has_value());
    send(stays.remote<slow_type>(local->to_string(), "taking").value(),
         slow{std::vector<std::uint8_t>(1'000'000)});
    wait_until([&] { return at.is_reached.load(); });
  }
  wait_until([&] { return taken == 1 || here.dead_letter_count() != 0; });
  CHECK(taken == 1);
  CHECK(here.dead_letter_count() == 0);
  reading = nullptr;
}

}  // namespace leaving_test
