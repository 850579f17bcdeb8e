// While a peer takes nothing, the messages that wait for it are bounded for all kinds of senders;
// and signals about lives do not wait behind them.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/codec.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <support/in_child.hpp>
#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/other_process.hpp"
#include "net/node/peer/service.hpp"
#include "net/node/simulated_machines.hpp"

namespace waiting_messages_test {

using namespace garrick;
using tests::letters;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct number {
  std::int64_t n = 0;
  std::string ballast{};
};
struct seen {};

/// Called while a `meanwhile` is written, which counts as the next number.
std::function<void()> at_encoding;
class meanwhile {
 public:
  using garrick_sendable = void;
};

}  // namespace waiting_messages_test

template <>
struct garrick::net::codec<waiting_messages_test::meanwhile> {
  static void encode(byte_writer& out, const waiting_messages_test::meanwhile&) {
    out.fixed(std::uint8_t{1});
    if (const auto what = std::exchange(waiting_messages_test::at_encoding, nullptr)) what();
  }
  static void decode(byte_reader& in, waiting_messages_test::meanwhile&) {
    static_cast<void>(in.fixed<std::uint8_t>());
  }
};

namespace waiting_messages_test {

struct introduction;
using sum_type = protocol<void(number), void(meanwhile), void(introduction), std::int64_t(seen)>;
struct introduction {
  ref<sum_type> whom;
  std::string ballast{};
};

struct step {
  ref<sum_type> to;
};
constexpr std::int64_t each = 60;  // large messages

/// Counts numbers; the count is -1 if a number was missing before another, or came twice.
class in_order : public actor<sum_type> {
 public:
  void on(const number& x) { next_ = next_ == x.n ? next_ + 1 : -1; }
  void on(const meanwhile&) { ++next_; }
  void on(const introduction&) { ++next_; }
  std::int64_t on(seen) { return next_; }

 private:
  std::int64_t next_ = 0;
};

class pourer : public actor<protocol<std::int64_t(step)>> {
 public:
  std::int64_t on(const step& go) {
    for (std::int64_t i = 0; i != each; ++i) send(go.to, number{i, std::string(1u << 20, 'x')});
    return each;
  }
};

std::uint64_t count_of(net::node& n, const net::node& of, std::string_view name) {
  for (const net::link_count& c : n.counters(of.self()))
    if (c.layer == "node" && c.name == name) return c.value;
  return 0;
}

/// Reads its first message when the test allows it.
class slow : public actor<protocol<void(number)>> {
 public:
  slow(std::atomic<bool>& may_read, std::atomic<std::int64_t>& read)
      : may_read_(&may_read), read_(&read) {}
  void on(const number& x) {
    may_read_->wait(false);
    if (*read_ == x.n) ++*read_;
  }

