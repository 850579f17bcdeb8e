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

void bench::run(arguments& args, result& out) {
  const auto window = std::chrono::milliseconds(args.number("ms", 5000));

  run_system(args, [&](caf::actor_system& system) {
    const caf::actor idle = system.spawn(idler);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // start-up is not idling
    const double cpu_before = cpu_seconds();
    const std::int64_t start = now_ns();
    std::this_thread::sleep_for(window);
    out.seconds = seconds_since(start);
    out.cpu(cpu_seconds() - cpu_before);
    caf::anon_send_exit(idle, caf::exit_reason::user_shutdown);
  });
  out.items = 1;
}
