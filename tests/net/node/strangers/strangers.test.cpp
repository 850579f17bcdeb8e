// Peers that speak the protocol and keep to none of its rules: the node limits their use of its
// tables, for any frames that they send, and takes back the entries that they release.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

namespace strangers_test {

using namespace garrick;
using kind = net::frame_kind;
using tests::stranger;
using tests::three_machines;

struct hold {};
struct refuse_all {};
using desk_type = protocol<std::int64_t(hold), void(refuse_all)>;

/// Answers nothing until it refuses all.
class desk : public actor<desk_type> {
 public:
  result<std::int64_t> on(hold) {
    answers_.push_back(make_promise<std::int64_t>());
    return answers_.back();
  }
  void on(refuse_all) {
    for (auto& answer : std::exchange(answers_, {})) answer.fail(errc::user);
  }

 private:
  std::vector<response_promise<std::int64_t>> answers_;
};

struct want_much {};
using archive_type = protocol<std::string(want_much)>;
constexpr std::size_t much = 6u << 20;
/// Gives large answers.
struct archive : actor<archive_type> {
  std::string on(want_much) { return std::string(much, 'x'); }
};

constexpr std::uint32_t few = 4;
constexpr std::uint64_t many = 10;

net::node_settings strict() {
  net::node_settings s;
  s.most_exports = few;
  s.most_watches = few;
  s.most_questions = few;
  return s;
}

struct go {};
using asker_type = protocol<void(go)>;
/// Asks the desk of a peer, and keeps the result.
class asker : public actor<asker_type> {
 public:
  asker(net::node& n, net::peer_identity whom, std::string& got) : node_(n), at_(whom), got_(got) {}
  task<void> on(go) {
    const result<ref<desk_type>> found = co_await node_.remote<desk_type>(*this, at_, "desk");
    if (!found) {
      got_ = found.error().to_string();
      co_return;
    }
    const result<std::int64_t> answer = co_await request(*found, hold{});
    got_ = answer ? std::to_string(*answer) : answer.error().to_string();
  }

