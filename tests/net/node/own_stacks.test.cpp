// Nodes with stacks of a program's own, in which are layers of its own.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <support/transports.hpp>

#include "net/node/simulated_machines.hpp"

namespace own_stacks_test {

using namespace garrick;
using namespace garrick::net;
using tests::three_machines;

struct number {
  std::int64_t n = 0;
};
using doubler_type = protocol<std::int64_t(number)>;
struct doubler : actor<doubler_type> {
  std::int64_t on(number x) { return 2 * x.n; }
};

/// The counts of layers, on any thread.
std::atomic<int> made = 0;
std::atomic<int> scrambled = 0;
std::atomic<std::size_t> largest_that_was_set = 0;

/// A layer made without arguments. A stack without it cannot read its messages.
class scrambling : public layer_defaults {
 public:
  static constexpr std::string_view wire_name = "scrambling";
  scrambling() { ++made; }
  void send(outgoing&& m, layer_context& c) {
    std::vector<std::byte> all = mixed(m.bytes.bytes());
    packet p = packet::with_room(m.bytes.room_in_front(), all.size());
    p.append(all);
    m.bytes = std::move(p);
    ++scrambled;
    c.down(std::move(m));
  }
  void receive(const incoming& m, layer_context& c) {
    static_cast<void>(c.up(m.with(mixed(m.bytes))));
  }

 private:
  static std::vector<std::byte> mixed(std::span<const std::byte> from) {
    std::vector<std::byte> all(from.begin(), from.end());
    for (std::byte& b : all) b ^= std::byte{0x5a};
    return all;
  }
};

/// A layer made of the settings of all layers.
class seeing_settings : public layer_defaults {
 public:
  static constexpr std::string_view wire_name = "seeing_settings";
  explicit seeing_settings(const link_settings& s) { largest_that_was_set = s.slicing.largest; }
  void send(outgoing&& m, layer_context& c) { c.down(std::move(m)); }
  void receive(const incoming& m, layer_context& c) { static_cast<void>(c.up(m)); }
};

using scrambled_stream = stack<byte_stream, actor_protocol, scrambling, seeing_settings, redelivery,
                               slicing, session, framing>;
using scrambled_datagrams = stack<datagrams, actor_protocol, scrambling, redelivery, slicing,
                                  ordering, reliability, session>;

node_settings scrambling_settings() {
  node_settings s;
  s.stacks.add<"scrambled", scrambled_stream>();
  s.stacks.add<"scrambled_datagrams", scrambled_datagrams>();
  s.stream_stack = "scrambled";
  s.datagram_stack = "scrambled_datagrams";
  s.link.slicing.largest = 12345678;
  return s;
}

TEST_CASE("own stacks: two nodes with a layer of one's own talk, and one without it is told") {
  made = scrambled = 0;
  largest_that_was_set = 0;
  three_machines m(scrambling_settings(), scrambling_settings());
  const auto there = m.a.shown_to(m.b, "doubler", m.a.system.spawn<doubler>());
  CHECK(m.b.system.request(there, number{21}).get().value() == 42);
  CHECK(made == 2);
  CHECK(scrambled >= 4);
  CHECK(largest_that_was_set == 12345678);
  const auto refused = m.c.node.remote<doubler_type>(m.a.at, "doubler");
  REQUIRE(!refused.has_value());
  CHECK_MESSAGE(refused.error() == net_errc::incompatible, refused.error().to_string());
  CHECK(m.b.system.request(there, number{4}).get().value() == 8);
}

TEST_CASE("own stacks: over datagrams, on real sockets") {
  scrambled = 0;
  actor_system of_a;
  actor_system of_b;
  node a(of_a, scrambling_settings());
  node b(of_b, scrambling_settings());
  const auto at = a.listen("udp://127.0.0.1:0");
  REQUIRE_MESSAGE(at.has_value(), at.error().to_string());
  REQUIRE(a.publish("doubler", of_a.spawn<doubler>()).has_value());
  const auto there = b.remote<doubler_type>(at->to_string(), "doubler");
  REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
  CHECK(of_b.request(*there, number{21}).get().value() == 42);
  CHECK(scrambled >= 4);
}

TEST_CASE("own stacks: a catalogue tells the transport and the guarantees of each") {
  stack_catalogue all = standard_stacks();
  all.add<"scrambled", scrambled_stream>();
  const named_stack* const it = all.find("scrambled");
  REQUIRE(it != nullptr);
  CHECK(it->transport == carrier_kind::stream);
  CHECK(it->provides.confirmed);
  CHECK(!it->fits(endpoint::parse("tcp://127.0.0.1:1").value()));
  CHECK(it->fits(endpoint::parse("udp://127.0.0.1:1").value()) == errc::invalid_setting);
  CHECK(all.explain("nothing").to_string().find("scrambled") != std::string::npos);
}

/// A layer that throws a given number of times when it sends.
int times_it_throws = 0;
class moody : public layer_defaults {
 public:
  static constexpr std::string_view wire_name = "moody";
  void send(outgoing&& m, layer_context& c) {
    if (times_it_throws > 0) {
      --times_it_throws;
      throw std::runtime_error("not today");
    }
    c.down(std::move(m));
  }
  void receive(const incoming& m, layer_context& c) { static_cast<void>(c.up(m)); }
};
using moody_stream =
    stack<byte_stream, actor_protocol, moody, redelivery, slicing, session, framing>;

TEST_CASE("own stacks: a layer that throws ends its link, and each waiting caller is told") {
  node_settings s;
  s.stacks.add<"moody", moody_stream>();
  s.stream_stack = "moody";
  tests::three_machines m(s, s);
  const auto far = m.b.shown_to(m.a, "doubler", m.b.system.spawn<doubler>());
  CHECK(m.a.system.request(far, number{1}).get().value() == 2);
  times_it_throws = 1;
  CHECK(m.a.system.request(far, number{1}).get().error() == net_errc::perhaps_delivered);
  CHECK(m.a.node.peers().empty());
  const auto again = m.a.node.remote<doubler_type>(m.b.at, "doubler");
  REQUIRE(again.has_value());
  CHECK(m.a.system.request(*again, number{2}).get().value() == 4);
}

/// A layer that throws, if asked, at the next message that comes to the node of this id.
constexpr node_id forgetful{0, 5};
std::atomic<bool> forgets = false;
class forgetting : public layer_defaults {
 public:
  static constexpr std::string_view wire_name = "forgetting";
  explicit forgetting(const link_settings& s) : is_it_(s.session.self.node == forgetful) {}
  void send(outgoing&& m, layer_context& c) { c.down(std::move(m)); }
  void receive(const incoming& m, layer_context& c) {
    if (is_it_ && forgets.exchange(false)) throw std::runtime_error("what was that?");
    static_cast<void>(c.up(m));
  }

