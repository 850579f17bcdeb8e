// Loops: how many tuples are in one, and when it is over.
#include <doctest/doctest.h>
#include <garrick/patterns/patterns.hpp>
#include <garrick/testkit/test_system.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace feedback_test {

namespace {

using namespace garrick;
using namespace garrick::patterns;
using testkit::test_system;

struct due {
  int x = 0;
};
/// Hands each number on after a while, and says at its end how many it has had at once.
class waiting_room : public stage_actor<int, int, void(due)> {
 public:
  explicit waiting_room(ref<protocol<void(int)>> told) : told_(std::move(told)) {}
  void consume(int x) {
    holds_.push_back(hold());
    most_ = std::max(most_, holds_.size());
    send_after(duration::milliseconds(1), self(), due{x});
  }
  void on(due d) {
    send_next(d.x - 1);
    holds_.pop_back();
  }
  void on_stop() { send(told_, static_cast<int>(most_)); }

 private:
  ref<protocol<void(int)>> told_;
  std::vector<stage_hold> holds_;
  std::size_t most_ = 0;
};
struct get_number {};
class last_number : public actor<protocol<void(int), int(get_number)>> {
 public:
  void on(int n) { n_ = n; }
  int on(get_number) const { return n_; }

 private:
  int n_ = -1;
};

/// Puts out a zero, and the rest of the number.
void count_down(int x, emit<int> out) {
  out(0);
  out(x - 1);
}
/// Takes a while for one tuple in the middle.
class hesitating {
 public:
  int consume(int x) {
    if (++seen_ == 150) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
      while (std::chrono::steady_clock::now() < until) {}
    }
    return x;
  }

 private:
  int seen_ = 0;
};

}  // namespace

TEST_CASE("a loop takes in as many tuples as a channel has room for, and no more") {
  for (const std::size_t capacity : {1U, 4U, 16U}) {
    CAPTURE(capacity);
    test_system kit(1);
    const auto told = kit.spawn<last_number>();
    const auto h = spawn(kit,
                         pipeline(from(std::vector<int>(100, 3)),
                                  feedback(seq_actor<waiting_room>(ref<protocol<void(int)>>(told)),
                                           [](const int& x) { return x > 0; }),
                                  fold(0, [](int n, int) { return n + 1; })),
                         {.capacity = capacity});
    kit.run_for(duration::seconds(10));
    CHECK(kit.request(h, join{}).get().value() == 100);
    CHECK(kit.request(told, get_number{}).get().value() == static_cast<int>(capacity));
  }
}

TEST_CASE("a loop is not over while a stage hands on results that go back") {
  // One tuple is on its way. In each round a result goes on to the next stage, which is run in
  // place before the result for the way back is in its channel. When that takes a while, another
  // worker has time to run the gate.
  const auto p =
      pipeline(from(std::vector{300}), feedback(count_down, [](const int& x) { return x > 0; }),
               seq<hesitating>(), fold(0, [](int bad, int x) { return bad + (x != 0); }));
  settings s;
  s.scheduler.workers = 2;
  actor_system system(s);
  for (int round = 0; round < 30; ++round) {
    CAPTURE(round);
    const auto h = spawn(system, p);
    REQUIRE(system.request(h, join{}).get().value() == 0);
    REQUIRE(system.request(h, get_report{}).get().value().stages.back().figures.in == 301);
  }
}

}  // namespace feedback_test
