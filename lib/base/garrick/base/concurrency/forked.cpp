// Counts forks, and makes the thread that forked forget that it was a worker.
#include "garrick/base/concurrency/forked.hpp"

#include <pthread.h>

#include "garrick/base/concurrency/thread_state.hpp"
#include "garrick/base/platform/ending.hpp"

namespace garrick::base {

namespace {

/// Called in the child, on its only thread. If that thread was a worker, its loop must see that the
/// thread is no worker any more: otherwise the child would run the parent's actors, too.
void count_fork() noexcept {
  detail::forks.fetch_add(1, std::memory_order_relaxed);  // order: there is one thread
  this_thread.worker_of = nullptr;
}

}  // namespace

std::uint32_t watch_forks() noexcept {
  [[maybe_unused]] static const int handled = ::pthread_atfork(nullptr, nullptr, count_fork);
  return fork_count();
}

void refuse_in_child(const char* what) noexcept {
  end_process(fatal_cause::forked_child,
              {"in a forked child: ", what,
               ", but the threads of the actor system are in the parent; a child may allocate, "
               "call exec, and end"});
}

}  // namespace garrick::base
