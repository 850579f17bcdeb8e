#include "garrick/net/stack/accept_sessions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/layer/session/secrets.hpp"
#include "garrick/net/little_endian.hpp"

namespace accept_sessions_test {

using namespace garrick;
using namespace garrick::net;

namespace {

std::uint64_t seeds() {
  const char* set = std::getenv("GARRICK_SEEDS");
  const long n = set == nullptr ? 200 : std::atol(set);
  return n > 0 ? static_cast<std::uint64_t>(n) : 1;
}

/// A link with these answers to the policy.
struct door final : detail::entrance {
  bool over = false;
  bool connected = true;
  bool admitted = true;
  peer_identity who;

  [[nodiscard]] answer enter() noexcept override { return answer::over; }
  void leave() noexcept override {}
  [[nodiscard]] visit_result wait_in_line(std::unique_ptr<detail::visit>, bool) override {
    return visit_result::over;
  }
  [[nodiscard]] hosted& occupant() noexcept override { std::abort(); }
  [[nodiscard]] transport_counters counters() const override { return {}; }
  [[nodiscard]] bool is_over() const noexcept override { return over; }
  [[nodiscard]] bool is_connected() const noexcept override { return connected && !over; }
  [[nodiscard]] bool was_admitted() const noexcept override { return admitted; }
};

struct no_carrier final : carrier {
  void transmit(packet) override {}
  [[nodiscard]] bool writable() const override { return true; }
  [[nodiscard]] std::size_t largest() const override { return 1200; }
  void reopen() override {}
  void close() override {}
};

struct policy final : accept_sessions {
  using accept_sessions::accept_sessions;
  std::unique_ptr<hosted> make_session(const arrival&, const hello& who, std::uint64_t secret,
                                       carrier&, const connection&) override {
    keys[who.self] = session_key(secret, who.number);
    return nullptr;
  }
  std::optional<denial> objection(const arrival&, const hello&) override {
    ++asked;
    return {};
  }
  /// Makes the link of a newcomer, whose key is known then. Returns the result of `claim`.
  connection take(const arrival& from, const connection& fresh) {
    const connection to = claim(from, fresh);
    no_carrier below;
    if (to == fresh) CHECK(make(from, below, fresh) == nullptr);
    return to;
  }
  std::map<peer_identity, siphash_key> keys;  ///< of the sessions
  int asked = 0;                              ///< whether a peer may come in
};

const endpoint tcp = endpoint::parse("tcp://127.0.0.1:1").value();
const endpoint udp = endpoint::parse("udp://127.0.0.1:1").value();

std::vector<std::byte> bytes_of(const hello& h, bool framed) {
  packet p = packet::with_room(8, 100);
  encode_hello(session_packet::hello, h, p);
  if (framed) {
    const auto size = static_cast<std::uint32_t>(p.size());
    store_le(p.prepend(4), size);
  }
  return {p.bytes().begin(), p.bytes().end()};
}

/// Returns a first hello. The secret is the same for equal identities.
hello first_of(const peer_identity& who) {
  hello h;
  h.self = who;
  h.number = 1000 + who.incarnation;
  h.program = "a client";
  return h;
}
std::vector<std::byte> hello_of(const peer_identity& who, bool framed) {
  return bytes_of(first_of(who), framed);
}
/// Returns the hello by which the peer of this session resumes it.
hello resuming(policy& p, const peer_identity& who, std::uint64_t attempt) {
  hello h = first_of(who);
  h.resumes = true;
  h.number = attempt;
  h.proof = resume_proof(p.keys[who], session_packet::hello, h);
  return h;
}
/// Returns a hello with the cookie for this address.
hello with_cookie(accept_sessions& p, hello h, const endpoint& from, base::instant now = {}) {
  const auto first = bytes_of(h, false);
  verdict v = p.look({from, udp, first, now});
  CHECK(v.what() == verdict::kind::more);
  const packet words = v.take_words();
  CHECK(words.size() <= 3 * first.size());
  const auto said = decode_hello(words.bytes());
  REQUIRE(said.has_value());
  CHECK(static_cast<session_packet>(words.bytes()[0]) == session_packet::challenge);
  CHECK(said->to == h.self.incarnation);
  CHECK(said->proof == h.number);
  h.proof = said->number;
  return h;
}
std::vector<std::byte> datagram_of(accept_sessions& p, const hello& h, const endpoint& from = udp) {
  return bytes_of(with_cookie(p, h, from), false);
}

/// Another peer between `look` and `claim`.
struct newcomer {
  std::shared_ptr<door> fresh;
  std::vector<std::byte> bytes;
  bool is_udp;
  [[nodiscard]] arrival from() const { return {is_udp ? udp : tcp, is_udp ? udp : tcp, bytes}; }
};

}  // namespace

TEST_CASE("accept_sessions: in any order of newcomers, no two links live of one incarnation") {
  using kind = verdict::kind;
  std::array<int, 4> seen{};
  int late = 0;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    CAPTURE(seed);
    base::random_source random(seed);
    policy p;
    std::vector<std::shared_ptr<door>> links;
    std::vector<newcomer> between;
    std::uint64_t attempts = 0;
    for (int step = 0; step != 100; ++step) {
      switch (random.below(4)) {
        case 0: {
          const bool is_udp = random.below(4) == 0, resumes = random.below(3) == 0;
          const peer_identity who{{0, 1 + random.below(2)}, 1 + random.below(3)};
          const bool lies = random.below(3) == 0;
          hello h = resumes ? resuming(p, who, ++attempts) : first_of(who);
          if (lies) ++(resumes ? h.proof : h.number);
          if (is_udp && !resumes) h = with_cookie(p, h, udp);
          newcomer n{std::make_shared<door>(), bytes_of(h, !is_udp), is_udp};
          n.fresh->who = who;
          const verdict v = p.look(n.from());
          ++seen[static_cast<std::size_t>(v.what())];
          if (v.what() == kind::start) between.push_back(n);
          if (v.what() != kind::join) break;
          const auto to = std::dynamic_pointer_cast<door>(v.to().door());
          REQUIRE(to != nullptr);
          REQUIRE(to->who == who);
          REQUIRE((resumes || !to->connected));
          if (resumes) REQUIRE(!lies);
          REQUIRE(!is_udp);
          to->connected = true;
          break;
        }
        case 1: {
          if (between.empty()) break;
          const auto at = random.below(static_cast<std::uint32_t>(between.size()));
          const newcomer n = between[at];
          between.erase(between.begin() + at);
          const connection to = p.take(n.from(), connection(n.fresh));
          if (to == connection(n.fresh))
            links.push_back(n.fresh);
          else
            ++late;
          const auto got = std::dynamic_pointer_cast<door>(to.door());
          REQUIRE((got == nullptr || got->who == n.fresh->who));
          break;
        }
        case 2:
          if (!links.empty())
            links[random.below(static_cast<std::uint32_t>(links.size()))]->connected = false;
          break;
        default:
          if (!links.empty() && random.below(2) == 0)
            links[random.below(static_cast<std::uint32_t>(links.size()))]->over = true;
      }
      for (const auto& a : links)
        for (const auto& b : links) REQUIRE((a == b || a->over || b->over || a->who != b->who));
    }
  }
  CHECK(seen[static_cast<std::size_t>(kind::refuse)] > 0);
  CHECK(seen[static_cast<std::size_t>(kind::start)] > 0);
  CHECK(seen[static_cast<std::size_t>(kind::join)] > 0);
  CHECK(late > 0);
}

