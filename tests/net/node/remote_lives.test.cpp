// Links, monitors, exits, kills, groups and names of actors on other nodes: as if they were here.
#include <doctest/doctest.h>
#include <garrick/core/seam/running.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace remote_lives_test {

using namespace garrick;
using tests::listening_machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct leave {
  bool fails = false;
};
struct news {
  std::string text;
};
struct heard {};
using member_type = protocol<void(leave), void(news), std::vector<std::string>(heard)>;

class member : public actor<member_type> {
 public:
  void on(leave l) {
    if (l.fails) return quit(make_error(errc::user, "member", "enough"));
    quit();
  }
  void on(const news& n) { heard_.push_back(n.text); }
  std::vector<std::string> on(heard) { return heard_; }

 private:
  std::vector<std::string> heard_;
};

/// The ends of others of which an actor was told, outside of the actor.
struct log {
  std::vector<std::string> lines;
  [[nodiscard]] std::size_t count(std::string_view text) const {
    std::size_t n = 0;
    for (const std::string& l : lines) n += l.find(text) != std::string::npos;
    return n;
  }
};

/// Asks to link with an actor, or to monitor it.
struct watch {
  ref<member_type> whom;
  bool by_link = false;
};
struct unwatch {
  ref<member_type> whom;
};
class watcher : public actor<protocol<void(watch), void(unwatch), void(down), void(exit_signal)>> {
 public:
  explicit watcher(log& l) : log_(l) { trap_exit(true); }
  void on(const watch& w) {
    whom_ = w.whom;
    if (w.by_link) return link(w.whom);
    id_ = monitor(w.whom);
    monitor(w.whom, [this](const down& d) { note("called", d.who, d.reason); });
  }
  void on(const unwatch& u) {
    demonitor(id_);
    unlink(u.whom);
  }
  void on(const down& d) { note("down", d.who, d.reason); }
  void on(const exit_signal& x) { note("exit", x.from, x.reason); }

 private:
  void note(std::string what, const core::address& who, const exit_reason& why) {
    log_.lines.push_back(what + (who == whom_.address() ? " of it: " : ": ") + why.to_string());
  }
  log& log_;
  ref<member_type> whom_;
  monitor_id id_;
};

TEST_CASE("remote lives: a monitor hears the reason, and the actor, once for each monitor") {
  three_machines m;
  log l;
  const auto there = m.b.shown_to(m.a, "member", m.b.system.spawn<member>());
  const auto w = m.a.system.spawn<watcher>(lent(l));
  send(w, watch{there});
  m.a.system.run_for(ms(50));
  CHECK(l.lines.empty());
  send(there, leave{true});
  m.a.system.run_for(ms(50));
  CHECK(l.lines.size() == 2);
  CHECK(l.count("down of it: ") == 1);
  CHECK(l.count("called of it: ") == 1);
  CHECK(l.count("enough") == 2);
  send(w, watch{there});  // an ended actor is down at once
  m.a.system.run_for(ms(50));
  CHECK(l.count("enough") == 4);
}

TEST_CASE("remote lives: an actor that has taken a monitor or a link back hears nothing") {
  three_machines m;
  log l;
  const auto there = m.b.shown_to(m.a, "member", m.b.system.spawn<member>());
  const auto w = m.a.system.spawn<watcher>(lent(l));
  send(w, watch{there});
  send(w, watch{there, true});
  m.a.system.run_for(ms(50));
  send(w, unwatch{there});
  m.a.system.run_for(ms(50));
  send(there, leave{true});
  m.a.system.run_for(ms(50));
  CHECK(l.lines.size() == 1);
  CHECK(l.count("called") == 1);  // the other monitor
}

TEST_CASE("remote lives: a link ends either end with the other, or tells an actor that traps it") {
  three_machines m;
  log l;
  const auto far = m.b.system.spawn<member>();
  const auto there = m.b.shown_to(m.a, "member", far);
  {
    const auto w = m.a.system.spawn<watcher>(lent(l));
    send(w, watch{there, true});
    m.a.system.run_for(ms(50));
    m.a.system.exit(w, make_error(errc::user, "watcher", "no more"));
    m.a.system.run_for(ms(50));
    CHECK(l.count("no more") == 1);  // an actor that traps exits
    m.a.system.kill(w);
    m.a.system.run_for(ms(50));
    m.b.system.expect_down(far);
    CHECK(tests::counted(m.a, m.b, "links") == 0);
    CHECK(tests::counted(m.b, m.a, "links") == 0);
  }
  const auto second = m.b.system.spawn<member>();
  const auto other = m.b.shown_to(m.a, "second", second);
  const auto w = m.a.system.spawn<watcher>(lent(l));
  send(w, watch{other, true});
  m.a.system.run_for(ms(50));
  send(other, leave{true});
  m.a.system.run_for(ms(50));
  CHECK(l.count("exit of it: ") == 1);
  CHECK(l.count("enough") == 1);
}

