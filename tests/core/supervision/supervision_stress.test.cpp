// Supervision under fire: children fail, are killed and asked to end from many threads at once, and
// still every request is answered and every child comes back.
#include <doctest/doctest.h>
#include <garrick/base/values/random.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace supervision_stress_test {

namespace {

using namespace garrick;

struct add {
  int n;
};
struct sum {};
struct hold_on {};
struct fail {};
struct tick {};

using child_protocol = protocol<void(add), int(sum), result<int>(hold_on), void(fail), void(tick)>;

class brittle : public actor<child_protocol> {
  std::atomic<int>* alive_;
  std::vector<response_promise<int>> held_;
  int sum_ = 0;

 public:
  explicit brittle(std::atomic<int>* alive) : alive_(alive) { ++*alive_; }
  ~brittle() { --*alive_; }
  void on_start() { send_every(duration::microseconds(300), self(), tick{}); }
  void on(add a) { sum_ += a.n; }
  int on(sum) const { return sum_; }
  result<int> on(hold_on) {
    held_.push_back(make_promise<int>());
    if (held_.size() > 3) held_.clear();
    return response_promise_of_last();
  }
  void on(fail) { throw std::runtime_error("as asked"); }
  void on(tick) { ++sum_; }

 private:
  result<int> response_promise_of_last() {
    if (held_.empty()) return 0;
    return held_.back();
  }
};

void attack(actor_system& system, const std::vector<ref<child_protocol>>& all, std::uint64_t seed,
            std::atomic<int>& answered) {
  base::random_source random(seed);
  for (int i = 0; i < 300; ++i) {
    const auto& r = all[random.below(static_cast<std::uint32_t>(all.size()))];
    switch (random.below(8)) {
      case 0: send(r, fail{}); break;
      case 1: system.kill(r); break;
      case 2: system.exit(r); break;
      case 3:
        static_cast<void>(system.request(r, sum{}).get());
        ++answered;
        break;
      case 4:
        static_cast<void>(system.request(r, hold_on{}, duration::milliseconds(1)).get());
        ++answered;
        break;
      default: send(r, add{1}); break;
    }
  }
}

void battle(restart_strategy strategy, bool keep_mail) {
  std::atomic<int> alive{0}, answered{0};
  settings o;
  o.scheduler.workers = 3;
  o.log.level = system::log_level::off;
  {
    actor_system system(o);
    auto top = system.spawn<supervisor>(supervision{
        .strategy = strategy,
        .max_restarts = 1'000'000,
        .delay = {.first = duration::microseconds(20), .longest = duration::microseconds(200)},
        .keep_mail = keep_mail});
    std::vector<ref<child_protocol>> all;
    for (int i = 0; i < 6; ++i) all.push_back(supervise<brittle>(top, lent(&alive)));
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 3; ++t)
      threads.emplace_back([&, t] { attack(system, all, 17 + t, answered); });
    for (auto& t : threads) t.join();
    // Every child is there again and answers.
    for (const auto& r : all)
      while (!system.request(r, sum{}).get().has_value()) {}
    const auto infos = system.request(top, list_children{}).get().value();
    CHECK(infos.size() == 6);
    CHECK(system.shutdown(duration::seconds(60)).complete);
  }
  CHECK(alive == 0);
  CHECK(answered > 0);
}

}  // namespace

TEST_CASE("one_for_one under fire") { battle(one_for_one, true); }
TEST_CASE("one_for_all under fire, keeping mail") { battle(one_for_all, true); }
TEST_CASE("one_for_all under fire, dropping mail") { battle(one_for_all, false); }
TEST_CASE("rest_for_one under fire") { battle(rest_for_one, true); }

TEST_CASE("supervisors that end while their children fail") {
  std::atomic<int> alive{0};
  settings o;
  o.scheduler.workers = 3;
  o.log.level = system::log_level::off;
  {
    actor_system system(o);
    for (int round = 0; round < 100; ++round) {
      auto top = system.spawn<supervisor>(
          supervision{.strategy = round % 2 == 0 ? one_for_all : one_for_one, .max_restarts = 3});
      std::vector<ref<child_protocol>> all;
      for (int i = 0; i < 3; ++i) all.push_back(supervise<brittle>(top, lent(&alive)));
      for (const auto& r : all) send(r, fail{});
      if (round % 3 == 0) system.exit(top);
      if (round % 3 == 1) system.kill(top);
    }
    CHECK(system.shutdown(duration::seconds(60)).complete);
  }
  CHECK(alive == 0);
}

TEST_CASE("children that are started by many threads while their supervisor is told to end") {
  std::atomic<int> alive{0};
  settings o;
  o.scheduler.workers = 2;
  o.log.level = system::log_level::off;
  {
    actor_system system(o);
    auto top = system.spawn<supervisor>();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) static_cast<void>(supervise<brittle>(top, lent(&alive)));
      });
    }
    system.exit(top);
    for (auto& t : threads) t.join();
    CHECK(system.shutdown(duration::seconds(60)).complete);
  }
  CHECK(alive == 0);
}

}  // namespace supervision_stress_test
