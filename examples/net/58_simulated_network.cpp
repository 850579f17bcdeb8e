// A program on two hosts, tested in a network that loses and duplicates packets and cuts
// connections: under many seeds, in virtual time.
#include <garrick/net/stack/stacks.hpp>
#include <garrick/net/testkit/explore_network.hpp>
#include <garrick/net/testkit/faults.hpp>
#include <garrick/net/wire/codec.hpp>

#include <cstdio>
#include <memory>
#include <utility>

using namespace garrick;
using base::duration;

/// Counts to 100 together with the other end: each answers a number with the next one.
class counter final : public net::link_owner {
 public:
  counter(std::unique_ptr<net::testkit::endpoint> at, net::testkit::simulated_host& on, bool begins)
      : at_(std::move(at)), on_(on), begins_(begins) {
    net::link_settings s;
    s.session.self.incarnation = begins ? 1 : 2;
    s.session.connects = begins;
    link_ = net::standard_stacks().find("datagrams")->make(*this, *at_, s);
    at_->drive(*link_);
  }
  int reached = 0;

 private:
  bool on_message(const net::incoming& m) override {
    const int number = net::decode<int>(m.decoded->payload).value();
    reached = number;
    if (number < 100) send(number + 1);
    return true;
  }
  void on_event(const net::link_event& e) override {
    if (e.what == net::link_event::kind::opened && begins_) send(1);
  }
  void send(int number) {
    auto payload = net::encode(number, {.front = net::frame_room + link_->header_size()});
    if (link_->send(net::to_outgoing({.kind = net::frame_kind::message}, std::move(*payload)),
                    on_.now()))
      std::puts("refused");
  }

  std::unique_ptr<net::testkit::endpoint> at_;
  net::testkit::simulated_host& on_;
  bool begins_;
  std::unique_ptr<net::any_link> link_;
};

int main() {
  // [program]
  net::testkit::explore_network(100, [](net::testkit::simulated_network& world) {
    world.both("a", "b", {.delay = duration::milliseconds(5), .loss = 0.2, .duplication = 0.1});
    world.at(duration::milliseconds(500), net::testkit::cut("a", "b"));
    world.at(duration::milliseconds(900), net::testkit::heal("a", "b"));
    auto& a = world.host("a");
    auto& b = world.host("b");

    std::unique_ptr<counter> server;
    const auto door = b.listen_datagrams(7, [&](std::unique_ptr<net::testkit::endpoint> e) {
      server = std::make_unique<counter>(std::move(e), b, false);
    });
    counter client(a.datagrams(0, {"b", 7}), a, true);
    world.run_for(duration::seconds(30));
    world.require(client.reached == 100, "they have not counted to 100");
  });
  // [/program]
  std::puts("under 100 seeds both have counted to 100");
}
