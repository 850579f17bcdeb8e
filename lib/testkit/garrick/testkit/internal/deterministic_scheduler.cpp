// The turns: the choice of the next candidate, and an actor's work in a turn.
#include <garrick/core/message.hpp>
#include <garrick/core/ref.hpp>
#include <garrick/core/seam/running.hpp>
#include <garrick/testkit/internal/deterministic_scheduler.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace garrick::testkit::internal {

namespace {

core::cell& cell_of(base::runnable& r) noexcept { return static_cast<core::cell&>(r); }

const core::envelope* peek_next(core::cell& who) noexcept {
  return core::running_cell::of(who).peek_next();
}

/// While this object lives, its thread is a worker of the system.
class worker_scope {
 public:
  explicit worker_scope(base::executor* as) noexcept
      : before_(std::exchange(base::this_thread.worker_of, as)) {}
  ~worker_scope() { base::this_thread.worker_of = before_; }
  worker_scope(const worker_scope&) = delete;
  worker_scope& operator=(const worker_scope&) = delete;

 private:
  base::executor* before_;
};

}  // namespace

std::uint64_t sender_of(const core::envelope* message) noexcept {
  if (!message->is(core::envelope_flag::request)) return message->sender_id;
  return message->requester != nullptr ? message->requester->id() : 0;
}

void deterministic_workers::schedule(base::runnable& actor) noexcept {
  if (scheduler_ != nullptr) scheduler_->add({&actor, nullptr});
}

bool deterministic_workers::claim(base::runnable& actor) noexcept {
  return scheduler_ != nullptr && base::this_thread.worker_of == this && scheduler_->claim(actor);
}

void deterministic_workers::stop() noexcept {
  if (scheduler_ == nullptr) return;
  std::exchange(scheduler_, nullptr)->forget([this](const candidate& c) {
    return c.thread == nullptr && &cell_of(*c.event_actor).home_executor() == this;
  });
}

bool deterministic_scheduler::claim(const base::runnable& actor) noexcept {
  return std::erase_if(runnable_, [&](const candidate& c) { return c.event_actor == &actor; }) != 0;
}

const candidate* deterministic_scheduler::find(const core::cell& who) const noexcept {
  const auto at = std::find_if(runnable_.begin(), runnable_.end(),
                               [&](const candidate& c) { return c.actor() == &who; });
  return at != runnable_.end() ? &*at : nullptr;
}

std::uint32_t deterministic_scheduler::random_quantum() noexcept {
  // Mostly single messages, so that orders mix; now and then a long run, so that one actor gets far
  // ahead of the others.
  constexpr std::array<std::uint32_t, 8> quanta{1, 1, 1, 1, 2, 3, 8, 1000};
  return quanta[random_.below(quanta.size())];
}

bool deterministic_scheduler::turn(std::uint32_t messages) {
  const std::size_t place = random_.below(static_cast<std::uint32_t>(runnable_.size()));
  const candidate chosen = runnable_[place];
  runnable_[place] = runnable_.back();
  runnable_.pop_back();
  return run_candidate(chosen, messages);
}

bool deterministic_scheduler::turn_of(core::cell& who) {
  const core::address keep = core::handle_access::make_address(&who);
  const bool handled = run_only(who);
  // If the message ends the actor, the end itself is the actor's next turn, which must run before
  // any other turn.
  if (!who.has_ended() && who.phase() == core::life::ending && find(who) != nullptr) run_only(who);
  return handled;
}

bool deterministic_scheduler::run_only(const core::cell& who) {
  const auto at = std::find_if(runnable_.begin(), runnable_.end(),
                               [&](const candidate& c) { return c.actor() == &who; });
  const candidate chosen = *at;
  runnable_.erase(at);
  return run_candidate(chosen, 1);
}

const core::envelope* deterministic_scheduler::next_of(const core::cell& who) const noexcept {
  const candidate* const found = find(who);
  return found != nullptr ? peek_next(cell_of(*found->actor())) : nullptr;
}

std::vector<const core::envelope*> deterministic_scheduler::waiting_for(core::cell& who) const {
  if (who.has_ended()) return {};
  // No other actor runs now, so the mail may be read whether the cell is queued or idle. The mail
  // of an actor that is suspended or skips messages waits in an idle cell.
  std::vector<const core::envelope*> all;
  for (const core::waiting_message& m :
       core::running_cell::of(who).waiting(std::numeric_limits<std::size_t>::max()))
    all.push_back(m.content);
  return all;
}

bool deterministic_scheduler::signals_wait_for(core::cell& who) const noexcept {
  return (who.gate().peek() & core::mailbox_word::signal) != 0 ||
         core::running_cell::of(who).wants_attention();
}

bool deterministic_scheduler::run_candidate(const candidate& chosen, std::uint32_t messages) {
  if (chosen.thread == nullptr) return run_event_actor(cell_of(*chosen.event_actor), messages);
  const std::optional<turn_record> next =
      chosen.actor() != nullptr ? record_of(cell_of(*chosen.actor())) : std::nullopt;
  chosen.thread->queued = false;
  chosen.thread->go();
  if (next) past_.add(*next);
  return next.has_value();
}

bool deterministic_scheduler::run_event_actor(core::cell& who, std::uint32_t messages) {
  const worker_scope scope(&who.home_executor());
  bool any = false;
  for (std::uint32_t i = 0; i < messages; ++i) {
    const std::optional<turn_record> next = record_of(who);
    std::uint32_t budget = 1;
    const bool released = who.run(budget) == base::run_outcome::released;
    if (budget != 1) {
      any = true;
      if (next) past_.add(*next);
    }
    if (released) return any;
  }
  add({&who, nullptr});
  return any;
}

std::optional<turn_record> deterministic_scheduler::record_of(core::cell& who) const {
  const core::envelope* const next =
      who.phase() != core::life::suspended ? peek_next(who) : nullptr;
  if (next == nullptr) return std::nullopt;
  return turn_record{who.id(), sender_of(next), next->type,
                     next->is(core::envelope_flag::response)};
}

drive_outcome deterministic_scheduler::drive(base::instant deadline) {
  if (!runnable_.empty()) {
    turn();
    return drive_outcome::progress;
  }
  const base::instant next = clock_.next_deadline();
  if (!next.is_never() && next <= deadline) {
    clock_.advance_to(next);
    return drive_outcome::progress;
  }
  if (deadline.is_never()) return drive_outcome::stuck;
  clock_.advance_to(deadline);
  return drive_outcome::time_over;
}

}  // namespace garrick::testkit::internal
