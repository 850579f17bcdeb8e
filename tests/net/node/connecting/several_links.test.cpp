// A peer that lets more than one of its links be used, or one of them more than once: it is up
// before it is down, and down before it is up again.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/testkit/simulated_source.hpp>

#include <memory>
#include <string>
#include <vector>

#include "net/node/connecting/caller.hpp"
#include "net/node/simulated_machines.hpp"

namespace several_links_test {

using namespace garrick;
using net::peer_change;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// The identity of "d". It is smaller than that of "b", so "d" decides which link is used.
constexpr net::peer_identity decider{{0, 1}, 7};

class ears final : public net::peer_listener {
 public:
  std::vector<peer_change> changes;
  std::vector<std::string> whys;
  bool is_out_of_turn = false;

 private:
  void changed(const net::peer_identity& who, peer_change what, const error& why) override {
    CHECK(who == decider);
    changes.push_back(what);
    whys.push_back(why.to_string());
  }
  void noticed(const net::peer_identity&, const net::peer_evidence&) override {
    is_out_of_turn = is_out_of_turn || changes.empty() || changes.back() != peer_change::up;
  }
};

/// An end of a link that tells the other end to use the link.
class letting_use final : public net::hosted, net::link_owner {
 public:
  letting_use(net::carrier& below, net::testkit::simulated_host& at) : at_(at) {
    net::link_settings s;
    s.session.self = decider;
    s.session.connects = true;
    link_ = net::standard_stacks().find("stream")->make(*this, below, s);
  }
  net::carried& stack() override { return *link_; }
  void let_use() {
    auto nothing = net::packet::with_room(net::frame_room + link_->header_size(), 0);
    CHECK(!link_->send(
        net::to_outgoing({.kind = net::frame_kind::credit, .number = 9}, std::move(nothing)),
        at_.now()));
  }
  void leave() { link_->leave(at_.now()); }

 private:
  bool on_message(const net::incoming&) override { return true; }
  void on_event(const net::link_event&) override {}

  net::testkit::simulated_host& at_;
  std::unique_ptr<net::any_link> link_;
};

struct making final : net::hosted_maker {
  explicit making(net::testkit::simulated_host& at) : at_(at) {}
  std::unique_ptr<net::hosted> make(net::carrier& below, const net::connection&) override {
    return std::make_unique<letting_use>(below, at_);
  }
  net::testkit::simulated_host& at_;
};

/// "b" listens at two ports, and "d" has a link to each.
struct two_links {
  three_machines m;
  net::testkit::simulated_host& at;
  net::testkit::simulated_source source;
  std::shared_ptr<ears> heard = std::make_shared<ears>();
  net::connection first, second;

  explicit two_links(net::peer_return after_down)
      : m({}, {.after_down = after_down}), at(way(m)), source(at) {
    REQUIRE(m.b.node.listen("tcp://b:8").has_value());
    m.b.node.subscribe(heard);
    first = connect(m.b.at);
    second = connect("tcp://b:8");
    CHECK(m.b.node.peers().empty());
  }
  void let_use(const net::connection& link) {
    link.run([](net::hosted& h) { static_cast<letting_use&>(h).let_use(); });
    m.a.system.run_for(ms(100));
  }

 private:
  static net::testkit::simulated_host& way(three_machines& m) {
    m.net.both("b", "d", {.delay = ms(3)});
    return m.net.host("d");
  }
  net::connection connect(const std::string& to) {
    auto made = source.connect(net::endpoint::parse(to).value(), std::make_unique<making>(at));
    REQUIRE(made.has_value());
    m.a.system.run_for(ms(100));
    return *made;
  }
};

TEST_CASE("several links: one that may be used is up once, however often that is said") {
  two_links n(net::peer_return::same_life);
  n.let_use(n.first);
  n.let_use(n.first);
  CHECK(n.heard->changes == std::vector{peer_change::up});
  CHECK(n.m.b.node.peers() == std::vector{decider});
}

TEST_CASE("several links: another one that may be used ends the one that was") {
  two_links n(net::peer_return::same_life);
  n.let_use(n.first);
  n.let_use(n.second);
  CHECK(n.heard->changes == std::vector{peer_change::up, peer_change::down, peer_change::up});
  CHECK_MESSAGE(n.heard->whys[1].find("another session") != std::string::npos, n.heard->whys[1]);
  CHECK(n.first.is_over());
  CHECK_FALSE(n.second.is_over());
  CHECK(n.m.b.node.peers() == std::vector{decider});
  n.m.a.system.run_for(ms(2000));
  CHECK(n.heard->changes.size() == 3);
  CHECK_FALSE(n.heard->is_out_of_turn);
}

TEST_CASE("several links: with `new_life_only` none is used behind the first") {
  two_links n(net::peer_return::new_life_only);
  n.let_use(n.first);
  n.let_use(n.second);
  CHECK(n.heard->changes == std::vector{peer_change::up, peer_change::down});
  CHECK(n.first.is_over());
  CHECK(n.second.is_over());
  CHECK(n.m.b.node.peers().empty());
}

/// An end that says goodbye as soon as its link is open, as a decider does that has another one.
class leaving final : public net::hosted, net::link_owner {
 public:
  leaving(net::carrier& below, net::testkit::simulated_host& at, std::vector<instant>& opened)
      : at_(at), opened_(opened) {
    net::link_settings s;
    s.session.self = decider;
    s.session.connects = false;
    link_ = net::standard_stacks().find("stream")->make(*this, below, s);
  }
  net::carried& stack() override { return *link_; }

