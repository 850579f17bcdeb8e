// A worker's round: its length, what a run may use of it, and whose turn the next one is.
#include <garrick/sched/policies/worker_round.hpp>

#include <doctest/doctest.h>

using namespace garrick::sched;

TEST_CASE("a round has a quarter of a quantum, and at least one message") {
  CHECK(worker_round::length_for(1024) == 256);
  CHECK(worker_round::length_for(3) == 1);
  CHECK(worker_round::length_for(unlimited) == 256);
}

TEST_CASE("a round is over when its messages are used up, and each run counts for at least one") {
  worker_round round(3);
  round.use(0);
  round.use(1);
  CHECK_FALSE(round.is_over());
  round.use(50);
  CHECK(round.is_over());

  worker_round of_idle_runs(2);
  of_idle_runs.use(0);
  of_idle_runs.use(0);
  CHECK(of_idle_runs.is_over());
}

TEST_CASE("a run may use what is left of the round, at least one message, at most a quantum") {
  worker_round round(10);
  CHECK(round.allowance(1024) == 10);
  CHECK(round.allowance(4) == 4);
  CHECK(round.allowance(unlimited) == unlimited);
  round.use(10);
  CHECK(round.allowance(1024) == 1);
}

TEST_CASE("inbox and deque take turns to begin a round") {
  worker_round round(1);
  const bool inbox_first = round.begin(1);
  CHECK(round.begin(1) != inbox_first);
  CHECK(round.begin(7) == inbox_first);
  CHECK(round.allowance(1024) == 7);
}
