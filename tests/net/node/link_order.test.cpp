// The order of messages over one link where it is least obvious: between those that wait in front
// of the link and those that do not, and between the lanes below it. Codecs of messages here send
// others while a thread is in the link.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/codec.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace link_order_test {

using namespace garrick;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// Called while a `meanwhile` is written.
std::function<void()> at_encoding;

class meanwhile {
 public:
  using garrick_sendable = void;
};

}  // namespace link_order_test

template <>
struct garrick::net::codec<link_order_test::meanwhile> {
  static void encode(byte_writer& out, const link_order_test::meanwhile&) {
    out.fixed(std::uint8_t{1});
    if (const auto what = std::exchange(link_order_test::at_encoding, nullptr)) what();
  }
  static void decode(byte_reader& in, link_order_test::meanwhile&) {
    static_cast<void>(in.fixed<std::uint8_t>());
  }
};

namespace link_order_test {

struct note {
  int n = 0;
};
struct luggage {
  std::string content;
};
luggage large_piece() { return {std::string(4u << 20, 'x')}; }
using asker_type = protocol<void(note), void(meanwhile), void(luggage)>;
struct question {
  ref<asker_type> who;
};
struct go {};
struct go_slowly {
  bool fails = false;
  std::size_t answer = 1;  // bytes
};
using giver_type = protocol<result<std::string>(question), void(go), void(go_slowly)>;
struct begin {
  ref<giver_type> whom;
};

/// Notes the order of its messages: the answer is -1, luggage 9.
class asker : public actor<protocol<void(note), void(meanwhile), void(luggage), void(begin)>> {
 public:
  explicit asker(std::vector<int>& came) : came_(came) {}
  void on(note n) { came_.push_back(n.n); }
  void on(const meanwhile&) { came_.push_back(0); }
  void on(const luggage&) { came_.push_back(9); }
  void on(const begin& b) {
    request(b.whom, question{ref<asker_type>(self())})
        .then([this](const std::string&) { came_.push_back(-1); },
              [this](const error&) { came_.push_back(-1); });
  }

 private:
  std::vector<int>& came_;
};

/// Sends and answers while its own message is being written.
class giver : public actor<giver_type> {
 public:
  result<std::string> on(const question& q) {
    who_ = q.who;
    answer_ = make_promise<std::string>();
    return answer_;
  }
  void on(go) {
    at_encoding = [this] {
      send(who_, note{1});
      answer_.deliver("7");
      send(who_, note{2});
    };
    send(who_, meanwhile());
    send(who_, note{3});
  }
  void on(go_slowly how) {
    send(who_, large_piece());
    if (how.fails)
      answer_.fail(make_error(errc::user, "giver", "no"));
    else
      answer_.deliver(std::string(how.answer, 'x'));
    send(who_, note{1});
  }

 private:
  ref<asker_type> who_;
  response_promise<std::string> answer_;
};

struct count {};
using guest_type = protocol<void(luggage), void(note)>;
class guest : public actor<guest_type> {
 public:
  explicit guest(int& came) : came_(came) {}
  void on(const luggage&) { ++came_; }
  void on(note) { ++came_; }

 private:
  int& came_;
};
std::string texts_of(const std::vector<int>& numbers) {
  std::string all;
  for (const int n : numbers) all += std::to_string(n) + " ";
  return all;
}

/// Asks how many pieces of luggage have come.
struct say_so {};
using porter_type = protocol<void(luggage), void(meanwhile), int(say_so), void(ref<asker_type>)>;
class porter : public actor<porter_type> {
 public:
  void on(const luggage&) { ++came_; }
  void on(const meanwhile&) {}
  int on(say_so) { return came_; }
  void on(const ref<asker_type>& who) { who_ = who; }

 private:
  int came_ = 0;
  ref<asker_type> who_;
};
/// Hands everything on to a porter.
class clerk : public actor<protocol<void(luggage), int(say_so)>> {
 public:
  explicit clerk(ref<porter_type> to) : to_(std::move(to)) {}
  auto on(const luggage& l) { return delegate(to_, l); }
  auto on(say_so s) { return delegate(to_, s); }

 private:
  ref<porter_type> to_;
};
/// Sends luggage, and asks at once whether it is there: perhaps while its own message is written.
struct start {
  ref<porter_type> to;
  int pieces = 1;
  bool is_in_front_of_it = false;
};
class traveller : public actor<protocol<void(note), void(meanwhile), void(luggage), void(start)>> {
 public:
  explicit traveller(std::vector<int>& came) : came_(came) {}
  void on(note) {}
  void on(const meanwhile&) {}
  void on(const luggage&) {}
  void on(const start& s) {
    send(s.to, ref<asker_type>(self()));  // so the asker has a number there
    const auto both = [this, s] {
      for (int i = 0; i != s.pieces; ++i) send(s.to, large_piece());
      request(s.to, say_so{}).then([this](int n) { came_.push_back(n); });
    };
    if (!s.is_in_front_of_it) return both();
    at_encoding = both;
    send(s.to, meanwhile());
  }

