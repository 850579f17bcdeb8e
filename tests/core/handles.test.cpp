// Handles: strong, weak and addresses; equality, hash and order across handle types; ended actors;
// handles that outlive their system.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace handles_test {

namespace {

using namespace garrick;

using ints = protocol<int(int), void(std::string)>;

class echo : public actor<ints> {
 public:
  int on(int x) { return x; }
  void on(const std::string&) { quit(); }
};

void wait_for_end(const core::handle& h) {
  while (!core::handle_access::get(h)->has_ended()) std::this_thread::yield();
}

TEST_CASE("handles of different types to one actor are equal, hash alike and order alike") {
  actor_system system;
  const ref<ints> a = system.spawn<echo>();
  const ref<ints> b = system.spawn<echo>();
  const ref<protocol<int(int)>> part = a;
  const any_ref wild(a);
  const weak_ref<ints> weak = a;
  const address addr = a.address();
  CHECK(a == part);
  CHECK(part == wild);
  CHECK(wild == addr);
  CHECK(addr == a);
  CHECK(weak == addr);
  CHECK(weak.address() == addr);
  CHECK(a != b);
  CHECK(wild != b.address());
  CHECK(std::hash<ref<ints>>()(a) == std::hash<any_ref>()(wild));
  CHECK(std::hash<any_ref>()(wild) == std::hash<address>()(addr));
  CHECK(std::hash<weak_ref<ints>>()(weak) == std::hash<address>()(addr));
  CHECK((a < b) == (a.address() < b.address()));
  CHECK((a < b) == (wild < b));
  CHECK((a < b) != (b < a));
  std::map<address, int> by_address{{addr, 1}, {b.address(), 2}};
  CHECK(by_address.at(part.address()) == 1);
  std::set<ref<ints>> ordered{b, a, b};
  CHECK(ordered.size() == 2);
  std::unordered_map<any_ref, int> by_handle{{wild, 7}};
  CHECK(by_handle.at(any_ref(part)) == 7);
  CHECK(a.id() == addr.id());
}

TEST_CASE("handles and addresses print name and id") {
  actor_system system;
  const ref<ints> a = system.spawn<echo>(spawn_options{.name = "parrot"});
  CHECK(a.to_string() == "parrot#" + std::to_string(a.id()));
  CHECK(a.address().to_string() == a.to_string());
  CHECK(address{}.to_string() == "nobody");
  const ref<ints> b = system.spawn<echo>();
  CHECK(b.to_string().find("echo#") != std::string::npos);
}

TEST_CASE("empty handle throws on send and request, with advice") {
  const ref<ints> nobody;
  CHECK(!nobody);
  CHECK(nobody.id() == 0);
  CHECK_THROWS_WITH_AS(send(nobody, 1),
                       "garrick: a send through an empty handle; give the handle an actor first",
                       std::logic_error);
  actor_system system;
  CHECK_THROWS_WITH_AS(static_cast<void>(system.request(nobody, 1)),
                       doctest::Contains("a request through an empty handle"), std::logic_error);
  CHECK_THROWS_WITH_AS(supervise<echo>(ref<core::supervisor_protocol>()),
                       doctest::Contains("supervise() through an empty handle"), std::logic_error);
  const weak_ref<ints> weak;
  CHECK(!weak.lock());
}

TEST_CASE("weak_ref locks while the actor is reachable") {
  actor_system system;
  weak_ref<ints> weak;
  {
    const ref<ints> a = system.spawn<echo>();
    weak = a;
    const ref<ints> again = weak.lock();
    CHECK(again == a);
    CHECK(system.request(again, 3).get().value() == 3);
  }
  CHECK(system.await_all().has_value());  // no handle is left: it is reclaimed
  CHECK(!weak.lock());
}

TEST_CASE("send to an ended actor is a dead letter, a request gets not_handled") {
  actor_system system;
  const ref<ints> a = system.spawn<echo>();
  send(a, std::string("end"));
  wait_for_end(a);
  const std::uint64_t before = system.dead_letter_count(errc::not_handled);
  send(a, 1);
  core::send_urgent(a, 1);
  CHECK(system.dead_letter_count(errc::not_handled) == before + 2);
  CHECK(system.request(a, 1).get().error() == errc::not_handled);
}

TEST_CASE("handles may outlive their system: a send is a dead letter, never a crash") {
  ref<ints> a;
  ref<ints> b;
  weak_ref<ints> weak;
  address addr;
  any_ref lazy;
  {
    actor_system system;
    a = system.spawn<echo>();
    b = system.spawn<echo>();
    lazy = system.spawn(spawn_options{.lazy = true},
                        [](dynamic_actor&) -> behavior { return {[](int x) { return x; }}; });
    weak = b;
    addr = a.address();
    CHECK(system.request(a, 1).get().value() == 1);
  }
  for (int i = 0; i < 100; ++i) {
    send(a, i);
    send(lazy, i);
    send(a, std::string("a message that owns memory, to see that it is released"));
  }
  CHECK(core::handle_access::get(a)->end_reason() == exit_code::user_shutdown);
  CHECK(a == addr);
  const ref<ints> locked = weak.lock();
  if (locked) send(locked, 1);
  {
    actor_system other;
    CHECK(other.request(a, 1).get().error() == errc::not_handled);
    const auto c = other.spawn<echo>();
    CHECK(other.request(c, 2).get().value() == 2);
  }
}

TEST_CASE("promise may outlive its system and its requester") {
  std::vector<response_promise<int>> kept;
  {
    actor_system system;
    const any_ref a = system.spawn(lent([&kept](dynamic_actor& self) -> behavior {
      return {[&kept, &self](int) {
        kept.push_back(self.make_promise<int>());
        return result<int>(kept.back());
      }};
    }));
    CHECK(system.request_as<int>(a, 1).within(duration::milliseconds(3)).get().error() ==
          errc::timeout);
    // as with typed handles
    CHECK(system.request_as<int>(a, 1, duration::milliseconds(3)).get().error() == errc::timeout);
    const any_ref b = system.spawn(lent([a](dynamic_actor& self) -> behavior {
      self.request_as<int>(a, 1).then([](int) {}, [](const error&) {});
      return {[](int) {}};
    }));
    CHECK(system.request_as<>(b, 1).get().has_value());
  }
  REQUIRE(kept.size() == 3);
  for (auto& p : kept) p.deliver(5);
}

struct tell_me {};

TEST_CASE("sender_id names the actor that sent a message or a request; 0 is a thread") {
  actor_system system;
  const any_ref who = system.spawn([](dynamic_actor& self) -> behavior {
    return {[&self](tell_me) { return self.sender_id(); },
            [&self](tell_me, int) {
              const auto p = self.make_promise<>();
              return self.sender_id();
            }};
  });
  const any_ref asks = system.spawn(lent([who](dynamic_actor& self) -> behavior {
    return {[&self, who](int) {
      auto p = std::make_shared<response_promise<bool>>(self.make_promise<bool>());
      self.request_as<std::uint64_t>(who, tell_me{}).then([p, &self](std::uint64_t id) {
        p->deliver(id == self.id());
      });
      return result<bool>(*p);
    }};
  }));
  CHECK(system.request_as<bool>(asks, 1).get().value());
  const any_ref plain = system.spawn(
      [](dynamic_actor& self, any_ref to) -> behavior {
        return {[&self, to](int x) { send(to, self.sender_id(), x); }};
      },
      who);
  core::scoped_actor me(system.env());
  const any_ref reports = system.spawn(
      [](dynamic_actor& self, any_ref to) -> behavior {
        return {[&self, to](int) { send(to, self.sender_id()); }};
      },
      me->self());
  send(reports, 1);
  std::uint64_t from = 99;
  me->receive([&](std::uint64_t id) { from = id; });
  CHECK(from == 0);
  const any_ref relays = system.spawn(lent(
      [reports](dynamic_actor&) -> behavior { return {[reports](int x) { send(reports, x); }}; }));
  send(relays, 1);
  me->receive([&](std::uint64_t id) { from = id; });
  CHECK(from == relays.id());
}

TEST_CASE("handles travel in messages and keep their actor alive") {
  actor_system system;
  const any_ref holder = system.spawn([](dynamic_actor& self) -> behavior {
    auto kept = std::make_shared<ref<ints>>();
    return {[kept](ref<ints> r) { *kept = std::move(r); },
            [kept, &self](int x) {
              auto p = std::make_shared<response_promise<int>>(self.make_promise<int>());
              self.request(*kept, x).then([p](int y) { p->deliver(y); });
              return result<int>(*p);
            }};
  });
  send(holder, system.spawn<echo>());
  CHECK(system.request_as<int>(holder, 6).get().value() == 6);
}

TEST_CASE("spawn options: lazy, hidden and named actors") {
  actor_system system;
  auto started = std::make_shared<std::atomic<bool>>(false);
  const any_ref lazy =
      system.spawn(spawn_options{.lazy = true}, lent([started](dynamic_actor&) -> behavior {
                     *started = true;
                     return {[](int x) { return x; }};
                   }));
  const any_ref eager =
      system.spawn(spawn_options{.name = "eager"},
                   [](dynamic_actor&) -> behavior { return {[](int x) { return x; }}; });
  CHECK(system.request_as<int>(eager, 1).get().value() == 1);
  CHECK(!started->load());
  CHECK(system.request_as<int>(lazy, 1).get().value() == 1);
  CHECK(started->load());
  CHECK(system.actor_count() == 2);
  const any_ref hidden =
      system.spawn(spawn_options{.hidden = true},
                   [](dynamic_actor&) -> behavior { return {[](int x) { return x; }}; });
  CHECK(system.actor_count() == 2);
  system.exit(lazy);
  system.exit(eager);
  CHECK(system.await_all().has_value());  // the hidden one still lives
  CHECK(system.request_as<int>(hidden, 4).get().value() == 4);
  CHECK(core::handle_access::get(eager)->name() == "eager");
}

TEST_CASE("weak_ref converts to a subset of its protocol, from strong and weak handles") {
  actor_system system;
  const ref<ints> a = system.spawn<echo>();
  using part = protocol<int(int)>;
  const weak_ref<part> from_strong = a;
  const weak_ref<ints> weak = a;
  const weak_ref<part> from_weak = weak;
  CHECK(from_strong == from_weak);
  CHECK(system.request(from_weak.lock(), 3).get().value() == 3);
  static_assert(!std::is_convertible_v<weak_ref<part>, weak_ref<ints>>);
  static_assert(!std::is_convertible_v<ref<part>, weak_ref<ints>>);
}

TEST_CASE("a mailbox's length can be read from every handle") {
  testkit::test_system kit(1);
  auto a =
      kit.spawn([](dynamic_actor& self) -> behavior { return {[&self](int) { self.quit(); }}; });
  CHECK(any_ref().mailbox_length() == 0);
  for (int i = 0; i < 3; ++i) send(a, i);
  CHECK(a.mailbox_length() == 3);
  kit.run();
  CHECK(a.mailbox_length() == 0);
}

}  // namespace

}  // namespace handles_test