TEST_CASE("remote lives: exit and kill act on the actor there") {
  three_machines m;
  const auto asked = m.b.system.spawn<member>();
  const auto killed = m.b.system.spawn<member>();
  log l;
  const auto w = m.b.system.spawn<watcher>(lent(l));
  m.a.system.exit(m.b.shown_to(m.a, "asked", asked));
  m.a.system.kill(m.b.shown_to(m.a, "killed", killed));
  m.a.system.exit(m.b.shown_to(m.a, "watcher", ref<protocol<void(watch)>>(w)),
                  make_error(errc::user, "far", "please"));
  m.a.system.run_for(ms(50));
  m.b.system.expect_down(asked, exit_code::user_shutdown);
  m.b.system.expect_down(killed, exit_code::kill);
  m.b.system.expect_alive(w);
  CHECK(l.lines.size() == 1);
  CHECK(l.count("exit") == 1);
  CHECK(l.count("please") == 1);
}

TEST_CASE("remote lives: a node that passes an end on has its own rights, and grants its own") {
  for (const bool relay_refuses : {false, true}) {
    CAPTURE(relay_refuses);
    net::node_settings strict;
    strict.let_peers_end = false;
    three_machines m(relay_refuses ? strict : net::node_settings(),
                     relay_refuses ? net::node_settings() : strict);
    const auto mine = m.b.system.spawn<member>();
    const auto at_a = m.b.shown_to(m.a, "member", mine);
    const auto relayed = m.a.shown_to(m.c, "member", at_a);
    m.c.system.kill(relayed);
    m.c.system.run_for(ms(100));
    m.b.system.expect_alive(mine);
    const auto refused = [](const net::node& at, const net::node& of) {
      for (const net::link_count& c : at.counters(of.self()))
        if (c.layer == "node" && c.name == "ends_refused") return c.value;
      return ~std::uint64_t{0};
    };
    CHECK(refused(m.a.node, m.c.node) == (relay_refuses ? 1 : 0));
    CHECK(refused(m.b.node, m.a.node) == (relay_refuses ? 0 : 1));
    // If both nodes allow it, the actor is ended.
    three_machines all;
    const auto theirs = all.b.system.spawn<member>();
    const auto passed_on = all.b.shown_to(all.a, "member", theirs);
    all.c.system.kill(all.a.shown_to(all.c, "member", passed_on));
    all.c.system.run_for(ms(100));
    all.b.system.expect_down(theirs, exit_code::kill);
  }
}

TEST_CASE("remote lives: watching goes through a third node, and that node's end is told, too") {
  three_machines m;
  log l;
  const auto far = m.c.system.spawn<member>();
  const auto at_b = m.c.shown_to(m.b, "member", far);
  const auto relayed = m.b.shown_to(m.a, "member", at_b);
  const auto w = m.a.system.spawn<watcher>(lent(l));
  send(w, watch{relayed});
  m.a.system.run_for(ms(50));
  send(relayed, leave{true});
  m.a.system.run_for(ms(100));
  CHECK(l.count("enough") == 2);

  const auto second = m.c.shown_to(m.b, "second", m.c.system.spawn<member>());
  const auto through = m.b.shown_to(m.a, "second", second);
  send(w, watch{through});
  m.a.system.run_for(ms(50));
  m.net.host("c").crash();
  m.a.system.run_for(duration::seconds(40));
  CHECK(l.count("node is down") == 2);
  CHECK(l.lines.size() == 4);
}

TEST_CASE("remote lives: groups have members on other nodes, which leave when they are lost") {
  three_machines m;
  const auto at_b = m.b.shown_to(m.a, "member", m.b.system.spawn<member>());
  const auto at_c = m.c.shown_to(m.a, "member", m.c.system.spawn<member>());
  const auto here = m.a.system.spawn<member>();
  auto topic = m.a.system.groups().get<protocol<void(news)>>("news").value();
  for (const auto& one : {at_b, at_c, here}) REQUIRE(topic.join(one).has_value());
  topic.publish(news{"one"});
  m.a.system.run_for(ms(50));
  CHECK(topic.size() == 3);
  send(at_b, leave{});
  m.net.host("c").crash();
  m.a.system.run_for(duration::seconds(40));
  CHECK(topic.size() == 1);
  topic.publish(news{"two"});
  CHECK(m.a.system.request(here, heard{}).get().value() == std::vector<std::string>{"one", "two"});
}

