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

/// Sends more than the first credit and lets go. Its monitor keeps the proxy's address.
struct sender : actor<protocol<void(order), bool(done), void(down)>> {
  void on(const order& o) {
    monitor(o.to);
    for (int i = 0; i < 258; ++i) send(o.to, drop{});
  }
  bool on(done) { return true; }
  void on(const down&) {}
};

}  // namespace pauses_test

using namespace pauses_test;

TEST_CASE("pauses: who lets go of whom it pauses for does not pause for its whole patience") {
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
    CHECK(near.request(one, done{}, duration::seconds(30)).get().has_value());
  }
}

namespace pauses_test {

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

}  // namespace pauses_test

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
