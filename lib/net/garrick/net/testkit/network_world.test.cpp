// Actor systems and a network in one virtual time.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "garrick/net/testkit/faults.hpp"
#include "garrick/net/testkit/recording.hpp"
#include "garrick/net/testkit/simulated_network.hpp"

namespace network_world_test {

using namespace garrick;
using garrick::testkit::test_system;
using garrick::testkit::test_world;
using namespace garrick::net::testkit;
using base::duration;

namespace {

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct tick {};
struct later {
  duration after;
};
struct text {
  std::string bytes;
};

using talks = protocol<void(tick), void(later), void(text)>;

/// Sends a datagram at each tick, and records the received ones with their times.
class talker : public actor<talks> {
 public:
  explicit talker(net::testkit::endpoint* e) : endpoint_(e) {}
  void on(const tick&) {
    endpoint_->transmit(packet_of("tick"));
    got.push_back(now().to_string() + " sends");
  }
  void on(const later& l) { send_after(l.after, self(), tick{}); }
  void on(const text& t) { got.push_back(now().to_string() + " " + t.bytes); }

  std::vector<std::string> got;

 private:
  net::testkit::endpoint* endpoint_;
};

/// Passes received bytes to an actor, as a broker does.
struct hands_on : recording {
  ref<talks> to;
  void receive(std::span<const std::byte> b, base::instant) override {
    send(to, text{{reinterpret_cast<const char*>(b.data()), b.size()}});
  }
};

struct two_nodes {
  explicit two_nodes(std::uint64_t seed)
      : world(seed),
        net(world),
        a(world, {.clock = &net.host("a").clock()}),
        b(world, {.clock = &net.host("b").clock()}),
        at_a(net.host("a").datagrams(1, {"b", 1})),
        at_b(net.host("b").datagrams(1, {"a", 1})),
        sender(a.spawn<talker>(lent(at_a.get()))),
        receiver(b.spawn<talker>(lent(at_b.get()))) {
    net.both("a", "b", {.delay = ms(10)});
    from_b.to = sender;
    from_a.to = receiver;
    at_a->drive(from_b);
    at_b->drive(from_a);
    a.run_for({});
  }
  test_world world;
  simulated_network net;
  test_system a;
  test_system b;
  std::unique_ptr<net::testkit::endpoint> at_a;
  std::unique_ptr<net::testkit::endpoint> at_b;
  hands_on from_a;
  hands_on from_b;
  ref<talks> sender;
  ref<talks> receiver;
};

}  // namespace

TEST_CASE("actors of two systems talk through the network in one virtual time") {
  two_nodes n(1);
  send(n.sender, tick{});
  n.a.run_for(ms(9));
  CHECK(n.b.inspect<talker>(n.receiver).got.empty());
  n.a.run_for(ms(1));
  CHECK(n.b.inspect<talker>(n.receiver).got == std::vector<std::string>{"1010ms tick"});
  CHECK_THROWS_AS(n.net.run_for(ms(1)), std::logic_error);
}

TEST_CASE("a system's actors go by their host's clock") {
  two_nodes n(1);
  n.net.host("b").set_rate(1'000'000);  // twice as fast
  n.net.host("b").jump(ms(5000));
  send(n.sender, tick{});
  n.a.run_for(ms(10));
  CHECK(n.b.inspect<talker>(n.receiver).got == std::vector<std::string>{"6020ms tick"});
  send(n.receiver, later{ms(100)});
  n.a.run_for(ms(49));
  CHECK(n.b.inspect<talker>(n.receiver).got.size() == 1);
  n.a.run_for(ms(1));
  CHECK(n.b.inspect<talker>(n.receiver).got.back() == "6120ms sends");
}

TEST_CASE("on a paused host neither timers nor bytes reach the actors, then bytes come first") {
  two_nodes n(1);
  n.net.at(ms(1), pause("b"));
  n.net.at(ms(200), resume("b"));
  send(n.sender, tick{});
  send(n.receiver, later{ms(5)});
  n.a.run_for(ms(199));
  CHECK(n.b.inspect<talker>(n.receiver).got.empty());
  n.a.run_for(ms(1));
  CHECK(n.b.mailbox(n.receiver).empty());
  CHECK(n.b.inspect<talker>(n.receiver).got ==
        std::vector<std::string>{"1200ms tick", "1200ms sends"});
}

}  // namespace network_world_test
