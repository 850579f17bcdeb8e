// Your own scheduling policy, complete: workers take waiting runnables in a random order.
//
// Such an order finds programs that rely on a certain order of turns. A policy is a class with the
// functions that the concept `sched::scheduling_policy` requires; the worker pool provides threads,
// start, stop and statistics.
#include <garrick/garrick.hpp>
#include <garrick/sched/worker_pool.hpp>

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

// [policy]
class lucky_dip {
  using runnable = garrick::base::runnable;

 public:
  static constexpr std::string_view name = "lucky_dip";
  struct worker_data {};

  explicit lucky_dip(const garrick::sched::policy_options& o)
      : quantum_(o.quantum), random_(o.seed), workers_(o.workers) {}
  worker_data& worker(std::uint32_t index) noexcept { return workers_[index]; }

  // A runnable from anywhere goes into the bag.
  void central_enqueue(runnable& r) noexcept {
    {
      const std::lock_guard lock(mutex_);
      bag_.push_back(&r);
    }
    some_work_.notify_one();
  }
  void external_enqueue(worker_data&, runnable& r) noexcept { central_enqueue(r); }
  void internal_enqueue(worker_data&, runnable& r) noexcept { central_enqueue(r); }
  void resume_later(worker_data&, runnable& r) noexcept { central_enqueue(r); }

  // Waits for a runnable; returns null when the pool stops.
  runnable* dequeue(worker_data&) noexcept {
    std::unique_lock lock(mutex_);
    some_work_.wait(lock, [this] { return stopping_ || !bag_.empty(); });
    return stopping_ ? nullptr : draw();
  }
  runnable* drain_one() noexcept {
    const std::lock_guard lock(mutex_);
    return bag_.empty() ? nullptr : draw();
  }
  void request_stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    some_work_.notify_all();
  }

  // Called around each run. `before_resume` returns how many messages the run may handle.
  std::uint32_t before_resume(worker_data&, runnable&) noexcept {
    const std::lock_guard lock(mutex_);
    ++runs_;
    return quantum_;
  }
  void after_resume(worker_data&, std::uint32_t) noexcept {}
  void after_completion(worker_data&) noexcept {}

  // No next slot to claim from, nothing hidden to expose, no helper thread.
  bool claim(worker_data&, runnable&) noexcept { return false; }
  void expose(worker_data&) noexcept {}
  bool wants_helper() const noexcept { return false; }
  void helper() noexcept {}

  garrick::sched::scheduler_stats statistics() const noexcept {
    const std::lock_guard lock(mutex_);
    return {.runs = runs_};
  }
  std::string describe() const {
    const std::lock_guard lock(mutex_);
    return std::to_string(bag_.size()) + " in the bag";
  }

 private:
  runnable* draw() noexcept {
    std::swap(bag_[random_() % bag_.size()], bag_.back());
    runnable* const r = bag_.back();
    bag_.pop_back();
    return r;
  }

  // constant
  const std::uint32_t quantum_;
  // under mutex_
  mutable std::mutex mutex_;
  std::condition_variable some_work_;
  garrick::sched::xorshift random_;
  std::vector<runnable*> bag_;
  std::uint64_t runs_ = 0;
  bool stopping_ = false;
  // each worker's own
  std::vector<worker_data> workers_;
};
static_assert(garrick::sched::scheduling_policy<lucky_dip>);
// [/policy]

// [use]
std::unique_ptr<garrick::sched::scheduler> make_lucky_dip(
    const garrick::sched::scheduler_settings& o) {
  return std::make_unique<garrick::sched::worker_pool<lucky_dip>>(o);
}

garrick::settings with_lucky_dip() {
  garrick::settings o;
  o.scheduler.workers = 2;
  o.make_scheduler = &make_lucky_dip;
  return o;
}
// [/use]

struct add {
  int value;
};
struct total {};
using adder = garrick::protocol<void(add), int(total)>;

class adder_actor : public garrick::actor<adder> {
 public:
  void on(add a) { sum_ += a.value; }
  int on(total) const { return sum_; }

 private:
  int sum_ = 0;
};

int main() {
  garrick::actor_system system(with_lucky_dip());
  const auto sum = system.spawn<adder_actor>();
  for (int i = 1; i <= 100; ++i)
    system.spawn([](garrick::dynamic_actor& self, garrick::ref<adder> to,
                    int number) { self.send(to, add{number}); },
                 sum, i);
  // Every adding actor ends by itself, in any order; the sum lives as long as its handle.
  while (system.actor_count() > 1) std::this_thread::yield();
  std::printf("1 + 2 + ... + 100 = %d\n", system.request(sum, total{}).get().value());
}
