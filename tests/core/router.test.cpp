// Pools and routers: several actors behind one handle, picked by the sender's call.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>
#include <garrick/testkit/test_system.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace router_test {

namespace {

using namespace garrick;

struct put {
  std::string key;
  int value;
};
struct who {};
struct block_until {
  std::shared_ptr<const std::atomic<bool>> open;
};
}  // namespace

}  // namespace router_test

template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<router_test::block_until> =
    true;

namespace router_test {

namespace {
using member = protocol<std::uint64_t(put), std::uint64_t(who), void(block_until)>;

class member_actor : public actor<member> {
 public:
  std::uint64_t on(const put&) { return id(); }
  std::uint64_t on(who) {
    CHECK(sender_id() != 0);
    return id();
  }
  void on(const block_until& b) {
    while (!b.open->load()) std::this_thread::yield();
  }
};

TEST_CASE("round robin router gives each member its turn, without an extra hop") {
  actor_system system;
  const auto pool = core::spawn_pool<member_actor>(system, 4);
  std::map<std::uint64_t, int> count;
  for (int i = 0; i < 40; ++i) ++count[system.request(pool, who{}).get().value()];
  CHECK(count.size() == 4);
  for (const auto& [id, n] : count) CHECK(n == 10);
  CHECK(system.actor_count() == 4);  // no actor in between
}

TEST_CASE("random router reaches every member, the same way for the same seed") {
  actor_system system;
  std::vector<ref<member>> members;
  for (int i = 0; i < 4; ++i) members.push_back(system.spawn<member_actor>());
  const router<member, core::random_member> one(members, 42u);
  const router<member, core::random_member> same(members, 42u);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) {
    const auto a = one.pick(who{});
    CHECK(a == same.pick(who{}));
    seen.insert(a.id());
  }
  CHECK(seen.size() == 4);
}

TEST_CASE("router by key sends equal keys to the same member and spreads the others") {
  actor_system system;
  std::vector<ref<member>> members;
  for (int i = 0; i < 4; ++i) members.push_back(system.spawn<member_actor>());
  const auto shards = core::route_by_key(members, [](const put& p) { return p.key; });
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key " + std::to_string(i);
    const auto first = system.request(shards, put{key, 1}).get().value();
    CHECK(system.request(shards, put{key, 2}, duration::seconds(60)).get().value() == first);
    seen.insert(first);
  }
  CHECK(seen.size() == 4);
}

TEST_CASE("router by key computes keys with a function that is lent to it") {
  actor_system system;
  std::vector<ref<member>> members;
  for (int i = 0; i < 4; ++i) members.push_back(system.spawn<member_actor>());
  std::atomic<int> calls{0};
  const auto counted = [&calls](const put& p) {
    ++calls;
    return p.key;
  };
  const auto plain = route_by_key(members, &put::key);
  const auto shards = route_by_key(members, lent(counted));
  const auto moved = route_by_key(members, lent([&calls](const put& p) {
                                    ++calls;
                                    return p.key;
                                  }));
  for (int i = 0; i < 20; ++i) {
    const put message{"key " + std::to_string(i), 1};
    CHECK(shards.pick(message) == plain.pick(message));
    CHECK(moved.pick(message) == plain.pick(message));
  }
  CHECK(calls == 40);
}

TEST_CASE("router by key takes pointers to members, one for each kind of message") {
  struct write {
    std::string name;
    int value;
  };
  struct read {
    int unused;
    std::string shelf;
    const std::string& name() const { return shelf; }
  };
  using store = protocol<std::uint64_t(write), std::uint64_t(read)>;
  struct store_actor : actor<store> {
    std::uint64_t on(const write&) { return id(); }
    std::uint64_t on(const read&) { return id(); }
  };
  actor_system system;
  std::vector<ref<store>> members;
  for (int i = 0; i < 4; ++i) members.push_back(system.spawn<store_actor>());
  const auto shards = route_by_key(members, &write::name, &read::name);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "name " + std::to_string(i);
    const auto written = system.request(shards, write{name, i}).get().value();
    CHECK(system.request(shards, read{i, name}, duration::seconds(60)).get().value() == written);
    CHECK(shards.pick(make_message(read{i, name})).id() == written);
    seen.insert(written);
  }
  CHECK(seen.size() > 1);
}

