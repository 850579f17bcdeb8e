// Streams in the simulated network: in order, in pieces, cut, reset, half-open, reopened.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/testkit/explore_network.hpp"
#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/recording.hpp"
#include "garrick/net/testkit/simulated_network.hpp"

namespace simulated_streams_test {

namespace base = garrick::base;
using garrick::base::duration;
using garrick::base::instant;
using namespace garrick::net;
using namespace garrick::net::testkit;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }
using texts = std::vector<std::string>;

/// A client on "a" and a server on "b".
struct client_and_server {
  explicit client_and_server(simulated_network& n, bool resumes = true)
      : net(n),
        listening(net.host("b").listen(
            7,
            [this](std::unique_ptr<endpoint> e) {
              servers.push_back(std::make_unique<recording>());
              e->drive(*servers.back());
              ends.push_back(std::move(e));
            },
            resumes)),
        client(net.host("a").connect({"b", 7})) {
    client->drive(at_client);
  }
  simulated_network& net;
  std::vector<std::unique_ptr<recording>> servers;
  std::vector<std::unique_ptr<endpoint>> ends;
  recording at_client;
  std::unique_ptr<listener> listening;
  std::unique_ptr<endpoint> client;
};

std::string numbers(int from, int to) {
  std::string all;
  for (int i = from; i != to; ++i) all += std::to_string(i) + " ";
  return all;
}

bool starts(std::string_view text, std::string_view with) { return text.starts_with(with); }

}  // namespace

TEST_CASE("a stream connects after a round trip and carries bytes both ways") {
  simulated_network net(1);
  net.path("a", "b").delay = ms(10);
  net.path("b", "a").delay = ms(5);
  client_and_server s(net);
  const instant start = net.now();
  CHECK_FALSE(s.client->is_open());
  net.run_for(ms(100));
  REQUIRE(s.servers.size() == 1);
  REQUIRE(s.at_client.texts() == texts{"connected"});
  CHECK(s.at_client.calls()[0].when == start + ms(15));
  CHECK(s.servers[0]->calls()[0].when == start + ms(10));
  CHECK(s.ends[0]->peer() == s.client->local());
  s.client->transmit(packet_of("there"));
  s.ends[0]->transmit(packet_of("back"));
  net.run_for(ms(100));
  CHECK(s.servers[0]->bytes() == "there");
  CHECK(s.at_client.bytes() == "back");
}