 private:
  std::vector<int>& came_;
};

struct make_one {};
struct bring_back {
  ref<guest_type> who;
  std::string content;
};
struct keep {
  ref<guest_type> who;
};
struct give_back {};
using keeper_type = protocol<void(keep), bring_back(give_back)>;
/// Gives back the handle that it was given, once, with luggage.
class keeper : public actor<keeper_type> {
 public:
  void on(const keep& k) { kept_ = k.who; }
  bring_back on(give_back) { return {std::exchange(kept_, {}), std::string(4u << 20, 'x')}; }

 private:
  ref<guest_type> kept_;
};
using host_type = protocol<ref<guest_type>(make_one), void(bring_back), void(note), int(count)>;
class host : public actor<host_type> {
 public:
  explicit host(int& came) : came_(came) {}
  ref<guest_type> on(make_one) { return spawn<guest>(lent(came_)); }
  void on(const bring_back& b) { send(b.who, note{}); }
  void on(note) {}
  int on(count) { return came_; }

 private:
  int& came_;
};

struct with_host {
  int came = 0;  // messages to guests
  three_machines m;
  ref<host_type> to;

  explicit with_host(net::node_settings of_a = {})
      : m(std::move(of_a)), to(m.b.shown_to(m.a, "host", m.b.system.spawn<host>(lent(came)))) {}
  ref<guest_type> new_guest() { return m.a.system.request(to, make_one{}).get().value(); }
};

TEST_CASE("link order: an answer keeps its place between its giver's messages to a busy link") {
  std::vector<int> came;
  three_machines m;
  const auto gives = m.a.system.spawn<giver>();
  const auto seen = m.a.shown_to(m.b, "giver", gives);
  const auto asks = m.b.system.spawn<asker>(lent(came));
  send(asks, begin{seen});
  m.a.system.run_for(ms(50));
  send(gives, go{});
  m.a.system.run_for(ms(50));
  CHECK(texts_of(came) == "0 1 -1 2 3 ");
}

TEST_CASE("link order: an answer does not overtake a large message of its giver") {
  struct kind {
    go_slowly how;
    bool is_reset = false;
  };
  constexpr std::size_t too_large = 6u << 20;
  for (const auto& [how, is_reset] :
       {kind{}, {{}, true}, {{.fails = true}}, {{.answer = too_large}}}) {
    CAPTURE(how.fails);
    CAPTURE(how.answer);
    CAPTURE(is_reset);
    std::vector<int> came;
    net::node_settings of_a;
    of_a.link.slicing.largest = 5u << 20;
    three_machines m(of_a);
    const auto gives = m.a.system.spawn<giver>();
    const auto seen = m.a.shown_to(m.b, "giver", gives);
    const auto asks = m.b.system.spawn<asker>(lent(came));
    send(asks, begin{seen});
    m.a.system.run_for(ms(50));
    send(gives, how);
    m.a.system.run_for(ms(2));
    if (is_reset) m.net.reset_streams("a", "b");
    m.a.system.run_for(duration::seconds(5));
    CHECK(texts_of(came) == "9 -1 1 ");
  }
}

using heir_type = protocol<void(luggage)>;
struct will {
  ref<heir_type> heir;
};
using testator_type = protocol<void(will)>;
/// Leaves luggage to another actor, and ends.
class testator : public actor<testator_type> {
 public:
  void on(const will& w) {
    send(w.heir, large_piece());
    quit();
  }
};
struct inherit {
  ref<testator_type> from;
};
/// Notes luggage as 9, and the end of the actor that left it as -1.
class heir : public actor<protocol<void(luggage), void(inherit), void(down)>> {
 public:
  explicit heir(std::vector<int>& came) : came_(came) {}
  void on(const luggage&) { came_.push_back(9); }
  void on(const inherit& i) {
    monitor(i.from);
    send(i.from, will{ref<heir_type>(self())});
  }
  void on(const down&) { came_.push_back(-1); }

