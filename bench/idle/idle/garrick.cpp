// Processor time of a system that has an actor but nothing to do.
#include <chrono>
#include <thread>

#include "common/garrick_system.hpp"

namespace {

class idler : public garrick::actor<garrick::protocol<void(int)>> {
 public:
  void on(int) {}
};

}  // namespace

void bench::run(arguments& args, result& out) {
  const auto window = std::chrono::milliseconds(args.number("ms", 5000));

  run_system(args, [&](garrick::actor_system& system) {
    const auto idle = system.spawn<idler>();
    send(idle, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // start-up is not idling
    const double cpu_before = cpu_seconds();
    const std::int64_t start = now_ns();
    std::this_thread::sleep_for(window);
    out.seconds = seconds_since(start);
    out.cpu(cpu_seconds() - cpu_before);
  });
  out.items = 1;
}
