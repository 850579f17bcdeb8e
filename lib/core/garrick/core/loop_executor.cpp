// A job: an actor's turn on a foreign loop.
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/core/loop_executor.hpp>

namespace garrick::core {

void loop_job::operator()() const noexcept { loop_->run(*actor_); }

void loop_executor::run(base::runnable& actor) noexcept {
  auto& thread = base::this_thread;
  base::executor* const before = std::exchange(thread.worker_of, this);
  ++thread.no_wait;
  std::uint32_t budget = messages_;
  const base::run_outcome outcome = actor.run(budget);
  --thread.no_wait;
  thread.worker_of = before;
  // An actor that was released may have been the last one, and this executor gone with its system.
  if (outcome == base::run_outcome::more) schedule(actor);
}

}  // namespace garrick::core