TEST_CASE("remote lives: a name for an actor of another node is free when that has ended") {
  three_machines m;
  const auto there = m.b.shown_to(m.a, "member", m.b.system.spawn<member>());
  REQUIRE(m.a.system.registry().put("far", there).has_value());
  CHECK(m.a.system.registry().get<member_type>("far").value() == there);
  send(there, leave{});
  m.a.system.run_for(ms(50));
  CHECK(!m.a.system.registry().get<member_type>("far").has_value());
  CHECK(m.a.system.registry().put("far", m.a.system.spawn<member>()).has_value());
}

/// Monitors another actor when it starts, and reports the result.
class short_lived : public actor<protocol<void(down)>> {
 public:
  short_lived(ref<member_type> whom, log& l) : whom_(std::move(whom)), log_(l) {}
  void on_start() { monitor(whom_); }
  void on(const down&) { log_.lines.emplace_back("down"); }
  void on_exit(const exit_reason& why) { log_.lines.push_back(why.to_string()); }

 private:
  ref<member_type> whom_;
  log& log_;
};

TEST_CASE(
    "remote lives: a monitor holds no actor, here as there: an actor without handles has ended") {
  three_machines m;
  const std::string unheld = exit_reason(exit_code::unreachable).to_string();
  for (const bool is_remote : {false, true}) {
    CAPTURE(is_remote);
    const auto far = (is_remote ? m.b : m.a).system.spawn<member>();
    const auto whom = is_remote ? m.b.shown_to(m.a, "member", far) : far;
    log l;
    static_cast<void>(m.a.system.spawn<short_lived>(whom, lent(l)));
    m.a.system.run_for(ms(50));
    CHECK(l.lines == std::vector<std::string>{unheld});
    {
      const any_ref held(m.a.system.spawn<short_lived>(whom, lent(l)));
      m.a.system.run_for(ms(50));
      send(whom, leave{});
      m.a.system.run_for(ms(50));
    }
    m.a.system.run();
    CHECK(l.lines == std::vector<std::string>{unheld, "down", unheld});
  }
}

struct hand_over {
  ref<member_type> whom;
};
/// Has a handle for a while, and lets it go.
class keeper : public actor<protocol<void(hand_over), void(leave)>> {
 public:
  void on(const hand_over& h) { whom_ = h.whom; }
  void on(leave) { whom_ = {}; }

 private:
  ref<member_type> whom_;
};

/// A member that watches an actor of another node, and keeps no handle to it.
class watching_member
    : public actor<protocol<void(leave), void(news), std::vector<std::string>(heard), void(down)>> {
 public:
  watching_member(ref<member_type> whom, bool by_link)
      : whom_(std::move(whom)), by_link_(by_link) {}
  void on_start() {
    if (by_link_)
      link(whom_);
    else
      monitor(whom_);
    whom_ = {};
  }
  void on(leave) { quit(); }
  void on(const news&) {}
  std::vector<std::string> on(heard) { return {}; }
  void on(const down&) {}

 private:
  ref<member_type> whom_;
  bool by_link_;
};

struct tie;
struct untie {};
using partner_type = protocol<void(tie), void(untie), void(leave)>;
struct tie {
  ref<partner_type> to;
};
/// Links with another actor, to which it has a handle, and notes the senders of exit signals.
class partner : public actor<protocol<void(tie), void(untie), void(leave), void(exit_signal)>> {
 public:
  explicit partner(log& l) : log_(l) { trap_exit(true); }
  void on(const tie& t) {
    to_ = t.to;
    if (log_.lines.empty()) link(to_);
  }
  void on(untie) { unlink(to_); }
  void on(leave) { quit(make_error(errc::user, "partner", "enough")); }
  void on(const exit_signal& x) {
    log_.lines.push_back((x.from == to_.address() ? "it: " : "who? ") + x.reason.to_string());
  }

 private:
  log& log_;
  ref<partner_type> to_;
};

TEST_CASE("remote lives: a watcher of another node's actor is not held by that") {
  for (const bool by_link : {false, true}) {
    CAPTURE(by_link);
    three_machines m;
    const auto far = m.b.system.spawn<member>();
    const auto at_a = m.b.shown_to(m.a, "member", far);
    const auto box = m.b.shown_to(m.a, "keeper", m.b.system.spawn<keeper>());
    {
      const ref<member_type> w(m.a.system.spawn<watching_member>(at_a, by_link));
      send(box, hand_over{w});
      m.a.system.run_for(ms(50));
    }
    CHECK(m.a.system.actor_count() == 1);  // held by the keeper
    send(box, leave{});
    m.a.system.run_for(ms(50));
    CHECK(m.a.system.actor_count() == 0);
    m.b.system.expect_alive(far);
  }
}

