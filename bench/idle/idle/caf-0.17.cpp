// Processor time of a system that has an actor but nothing to do.
#include <thread>

#include "common/caf_system.hpp"

namespace {

caf::behavior idler(caf::event_based_actor*) {
  return {
      [](int) {},
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const auto window = std::chrono::milliseconds(args.number("ms", 5000));
  bench::caf_config config(args);
  args.reject_unknown();

  bench::result result;
  {
    caf::actor_system system(config);
    const caf::actor idle = system.spawn(idler);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // start-up is not idling
    const double cpu_before = bench::cpu_seconds();
    const std::int64_t start = bench::now_ns();
    std::this_thread::sleep_for(window);
    result.seconds = bench::seconds_since(start);
    result.cpu(bench::cpu_seconds() - cpu_before);
    caf::anon_send_exit(idle, caf::exit_reason::user_shutdown);
  }
  result.items = 1;
  return result.print();
}