TEST_CASE("accept_sessions: a peer that begins a session gets the link that has lost its stream") {
  policy p;
  const peer_identity who{{0, 1}, 7};
  const auto link = std::make_shared<door>();
  const auto first = hello_of(who, true);
  const arrival from{tcp, tcp, first};
  REQUIRE(p.look(from).what() == verdict::kind::start);
  REQUIRE(p.take(from, connection(link)) == connection(link));
  CHECK(p.look(from).what() == verdict::kind::refuse);
  const auto again = bytes_of(resuming(p, who, 1), true);
  CHECK(p.look({tcp, tcp, again}).to() == connection(link));
  link->connected = false;
  CHECK(p.look(from).to() == connection(link));
  hello other = first_of(who);
  ++other.number;
  const auto of_another_session = bytes_of(other, true);
  CHECK(p.look({tcp, tcp, of_another_session}).what() == verdict::kind::refuse);
  const auto datagram = datagram_of(p, first_of(who));
  CHECK(p.look({udp, udp, datagram}).what() == verdict::kind::refuse);
  link->over = true;
  CHECK(p.look(from).what() == verdict::kind::start);
  CHECK(p.look({udp, udp, datagram}).what() == verdict::kind::start);
}

TEST_CASE("accept_sessions: identities alone do not take an open stream's place") {
  policy p;
  const peer_identity who{{0, 1}, 7};
  const auto link = std::make_shared<door>();
  const auto first = hello_of(who, true);
  REQUIRE(p.take({tcp, tcp, first}, connection(link)) == connection(link));
  const auto verdict_on = [&](const hello& h) {
    const auto bytes = bytes_of(h, true);
    return p.look({tcp, tcp, bytes});
  };
  for (const bool connected : {true, false}) {
    link->connected = connected;
    hello forged = resuming(p, who, 8);
    forged.proof = 0;
    verdict v = verdict_on(forged);
    CHECK(v.what() == verdict::kind::refuse);
    const packet words = v.take_words();
    const auto said = decode_refusal(words.bytes().subspan(4));
    REQUIRE(said.has_value());
    CHECK(said->why == refusal::no_session);
    CHECK(said->proof == 0);
  }
  CHECK(verdict_on(resuming(p, who, 3)).to() == connection(link));
  verdict repeated = verdict_on(resuming(p, who, 3));
  CHECK(repeated.what() == verdict::kind::refuse);
  CHECK(repeated.take_words().empty());  // its sender may be waiting for a later attempt
  CHECK(verdict_on(resuming(p, who, 2)).what() == verdict::kind::refuse);
  CHECK(verdict_on(resuming(p, who, 4)).to() == connection(link));
}

