// A message that does not leave costs no credit, neither the link's nor the receiver's; and no
// message gives back more than it has taken.
#include <doctest/doctest.h>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>
#include <garrick/net/wire/codec.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace link_credit_test {

using namespace garrick;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// Called while a `meanwhile` is written.
std::function<void()> at_encoding;
class meanwhile {
 public:
  using garrick_sendable = void;
};

}  // namespace link_credit_test

template <>
struct garrick::net::codec<link_credit_test::meanwhile> {
  static void encode(byte_writer& out, const link_credit_test::meanwhile&) {
    out.fixed(std::uint8_t{1});
    if (const auto what = std::exchange(link_credit_test::at_encoding, nullptr)) what();
  }
  static void decode(byte_reader& in, link_credit_test::meanwhile&) {
    static_cast<void>(in.fixed<std::uint8_t>());
  }
};

namespace link_credit_test {

struct job {};
struct parcel {
  std::string content;
};
using clerk_type = protocol<int(job), void(parcel), void(meanwhile)>;
class clerk : public actor<clerk_type> {
 public:
  int on(job) { return 1; }
  void on(const parcel&) {}
  void on(const meanwhile&) {}
};

struct keep {
  ref<clerk_type> who;
};
struct keep_for_long {
  ref<clerk_type> who;
};
struct give_back {};
using keeper_type = protocol<void(keep), int(keep_for_long), ref<clerk_type>(give_back)>;
class keeper : public actor<keeper_type> {
 public:
  void on(const keep& k) { kept_ = k.who; }
  result<int> on(const keep_for_long&) {
    open_.push_back(make_promise<int>());
    return open_.back();
  }
  ref<clerk_type> on(give_back) { return kept_; }

 private:
  ref<clerk_type> kept_;
  std::vector<response_promise<int>> open_;
};

std::int64_t credit_of(const ref<clerk_type>& far) {
  return static_cast<core::proxy_cell*>(core::handle_access::get(far))->credit();
}

net::node_settings narrow() {
  net::node_settings s;
  s.link.mailbox.messages = 4;
  return s;
}

/// A clerk on "b" with a handle on "a", over a link that takes four messages at a time.
struct clerk_at_b {
  three_machines m{narrow()};
  ref<clerk_type> to = m.b.shown_to(m.a, "clerk", m.b.system.spawn<clerk>());

