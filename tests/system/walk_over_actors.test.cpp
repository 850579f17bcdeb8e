// Looking at all actors of a system while others are spawned and end: the actors that are seen, and
// that no lock is held meanwhile.
#include <garrick/garrick.hpp>
#include <garrick/system/system_core.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace walk_over_actors_test {

namespace {

using namespace garrick;

struct leave {};
using guest = protocol<void(leave)>;

class guest_actor : public actor<guest> {
 public:
  void on(leave) { quit(); }
};

/// The framework's side of the system that `who` lives in.
const system::system_core& core_of(const ref<guest>& who) {
  const core::cell* const cell = core::handle_access::get(who);
  return static_cast<const system::system_core&>(cell->env());
}

std::vector<ref<guest>> spawn_guests(actor_system& system, std::size_t count) {
  std::vector<ref<guest>> guests;
  for (std::size_t i = 0; i < count; ++i) guests.push_back(system.spawn<guest_actor>());
  return guests;
}

/// Returns how often each of these was seen.
std::map<std::uint64_t, int> one_walk(const system::system_core& all) {
  std::map<std::uint64_t, int> seen;
  all.for_each_cell([&](const core::cell& c) { ++seen[c.id()]; });
  return seen;
}

}  // namespace

TEST_CASE("a walk over all actors sees each of them once") {
  for (const std::size_t count : {1u, 255u, 256u, 257u, 1000u}) {
    actor_system system;
    const auto guests = spawn_guests(system, count);
    const auto seen = one_walk(core_of(guests[0]));
    CHECK(seen.size() == count);
    for (const auto& g : guests) CHECK(seen.at(g.id()) == 1);
  }
}

TEST_CASE("a walk over all actors holds no lock: the called function may spawn, end and wait") {
  actor_system system;
  auto guests = spawn_guests(system, 600);
  const system::system_core& all = core_of(guests[0]);
  std::vector<ref<guest>> newcomers;
  std::size_t seen = 0;
  all.for_each_cell([&](const core::cell&) {
    if (seen++ != 0) return;
    newcomers = spawn_guests(system, 10);
    for (const auto& g : guests) send(g, leave{});
    while (system.actor_count() != newcomers.size()) std::this_thread::yield();
  });
  // The walk had these in hand when they ended. The newcomers came in front, so it has passed them.
  CHECK(seen >= 1);
  CHECK(seen <= core::cell_walk<base::spin_lock>::most_at_once);
  for (const auto& g : newcomers) CHECK(one_walk(all).at(g.id()) == 1);
}

TEST_CASE("actors are spawned and end while others walk over them") {
  settings o;
  o.scheduler.workers = 2;
  actor_system system(o);
  const auto steady = spawn_guests(system, 700);
  const system::system_core& all = core_of(steady[0]);
  std::atomic<bool> over{false};
  std::vector<std::thread> crowd;
  for (int t = 0; t < 2; ++t)
    crowd.emplace_back([&] {
      while (!over) {
        const auto guests = spawn_guests(system, 300);
        for (const auto& g : guests) send(g, leave{});
        // or ever more of them would live on a busy machine
        for (const auto& g : guests)
          while (!core::handle_access::get(g)->has_ended()) std::this_thread::yield();
      }
    });
  for (int t = 0; t < 2; ++t)
    crowd.emplace_back([&] {
      while (!over) one_walk(all);
    });
  for (int i = 0; i < 30; ++i) {
    const auto seen = one_walk(all);
    for (const auto& g : steady) CHECK(seen.contains(g.id()));
    CHECK(std::ranges::all_of(seen, [](const auto& who) { return who.second == 1; }));
  }
  over = true;
  for (auto& t : crowd) t.join();
}

}  // namespace walk_over_actors_test
