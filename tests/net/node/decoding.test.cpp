// Incoming bytes that are not a value of their type: the sender is told, no other actor is
// concerned, and they are counted. Types here have codecs that refuse to read some of their own
// output.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/codec.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include "net/node/simulated_machines.hpp"
#include "net/node/strangers/stranger.hpp"

namespace decoding_test {

using namespace garrick;
using tests::listening_machine;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// A number: reading one below zero is refused, and reading 13 throws.
class picky {
 public:
  using garrick_sendable = void;
  picky() = default;
  explicit picky(std::int64_t n) : n_(n) {}
  [[nodiscard]] std::int64_t value() const { return n_; }
  void set(std::int64_t n) { n_ = n; }

 private:
  std::int64_t n_ = 0;
};

}  // namespace decoding_test

template <>
struct garrick::net::codec<decoding_test::picky> {
  static void encode(byte_writer& out, const decoding_test::picky& p) {
    out.fixed(static_cast<std::uint64_t>(p.value()));
  }
  static void decode(byte_reader& in, decoding_test::picky& p) {
    const auto n = static_cast<std::int64_t>(in.fixed<std::uint64_t>());
    if (n < 0) return in.fail("a number below zero");
    if (n == 13) throw std::runtime_error("an unlucky number");
    p.set(n);
  }
};

namespace decoding_test {

struct order {
  picky what;
};
/// Asks for an answer with this number.
struct answer_with {
  std::int64_t n = 0;
};
struct how_many {};
using desk_type =
    protocol<void(picky), std::int64_t(order), picky(answer_with), std::int64_t(how_many)>;

class desk : public actor<desk_type> {
 public:
  void on(const picky&) { ++came_; }
  std::int64_t on(const order& o) { return o.what.value(); }
  picky on(answer_with a) { return picky(a.n); }
  std::int64_t on(how_many) { return came_; }

 private:
  std::int64_t came_ = 0;
};

struct tell {
  std::int64_t n = 0;
};
struct forget {};

class teller : public actor<protocol<void(tell), void(forget)>> {
 public:
  explicit teller(ref<desk_type> to) : to_(std::move(to)) {}
  void on(tell t) { send(to_, picky(t.n)); }
  void on(forget) {
    send(to_, picky(-1));
    to_ = {};
  }

 private:
  ref<desk_type> to_;
};

TEST_CASE("decoding: a request that cannot be read is answered so, and the next one is handled") {
  three_machines m;
  const auto found = m.a.shown_to(m.b, "desk", m.a.system.spawn<desk>());
  const auto refused = m.b.system.request(found, order{picky(-1)}).get();
  REQUIRE(!refused.has_value());
  CHECK(refused.error() == net::net_errc::decode_failed);
  CHECK(refused.error().to_string().find("a number below zero") != std::string::npos);
  const auto thrown = m.b.system.request(found, order{picky(13)}).get();
  REQUIRE(!thrown.has_value());
  CHECK(thrown.error() == net::net_errc::decode_failed);
  CHECK(thrown.error().to_string().find("an unlucky number") != std::string::npos);
  CHECK(m.b.system.request(found, order{picky(5)}).get().value() == 5);
  CHECK(counted(m.a, m.b, "not_decoded") == 2);
  CHECK(counted(m.a, m.b, "to_nobody") == 0);
  CHECK(m.b.system.dead_letters().empty());
  CHECK(m.a.system.dead_letters().empty());
}

TEST_CASE("decoding: a message that cannot be read is one dead letter where it comes from") {
  three_machines m;
  const auto found = m.a.shown_to(m.b, "desk", m.a.system.spawn<desk>());
  const auto who = m.b.system.spawn<teller>(found);
  send(who, tell{-1});
  send(who, tell{1});
  m.b.system.run_for(ms(100));
  REQUIRE(m.b.system.dead_letters().size() == 1);
  const garrick::testkit::lost_message letter = m.b.system.dead_letters()[0];
  CHECK(letter.reason == net::net_errc::decode_failed);
  CHECK(letter.sender == who.id());
  CHECK(letter.receiver == found.id());
  CHECK(letter.type.find("picky") != std::string::npos);
  CHECK(m.a.system.dead_letters().empty());
  CHECK(m.b.system.request(found, how_many{}).get().value() == 1);
  // The losses have cost no credit: these are more messages than the first grant.
  for (int i = 0; i < 1000; ++i) send(who, tell{i % 2 == 0 ? -1 : 1});
  m.b.system.run_for(duration::seconds(5));
  CHECK(m.b.system.dead_letters().size() == 501);
  CHECK(m.b.system.request(found, how_many{}).get().value() == 501);
  CHECK(counted(m.a, m.b, "not_decoded") == 501);
}

TEST_CASE(
    "decoding: a sender that has dropped the receiver is told of an unreadable message, too") {
  three_machines m;
  const auto adder = m.a.system.spawn<desk>();
  auto found = m.a.shown_to(m.b, "desk", adder);
  const auto who = m.b.system.spawn<teller>(found);
  found = {};
  send(who, forget{});
  m.b.system.run_for(ms(100));
  REQUIRE(m.b.system.dead_letters().size() == 1);
  CHECK(m.b.system.dead_letters()[0].reason == net::net_errc::decode_failed);
  CHECK(m.b.system.dead_letters()[0].sender == who.id());
}

TEST_CASE("decoding: an answer that cannot be read is an error to its asker") {
  three_machines m;
  const auto found = m.a.shown_to(m.b, "desk", m.a.system.spawn<desk>());
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{13}}) {
    const auto answer = m.b.system.request(found, answer_with{bad}).get();
    REQUIRE(!answer.has_value());
    CHECK(answer.error() == net::net_errc::decode_failed);
  }
  CHECK(m.b.system.request(found, answer_with{4}).get().value().value() == 4);
  CHECK(counted(m.b, m.a, "not_decoded") == 2);
  CHECK(counted(m.a, m.b, "not_decoded") == 0);
}

TEST_CASE("decoding: frames to no actor are refused, counted, and deliver nothing") {
  using kind = net::frame_kind;
  three_machines m;
  tests::stranger s(m, m.a, "a");
  s.say({.kind = kind::message, .receiver = {5, 5}, .sender = {6, 1}, .type = 9});
  s.say({.kind = kind::message, .type = 9});  // not even a receiver
  s.say({.kind = kind::request, .receiver = {5, 5}, .sender = {6, 1}, .number = 3, .type = 9});
  s.say({.kind = kind::exit, .receiver = {5, 5}, .sender = {6, 1}});
  CHECK(s.counted("to_nobody") == 3);
  CHECK(s.count(kind::decode_error) == 1);
  CHECK(s.count(kind::error) == 1);
  CHECK(m.a.system.dead_letters().empty());
}

}  // namespace decoding_test