TEST_CASE("accept_sessions: a datagram is nobody's until its cookie comes from there") {
  policy p(peer_return::same_life, 3);
  const peer_identity who{{0, 1}, 7};
  const base::instant now = base::instant::at(base::duration::seconds(45));
  const auto later = [&](int seconds) { return now + base::duration::seconds(seconds); };
  p.quarantine({{0, 1}, 8});
  const auto kind_of = [&](const hello& h, const endpoint& from, base::instant at) {
    const auto bytes = bytes_of(h, false);
    return p.look({from, udp, bytes, at}).what();
  };
  using kind = verdict::kind;
  CHECK(kind_of(first_of({{0, 1}, 8}), udp, now) == kind::more);  // not even that is told
  const hello right = with_cookie(p, first_of(who), udp, now);
  CHECK(p.asked == 0);
  const auto with = [&](auto change) {
    hello h = right;
    change(h);
    return kind_of(h, udp, now);
  };
  CHECK(with([](hello& h) { ++h.proof; }) == kind::more);
  CHECK(with([](hello& h) { ++h.number; }) == kind::more);
  CHECK(with([](hello& h) { ++h.self.incarnation; }) == kind::more);
  CHECK(with([](hello& h) { ++h.self.node.high; }) == kind::more);
  CHECK(with([](hello& h) { h.resumes = true; }) == kind::refuse);
  CHECK(kind_of(right, endpoint::parse("udp://127.0.0.1:2").value(), now) == kind::more);
  CHECK(kind_of(right, endpoint::parse("udp://127.0.0.2:1").value(), now) == kind::more);
  CHECK(kind_of(right, udp, later(15)) == kind::more);
  CHECK(p.asked == 0);
  CHECK(kind_of(right, udp, now) == kind::start);
  CHECK(kind_of(right, udp, later(14)) == kind::start);  // of the step before
  CHECK(p.asked == 2);
  policy other(peer_return::same_life, 4);
  const auto bytes = bytes_of(right, false);
  CHECK(other.look({udp, udp, bytes, now}).what() == kind::more);
  const hello in_quarantine = with_cookie(p, first_of({{0, 1}, 8}), udp, now);
  CHECK(kind_of(in_quarantine, udp, now) == kind::refuse);
}

