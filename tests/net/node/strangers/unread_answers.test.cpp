// Answers of actors to a peer that asks and does not take them: each counts as an open request
// until it has left, wherever it waits.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/wire/codec.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

namespace unread_answers_test {

using namespace garrick;
using kind = net::frame_kind;
using tests::three_machines;

/// Called while a reply is written.
std::function<void()> at_encoding;
class reply {
 public:
  using garrick_sendable = void;
};

}  // namespace unread_answers_test

template <>
struct garrick::net::codec<unread_answers_test::reply> {
  static void encode(byte_writer& out, const unread_answers_test::reply&) {
    out.fixed(std::uint8_t{1});
    if (const auto what = std::exchange(unread_answers_test::at_encoding, nullptr)) what();
  }
  static void decode(byte_reader& in, unread_answers_test::reply&) {
    static_cast<void>(in.fixed<std::uint8_t>());
  }
};

namespace unread_answers_test {

struct ask {};
struct answer_all {};
using asked_type = protocol<reply(ask)>;

/// Answers all requests on order, and all but the first while the first answer is written: so these
/// answers wait in front of the link.
class desk : public actor<protocol<reply(ask), void(answer_all)>> {
 public:
  explicit desk(int& handled) : handled_(handled) {}
  result<reply> on(ask) {
    ++handled_;
    promises_.push_back(make_promise<reply>());
    return promises_.back();
  }
  void on(answer_all) {
    auto all = std::exchange(promises_, {});
    if (all.empty()) return;
    at_encoding = [&all] {
      for (std::size_t i = 1; i < all.size(); ++i) all[i].deliver(reply());
    };
    all[0].deliver(reply());
    at_encoding = nullptr;
  }

 private:
  int& handled_;
  std::vector<response_promise<reply>> promises_;
};

/// Answers at once: answers that the stack does not take wait in the link.
class clerk : public actor<protocol<reply(ask)>> {
 public:
  explicit clerk(int& handled) : handled_(handled) {}
  reply on(ask) {
    ++handled_;
    return {};
  }

 private:
  int& handled_;
};

class verdicts : public net::peer_listener {
 public:
  void changed(const net::peer_identity&, net::peer_change what, const error& why) override {
    if (what == net::peer_change::down) down = why;
  }
  error down;
};

constexpr std::uint32_t most = 100;  // open requests of a peer
constexpr std::uint64_t taken = 8;   // messages that a stack keeps until they are confirmed

net::node_settings small_settings() {
  net::node_settings s;
  s.most_questions = most;
  s.most_bytes_waiting = 1u << 20;
  s.link.mailbox.messages = taken;
  return s;
}

struct with_stranger {
  int handled = 0;
  three_machines m{small_settings()};
  std::shared_ptr<verdicts> told = std::make_shared<verdicts>();
  tests::stranger s{m, m.a, "a"};
  ref<protocol<reply(ask), void(answer_all)>> local = m.a.system.spawn<desk>(lent(handled));
  net::frame question{.kind = kind::request, .sender = {9, 9}, .number = 1};

  /// Makes a stranger that asks the desk, or the clerk if `asks_clerk` is true.
  explicit with_stranger(bool asks_clerk = false) {
    m.a.node.subscribe(told);
    ref<asked_type> asked = local;
    if (asks_clerk) asked = m.a.system.spawn<clerk>(lent(handled));
    REQUIRE(m.a.node.publish<asked_type>("asked", asked).has_value());
    question.receiver = s.resolve<asked_type>("asked");
    REQUIRE(question.receiver);
    question.type =
        net::protocol_table_of<asked_type>().by_content(&base::message_type_of<ask>)->message.type;
    s.confirms = false;
  }
  void asks(std::uint32_t times) {
    s.repeat(static_cast<int>(times), question, ask{});
    question.number += times;
  }
  void cancels(std::uint32_t times) {
    net::frame f = question;
    f.kind = kind::cancel;
    f.number -= times;
    f.type = 0;
    s.repeat(static_cast<int>(times), f);
  }
  void is_answered() {
    send(local, answer_all{});
    m.a.system.run_for(duration::milliseconds(1));
  }
};

TEST_CASE("unread answers: to a peer that confirms nothing so many wait as it may have asked") {
  with_stranger at(true);
  std::uint64_t largest = 0;
  for (int round = 0; !at.told->down && round < 1000; ++round) {
    at.asks(20);
    if (!at.told->down) largest = std::max(largest, at.s.counted("unanswered"));
  }
  CHECK(largest == most);
  CHECK(at.handled == most + taken);
  // The refusals of everything else wait, too, and have their own limit.
  CHECK_MESSAGE(at.told->down.to_string().find("does not read") != std::string::npos,
                at.told->down.to_string());
}

TEST_CASE(
    "unread answers: a request that the peer has cancelled counts as long as its answer waits") {
  with_stranger at;
  at.asks(1);
  at.is_answered();  // this answer is wanted, and no later one is confirmed before it
  for (int round = 0; round < 20; ++round) {
    at.asks(50);
    at.is_answered();
    at.cancels(50);
    CHECK(at.s.counted("asked") == 0);
    CHECK(at.s.counted("unanswered") >= 50 - taken);
  }
  CHECK(at.s.counted("unanswered") >= most);
  // At most twice as many: answers in front of the link do not count with open requests.
  CHECK(at.handled >= static_cast<int>(most));
  CHECK(at.handled <= static_cast<int>(2 * most + taken));
  CHECK(!at.told->down);
}

TEST_CASE("unread answers: a request not answered and cancelled does not count") {
  with_stranger at;
  for (int round = 0; round < 20; ++round) {
    at.asks(50);
    at.cancels(50);
    CHECK(at.s.counted("unanswered") == 0);
  }
  CHECK(at.handled == 1000);
}

TEST_CASE("unread answers: a peer that takes them may ask as often as it likes") {
  int handled = 0;
  three_machines m(small_settings());
  const auto at_desk = m.a.system.spawn<desk>(lent(handled));
  const auto the_desk = m.a.shown_to(m.b, "desk", ref<asked_type>(at_desk));
  const auto the_clerk = m.a.shown_to(m.b, "clerk", m.a.system.spawn<clerk>(lent(handled)));
  core::scoped_actor me(m.b.system.env());
  for (int round = 0; round < 20; ++round) {
    std::vector<pending_response<reply>> asked;
    for (std::uint32_t i = 0; i < most * 4 / 5; ++i)
      asked.push_back(me->request(i % 2 == 0 ? the_desk : the_clerk, ask{}));
    m.a.system.run_for(duration::milliseconds(50));
    send(at_desk, answer_all{});
    for (auto& one : asked) REQUIRE(me->get(std::move(one)).has_value());
  }
  m.a.system.run_for(duration::milliseconds(100));
  for (const net::link_count& c : m.a.node.counters(m.b.node.self()))
    if (c.layer == "node" && c.name == "unanswered") CHECK(c.value == 0);
}

}  // namespace unread_answers_test
