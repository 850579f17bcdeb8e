// Links that cannot be made for lack of memory: every waiting call is told, and the next attempt is
// another one.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/simulated_network.hpp>
#include <garrick/net/testkit/simulated_source.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "net/node/connecting/caller.hpp"
#include "net/node/machine.hpp"

namespace unmade_links_test {

using namespace garrick;
using net::net_errc;
using tests::caller;

/// A simulated host's source of links, without memory for some of them.
class scarce_source final : public net::link_source {
 public:
  /// Makes a source with `lacking` calls of `connect` that fail, from number `first` (from 0) on.
  explicit scarce_source(net::testkit::simulated_host& host, int first, int lacking)
      : links_(host), first_(first), end_(first + lacking) {}

  base::result<net::connection> connect(const net::endpoint& to,
                                        std::unique_ptr<net::hosted_maker> make) override {
    const int call = calls_++;
    if (call >= first_ && call < end_) throw std::bad_alloc();
    return links_.connect(to, std::move(make));
  }
  base::result<net::listener> listen(const net::endpoint& at,
                                     std::shared_ptr<net::accept_policy> policy) override {
    return links_.listen(at, std::move(policy));
  }
  [[nodiscard]] std::uint64_t seed() const noexcept override { return links_.seed(); }
  [[nodiscard]] instant now() const noexcept override { return links_.now(); }
  void wait_for_end(const std::vector<net::connection>& links, duration limit) override {
    links_.wait_for_end(links, limit);
  }
  void stop() noexcept override { links_.stop(); }
  [[nodiscard]] int calls() const noexcept { return calls_; }

 private:
  net::testkit::simulated_source links_;
  int calls_ = 0;
  const int first_, end_;
};

/// Two hosts with their nodes. The node of "a" decides which of several links is used, and the node
/// of "b" has a scarce source.
struct two_nodes {
  garrick::testkit::test_world world;
  net::testkit::simulated_network net;
  tests::machine a;
  garrick::testkit::test_system system_of_b;
  std::shared_ptr<scarce_source> source;
  net::node b;

  two_nodes(std::uint64_t seed, int first, int lacking)
      : world(seed),
        net(world),
        a(world, ways(), "a", 1),
        system_of_b(world, {.clock = &net.host("b").clock()}),
        source(std::make_shared<scarce_source>(net.host("b"), first, lacking)),
        b(system_of_b.env(),
          {.id = {0, 2}, .incarnation = 102, .insecure = true, .source = source, .seed = seed}) {
    REQUIRE(a.node.listen("tcp://a:7").has_value());
    REQUIRE(b.listen("tcp://b:7").has_value());
  }
  auto ask_from_b() {
    return system_of_b.request(system_of_b.spawn<caller>(lent(b)), std::string("tcp://a:7"));
  }

 private:
  net::testkit::simulated_network& ways() {
    net.both("a", "b", {.delay = duration::milliseconds(1), .jitter = duration::milliseconds(2)});
    return net;
  }
};

TEST_CASE(
    "unmade links: each caller that waits for one is told, and the next attempt is another one") {
  two_nodes n(3, 0, 2);
  for (int i = 0; i != 2; ++i) {
    const result<std::uint64_t> got = n.ask_from_b().get();
    CHECK(got.error() == net_errc::unreachable);
    CHECK_MESSAGE(got.error().to_string().find("tcp://a:7") != std::string::npos,
                  got.error().to_string());
  }
  CHECK(n.ask_from_b().get().value() == n.a.node.self().incarnation);
  CHECK(n.source->calls() == 3);
}

TEST_CASE("unmade links: a thread's connect is tried once more") {
  two_nodes n(3, 0, 1);
  CHECK(n.b.connect("tcp://a:7").value() == n.a.node.self());
}

TEST_CASE("unmade links: a caller that waits for a link that is dialled again is told") {
  int dialled_again = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    two_nodes n(seed, 1, 1);
    auto by_a =
        n.a.system.request(n.a.system.spawn<caller>(lent(n.a.node)), std::string("tcp://b:7"));
    n.a.system.run_for(duration::microseconds(static_cast<std::int64_t>(seed % 40) * 100));
    auto by_b = n.ask_from_b();
    CHECK(by_a.get().value() == n.b.self().incarnation);
    const result<std::uint64_t> got = by_b.get();
    if (n.source->calls() > 1) {
      ++dialled_again;
      CHECK(got.error() == net_errc::unreachable);
    } else {
      CHECK(got.value() == n.a.node.self().incarnation);
    }
    CHECK(n.ask_from_b().get().value() == n.a.node.self().incarnation);
  }
  CHECK(dialled_again != 0);
}

}  // namespace unmade_links_test
