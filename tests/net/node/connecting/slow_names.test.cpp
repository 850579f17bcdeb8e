// Nodes that connect to names without an answer for a while. The resolver is the test's own.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/gated_names.hpp"
#include "net/node/connecting/caller.hpp"

namespace slow_names_test {

using namespace garrick;
using net::node;
using tests::caller;
using tests::closed_gate;
using tests::gated_names;

/// Replaces the system's function, which answers all but the gated names. These mean this machine.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  if (!gated_names::knows(name)) return tests::systems_getaddrinfo(name, service, hints, found);
  gated_names::gate().pass(name);
  return tests::systems_getaddrinfo("127.0.0.1", service, hints, found);
}

net::node_settings open_to_all() {
  net::node_settings s;
  s.insecure = true;
  return s;
}

TEST_CASE("slow names: a name that hangs keeps back no other connect, and not the node's end") {
  actor_system left(tests::quiet()), right(tests::quiet());
  node a(left);
  const std::string port = ":" + std::to_string(a.listen("tcp://127.0.0.1:0").value().port());
  const closed_gate closed;
  std::optional<node> b(std::in_place, right, open_to_all());
  const auto first = right.spawn<caller>(lent(*b));
  const auto second = right.spawn<caller>(lent(*b));
  auto slow = right.request(first, "tcp://slow-end.invalid" + port);
  auto slow_too = right.request(second, "udp://slow-end2.invalid" + port);
  gated_names::gate().wait_for("slow-end.invalid");
  gated_names::gate().wait_for("slow-end2.invalid");
  CHECK(b->connect("tcp://localhost" + port).value() == a.self());
  b.reset();  // ends while both names are being looked up
  CHECK_FALSE(slow.get().has_value());
  CHECK_FALSE(slow_too.get().has_value());
}

TEST_CASE("slow names: a connect goes on when the name is known, however many attempts that took") {
  for (const std::string scheme : {"tcp", "udp"}) {
    CAPTURE(scheme);
    actor_system left(tests::quiet()), right(tests::quiet());
    node a(left);
    const auto at = a.listen(scheme + "://127.0.0.1:0").value();
    std::optional<closed_gate> closed(std::in_place);
    net::node_settings s = open_to_all();
    s.transport.attempt_limit = duration::milliseconds(1);
    s.link.session.handshake_limit = duration::seconds(600);
    node b(right, s);
    const auto asks = right.spawn<caller>(lent(b));
    const std::string name = "slow-" + scheme + ".invalid";
    const std::string to = scheme + "://" + name + ":" + std::to_string(at.port());
    auto slow = right.request(asks, to);
    gated_names::gate().wait_for(name);
    tests::wait_until([&] {
      const auto who = b.connect(to, duration::milliseconds(20));
      CHECK(who.error() == errc::timeout);
      return who.error().to_string().find("not looked up in time") != std::string::npos;
    });
    CHECK(gated_names::gate().begun(name) == 1);
    closed.reset();
    CHECK(slow.get().value() == a.self().incarnation);
  }
}

}  // namespace slow_names_test