TEST_CASE("under any faults of the way, a stream's bytes arrive in order and once, cut anywhere") {
  std::set<std::size_t> sizes;
  explore_network(seeds(), [&](simulated_network& net) {
    net.both("a", "b",
             {.delay = ms(3),
              .jitter = ms(5),
              .loss = 0.1,
              .duplication = 0.1,
              .reordering = 0.1,
              .rate = 1'000'000});
    client_and_server s(net);
    net.run_until([&] { return s.client->is_open(); });
    for (int i = 0; i != 20; ++i) {
      s.client->transmit(packet_of(numbers(100 * i, 100 * (i + 1))));
      net.run_for(ms(1));
    }
    net.run_for(ms(60'000));
    net.require(s.servers.at(0)->bytes() == numbers(0, 2000), "the bytes differ");
    for (const auto& e : s.servers[0]->calls()) sizes.insert(e.what.size());
  });
  CHECK(sizes.contains(1));
  CHECK(*sizes.rbegin() > 300);
}

TEST_CASE("a cut holds bytes back, and those on their way come again when it heals") {
  simulated_network net(1);
  net.both("a", "b", {.delay = ms(10)});
  client_and_server s(net);
  net.run_for(ms(100));
  s.client->transmit(packet_of("one "));
  net.run_for(ms(5));
  net.apply(cut("a", "b"));
  s.client->transmit(packet_of("two"));
  net.run_for(ms(1000));
  CHECK(s.servers[0]->bytes().empty());
  const instant healed = net.now();
  net.apply(heal("a", "b"));
  net.run_for(ms(1000));
  CHECK(s.servers[0]->bytes() == "one two");
  CHECK(s.servers[0]->calls()[1].when == healed + ms(210));
  CHECK(s.at_client.texts() == texts{"connected"});
}

TEST_CASE(
    "a stream over a way that stays cut is given up by its sender, and by the other if it sends") {
  simulated_network net(1);
  client_and_server s(net);
  net.run_for(ms(100));
  net.cut("b", "a");  // the bytes come, but no acknowledgement of them
  s.client->transmit(packet_of("bytes"));
  net.run_for(ms(29'000));
  CHECK(s.servers[0]->bytes() == "bytes");
  CHECK(s.at_client.texts() == texts{"connected"});
  net.run_for(ms(2'000));
  REQUIRE(s.at_client.texts().size() == 2);
  CHECK(starts(s.at_client.texts()[1], "disconnected"));
  CHECK_FALSE(s.client->is_open());
  CHECK(s.ends[0]->is_open());
  net.heal("b", "a");
  s.ends[0]->transmit(packet_of("anybody?"));
  net.run_for(ms(1000));
  CHECK_FALSE(s.ends[0]->is_open());
  CHECK(starts(s.servers[0]->texts().back(), "disconnected"));
}

TEST_CASE("a reset loses the bytes on their way from some point on, and tells both ends") {
  std::set<std::size_t> arrived;
  explore_network(seeds(), [&](simulated_network& net) {
    net.both("a", "b", {.delay = ms(10), .jitter = ms(10)});
    client_and_server s(net);
    net.run_until([&] { return s.client->is_open(); });
    const std::string sent = numbers(0, 200);
    s.client->transmit(packet_of(sent));
    net.run_for(ms(1));
    net.apply(reset_streams("a", "b"));
    s.client->transmit(packet_of("after it"));
    net.run_for(ms(1000));
    const recording& r = *s.servers.at(0);
    net.require(starts(sent, r.bytes()), "what came is not the beginning");
    net.require(starts(r.texts().back(), "disconnected"), "the server was not told");
    net.require(starts(s.at_client.texts().back(), "disconnected"), "the client was not told");
    arrived.insert(r.bytes().size());
  });
  CHECK(arrived.size() > seeds() / 4);
}

TEST_CASE("an end that reopens meets the same end again, or a new one, as the listener says") {
  for (const bool resumes : {true, false}) {
    simulated_network net(1);
    client_and_server s(net, resumes);
    net.run_for(ms(100));
    net.apply(reset_streams("a", "b"));
    net.run_for(ms(100));
    s.client->reopen();
    net.run_for(ms(100));
    REQUIRE(s.client->is_open());
    s.client->transmit(packet_of("again"));
    net.run_for(ms(100));
    CHECK(s.servers.size() == (resumes ? 1 : 2));
    CHECK(s.servers.back()->bytes() == "again");
    if (resumes) {
      CHECK(s.servers[0]->texts().size() >= 4);
      CHECK(starts(s.servers[0]->texts()[1], "disconnected"));
      CHECK(s.servers[0]->texts()[2] == "connected");
    }
  }
}

TEST_CASE(
    "half-open: an end that reopens after a loss of its own replaces the other end's stream") {
  simulated_network net(1);
  client_and_server s(net);
  net.run_for(ms(100));
  net.apply(half_open("a", "b"));
  net.run_for(ms(100));
  CHECK_FALSE(s.client->is_open());
  CHECK(s.ends[0]->is_open());
  CHECK(s.servers[0]->texts() == texts{"connected"});
  s.client->reopen();
  net.run_for(ms(100));
  REQUIRE(s.servers[0]->texts().size() == 3);
  CHECK(starts(s.servers[0]->texts()[1], "disconnected"));
  CHECK(s.servers[0]->texts()[2] == "connected");
}

TEST_CASE("a connection is refused without a listener, and given up without an answer") {
  simulated_network net(1);
  recording r;
  const auto nobody = net.host("a").connect({"b", 9});
  nobody->drive(r);
  net.run_for(ms(100));
  REQUIRE(r.texts().size() == 1);
  CHECK(r.texts()[0].find("refused") != std::string::npos);

  client_and_server s(net);
  net.apply(cut("a", "b"));
  net.run_for(ms(2'900));
  CHECK(s.at_client.texts().empty());
  net.run_for(ms(200));
  REQUIRE(s.at_client.texts().size() == 1);
  CHECK(s.at_client.texts()[0].find("reached") != std::string::npos);

  SUBCASE("and an attempt that is still under way succeeds when the way heals") {
    s.client->reopen();
    net.run_for(ms(1000));
    net.apply(heal("a", "b"));
    net.run_for(ms(1000));
    CHECK(s.client->is_open());
  }
}

TEST_CASE("bytes taken before an end closes still arrive, and then the other end hears of it") {
  simulated_network net(1);
  client_and_server s(net);
  net.run_for(ms(100));
  s.client->transmit(packet_of("last words"));
  SUBCASE("closed") { s.client->close(); }
  SUBCASE("destroyed") { s.client.reset(); }
  net.run_for(ms(100));
  CHECK(s.servers[0]->bytes() == "last words");
  CHECK(starts(s.servers[0]->texts().back(), "disconnected"));
  CHECK(s.at_client.texts() == texts{"connected"});
}

TEST_CASE("a sender that the receiver does not keep up with is not writable until it does") {
  network_settings settings;
  settings.send_buffer = 1000;
  simulated_network net(1, settings);
  client_and_server s(net);
  net.run_for(ms(100));
  CHECK(s.client->writable());
  net.host("b").pause();
  s.client->transmit(packet_of(std::string(1000, 'x')));
  net.run_for(ms(60'000));
  CHECK_FALSE(s.client->writable());
  CHECK(s.at_client.texts() == texts{"connected"});
  net.host("b").resume();
  net.run_for(ms(100));
  CHECK(s.client->writable());
  CHECK(s.at_client.texts() == texts{"connected", "writable"});
  CHECK(s.servers[0]->bytes().size() == 1000);
}

TEST_CASE("bytes that came before a cut are received by a paused host after it") {
  simulated_network net(1);
  client_and_server s(net);
  net.run_for(ms(100));
  net.host("b").pause();
  s.client->transmit(packet_of("one"));
  net.run_for(ms(100));
  net.apply(cut("a", "b"));
  net.run_for(ms(100));
  s.servers[0]->wakes_at = net.host("b").now() - ms(1);
  net.host("b").resume();
  net.run_for(ms(1));
  CHECK(s.servers[0]->bytes() == "one");
  CHECK(s.servers[0]->texts().back() == "advance");
  net.apply(heal("a", "b"));
  net.run_for(ms(1000));
  CHECK(s.servers[0]->bytes() == "one");
}

TEST_CASE("a process that crashes takes its streams with it; a machine does so when it is back") {
  simulated_network net(1);
  client_and_server s(net);
  net.run_for(ms(100));
  SUBCASE("process") {
    net.apply(crash("b"));
    net.run_for(ms(100));
    CHECK(starts(s.at_client.texts().back(), "disconnected"));
  }
  SUBCASE("machine") {
    net.apply(crash("b", crash_kind::machine));
    s.client->transmit(packet_of("hello?"));
    net.run_for(ms(1000));
    CHECK(s.at_client.texts() == texts{"connected"});
    net.apply(restart("b"));
    net.run_for(ms(1000));
    CHECK(starts(s.at_client.texts().back(), "disconnected"));
  }
  CHECK(s.servers[0]->bytes().empty());
}

TEST_CASE("under any faults a reopened stream gives the beginning of each end's bytes") {
  explore_network(seeds(), [](simulated_network& net) {
    net.both("a", "b", {.delay = ms(2), .jitter = ms(3), .loss = 0.05});
    client_and_server s(net);
    s.at_client.then = [&](std::string_view what) {
      if (starts(what, "disconnected")) s.client->reopen();
      if (what == "connected") s.client->transmit(packet_of("<"));
    };
    plan_faults(net, {.hosts = {"a", "b"},
                      .cuts = 1,
                      .one_way_cuts = 1,
                      .resets = 2,
                      .half_opens = 1,
                      .pauses = 1,
                      .storms = 1,
                      .between = ms(50),
                      .longest = ms(100)});
    for (int i = 0; i != 300; ++i) {
      if (s.client->is_open()) s.client->transmit(packet_of(std::to_string(i % 10)));
      net.run_for(ms(10));
    }
    net.run_for(ms(40'000));
    if (!s.client->is_open()) s.client->reopen();
    net.run_for(ms(10'000));
    net.require(s.client->is_open(), "the way is whole, and yet it is not connected");
    // Each connection begins with "<", and its digits count up.
    std::string last;
    for (const char c : s.servers.at(0)->bytes()) {
      if (c == '<') {
        last.clear();
        continue;
      }
      net.require(last.empty() || c == '0' + (last[0] - '0' + 1) % 10, "a byte is lost or twice");
      last = c;
    }
  });
}

namespace {

/// A stack that takes each second connection by which an answer arrives.
struct taking final : recording {
  packet greeting(instant) override { return packet_of("?"); }
  beside answered(std::span<const std::byte> bytes, instant) override {
    return bytes.empty() ? beside::waits : beside::takes;
  }
};

/// A client on "a" that may try connections beside its own, and a server on "b" that greets on
/// each connection.
struct client_with_second {
  explicit client_with_second(simulated_network& n)
      : net(n),
        listening(net.host("b").listen(7,
                                       [this](std::unique_ptr<endpoint> e) {
                                         server = std::move(e);
                                         server->drive(at_server);
                                       })),
        client(net.host("a").connect({"b", 7})) {
    at_server.then = [this](std::string_view what) {
      if (what == "connected") server->transmit(packet_of("!"));
    };
    client->drive(at_client);
    net.run_for(ms(100));
  }
  simulated_network& net;
  recording at_server;
  taking at_client;
  std::unique_ptr<endpoint> server;
  std::unique_ptr<listener> listening;
  std::unique_ptr<endpoint> client;
};

/// Returns a "+" for each call of `connected` and a "-" for each of `disconnected`.
std::string connections(const recording& r) {
  std::string all;
  for (const std::string& what : r.texts()) {
    if (what == "connected") all += '+';
    if (starts(what, "disconnected")) all += '-';
  }
  return all;
}

}  // namespace

TEST_CASE("a second connection takes over in the instant in which the first one is lost") {
  simulated_network net(1);
  client_with_second s(net);
  net.host("b").pause();
  s.client->transmit(packet_of("by the first"));
  s.client->reopen_beside();
  net.run_for(ms(100));
  CHECK(connections(s.at_client) == "+");
  // The resumed process acts in one instant, so the report that it has left the first connection
  // and its answer by the second one arrive together.
  net.host("b").resume();
  net.run_for(ms(100));
  CHECK(connections(s.at_server) == "+-+");
  CHECK(connections(s.at_client) == "+-+");
  CHECK(s.at_client.bytes() == "!!");
  CHECK(s.client->is_open());
}

TEST_CASE("a loss during a stop is told before a connection that comes as the process goes on") {
  simulated_network net(1);
  net.both("a", "b", {.delay = ms(2)});
  client_with_second s(net);
  net.host("b").pause();
  net.apply(reset_streams("a", "b"));
  net.run_for(ms(10));
  CHECK(connections(s.at_server) == "+");
  s.client->reopen();
  net.run_for(ms(1));
  net.at(ms(112), resume("b"));  // in the instant in which the client's question arrives
  net.run_for(ms(10));
  CHECK(connections(s.at_server) == "+-+");
  CHECK(connections(s.at_client) == "+-+");
  CHECK(s.server->is_open());
}

TEST_CASE("under any faults each end hears of a loss before the next connection") {
  std::size_t taken = 0;
  explore_network(seeds(), [&](simulated_network& net) {
    net.both("a", "b", {.delay = ms(2), .jitter = ms(net.seed() % 2 == 0 ? 0 : 3)});
    client_with_second s(net);
    s.at_client.then = [&](std::string_view what) {
      if (starts(what, "disconnected")) s.client->reopen();
      if (what.find("took its place") != std::string_view::npos) ++taken;
    };
    plan_faults(net, {.hosts = {"a", "b"},
                      .cuts = 1,
                      .resets = 2,
                      .half_opens = 1,
                      .pauses = 3,
                      .stalls = 2,
                      .from = ms(200),
                      .between = ms(50),
                      .longest = ms(100)});
    base::random_source random(net.seed_for("second connections"));
    for (int i = 0; i != 250; ++i) {
      s.client->transmit(packet_of("x"));
      if (random.below(4) == 0) s.client->reopen_beside();
      net.run_for(ms(10));
    }
    net.run_for(ms(40'000));
    for (const std::string& heard : {connections(s.at_client), connections(s.at_server)})
      net.require(heard.find("++") == std::string::npos, "connected twice: " + heard);
    net.require(s.client->is_open(), "the way is whole, and yet it is not connected");
    net.require(connections(s.at_client).back() == '+', "the loss of no connection");
  });
  CHECK(taken > 0);
}

}  // namespace simulated_streams_test