TEST_CASE("accept_sessions: noise by datagrams is recognised by its first bytes") {
  const policy p;
  std::vector<std::byte> hi = hello_of({{0, 1}, 7}, false);
  CHECK(p.may_begin(hi));
  CHECK(p.may_begin(std::span(hi).first(5)));
  CHECK_FALSE(p.may_begin(std::span(hi).first(4)));
  CHECK_FALSE(p.may_begin({}));
  hi[4] = std::byte{'x'};
  CHECK_FALSE(p.may_begin(hi));
  packet answer;
  encode_hello(session_packet::hello_ack, first_of({{0, 1}, 7}), answer);
  CHECK_FALSE(p.may_begin(answer.bytes()));
}

/// A policy that sends its identity.
struct named_policy final : accept_sessions {
  std::unique_ptr<hosted> make_session(const arrival&, const hello&, std::uint64_t, carrier&,
                                       const connection&) override {
    return nullptr;
  }
  std::optional<peer_identity> self() const override { return me; }
  std::optional<peer_identity> me;
};

/// Returns the refusal in the words of a verdict.
std::optional<refusal_notice> refusal_in(verdict v, bool framed) {
  CHECK(v.what() == verdict::kind::refuse);
  const packet words = v.take_words();
  if (words.empty()) return {};
  return decode_refusal(words.bytes().subspan(framed ? 4 : 0));
}

TEST_CASE(
    "accept_sessions: a peer that has a session hears with which end, if it understands that") {
  named_policy p;
  hello h = first_of({{0, 1}, 7});
  const auto link = std::make_shared<door>();
  const auto older = bytes_of(h, true);
  REQUIRE(p.claim({tcp, tcp, older}, connection(link)) == connection(link));
  h.capabilities.add(hears_of_sessions);
  ++h.number;  // of another session
  const auto newer = bytes_of(h, true);
  const auto datagram = datagram_of(p, h);
  CHECK_FALSE(refusal_in(p.look({tcp, tcp, newer}), true).has_value());  // no identity
  p.me = peer_identity{{3, 4}, 9};
  CHECK_FALSE(refusal_in(p.look({tcp, tcp, older}), true).has_value());
  for (const bool is_udp : {false, true}) {
    const arrival from{is_udp ? udp : tcp, is_udp ? udp : tcp, is_udp ? datagram : newer};
    const auto said = refusal_in(p.look(from), !is_udp);
    REQUIRE(said.has_value());
    CHECK(said->why == refusal::has_session);
    CHECK(said->to == 7);
    CHECK(said->self == *p.me);
    CHECK(said->proof == h.number);
  }
  // A peer that may have the session does not get its link while that has no stream.
  link->connected = false;
  CHECK(refusal_in(p.look({tcp, tcp, newer}), true).has_value());
  CHECK(p.look({tcp, tcp, older}).to() == connection(link));
  h.begins_anew = true;
  const auto anew = bytes_of(h, true);
  const auto at = [&](base::duration after) {
    return p.look({tcp, tcp, anew, base::instant::at(after)}).what();
  };
  constexpr base::duration most = accept_sessions::time_to_resume,
                           ms = base::duration::milliseconds(1);
  const base::duration begin = base::duration::seconds(5);
  CHECK(at(begin) == verdict::kind::refuse);
  CHECK(at(begin + most - ms) == verdict::kind::refuse);
  link->connected = true;  // the peer has resumed
  CHECK(at(begin + most) == verdict::kind::refuse);
  link->connected = false;
  CHECK(at(begin + most) == verdict::kind::refuse);
  CHECK(p.look({tcp, tcp, newer, base::instant::at(begin + most * 2)}).what() ==
        verdict::kind::refuse);
  CHECK(at(begin + most * 2 - ms) == verdict::kind::refuse);
  CHECK(at(begin + most * 2) == verdict::kind::join);
  link->over = true;
  CHECK(p.look({tcp, tcp, newer}).what() == verdict::kind::start);
}

