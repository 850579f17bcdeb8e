// Handles in messages that are not read hold no actor: in refused, dropped and late messages, and
// in fields that the receiver's build does not know.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace released_handles_test {

using namespace garrick;
using tests::listening_machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct ping {};
using guest_type = protocol<int(ping)>;

/// Counts the living guests.
class guest : public actor<guest_type> {
 public:
  explicit guest(int& alive) : alive_(alive) { ++alive_; }
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;
  ~guest() { --alive_; }
  int on(ping) { return 7; }

 private:
  int& alive_;
};

struct invite {
  ref<guest_type> who;
};
struct bring {
  ref<guest_type> who;
  std::string luggage;
};
struct make_one {
  duration after;
};
struct deliver {};
using host_type = protocol<result<int>(invite), void(bring), result<ref<guest_type>>(make_one),
                           void(deliver), int(ping)>;

/// Never answers an invitation, and has guests made after a while.
class host : public actor<host_type> {
 public:
  explicit host(int& alive) : alive_(alive) {}
  result<int> on(const invite&) {
    kept_.push_back(make_promise<int>());
    return kept_.back();
  }
  void on(const bring&) {}
  result<ref<guest_type>> on(make_one m) {
    made_ = make_promise<ref<guest_type>>();
    send_after(m.after, self(), deliver{});
    return made_;
  }
  void on(deliver) { made_.deliver(spawn<guest>(lent(alive_))); }
  int on(ping) { return static_cast<int>(kept_.size()); }

 private:
  int& alive_;
  std::vector<response_promise<int>> kept_;
  response_promise<ref<guest_type>> made_;
};

struct there_and_here {
  int alive = 0;  // living guests
  three_machines m;
  ref<host_type> to;

  explicit there_and_here(net::node_settings of_a = {}, net::node_settings of_b = {})
      : m(std::move(of_a), std::move(of_b)),
        to(m.b.shown_to(m.a, "host", m.b.system.spawn<host>(lent(alive)))) {}

  ref<guest_type> new_guest() { return m.a.system.spawn<guest>(lent(alive)); }
  void settle() {
    m.a.system.run_for(ms(1000));
    CHECK(m.a.system.request(to, ping{}).get().has_value());  // the link still works
  }
};

/// A message of two builds: the older one does not know the second field.
struct older_letter {
  static constexpr std::string_view garrick_wire_name = "released_handles_test::letter";
  int number = 0;
};
struct newer_letter {
  static constexpr std::string_view garrick_wire_name = "released_handles_test::letter";
  int number = 0;
  ref<guest_type> from;
};
class older_reader : public actor<protocol<int(older_letter)>> {
 public:
  int on(const older_letter& l) { return l.number; }
};

TEST_CASE("released handles: one that was read holds its actor as long as a copy of it exists") {
  there_and_here n;
  send(n.to, bring{n.new_guest(), "a bag"});
  n.settle();
  CHECK(n.alive == 0);
  const auto made = n.m.a.system.request(n.to, make_one{}).get();
  REQUIRE(made.has_value());
  n.settle();
  CHECK(n.alive == 1);
  CHECK(n.m.a.system.request(*made, ping{}).get().value() == 7);
}

TEST_CASE("released handles: of an answer that comes too late, or is not wanted any more") {
  // The way takes 3 ms. So the answer to the second request crosses the word that nothing waits.
  for (const auto& [limit, after] : {std::pair(20, 100), std::pair(20, 16)}) {
    CAPTURE(after);
    there_and_here n;
    const auto made = n.m.a.system.request(n.to, make_one{ms(after)}, ms(limit)).get();
    CHECK(made.error() == errc::timeout);
    n.m.a.system.run_for(ms(200));
    n.settle();
    CHECK(n.alive == 0);
  }
}

TEST_CASE("released handles: of requests that the other node refuses") {
  there_and_here n({}, {.most_questions = 8});
  core::scoped_actor me(n.m.a.system.env());
  std::vector<pending_response<int>> open;
  for (int i = 0; i < 20; ++i) open.push_back(me->request(n.to, invite{n.new_guest()}));
  n.m.a.system.run_for(ms(50));
  CHECK(n.m.a.system.request(n.to, ping{}).get().error() == errc::overload);
  CHECK(n.alive == 0);  // the host has read eight, and keeps none
  open.clear();
  n.settle();
}

TEST_CASE("released handles: of a message that is too large, and of one that does not leave") {
  net::node_settings narrow;
  narrow.link.mailbox.messages = 4;
  there_and_here n(narrow);
  send(n.to, bring{n.new_guest(), std::string(20u << 20, 'x')});
  n.settle();
  CHECK(n.alive == 0);
  n.m.net.cut("a", "b");
  {
    core::scoped_actor me(n.m.a.system.env());
    std::vector<pending_response<int>> open;
    for (int i = 0; i < 50; ++i) {
      open.push_back(me->request(n.to, invite{n.new_guest()}));
      n.m.a.system.run_for(ms(1));
    }
    CHECK(n.alive == 50);
  }
  n.m.net.heal("a", "b");
  n.settle();
  CHECK(n.alive == 0);
}

TEST_CASE("released handles: of a field that the receiver's build does not know") {
  there_and_here n;
  const auto reader = n.m.b.system.spawn<older_reader>();
  REQUIRE(n.m.b.node.publish("reader", reader).has_value());
  const auto found = n.m.a.node.remote<protocol<int(newer_letter)>>(n.m.b.at, "reader");
  REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
  CHECK(n.m.a.system.request(*found, newer_letter{5, n.new_guest()}).get().value() == 5);
  n.settle();
  CHECK(n.alive == 0);
}

}  // namespace released_handles_test
