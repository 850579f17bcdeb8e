// Two nodes of two systems over real sockets: names, messages, requests, handles, lives.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace nodes_test {

using namespace garrick;
using net::node;

struct add {
  std::int64_t a = 0;
  std::int64_t b = 0;
};
struct note {
  std::string text;
};
struct count {};
struct fail {};
using listener_type = protocol<void(note)>;
std::atomic<bool> throws_a_number{false};
/// A value that its codec refuses to write.
class unwritable {
 public:
  using garrick_sendable = void;
};
struct much {
  std::int64_t bytes = 0;
};
struct echo_to {
  ref<listener_type> who;
  std::string text;
};

}  // namespace nodes_test

template <>
struct garrick::net::codec<nodes_test::unwritable> {
  static void encode(byte_writer&, const nodes_test::unwritable&) {
    if (nodes_test::throws_a_number) throw 5;
    throw std::runtime_error("not today");
  }
  static void decode(byte_reader& in, nodes_test::unwritable&) { in.fail("never written"); }
};

namespace nodes_test {

using calculator_type =
    protocol<std::int64_t(add), void(note), std::int64_t(count), result<int>(fail), void(echo_to),
             void(int), void(unwritable), std::string(much)>;

class calculator : public actor<calculator_type> {
 public:
  std::int64_t on(add x) { return x.a + x.b; }
  void on(const note& n) { notes_.push_back(n.text); }
  std::int64_t on(count) { return static_cast<std::int64_t>(notes_.size()); }
  result<int> on(fail) { return make_error(errc::user, "calculator", "no"); }
  void on(const echo_to& e) { send(e.who, note{e.text}); }
  void on(int) { quit(make_error(errc::user, "enough")); }
  void on(unwritable) {}
  std::string on(much m) { return std::string(static_cast<std::size_t>(m.bytes), 'x'); }

 private:
  std::vector<std::string> notes_;
};

class listener : public actor<listener_type> {
 public:
  explicit listener(std::atomic<int>& heard) : heard_(heard) {}
  void on(const note& n) {
    if (n.text == "hello") ++heard_;
  }

 private:
  std::atomic<int>& heard_;
};

/// Two nodes, and a calculator on the first.
struct pair_of_nodes {
  actor_system left{tests::quiet()};
  actor_system right{tests::quiet()};
  std::unique_ptr<node> a = std::make_unique<node>(left);
  std::unique_ptr<node> b = std::make_unique<node>(right);
  ref<calculator_type> there = left.spawn<calculator>();
  std::string at;

