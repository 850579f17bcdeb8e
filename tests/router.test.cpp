// Pools and routers: several actors behind one handle, picked by the sender's call.
#include <doctest/doctest.h>
#include <garrick/core/router.hpp>
#include <garrick/garrick.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace garrick;
using core::router;

struct put {
  std::string key;
  int value;
};
struct who {};
struct block_until {
  std::shared_ptr<const std::atomic<bool>> open;
};
}  // namespace
template <>
inline constexpr bool garrick::base::i_promise_this_owns_everything<block_until> = true;
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
  CHECK(system.actor_count() == 4);  // nobody in between
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
  options o;
  o.workers = 2;
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
  for (int i = 0; i < 10; ++i) CHECK(system.request(pool, who{}).get().value() == pool.members()[1].id());
  end(pool.members()[1]);
  CHECK(system.request(pool, who{}).get().error() == errc::receiver_gone);
  const auto before = system.dead_letter_count();
  send(pool, put{"x", 1});
  CHECK(system.dead_letter_count() == before + 1);
}

TEST_CASE("router needs members") {
  CHECK_THROWS_AS((router<member, core::round_robin>(std::vector<ref<member>>())), std::invalid_argument);
  CHECK_THROWS_AS((router<member, core::round_robin>(std::vector<ref<member>>(2))), std::invalid_argument);
}

TEST_CASE("router travels in messages and is used by an actor like any handle") {
  actor_system system;
  using pool_type = router<member, core::round_robin>;
  const pool_type pool = core::spawn_pool<member_actor>(system, 2);
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    return {[&self](const pool_type& p) {
      send(p, put{"x", 1});
      auto done = std::make_shared<response_promise<std::uint64_t>>(self.make_promise<std::uint64_t>());
      self.request(p, who{}).then([done](std::uint64_t id) { done->deliver(id); });
      return result<std::uint64_t>(*done);
    }};
  });
  CHECK(system.request_as<std::uint64_t>(a, pool).get().value() == pool.members()[1].id());
}

TEST_CASE("pool spawned by an actor") {
  actor_system system;
  const any_ref a = system.spawn([](dynamic_actor& self) -> behavior {
    auto pool = std::make_shared<router<member, core::least_loaded>>(core::spawn_pool<member_actor, core::least_loaded>(self, 5));
    return {[pool](int) { return static_cast<int>(pool->members().size()); }};
  });
  CHECK(system.request_as<int>(a, 1).get().value() == 5);
}

}  // namespace
