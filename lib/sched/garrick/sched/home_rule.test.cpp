// Every branch of paper 002's two flowcharts (figures 3 and 4).
#include <garrick/sched/home_rule.hpp>

#include <doctest/doctest.h>

using namespace garrick::sched;

namespace {
/// Two machines of four workers: 0–3 and 4–7.
constexpr auto neighbours = [](worker_index a, worker_index b) { return a / 4 == b / 4; };
constexpr worker_index near_home = 2, home = 1, far_away = 6;
}  // namespace

TEST_CASE("first run: where it was placed") { CHECK(home_at_first_run(home, home, neighbours) == home); }
TEST_CASE("first run: stolen by a direct neighbour, who becomes its home") {
  CHECK(home_at_first_run(home, near_home, neighbours) == near_home);
}
TEST_CASE("first run: stolen from far away, so home is where it was placed") {
  CHECK(home_at_first_run(home, far_away, neighbours) == home);
}
TEST_CASE("first run: it was placed nowhere") { CHECK(home_at_first_run(no_worker, far_away, neighbours) == far_away); }

TEST_CASE("woken by its own worker: stays there") { CHECK(worker_for(home, home, neighbours) == home); }
TEST_CASE("woken by a direct neighbour of home: goes to the sender") {
  CHECK(worker_for(home, near_home, neighbours) == near_home);
}
TEST_CASE("woken from far away: goes home") { CHECK(worker_for(home, far_away, neighbours) == home); }
TEST_CASE("woken by a thread that is no worker: goes home") { CHECK(worker_for(home, no_worker, neighbours) == home); }
TEST_CASE("woken without a home: goes to the sender, or anywhere") {
  CHECK(worker_for(no_worker, far_away, neighbours) == far_away);
  CHECK(worker_for(no_worker, no_worker, neighbours) == no_worker);
}