 private:
  std::vector<int>& came_;
};

TEST_CASE("link order: that an actor has ended does not overtake its large message") {
  std::vector<int> came;
  three_machines m;
  const auto seen = m.a.shown_to(m.b, "testator", m.a.system.spawn<testator>());
  const auto hears = m.b.system.spawn<heir>(lent(came));
  send(hears, inherit{seen});
  m.b.system.run_for(duration::seconds(5));
  CHECK(texts_of(came) == "9 -1 ");
}

TEST_CASE("link order: a request does not overtake a large message of its asker") {
  std::vector<int> came;
  three_machines m;
  const auto seen = m.b.shown_to(m.a, "porter", m.b.system.spawn<porter>());
  send(m.a.system.spawn<traveller>(lent(came)), start{seen});
  m.a.system.run_for(duration::seconds(5));
  CHECK(texts_of(came) == "1 ");
}

TEST_CASE("link order: nor where both wait, in front of a busy link or for room on it") {
  for (const bool is_in_front_of_it : {false, true}) {
    CAPTURE(is_in_front_of_it);
    std::vector<int> came;
    net::node_settings narrow;
    narrow.link.mailbox.messages = 4;
    three_machines m(is_in_front_of_it ? net::node_settings() : narrow);
    const auto seen = m.b.shown_to(m.a, "porter", m.b.system.spawn<porter>());
    const int pieces = is_in_front_of_it ? 1 : 6;
    send(m.a.system.spawn<traveller>(lent(came)), start{seen, pieces, is_in_front_of_it});
    m.a.system.run_for(duration::seconds(5));
    CHECK(texts_of(came) == std::to_string(pieces) + " ");
  }
}

TEST_CASE("link order: a thread's request does not overtake a large message that it has sent") {
  three_machines m;
  const auto seen = m.b.shown_to(m.a, "porter", m.b.system.spawn<porter>());
  send(seen, large_piece());
  CHECK(m.a.system.request(seen, say_so{}).get().value() == 1);
}

TEST_CASE("link order: nor where the thread is one of an actor") {
  three_machines m;
  const auto seen = m.b.shown_to(m.a, "porter", m.b.system.spawn<porter>());
  core::scoped_actor me(m.a.system.env());
  me->send(me->self(), say_so{});
  int came = 0;
  me->receive([&](say_so) {
    send(seen, large_piece());
    came = m.a.system.request(seen, say_so{}).get().value();
  });
  CHECK(came == 1);
}

TEST_CASE("link order: nor where an actor here hands both on") {
  three_machines m;
  const auto seen = m.b.shown_to(m.a, "porter", m.b.system.spawn<porter>());
  const auto desk = m.a.system.spawn<clerk>(seen);
  send(desk, large_piece());
  CHECK(m.a.system.request(desk, say_so{}).get().value() == 1);
}

TEST_CASE("link order: nor where a node in between passes both on") {
  std::vector<int> came;
  three_machines m;
  const auto far = m.c.shown_to(m.b, "porter", m.c.system.spawn<porter>());
  const auto seen = m.b.shown_to(m.a, "porter", far);
  send(seen, large_piece());
  CHECK(m.a.system.request(seen, say_so{}).get().value() == 1);
  send(m.a.system.spawn<traveller>(lent(came)), start{seen});
  m.a.system.run_for(duration::seconds(5));
  CHECK(texts_of(came) == "2 ");
}

TEST_CASE("link order: that a handle is let go does not overtake a large message to it") {
  with_host n;
  send(n.new_guest(), large_piece());
  n.m.a.system.run_for(duration::seconds(5));
  CHECK(n.came == 1);
  CHECK(tests::letters(n.m.a.system) == 0);
}

TEST_CASE("link order: nor a large message that brings it home") {
  with_host n;
  {
    const auto one = n.new_guest();
    send(n.to, bring_back{one, std::string(4u << 20, 'x')});
  }
  n.m.a.system.run_for(duration::seconds(5));
  CHECK(n.came == 1);
  CHECK(tests::letters(n.m.a.system) == 0);
}

TEST_CASE("link order: nor messages that go again over another stream") {
  with_host n;
  {
    const auto one = n.new_guest();
    n.m.a.system.run_for(ms(50));
    n.m.net.reset_streams("a", "b");
    n.m.a.system.run_for(ms(10));  // both ends know
    for (int i = 0; i < 20; ++i) send(one, note{i});
  }
  n.m.a.system.run_for(duration::seconds(5));
  CHECK(n.came == 20);
  CHECK(tests::letters(n.m.a.system) == 0);
}

TEST_CASE("link order: nor a large answer that brings it home") {
  int came = 0;
  three_machines m;
  const auto at_b = m.a.shown_to(m.b, "keeper", m.a.system.spawn<keeper>());
  send(at_b, keep{m.b.system.spawn<guest>(lent(came))});
  m.b.system.run_for(ms(50));
  const auto back = m.b.system.request(at_b, give_back{}).get();
  REQUIRE_MESSAGE(back.has_value(), back.error().to_string());
  send(back->who, note{});
  m.b.system.run_for(ms(50));
  CHECK(came == 1);
}

using weighing_type = protocol<int(luggage)>;
/// Never answers.
class scales : public actor<weighing_type> {
 public:
  explicit scales(int& asked) : asked_(asked) {}
  result<int> on(const luggage&) {
    ++asked_;
    answers_.push_back(make_promise<int>());
    return answers_.back();
  }

 private:
  int& asked_;
  std::vector<response_promise<int>> answers_;
};

TEST_CASE("link order: that a thread's request is withdrawn does not overtake it") {
  net::node_settings of_b;
  of_b.most_questions = 8;
  three_machines m({}, of_b);
  int asked = 0;
  const auto far = m.b.shown_to(m.a, "scales", m.b.system.spawn<scales>(lent(asked)));
  for (int i = 0; i < 12; ++i) {
    const auto no =
        m.a.system.request(far, large_piece()).within(duration::microseconds(100)).get();
    CHECK(no.error() == errc::timeout);
    m.a.system.run_for(ms(500));
  }
  CHECK(asked == 0);
  for (const net::link_count& c : m.b.node.counters(m.a.node.self()))
    if (c.layer == "node" && c.name == "asked") CHECK(c.value == 0);
}

}  // namespace link_order_test
