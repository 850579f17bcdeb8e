// A process that was stopped for longer than `down_after` goes on, and at that moment an actor is
// asked for there, or is to be spawned there: the question gets another session with the same life.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/explore_network.hpp>

#include <cstdint>
#include <string>

#include "net/node/machine.hpp"

namespace after_a_silence_test {

using namespace garrick;
using garrick::testkit::test_world;
using net::testkit::simulated_network;
using tests::machine;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }
constexpr duration us(std::int64_t n) { return duration::nanoseconds(n * 1000); }

using echo_type = protocol<int(int)>;
class echo : public actor<echo_type> {
 public:
  int on(int x) { return x; }
};

net::node_settings patient(std::int64_t seconds) {
  net::node_settings s;
  s.link.session.interval = ms(200);
  s.link.mailbox.messages = 1;
  s.link.session.resume_window = s.link.session.down_after = duration::seconds(seconds);
  return s;
}

/// The circumstances of a silence.
struct circumstances {
  bool asker_is_smaller = false;  // the node with the smaller identity decides which link is used
  bool asker_dialled = false;     // the link that was there before
  duration delay;                 // from one host to the other

  [[nodiscard]] std::string to_string() const {
    return std::string(asker_is_smaller ? "the asker is smaller" : "the asker is larger") +
           (asker_dialled ? ", it dialled, " : ", it was dialled, ") + delay.to_string();
  }
};

/// Calls `f` in all circumstances, each with some seeds.
template <class F>
void in_all(F f) {
  for (const bool is_smaller : {true, false})
    for (const bool has_dialled : {true, false})
      for (const duration delay : {us(50), ms(3)}) {
        const circumstances now{is_smaller, has_dialled, delay};
        CAPTURE(now.to_string());
        net::testkit::explore_network(net::testkit::seeds() / 8 + 1,
                                      [&](simulated_network& base) { f(base.seed(), now); });
      }
}

/// Node "a" asks, and node "b" has an actor. The two have a link.
struct pair_of_nodes {
  test_world world;
  simulated_network net;
  machine a, b;
  std::string at;

  pair_of_nodes(std::uint64_t seed, const circumstances& c, bool asker_is_patient = false)
      : world(seed),
        net(world),
        a(world, ways(c), "a", c.asker_is_smaller ? 1 : 2, patient(asker_is_patient ? 60 : 3)),
        b(world, net, "b", c.asker_is_smaller ? 2 : 1, patient(asker_is_patient ? 3 : 60)),
        at("tcp://b:7"),
        asker_is_patient_(asker_is_patient) {
    net.require(a.node.listen("tcp://a:7").has_value(), "a cannot listen");
    net.require(b.node.listen(at).has_value(), "b cannot listen");
    net.require(b.node.publish("echo", b.system.spawn<echo>()).has_value(), "not published");
    net.require(b.node.allow<echo>("echo type").has_value(), "not allowed");
    const auto met = c.asker_dialled ? a.node.connect(at) : b.node.connect("tcp://a:7");
    net.require(met.has_value(), "they have not met");
    a.system.run_for(ms(1000));
    net.require(a.node.peers().size() == 1 && b.node.peers().size() == 1, "they are no peers");
  }
  /// Cuts the way until the impatient node has given the other one up. The other one has lost
  /// the stream, or loses it when it sends.
  void part() {
    net.cut("a", "b");
    net.cut("b", "a");
    net.half_open("a", "b");
    const machine& impatient = asker_is_patient_ ? b : a;
    const machine& patient = asker_is_patient_ ? a : b;
    for (int i = 0; i < 100 && !impatient.node.peers().empty(); ++i) a.system.run_for(ms(100));
    net.require(impatient.node.peers().empty(), "the other node was not given up");
    net.require(patient.node.peers().size() == 1, "both have given the other one up");
    net.heal("a", "b");
    net.heal("b", "a");
  }
  /// Asks for the actor, and uses it.
  void find(duration limit = duration::seconds(10)) {
    use(a.node.remote<echo_type>(at, "echo", limit), "remote");
  }
  void spawn() { use(a.node.spawn<echo_type>(at, "echo type"), "spawn"); }

 private:
  const bool asker_is_patient_;

  simulated_network& ways(const circumstances& c) {
    net.both("a", "b", {.delay = c.delay});
    return net;
  }
  void use(const result<ref<echo_type>>& found, const std::string& how) {
    net.require(found.has_value(), how + ": " + (found ? "" : found.error().to_string()));
    const auto answer = a.system.request(*found, 5).get();
    net.require(answer.has_value(),
                how + ", its actor: " + (answer ? "" : answer.error().to_string()));
  }
};

/// Calls `f` when "a" has given "b" up, and "b" has not noticed that or does so only now.
template <class F>
void behind_a_silence(F f) {
  in_all([&](std::uint64_t seed, const circumstances& c) {
    pair_of_nodes p(seed, c);
    p.part();
    f(p);
  });
}

TEST_CASE("after a silence: a name is found in the node that was given up") {
  behind_a_silence([](pair_of_nodes& p) { p.find(); });
}

TEST_CASE("after a silence: a node that was given up spawns an actor") {
  behind_a_silence([](pair_of_nodes& p) { p.spawn(); });
}

TEST_CASE("after a silence: the node that was given up is connected to") {
  behind_a_silence([](pair_of_nodes& p) {
    const auto who = p.a.node.connect(p.at);
    p.net.require(who.has_value(), "connect: " + (who ? "" : who.error().to_string()));
    p.find(ms(100));  // by the present link
  });
}

TEST_CASE("after a silence: a node that was given up itself finds a name") {
  in_all([](std::uint64_t seed, const circumstances& c) {
    if (!c.asker_dialled) return;
    pair_of_nodes p(seed, c, true);
    p.part();
    p.find();
  });
}

TEST_CASE("after a silence: a node that was given up itself still has an actor spawned") {
  in_all([](std::uint64_t seed, const circumstances& c) {
    if (!c.asker_dialled) return;
    pair_of_nodes p(seed, c, true);
    const auto there = p.a.node.remote<echo_type>(p.at, "echo").value();
    p.part();
    // The stack keeps one message, and the order waits in front of it. So it was never sent.
    send(there, 1);
    p.spawn();
  });
}

TEST_CASE("after a silence: an actor that may have been spawned is not spawned once more") {
  in_all([](std::uint64_t seed, const circumstances& c) {
    if (!c.asker_dialled) return;
    pair_of_nodes p(seed, c, true);
    p.part();
    const auto made = p.a.node.spawn<echo_type>(p.at, "echo type");
    p.net.require(!made && made.error() == net::net_errc::perhaps_delivered,
                  made ? "spawned" : made.error().to_string());
  });
}

}  // namespace after_a_silence_test
