// A name of another node that leads to an actor of the node which asks: it is the local handle, as
// when a handle comes home in a message.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

namespace names_at_home_test {

using namespace garrick;
using kind = net::frame_kind;
using net::net_errc;
using tests::letters;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct ping {};
struct note {};
using guest_type = protocol<int(ping), void(note)>;
using pinged_type = protocol<int(ping)>;

/// Counts the living guests.
class guest : public actor<guest_type> {
 public:
  explicit guest(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;
  ~guest() { --alive_; }
  int on(ping) { return noted_; }
  void on(note) { ++noted_; }

 private:
  std::atomic<int>& alive_;
  int noted_ = 0;
};

std::uint64_t counted(const net::node& at, const net::peer_identity& of, std::string_view layer,
                      std::string_view name) {
  for (const net::link_count& c : at.counters(of))
    if (c.layer == layer && c.name == name) return c.value;
  return ~std::uint64_t{0};
}

/// Three machines; b publishes actors of a.
struct borrowed {
  std::atomic<int> alive{0};
  three_machines m;

  ref<guest_type> new_guest() { return m.a.system.spawn<guest>(lent(alive)); }
  /// Gives `who` of a to b, which publishes it as "borrowed".
  template <class P>
  ref<P> lend(const ref<P>& who, const std::string& as = "borrowed") {
    const ref<P> at_b = m.a.shown_to(m.b, as, who);
    REQUIRE(m.a.node.unpublish(as));
    REQUIRE(m.b.node.publish(as, at_b).has_value());
    return at_b;
  }
  template <class P>
  result<ref<P>> found(const std::string& name = "borrowed") {
    return m.a.node.remote<P>(m.b.at, name);
  }
  std::uint64_t at_a(std::string_view name) {
    return counted(m.a.node, m.b.node.self(), "node", name);
  }
  std::uint64_t at_b(std::string_view name) {
    return counted(m.b.node, m.a.node.self(), "node", name);
  }
  /// Returns the number of confirmed frames between the two nodes.
  std::uint64_t frames() {
    m.a.system.run_for(ms(100));
    return counted(m.a.node, m.b.node.self(), "reconnect", "confirmed") +
           counted(m.b.node, m.a.node.self(), "reconnect", "confirmed");
  }
};

/// A stranger that `a` asks for a name, and that answers as the test likes.
struct with_stranger {
  std::atomic<int> alive{0};
  three_machines m;
  tests::stranger s{m, m.a, "a"};
  core::scoped_actor me{m.a.system.env()};
  std::optional<ref<guest_type>> desk = m.a.system.spawn<guest>(lent(alive));
  net::actor_id id;  // of the desk

