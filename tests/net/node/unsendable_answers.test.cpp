// Answers that cannot be sent: their codec refuses, they are too large for the link, or are nested
// too deep. The asker is told at once, with the type's name; the other node counts them.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/codec.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace unsendable_answers_test {

using namespace garrick;
using net::net_errc;
using tests::listening_machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// A value that its codec refuses in one of two ways.
class secret {
 public:
  using garrick_sendable = void;
  secret() = default;
  explicit secret(bool throws) : throws_(throws) {}
  [[nodiscard]] bool throws() const { return throws_; }

 private:
  bool throws_ = false;
};

}  // namespace unsendable_answers_test

template <>
struct garrick::net::codec<unsendable_answers_test::secret> {
  static void encode(byte_writer& out, const unsendable_answers_test::secret& s) {
    if (s.throws()) throw std::runtime_error("a secret that throws");
    out.fail(make_error(net_errc::not_encodable, "a secret that is kept"));
  }
  static void decode(byte_reader& in, unsendable_answers_test::secret&) { in.fail("never sent"); }
};

namespace unsendable_answers_test {

struct branch {
  std::vector<branch> more;
};
struct tell_secret {
  bool throws = false;
};
struct draw {
  std::int64_t bytes = 0;
};
struct picture {
  std::string pixels;
};
struct grow {
  int height = 0;
};
struct count {};

using oracle_type = protocol<secret(tell_secret), picture(draw), branch(grow), std::int64_t(count)>;

class oracle : public actor<oracle_type> {
 public:
  secret on(tell_secret t) { return secret(++asked_ != 0 && t.throws); }
  picture on(draw d) {
    ++asked_;
    return {std::string(static_cast<std::size_t>(d.bytes), 'x')};
  }
  branch on(grow g) {
    ++asked_;
    branch b;
    for (int i = 0; i < g.height; ++i) {
      branch under;
      under.more.push_back(std::move(b));
      b = std::move(under);
    }
    return b;
  }
  std::int64_t on(count) { return asked_; }

 private:
  std::int64_t asked_ = 0;
};

/// Asks for a handle to an actor without other handles, beside a part that cannot be written.
struct ask_both {};
struct both {
  ref<oracle_type> who;
  secret what;
};
using giver_type = protocol<both(ask_both)>;
class giver : public actor<giver_type> {
 public:
  both on(ask_both) { return {this->spawn<oracle>(), secret()}; }
};

std::uint64_t counted(listening_machine& at, listening_machine& of, std::string_view name) {
  for (const net::link_count& c : at.node.counters(of.node.self()))
    if (c.layer == "node" && c.name == name) return c.value;
  return ~std::uint64_t{0};
}

net::node_settings small() {
  net::node_settings s;
  s.link.slicing.largest = 4096;
  return s;
}

/// Checks that the answer fails for this reason and with these words, within a few round trips.
template <class P, class Q>
void fails(listening_machine& from, const ref<P>& to, Q question, net_errc code,
           std::string_view type, std::string_view words) {
  const instant before = from.system.env().clock->now();
  const auto answer = from.system.request(to, question).get();
  CHECK(from.system.env().clock->now() - before < ms(50));
  REQUIRE(!answer.has_value());
  const std::string text = answer.error().to_string();
  CHECK_MESSAGE(answer.error() == code, text);
  CHECK_MESSAGE(text.find(type) != std::string::npos, text);
  CHECK_MESSAGE(text.find(words) != std::string::npos, text);
}

TEST_CASE("unsendable answers: the asker hears at once which type could not be sent, and why") {
  three_machines m(small(), small());
  const auto found = m.a.shown_to(m.b, "oracle", m.a.system.spawn<oracle>());
  fails(m.b, found, tell_secret{false}, net_errc::not_encodable, "secret", "that is kept");
  fails(m.b, found, tell_secret{true}, net_errc::not_encodable, "secret", "that throws");
  fails(m.b, found, grow{100}, net_errc::not_encodable, "branch", "too deep");
  fails(m.b, found, draw{5000}, net_errc::too_large, "picture", "where 4");
  CHECK(m.b.system.request(found, draw{3000}).get().value().pixels.size() == 3000);
  CHECK(m.b.system.request(found, grow{20}).get().value().more.size() == 1);
  CHECK(m.b.system.request(found, count{}).get().value() == 6);
  CHECK(counted(m.a, m.b, "not_encoded") == 4);
  CHECK(counted(m.b, m.a, "not_encoded") == 0);
  CHECK(counted(m.a, m.b, "asked") == 0);
  CHECK(counted(m.b, m.a, "questions") == 0);
  CHECK(m.a.system.dead_letters().empty());
  CHECK(m.b.system.dead_letters().empty());
}

TEST_CASE("unsendable answers: also one that has waited for room behind others") {
  net::node_settings s = small();
  s.link.mailbox.messages = 1;  // so all messages but the first wait
  three_machines m(s, small());
  const auto found = m.a.shown_to(m.b, "oracle", m.a.system.spawn<oracle>());
  core::scoped_actor me(m.b.system.env());
  std::vector<decltype(me->request(found, draw{}))> asked;
  for (int i = 0; i < 20; ++i) asked.push_back(me->request(found, draw{i % 2 == 0 ? 3000 : 5000}));
  for (std::size_t i = 0; i != asked.size(); ++i) {
    CAPTURE(i);
    const auto answer = me->get(std::move(asked[i]));
    REQUIRE(answer.has_value() == (i % 2 == 0));
    if (answer) continue;
    CHECK(answer.error() == net_errc::too_large);
    CHECK(answer.error().to_string().find("picture") != std::string::npos);
  }
  CHECK(counted(m.a, m.b, "not_encoded") == 10);
}

TEST_CASE("unsendable answers: a request that is too large says which type it is, too") {
  three_machines m(small(), small());
  using reader_type = protocol<std::int64_t(picture)>;
  class reader : public actor<reader_type> {
   public:
    std::int64_t on(const picture& p) { return static_cast<std::int64_t>(p.pixels.size()); }
  };
  const auto found = m.a.shown_to(m.b, "reader", m.a.system.spawn<reader>());
  fails(m.b, found, picture{std::string(5000, 'x')}, net_errc::too_large, "picture", "where 4");
  CHECK(m.b.system.request(found, picture{"four"}).get().value() == 4);
}

TEST_CASE("unsendable answers: an actor handed out in one is released") {
  three_machines m;
  const auto found = m.a.shown_to(m.b, "giver", m.a.system.spawn<giver>());
  const std::uint64_t before = counted(m.a, m.b, "exports");
  for (int i = 0; i < 10; ++i)
    fails(m.b, found, ask_both{}, net_errc::not_encodable, "both", "that is kept");
  CHECK(counted(m.a, m.b, "exports") == before);
  CHECK(counted(m.a, m.b, "not_encoded") == 10);
}

TEST_CASE("unsendable answers: the asker hears so through a node in between, too") {
  three_machines m;
  const auto far = m.b.shown_to(m.a, "oracle", m.b.system.spawn<oracle>());
  const auto found = m.a.shown_to(m.c, "oracle", far);
  fails(m.c, found, tell_secret{}, net_errc::not_encodable, "secret", "that is kept");
  CHECK(m.c.system.request(found, draw{3000}).get().value().pixels.size() == 3000);
  CHECK(counted(m.b, m.a, "not_encoded") == 1);
  CHECK(counted(m.a, m.c, "not_encoded") == 0);
  CHECK(counted(m.a, m.c, "asked") == 0);
}

}  // namespace unsendable_answers_test