 private:
  std::atomic<bool>* may_read_;
  std::atomic<std::int64_t>* read_;
};

TEST_CASE(
    "waiting messages: a thread that may not wait loses those beyond twice the limit, and is "
    "told") {
  net::node_settings s;
  s.most_under_way = 500;
  three_machines m(s);
  const auto to = m.b.shown_to(m.a, "sum", m.b.system.spawn<in_order>());
  CHECK(m.a.system.request(to, seen{}).get().value() == 0);
  m.a.system.run_for(ms(100));  // until the answer is confirmed
  m.net.cut("a", "b");
  for (std::int64_t i = 0; i < 3000; ++i) send(to, number{i});  // a simulation cannot wait
  CHECK(letters(m.a.system, errc::overload) == 2000);
  CHECK(count_of(m.a.node, m.b.node, "under_way") == 1000);
  m.net.heal("a", "b");
  m.a.system.run_for(duration::seconds(5));
  CHECK(m.a.system.request(to, seen{}).get().value() == 1000);
  m.a.system.run_for(ms(100));
  CHECK(count_of(m.a.node, m.b.node, "under_way") == 0);
  // The credit is as before: no sender owes anything for lost messages.
  for (std::int64_t i = 1000; i < 1400; ++i) send(to, number{i});
  CHECK(m.a.system.request(to, seen{}).get().value() == 1400);
}

TEST_CASE("waiting messages: those in front of a busy link count among them") {
  net::node_settings s;
  s.most_under_way = 100;
  s.link.mailbox.messages = 4;  // so messages wait in front of the link
  three_machines m(s);
  const auto to = m.b.shown_to(m.a, "sum", m.b.system.spawn<in_order>());
  m.net.cut("a", "b");
  for (std::int64_t i = 0; i < 150; ++i) send(to, number{i});
  at_encoding = [&] {
    for (std::int64_t i = 151; i < 1000; ++i) send(to, number{i});
  };
  send(to, meanwhile());
  CHECK(at_encoding == nullptr);
  CHECK(letters(m.a.system, errc::overload) == 800);
  m.net.heal("a", "b");
  m.a.system.run_for(duration::seconds(5));
  CHECK(m.a.system.request(to, seen{}).get().value() == 200);
}

TEST_CASE("waiting messages: their bytes have a limit, too") {
  net::node_settings s;
  s.most_bytes_waiting = 1u << 20;
  s.link.mailbox.bytes = 256u << 10;
  three_machines m(s);
  const auto to = m.b.shown_to(m.a, "sum", m.b.system.spawn<in_order>());
  m.net.cut("a", "b");
  for (std::int64_t i = 0; i < 200; ++i) send(to, number{i, std::string(32u << 10, 'x')});
  const std::uint64_t kept = count_of(m.a.node, m.b.node, "under_way");
  CHECK(kept >= 32);
  CHECK(kept <= 45);
  CHECK(letters(m.a.system, errc::overload) == 200 - kept);
  m.net.heal("a", "b");
  m.a.system.run_for(duration::seconds(5));
  CHECK(m.a.system.request(to, seen{}).get().value() == static_cast<std::int64_t>(kept));
}

TEST_CASE(
    "waiting messages: their bytes have it also behind others, and if the link encodes them") {
  for (const bool has_handle : {false, true}) {
    CAPTURE(has_handle);
    net::node_settings s;
    s.most_bytes_waiting = 1u << 20;
    s.link.mailbox.bytes = 256u << 10;
    three_machines m(s);
    const auto sum = m.b.system.spawn<in_order>();
    // The actor is first known by a part of its protocol.
    const auto part =
        m.b.shown_to(m.a, "part", ref<protocol<void(meanwhile), std::int64_t(seen)>>(sum));
    const auto to = m.b.shown_to(m.a, "sum", sum);
    const auto more = [&](int times) {
      for (int i = 0; i < times; ++i) {
        std::string ballast(32u << 10, 'x');
        if (has_handle)
          send(to, introduction{to, std::move(ballast)});
        else
          send(to, number{i, std::move(ballast)});
      }
    };
    for (int round = 0; round != 3; ++round) {  // all credit comes back
      CAPTURE(round);
      const std::uint64_t before = letters(m.a.system, errc::overload);
      m.net.cut("a", "b");
      more(9);  // the stack takes no more
      at_encoding = [&] { send(to, number{}); };
      send(to, meanwhile());  // so a message more is in front of the link
      more(200);
      const std::uint64_t kept = before + 211 - letters(m.a.system, errc::overload);
      CHECK(kept >= 32);
      CHECK(kept <= 47);
      m.net.heal("a", "b");
      m.a.system.run_for(duration::seconds(5));
      CHECK(count_of(m.a.node, m.b.node, "under_way") == 0);
      CHECK(letters(m.a.system, errc::overload) == before + 211 - kept);
    }
  }
}

TEST_CASE("waiting messages: a codec that sends does not wait while it holds the link") {
  net::node_settings narrow;
  narrow.link.mailbox.messages = 4;
  three_machines m(narrow);
  const auto to = m.b.shown_to(m.a, "sum", m.b.system.spawn<in_order>());
  m.net.cut("a", "b");
  for (std::int64_t i = 0; i < 10; ++i) send(to, number{i});  // the stack takes no more
  const auto waits = [&] {
    bool does = true;
    at_encoding = [&] { does = base::this_thread.no_wait == 0; };
    send(to, meanwhile());
    return does;
  };
  CHECK(base::this_thread.no_wait == 0);
  CHECK_FALSE(waits());
  at_encoding = [&] { send(to, number{}); };
  send(to, meanwhile());  // so a message is in front of the link
  CHECK_FALSE(waits());
}

TEST_CASE("waiting messages: signals and heartbeats do not wait behind them") {
  net::node_settings narrow;
  narrow.link.mailbox.messages = 4;  // so the messages take seconds
  three_machines m(narrow);
  const auto to = m.b.shown_to(m.a, "sum", m.b.system.spawn<in_order>());
  const auto victim = m.b.system.spawn<in_order>();
  const auto other = m.b.shown_to(m.a, "victim", victim);
  for (std::int64_t i = 0; i < 5000; ++i) send(to, number{i});
  m.a.system.kill(other);
  m.a.system.run_for(ms(20));
  m.b.system.expect_down(victim, exit_code::kill);
  CHECK(count_of(m.a.node, m.b.node, "under_way") > 4000);
  m.a.system.run_for(duration::seconds(60));
  CHECK(m.a.node.peers().size() == 1);
  CHECK(m.a.system.request(to, seen{}).get().value() == 5000);
}

TEST_CASE("waiting messages: signals do not wait behind those in front of a busy link, either") {
  net::node_settings narrow;
  narrow.link.mailbox.messages = 4;
  three_machines m(narrow);
  const auto to = m.b.shown_to(m.a, "sum", m.b.system.spawn<in_order>());
  const auto victim = m.b.system.spawn<in_order>();
  const auto other = m.b.shown_to(m.a, "victim", victim);
  for (std::int64_t i = 0; i < 1000; ++i) send(to, number{i});
  at_encoding = [&] {
    for (std::int64_t i = 1001; i < 2000; ++i) send(to, number{i});
    m.a.system.kill(other);
  };
  send(to, meanwhile());
  m.a.system.run_for(ms(20));
  m.b.system.expect_down(victim, exit_code::kill);
  CHECK(count_of(m.a.node, m.b.node, "under_way") > 1000);
  m.a.system.run_for(duration::seconds(60));
  CHECK(m.a.system.request(to, seen{}).get().value() == 2000);
}

TEST_CASE("waiting messages: a process that is stopped does not make this one grow") {
  tests::other_process other("tcp://127.0.0.1:0", 60'000);
  actor_system system(tests::quiet());
  net::node_settings s = tests::node_with(60'000);
  s.patience = ms(1);  // so that many senders owe credit
  s.most_under_way = 1000;
  net::node here(system, s);
  const auto found =
      here.remote<tests::service_type>(other.at, tests::service_name, duration::seconds(60));
  REQUIRE(found.has_value());
  other.stop();
  std::atomic<bool> is_over{false};
  std::vector<std::thread> senders;
  for (std::uint64_t i = 0; i < 4; ++i)
    senders.emplace_back([&, i] {
      for (std::uint64_t n = 0; !is_over; ++n) send(*found, tests::numbered{100 + i, n});
    });
  tests::wait_until([&] { return system.dead_letter_count(errc::overload) > 100; });
  const std::uint64_t before = tests::usage_of_this_process().resident;
  tests::wait_until([&] { return system.dead_letter_count(errc::overload) > 1500; });
  const std::uint64_t after = tests::usage_of_this_process().resident;
  is_over = true;
  for (std::thread& t : senders) t.join();
  if (!HAS_SANITIZER) CHECK(after < before + (2u << 20));
  CHECK(here.peers().size() == 1);
  other.go_on();
  const std::string result = tests::visit(system, here, other.at, 1, 100);
  CHECK_MESSAGE(result == "ok", result);
}

TEST_CASE("waiting messages: a sender of large ones that may wait is slowed, and none is lost") {
  for (const char* where : {"tcp://127.0.0.1:0", "udp://127.0.0.1:0"}) {
    CAPTURE(where);
    actor_system left(tests::quiet()), right(tests::quiet());
    net::node_settings s;
    s.most_bytes_waiting = 8u << 20;
    s.patience = duration::seconds(60);
    net::node a(left), b(right, s);
    const auto box = left.spawn<in_order>();
    REQUIRE(a.publish("box", box).has_value());
    const std::string at = a.listen(where).value().to_string();
    const auto far = b.remote<sum_type>(at, "box").value();
    const auto from_an_actor = right.spawn<pourer>();
    CHECK(right.request(from_an_actor, step{far}).get().value() == each);
    // Each sender has a lane, and lanes of large messages overtake each other.
    tests::wait_until([&] { return left.request(box, seen{}).get().value() == each; });
    for (std::int64_t i = each; i != 2 * each; ++i)
      send(far, number{i, std::string(1u << 20, 'x')});
    tests::wait_until([&] { return left.request(box, seen{}).get().value() == 2 * each; });
    CHECK(right.dead_letter_count() == 0);
  }
}

TEST_CASE("waiting messages: a sender to a slow actor of another node waits, and none is lost") {
  constexpr std::int64_t all = 20'000;
  actor_system left(tests::quiet()), right(tests::quiet());
  net::node_settings s;
  s.patience = duration::seconds(60);
  net::node a(left), b(right, s);
  std::atomic<bool> may_read{false};
  std::atomic<std::int64_t> read{0}, sent{0};
  const auto box = left.spawn<slow>(spawn_options{.detached = true}, lent(may_read), lent(read));
  REQUIRE(a.publish("slow", box).has_value());
  REQUIRE(a.publish("box", left.spawn<in_order>()).has_value());
  const std::string at = a.listen("tcp://127.0.0.1:0").value().to_string();
  const auto far = b.remote<protocol<void(number)>>(at, "slow").value();
  const auto other = b.remote<sum_type>(at, "box").value();
  std::thread sender([&] {
    for (; sent != all; ++sent) send(far, number{sent});
  });
  tests::wait_until([&] { return sent >= 128; });
  // The sender is stalled if requests of others come and go while its count does not grow.
  for (std::int64_t before = -1; before != sent && sent != all;) {
    before = sent;
    for (int i = 0; i != 50; ++i) CHECK(right.request(other, seen{}).get().value() == 0);
  }
  CHECK(sent < 2000);
  may_read = true;
  may_read.notify_all();
  sender.join();
  tests::wait_until([&] { return read == all; });
  CHECK(right.dead_letter_count() == 0);
  CHECK(left.dead_letter_count() == 0);
}

}  // namespace waiting_messages_test