TEST_CASE("accept_sessions: a datagram from where a session was is late, and begins no other one") {
  policy p;
  const peer_identity who{{0, 1}, 7};
  const auto link = std::make_shared<door>();
  const endpoint there = endpoint::parse("udp://127.0.0.1:5").value();
  const endpoint elsewhere = endpoint::parse("udp://127.0.0.1:6").value();
  const auto bytes = datagram_of(p, first_of(who), there);
  const arrival from{there, udp, bytes};
  REQUIRE(p.claim(from, connection(link)) == connection(link));
  link->over = true;
  link->admitted = false;  // the peer is still trying
  CHECK(p.look(from).what() == verdict::kind::start);
  link->admitted = true;
  CHECK(p.look(from).what() == verdict::kind::refuse);
  const auto late = std::make_shared<door>();
  CHECK(p.claim(from, connection(late)).is_over());
  const auto again = datagram_of(p, first_of(who), elsewhere);
  CHECK(p.look({elsewhere, udp, again}).what() == verdict::kind::start);
  const auto other = datagram_of(p, first_of({{0, 1}, 8}), there);
  CHECK(p.look({from.remote, udp, other}).what() == verdict::kind::start);
}

TEST_CASE(
    "accept_sessions: with `new_life_only` a peer that had a session comes back as another one") {
  policy p(peer_return::new_life_only);
  const peer_identity who{{0, 1}, 7};
  const auto link = std::make_shared<door>();
  const auto bytes = hello_of(who, true);
  const arrival from{tcp, tcp, bytes};
  // A peer that was never admitted has had no session.
  link->admitted = false;
  REQUIRE(p.claim(from, connection(link)) == connection(link));
  link->over = true;
  CHECK(!p.is_quarantined(who));
  REQUIRE(p.look(from).what() == verdict::kind::start);
  const auto next = std::make_shared<door>();
  REQUIRE(p.claim(from, connection(next)) == connection(next));
  // A peer does not lose its session with its stream.
  next->connected = false;
  CHECK(p.look(from).what() == verdict::kind::join);
  CHECK(!p.is_quarantined(who));
  next->over = true;
  CHECK(p.is_quarantined(who));
  CHECK(p.look(from).what() == verdict::kind::refuse);
  CHECK(p.claim(from, connection(std::make_shared<door>())).is_over());
  const auto other = hello_of({{0, 1}, 8}, true);
  CHECK(p.look({tcp, tcp, other}).what() == verdict::kind::start);
  // The incarnation is remembered, however many others come and go meanwhile.
  for (std::uint64_t i = 100; i < 500; ++i) {
    const auto one = hello_of({{0, 2}, i}, true);
    const auto its = std::make_shared<door>();
    REQUIRE(p.claim({tcp, tcp, one}, connection(its)) == connection(its));
    its->over = true;
  }
  CHECK(p.remembered() < 200);
  CHECK(p.look(from).what() == verdict::kind::refuse);
}

TEST_CASE("accept_sessions: it waits for a whole hello, however large, and for nothing else") {
  policy p;
  std::vector<std::byte> largest = hello_of({{1, 2}, 7}, false);
  largest.resize(largest_hello);  // with fields of later versions
  std::vector<std::byte> framed(4);
  store_le(framed.data(), static_cast<std::uint32_t>(largest.size()));
  framed.insert(framed.end(), largest.begin(), largest.end());
  const std::span all(framed);
  CHECK(p.wants() == all.size());
  CHECK(p.look({tcp, tcp, all.first(all.size() - 1)}).what() == verdict::kind::more);
  CHECK(p.look({tcp, tcp, all}).what() == verdict::kind::start);
  const std::vector<std::byte> zeros(8);
  CHECK(p.look({tcp, tcp, zeros}).what() == verdict::kind::refuse);
}

TEST_CASE("accept_sessions: sessions that are over are not remembered for ever") {
  policy p;
  const auto lives = std::make_shared<door>();
  const auto first = hello_of({{1, 2}, 1000}, true);
  REQUIRE(p.take({tcp, tcp, first}, connection(lives)) == connection(lives));
  for (std::uint64_t i = 2000; i != 3000; ++i) {
    const auto ends = std::make_shared<door>();
    const auto hello = hello_of({{1, 2}, i}, true);
    REQUIRE(p.claim({tcp, tcp, hello}, connection(ends)) == connection(ends));
    ends->over = true;
  }
  CHECK(p.remembered() <= 128);
  const auto resumes = bytes_of(resuming(p, {{1, 2}, 1000}, 1), true);
  CHECK(p.look({tcp, tcp, resumes}).to() == connection(lives));
}

}  // namespace accept_sessions_test
