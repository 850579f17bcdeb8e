#include "garrick/net/stack/accept_sessions.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "garrick/base/values/random.hpp"
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

struct policy final : accept_sessions {
  using accept_sessions::accept_sessions;
  std::unique_ptr<hosted> make_session(const arrival&, const hello&, carrier&,
                                       const connection&) override {
    return nullptr;
  }
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

std::vector<std::byte> hello_of(peer_identity who, bool resumes, bool framed) {
  hello h;
  h.self = who;
  h.resumes = resumes;
  return bytes_of(h, framed);
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
    for (int step = 0; step != 100; ++step) {
      switch (random.below(4)) {
        case 0: {
          const bool is_udp = random.below(4) == 0, resumes = random.below(3) == 0;
          const peer_identity who{{0, 1 + random.below(2)}, 1 + random.below(3)};
          newcomer n{std::make_shared<door>(), hello_of(who, resumes, !is_udp), is_udp};
          n.fresh->who = who;
          const verdict v = p.look(n.from());
          ++seen[static_cast<std::size_t>(v.what())];
          if (v.what() == kind::start) between.push_back(n);
          if (v.what() != kind::join) break;
          const auto to = std::dynamic_pointer_cast<door>(v.to().door());
          REQUIRE(to != nullptr);
          REQUIRE(to->who == who);
          REQUIRE((resumes || !to->connected));
          REQUIRE(!is_udp);
          to->connected = true;
          break;
        }
        case 1: {
          if (between.empty()) break;
          const auto at = random.below(static_cast<std::uint32_t>(between.size()));
          const newcomer n = between[at];
          between.erase(between.begin() + at);
          const connection to = p.claim(n.from(), connection(n.fresh));
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
  const auto first = hello_of(who, false, true);
  const arrival from{tcp, tcp, first};
  REQUIRE(p.look(from).what() == verdict::kind::start);
  REQUIRE(p.claim(from, connection(link)) == connection(link));
  CHECK(p.look(from).what() == verdict::kind::refuse);
  const auto again = hello_of(who, true, true);
  CHECK(p.look({tcp, tcp, again}).to() == connection(link));
  link->connected = false;
  CHECK(p.look(from).to() == connection(link));
  const auto datagram = hello_of(who, false, false);
  CHECK(p.look({udp, udp, datagram}).what() == verdict::kind::refuse);
  link->over = true;
  CHECK(p.look(from).what() == verdict::kind::start);
  CHECK(p.look({udp, udp, datagram}).what() == verdict::kind::start);
}

/// A policy that sends its identity.
struct named_policy final : accept_sessions {
  std::unique_ptr<hosted> make_session(const arrival&, const hello&, carrier&,
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
  hello h;
  h.self = {{0, 1}, 7};
  const auto link = std::make_shared<door>();
  const auto older = bytes_of(h, true);
  REQUIRE(p.claim({tcp, tcp, older}, connection(link)) == connection(link));
  h.capabilities.add(hears_of_sessions);
  const auto newer = bytes_of(h, true);
  const auto datagram = bytes_of(h, false);
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
  }
  // A peer that may have the session does not get its link while that has no stream.
  link->connected = false;
  CHECK(refusal_in(p.look({tcp, tcp, newer}), true).has_value());
  CHECK(p.look({tcp, tcp, older}).to() == connection(link));
  h.begins_anew = true;
  const auto anew = bytes_of(h, true);
  CHECK(p.look({tcp, tcp, anew}).to() == connection(link));
  link->connected = true;
  CHECK(refusal_in(p.look({tcp, tcp, anew}), true).has_value());
  link->over = true;
  CHECK(p.look({tcp, tcp, newer}).what() == verdict::kind::start);
}

TEST_CASE("accept_sessions: a datagram from where a session was is late, and begins no other one") {
  policy p;
  const peer_identity who{{0, 1}, 7};
  const auto link = std::make_shared<door>();
  const auto bytes = hello_of(who, false, false);
  const arrival from{endpoint::parse("udp://127.0.0.1:5").value(), udp, bytes};
  REQUIRE(p.claim(from, connection(link)) == connection(link));
  link->over = true;
  link->admitted = false;  // the peer is still trying
  CHECK(p.look(from).what() == verdict::kind::start);
  link->admitted = true;
  CHECK(p.look(from).what() == verdict::kind::refuse);
  const auto late = std::make_shared<door>();
  CHECK(p.claim(from, connection(late)).is_over());
  const arrival from_elsewhere{endpoint::parse("udp://127.0.0.1:6").value(), udp, bytes};
  CHECK(p.look(from_elsewhere).what() == verdict::kind::start);
  const auto other = hello_of({{0, 1}, 8}, false, false);
  CHECK(p.look({from.remote, udp, other}).what() == verdict::kind::start);
}

TEST_CASE(
    "accept_sessions: with `new_life_only` a peer that had a session comes back as another one") {
  policy p(peer_return::new_life_only);
  const peer_identity who{{0, 1}, 7};
  const auto link = std::make_shared<door>();
  const auto bytes = hello_of(who, false, true);
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
  const auto other = hello_of({{0, 1}, 8}, false, true);
  CHECK(p.look({tcp, tcp, other}).what() == verdict::kind::start);
  // The incarnation is remembered, however many others come and go meanwhile.
  for (std::uint64_t i = 100; i < 500; ++i) {
    const auto one = hello_of({{0, 2}, i}, false, true);
    const auto its = std::make_shared<door>();
    REQUIRE(p.claim({tcp, tcp, one}, connection(its)) == connection(its));
    its->over = true;
  }
  CHECK(p.remembered() < 200);
  CHECK(p.look(from).what() == verdict::kind::refuse);
}

TEST_CASE("accept_sessions: it waits for a whole hello, however large, and for nothing else") {
  policy p;
  std::vector<std::byte> largest = hello_of({{1, 2}, 7}, false, false);
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
  const auto first = hello_of({{1, 2}, 1000}, true, true);
  REQUIRE(p.claim({tcp, tcp, first}, connection(lives)) == connection(lives));
  for (std::uint64_t i = 2000; i != 3000; ++i) {
    const auto ends = std::make_shared<door>();
    const auto hello = hello_of({{1, 2}, i}, false, true);
    REQUIRE(p.claim({tcp, tcp, hello}, connection(ends)) == connection(ends));
    ends->over = true;
  }
  CHECK(p.remembered() <= 128);
  CHECK(p.look({tcp, tcp, first}).to() == connection(lives));
}

}  // namespace accept_sessions_test
