// The seat on real threads: its takers, and the wake-ups that bring them back.
#include <garrick/base/concurrency/leader_seat.hpp>

#include <doctest/doctest.h>

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace leader_seat_test {

using namespace garrick::base;

namespace {

struct idle_loop final : event_loop {
  bool lead(leader& who) noexcept override {
    who.event_has_come(false);
    return true;
  }
};

/// Atomics whose limited waits end by time only when the test sets `is_over`.
struct told_time : real_atomics {
  static inline std::atomic<bool> is_over{false};
  static inline std::atomic<int> asleep{0};  ///< threads that wait without a limit

  static bool wait_for(atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::uint64_t) noexcept {
    // order: relaxed; the caller looks again
    while (word.load(std::memory_order_relaxed) == expected && !is_over) std::this_thread::yield();
    return !is_over;
  }
  static void wait(atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    ++asleep;
    real_atomics::wait(word, expected);
    --asleep;
  }
};

/// A loop and its seat, and a keeper that waits until it leads again.
struct seated {
  basic_leader_seat<told_time, event_loop> seat;
  idle_loop loop;
  std::atomic<int> turns{0};
  keeper_turn last = keeper_turn::leads;
  std::thread keeper;

  seated() {
    told_time::is_over = false;
    REQUIRE(seat.open(loop));
  }
  void stand_by() {
    keeper = std::thread([this] {
      last = seat.follow();
      ++turns;
    });
  }
  event_loop* sit(std::uint64_t at = 0) {
    event_loop* got = nullptr;
    while (got == nullptr) got = seat.try_lead(at);
    return got;
  }
};

bool is_readable(int descriptor) {
  pollfd p{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, 0) == 1;
}

}  // namespace

TEST_CASE("without a loop no thread leads, and a seat has one loop") {
  leader_seat seat;
  idle_loop loop;
  idle_loop other;
  CHECK(seat.try_lead(1) == nullptr);
  CHECK_FALSE(seat.is_wanted());
  CHECK(seat.open(loop));
  CHECK_FALSE(seat.open(other));
  CHECK_FALSE(seat.is_wanted());
  CHECK(seat.try_lead(1) == nullptr);
  CHECK(seat.is_wanted());
  seat.close();
  CHECK(seat.try_lead(1) == nullptr);
  CHECK(seat.open(other));
  CHECK_FALSE(seat.is_wanted());
}

TEST_CASE("one guest sits at a time, and the keeper comes when none does any more") {
  seated s;
  s.stand_by();
  CHECK(s.sit() == &s.loop);
  CHECK(s.seat.try_lead(2) == nullptr);
  CHECK(s.turns == 0);
  s.seat.leave(3);
  CHECK(s.seat.try_lead(4) != nullptr);
  s.seat.leave(5);
  CHECK(s.turns == 0);
  told_time::is_over = true;  // and no guest comes
  s.keeper.join();
  CHECK(s.last == keeper_turn::leads);
  CHECK(s.seat.stays() == 2);
  CHECK(s.seat.try_lead(6) == nullptr);
}

TEST_CASE("a keeper that sleeps because a guest stays is woken when the guest leaves") {
  seated s;
  s.stand_by();
  s.sit();
  told_time::is_over = true;
  while (told_time::asleep == 0) std::this_thread::yield();
  CHECK(s.turns == 0);
  s.seat.leave(1);
  s.keeper.join();
  CHECK(s.last == keeper_turn::leads);
}

TEST_CASE("guests that are away for long on the average give the seat back") {
  seated s;
  s.stand_by();
  std::uint64_t now = 1000;
  s.sit(now);
  s.seat.leave(now);
  // Absences of 40 µs, which are short enough for ever; then of 200 µs.
  for (int i = 0; i < 100; ++i) {
    now += 40'000;
    s.sit(now);
    s.seat.leave(now);
  }
  REQUIRE(s.turns == 0);
  int more = 0;
  for (; s.seat.try_lead(now += 200'000) != nullptr; ++more) s.seat.leave(now);
  CHECK(more < 5);
  s.keeper.join();
  CHECK(s.last == keeper_turn::leads);
  // The former absences are forgotten.
  s.stand_by();
  s.sit(now += 1'000'000'000);
  s.seat.leave(now);
  s.sit(now += 40'000);
  s.seat.leave(now);
  s.sit(now + 40'000);
  CHECK(s.turns == 1);
  s.seat.over();
  s.keeper.join();
}

TEST_CASE("when a loop is over, the keeper hears of it and no guest leads") {
  seated s;
  s.stand_by();
  s.sit();
  s.seat.over();
  s.keeper.join();
  CHECK(s.last == keeper_turn::ended);
  CHECK(s.seat.try_lead(1) == nullptr);
  CHECK_FALSE(s.seat.open(s.loop));
  s.seat.close();
  CHECK(s.seat.open(s.loop));
}

TEST_CASE("an interruption is seen by a thread that comes later, and many are one") {
  leader_seat seat;
  CHECK_FALSE(is_readable(seat.descriptor()));
  for (int i = 0; i < 1000; ++i) seat.interrupt();
  CHECK(is_readable(seat.descriptor()));
}

TEST_CASE("leaders take turns, and each sees the writes of the one before") {
  seated s;
  constexpr std::uint64_t all = 20'000;
  std::uint64_t value = 0;  // the leader's
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> guests;
  const auto lead = [&] {
    ++value;
    ++done;
  };
  for (int i = 0; i < 2; ++i)
    guests.emplace_back([&] {
      while (done < all)
        if (s.seat.try_lead(0) != nullptr) {
          lead();
          s.seat.leave(0);
        }
    });
  told_time::is_over = true;
  while (done < all) {
    lead();
    CHECK(s.seat.follow() == keeper_turn::leads);
  }
  for (std::thread& g : guests) g.join();
  CHECK(value == done);
}

}  // namespace leader_seat_test
