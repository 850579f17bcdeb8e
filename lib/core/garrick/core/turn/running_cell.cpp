// The run loop.
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/life/internal/lost_mail.hpp>
#include <garrick/core/life/respond.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/overload/internal/admission.hpp>
#include <garrick/core/overload/internal/credit.hpp>
#include <garrick/core/overload/internal/in_place.hpp>
#include <garrick/core/overload/internal/parked.hpp>
#include <garrick/core/turn/internal/awaiting.hpp>
#include <garrick/core/turn/internal/lifecycle.hpp>
#include <garrick/core/turn/internal/system_lane.hpp>
#include <garrick/core/turn/internal/turn_frame.hpp>
#include <garrick/core/turn/running_cell.hpp>

#include <algorithm>
#include <bit>
#include <exception>
#include <new>
#include <utility>

namespace garrick::core {

namespace {

// The number of urgent messages in a row, before a normal one has its turn.
constexpr std::uint8_t urgent_share = 8;

}  // namespace

bool running_cell::admit(envelope* e, std::uint64_t head) noexcept {
  return admission(*this).admit(e, head);
}

void running_cell::refuse(envelope* e) noexcept {
  lost_mail::lose(*this, envelope_ptr(e), lost_mail::gone(*this));
}

void running_cell::answer_late_signals() noexcept { system_lane::answer_for_the_dead(*this); }

// ---- the runner ---------------------------------------------------------------------------------

base::run_outcome running_cell::run(std::uint32_t& budget) noexcept {
  auto& thread = base::this_thread;
  auto& here = detail::here;
  if (here.run_depth != 0) [[unlikely]]
    return run_nested(budget);
  here.running = this;
  here.run_depth = 1;
  thread.actor = this;
  thread.actor_id.store(id_, std::memory_order_relaxed);  // order: read by the watchdog as a sample
  const base::run_outcome outcome = run_loop(budget);
  // The run is over, and this cell may have been freed: the steps below are the thread's own.
  here.running = nullptr;
  thread.actor = nullptr;
  thread.actor_id.store(0, std::memory_order_relaxed);  // order: read by the watchdog as a sample
  if (here.reclaim != nullptr) [[unlikely]]
    lifecycle::reclaim_some();
  if (here.batch_over) [[unlikely]] {
    credit::forget_debt();
    in_place::charge(budget);
  }
  here.run_depth = 0;
  return outcome;
}

// Called when a send of another actor's handler runs this actor in place, or when a thread that
// waits inside a run ends an actor.
base::run_outcome running_cell::run_nested(std::uint32_t& budget) noexcept {
  const turn_frame turn(*this, turn_frame::kind::in_place);
  return run_loop(budget);
}

base::run_outcome running_cell::run_loop(std::uint32_t& budget) noexcept {
  auto& here = detail::here;
  if (phase() == life::unborn) [[unlikely]]
    lifecycle::begin(*this);
  std::uint32_t left = has_spawn_constants_ ? own_quantum(budget) : budget;
  // the rest of the caller's budget, when the actor's own quantum is smaller
  const std::uint32_t unused = budget - left;
  for (;;) {
    if (phase() >= life::ending) [[unlikely]] {
      if (wants_attention()) attend();
      budget = left + unused;
      if (!lifecycle::reach_end(*this)) continue;
      return base::run_outcome::released;
    }
    envelope* message = nullptr;
    if (!cell_steps::take_message(*this, message)) [[unlikely]]
      continue;
    if (message == nullptr) {
      budget = left + unused;  // before the release: afterwards this cell is not ours
      switch (end_batch()) {
        case release_outcome::released: return base::run_outcome::released;
        case release_outcome::unreachable: become_unreachable(); break;
        case release_outcome::arrivals: after_batch(); break;
      }
      continue;
    }
    process(message);
    if (here.reclaim != nullptr) [[unlikely]]
      lifecycle::reclaim_some();
    if (here.batch_over) [[unlikely]]
      left = 1;  // its sends ran receivers in place, or filled one that has its turn now
    if (--left == 0) [[unlikely]] {
      budget = unused;
      if (credit::is_owed()) {
        reader_.publish(gate_);
        if ((gate_.peek() & mailbox_word::waiting) != 0) after_batch();
        return credit::pause(*this) ? base::run_outcome::released : base::run_outcome::more;
      }
      // An actor without work must not be queued: a worker would be woken for nothing.
      if (phase() < life::ending && has_nothing_to_handle()) {
        const release_outcome o = end_batch();
        if (o == release_outcome::released) return base::run_outcome::released;
        if (o == release_outcome::unreachable) become_unreachable();
      }
      reader_.publish(gate_);
      if ((gate_.peek() & mailbox_word::waiting) != 0 && here.run_depth == 1) after_batch();
      return base::run_outcome::more;
    }
  }
}

release_outcome running_cell::end_batch() noexcept {
  auto& here = detail::here;
  if (here.run_depth == 1 && ext_ == nullptr) [[likely]]
    return reader_.release(gate_, 0);
  const std::uint64_t stalled = is_stalled() ? mailbox_word::stalled : 0;
  if (here.run_depth == 1 || !in_place::overlooks_senders(*this))
    return reader_.release(gate_, stalled);
  return reader_.release(gate_, stalled, mailbox_word::waiting);
}

void running_cell::after_batch() noexcept {
  const std::uint64_t head = gate_.peek();
  if ((head & mailbox_word::waiting) != 0) cell_steps::wake_senders(*this);
  if ((head & mailbox_word::signal) != 0) attend();
  if (phase() == life::suspended) reader_.take_arrivals(gate_);
}

inline envelope* running_cell::pick() noexcept {
  if (reader_.is_plain() && phase() != life::suspended) [[likely]] {
    envelope* const e = reader_.next(gate_);
    if (e != nullptr) [[likely]]
      return e;
    if (reader_.is_plain()) return nullptr;
  }
  return pick_apart();
}

envelope* running_cell::pick_apart() noexcept {
  if (phase() == life::suspended) return nullptr;
  if (reader_.is_holding()) {
    envelope* const e = awaiting::next(*this);
    if (e != nullptr || reader_.is_holding()) return e;
  }
  return pick_by_priority();
}

envelope* running_cell::pick_by_priority() noexcept {
  if (!reader_.has_urgent()) {
    envelope* const e = reader_.next(gate_);  // may find urgent ones, and nothing else
    if (e != nullptr || !reader_.has_urgent()) return e;
  }
  if (urgent_streak_ < urgent_share || reader_.peek_front() == nullptr) {
    ++urgent_streak_;
    return reader_.next_urgent();
  }
  urgent_streak_ = 0;
  return reader_.next(gate_);
}

envelope* running_cell::take_next() noexcept { return pick(); }

void running_cell::put_back(envelope* e) noexcept {
  if (reader_.is_holding())
    ext_->answers.push_front(e);
  else
    reader_.put_back(e);
}

void running_cell::skip(envelope* e) noexcept {
  try {
    static_cast<void>(ext());
  } catch (const std::bad_alloc&) {
    return lost_mail::lose_kept(
        *this, e, base::make_error(base::errc::overload, name(), "no memory to put it aside"));
  }
  cell_extension& x = *ext_;
  x.skipped.push_back(e);
  ++x.skipped_count;
}

/// Returns the next result of `pick`, and leaves it in the mailbox: for the testkit.
const envelope* running_cell::peek_next() noexcept {
  if (reader_.is_holding()) {
    envelope* const e = awaiting::peek(*this);
    if (e != nullptr || reader_.is_holding()) return e;
  }
  reader_.take_arrivals(gate_);
  const envelope* const front = reader_.peek_front();
  const bool urgent = reader_.has_urgent() && (front == nullptr || urgent_streak_ < urgent_share);
  return urgent ? reader_.peek_urgent() : front;
}

// Returns the description of a message, which must not be freed meanwhile.
static waiting_message facts_of(const envelope* e) noexcept {
  const bool request = e->is(envelope_flag::request);
  std::uint64_t sender = 0;
  if (!request)
    sender = e->sender_id;
  else if (e->requester != nullptr)
    sender = e->requester->id();
  return {.type = e->type,
          .sender = sender,
          .urgent = e->is(envelope_flag::urgent),
          .request = request,
          .response = e->is(envelope_flag::response),
          .content = e};
}

std::vector<waiting_message> running_cell::waiting(std::size_t most) {
  static_cast<void>(peek_next());  // takes new arrivals into the local queues
  std::vector<waiting_message> all;
  const auto list = [&](const envelope* e) {
    for (; e != nullptr && all.size() < most; e = e->next) all.push_back(facts_of(e));
  };
  if (ext_ != nullptr) list(ext_->skipped.front);  // tried again before everything else
  if (reader_.is_holding()) list(ext_->answers.front);
  if (const envelope* const first = reader_.peek_urgent()) {
    const envelope* e = first;
    do {
      if (all.size() >= most) return all;
      all.push_back(facts_of(e));
      e = e->next;
    } while (e != first);
  }
  list(reader_.peek_front());
  return all;
}

void running_cell::attend() noexcept {
  reader_.publish(gate_);  // for senders that wait for room
  auto& thread = base::this_thread;
  // order: read by the watchdog as a sample
  thread.turns.store(thread.turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  envelope* oldest = cell_steps::take_signals(*this, [this] {
    if (reader_.is_holding())
      awaiting::sort_arrivals(*this);
    else
      reader_.take_arrivals(gate_);
  });
  while (oldest != nullptr) {
    const envelope_ptr e(oldest);
    oldest = e->next;
    if (phase() == life::ended) continue;
    try {
      system_lane::on_signal(*this, e.get());
    } catch (...) { lifecycle::on_exception(*this, nullptr, std::current_exception()); }
  }
}

inline void running_cell::process(envelope* e) noexcept {
  set_current(e);
  auto& thread = base::this_thread;
  // order: read by the watchdog as a sample
  thread.handling.store(e->type, std::memory_order_relaxed);
  // order: read by the watchdog as a sample
  thread.turns.store(thread.turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  dispatch_outcome outcome;
  try {
    outcome = is_watched() || e->is_either(envelope_flag::response, envelope_flag::revocable)
                  ? route(e)
                  : dispatch(e);
  } catch (...) {
    lifecycle::on_exception(*this, e, std::current_exception());
    set_current(nullptr);
    return;
  }
  set_current(nullptr);
  if (outcome == dispatch_outcome::handled && !e->is(envelope_flag::request)) [[likely]] {
    detail::destroy_payload(e);
    reader_.done(e);
    return;
  }
  settle(e, outcome);
}

void running_cell::handle(envelope* e) noexcept { process(e); }

void running_cell::settle(envelope* e, dispatch_outcome outcome) noexcept {
  if (outcome == dispatch_outcome::kept) return;
  if (outcome == dispatch_outcome::skipped) {
    skip(e);
    return;
  }
  if (outcome == dispatch_outcome::unexpected) {
    lost_mail::report_unexpected(*this, e);
    respond_error(e, base::make_error(base::errc::unexpected_message, name(), e->type->name));
  } else {
    lost_mail::answer_unanswered(*this, e);
  }
  finish(e);
}

std::uint32_t running_cell::own_quantum(std::uint32_t budget) const noexcept {
  return ext_->quantum != 0 && ext_->quantum < budget ? ext_->quantum : budget;
}

dispatch_outcome running_cell::route(envelope* e) {
  if (e->is(envelope_flag::response)) return awaiting::on_response(*this, e);
  if (is_watched()) parked::before_message(*this);
  if (e->is(envelope_flag::revocable) && lost_mail::lose_overdue(e))
    return dispatch_outcome::handled;
  return dispatch(e);
}

// Returns true if the next `pick` would find nothing among the messages already taken. After the
// last await the mailbox may still be held, if a late answer was left to handle. The next `pick`
// ends that hold, so held mail counts as found.
bool running_cell::has_nothing_to_handle() const noexcept {
  if (reader_.is_holding()) return ext_->answers.front == nullptr && !ext_->awaiting.empty();
  return reader_.empty() && !reader_.has_urgent();
}

}  // namespace garrick::core
