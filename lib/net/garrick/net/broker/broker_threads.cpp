#include "garrick/net/broker/broker_threads.hpp"

#include "garrick/base/platform/assert.hpp"

namespace garrick::net {

broker_threads::broker_threads(io_settings s) : io_(s) {
  for (std::size_t i = 0; i < io_.size(); ++i)
    executors_.push_back(std::make_unique<core::loop_executor>([this, i](core::loop_job job) {
      // A thread that waits for the actor, as the system's end does, would wait for ever.
      const bool will_run = io_.post(i, job);
      GARRICK_ASSERT(
          will_run,
          "an actor has something to do on I/O threads that were stopped: broker_threads "
          "outlive the actor system, and their io() is not stopped before");
    }));
}

broker_threads::~broker_threads() { io_.finish(); }

std::size_t broker_threads::least_loaded() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < io_.size(); ++i)
    if (io_.load(i) < io_.load(best)) best = i;
  return best;
}

}  // namespace garrick::net