TEST_CASE(
    "remote lives: a link is one link, whichever end has set it, and whichever takes it back") {
  for (const char* who : {"a", "b", "both"})
    for (const char* unties : {"a", "b", "nobody"}) {
      CAPTURE(who);
      CAPTURE(unties);
      three_machines m;
      log of_a, of_b;
      const ref<partner_type> a(m.a.system.spawn<partner>(lent(of_a)));
      const ref<partner_type> b(m.b.system.spawn<partner>(lent(of_b)));
      const auto a_at_b = m.a.shown_to(m.b, "a", a);
      const auto b_at_a = m.b.shown_to(m.a, "b", b);
      // Each has a handle to the other. An actor with a line in its log does not set a link.
      const std::string_view sets = who;
      if (sets == "b") of_a.lines.emplace_back("sets none");
      if (sets == "a") of_b.lines.emplace_back("sets none");
      send(a, tie{b_at_a});
      send(b, tie{a_at_b});
      m.a.system.run_for(ms(50));
      of_a.lines.clear();
      of_b.lines.clear();
      const std::string_view takes = unties;
      if (takes == "a") send(a, untie{});
      if (takes == "b") send(b, untie{});
      m.a.system.run_for(ms(50));
      send(b, leave{});
      m.a.system.run_for(ms(50));
      CHECK(of_a.count("it: ") == (takes == "nobody" ? 1 : 0));
      m.net.host("b").crash();
      m.a.system.run_for(duration::seconds(40));
      CHECK(of_a.lines.size() == (takes == "nobody" ? 1 : 0));
      CHECK(of_b.lines.empty());
    }
}

TEST_CASE("remote lives: a link that both ends set, one after the other, leaves nothing behind") {
  for (const bool a_unties : {false, true}) {
    CAPTURE(a_unties);
    three_machines m;
    log of_a, of_b;
    const ref<partner_type> a(m.a.system.spawn<partner>(lent(of_a)));
    const ref<partner_type> b(m.b.system.spawn<partner>(lent(of_b)));
    send(b, tie{m.a.shown_to(m.b, "a", a)});
    m.a.system.run_for(ms(50));
    send(a, tie{m.b.shown_to(m.a, "b", b)});
    m.a.system.run_for(ms(50));
    CHECK(tests::counted(m.a, m.b, "links") == 1);
    CHECK(tests::counted(m.b, m.a, "links") == 1);
    send(a_unties ? a : b, untie{});
    m.a.system.run_for(ms(50));
    of_a.lines.emplace_back("sets none");
    of_b.lines.emplace_back("sets none");
    send(a, tie{});
    send(b, tie{});
    m.a.system.run_for(ms(50));
    for (const std::string what : {"links", "proxies", "exports"}) {
      CAPTURE(what);
      CHECK(tests::counted(m.a, m.b, what) == 0);
      CHECK(tests::counted(m.b, m.a, what) == 0);
    }
  }
}

TEST_CASE("remote lives: a link that is older than the handle ends with the other one, once") {
  three_machines m({}, {.let_peers_end = false});
  log of_a, of_b;
  const ref<partner_type> a(m.a.system.spawn<partner>(lent(of_a)));
  const ref<partner_type> b(m.b.system.spawn<partner>(lent(of_b)));
  send(a, tie{m.b.shown_to(m.a, "b", b)});
  m.a.system.run_for(ms(50));
  of_a.lines.emplace_back("is linked");
  send(a, tie{});  // the proxy goes, and the link stays
  m.a.system.run_for(ms(50));
  CHECK(tests::counted(m.a, m.b, "proxies") == 0);
  const auto again = m.a.node.remote<partner_type>(m.b.at, "b").value();
  send(a, tie{again});
  send(again, leave{});
  m.a.system.run_for(ms(50));
  CHECK(of_a.count("it: ") == 1);
  m.a.system.kill(a);
  m.a.system.run_for(ms(50));
  CHECK(tests::counted(m.b, m.a, "ends_refused") == 0);
}

TEST_CASE("remote lives: no actor that was lost with a node is watching on") {
  three_machines m;
  const auto here = m.a.system.spawn<member>();
  const auto at_b = m.a.shown_to(m.b, "member", here);
  log l;
  const auto w = m.b.system.spawn<watcher>(lent(l));
  send(w, watch{at_b});
  m.a.system.run_for(ms(50));
  const auto watchers = [&] {
    return core::handle_access::get(here)->ext_if()->watching->watchers.size();
  };
  REQUIRE(watchers() == 2);
  m.net.host("b").crash();
  m.a.system.run_for(duration::seconds(40));
  CHECK(watchers() == 0);
}

}  // namespace remote_lives_test
