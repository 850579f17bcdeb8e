// A stack of the network part, in the simulated network of its testkit.
#include <garrick/net/layer/framing.hpp>
#include <garrick/net/stack/stack.hpp>
#include <garrick/net/testkit/recording.hpp>
#include <garrick/net/testkit/simulated_network.hpp>

#include <cstdio>
#include <memory>
#include <string>

namespace net = garrick::net;
using garrick::base::duration;

struct counting final : net::link_owner {
  bool on_message(const net::incoming& m) override {
    bytes += m.bytes.size();
    return true;
  }
  void on_event(const net::link_event&) override {}
  std::size_t bytes = 0;
};

int main() {
  using framed = net::stack<net::byte_stream, net::framing>;
  net::testkit::simulated_network network(1);
  counting here, there;
  std::unique_ptr<framed> server_stack;
  std::unique_ptr<net::testkit::endpoint> server;
  const auto listening = network.host("b").listen(7, [&](auto e) {
    server = std::move(e);
    server_stack = std::make_unique<framed>(there, *server, net::framing());
    server->drive(*server_stack);
  });
  const auto client = network.host("a").connect({"b", 7});
  framed stack(here, *client, net::framing());
  client->drive(stack);
  network.run_for(duration::seconds(1));
  if (stack.send({net::testkit::packet_of("hello")}, network.host("a").now())) return 1;
  network.run_for(duration::seconds(1));
  std::printf("%zu bytes\n", there.bytes);
  return there.bytes == 5 ? 0 : 1;
}
