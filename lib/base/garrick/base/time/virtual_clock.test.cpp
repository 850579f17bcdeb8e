// Virtual time: it advances only when a caller moves it, and timers fire within that move.
#include "garrick/base/time/virtual_clock.hpp"

#include <memory>
#include <vector>

#include <doctest/doctest.h>

namespace virtual_clock_test {

using garrick::base::duration;
using garrick::base::instant;
using garrick::base::timer_id;
using garrick::base::timer_task;
using garrick::base::virtual_clock;

namespace {

/// Writes down the fired timers, and the times.
class recorder {
 public:
  explicit recorder(const virtual_clock& clock) : clock_(clock) {}

  [[nodiscard]] timer_task task(std::uint64_t argument) {
    return {.fire =
                [](void* self, std::uint64_t a) {
                  auto& r = *static_cast<recorder*>(self);
                  r.order.push_back(a);
                  r.times.push_back(r.clock_.now());
                },
            .context = this,
            .argument = argument,
            .drop = [](void* self, std::uint64_t) { ++static_cast<recorder*>(self)->dropped; }};
  }

  std::vector<std::uint64_t> order;
  std::vector<instant> times;
  int dropped = 0;

 private:
  const virtual_clock& clock_;
};

using list = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("virtual time moves only when it is moved") {
  virtual_clock service;
  recorder record(service);
  const instant start = service.now();
  service.arm(start + duration::seconds(2), record.task(2));
  service.arm(start + duration::seconds(1), record.task(1));
  service.arm(start + duration::seconds(1), record.task(11));
  CHECK(service.next_deadline() == start + duration::seconds(1));
  CHECK(service.advance(duration::milliseconds(999)) == 0);
  CHECK(service.advance(duration::milliseconds(1)) == 2);
  CHECK(record.order == list{1, 11});
  CHECK(service.fire_next());
  CHECK(service.now() == start + duration::seconds(2));
  CHECK_FALSE(service.fire_next());
  CHECK(service.next_deadline().is_never());
  CHECK(record.times == std::vector<instant>{start + duration::seconds(1),
                                             start + duration::seconds(1),
                                             start + duration::seconds(2)});
}

TEST_CASE("a periodic virtual timer fires at each period within one move") {
  struct period {
    virtual_clock service;
    int fired = 0;
    static void tick(void* self, std::uint64_t left) {
      auto* p = static_cast<period*>(self);
      ++p->fired;
      if (left > 0)
        p->service.arm(p->service.now() + duration::milliseconds(10),
                       {.fire = tick, .context = p, .argument = left - 1});
    }
  } p;
  const instant start = p.service.now();
  p.service.arm(start + duration::milliseconds(10),
                {.fire = period::tick, .context = &p, .argument = 99});
  CHECK(p.service.advance(duration::milliseconds(505)) == 50);
  CHECK(p.fired == 50);
  CHECK(p.service.now() == start + duration::milliseconds(505));
  CHECK(p.service.advance_to(start) == 0);
  CHECK(p.service.advance(duration::seconds(10)) == 50);
  CHECK(p.service.pending() == 0);
}

TEST_CASE("a cancelled virtual timer does not fire") {
  virtual_clock service;
  recorder record(service);
  const timer_id cancelled = service.arm(service.now() + duration::seconds(1), record.task(1));
  service.arm(service.now() + duration::seconds(2), record.task(2));
  CHECK(service.cancel(cancelled));
  CHECK_FALSE(service.cancel(cancelled));
  CHECK(service.advance(duration::milliseconds(1500)) == 0);
  CHECK(service.pending() == 1);
  service.advance(duration::seconds(1));
  CHECK(record.order == list{2});
  CHECK(record.dropped == 0);
}

TEST_CASE("a virtual timer with a deadline in the past fires with the next move") {
  virtual_clock service;
  recorder record(service);
  service.arm(service.now() - duration::milliseconds(1), record.task(1));
  CHECK(record.order.empty());
  CHECK(service.advance(duration()) == 1);
  CHECK(record.order == list{1});
}

TEST_CASE("the end of a virtual clock drops armed timers") {
  auto service = std::make_unique<virtual_clock>();
  recorder record(*service);
  service->arm(service->now() + duration::seconds(1), record.task(1));
  service->arm(service->now() + duration::seconds(2), record.task(2));
  service.reset();
  CHECK(record.dropped == 2);
  CHECK(record.order.empty());
}

}  // namespace virtual_clock_test
