// Three nodes in a test: their actors, clocks and network run in one program under one seed.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/testkit/faults.hpp>
#include <garrick/net/testkit/simulated_source.hpp>
#include <garrick/testkit/test_system.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

using namespace garrick;
using namespace garrick::net::testkit;

struct deposit {
  std::int64_t cents = 0;
};
struct balance {};
using account = protocol<void(deposit), std::int64_t(balance)>;

class account_actor : public actor<account> {
 public:
  void on(deposit d) { cents_ += d.cents; }
  std::int64_t on(balance) { return cents_; }

 private:
  std::int64_t cents_ = 0;
};

// [machine]
struct machine {
  testkit::test_system system;
  net::node node;
  machine(testkit::test_world& world, simulated_network& net, const char* name)
      : system(world, {.clock = &net.host(name).clock()}),
        node(system.env(),
             {.insecure = true, .source = std::make_shared<simulated_source>(net.host(name))}) {}
};
// [/machine]

// [test]
int main() {
  testkit::test_world world(17);
  simulated_network net(world);
  machine bank(world, net, "bank"), shop(world, net, "shop"), home(world, net, "home");
  net.both("bank", "shop", {.delay = duration::milliseconds(10)});

  const std::string at = bank.node.listen("tcp://bank:7").value().to_string();
  bank.node.publish("account", bank.system.spawn<account_actor>()).value();
  const auto at_shop = shop.node.remote<account>(at, "account").value();
  const auto at_home = home.node.remote<account>(at, "account").value();

  net.at(net.elapsed() + duration::milliseconds(50), cut("bank", "shop"));
  net.at(net.elapsed() + duration::seconds(2), heal("bank", "shop"));
  shop.system.run_for(duration::milliseconds(60));
  send(at_shop, deposit{500});  // this message waits until the network is healed
  send(at_home, deposit{20});
  std::printf("meanwhile: %ld\n",
              static_cast<long>(*home.system.request(at_home, balance{}).get()));
  shop.system.run_for(duration::seconds(5));
  std::printf("later: %ld\n", static_cast<long>(*home.system.request(at_home, balance{}).get()));
}
// [/test]