  [[nodiscard]] std::int64_t credit() const { return credit_of(to); }
  void run(duration d) { m.a.system.run_for(d); }
  void fill() {
    m.net.cut("a", "b");
    m.net.cut("b", "a");
    for (int i = 0; i < 10; ++i) send(to, parcel{});
  }
  void empty() {
    m.net.heal("a", "b");
    m.net.heal("b", "a");
    run(duration::seconds(2));
  }
};

TEST_CASE("link credit: requests that do not leave, because they were withdrawn, cost none") {
  for (const bool is_limited : {true, false}) {
    CAPTURE(is_limited);
    clerk_at_b n;
    n.fill();
    const std::int64_t before = n.credit();
    for (int i = 0; i < 50; ++i) {
      auto asked = n.m.a.system.request(n.to, job{}, is_limited ? ms(20) : duration::infinite());
      if (!is_limited) asked.within(ms(20));
      CHECK(asked.get().error() == errc::timeout);
    }
    n.empty();
    CHECK(n.credit() == before);
  }
}

TEST_CASE("link credit: a message that is too large costs none") {
  net::node_settings s;
  s.link.slicing.largest = 1u << 20;
  three_machines m(s, s);
  const auto to = m.b.shown_to(m.a, "clerk", m.b.system.spawn<clerk>());
  const auto credit = [&] { return credit_of(to); };
  const std::int64_t before = credit();
  for (int i = 0; i < 20; ++i) send(to, parcel{std::string(2u << 20, 'x')});
  m.a.system.run_for(ms(100));
  CHECK(tests::letters(m.a.system, net::net_errc::too_large) == 20);
  CHECK(credit() == before);
}

TEST_CASE("link credit: answers take none and give none back") {
  net::node_settings s = narrow();
  s.most_under_way = 100;
  three_machines m(s);
  const auto to = m.b.shown_to(m.a, "clerk", m.b.system.spawn<clerk>());
  const auto at_a = m.a.shown_to(m.b, "keeper", m.a.system.spawn<keeper>());
  const auto own = m.b.system.spawn<clerk>();
  send(at_a, keep{own});
  for (int i = 0; i < 300; ++i)  // each answer brings a handle home
    CHECK(m.b.system.request(at_a, give_back{}).get().value() == own);
  for (int i = 0; i < 300; ++i)  // a late answer gives back its own credit
    CHECK(m.a.system.request(to, job{}, duration()).get().error() == errc::timeout);
  CHECK(credit_of(to) == 256);
  m.a.system.run_for(ms(100));
  m.net.cut("a", "b");
  for (int i = 0; i < 150; ++i) send(to, parcel{});
  at_encoding = [&] {
    for (int i = 151; i < 1000; ++i) send(to, parcel{});
  };
  send(to, meanwhile());
  CHECK(tests::letters(m.a.system, errc::overload) == 800);
  m.net.heal("a", "b");
  m.a.system.run_for(duration::seconds(2));
  CHECK(credit_of(to) > 0);
}

TEST_CASE(
    "link credit: a node that has forgotten an actor and hears of it again is granted in time") {
  three_machines m;
  const auto own = m.b.system.spawn<clerk>();
  const auto here = m.a.system.spawn<keeper>();
  const auto at_a = m.a.shown_to(m.b, "keeper", here);
  const auto kept = [&] { return m.a.system.request(here, give_back{}).get().value(); };
  const auto send_some = [&](const ref<clerk_type>& to) {
    for (int i = 0; i < 100; ++i) send(to, parcel{});
    m.a.system.run_for(ms(50));
  };
  send(at_a, keep{own});
  m.a.system.run_for(ms(50));
  // The receiver keeps up, so its credit grows, and the next grant is far away.
  for (int i = 0; i < 20 && credit_of(kept()) < 1900; ++i) send_some(kept());
  REQUIRE(credit_of(kept()) >= 1900);
  // The handle is dropped while another handle with its number is on its way.
  send(at_a, keep{own});
  send(here, keep{});
  m.a.system.run_for(ms(50));
  REQUIRE(credit_of(kept()) == 256);
  for (int i = 0; i < 20; ++i) {
    send_some(kept());
    CHECK(credit_of(kept()) > 0);
  }
}

TEST_CASE("link credit: of a low hard limit a peer may fill a quarter, and the first credit") {
  for (const std::uint32_t hard : {257u, 1024u, 2047u, 2048u, 8191u, 100'000u}) {
    CAPTURE(hard);
    three_machines m;
    const auto to =
        m.b.shown_to(m.a, "clerk",
                     m.b.system.spawn<clerk>(spawn_options{.soft_limit = 100, .hard_limit = hard}));
    std::int64_t most = 0;
    for (int i = 0; i < 300; ++i) {
      for (int k = 0; k < 100; ++k) send(to, parcel{});
      m.a.system.run_for(ms(50));
      most = std::max(most, credit_of(to));
    }
    const std::int64_t fits = std::clamp<std::int64_t>(hard / 4, 256, 8192);
    CHECK(most > (fits == 256 ? 128 : fits / 2));
    CHECK(most <= fits);
  }
}

TEST_CASE("link credit: a node in between grants no more than the third one does") {
  three_machines m;
  const auto far = m.c.shown_to(m.b, "clerk", m.c.system.spawn<clerk>());
  const auto to = m.b.shown_to(m.a, "clerk", far);
  m.net.cut("b", "c");
  m.net.cut("c", "b");
  // A sender that may not wait sends on.
  constexpr std::int64_t sent = 5000;
  for (int i = 0; i < sent; ++i) {
    send(to, parcel{});
    if (i % 100 == 99) m.a.system.run_for(ms(20));
  }
  CHECK(credit_of(to) < 1000 - sent);
  m.net.heal("b", "c");
  m.net.heal("c", "b");
  m.a.system.run_for(duration::seconds(2));
  CHECK(credit_of(to) > 0);
}

TEST_CASE("link credit: handles refused unread give the holder of another no more than the most") {
  net::node_settings few;
  few.most_questions = 1;
  three_machines m(few);
  const auto own = m.b.system.spawn<clerk>();
  const auto here = m.a.system.spawn<keeper>();
  const auto at_a = m.a.shown_to(m.b, "keeper", here);
  send(at_a, keep{own});
  m.a.system.run_for(ms(50));
  const auto kept = m.a.system.request(here, give_back{}).get().value();
  auto open = m.b.system.request(at_a, keep_for_long{own});
  std::int64_t most = 0;
  for (int i = 0; i < 80; ++i) {
    CHECK(m.b.system.request(at_a, keep_for_long{own}).get().error() == errc::overload);
    for (int k = 0; k < 150; ++k) send(kept, parcel{});
    m.a.system.run_for(ms(50));
    most = std::max(most, credit_of(kept));
  }
  CHECK(most > 256);
  CHECK(most <= 8192);
}

TEST_CASE("link credit: a message that cannot be encoded costs none") {
  clerk_at_b n;
  const std::int64_t before = n.credit();
  for (int i = 0; i < 20; ++i) {
    at_encoding = [] { throw std::runtime_error("not this one"); };
    send(n.to, meanwhile());
  }
  n.run(ms(100));
  CHECK(tests::letters(n.m.a.system, net::net_errc::not_encodable) == 20);
  CHECK(n.credit() == before);
}

TEST_CASE("link credit: a message that finds no room in front of a busy link costs none") {
  constexpr std::int64_t each = 300;
  net::node_settings s = narrow();
  s.most_bytes_waiting = 10'000;  // small messages take this before they have no credit
  three_machines m(s);
  const auto to = m.b.shown_to(m.a, "clerk", m.b.system.spawn<clerk>());
  m.a.system.run_for(ms(100));
  m.net.cut("a", "b");
  m.net.cut("b", "a");
  for (int i = 0; i < 10; ++i) send(to, parcel{});  // four are sent, and six wait
  const std::int64_t before = credit_of(to);
  at_encoding = [&] {
    for (int i = 0; i < each; ++i) send(to, parcel{});
    m.a.system.exit(to);  // signals do not wait for room, nor do messages before them
  };
  send(to, meanwhile());
  const auto lost = static_cast<std::int64_t>(tests::letters(m.a.system, errc::overload));
  CHECK(lost > 0);
  CHECK(lost < each);
  CHECK(credit_of(to) == before - each - 1 + lost);
}

TEST_CASE("link credit: without room a message that has credit is taken, and no other") {
  for (const std::uint32_t credit : {100u, 1000u}) {
    CAPTURE(credit);
    net::node_settings s = narrow();
    s.most_under_way = credit;
    s.most_bytes_waiting = 5000;
    three_machines m(s);
    const auto to = m.b.shown_to(m.a, "clerk", m.b.system.spawn<clerk>());
    const auto other = m.b.shown_to(m.a, "keeper", m.b.system.spawn<keeper>());
    m.a.system.run_for(ms(100));
    m.net.cut("a", "b");
    at_encoding = [&] {
      // Only the link can encode a handle, so each counts as one message, and as some 60 bytes.
      for (int i = 0; i < 250; ++i) send(other, keep{to});
    };
    send(to, meanwhile());
    const std::size_t lost = tests::letters(m.a.system, errc::overload);
    CHECK(lost >= (credit == 100 ? 145 : 0));
    CHECK(lost <= (credit == 100 ? 155 : 0));
  }
}

TEST_CASE("link credit: a proxy that is let go of late takes nothing from the one after it") {
  three_machines m(narrow());
  const auto own = m.b.system.spawn<clerk>();
  const auto to = m.b.shown_to(m.a, "clerk", m.b.system.spawn<clerk>());
  const auto here = m.a.system.spawn<keeper>();
  const auto at_a = m.a.shown_to(m.b, "keeper", here);
  const auto kept = [&] { return m.a.system.request(here, give_back{}).get().value(); };
  send(at_a, keep{own});
  m.a.system.run_for(ms(50));
  std::optional<ref<clerk_type>> last = kept();
  send(here, keep{});
  m.a.system.run_for(ms(50));
  m.net.cut("a", "b");
  for (int i = 0; i < 10; ++i) send(to, parcel{});
  at_encoding = [&] { last.reset(); };  // the link is busy just now, and has no room then
  send(to, meanwhile());
  send(at_a, keep{own});
  m.a.system.run_for(ms(50));
  const auto again = kept();
  REQUIRE(again);
  m.net.heal("a", "b");
  m.a.system.run_for(duration::seconds(2));
  CHECK(tests::counted(m.a, m.b, "proxies") == 2);
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < 100; ++k) send(again, parcel{});
    m.a.system.run_for(duration::seconds(1));
    CHECK(credit_of(again) > 0);
  }
}

}  // namespace link_credit_test
