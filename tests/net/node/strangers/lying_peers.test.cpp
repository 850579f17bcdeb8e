// Peers that speak the protocol and keep to none of its rules: they may not hurt any other actor.
#include <doctest/doctest.h>
#include <garrick/core/seam/signals.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/testkit/simulated_source.hpp>
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/orders.hpp>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace lying_peers_test {

using namespace garrick;
using kind = net::frame_kind;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// Called when an `unreadable` is read.
std::function<void()> at_decoding;

class unreadable {
 public:
  using garrick_sendable = void;
};

}  // namespace lying_peers_test

template <>
struct garrick::net::codec<lying_peers_test::unreadable> {
  static void encode(byte_writer&, const lying_peers_test::unreadable&) {}
  static void decode(byte_reader& in, lying_peers_test::unreadable&) {
    if (const auto what = std::exchange(lying_peers_test::at_decoding, nullptr)) what();
    in.fail("nobody reads this");
  }
};

namespace lying_peers_test {

using desk_type = protocol<void(unreadable)>;

/// Keeps the address of the last actor that wanted it to end.
class desk : public actor<protocol<void(unreadable), void(exit_signal)>> {
 public:
  explicit desk(core::address& from) : from_(from) { trap_exit(true); }
  void on(const unreadable&) {}
  void on(const exit_signal& x) { from_ = x.from; }

 private:
  core::address& from_;
};

/// Sends frames that the test chooses, and keeps the number that it was told.
class stranger final : public net::hosted, net::link_owner {
 public:
  stranger(net::carrier& below, net::testkit::simulated_host& at, net::actor_id& told)
      : at_(at), told_(told) {
    net::link_settings s;
    s.session.self = {{0, 77}, 7};
    s.session.connects = true;
    link_ = net::standard_stacks().find("stream")->make(*this, below, s);
  }
  net::carried& stack() override { return *link_; }
  void say(const net::frame& f) {
    say(f, net::packet::with_room(net::frame_room + link_->header_size(), 0));
  }
  template <class T>
  void say(const net::frame& f, const T& payload) {
    say(f, net::encode(payload, {.front = net::frame_room + link_->header_size()}).value());
  }

 private:
  void say(const net::frame& f, net::packet payload) {
    CHECK(!link_->send(net::to_outgoing(f, std::move(payload)), at_.now()));
  }
  bool on_message(const net::incoming& m) override {
    if (m.decoded != nullptr && m.decoded->kind == kind::resolved) told_ = m.decoded->sender;
    return true;
  }
  void on_event(const net::link_event&) override {}

  net::testkit::simulated_host& at_;
  net::actor_id& told_;
  std::unique_ptr<net::any_link> link_;
};

struct making final : net::hosted_maker {
  making(net::testkit::simulated_host& at, net::actor_id& told) : at_(at), told_(told) {}
  std::unique_ptr<net::hosted> make(net::carrier& below, const net::connection&) override {
    return std::make_unique<stranger>(below, at_, told_);
  }
  net::testkit::simulated_host& at_;
  net::actor_id& told_;
};

// A sanitizer or valgrind finds the fault.
TEST_CASE("lying peers: a peer that sends to an actor that is forgotten meanwhile") {
  three_machines m;
  net::testkit::simulated_host& at = m.net.host("d");
  m.net.both("a", "d", {.delay = ms(3)});
  net::testkit::simulated_source source(at);
  net::actor_id id;
  core::address from;
  const auto x = m.a.system.spawn<desk>(lent(from));
  REQUIRE(m.a.node.publish("desk", ref<desk_type>(x)).has_value());
  const auto link =
      source.connect(net::endpoint::parse(m.a.at).value(), std::make_unique<making>(at, id));
  REQUIRE(link.has_value());
  m.a.system.run_for(ms(100));
  const auto say = [&](const net::frame& f, const auto&... payload) {
    link->run([&](net::hosted& h) { static_cast<stranger&>(h).say(f, payload...); });
    m.a.system.run_for(ms(50));
  };
  const net::protocol_table& table = net::protocol_table_of<desk_type>();
  say({.kind = kind::resolve, .number = 1}, net::resolve_order{"desk", *table.described()});
  REQUIRE(id);
  const net::actor_id me{6, 1};
  say({.kind = kind::link, .receiver = id, .sender = me});
  say({.kind = kind::exit, .receiver = id, .sender = me}, exit_reason(exit_code::kill));
  REQUIRE(from);
  // The actor is linked, and has its number for that alone.
  say({.kind = kind::link, .receiver = id, .sender = me});
  say({.kind = kind::release, .receiver = id, .number = 1});
  int told = 0;
  at_decoding = [&] {
    ++told;
    core::handle_access::get(from)->signal(
        core::detail::make_envelope<core::exit_signal>(x.address(), exit_reason()));
  };
  const std::uint64_t type = table.by_content(&base::message_type_of<unreadable>)->message.type;
  say({.kind = kind::message, .receiver = id, .sender = me, .type = type});
  CHECK(told == 1);
  CHECK(m.a.node.peers().size() == 1);
  source.stop();
}

}  // namespace lying_peers_test
