#include "garrick/net/stack/stack.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/net/error.hpp"

namespace stack_test {

using namespace garrick;
using namespace garrick::net;

namespace {

/// A carrier that keeps its packets, and an owner with given answers.
struct end final : carrier, link_owner {
  std::vector<bool> answers;  ///< in the order of the messages
  std::size_t asked = 0;
  std::vector<std::string> wire;
  std::function<void()> on_text;
  bool takes = true;
  bool closed = false;

  void transmit(packet p) override {
    wire.emplace_back(reinterpret_cast<const char*>(p.bytes().data()), p.size());
  }
  [[nodiscard]] bool writable() const override { return takes; }
  [[nodiscard]] std::size_t largest() const override { return 1000; }
  void reopen() override {}
  void close() override { closed = true; }
  bool on_message(const incoming&) override {
    if (on_text) on_text();
    return answers.empty() || answers.at(asked++);
  }
  void on_event(const link_event&) override {}
};

/// Passes each message up twice, and keeps the results.
struct twice : layer_defaults {
  std::vector<bool> told;
  void receive(const incoming& m, layer_context& c) {
    const bool first = c.up(m);
    const bool second = c.up(m);
    told.insert(told.end(), {first, second});
  }
};
struct once : layer_defaults {
  std::vector<bool> told;
  void receive(const incoming& m, layer_context& c) { told.push_back(c.up(m)); }
};
/// Passes everything on by the defaults.
struct passing : layer_defaults {};
/// Reports `down` in the middle of a message.
struct ends : layer_defaults {
  std::vector<bool> told;
  void receive(const incoming& m, layer_context& c) {
    c.notify({link_event::kind::down});
    told.push_back(c.up(m));
  }
};

/// Is always due, and logs its calls.
struct due : layer_defaults {
  explicit due(char n = '?', std::string* to = nullptr) : name(n), log(to) {}
  void receive(const incoming& m, layer_context& c) {
    *log += 'r';
    static_cast<void>(c.up(m));
  }
  void advance(layer_context&) { *log += name; }
  [[nodiscard]] base::instant deadline() const { return base::instant::at(base::duration()); }
  char name;
  std::string* log;
};
/// Passes each message up, and then sends an answer of its own.
struct answering : layer_defaults {
  void receive(const incoming& m, layer_context& c) {
    static_cast<void>(c.up(m));
    packet p = packet::with_room(c.headers_below(), 1);
    p.append(1)[0] = std::byte{'a'};
    c.down({std::move(p)});
  }
};
template <std::size_t Size>
struct with_header : layer_defaults {
  static constexpr std::size_t header_size = Size;
  void send(outgoing m, layer_context& c) {
    std::fill_n(m.bytes.prepend(Size), Size, std::byte{'0' + Size});
    c.down(std::move(m));
  }
};

constexpr base::instant now{};
const std::vector<std::byte> one(1);

outgoing text(std::string_view t, lane_number lane = 1) {
  return {packet::copy_of(std::as_bytes(std::span(t.data(), t.size()))), lane};
}

}  // namespace

TEST_CASE("a layer hears of each message by itself whether it is where it was to go") {
  end e;
  e.answers = {false, true, true, true, true, false};
  SUBCASE("from the owner") {
    stack<datagrams, twice> s(e, e, twice());
    for (int i = 0; i != 3; ++i) s.receive(one, now);
    CHECK(s.get<twice>().told == e.answers);
  }
  SUBCASE("and a lower one of all that came of its message") {
    stack<datagrams, twice, once> s(e, e, twice(), once());
    for (int i = 0; i != 3; ++i) s.receive(one, now);
    CHECK(s.get<twice>().told == e.answers);
    CHECK(s.get<once>().told == std::vector<bool>{false, true, false});
  }
  SUBCASE("also through a layer in between that does not care") {
    stack<datagrams, passing, twice, passing, once> s(e, e, passing(), twice(), passing(), once());
    for (int i = 0; i != 3; ++i) s.receive(one, now);
    CHECK(s.get<twice>().told == e.answers);
    CHECK(s.get<once>().told == std::vector<bool>{false, true, false});
  }
}

TEST_CASE("a message after the end is not where it was to go") {
  end e;
  stack<datagrams, ends> s(e, e, ends());
  s.receive(one, now);
  CHECK(s.get<ends>().told == std::vector<bool>{false});
  CHECK(e.asked == 0);
}

TEST_CASE("a stack takes messages of the system while it is not writable, and no others") {
  end e;
  e.takes = false;
  stack<datagrams, once> s(e, e, once());
  CHECK(s.send(text("x"), now) == net_errc::overload);
  CHECK(!s.send(text("y", system_lane), now));
  CHECK(e.wire == std::vector<std::string>{"y"});
}

TEST_CASE(
    "messages that an owner sends while it is called are sent when that call has ended, in order") {
  end e;
  stack<datagrams, answering> s(e, e, answering());
  e.on_text = [&] {
    CHECK(!s.send(text("1"), now));
    CHECK(!s.send(text("2"), now));
    CHECK(e.wire.empty());
  };
  s.receive(one, now);
  CHECK(e.wire == std::vector<std::string>{"a", "1", "2"});
}

TEST_CASE("a layer knows how much room the layers below want in front of its own messages") {
  end e;
  stack<datagrams, answering, with_header<3>, with_header<5>> s(e, e, answering(), with_header<3>(),
                                                                with_header<5>());
  CHECK(s.header_size() == 8);
  s.receive(one, now);
  CHECK(e.wire == std::vector<std::string>{"55555333a"});
}

TEST_CASE("the time is told to the lowest layer first") {
  struct upper : due {
    using due::due;
  };
  std::string log;
  end e;
  stack<datagrams, upper, due> s(e, e, upper('u', &log), due('l', &log));
  s.advance(now);
  CHECK(log == "lu");
}

TEST_CASE("a stack that is left closes its transport, hears nothing more and waits for nothing") {
  std::string log;
  end e;
  stack<datagrams, due> s(e, e, due('d', &log));
  CHECK(s.deadline() == base::instant::at(base::duration()));
  s.leave(now);
  CHECK(e.closed);
  CHECK(s.deadline().is_never());
  s.receive(one, now);
  s.advance(now);
  CHECK(log.empty());
  CHECK(s.send(text("x"), now) == net_errc::peer_down);
}

}  // namespace stack_test
