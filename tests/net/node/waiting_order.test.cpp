// Messages that wait for a busy link are not overtaken by other frames: by releases of handles and
// by answers.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace waiting_order_test {

using namespace garrick;

struct step {};
using taker_type = protocol<void(step)>;
struct make {};
struct tell {
  ref<taker_type> whom;
};
using teller_type = protocol<std::uint64_t(tell)>;
struct hello {
  ref<teller_type> who;
};
using desk_type = protocol<ref<taker_type>(make), void(step), void(hello)>;

constexpr std::uint64_t at_a_time = 20;
constexpr std::uint64_t rounds = 100;

struct totals {
  std::atomic<std::uint64_t> taken{0}, answers{0}, too_early{0};
  std::atomic<int> takers{0};
};

class taker : public actor<taker_type> {
 public:
  explicit taker(totals& all) : all_(all) { ++all_.takers; }
  taker(const taker&) = delete;
  taker& operator=(const taker&) = delete;
  ~taker() { --all_.takers; }
  void on(step) { ++all_.taken; }

 private:
  totals& all_;
};

/// Sends messages to the asker, and then answers.
class teller : public actor<teller_type> {
 public:
  std::uint64_t on(const tell& t) {
    for (std::uint64_t i = 0; i != at_a_time; ++i) send(t.whom, step{});
    return at_a_time;
  }
};

/// Asks again and again, and compares its count of messages with the answers.
class asker : public actor<protocol<void(step), void(hello)>> {
 public:
  explicit asker(totals& all) : all_(all) {}
  void on(step) { ++told_; }
  void on(const hello& h) {
    told_ = 0;
    request(h.who, tell{ref<taker_type>(self())}).then([this, h](std::uint64_t n) {
      if (told_ != n) ++all_.too_early;
      if (++all_.answers < rounds) on(h);
    });
  }

 private:
  totals& all_;
  std::uint64_t told_ = 0;
};

class desk : public actor<desk_type> {
 public:
  explicit desk(totals& all) : all_(all) {}
  ref<taker_type> on(make) { return spawn<taker>(lent(all_)); }
  void on(step) {}
  void on(const hello& h) { send(spawn<asker>(lent(all_)), h); }

 private:
  totals& all_;
};

/// Two nodes; messages of the right one keep the link full.
struct busy_nodes {
  totals all;
  actor_system left{tests::quiet()}, right{tests::quiet()};
  net::node a{left};
  net::node b{right, narrow()};
  ref<desk_type> far;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> others;

  static net::node_settings narrow() {
    net::node_settings s;
    s.link.mailbox.messages = 4;
    s.most_under_way = 500;  // a question waits for all messages before it
    return s;
  }
  busy_nodes() {
    const auto at = a.listen("tcp://127.0.0.1:0");
    REQUIRE(at.has_value());
    REQUIRE(a.publish("desk", left.spawn<desk>(lent(all))).has_value());
    far = b.remote<desk_type>(at->to_string(), "desk").value();
    for (int i = 0; i != 2; ++i)
      others.emplace_back([this] {
        while (!is_over) send(far, step{});
      });
  }
  ~busy_nodes() {
    is_over = true;
    for (std::thread& t : others) t.join();
  }
  busy_nodes(const busy_nodes&) = delete;
  busy_nodes& operator=(const busy_nodes&) = delete;
};

TEST_CASE("waiting order: the release of a handle does not overtake the messages sent to it") {
  busy_nodes n;
  for (std::uint64_t i = 0; i != rounds; ++i) {
    const auto made = n.right.request(n.far, make{}).get();
    REQUIRE(made.has_value());
    for (std::uint64_t k = 0; k != at_a_time; ++k) send(*made, step{});
  }
  tests::wait_until([&] { return n.all.takers == 0; });
  CHECK(n.all.taken == rounds * at_a_time);
  CHECK(n.right.dead_letter_count() == 0);
}

TEST_CASE("waiting order: an answer does not overtake the messages that its giver has sent first") {
  busy_nodes n;
  send(n.far, hello{n.right.spawn<teller>()});
  tests::wait_until([&] { return n.all.answers == rounds; });
  CHECK(n.all.too_early == 0);
}

}  // namespace waiting_order_test
