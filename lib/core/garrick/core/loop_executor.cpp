// A job: an actor's turn on a foreign loop.
#include <garrick/base/concurrency/forked.hpp>
#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/loop_executor.hpp>

namespace garrick::core {

void loop_job::operator()() const noexcept { loop_->run(*actor_); }

namespace {

/// Returns true if the actor belongs to the process of which this one is a fork; its loop runs
/// there. Every runnable of a loop is an actor.
bool is_of_parent(const base::runnable& actor) noexcept {
  return static_cast<const cell&>(actor).env().is_copy();
}

}  // namespace

void loop_executor::schedule(base::runnable& actor) noexcept {
  if (is_of_parent(actor)) base::refuse_in_child("a message was sent");
  post_->call(loop_job(*this, actor));
}

void loop_executor::run(base::runnable& actor) noexcept {
  if (is_of_parent(actor)) base::refuse_in_child("a loop ran an actor");
  auto& thread = base::this_thread;
  base::executor* const before = std::exchange(thread.worker_of, this);
  ++thread.no_wait;
  std::uint32_t budget = messages_;
  const base::run_outcome outcome = actor.run(budget);
  --thread.no_wait;
  thread.worker_of = before;
  // A released actor may have been the last of its system; then this executor may be gone.
  if (outcome == base::run_outcome::more) schedule(actor);
}

}  // namespace garrick::core
