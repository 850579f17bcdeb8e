// A worker's round: its length, the part that a run may use, and the queue that has the next turn.
#include <garrick/sched/policies/worker_round.hpp>

#include <doctest/doctest.h>

namespace worker_round_test {

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

TEST_CASE("a run may use the rest of the round, at least one message, at most a quantum") {
  worker_round round(10);
  CHECK(round.allowance(1024) == 10);
  CHECK(round.allowance(4) == 4);
  CHECK(round.allowance(unlimited) == unlimited);
  round.use(10);
  CHECK(round.allowance(1024) == 1);
}

TEST_CASE("inbox and deque take turns to begin a round") {
  worker_round round(7);
  const bool inbox_first = round.begin();
  CHECK(round.begin() != inbox_first);
  CHECK(round.begin() == inbox_first);
  CHECK(round.allowance(1024) == 7);
}

TEST_CASE("after an arrival the others handle as many messages as it did") {
  worker_round round(256);
  CHECK(round.arrival_may_run());
  round.arrival_runs();
  round.use(3);
  CHECK(round.is_due());
  CHECK_FALSE(round.arrival_may_run());
  round.use(2);
  CHECK_FALSE(round.is_due());
  round.use(1);
  CHECK(round.is_due());
  CHECK(round.arrival_may_run());
  round.use(worker_round::between_looks - 1);  // not of an arrival
  CHECK_FALSE(round.is_due());
  round.use(1);
  CHECK(round.is_due());
  CHECK(round.arrival_may_run());
}

TEST_CASE("an arrival that uses up the round counts in the next one") {
  worker_round round(4);
  CHECK(round.arrival_may_run());
  round.arrival_runs();
  round.use(4);
  CHECK(round.is_over());
  static_cast<void>(round.begin());
  round.use(3);
  CHECK_FALSE(round.is_due());
  round.use(1);
  CHECK(round.is_over());
  CHECK(round.arrival_may_run());
}

TEST_CASE(
    "a worker that had nothing else is left alone for a while with the work that it has begun") {
  worker_round round(256);
  round.has_nothing_else();
  round.use(worker_round::patience - 1);
  CHECK_FALSE(round.is_due());
  round.use(1);
  CHECK(round.is_due());
  CHECK(round.arrival_may_run());

  worker_round after_an_arrival(256);
  after_an_arrival.arrival_runs();
  after_an_arrival.use(1);
  after_an_arrival.has_nothing_else();
  after_an_arrival.use(worker_round::patience);
  CHECK(after_an_arrival.arrival_may_run());

  worker_round of_few(4);
  of_few.has_nothing_else();
  of_few.use(4);
  CHECK(of_few.arrival_may_run());
}

namespace {

/// Plays `rounds` rounds with messages of `ns` each. Returns how long the next round may be.
std::uint32_t length_after(worker_round& round, int rounds, std::uint64_t ns, std::uint64_t& now) {
  for (int i = 0; i < rounds; ++i) {
    static_cast<void>(round.begin());
    const std::uint32_t messages = round.allowance(1024);
    now += messages * ns;
    round.use(messages);
    if (round.wants_time()) round.measure(now);
  }
  static_cast<void>(round.begin());
  return round.allowance(1024);
}

}  // namespace

TEST_CASE("the first round is short, and the next ones double until they last long enough") {
  CHECK(worker_round::first_of(4) == 4);
  CHECK(worker_round::first_of(256) == 8);
  CHECK(worker_round::first_of(1'024'000) == 32'000);
  worker_round round(256, 8);
  round.slept(1, 2);  // before its first message
  std::uint64_t now = 2;
  std::uint32_t before = 8;
  CHECK(round.allowance(1024) == before);
  for (const std::uint32_t length : {16U, 32U, 64U, 128U, 256U, 256U}) {
    round.use(before);
    now += before * std::uint64_t{10};
    CHECK(round.wants_time() == (before < 256));
    round.measure(now);
    static_cast<void>(round.begin());
    CHECK(round.allowance(1024) == length);
    before = length;
  }
  worker_round of_long_ones(256, 8);
  of_long_ones.slept(1, 2);
  of_long_ones.use(8);
  of_long_ones.measure(2 + 8 * 10'000'000);
  static_cast<void>(of_long_ones.begin());
  CHECK(of_long_ones.allowance(1024) == worker_round::most_ns / 10'000'000);
}

TEST_CASE("rounds are as short as they must be to end in time, and grow again") {
  worker_round round(256);
  std::uint64_t now = 1;
  CHECK(length_after(round, 20, 10, now) == 256);
  CHECK(length_after(round, 10, 1'000'000, now) == worker_round::most_ns / 1'000'000);
  CHECK(length_after(round, 10, 100'000'000, now) == 1);
  CHECK(length_after(round, 1, 10, now) == 2);
  CHECK(length_after(round, 1, 10, now) == 4);
  CHECK(length_after(round, 10, 10, now) == 256);
}

TEST_CASE("rounds are shorter for some time after something has arrived") {
  worker_round round(256);
  std::uint64_t now = 1;
  CHECK(length_after(round, 20, 1'000, now) == 256);
  round.arrival_runs();
  CHECK(length_after(round, 20, 1'000, now) == worker_round::most_if_arrivals_ns / 1'000);
  now += worker_round::lately_ns;
  CHECK(length_after(round, 20, 1'000, now) == 256);
}

TEST_CASE("a round of messages quicker than those before goes on for half of its time") {
  worker_round round(256);
  CHECK_FALSE(round.goes_on(1));  // nothing has been measured
  round.arrival_runs();
  round.measure(1);
  std::uint64_t now = 1;
  REQUIRE(length_after(round, 10, 20'000, now) == 2);

  const std::uint64_t begun = now;
  round.use(2);
  CHECK(round.goes_on(begun + 1'000));
  CHECK_FALSE(round.is_over());
  CHECK(round.allowance(1024) == 2);
  CHECK(round.arrival_may_run());
  round.use(2);
  CHECK(round.is_over());
  CHECK(round.goes_on(begun + worker_round::most_if_arrivals_ns / 2 - 1));
  round.use(2);
  CHECK_FALSE(round.goes_on(begun + worker_round::most_if_arrivals_ns / 2));
  // the next one is at most twice as long
  static_cast<void>(round.begin());
  CHECK(round.allowance(1024) == 4);
}

TEST_CASE("a round that goes on has no more messages than a long one") {
  worker_round round(10);
  std::uint64_t now = 1;
  round.measure(now);
  REQUIRE(length_after(round, 10, worker_round::most_ns / 3, now) == 3);
  round.use(3);
  CHECK(round.goes_on(now));
  round.use(3);
  CHECK(round.goes_on(now));
  round.use(3);
  CHECK_FALSE(round.goes_on(now));
}

TEST_CASE("rounds of full length are measured now and then, shorter ones each") {
  worker_round round(256);
  int asked = 0;
  for (int i = 0; i < 100; ++i) asked += round.wants_time() ? 1 : 0;
  CHECK(asked == 25);
  std::uint64_t now = 1;
  static_cast<void>(length_after(round, 10, 1'000'000, now));
  for (int i = 0; i < 100; ++i) CHECK(round.wants_time());
}

TEST_CASE("each round is measured if something has arrived since the last time, or did lately") {
  worker_round round(256);
  CHECK_FALSE(round.wants_time());
  round.arrival_runs();
  round.use(1);
  CHECK(round.wants_time());
  round.measure(2);  // its messages take no time, so its length stays
  static_cast<void>(round.begin());
  REQUIRE(round.allowance(1024) == 256);
  for (int i = 0; i < 10; ++i) CHECK(round.wants_time());
  round.measure(3 + worker_round::lately_ns);
  CHECK_FALSE(round.wants_time());
}

TEST_CASE("time in which a worker sleeps does not count") {
  worker_round round(256);
  round.measure(1);
  static_cast<void>(round.begin());
  round.use(128);
  round.slept(1'000, 1'000'000'000);
  round.use(128);
  round.measure(1'000'001'000);
  static_cast<void>(round.begin());
  CHECK(round.allowance(1024) == 256);
}

TEST_CASE("a worker that does nothing between two sleeps goes on with rounds of the same length") {
  worker_round round(256);
  round.slept(1'000, 2'000);
  round.slept(3'000, 4'000);
  static_cast<void>(round.begin());
  CHECK(round.allowance(1024) == 256);
}

TEST_CASE("rounds of a worker that sleeps often are short, too, where messages take long") {
  worker_round round(256);
  std::uint64_t now = 1;
  for (int i = 0; i < 2; ++i) {
    round.slept(now, now + 5'000'000);
    now += 5'000'000;
    round.use(50);
    now += 50 * 4'000'000;
  }
  round.slept(now, now + 1);
  static_cast<void>(round.begin());
  CHECK(round.allowance(1024) == worker_round::most_ns / 4'000'000);
}

}  // namespace worker_round_test
