// The hand-over of the baton, and the waits of blocking and scoped actors.
#include <garrick/core/seam/running.hpp>
#include <garrick/testkit/internal/baton.hpp>

namespace garrick::testkit::internal {

namespace {

/// Lets this thread take actor ids from the world's numbers, as every thread that spawns does.
void take_ids(const deterministic_scheduler& scheduler) noexcept {
  core::detail::here.next_id = scheduler.next_id;
  core::detail::here.last_id = ~std::uint64_t{0};
}
void leave_ids(deterministic_scheduler& scheduler) noexcept {
  scheduler.next_id = core::detail::here.next_id;
}

}  // namespace

baton_thread::baton_thread(deterministic_scheduler& scheduler)
    : scheduler_(scheduler), thread_([this] { loop(); }) {}

baton_thread::~baton_thread() {
  quit_ = true;
  mine_.unpark();
  thread_.join();
}

void baton_thread::become_runnable() noexcept {
  if (queued) return;
  queued = true;
  scheduler_.add({nullptr, this});
}

void baton_thread::schedule(base::runnable& r) noexcept {
  next_ = &r;
  become_runnable();
}

void baton_thread::go() noexcept {
  leave_ids(scheduler_);
  mine_.unpark();
  back_.park();
  take_ids(scheduler_);
}

void baton_thread::give_baton_back() noexcept {
  leave_ids(scheduler_);
  back_.unpark();
  mine_.park();
  take_ids(scheduler_);
}

bool baton_thread::wait(std::int64_t limit_ns) noexcept {
  base::timer_id timer;
  timed_out_ = false;
  if (limit_ns >= 0) {
    timer = scheduler_.time().arm(scheduler_.time().now() + base::duration::nanoseconds(limit_ns),
                                  {.fire =
                                       [](void* self, std::uint64_t) {
                                         auto& t = *static_cast<baton_thread*>(self);
                                         t.timed_out_ = true;
                                         t.become_runnable();
                                       },
                                   .context = this});
  }
  while (next_ == nullptr && !timed_out_) give_baton_back();
  if (limit_ns >= 0 && !timed_out_) scheduler_.time().cancel(timer);
  return std::exchange(next_, nullptr) != nullptr;
}

void baton_thread::loop() noexcept {
  mine_.park();
  take_ids(scheduler_);
  while (!quit_) {
    if (next_ != nullptr) current_ = std::exchange(next_, nullptr);
    std::uint32_t budget = 1;
    more_ = current_ != nullptr && current_->run(budget) == base::run_outcome::more;
    if (more_)
      become_runnable();
    else
      current_ = nullptr;
    give_baton_back();
  }
}

bool driving_wait::wait(std::int64_t limit_ns) noexcept {
  const base::instant deadline =
      limit_ns < 0 ? base::instant::never()
                   : scheduler_.time().now() + base::duration::nanoseconds(limit_ns);
  for (std::uint64_t turns = 0; !scheduled_; ++turns) {
    const drive_outcome outcome =
        turns < turn_limit_ ? scheduler_.drive(deadline) : drive_outcome::stuck;
    if (scheduled_) break;
    if (outcome == drive_outcome::time_over) return false;
    if (outcome == drive_outcome::stuck) give_up();
  }
  scheduled_ = false;
  return true;
}

/// Fails the requests of this scoped actor, because no answer will ever arrive. If the actor waits
/// for a message instead, ends the actor.
void driving_wait::give_up() noexcept {
  const base::error why = base::make_error(
      base::errc::would_block, "deterministic system",
      "the wait would never end: no actor runs, no timer is armed, or the turn limit is reached" +
          scheduler_.past().to_string());
  if (core::cell_extension* const ext = self_.ext_if();
      ext != nullptr && ext->pending.active() != 0) {
    ext->pending.for_each([&](std::uint64_t id, core::response_table::slot&) {
      core::envelope* const answer = core::detail::make_envelope<base::error>(why);
      answer->word |= id;
      answer->set(core::envelope_flag::response);
      answer->set(core::envelope_flag::failure);
      self_.deliver_answer(answer);
    });
    if (scheduled_) return;
  }
  if (self_.reader().claim_idle(self_.gate())) {
    self_.quit(base::exit_reason(why));
    scheduled_ = true;
  }
}

}  // namespace garrick::testkit::internal