TEST_CASE("broadcast router sends to all and collects all answers") {
  actor_system system;
  const auto all = core::spawn_pool<member_actor, core::broadcast>(system, 3);
  send(all, put{"x", 1});
  const auto r = system.request(all, who{}).get();
  REQUIRE(r.has_value());
  REQUIRE(r->size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK((*r)[i].value() == all.members()[i].id());
}

TEST_CASE("least loaded router passes a busy member over") {
  settings o;
  o.scheduler.workers = 2;
  actor_system system(o);
  const auto pool = core::spawn_pool<member_actor, core::least_loaded>(system, 3);
  auto open = std::make_shared<std::atomic<bool>>(false);
  const ref<member> busy = pool.members()[1];
  send(busy, block_until{open});
  for (int i = 0; i < 5; ++i) send(busy, put{"x", i});
  for (int i = 0; i < 30; ++i) CHECK(system.request(pool, who{}).get().value() != busy.id());
  open->store(true);
}

TEST_CASE("router passes ended members over; when none lives, a message is a dead letter") {
  actor_system system;
  const auto pool = core::spawn_pool<member_actor>(system, 3);
  const auto end = [&](const ref<member>& r) {
    system.exit(r);
    while (!core::handle_access::get(r)->has_ended()) std::this_thread::yield();
  };
  end(pool.members()[0]);
  end(pool.members()[2]);
  for (int i = 0; i < 10; ++i)
    CHECK(system.request(pool, who{}).get().value() == pool.members()[1].id());
  end(pool.members()[1]);
  CHECK(system.request(pool, who{}).get().error() == errc::not_handled);
  const auto before = system.dead_letter_count();
  send(pool, put{"x", 1});
  CHECK(system.dead_letter_count() == before + 1);
}

// ---- everything that a handle can do ------------------------------------------------------------

struct note {
  std::string text;
};
struct all_notes {};
using notes = protocol<void(note), std::string(all_notes), int(int, int)>;

class notes_actor : public actor<notes> {
  std::string all_;

 public:
  void on(const note& n) { all_ += n.text + " "; }
  std::string on(all_notes) { return all_; }
  int on(int a, int b) { return a * b; }
};

TEST_CASE("urgent message to a router overtakes normal mail, of the picked member or of all") {
  testkit::test_system kit(1);
  const auto one = spawn_pool<notes_actor>(kit, 2);
  send(one, note{"a"});
  send(one, note{"b"});
  send_urgent(one, note{"urgent"});  // the first member's turn
  CHECK(kit.request(one.members()[0], all_notes{}).get().value() == "urgent a ");
  CHECK(kit.request(one.members()[1], all_notes{}).get().value() == "b ");
  const auto all = spawn_pool<notes_actor, broadcast>(kit, 2);
  send(all, note{"a"});
  garrick::send_urgent(all, note{"urgent"});
  const auto r = kit.request(all, all_notes{}).get();
  for (const auto& text : *r) CHECK(text.value() == "urgent a ");
}

TEST_CASE("try_send to a router tries the picked member and says why it was not taken") {
  testkit::test_system kit(1);
  const auto pool =
      spawn_pool<notes_actor>(kit, spawn_options{.policy = mailbox_policy::reject, .bound = 1}, 2);
  CHECK(!try_send(pool, note{"a"}));
  CHECK(!garrick::try_send(pool, note{"b"}));
  CHECK(try_send(pool, note{"c"}) == errc::overload);
  CHECK(kit.dead_letters().empty());
  kit.run();
  CHECK(kit.request(pool.members()[0], all_notes{}).get().value() == "a ");
}

/// Passes messages on to a pool.
class front_actor : public actor<protocol<int(int, int), std::string(all_notes), void(note)>> {
  router<notes> behind_;

 public:
  explicit front_actor(router<notes> behind) : behind_(std::move(behind)) {}
  auto on(int a, int b) { return delegate(behind_, a, b); }
  result<std::string> on(all_notes a) { return delegate(behind_, a); }
  void on(const note& n) { delegate(behind_, n); }
};

TEST_CASE("request delegated to a router is answered by the picked member") {
  testkit::test_system kit(1);
  const auto pool = spawn_pool<notes_actor>(kit, 2);
  const auto front = kit.spawn<front_actor>(pool);
  send(front, note{"one"});
  kit.run();
  CHECK(kit.request(front, 6, 7).get().value() == 42);             // the second member
  CHECK(kit.request(front, all_notes{}).get().value() == "one ");  // the first again
  CHECK(kit.request(front, all_notes{}).get().value().empty());    // the second
  kit.expect_no_dead_letters();
}

class coroutine_user : public actor<protocol<result<int>(int)>> {
  router<notes> one_;
  router<notes, broadcast> all_;
  router<notes, by_key<std::size_t (*)(const note&)>> keyed_;

 public:
  coroutine_user(router<notes> one, router<notes, broadcast> all,
                 router<notes, by_key<std::size_t (*)(const note&)>> keyed)
      : one_(std::move(one)), all_(std::move(all)), keyed_(std::move(keyed)) {}
  task<int> on(int) {
    const result<void> noted = co_await request<note>(keyed_, "keyed");
    if (!noted) co_return noted.error();
    const result<std::string> first = co_await request<all_notes>(one_);
    if (!first) co_return first.error();
    const auto texts = co_await request<all_notes>(all_);
    if (!texts) co_return texts.error();
    int length = static_cast<int>(first->size());
    for (const auto& t : *texts) length += static_cast<int>(t.value().size());
    co_return length;
  }
};

TEST_CASE("coroutine asks a router with a message that is built in place") {
  testkit::test_system kit(1);
  std::vector<ref<notes>> members{kit.spawn<notes_actor>(), kit.spawn<notes_actor>()};
  const auto user = kit.spawn<coroutine_user>(
      router<notes>(members), router<notes, broadcast>(members),
      route_by_key(members, +[](const note& n) { return n.text.size(); }));
  const int expected = static_cast<int>(kit.request(user, 0).get().value());
  // "keyed " at one member: counted by all, and by the first if it is there
  CHECK((expected == 6 || expected == 12));
}

TEST_CASE("request to a broadcast router takes a time-out") {
  testkit::test_system kit(1);
  const auto all = spawn_pool<notes_actor, broadcast>(kit, 2);
  const auto r = kit.request(all, all_notes{}, duration::seconds(1)).get();
  CHECK(r->size() == 2);
  const auto product = kit.request(all, 6, 7, duration::seconds(1)).get();
  CHECK((*product)[1].value() == 42);
  using forever = protocol<result<int>(int)>;
  const auto silent = [](typed_actor<forever>& self) -> typed_behavior<forever> {
    auto kept = std::make_shared<std::vector<response_promise<int>>>();
    return {[&self, kept](int) -> result<int> {
      kept->push_back(self.make_promise<int>());
      return kept->back();
    }};
  };
  const router<forever, broadcast> never({kit.spawn(silent), kit.spawn(silent)});
  CHECK(kit.request(never, 1, duration::seconds(1)).get().error() == errc::timeout);
}

TEST_CASE("message made once is routed by its content, and broadcast without another copy") {
  testkit::test_system kit(1);
  std::vector<ref<notes>> members{kit.spawn<notes_actor>(), kit.spawn<notes_actor>(),
                                  kit.spawn<notes_actor>()};
  const auto keyed = route_by_key(members, [](const note& n) { return n.text; });
  const auto m = make_message(note{"a text that is long enough to have memory of its own"});
  CHECK(keyed.pick(m) == keyed.pick(*m.get<note>()));
  send(keyed, m);
  send(router<notes, broadcast>(members), m);
  CHECK(m.holders() == 5);  // this one, and an envelope each
  const auto pairs = route_by_key(members, [](int a, int) { return a; });
  CHECK(pairs.pick(make_message(3, 4)) == pairs.pick(3, 5));
}

TEST_CASE("pool's members have numbered names") {
  testkit::test_system kit(1);
  const auto pool = spawn_pool<notes_actor>(kit, spawn_options{.name = "clerk"}, 2);
  CHECK(kit.living() == std::vector<std::string>{"clerk 1#1", "clerk 2#2"});
  CHECK(pool.members().size() == 2);
}

TEST_CASE("member that its supervisor restarts keeps its place") {
  testkit::test_system kit(1);
  struct fragile : actor<notes> {
    void on(const note&) { throw std::runtime_error("torn"); }
    std::string on(all_notes) { return "whole"; }
    int on(int, int) { return 0; }
  };
  const auto boss = kit.spawn<supervisor>(supervision{});
  const router<notes> pool({supervise<fragile>(boss, child_options{.name = "only"})});
  send(pool, note{"x"});
  kit.run_for(duration::seconds(60));
  CHECK(kit.request(pool, all_notes{}).get().value() == "whole");
}

TEST_CASE("router needs members") {
  CHECK_THROWS_AS((router<member, core::round_robin>(std::vector<ref<member>>())),
                  std::invalid_argument);
  CHECK_THROWS_AS((router<member, core::round_robin>(std::vector<ref<member>>(2))),
                  std::invalid_argument);
}

TEST_CASE("router travels in messages and is used by an actor like any handle") {
  actor_system system;
  using pool_type = router<member, core::round_robin>;
  const pool_type pool = core::spawn_pool<member_actor>(system, 2);
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    return {[&self](const pool_type& p) {
      send(p, put{"x", 1});
      auto done =
          std::make_shared<response_promise<std::uint64_t>>(self.make_promise<std::uint64_t>());
      self.request(p, who{}).then([done](std::uint64_t id) { done->deliver(id); });
      return result<std::uint64_t>(*done);
    }};
  });
  CHECK(system.request_as<std::uint64_t>(a, pool).get().value() == pool.members()[1].id());
}

TEST_CASE("pool spawned by an actor") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    auto pool = std::make_shared<router<member, core::least_loaded>>(
        core::spawn_pool<member_actor, core::least_loaded>(self, 5));
    return {[pool](int) { return static_cast<int>(pool->members().size()); }};
  });
  CHECK(system.request_as<int>(a, 1).get().value() == 5);
}

}  // namespace

}  // namespace router_test
