// Workers that wait for a loop's events: an actor woken by an event runs, whatever else happens at
// the same time; nothing waits while an event is handled; and the pool can stop meanwhile.
#include <garrick/sched/parking/leading.hpp>

#include <garrick/sched/internal/test_jobs.hpp>

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace leading_test {

using namespace garrick;
using namespace garrick::sched;
using namespace garrick::sched::test;

namespace {

/// A loop with functions as events, and its keeper.
class told_loop final : public base::event_loop {
 public:
  explicit told_loop(std::shared_ptr<base::leader_seat> seat)
      : seat_(std::move(seat)), interruptions_(seat_->descriptor()) {
    REQUIRE(seat_->open(*this));
    keeper_ = std::thread([this] { keep(); });
  }
  ~told_loop() {
    end();
    ::close(events_);
  }

  /// Adds an event: the leader calls `f`. Any thread.
  void tell(std::function<void()> f) {
    {
      const std::lock_guard lock(mutex_);
      told_.push_back(std::move(f));
    }
    signal();
  }
  /// Ends the loop after the earlier events have been handled.
  void end() {
    if (!keeper_.joinable()) return;
    ended_ = true;
    signal();
    keeper_.join();
  }
  /// Returns the number of events that were not handled by the keeper.
  [[nodiscard]] int by_guests() const { return by_guests_; }

  bool lead(leader& who) noexcept override {
    std::function<void()> f = next();
    if (!f) return !ended_;
    who.event_has_come(true);
    f();
    return true;
  }

 private:
  struct itself final : leader {
    void event_has_come(bool) noexcept override {}
  };
  void signal() const {
    const std::uint64_t one = 1;
    REQUIRE(::write(events_, &one, sizeof one) == sizeof one);
  }
  static void read(int from) {
    std::uint64_t count = 0;
    static_cast<void>(!::read(from, &count, sizeof count));
  }
  std::function<void()> take() {
    const std::lock_guard lock(mutex_);
    if (told_.empty()) return {};
    std::function<void()> f = std::move(told_.front());
    told_.pop_front();
    if (std::this_thread::get_id() != keeper_.get_id()) ++by_guests_;
    return f;
  }
  /// Returns an empty function if the loop was interrupted, or has ended.
  std::function<void()> next() {
    for (;;) {
      if (std::function<void()> f = take()) return f;
      if (ended_) return {};
      pollfd both[] = {{events_, POLLIN, 0}, {interruptions_, POLLIN, 0}};
      ::poll(both, 2, -1);
      if (both[0].revents != 0) read(events_);
      if (both[1].revents == 0) continue;
      read(interruptions_);
      return {};
    }
  }
  void keep() {
    itself me;
    while (lead(me))
      if (seat_->is_wanted() && seat_->follow() == base::keeper_turn::ended) break;
    seat_->close();
  }

  const std::shared_ptr<base::leader_seat> seat_;
  const int interruptions_;
  const int events_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::mutex mutex_;
  std::deque<std::function<void()>> told_;
  std::atomic<bool> ended_{false};
  std::atomic<int> by_guests_{0};
  std::thread keeper_;
};

/// Waits until a guest has handled an event. A worker looks at the seat only when it falls asleep,
/// so each event gives a worker an actor to run.
void let_guests_lead(told_loop& loop, scheduler& pool) {
  for (const int before = loop.by_guests(); loop.by_guests() == before;) {
    latch ran;
    job work([&] { ran.open(); });
    loop.tell([&] { pool.schedule(work); });
    ran.wait();
  }
}

}  // namespace

TEST_CASE("runnables that an event wakes all run, while the first one stays busy") {
  for (const char* policy : {"work_stealing", "locality_guided"}) {
    const auto pool = started({.policy = policy, .workers = 3, .best_effort = true});
    told_loop loop(pool->seat());
    for (int round = 0; round != 50; ++round) {
      let_guests_lead(loop, *pool);
      std::atomic<int> met{0};
      std::atomic<int> gone{0};
      latch all;
      const auto meet = [&] {
        if (++met == 3) all.open();
        all.wait();
        ++gone;
      };
      job first(meet);
      job second(meet);
      job third(meet);
      loop.tell([&] {
        pool->schedule(first);
        pool->schedule(second);
        pool->schedule(third);
      });
      while (gone != 3) std::this_thread::yield();
    }
    pool->stop();
  }
}

TEST_CASE(
    "nothing waits while a worker handles an event, and a runnable that it runs then may wait") {
  const auto pool = started({.workers = 2});
  told_loop loop(pool->seat());
  bool seen = false;
  while (!seen) {
    latch ran;
    base::executor* on = nullptr;
    std::uint32_t held = 0;
    std::uint32_t held_in_run = 1;
    job work([&] {
      held_in_run = base::this_thread.no_wait;
      ran.open();
    });
    loop.tell([&] {
      on = base::this_thread.worker_of;
      held = base::this_thread.no_wait;
      pool->schedule(work);
    });
    ran.wait();
    CHECK(held_in_run == 0);
    seen = on == pool.get();
    CHECK(held == (seen ? 1 : 0));
  }
  pool->stop();
}

TEST_CASE("events, work from outside and work from workers at the same time: nothing is left") {
  constexpr int events = 200;
  for (const std::uint32_t workers : {1U, 2U, 3U}) {
    const auto pool = started({.workers = workers});
    watchdog guard(*pool);
    told_loop loop(pool->seat());
    for (std::uint32_t round = 0; round != rounds(20); ++round) {
      std::atomic<int> left{3 * events};
      latch done;
      const auto count = [&] {
        if (--left == 0) done.open();
      };
      std::deque<job<decltype(count)>> inner;
      for (int i = 0; i != events; ++i) inner.emplace_back(count);
      const auto run = [&](base::runnable& next) {
        pool->schedule(next);
        count();
      };
      struct nested {
        decltype(run)& call;
        base::runnable& next;
        void operator()() const { call(next); }
      };
      std::deque<job<nested>> outer;
      for (int i = 0; i != events; ++i) outer.emplace_back(nested{run, inner[std::size_t(i)]});
      std::deque<job<decltype(count)>> from_events;
      for (int i = 0; i != events; ++i) from_events.emplace_back(count);
      std::thread other([&] {
        for (auto& j : from_events) loop.tell([&] { pool->schedule(j); });
      });
      for (auto& j : outer) pool->schedule(j);
      done.wait();
      other.join();
      guard.progress();
    }
    pool->stop();
  }
}

TEST_CASE("a pool stops while a worker waits for events, and loops come and go") {
  for (int round = 0; round != 100; ++round) {
    const auto pool = started({.workers = 2});
    for (int n = 0; n != 3; ++n) {
      told_loop loop(pool->seat());
      latch handled;
      loop.tell([&] { handled.open(); });
      handled.wait();
      if (n == 2) pool->stop();
    }
  }
}

TEST_CASE("policies with workers that do not wait for events have no seat") {
  for (const std::string& policy : available_policies()) {
    const auto pool = make_scheduler({.policy = policy, .workers = 1});
    CHECK((pool->seat() != nullptr) == (policy == "work_stealing" || policy == "locality_guided"));
  }
}

}  // namespace leading_test
