// A node that ends has sent its earlier messages, and knows that they have come: its last messages
// are no dead letters.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/simulated_machines.hpp"

namespace leaving_test {

using namespace garrick;
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

TEST_CASE("leaving: what was sent before a node ends is no dead letter, and comes") {
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

TEST_CASE("leaving: who confirms nothing is not waited for longer than the limit") {
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

}  // namespace leaving_test
