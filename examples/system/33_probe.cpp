// A probe that receives the events of a system, for your own metrics.
#include <garrick/base/concurrency/probe.hpp>
#include <garrick/garrick.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

struct job {
  int n;
};

class worker_actor : public garrick::actor<garrick::protocol<void(job)>> {
 public:
  void on(job j) {
    if (j.n == 13) throw std::runtime_error("bad luck");
  }
};

// [probe]
/// Override the functions of the events that you need. They are called on any thread, several at
/// once.
class counting_probe : public garrick::base::probe {
 public:
  void on_actor_spawned(const garrick::base::spawned_actor&) noexcept override { ++spawned; }
  void on_actor_failed(std::uint64_t, const garrick::base::message_type*,
                       const garrick::exit_reason&) noexcept override {
    ++failed;
  }

  std::atomic<int> spawned{0};
  std::atomic<int> failed{0};
};
// [/probe]

int main() {
  // [settings]
  counting_probe counts;  // must outlive the system
  garrick::settings with_probe;
  with_probe.probe = &counts;
  garrick::actor_system system(with_probe);
  // [/settings]
  for (int n = 11; n <= 14; ++n) send(system.spawn<worker_actor>(), job{n});
  static_cast<void>(system.await_all());
  std::printf("spawned: %d, failed: %d\n", counts.spawned.load(), counts.failed.load());
}
