// A peer that sends large messages without regard to its credit.
#include <doctest/doctest.h>
#include <garrick/core/seam/handles.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <support/by_hand.hpp>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

namespace many_bytes_test {

using namespace garrick;
using kind = net::frame_kind;
using tests::three_machines;

constexpr std::size_t mib = 1u << 20;

struct parcel {
  std::string content;
};
using store_type = protocol<void(parcel)>;
class store : public actor<store_type> {
 public:
  void on(const parcel&) {}
};

class verdicts : public net::peer_listener {
 public:
  void changed(const net::peer_identity&, net::peer_change what, const error& why) override {
    if (what == net::peer_change::down) down = why;
  }
  error down;
};

TEST_CASE("many bytes: a peer that sends more than twice its credit is down") {
  tests::by_hand loop;
  three_machines m;
  auto told = std::make_shared<verdicts>();
  m.a.node.subscribe(told);
  auto own = m.a.system.spawn<store>(spawn_options{.executor = &loop.executor});
  loop.run();
  REQUIRE(m.a.node.publish("store", own).has_value());
  tests::stranger s(m, m.a, "a");
  s.say({.kind = kind::credit, .number = 8192});
  const net::actor_id to = s.resolve<store_type>("store");
  REQUIRE(to);
  const std::uint64_t type = net::protocol_table_of<store_type>().all()[0].message.type;
  const net::frame f{.kind = kind::message, .receiver = to, .sender = {9, 9}, .type = type};
  for (int i = 0; i < 32; ++i) {
    s.say(f, parcel{std::string(mib, 'x')});
    CHECK(!told->down);
  }
  s.say(f, parcel{std::string(mib, 'x')});
  CHECK(told->down == errc::overload);
  CHECK(told->down.to_string().find("more than twice its credit") != std::string::npos);
  CHECK(core::handle_access::get(own)->mailbox_length() == 32);
  REQUIRE(m.a.node.unpublish("store"));
  loop.run();
  own = {};
  loop.run();
}

}  // namespace many_bytes_test
