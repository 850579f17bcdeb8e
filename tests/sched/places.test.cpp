// The places of actors and threads: hints, homes and affinity strings, through the whole system.
#include <doctest/doctest.h>
#include <garrick/base/memory/node_memory.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/garrick.hpp>
#include <garrick/sched/places/topology.hpp>

#include <atomic>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/affinity_text.hpp"

namespace places_test {

namespace {

using namespace garrick;
using namespace std::chrono_literals;
using garrick::tests::one_group_each;

using processors = std::vector<std::int32_t>;

struct where {};
using located = protocol<std::uint32_t(where)>;

/// Answers with the index of the worker that runs it.
class settler : public actor<located> {
 public:
  std::uint32_t on(where) const { return base::this_thread.worker_index; }
};

struct mask_of {};
struct mask {
  processors allowed;
};
class masked : public actor<protocol<mask(mask_of)>> {
 public:
  mask on(mask_of) const { return {base::platform::usable_processors()}; }
};

settings guided(std::uint32_t workers) {
  settings o;
  o.scheduler.policy = "locality_guided";
  o.scheduler.workers = workers;
  o.scheduler.machine = "pack:2 numa:1 l3:1 core:2 pu:1";
  return o;
}

/// Returns the system's refusal of these settings; empty if it accepts them.
std::string refusal(const settings& o) {
  try {
    const actor_system system(o);
    return {};
  } catch (const std::exception& e) { return e.what(); }
}

std::string listed(const processors& all) {
  std::string text;
  for (const std::int32_t p : all) text += (text.empty() ? "" : ",") + std::to_string(p);
  return text;
}

}  // namespace

TEST_CASE("places: actors on a machine with two memory nodes answer under every policy") {
  for (const char* policy : {"work_stealing", "locality_guided", "work_sharing", "polling_custom",
                             "polling_aggressive", "polling_new"}) {
    settings o = guided(4);
    o.scheduler.policy = policy;
    actor_system system(o);
    std::vector<ref<located>> all;
    for (int i = 0; i < 20; ++i) all.push_back(system.spawn<settler>());
    for (int round = 0; round < 5; ++round)
      for (const auto& a : all) CHECK(system.request(a, where{}).get().value() < 4);
  }
}

TEST_CASE("places: a hub has a home from the start, and near() takes it over") {
  actor_system system(guided(4));
  const auto hub = system.spawn<settler>(spawn_options{.hint = locality_hint::hub()});
  CHECK(near(hub) == locality_hint());  // lazy: it has not been scheduled yet
  static_cast<void>(system.request(hub, where{}).get());
  const locality_hint home = near(hub);
  CHECK(home.what() == locality_hint::kind::settled);
  const auto friend_of_it = system.spawn<settler>(spawn_options{.hint = near(hub)});
  static_cast<void>(system.request(friend_of_it, where{}).get());
  CHECK(near(friend_of_it) == home);
}

TEST_CASE("places: hubs are spread over the memory nodes, and a wished node is home") {
  actor_system system(guided(4));
  std::set<std::uint32_t> homes;
  for (int i = 0; i < 4; ++i) {
    const auto hub = system.spawn<settler>(spawn_options{.hint = locality_hint::hub()});
    static_cast<void>(system.request(hub, where{}).get());
    homes.insert(near(hub).value() % 2U);  // workers 0 and 2 are on one node, 1 and 3 on the other
  }
  CHECK(homes.size() == 2);
  const auto there = system.spawn<settler>(spawn_options{.hint = locality_hint::home(1)});
  static_cast<void>(system.request(there, where{}).get());
  CHECK(near(there).value() % 2U == 1);
}

TEST_CASE("places: a policy that knows no places takes no notice of hints") {
  actor_system system;
  const auto a = system.spawn<settler>(spawn_options{.hint = locality_hint::home(3)});
  CHECK(system.request(a, where{}).get().has_value());
  CHECK(near(a) == locality_hint());
}

TEST_CASE(
    "places: affinity strings bind workers, detached and blocking threads, each by its own "
    "groups") {
  const processors mine = base::platform::usable_processors();
  REQUIRE(!mine.empty());
  settings o;
  o.scheduler.workers = 1;
  o.scheduler.affinity = "<" + std::to_string(mine.back()) + ">";
  o.detached.affinity = one_group_each(mine);
  o.detached.affinity_blocking = "<" + listed(mine) + "> <" + std::to_string(mine.front()) + ">";
  actor_system system(o);
  const auto worker = system.spawn<masked>();
  CHECK(system.request(worker, mask_of{}).get().value().allowed == processors{mine.back()});
  std::vector<ref<protocol<mask(mask_of)>>> own;
  for (std::size_t i = 0; i < mine.size() + 1; ++i) {
    own.push_back(system.spawn<masked>(spawn_options{.detached = true}));
    CHECK(system.request(own.back(), mask_of{}).get().value().allowed ==
          processors{mine[i % mine.size()]});
  }
  // Each keeps its thread until all have one.
  std::vector<processors> blocking(3);
  std::atomic<std::size_t> seen{0};
  std::atomic<bool> leave{false};
  for (std::size_t i = 0; i < blocking.size(); ++i) {
    static_cast<void>(system.spawn(lent([&, i](blocking_actor&) {
      blocking[i] = base::platform::usable_processors();
      seen = i + 1;
      seen.notify_one();
      leave.wait(false);
    })));
    seen.wait(i);
    CHECK(blocking[i] == (i % 2 == 0 ? mine : processors{mine.front()}));
  }
  leave = true;
  leave.notify_all();
  REQUIRE(system.shutdown(duration::seconds(10)).complete);
}

TEST_CASE(
    "places: at the bound of detached threads, one that is free changes its kind and its place") {
  const processors mine = base::platform::usable_processors();
  settings o;
  o.detached.threads = 1;
  o.detached.affinity = "<" + std::to_string(mine.back()) + ">";
  actor_system system(o);
  for (int i = 0; i < 3; ++i) {
    auto own = system.spawn<masked>(spawn_options{.detached = true});
    while (core::handle_access::get(own)->has_ended())
      own = system.spawn<masked>(spawn_options{.detached = true});
    CHECK(system.request(own, mask_of{}).get().value().allowed == processors{mine.back()});
    own = {};
    processors blocking;
    const auto body = [&](blocking_actor&) { blocking = base::platform::usable_processors(); };
    const auto refused = [](const any_ref& r) {
      const core::cell& c = *core::handle_access::get(r);
      return c.has_ended() && c.end_reason().as_error() == errc::spawn_failed;
    };
    // the thread comes back a moment after its actor has ended
    while (refused(system.spawn(lent(body)))) {}
    REQUIRE(system.await_all().has_value());
    CHECK(blocking == mine);
  }
}

TEST_CASE("places: spawn_options.affinity gives one actor's thread its processors, and no other") {
  const processors mine = base::platform::usable_processors();
  settings o;
  o.detached.threads = 1;
  o.detached.affinity = "<" + listed(mine) + ">";
  actor_system system(o);
  // the thread comes back a moment after its actor has ended
  const auto spawned = [&](const spawn_options& wishes) {
    for (;;) {
      auto own = system.spawn<masked>(wishes);
      const core::cell& c = *core::handle_access::get(own);
      if (!c.has_ended() ||
          c.end_reason().as_error().detail().find("detached.threads") == std::string_view::npos)
        return own;
    }
  };
  const auto allowed = [&](const spawn_options& wishes) {
    return system.request(spawned(wishes), mask_of{}).get().value().allowed;
  };
  for (const std::int32_t p : {mine.back(), mine.front(), mine.front()}) {
    CHECK(allowed({.detached = true, .affinity = "<" + std::to_string(p) + ">"}) == processors{p});
    CHECK(allowed({.detached = true}) == mine);
  }
  const auto why = [&](const spawn_options& wishes) {
    const auto own = spawned(wishes);
    const core::cell& c = *core::handle_access::get(own);
    REQUIRE(c.has_ended());
    CHECK(c.end_reason().as_error() == errc::spawn_failed);
    return c.end_reason().as_error().to_string();
  };
  const std::string other = std::to_string(mine.back() + 1);
  CHECK(why({.affinity = "<0>"}).find("spawn_options.affinity: is for an actor with a thread") !=
        std::string::npos);
  CHECK(why({.detached = true, .affinity = "<" + other + ">"})
            .find("spawn_options.affinity: at character 2: processor " + other + " is not among") !=
        std::string::npos);
  CHECK(why({.detached = true, .affinity = "0"}).find("spawn_options.affinity: at character 1") !=
        std::string::npos);
  const std::string twice = "<" + listed(mine) + ">" + "<" + listed(mine) + ">";
  CHECK(why({.detached = true, .affinity = twice}).find("has 2 groups") != std::string::npos);
}

TEST_CASE("places: the thread of a detached actor is not bound because its spawner is") {
  const processors mine = base::platform::usable_processors();
  settings o;
  o.scheduler.affinity = "<" + std::to_string(mine.front()) + ">";
  actor_system system(o);
  const any_ref spawner = system.spawn([](dynamic_actor& self) -> behavior {
    return {[&self](int) { return any_ref(self.spawn<masked>(spawn_options{.detached = true})); }};
  });
  const any_ref own = system.request_as<any_ref>(spawner, 1).get().value();
  CHECK(system.request_as<mask>(own, mask_of{}).get().value().allowed == mine);
}

TEST_CASE(
    "places: an actor with a home given by node has its block there, and it goes back there") {
  namespace node_memory = base::node_memory;
  void* const probe = node_memory::allocate(0, 64);
  if (probe == nullptr) return;  // AddressSanitizer, or a system that does not let us choose
  node_memory::deallocate(probe, 64);
  const std::size_t before = node_memory::blocks_in_use();
  {
    settings o;
    o.scheduler.policy = "locality_guided";
    o.log.level = system::log_level::error;  // not that this machine may be flat
    actor_system system(o);
    const auto plain = system.spawn<settler>();
    const auto here = system.spawn<settler>(spawn_options{.hint = locality_hint::home(0)});
    const auto nowhere = system.spawn<settler>(spawn_options{.hint = locality_hint::home(4000)});
    for (const auto& a : {plain, here, nowhere})
      CHECK(system.request(a, where{}).get().has_value());
    // not without hwloc
    const bool known = sched::topology::of_this_machine().units().front().memory >= 0;
    CHECK(node_memory::blocks_in_use() == before + (known ? 1 : 0));
    CHECK(node_memory::owns(core::handle_access::get(here)) == known);
    CHECK_FALSE(node_memory::owns(core::handle_access::get(plain)));
    CHECK_FALSE(node_memory::owns(core::handle_access::get(nowhere)));
    if (known) CHECK(base::platform::memory_node_of(core::handle_access::get(here)) == 0);
  }
  CHECK(node_memory::blocks_in_use() == before);
}

TEST_CASE("places: a worker that is pinned to its unit has no other") {
  const processors mine = base::platform::usable_processors();
  settings o;
  o.scheduler.workers = 1;
  o.scheduler.pin = "unit";
  actor_system system(o);
  const auto a = system.spawn<masked>();
  CHECK(system.request(a, mask_of{}).get().value().allowed.size() == 1);
}

TEST_CASE(
    "places: a bad string, or a processor that the process may not use, ends the start and names "
    "the setting") {
  settings o;
  o.scheduler.affinity = "<0> <1-";
  CHECK(refusal(o).find("code: the key 'scheduler.affinity' wants ") != std::string::npos);
  CHECK(refusal(o).find("at its end: expected the number of a processor") != std::string::npos);
  o = {};
  o.detached.affinity = "<7999>";
  CHECK(refusal(o).find("code: the key 'detached.affinity' wants ") != std::string::npos);
  CHECK(refusal(o).find("processor 7999 is not among those that this process may use") !=
        std::string::npos);
  o = {};
  o.detached.affinity_blocking = "0";
  CHECK(refusal(o).find("code: the key 'detached.affinity_blocking' wants ") != std::string::npos);
  o = {};
  o.scheduler.pin = "shelf";
  CHECK(refusal(o).find("scheduler.pin") != std::string::npos);
}

}  // namespace places_test
