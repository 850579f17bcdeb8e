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

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const auto window = std::chrono::milliseconds(args.number("ms", 5000));
  const garrick::options options = bench::garrick_options(args);
  args.reject_unknown();

  bench::result result;
  {
    garrick::actor_system system(options);
    const auto idle = system.spawn<idler>();
    send(idle, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // start-up is not idling
    const double cpu_before = bench::cpu_seconds();
    const std::int64_t start = bench::now_ns();
    std::this_thread::sleep_for(window);
    result.seconds = bench::seconds_since(start);
    result.cpu(bench::cpu_seconds() - cpu_before);
  }
  result.items = 1;
  return result.print();
}