 private:
  bool is_it_;
};
using forgetting_stream =
    stack<byte_stream, actor_protocol, redelivery, forgetting, slicing, session, framing>;

TEST_CASE("own stacks: a layer that throws at a message holds up no thread that waits to send") {
  node_settings s;
  s.stacks.add<"forgetting", forgetting_stream>();
  s.stream_stack = "forgetting";
  actor_system of_a;
  node a(of_a, s);
  const std::string at = a.listen("tcp://127.0.0.1:0").value().to_string();
  REQUIRE(a.publish("doubler", of_a.spawn<doubler>()).has_value());
  s.id = forgetful;
  s.most_under_way = 1;
  s.patience = duration::seconds(60);
  actor_system of_b;
  node b(of_b, s);
  const auto there = b.remote<doubler_type>(at, "doubler");
  REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
  CHECK(of_b.request(*there, number{21}).get().value() == 42);
  forgets = true;
  const auto begin = std::chrono::steady_clock::now();
  // An attempt is on its way, or has failed already. The next one waits until that is known.
  for (int i = 0; i < 3; ++i) send(*there, number{i});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  CHECK(!forgets);
}

struct note {
  std::string text;
};
struct how_many {};
using noting_type = protocol<void(note), int(how_many)>;
class noting : public actor<noting_type> {
 public:
  void on(const note&) { ++noted_; }
  int on(how_many) const { return noted_; }

 private:
  int noted_ = 0;
};

/// A layer that passes a message with these words up, and then throws.
constexpr std::string_view last_words = "this is too much for you";
class fainting : public layer_defaults {
 public:
  static constexpr std::string_view wire_name = "fainting";
  void send(outgoing&& m, layer_context& c) { c.down(std::move(m)); }
  void receive(const incoming& m, layer_context& c) {
    const std::string text(reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size());
    static_cast<void>(c.up(m));
    if (text.find(last_words) != text.npos) throw std::runtime_error("it is");
  }
};
using fainting_stream =
    stack<byte_stream, actor_protocol, redelivery, fainting, slicing, session, framing>;

TEST_CASE("own stacks: a message that a layer has passed up before it throws is handled") {
  node_settings s;
  s.stacks.add<"fainting", fainting_stream>();
  s.stream_stack = "fainting";
  actor_system of_a, of_b;
  node a(of_a, s), b(of_b, s);
  const std::string at = a.listen("tcp://127.0.0.1:0").value().to_string();
  const auto one = of_a.spawn<noting>();
  REQUIRE(a.publish("noting", one).has_value());
  const auto there = b.remote<noting_type>(at, "noting");
  REQUIRE_MESSAGE(there.has_value(), there.error().to_string());
  send(*there, note{std::string(last_words)});
  tests::wait_until([&] { return a.peers().empty(); });
  CHECK(of_a.request(one, how_many{}).get().value() == 1);
}

}  // namespace own_stacks_test