 private:
  net::node& node_;
  net::peer_identity at_;
  std::string& got_;
};

class verdicts : public net::peer_listener {
 public:
  void changed(const net::peer_identity&, net::peer_change what, const error& why) override {
    ups += what == net::peer_change::up;
    if (what == net::peer_change::down) down = why;
  }
  int ups = 0;
  error down;
};

TEST_CASE("strangers: one that lets the other end send again and again lets it once") {
  three_machines m;
  const auto told = std::make_shared<verdicts>();
  m.b.node.subscribe(told);
  // The stranger's identity is the smaller one, so it decides which link is used.
  stranger s(m, m.b, "b", {{0, 1}, 7});
  CHECK(told->ups == 0);
  for (int i = 0; i < 3; ++i) s.say({.kind = kind::credit, .number = 8192});
  CHECK(told->ups == 1);
  CHECK(s.count(kind::credit) == 1);
  CHECK(m.b.node.peers().size() == 1);
}

TEST_CASE("strangers: an answer of another type is an error to its asker") {
  three_machines m;
  const net::peer_identity me{{0, 77}, 7};
  stranger s(m, m.a, "a", me);
  s.say({.kind = kind::credit, .number = few});  // lets the link be used
  const net::protocol_table& desks = net::protocol_table_of<desk_type>();
  const std::uint64_t right = desks.by_content(&base::message_type_of<hold>)->answer.type;
  const std::uint64_t wrong = net::protocol_table_of<archive_type>()
                                  .by_content(&base::message_type_of<want_much>)
                                  ->answer.type;
  REQUIRE(right != wrong);
  const net::actor_id there{5, 1};
  for (const std::uint64_t type : {right, wrong}) {
    std::string got;
    const auto who = m.a.system.spawn<asker>(lent(m.a.node), me, lent(got));
    send(who, go{});
    s.say({.kind = kind::release});  // runs the machines
    REQUIRE(s.heard().back().kind == kind::resolve);
    s.say({.kind = kind::resolved, .sender = there, .number = s.heard().back().number},
          *desks.described());
    REQUIRE(s.heard().back().kind == kind::request);
    const stranger::words asked = s.heard().back();
    s.say({.kind = kind::response,
           .receiver = asked.sender,
           .sender = there,
           .number = asked.number,
           .type = type},
          std::int64_t{5});
    CAPTURE(got);
    if (type == right)
      CHECK(got == "5");
    else
      CHECK(got.find("it is of another type") != std::string::npos);
  }
}

TEST_CASE("strangers: a peer knows of as many actors as the settings say") {
  three_machines m(strict());
  std::vector<net::actor_id> known;
  for (std::uint64_t i = 0; i < many; ++i)
    REQUIRE(m.a.node.publish(std::to_string(i), m.a.system.spawn<desk>()).has_value());
  stranger s(m, m.a, "a");
  for (std::uint64_t i = 0; i < many; ++i)
    if (const auto id = s.resolve<desk_type>(std::to_string(i)); id) known.push_back(id);
  CHECK(known.size() == few);
  CHECK(s.count(kind::error, net::net_errc::overload) == many - few);
  CHECK(s.counted("exports") == few);
  CHECK(s.resolve<desk_type>("1") == known[1]);  // it knows of this one already
  // The stranger cannot give back handles that it never had.
  s.say({.kind = kind::release, .receiver = known[0], .number = 1000});
  s.say({.kind = kind::release, .receiver = {3, 3}, .number = 1});
  CHECK(s.counted("exports") == few);
  CHECK(!s.resolve<desk_type>("9"));
  s.say({.kind = kind::release, .receiver = known[0], .number = 1});
  CHECK(s.counted("exports") == few - 1);
  CHECK(s.resolve<desk_type>("9"));
  CHECK(s.counted("exports") == few);
}

TEST_CASE("strangers: a peer has as many links and monitors as the settings say") {
  three_machines m(strict());
  REQUIRE(m.a.node.publish("desk", m.a.system.spawn<desk>()).has_value());
  stranger s(m, m.a, "a");
  const auto desk_id = s.resolve<desk_type>("desk");
  REQUIRE(desk_id);
  for (std::uint64_t i = 1; i <= many; ++i)
    s.say({.kind = kind::monitor, .receiver = desk_id, .sender = {9, i}, .number = i});
  CHECK(s.counted("monitors") == few);
  CHECK(s.count(kind::down) == many - few);
  for (std::uint64_t i = 1; i <= many; ++i)
    s.say({.kind = kind::link, .receiver = desk_id, .sender = {8, i}});
  CHECK(s.counted("links") == 0);
  CHECK(s.count(kind::exit) == many);
  CHECK(s.counted("proxies") == 0);
  // The stranger has none of these monitors and links.
  s.say({.kind = kind::demonitor, .receiver = desk_id, .sender = {9, 1}, .number = 2});
  s.say({.kind = kind::demonitor, .receiver = {3, 3}, .sender = {9, 1}, .number = 1});
  s.say({.kind = kind::unlink, .receiver = desk_id, .sender = {9, 1}});
  CHECK(s.counted("monitors") == few);
  s.say({.kind = kind::demonitor, .receiver = desk_id, .sender = {9, 1}, .number = 1});
  CHECK(s.counted("monitors") == few - 1);
  for (std::uint64_t i = 1; i <= many; ++i)
    s.say({.kind = kind::link, .receiver = desk_id, .sender = {8, i}});
  CHECK(s.counted("links") == 1);
  CHECK(s.counted("monitors") == few - 1);
}

TEST_CASE("strangers: a peer has as many open questions as the settings say") {
  three_machines m(strict());
  REQUIRE(m.a.node.publish("desk", m.a.system.spawn<desk>()).has_value());
  stranger s(m, m.a, "a");
  const auto desk_id = s.resolve<desk_type>("desk");
  REQUIRE(desk_id);
  const std::uint64_t type =
      net::protocol_table_of<desk_type>().by_content(&base::message_type_of<hold>)->message.type;
  const auto ask = [&](std::uint64_t number) {
    s.say({.kind = kind::request,
           .receiver = desk_id,
           .sender = {9, 9},
           .number = number,
           .type = type},
          hold{});
  };
  for (std::uint64_t i = 1; i <= many; ++i) ask(i);
  CHECK(s.counted("asked") == few);
  CHECK(s.count(kind::error, errc::overload) == many - few);
  s.say({.kind = kind::cancel, .receiver = desk_id, .sender = {9, 9}, .number = 999});
  CHECK(s.counted("asked") == few);
  s.say({.kind = kind::cancel, .receiver = desk_id, .sender = {9, 9}, .number = 1});
  CHECK(s.counted("asked") == few - 1);
  ask(20);
  ask(21);
  CHECK(s.counted("asked") == few);
  CHECK(s.count(kind::error, errc::overload) == many - few + 1);
}

TEST_CASE("strangers: for one that asks and asks, and confirms nothing, no more and more waits") {
  net::node_settings of_a;
  of_a.most_bytes_waiting = 1u << 20;
  of_a.most_watches = 0;
  of_a.most_questions = 1000;
  three_machines m(of_a);
  const auto told = std::make_shared<verdicts>();
  m.a.node.subscribe(told);
  REQUIRE(m.a.node.publish("desk", m.a.system.spawn<desk>()).has_value());
  stranger s(m, m.a, "a");
  const auto desk_id = s.resolve<desk_type>("desk");
  REQUIRE(desk_id);
  s.confirms = false;
  constexpr int at_once = 200;
  int asked = 0;
  const auto until_down = [&](net::frame f, const auto&... payload) {
    for (; !told->down && asked < 2'000'000; asked += at_once, f.number += at_once)
      s.repeat(at_once, f, payload...);
  };
  SUBCASE("for names") {
    until_down({.kind = kind::resolve, .number = 1},
               net::resolve_order{"nobody", *net::protocol_table_of<desk_type>().described()});
    // The requests that the stack takes, and those that may wait, have about a hundred bytes each.
    constexpr int most_bytes = 1000 * 4608;
    CHECK(asked > most_bytes / 400);
    CHECK(asked < most_bytes / 128 + 2 * 8192);
  }
  SUBCASE("with unreadable messages") {
    until_down({.kind = kind::message, .receiver = desk_id, .sender = {9, 9}, .type = 5}, hold{});
    constexpr int most_bytes = 1000 * 4608;
    CHECK(asked > most_bytes / 400);
    CHECK(asked < most_bytes / 128 + 2 * 8192);
  }
  SUBCASE("when an actor ends") {
    until_down({.kind = kind::monitor, .receiver = desk_id, .sender = {9, 9}, .number = 5});
    CHECK(asked > 1 << 20);
    CHECK(asked < (1 << 20) + 2 * 8192);
  }
  SUBCASE("when no actor is there to be linked with") {
    until_down({.kind = kind::link, .receiver = {3, 3}, .sender = {9, 9}});
    CHECK(asked > 1 << 20);
    CHECK(asked < (1 << 20) + 2 * 8192);
  }
  CHECK(told->down == net::net_errc::node_down);
  CHECK_MESSAGE(told->down.to_string().find("does not read") != std::string::npos,
                told->down.to_string());
  CHECK(m.a.node.peers().empty());
  // Others are served.
  CHECK(m.b.node.remote<desk_type>(m.a.at, "desk").has_value());
}

TEST_CASE("strangers: one that has asked for much, and confirms it late, stays") {
  net::node_settings of_a;
  of_a.most_bytes_waiting = 1u << 20;
  of_a.most_questions = 1000;
  three_machines m(of_a);
  const auto told = std::make_shared<verdicts>();
  m.a.node.subscribe(told);
  REQUIRE(m.a.node.publish("archive", m.a.system.spawn<archive>()).has_value());
  stranger s(m, m.a, "a");
  const auto id = s.resolve<archive_type>("archive");
  REQUIRE(id);
  const std::uint64_t type = net::protocol_table_of<archive_type>()
                                 .by_content(&base::message_type_of<want_much>)
                                 ->message.type;
  s.confirms = false;
  // These answers are more than the stack takes before a message is confirmed.
  s.repeat(5, {.kind = kind::request, .receiver = id, .sender = {9, 9}, .number = 1, .type = type},
           want_much{});
  for (int i = 0; i < 20; ++i) m.a.system.run_for(duration::milliseconds(50));
  CHECK(s.counted("asked") == 0);
  CHECK(told->ups == 1);
  CHECK_MESSAGE(!told->down, told->down.to_string());
  CHECK(m.a.node.peers().size() == 1);
}

TEST_CASE("strangers: one that is refused all that it may ask at once, and reads late, stays") {
  constexpr int open = 100;
  net::node_settings of_a;
  of_a.most_bytes_waiting = 1;
  of_a.most_questions = open;
  of_a.link.mailbox.messages = 2;  // the others wait in the link
  three_machines m(of_a);
  const auto told = std::make_shared<verdicts>();
  m.a.node.subscribe(told);
  const auto at_desk = m.a.system.spawn<desk>();
  REQUIRE(m.a.node.publish("desk", at_desk).has_value());
  stranger s(m, m.a, "a");
  const auto id = s.resolve<desk_type>("desk");
  REQUIRE(id);
  const std::uint64_t type =
      net::protocol_table_of<desk_type>().by_content(&base::message_type_of<hold>)->message.type;
  s.confirms = false;
  s.repeat(open,
           {.kind = kind::request, .receiver = id, .sender = {9, 9}, .number = 1, .type = type},
           hold{});
  REQUIRE(s.counted("asked") == open);
  send(at_desk, refuse_all{});
  m.a.system.run_for(duration::seconds(1));
  CHECK(s.counted("asked") == 0);
  CHECK_MESSAGE(!told->down, told->down.to_string());
}

TEST_CASE("strangers: a number is used again when its request was answered, and not before") {
  three_machines m;
  REQUIRE(m.a.node.publish("desk", m.a.system.spawn<desk>()).has_value());
  stranger s(m, m.a, "a");
  const auto desk_id = s.resolve<desk_type>("desk");
  REQUIRE(desk_id);
  net::frame ask{.kind = kind::request, .receiver = desk_id, .sender = {9, 9}, .number = 7};
  ask.type =
      net::protocol_table_of<desk_type>().by_content(&base::message_type_of<hold>)->message.type;
  s.say(ask, hold{});
  s.say({.kind = kind::cancel, .receiver = desk_id, .sender = {9, 9}, .number = 7});
  CHECK(s.counted("asked") == 0);
  s.say(ask, hold{});
  CHECK(s.counted("asked") == 0);
  CHECK(s.count(kind::error, net::net_errc::decode_failed) == 1);
}

TEST_CASE("strangers: one that is refused again and again, and reads that, stays") {
  net::node_settings of_a;
  of_a.most_bytes_waiting = 1;
  of_a.most_questions = 10;
  of_a.link.mailbox.messages = 2;  // the others wait in the link
  three_machines m(of_a);
  const auto told = std::make_shared<verdicts>();
  m.a.node.subscribe(told);
  stranger s(m, m.a, "a");
  for (int round = 0; round < 100; ++round)
    s.repeat(8, {.kind = kind::resolve, .number = 1},
             net::resolve_order{"nobody", *net::protocol_table_of<desk_type>().described()});
  CHECK(s.count(kind::error, registry_errc::not_found) == 800);
  CHECK_MESSAGE(!told->down, told->down.to_string());
}

}  // namespace strangers_test
