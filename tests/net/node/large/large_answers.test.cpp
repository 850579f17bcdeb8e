// A large answer is encoded by the actor that gives it, and not by the thread in the link, in any
// state of the link: so it holds up no other message.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "net/node/large/noted_encoding.hpp"
#include "net/node/simulated_machines.hpp"

namespace large_answers_test {

using namespace garrick;
using tests::at_encoding;
using tests::counted;
using tests::noted;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// Called by the giver when it is told to go on.
std::function<void()> to_do;

constexpr std::size_t large = 1'000'000;

using asker_type = protocol<void(int), void(noted)>;
struct question {
  ref<asker_type> who;
};
struct go {};
using giver_type = protocol<result<noted>(question)>;

struct ask {
  ref<giver_type> whom;
};
struct end {};
/// Notes numbers, the sizes of messages, and those of answers as negative numbers.
class asker : public actor<protocol<void(int), void(noted), void(ask), void(end)>> {
 public:
  explicit asker(std::vector<std::int64_t>& came) : came_(came) {}
  void on(int n) { came_.push_back(n); }
  void on(const noted& n) { came_.push_back(size_of(n)); }
  void on(const ask& a) {
    request(a.whom, question{ref<asker_type>(self())})
        .then([this](const noted& n) { came_.push_back(-size_of(n)); },
              [this](const error&) { came_.push_back(-1); });
  }
  void on(end) { quit(); }

 private:
  static std::int64_t size_of(const noted& n) { return static_cast<std::int64_t>(n.bytes.size()); }
  std::vector<std::int64_t>& came_;
};

noted some(std::size_t bytes) { return {std::vector<std::uint8_t>(bytes)}; }

/// The state of the giver: the asker, and the answer that it owes.
struct debt {
  ref<asker_type> to;
  response_promise<noted> answer;
};
class giver : public actor<protocol<result<noted>(question), void(go)>> {
 public:
  explicit giver(debt& d) : debt_(d) {}
  result<noted> on(const question& q) {
    debt_ = {q.who, make_promise<noted>()};
    return debt_.answer;
  }
  void on(go) { to_do(); }

 private:
  debt& debt_;
};

std::string texts_of(const std::vector<std::int64_t>& numbers) {
  std::string all;
  for (const std::int64_t n : numbers) all += std::to_string(n) + " ";
  return all;
}

/// Two machines; an actor of b asks an actor of a.
struct with_giver {
  std::vector<std::int64_t> came;
  debt owed;
  three_machines m;
  ref<protocol<result<noted>(question), void(go)>> gives;
  ref<giver_type> seen;
  ref<protocol<void(int), void(noted), void(ask), void(end)>> asks;

  explicit with_giver(net::node_settings of_a = {})
      : m(std::move(of_a)),
        gives(m.a.system.spawn<giver>(lent(owed))),
        seen(m.a.shown_to(m.b, "giver", ref<giver_type>(gives))),
        asks(m.b.system.spawn<asker>(lent(came))) {}
  ~with_giver() { at_encoding = to_do = nullptr; }
  with_giver(const with_giver&) = delete;
  with_giver& operator=(const with_giver&) = delete;

  void begin() {
    send(asks, ask{seen});
    m.a.system.run_for(ms(50));
  }
  /// Lets the giver call `what`, and runs until its consequences have come.
  void make(const std::function<void()>& what) {
    to_do = what;
    send(gives, go{});
    m.a.system.run_for(duration::seconds(5));
  }
  void exchange(std::size_t bytes) {
    begin();
    make([this, bytes] { owed.answer.deliver(some(bytes)); });
  }
  void nothing_is_left() {
    for (const char* const what : {"asked", "unanswered", "wanted"}) {
      CAPTURE(what);
      CHECK(counted(m.a, m.b, what) == 0);
    }
  }
};

TEST_CASE("large answers: no thread is in the link while one is encoded") {
  with_giver g;
  std::string expected = "-1000000 7 -1000000 ";
  std::size_t second = large;
  g.exchange(large);
  SUBCASE("of a type that is known to be large") {}
  SUBCASE("until one of its type is small") {
    g.exchange(3);
    second = 3;
    expected = "-1000000 -3 -3 7 ";
  }
  // A message sent while a thread is in the link goes out behind that thread's.
  at_encoding = [&] { send(g.owed.to, 7); };
  g.exchange(second);
  CHECK(texts_of(g.came) == expected);
  g.nothing_is_left();
}

TEST_CASE(
    "large answers: a thread that finds the link busy encodes it, be it the first of its type") {
  with_giver g;
  g.begin();
  bool was_encoded = false;
  g.make([&] {
    at_encoding = [&] {  // of the message, in the link
      bool is_encoded = false;
      at_encoding = [&] { is_encoded = true; };
      g.owed.answer.deliver(some(large));
      was_encoded = is_encoded;
      at_encoding = nullptr;
    };
    send(g.owed.to, some(3));
  });
  CHECK(was_encoded);
  CHECK(texts_of(g.came) == "3 -1000000 ");
  g.nothing_is_left();
}

/// Settings under which the stack takes one message until the other end has confirmed it.
net::node_settings narrow() {
  net::node_settings s;
  s.link.mailbox.messages = 1;
  return s;
}

/// The way from a to b takes half a second, so that the answer waits; the way from b to a 3 ms.
struct with_slow_way : with_giver {
  with_slow_way() : with_giver(narrow()) {
    begin();
    m.net.path("a", "b").delay = ms(500);
  }
  /// Puts a message in line in front of the link, behind those for which it has no room.
  void fill() {
    send(owed.to, 1);
    at_encoding = [this] {
      at_encoding = nullptr;
      send(owed.to, 2);
    };
    send(owed.to, some(3));
  }
};

TEST_CASE(
    "large answers: a thread that finds others waiting for room on the link encodes it, too") {
  with_slow_way g;
  bool was_encoded = false;
  SUBCASE("a large one") {
    g.make([&] {
      g.fill();
      at_encoding = [&] { was_encoded = true; };
      g.owed.answer.deliver(some(large));
      CHECK(was_encoded);
      send(g.owed.to, 4);
    });
    CHECK(texts_of(g.came) == "1 3 2 -1000000 4 ");
  }
  SUBCASE("a small one") {
    g.make([&] {
      g.fill();
      g.owed.answer.deliver(some(10));
      send(g.owed.to, 4);
    });
    CHECK(texts_of(g.came) == "1 3 2 -10 4 ");
  }
  g.nothing_is_left();
}

TEST_CASE("large answers: no asker gets one that waits when its request is taken back") {
  with_slow_way g;
  SUBCASE("encoded, and large") {
    g.make([&] {
      g.fill();
      g.owed.answer.deliver(some(large));
      send(g.asks, end{});
    });
  }
  SUBCASE("encoded, and small") {
    g.make([&] {
      g.fill();
      g.owed.answer.deliver(some(10));
      send(g.asks, end{});
    });
  }
  CHECK(g.came.size() <= 1);
  g.nothing_is_left();
}

TEST_CASE("large answers: an error that waits for room comes as one") {
  with_slow_way g;
  g.make([&] {
    g.fill();
    g.owed.answer.fail(errc::user);
    send(g.owed.to, 4);
  });
  CHECK(texts_of(g.came) == "1 3 2 -1 4 ");
  g.nothing_is_left();
}

}  // namespace large_answers_test
