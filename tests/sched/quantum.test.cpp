// The quantum: how many messages one actor handles before others have their turn, for a system and
// for one actor.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

namespace quantum_test {

namespace {

using namespace garrick;

constexpr int messages = 100;

struct gate : actor<protocol<void(int)>> {
  std::atomic<bool>* entered;
  std::atomic<bool>* open;
  gate(std::atomic<bool>* e, std::atomic<bool>* o) : entered(e), open(o) {}
  void on(int) {
    *entered = true;
    entered->notify_all();
    open->wait(false);
    quit();
  }
};

struct noting : actor<protocol<void(int)>> {
  std::string* order;
  char letter;
  noting(std::string* o, char l) : order(o), letter(l) {}
  void on(int n) {
    *order += letter;
    if (n == messages) quit();
  }
};

/// Gives two actors a hundred messages each while their one worker is busy. Returns the longest run
/// of one of them while the other still had messages.
std::size_t longest_run(std::uint32_t of_actors, std::uint32_t of_system) {
  std::atomic<bool> entered{false}, open{false};
  std::string order;
  {
    settings o;
    o.scheduler.workers = 1;
    o.scheduler.quantum = of_system;
    actor_system system(o);
    const auto holds = system.spawn<gate>(lent(&entered), lent(&open));
    send(holds, 1);
    entered.wait(false);
    const auto a = system.spawn<noting>(spawn_options{.quantum = of_actors}, lent(&order), 'a');
    const auto b = system.spawn<noting>(spawn_options{.quantum = of_actors}, lent(&order), 'b');
    for (int i = 1; i <= messages; ++i) {
      send(a, i);
      send(b, i);
    }
    open = true;
    open.notify_all();
    REQUIRE(system.await_all().has_value());
  }
  REQUIRE(order.size() == 2 * messages);
  order.resize(std::min(order.find_last_of('a'), order.find_last_of('b')) + 1);
  std::size_t longest = 0;
  for (std::size_t i = 0, run = 0; i < order.size(); ++i) {
    run = i > 0 && order[i] == order[i - 1] ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

TEST_CASE(
    "an actor's own quantum bounds its runs; without one, or above the system's, the system's "
    "does") {
  CHECK(longest_run(2, 1024) <= 4);
  CHECK(longest_run(0, 1024) > 4);
  CHECK(longest_run(1024, 2) <= 4);
}

}  // namespace quantum_test
