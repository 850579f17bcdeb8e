// Handles in messages between nodes: to the receiver, to no actor, to an ended one, of any type,
// twice, and in containers.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/net/error.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/node/simulated_machines.hpp"

namespace handles_in_messages_test {

using namespace garrick;
using net::net_errc;
using tests::letters;
using tests::three_machines;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

struct ping {};
using guest_type = protocol<int(ping)>;
class guest : public actor<guest_type> {
 public:
  explicit guest(int n) : n_(n) {}
  int on(ping) { return n_; }

 private:
  int n_;
};

struct one {
  ref<guest_type> who;
};
struct anybody {
  any_ref who;
};
struct some {
  std::vector<ref<guest_type>> list;
  std::map<std::string, ref<guest_type>> by_name;
  std::optional<ref<guest_type>> perhaps;
};
struct end {};
struct me {};
/// Gives back the handles that it was given, and reports its view of them.
using mirror_type = protocol<ref<guest_type>(one), any_ref(anybody), std::vector<int>(some),
                             ref<guest_type>(me), int(end)>;
class mirror : public actor<protocol<ref<guest_type>(one), any_ref(anybody), std::vector<int>(some),
                                     ref<guest_type>(me), int(end), int(ping)>> {
 public:
  ref<guest_type> on(const one& o) { return o.who; }
  any_ref on(const anybody& a) { return a.who; }
  std::vector<int> on(const some& s) {
    std::vector<int> seen;
    for (const auto& x : s.list) seen.push_back(!x ? 0 : x == s.list.front() ? 1 : 2);
    for (const auto& [name, x] : s.by_name) seen.push_back(x == s.list.front() ? 3 : 4);
    seen.push_back(s.perhaps && *s.perhaps == s.list.front() ? 5 : 6);
    return seen;
  }
  ref<guest_type> on(me) { return ref<guest_type>(self()); }
  int on(end) { return static_cast<int>(mailbox_length()); }
  int on(ping) { return 77; }
};

struct nodes : three_machines {
  ref<mirror_type> there = b.shown_to(a, "mirror", ref<mirror_type>(b.system.spawn<mirror>()));
  template <class R, class M>
  R ask(M m) {
    auto r = a.system.request(there, std::move(m)).get();
    REQUIRE_MESSAGE(r.has_value(), r.error().to_string());
    return *r;
  }
  int ping_to(const ref<guest_type>& who) {
    const auto r = a.system.request(who, ping{}).get();
    return r ? *r : -1;
  }
};

static_assert(net::is_encodable<ref<guest_type>> && net::is_encodable<any_ref>);
static_assert(!net::is_encodable<weak_ref<guest_type>> && !net::is_encodable<address>);

TEST_CASE("handles in messages: one that comes back is the one that went, of each kind") {
  nodes n;
  const auto mine = n.a.system.spawn<guest>(5);
  CHECK(n.ask<ref<guest_type>>(one{mine}) == mine);
  CHECK(n.ask<any_ref>(anybody{any_ref(mine)}) == mine);
  // The next handles are of the other node, and of a third one.
  const auto far = n.b.shown_to(n.a, "far", n.b.system.spawn<guest>(6));
  CHECK(n.ask<ref<guest_type>>(one{far}) == far);
  const auto third = n.c.shown_to(n.a, "third", n.c.system.spawn<guest>(7));
  const auto back = n.ask<ref<guest_type>>(one{third});
  CHECK(back == third);
  CHECK(n.ping_to(back) == 7);
}

TEST_CASE("handles in messages: an empty one stays empty, and one to an actor that ended ended") {
  nodes n;
  CHECK(!n.ask<ref<guest_type>>(one{}));
  CHECK(!n.ask<any_ref>(anybody{}));
  const auto gone = n.a.system.spawn<guest>(5);
  n.a.system.kill(gone);
  n.a.system.run_for(ms(1));
  CHECK(n.ask<ref<guest_type>>(one{gone}) == gone);
  const auto far = n.b.system.spawn<guest>(6);
  const auto at_a = n.b.shown_to(n.a, "far", far);
  n.b.system.kill(far);
  n.a.system.run_for(ms(50));
  const auto back = n.ask<ref<guest_type>>(one{at_a});
  CHECK(back == at_a);
  CHECK(n.a.system.request(back, ping{}).get().error() == errc::not_handled);
}

TEST_CASE("handles in messages: an actor hands out itself, to the other node and to itself") {
  nodes n;
  const auto itself = n.ask<ref<guest_type>>(me{});
  CHECK(itself == n.there);
  CHECK(n.ping_to(itself) == 77);
  CHECK(n.ask<ref<guest_type>>(one{itself}) == n.there);
}

TEST_CASE("handles in messages: several, the same one several times, and in containers") {
  nodes n;
  const auto first = n.a.system.spawn<guest>(1);
  const auto second = n.a.system.spawn<guest>(2);
  some s{{first, second, {}, first}, {{"a", second}, {"b", first}}, first};
  CHECK(n.ask<std::vector<int>>(s) == std::vector<int>{1, 2, 0, 1, 4, 3, 5});
  s.perhaps.reset();
  CHECK(n.ask<std::vector<int>>(s) == std::vector<int>{1, 2, 0, 1, 4, 3, 6});
}

TEST_CASE(
    "handles in messages: a wildcard takes messages that some handle of its actor was seen with") {
  nodes n;
  const auto far = n.b.shown_to(n.a, "far", n.b.system.spawn<guest>(6));
  CHECK(far);
  send(any_ref(far), ping{});
  // No known protocol of this actor has a ping, though the actor understands one.
  const auto unknown = n.ask<any_ref>(anybody{any_ref(n.there)});
  CHECK(unknown == n.there);
  send(unknown, end{});
  CHECK(letters(n.a.system, net_errc::not_encodable) == 0);
  send(unknown, ping{});
  CHECK(letters(n.a.system, net_errc::not_encodable) == 1);
  n.a.system.run_for(ms(50));
  CHECK(letters(n.a.system) == 1);
  CHECK(letters(n.b.system) == 0);
}

}  // namespace handles_in_messages_test
