// Cells: identity, counting, waking, and the drop of the last handle.
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/thread_context.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace garrick::core {

namespace {

// Ids are handed out in blocks, so that spawning touches no shared line. An id is unique in the
// process; 0 names no actor.
std::atomic<std::uint64_t> next_id_block{1};
constexpr std::uint64_t ids_per_block = 4096;

/// The number of messages that another thread's actor had begun to handle, as this thread read it.
struct reading {
  std::uint64_t id = 0;  ///< the actor's
  std::uint32_t begun = 0;
  base::instant at{};
};
constexpr base::duration longest_reading = base::duration::microseconds(500);
constinit thread_local std::array<reading, 16> readings{};

std::uint64_t new_id() noexcept {
  auto& here = detail::here;
  if (here.next_id == here.last_id) [[unlikely]] {
    // order: uniqueness only
    here.next_id = next_id_block.fetch_add(ids_per_block, std::memory_order_relaxed);
    here.last_id = here.next_id + ids_per_block;
  }
  return here.next_id++;
}

}  // namespace

// The fields for a send lie in one cache line, and the runner's own fields begin in the next one: a
// sender on another core fetches one line, and takes none from the runner.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // no virtual base: the offsets are known
struct cell::layout {
  static constexpr std::size_t line = 64;
  static_assert(alignof(cell) == line);
  static_assert(offsetof(cell, kind_) < line && offsetof(cell, own_executor_) < line &&
                offsetof(cell, in_place_) < line);
  static_assert(offsetof(cell, soft_limit_) + sizeof(soft_limit_) <= line);
  // senders of bounded mailboxes read it, and the runner hardly ever writes near it
  static_assert(offsetof(cell, bound_) >= 2 * line);
  static_assert(offsetof(cell, gate_) + sizeof(gate_) <= line);
  static_assert(offsetof(cell, strong_) + sizeof(strong_) <= line);
  static_assert(offsetof(cell, weak_) + sizeof(weak_) <= line);
  static_assert(offsetof(cell, env_) + sizeof(env_) <= line);
  static_assert(offsetof(cell, reader_) == line);
  static_assert(sizeof(cell) == 3 * line);  // an actor of a few fields has room in the rest
};
#pragma GCC diagnostic pop

cell::cell(environment& env, cell_kind kind, bool starts_lazily) noexcept
    : kind_(kind),
      soft_limit_(static_cast<std::uint16_t>(env.mailbox.soft_limit)),
      gate_(false),
      env_(&env),
      id_(new_id()),
      phase_(life::unborn),
      starts_lazily_(starts_lazily) {}

void cell::set_bound(mailbox_policy policy, std::uint32_t bound) {
  policy_ = policy;
  bound_ = static_cast<std::uint16_t>(bound);
  // Answers count in the mailbox's word, too, and may wrap it: `admit` knows the whole length.
  set_soft_limit(0);
  watched_ = true;
}

bool cell::waits_for_waiting_workers() const noexcept {
  const base::executor* const workers = env_->workers;
  return workers != nullptr && &home_executor() == workers && workers->all_wait();
}

// The published count is exact when the actor is idle, and up to a round of messages old while it
// runs. The runner's own count lies in the line that it writes with each message. A thread that
// read it in each call (a router calls this for every message) would slow the runner down. So each
// thread keeps its readings of the actors for a while.
std::uint32_t cell::mailbox_length() const noexcept {
  const std::uint32_t published = gate_.length();
  if (published == 0 || (gate_.peek() & mailbox_word::idle) != 0) return published;
  if (detail::here.running == this || detail::is_on_stack(detail::here.below, id_))
    return waiting_now();
  reading& last = readings[id_ % readings.size()];
  const base::instant now = env_->clock->now();
  // With a virtual clock no reading grows old while actors run.
  if (last.id != id_ || env_->clock != &base::real_clock() || now - last.at > longest_reading)
    last = {id_, begun(), now};
  // Messages published since then count, too.
  const std::uint32_t later = gate_.consumed() - last.begun;
  return waiting_after(later < (1u << 31) ? last.begun + later : last.begun);
}

// ---- counting -----------------------------------------------------------------------------------

void cell::last_strong_dropped() noexcept {
  if (env_->is_copy()) [[unlikely]]
    return;  // the actor is the parent's, and ends there
  if (is_elsewhere()) [[unlikely]]
    nobody_holds_it();
  cell_steps::last_strong_dropped(*this);
}

bool cell::may_end_here() const noexcept {
  return detail::here.run_depth != 0 && base::this_thread.worker_of == &home_executor();
}

void cell::end_here() noexcept {
  // after the current handler, so that a chain of any length does not recurse
  auto& here = detail::here;
  queue_link = here.reclaim;
  here.reclaim = this;
}

void cell::free_block() noexcept {
  if (retire()) free_self();
}

// ---- senders ------------------------------------------------------------------------------------

void cell::wake() noexcept {
  auto& h = detail::here;
  // A mailbox with a bound has no soft limit. Its actor is scheduled at once, since messages beyond
  // the bound are lost.
  if (h.waking != nullptr && soft_limit_ != 0 && !has_stale_entry()) [[unlikely]]
    return h.waking->add(*this);
  if (h.chain != nullptr) h.chain->woken = this;
  home_executor().schedule(*this);
}

waking_together::~waking_together() {
  detail::here.waking = outer_;
  for (cell* woken = first_; woken != nullptr;) {
    cell& c = *woken;
    woken = static_cast<cell*>(c.queue_link);
    environment& env = c.env();
    env.hold();  // the actor may end, and with it its system, before `schedule` returns
    c.home_executor().schedule(c);
    env.release();
  }
}

void waking_together::add(cell& woken) noexcept {
  woken.queue_link = nullptr;
  if (first_ == nullptr)
    first_ = &woken;
  else
    last_->queue_link = &woken;
  last_ = &woken;
}

void cell::signal(envelope* e) noexcept {
  e->set(envelope_flag::system);
  if (is_elsewhere()) [[unlikely]]
    return signal_elsewhere(e);
  cell_steps::signal(*this, e);
}

bool cell::signal_unheld(envelope* e) noexcept {
  e->set(envelope_flag::system);
  return cell_steps::signal_unheld(*this, e);
}

bool cell::deliver_unheld(envelope* e) noexcept { return cell_steps::tell_unheld(*this, e); }

void cell::signal_elsewhere(envelope*) noexcept {
  GARRICK_ASSERT(false, "only a proxy is elsewhere");
}

void cell::deliver_urgent(envelope* e) noexcept {
  e->set(envelope_flag::urgent);
  deliver(e);
  cell_steps::want_attention(*this);
}

void cell::deliver_urgent_now(envelope* e) noexcept {
  e->set(envelope_flag::urgent);
  deliver_now(e);
  cell_steps::want_attention(*this);
}

// ---- the runner ---------------------------------------------------------------------------------

// Clears the tag `stalled`. A `release` would clear it, too, but an actor whose mailbox is never
// empty makes none.
void cell::slow_senders_again() noexcept {
  if ((gate_.peek() & mailbox_word::stalled) != 0 && phase() == life::running && !is_stalled())
    set_stalled(false);
}

}  // namespace garrick::core
