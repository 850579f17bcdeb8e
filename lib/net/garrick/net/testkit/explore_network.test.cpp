// The explorer of networks: the seed that it names, its replay, and the source of all decisions.
#include "garrick/net/testkit/explore_network.hpp"

#include <doctest/doctest.h>
#include <support/with_variable.hpp>

#include <set>
#include <stdexcept>
#include <string>

#include "garrick/net/testkit/exchange.hpp"
#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/internal/stack_kinds.hpp"
#include "garrick/net/testkit/recording.hpp"

namespace explore_network_test {

using garrick::base::duration;
using namespace garrick::net;
using namespace garrick::net::testkit;
using namespace garrick::net::testkit::internal;

namespace {

/// Fails if the first datagram is lost.
void first_arrives(simulated_network& net) {
  net.both("a", "b", {.loss = 0.05});
  const auto a = net.host("a").datagrams(1, {"b", 1});
  const auto b = net.host("b").datagrams(1, {"a", 1});
  recording at_a, at_b;
  a->drive(at_a);
  b->drive(at_b);
  net.run_for({});
  a->transmit(packet_of("one"));
  net.run_for(duration::seconds(1));
  net.require(at_b.bytes() == "one", "the datagram did not arrive");
}

const fault_plan everything{.hosts = {"a", "b"},
                            .cuts = 1,
                            .one_way_cuts = 1,
                            .resets = 1,
                            .half_opens = 1,
                            .pauses = 1,
                            .crashes = 1,
                            .jumps = 1,
                            .rates = 1,
                            .storms = 1,
                            .between = duration::milliseconds(50)};

/// Returns the digest of a program in which every kind of event happens.
std::uint64_t digest_of(std::uint64_t seed, std::string& text) {
  simulated_network net(seed);
  exchange(net, framed_kind<framing>("framed"),
           {.path = {.jitter = duration::milliseconds(3), .loss = 0.1}, .faults = everything});
  text = net.history().to_string();
  return net.history().digest();
}

}  // namespace

TEST_CASE("equal seeds give equal histories, and others give others") {
  const garrick::tests::with_variable variable("GARRICK_SEED", nullptr);
  std::set<std::uint64_t> digests;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::string first, second;
    const std::uint64_t digest = digest_of(seed, first);
    CHECK(digest == digest_of(seed, second));
    CHECK(first == second);
    digests.insert(digest);
  }
  CHECK(digests.size() == 20);
}

TEST_CASE("the first failing seed of a network is found with its history, and fails again") {
  const garrick::tests::with_variable one("GARRICK_SEED", nullptr);
  const auto found = find_network_failure(200, first_arrives);
  REQUIRE(found.has_value());
  CHECK(found->replays);
  CHECK(found->text.find("the datagram did not arrive") != std::string::npos);
  CHECK(found->text.find("a > b  lost #1, 3 bytes") != std::string::npos);
  for (std::uint64_t seed = 1; seed < found->seed; ++seed)
    CHECK(run_network_seed(seed, first_arrives) == "");

  const garrick::tests::with_variable count("GARRICK_SEEDS", nullptr);
  try {
    explore_network(200, first_arrives);
    FAIL("nothing was found");
  } catch (const garrick::testkit::failure& x) { CHECK(x.seed() == found->seed); }
}

TEST_CASE("GARRICK_SEED runs one seed alone") {
  const garrick::tests::with_variable variable("GARRICK_SEED", "17");
  std::vector<std::uint64_t> ran;
  explore_network(200, [&](simulated_network& net) { ran.push_back(net.seed()); });
  CHECK(ran == std::vector<std::uint64_t>{17});
}

TEST_CASE("any other exception of a program is a failure, with the history") {
  const std::string text = run_network_seed(3, [](simulated_network& net) {
    net.note("all was well");
    throw std::runtime_error("something else");
  });
  CHECK(text.find("something else") == 0);
  CHECK(text.find("all was well") != std::string::npos);
}

TEST_CASE("traffic on one way does not change the numbers drawn for another") {
  const auto arrivals = [](bool other_traffic) {
    simulated_network net(9);
    net.both("a", "b", {.jitter = duration::milliseconds(50), .loss = 0.3});
    const auto a = net.host("a").datagrams(1, {"b", 1});
    const auto b = net.host("b").datagrams(1, {"a", 1});
    const auto c = net.host("c").datagrams(1, {"b", 2});
    recording at_a, at_b, at_c;
    a->drive(at_a);
    b->drive(at_b);
    c->drive(at_c);
    for (int i = 0; i != 100; ++i) {
      net.run_for(duration::milliseconds(1));
      if (other_traffic) {
        b->transmit(packet_of("back"));
        c->transmit(packet_of("from elsewhere"));
      }
      a->transmit(packet_of(std::to_string(i)));
    }
    net.run_for(duration::seconds(1));
    std::vector<std::pair<garrick::base::instant, std::string>> all;
    for (const auto& e : at_b.calls()) all.emplace_back(e.when, e.what);
    return all;
  };
  CHECK(arrivals(false).size() > 30);
  CHECK(arrivals(false) == arrivals(true));
}

TEST_CASE("any plan of faults comes to its end: ways are whole, hosts run") {
  std::size_t count = 0;
  explore_network(seeds(), [&](simulated_network& net) {
    count += plan_faults(net, everything);
    net.run_for(everything.until + duration::milliseconds(1));
    for (const char* from : {"a", "b"}) {
      net.require(net.host(from).is_up() && !net.host(from).is_paused(), "a host does not run");
      for (const char* to : {"a", "b"}) net.require(!net.is_cut(from, to), "a way is cut");
    }
    net.require(net.path("a", "b").loss == 0, "a storm has not ended");
  });
  // One fault in 50 ms of two seconds.
  CHECK(count > 35 * seeds());
  CHECK(count < 45 * seeds());
  simulated_network net(1);
  CHECK_THROWS_AS(plan_faults(net, {.hosts = {"a", "a"}}), std::invalid_argument);
  CHECK_THROWS_AS(plan_faults(net, {.hosts = {"a", "b"}, .between = {}}), std::invalid_argument);
}

}  // namespace explore_network_test