  with_stranger() {
    REQUIRE(m.a.node.publish<pinged_type>("desk", *desk).has_value());
    id = s.resolve<pinged_type>("desk");
    REQUIRE(id);
  }
  template <class P>
  result<ref<P>> answered(const net::actor_id& receiver, const net::actor_id& sender) {
    const std::size_t before = s.heard().size();
    auto asked = m.a.node.remote<P>(*me, net::peer_identity{{0, 77}, 7}, "somebody");
    m.a.system.run_for(ms(50));
    REQUIRE(s.heard().size() == before + 1);
    const tests::stranger::words question = s.heard().back();
    REQUIRE(question.kind == kind::resolve);
    s.say(
        {.kind = kind::resolved, .receiver = receiver, .sender = sender, .number = question.number},
        *net::protocol_table_of<P>().described());
    return me->get(std::move(asked));
  }
};

TEST_CASE("names at home: an actor that is found by another node's name is the local one") {
  borrowed n;
  const auto mine = n.new_guest();
  const auto at_b = n.lend(mine);
  CHECK(n.at_a("exports") == 1);
  const auto found = n.found<guest_type>();
  REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
  CHECK(*found == mine);
  CHECK(any_ref(*found) == any_ref(mine));
  const auto part = n.found<pinged_type>();
  REQUIRE(part.has_value());
  CHECK(any_ref(*part) == any_ref(mine));
  // Neither end knows more than before.
  CHECK(n.at_a("exports") == 1);
  CHECK(n.at_a("proxies") == 0);
  CHECK(n.at_b("exports") == 0);
  CHECK(n.at_b("proxies") == 1);
  CHECK(n.at_b("under_way") == 0);
  // Messages to it do not go over the network: this counts the frames there.
  const std::uint64_t before = n.frames();
  REQUIRE(n.m.b.system.request(at_b, ping{}).get().value() == 0);
  const std::uint64_t one_request = n.frames() - before;
  CHECK(one_request >= 2);
  for (int i = 0; i < 1000; ++i) send(*found, note{});
  CHECK(n.m.a.system.request(*found, ping{}).get().value() == 1000);
  CHECK(n.m.a.system.request(*part, ping{}).get().value() == 1000);
  CHECK(n.frames() == before + one_request);
}

TEST_CASE("names at home: it outlives the name, the node that has it, and the network") {
  borrowed n;
  auto found = [&] {
    const auto at_b = n.lend(n.new_guest());
    return n.found<guest_type>();
  }();
  REQUIRE(found.has_value());
  n.m.net.cut("a", "b");
  CHECK(n.m.a.system.request(*found, ping{}).get().value() == 0);
  n.m.net.heal("a", "b");
  REQUIRE(n.m.b.node.unpublish("borrowed"));
  n.m.a.system.run_for(ms(1000));
  CHECK(n.at_a("exports") == 0);  // b holds no actor any more
  CHECK(n.at_b("proxies") == 0);
  CHECK(n.alive == 1);
  CHECK(n.m.a.system.request(*found, ping{}).get().value() == 0);
  CHECK(n.found<guest_type>().error() == registry_errc::not_found);
  n.m.a.node.quarantine(n.m.b.node.self());
  CHECK(n.m.a.system.request(*found, ping{}).get().value() == 0);
  found = error(errc::timeout);
  n.m.a.system.run_for(ms(1));
  CHECK(n.alive == 0);
}

TEST_CASE("names at home: the name alone holds the actor, also when it is the last that does") {
  borrowed n;
  static_cast<void>(n.lend(n.new_guest()));
  n.m.a.system.run_for(ms(1000));
  CHECK(n.alive == 1);
  CHECK(n.found<guest_type>().has_value());
  REQUIRE(n.m.b.node.unpublish("borrowed"));
  n.m.a.system.run_for(ms(1000));
  CHECK(n.alive == 0);
}

TEST_CASE(
    "names at home: an ended actor is not found there, and a wider protocol names the missing "
    "part") {
  borrowed n;
  const auto mine = n.new_guest();
  const auto at_b = n.lend(ref<pinged_type>(mine));
  const auto more = n.found<guest_type>();
  CHECK(more.error() == net_errc::incompatible);
  CHECK_MESSAGE(more.error().to_string().find("names_at_home_test::note") != std::string::npos,
                more.error().to_string());
  n.m.a.system.kill(mine);
  n.m.a.system.run_for(ms(1));
  const auto gone = n.found<pinged_type>();
  CHECK(gone.error() == registry_errc::not_found);
  CHECK_MESSAGE(gone.error().to_string().find("has ended") != std::string::npos,
                gone.error().to_string());
}

TEST_CASE("names at home: an actor of a third node is the same one as when it was passed on") {
  borrowed n;
  const auto third = n.m.c.shown_to(n.m.a, "third", n.m.c.system.spawn<guest>(lent(n.alive)));
  const auto at_b = n.lend(third);
  const auto found = n.found<guest_type>();
  REQUIRE_MESSAGE(found.has_value(), found.error().to_string());
  CHECK(*found == third);
  n.m.net.cut("a", "b");
  CHECK(n.m.a.system.request(*found, ping{}).get().value() == 0);
  n.m.net.heal("a", "b");
  // The actor's home is neither a nor b, so c reaches it by way of b.
  const auto by_way = n.m.c.node.remote<guest_type>(n.m.b.at, "borrowed");
  REQUIRE(by_way.has_value());
  CHECK(n.m.c.system.request(*by_way, ping{}).get().value() == 0);
}

TEST_CASE("names at home: as many as there are, of a node that may know of no more actors") {
  net::node_settings strict;
  strict.most_exports = 1;
  std::atomic<int> alive{0};
  three_machines m({}, strict);
  std::vector<ref<guest_type>> mine, at_b;
  for (int i = 0; i < 5; ++i) {
    const std::string name = std::to_string(i);
    mine.push_back(m.a.system.spawn<guest>(lent(alive)));
    at_b.push_back(m.a.shown_to(m.b, name, mine.back()));
    REQUIRE(m.b.node.publish(name, at_b.back()).has_value());
  }
  REQUIRE(m.b.node.publish("own", m.b.system.spawn<guest>(lent(alive))).has_value());
  CHECK(m.a.node.remote<guest_type>(m.b.at, "own").has_value());
  for (int i = 0; i < 5; ++i)
    CHECK(m.a.node.remote<guest_type>(m.b.at, std::to_string(i)).value() ==
          mine[static_cast<std::size_t>(i)]);
}

TEST_CASE("names at home: the release by the name's node does not overtake its messages") {
  for (const bool is_reset : {false, true}) {
    CAPTURE(is_reset);
    borrowed n;
    constexpr std::size_t many = 16;  // the number of actors, and of lanes
    for (std::size_t i = 0; i < many; ++i)
      static_cast<void>(n.lend(n.new_guest(), std::to_string(i)));
    n.m.a.system.run_for(ms(1000));
    core::scoped_actor me(n.m.a.system.env());
    std::vector<pending_response<ref<guest_type>>> asked;
    for (std::size_t i = 0; i < many; ++i)
      asked.push_back(n.m.a.node.remote<guest_type>(*me, n.m.b.node.self(), std::to_string(i)));
    n.m.a.system.run_for(ms(5));  // the answers are on their way
    CHECK(n.at_a("questions") == many);
    for (std::size_t i = 0; i < many; ++i) REQUIRE(n.m.b.node.unpublish(std::to_string(i)));
    if (is_reset) n.m.net.reset_streams("a", "b");  // all frames go again
    std::vector<ref<guest_type>> found;
    for (auto& one : asked) {
      const auto got = me->get(std::move(one));
      REQUIRE_MESSAGE(got.has_value(), got.error().to_string());
      found.push_back(*got);
    }
    n.m.a.system.run_for(ms(1000));
    CHECK(n.at_a("exports") == 0);
    CHECK(n.at_b("proxies") == 0);
    CHECK(n.alive == many);
    for (const auto& one : found) CHECK(n.m.a.system.request(one, ping{}).get().value() == 0);
    found.clear();
    n.m.a.system.run_for(ms(1));
    CHECK(n.alive == 0);
  }
}

TEST_CASE("names at home: a peer that lies of a number leads nowhere, and loses nothing") {
  with_stranger w;
  const auto right = w.answered<pinged_type>(w.id, {});
  REQUIRE_MESSAGE(right.has_value(), right.error().to_string());
  CHECK(any_ref(*right) == any_ref(*w.desk));
  const net::actor_id theirs{9, 9}, unknown{3, 3};
  for (const auto& [receiver, sender] :
       {std::pair(net::actor_id(), net::actor_id()), {w.id, theirs}, {unknown, {}}}) {
    const auto wrong = w.answered<pinged_type>(receiver, sender);
    CHECK(wrong.error() == net_errc::decode_failed);
    CHECK(w.s.counted("exports") == 1);
    CHECK(w.s.counted("proxies") == 0);
  }
  CHECK(w.s.count(kind::release) == 1);
  for (const tests::stranger::words& one : w.s.heard())
    if (one.kind == kind::release) CHECK(one.receiver == theirs);
  const auto proper = w.answered<pinged_type>({}, theirs);
  CHECK(proper.has_value());
  CHECK(w.s.counted("proxies") == 1);
}

TEST_CASE("names at home: a peer that lies of the protocol is not believed") {
  with_stranger w;
  // The stranger was given the desk as a `pinged_type`, which answers a ping with a number.
  const auto more = w.answered<guest_type>(w.id, {});
  CHECK(more.error() == net_errc::incompatible);
  CHECK_MESSAGE(more.error().to_string().find("names_at_home_test::note") != std::string::npos,
                more.error().to_string());
  const auto other = w.answered<protocol<std::string(ping)>>(w.id, {});
  CHECK(other.error() == net_errc::incompatible);
  // Under another name it was given the desk with a further protocol.
  REQUIRE(w.m.a.node.publish<protocol<void(note)>>("blotter", *w.desk).has_value());
  CHECK(w.s.resolve<protocol<void(note)>>("blotter") == w.id);
  const auto both = w.answered<guest_type>(w.id, {});
  REQUIRE_MESSAGE(both.has_value(), both.error().to_string());
  CHECK(*both == *w.desk);
}

TEST_CASE("names at home: a number that was told for a watch alone leads nowhere") {
  with_stranger w;
  w.s.say({.kind = kind::link, .receiver = w.id, .sender = {6, 1}});
  w.s.say({.kind = kind::release, .receiver = w.id, .number = 1});
  REQUIRE(w.s.counted("links") == 1);
  REQUIRE(w.s.counted("exports") == 1);
  CHECK(w.answered<pinged_type>(w.id, {}).error() == net_errc::decode_failed);
}

// This test uses sockets and threads that get into each other's way, also for sanitizers.
TEST_CASE("names at home: found and withdrawn at once") {
  std::atomic<int> alive{0};
  actor_system left(tests::quiet()), right(tests::quiet());
  net::node a(left), b(right);
  const auto local = b.listen("tcp://127.0.0.1:0");
  REQUIRE(local.has_value());
  const std::string at = local->to_string();
  REQUIRE(a.connect(at).has_value());
  tests::wait_until([&] { return !b.peers().empty(); });
  for (int round = 0; round < 20; ++round) {
    auto mine = std::optional<ref<guest_type>>(left.spawn<guest>(lent(alive)));
    REQUIRE(a.publish<guest_type>("lent", *mine).has_value());
    REQUIRE(b.publish("borrowed", b.remote<guest_type>(a.self(), "lent").value()).has_value());
    REQUIRE(a.unpublish("lent"));
    result<ref<guest_type>> found = error(errc::timeout);
    std::thread asks([&] { found = a.remote<guest_type>(at, "borrowed"); });
    if (round % 2 == 1) std::this_thread::yield();
    CHECK(b.unpublish("borrowed"));
    asks.join();
    if (found) {
      CHECK(*found == *mine);
      mine.reset();
      CHECK(left.request(*found, ping{}).get().value() == 0);
    } else {
      CHECK(found.error() == registry_errc::not_found);
      mine.reset();
    }
    found = error(errc::timeout);
    tests::wait_until([&] { return alive == 0; });
    tests::wait_until([&] { return counted(a, b.self(), "node", "exports") == 0; });
  }
}

}  // namespace names_at_home_test