 private:
  bool on_message(const net::incoming&) override { return true; }
  void on_event(const net::link_event& e) override {
    if (e.what != net::link_event::kind::opened) return;
    opened_.push_back(at_.now());
    link_->leave(at_.now());
  }

  net::testkit::simulated_host& at_;
  std::vector<instant>& opened_;
  std::unique_ptr<net::any_link> link_;
};

/// "d" leaves each link that "b" makes.
struct left_links {
  three_machines m;
  net::testkit::simulated_host& at;
  net::testkit::simulated_source source;
  std::vector<instant> opened;
  net::listener door;

  left_links() : at(way(m)), source(at), door(listen()) {}
  auto ask() {
    return m.b.system.request(m.b.system.spawn<tests::caller>(lent(m.b.node)),
                              std::string("tcp://d:7"));
  }

 private:
  static net::testkit::simulated_host& way(three_machines& m) {
    m.net.both("b", "d", {.delay = duration::nanoseconds(50'000)});
    return m.net.host("d");
  }
  net::listener listen() {
    return source
        .listen(net::endpoint::parse("tcp://d:7").value(),
                net::accept_each([this](const net::arrival&, net::carrier& below,
                                        const net::connection&) -> std::unique_ptr<net::hosted> {
                  return std::make_unique<leaving>(below, at, opened);
                }))
        .value();
  }
};

TEST_CASE("several links: a peer that leaves each is asked again with growing pauses, for a time") {
  left_links l;
  const instant start = l.at.now();
  const auto who = l.ask().get();
  REQUIRE_FALSE(who.has_value());
  CHECK(who.error() == net::net_errc::unreachable);
  CHECK_MESSAGE(who.error().to_string().find("has another link to this node") != std::string::npos,
                who.error().to_string());
  const duration limit = net::session_settings().handshake_limit;
  CHECK(l.at.now() - start >= limit);
  CHECK(l.at.now() - start < limit + duration::seconds(3));
  REQUIRE(l.opened.size() > 10);
  CHECK(l.opened.size() < 20);
  CHECK(l.opened[4] - l.opened[0] < ms(5));  // a race of two links is over by then
  CHECK(l.opened[6] - l.opened[5] >= ms(20));
  CHECK(l.opened[8] - l.opened[7] >= ms(80));
}

TEST_CASE("several links: a peer that lets another link be used meanwhile is not asked again") {
  left_links l;
  auto asked = l.ask();
  l.m.b.system.run_for(ms(200));
  const std::size_t so_far = l.opened.size();
  CHECK(so_far > 4);
  const auto used =
      l.source.connect(net::endpoint::parse(l.m.b.at).value(), std::make_unique<making>(l.at));
  REQUIRE(used.has_value());
  l.m.b.system.run_for(ms(1));
  used->run([](net::hosted& h) { static_cast<letting_use&>(h).let_use(); });
  const auto who = asked.get();
  REQUIRE_MESSAGE(who.has_value(), who.error().to_string());
  CHECK(*who == decider.incarnation);
  SUBCASE("as long as that link stands") {
    l.m.b.system.run_for(duration::seconds(30));
    CHECK(l.opened.size() == so_far);
  }
  SUBCASE("and the next question begins its own attempts") {
    used->run([](net::hosted& h) { static_cast<letting_use&>(h).leave(); });
    l.m.b.system.run_for(ms(1));
    CHECK(l.m.b.node.peers().empty());
    auto next = l.ask();
    l.m.b.system.run_for(ms(200));
    CHECK(l.opened.size() == 2 * so_far);
  }
}

}  // namespace several_links_test
