// An actor that has sent without credit pauses until there is some, and no longer.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/other_process.hpp"
#include "net/node/peer/service.hpp"

namespace pauses_test {

using namespace garrick;

constexpr duration long_time = duration::seconds(60);
struct drop {};
struct make {};
struct done {};
using sink_type = protocol<void(drop)>;
using maker_type = protocol<ref<sink_type>(make)>;

struct sink : actor<sink_type> {
  void on(drop) {}
};

class maker : public actor<maker_type> {
 public:
  ref<sink_type> on(make) { return made_.emplace_back(spawn<sink>()); }

 private:
  std::vector<ref<sink_type>> made_;
};

struct order {
  ref<sink_type> to;
};

/// Sends more than the first credit and drops the handle. Its monitor keeps the proxy's address.
struct sender : actor<protocol<void(order), bool(done), void(down)>> {
  void on(const order& o) {
    monitor(o.to);
    for (int i = 0; i < 258; ++i) send(o.to, drop{});
  }
  bool on(done) { return true; }
  void on(const down&) {}
};

TEST_CASE(
    "pauses: an actor that drops the handle it pauses for does not pause for its whole patience") {
  actor_system far(tests::quiet(2)), near(tests::quiet(2));
  net::node_settings s;
  s.patience = long_time;
  net::node there(far, s), here(near, s);
  const std::string at = there.listen("tcp://127.0.0.1:0").value().to_string();
  REQUIRE(there.publish("maker", far.spawn<maker>()).has_value());
  const auto makes = here.remote<maker_type>(at, "maker").value();
  for (int i = 0; i < 5; ++i) {
    const auto one = near.spawn<sender>();
    send(one, order{near.request(makes, make{}, long_time).get().value()});
    REQUIRE(near.request(one, done{}, duration::seconds(30)).get().has_value());
  }
}

struct block {
  std::string bytes;
};
struct arrived {};
using store_type = protocol<void(block), int(arrived)>;

class store : public actor<store_type> {
 public:
  void on(const block&) { ++number_; }
  int on(arrived) { return number_; }

 private:
  int number_ = 0;
};

constexpr std::size_t block_size = 1u << 20;

/// Sends two blocks in one handler.
class mover : public actor<protocol<void(make)>> {
 public:
  explicit mover(ref<store_type> to) : to_(std::move(to)) {}
  void on(make) {
    for (int i = 0; i < 2; ++i) send(to_, block{std::string(block_size, 'b')});
  }

 private:
  ref<store_type> to_;
};

TEST_CASE("pauses: actors that have filled the line wait in send, and lose nothing") {
  constexpr int movers = 20;
  actor_system far(tests::quiet(2)), near(tests::quiet(2));
  net::node_settings s;
  s.patience = long_time;
  s.most_bytes_waiting = 4 * block_size;
  net::node there(far), here(near, s);
  const std::string at = there.listen("tcp://127.0.0.1:0").value().to_string();
  const auto one = far.spawn<store>();
  there.publish("store", one).value();
  const auto to = here.remote<store_type>(at, "store", long_time).value();
  std::vector<ref<protocol<void(make)>>> all;
  for (int i = 0; i < movers; ++i) send(all.emplace_back(near.spawn<mover>(to)), make{});
  tests::wait_until([&] {
    return near.dead_letter_count() != 0 ||
           far.request(one, arrived{}, long_time).get().value() == 2 * movers;
  });
  CHECK(near.dead_letter_count() == 0);
}

struct pile {
  ref<tests::service_type> to;
  std::uint64_t sender = 0;
  std::uint64_t number = 500;
};
using piler_type = protocol<std::uint64_t(pile)>;

class piler : public actor<piler_type> {
 public:
  std::uint64_t on(const pile& p) {
    for (std::uint64_t i = 0; i != p.number; ++i) send(p.to, tests::numbered{p.sender, i});
    return p.number;
  }
};

TEST_CASE("pauses: of the senders that find no room, one waits in vain, and not each") {
  tests::other_process other("tcp://127.0.0.1:0", 60'000);
  actor_system system(tests::quiet(1));  // so few senders find the link busy
  net::node_settings s = tests::node_with(60'000);
  s.patience = duration::seconds(2);
  s.most_bytes_waiting = 1024;  // some hundred messages, fewer than the first credit
  s.link.mailbox.messages = 4;
  net::node here(system, s);
  const auto to =
      here.remote<tests::service_type>(other.at, tests::service_name, long_time).value();
  const auto echo = system.spawn<tests::echo>();
  other.stop();
  // As many actors as there is room for pause.
  for (int i = 0; i < 1000; ++i) send(system.spawn<piler>(), pile{to, 1, 2});
  tests::wait_until([&] { return system.dead_letter_count(errc::overload) > 1000; });
  // Each of these would wait for a thousand seconds.
  for (int i = 0; i < 100; ++i) send(system.spawn<piler>(), pile{to, 1});
  CHECK(system.request(echo, tests::question{1}, long_time).get().value() == 2);
  tests::wait_until([&] { return system.dead_letter_count(errc::overload) > 10'000; });
  other.go_on();
  CHECK(tests::visit(system, here, other.at, 2, 100) == "ok");
  // Now that the node goes on, senders wait for it again.
  const std::uint64_t lost = system.dead_letter_count();
  CHECK(system.request(system.spawn<piler>(), pile{to, 3}, long_time).get().value() == 500);
  CHECK(system.request(to, tests::how_many{3}, long_time).get().value() == 500);
  CHECK(system.dead_letter_count() == lost);
}

}  // namespace pauses_test