  explicit pair_of_nodes(std::string_view where = "tcp://127.0.0.1:0") {
    const auto local = a->listen(where);
    REQUIRE(local.has_value());
    at = local->to_string();
    REQUIRE(a->publish("calculator", there).has_value());
  }
  ref<calculator_type> find() {
    auto found = b->remote<calculator_type>(at, "calculator");
    REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
    return *found;
  }
};

template <class P>
void wait_until(P p) {
  while (!p()) std::this_thread::yield();
}

TEST_CASE("nodes: a published actor is found, asked, and sent to as a local one") {
  tests::scratch_folder folder;
  for (const std::string& where :
       {std::string("tcp://127.0.0.1:0"), std::string("udp://127.0.0.1:0"),
        std::string("tcp://[::1]:0"), std::string("udp://[::1]:0"),
        "unix://" + folder.file("socket")}) {
    CAPTURE(where);
    if (where.find("[::1]") != std::string::npos && !tests::has_ipv6()) {
      MESSAGE("skipped: there is no IPv6");
      continue;
    }
    pair_of_nodes n(where);
    const auto calc = n.find();
    CHECK(n.right.request(calc, add{2, 3}).get().value() == 5);
    for (int i = 0; i < 1000; ++i) send(calc, note{std::to_string(i)});
    CHECK(n.right.request(calc, count{}).get().value() == 1000);
    const auto no = n.right.request(calc, fail{}).get();
    CHECK(no.error() == errc::user);
    CHECK(n.find() == calc);
    CHECK(n.a->peers().size() == 1);
    CHECK(n.b->peers() == std::vector<net::peer_identity>{n.a->self()});
    wait_until([&] {
      for (const net::link_count& c : n.b->counters(n.a->self()))
        if (c.layer == "reconnect" && c.name == "confirmed") return c.value >= 1000;
      return false;
    });
    CHECK(n.b->counters(n.b->self()).empty());
  }
}

TEST_CASE("nodes: a wildcard handle of another node's actor tells the protocols seen of it here") {
  pair_of_nodes n;
  using part = protocol<std::int64_t(count), void(note)>;
  using other = protocol<std::string(count)>;
  const auto counting = n.b->remote<protocol<std::int64_t(count)>>(n.at, "calculator").value();
  const any_ref wildcard(counting);
  CHECK(n.right.request_typed<part>(wildcard).get().error() == errc::unexpected_message);
  CHECK(n.find() == counting);  // now with all signatures
  const auto typed = n.right.request_typed<part>(wildcard).get();
  REQUIRE_MESSAGE(typed.has_value(), typed.error().to_string());
  send(*typed, note{"one"});
  CHECK(n.right.request(*typed, count{}).get().value() == 1);
  const auto no = n.right.request_typed<other>(wildcard).get();
  CHECK(no.error() == errc::unexpected_message);
  CHECK_MESSAGE(no.error().to_string().find("nodes_test::count") != std::string::npos,
                no.error().to_string());
  n.a.reset();
  wait_until([&] { return n.b->peers().empty(); });
  CHECK(n.right.request_typed<part>(wildcard).get().error() == errc::not_handled);
}

TEST_CASE("nodes: a message is lost alone if its codec throws anything") {
  pair_of_nodes n;
  const auto calc = n.find();
  for (const bool number : {false, true}) {
    throws_a_number = number;
    const auto before = n.right.dead_letter_count();
    send(calc, unwritable());
    CHECK(n.right.request(calc, add{1, 1}).get().value() == 2);
    CHECK(n.right.dead_letter_count() == before + 1);
  }
}

TEST_CASE("nodes: a handle in a message works from there, and comes home as a local one") {
  pair_of_nodes n;
  const auto calc = n.find();
  std::atomic<int> heard{0};
  const ref<listener_type> me = n.right.spawn<listener>(lent(heard));
  for (int i = 0; i < 10; ++i) send(calc, echo_to{me, "hello"});
  wait_until([&] { return heard == 10; });
}

TEST_CASE("nodes: names that are not there, or mean another protocol, are errors that say so") {
  pair_of_nodes n;
  using other = protocol<std::string(add)>;
  CHECK(n.b->remote<calculator_type>(n.at, "abacus").error() == registry_errc::not_found);
  const auto wrong = n.b->remote<other>(n.at, "calculator");
  CHECK(wrong.error() == net::net_errc::incompatible);
  // The error names the signature, and both of its answers.
  CHECK_MESSAGE(wrong.error().to_string().find("nodes_test::add") != std::string::npos,
                wrong.error().to_string());
  using part = protocol<std::int64_t(count)>;
  CHECK(n.b->remote<part>(n.at, "calculator").has_value());
  const auto twice = n.a->publish("calculator", n.there);
  CHECK(twice.error() == registry_errc::name_taken);
  CHECK(twice.error().to_string() == "the name is taken: calculator: it is published");
  CHECK(n.b->remote<part>("tcp://127.0.0.1:1", "x", duration::milliseconds(50)).error() ==
        errc::timeout);
  CHECK(n.a->remote<part>(n.at, "x").error() == net::net_errc::refused);  // the node itself
  CHECK(n.b->remote<part>("nonsense", "x").error() == net::net_errc::bad_endpoint);
  CHECK(n.a->listen("tcp://0.0.0.0:0").error() == net::net_errc::denied);
}

TEST_CASE(
    "nodes: a name that is too long is refused wherever it is said, and told by its beginning") {
  pair_of_nodes n;
  using part = protocol<std::int64_t(count)>;
  const std::string longest(net::longest_name, 'n');
  CHECK(n.a->publish(longest, n.there).has_value());
  CHECK(n.b->remote<part>(n.at, longest).has_value());
  const std::string beyond = longest + "n";
  for (const error& e :
       {n.a->publish(beyond, n.there).error(), n.b->remote<part>(n.at, beyond).error(),
        n.a->allow<calculator>(beyond).error(), n.b->spawn<part>(n.at, beyond).error()}) {
    CHECK(e == net::net_errc::too_large);
    CHECK(e.to_string() == "it is larger than is allowed: " + std::string(32, 'n') +
                               "...: a name of 256 bytes, where 255 are allowed");
  }
}

TEST_CASE("nodes: a monitor hears of the end of an actor, and of the end of a node") {
  pair_of_nodes n;
  auto calc = n.find();
  std::atomic<int> downs{0};
  std::string why;
  const any_ref watcher = n.right.spawn(lent([&](dynamic_actor& self) -> behavior {
    self.monitor(calc);
    return {[&](const down& d) {
      why = d.reason.to_string();
      ++downs;
    }};
  }));
  CHECK(n.right.request(calc, add{1, 1}).get().value() == 2);
  send(calc, 1);
  wait_until([&] { return downs == 1; });
  CHECK(why.find("enough") != std::string::npos);
  CHECK(n.right.request(calc, add{1, 1}).get().error() == errc::not_handled);

  CHECK(n.b->remote<calculator_type>(n.at, "calculator").error() == registry_errc::not_found);
  n.there = n.left.spawn<calculator>();
  REQUIRE(n.a->publish("calculator", n.there).has_value());
  calc = n.find();
  const any_ref second = n.right.spawn(lent([&](dynamic_actor& self) -> behavior {
    self.monitor(calc);
    return {[&](const down& d) {
      why = d.reason.to_string();
      ++downs;
    }};
  }));
  CHECK(n.right.request(calc, add{1, 1}).get().value() == 2);
  n.a.reset();
  wait_until([&] { return downs == 2; });
  CHECK(why.find("down") != std::string::npos);
  CHECK(n.right.request(calc, add{1, 1}).get().error() == errc::not_handled);
  CHECK(n.b->peers().empty());
}

TEST_CASE("nodes: an actor that the peer has a handle to is held, until the peer has let go") {
  pair_of_nodes n;
  {
    const auto calc = n.find();
    CHECK(n.a->unpublish("calculator"));
    CHECK(n.b->remote<calculator_type>(n.at, "calculator").error() == registry_errc::not_found);
    n.there = {};
    CHECK(n.right.request(calc, add{4, 4}).get().value() == 8);
    CHECK(n.left.actor_count() == 1);
  }
  wait_until([&] { return n.left.actor_count() == 0; });
}

TEST_CASE("nodes: a message that cannot be sent is told, and costs no credit") {
  pair_of_nodes n;
  const auto calc = n.find();
  const any_ref anything(calc);
  // Twice the first credit each: a sender that took credit for an unsent message would wait now.
  for (int i = 0; i < 512; ++i) send(calc, unwritable{});
  for (int i = 0; i < 512; ++i) send(anything, 'c');
  // If the link's thread is in the link, it encodes and reports the messages later.
  wait_until([&] { return n.right.dead_letter_count(net::net_errc::not_encodable) == 1024; });
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) send(calc, note{"after"});
  CHECK(n.right.request(calc, count{}).get().value() == 100);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(50));
  CHECK(n.right.request(calc, much{100}).get().value().size() == 100);
  const auto too_much = n.right.request(calc, much{80 << 20}).get();
  REQUIRE(!too_much.has_value());
  CHECK(too_much.error() == net::net_errc::too_large);
}

TEST_CASE("nodes: a name that begins as this machine's address does is not this machine") {
  pair_of_nodes n;
  using part = protocol<std::int64_t(count)>;
  CHECK(n.b->remote<part>("tcp://127.org:80", "x").error() == net::net_errc::denied);
}

TEST_CASE("nodes: a peer in quarantine gets nothing into a mailbox any more") {
  pair_of_nodes n;
  const auto calc = n.find();
  CHECK(n.right.request(calc, add{1, 1}).get().value() == 2);
  n.a->quarantine(n.b->self());
  const auto before = n.left.request(n.there, count{}).get().value();
  for (int i = 0; i < 100; ++i) send(calc, note{"late"});
  CHECK(!n.right.request(calc, add{1, 1}).get().has_value());
  CHECK(n.left.request(n.there, count{}).get().value() == before);
  const auto again = n.b->remote<calculator_type>(n.at, "calculator", duration::seconds(60));
  REQUIRE(!again.has_value());
  CHECK_MESSAGE(again.error().to_string().find("given this incarnation up") != std::string::npos,
                again.error().to_string());
}

}  // namespace nodes_test
