#include <garrick/base/platform/assert.hpp>
#include <garrick/base/platform/platform.hpp>
#include <garrick/core/cell/awaiting.hpp>
#include <garrick/core/cell/bounded_mailbox.hpp>
#include <garrick/core/cell/cell.hpp>
#include <garrick/core/cell/drain_lot.hpp>
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/lifecycle.hpp>
#include <garrick/core/cell/respond.hpp>
#include <garrick/core/cell/thread_context.hpp>

#include <bit>
#include <exception>
#include <utility>

namespace garrick::core {

namespace {

// Ids are handed out in blocks, so that spawning touches no shared line. An id is unique in the
// process; 0 names no actor.
std::atomic<std::uint64_t> next_id_block{1};
constexpr std::uint64_t ids_per_block = 4096;

std::uint64_t new_id() noexcept {
  auto& t = detail::here;
  if (t.next_id == t.last_id) [[unlikely]] {
    // order: uniqueness only
    t.next_id = next_id_block.fetch_add(ids_per_block, std::memory_order_relaxed);
    t.last_id = t.next_id + ids_per_block;
  }
  return t.next_id++;
}

// Every so many in-place batches a runner lets the senders go on that wait on other workers (0001,
// Flat memory).
constexpr std::uint32_t in_place_batches_per_wake = 64;
// Stages of a pipeline that one full mailbox at its beginning runs at most.
constexpr std::uint32_t longest_in_place_chain = 16;
// A sender passes a full mailbox so often after a wait in vain; and waits no longer than until so
// many messages were handled.
constexpr std::uint32_t sends_per_wait = 64;
// A wait in vain for a receiver that runs makes the thread's next one twice as long, so many times:
// a handler may take long, but may also block.
constexpr std::uint8_t most_doublings = 4;
// Urgent messages in a row before a normal one has its turn.
constexpr std::uint8_t urgent_share = 8;

}  // namespace

cell::cell(environment& env, cell_kind kind, bool born_idle) noexcept
    : kind_(kind),
      gate_(born_idle),
      env_(&env),
      id_(new_id()),
      phase_(life::unborn),
      soft_limit_(env.limits.soft_limit) {}

cell::~cell() { delete ext_; }

cell_extension& cell::ext() {
  if (ext_ == nullptr) ext_ = new cell_extension;
  return *ext_;
}

std::string_view cell::name() const noexcept {
  if (optional_ && !ext_->name.empty()) return ext_->name;
  return type_name();
}

base::executor& cell::home_executor() const noexcept {
  return own_executor_ ? *ext_->executor : *env_->workers;
}

base::exit_reason cell::end_reason() const {
  // order: acquire pairs with the release in close(): the reason was written before
  static_cast<void>(gate_.peek_acquire());
  return ext_ != nullptr && !ext_->reason.is_normal() ? ext_->reason : base::exit_reason{end_code_};
}

// ---- counting -----------------------------------------------------------------------------------

bool cell::lock() noexcept {
  std::uint32_t n = strong_.load(std::memory_order_relaxed);  // order: validated by the CAS
  while (n != 0) {
    // order: acquire: as a copy of a handle that another thread published
    if (strong_.compare_exchange_weak(n, n + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed))
      return true;
  }
  return false;
}

void cell::add_strong_from_self() noexcept {
  // order: relaxed: the runner needs nothing from the droppers; undrop acquires
  if (strong_.fetch_add(1, std::memory_order_relaxed) == 0) [[unlikely]]
    gate_.undrop();
}

void cell::last_strong_dropped() noexcept {
  switch (gate_.drop()) {
    case drop_outcome::running: return;
    case drop_outcome::closed: {
      environment& e = *env_;
      drop_weak();
      e.release();
      return;
    }
    case drop_outcome::idle: break;
  }
  // This thread owns the cell alone now; the run right that nobody holds becomes ours.
  const bool claimed = reader_.claim_idle(gate_);
  GARRICK_ASSERT(claimed,
                 "an unreachable actor is pushed to: a handle was used after it was dropped");
  become_unreachable();
  auto& t = detail::here;
  // An entry that a claim left behind in a queue still uses the link: then the queue has to bring
  // the cell.
  if (t.run_depth != 0 && base::this_thread.worker_of == &home_executor() && !has_stale_entry()) {
    // after the current handler, so that a chain of any length does not recurse
    queue_link = t.reclaim;
    t.reclaim = this;
  } else {
    environment& e = *env_;
    e.hold();  // a worker may end this actor, and with it its system, before `schedule` returns
    home_executor().schedule(*this);
    e.release();
  }
}

void cell::free_block() noexcept {
  if (retire()) free_self();
}

// ---- senders ------------------------------------------------------------------------------------

bool cell::admit(envelope* e, std::uint64_t head) noexcept {
  if ((head & mailbox_word::closed) != 0) return true;  // the push will find it closed
  const std::uint32_t length = gate_.length();
  auto& t = base::this_thread;
  const std::uint32_t hard =
      optional_ && own_hard_limit() != 0 ? own_hard_limit() : env_->limits.hard_limit;
  if (length >= hard) {
    lifecycle::lose(*this, e,
                    base::make_error(base::errc::overload, name(), "mailbox is at its hard limit"));
    return false;
  }
  const bool stalled = (head & mailbox_word::stalled) != 0;
  if (policy_ != mailbox_policy::unbounded)
    return length < soft_limit_ || bounded_mailbox::admit(*this, e, length);
  if (!stalled && length < soft_limit_) return true;
  if (env_->probe != nullptr && length >= soft_limit_ && std::has_single_bit(length))
    env_->probe->on_mailbox_doubled(id_, length);
  if (stalled || detail::here.is_running(this) || detail::here.no_wait != 0) return true;
  if (t.free_sends != 0) {
    --t.free_sends;
    return true;
  }
  if (!run_in_place() && !wait_for_room()) t.free_sends = sends_per_wait;
  return true;
}

bool cell::run_in_place() noexcept {
  auto& t = base::this_thread;
  auto& h = detail::here;
  if (!env_->limits.in_place || !in_place_ || t.no_in_place != 0 || h.run_depth == 0 ||
      t.worker_of == nullptr)
    return false;
  base::executor& ex = home_executor();
  if (t.worker_of != &ex) return false;
  if (h.run_depth > 1) {
    // Not one level deeper, however long a pipeline is: the batch ends, then it is this receiver's
    // turn.
    if (h.next_in_place == this) return true;
    if (!h.in_place_chain || h.next_in_place != nullptr || !ex.claim(*this)) return false;
    h.next_in_place = this;
    return true;
  }
  if (!ex.claim(*this)) return false;
  run_in_place_chain(ex);
  return true;
}

// Runs a claimed cell for a batch, then the receiver that it filled or, if that is still next on
// this worker, the one that it woke last, and so on, a bounded number of times. Left where it is,
// the latter would be pushed out of the slot by the next one woken, and a worker called for a few
// messages.
void cell::run_in_place_chain(base::executor& ex) noexcept {
  auto& h = detail::here;
  cell* c = this;
  h.in_place_chain = true;
  for (std::uint32_t i = 0; c != nullptr; ++i) {
    std::uint32_t budget = c->env_->limits.in_place_batch;
    h.woken_in_place = nullptr;
    const bool more = i == longest_in_place_chain || c->run(budget) == base::run_outcome::more;
    cell* next = std::exchange(h.next_in_place, nullptr);
    if (next == nullptr && h.woken_in_place != nullptr && ex.claim_next(h.woken_in_place)) {
      next = h.woken_in_place;
      if (!next->in_place_) {
        ex.schedule(*next);
        next = nullptr;
      }
    }
    if (more) ex.schedule(*c);
    c = next;
  }
  h.in_place_chain = false;
}

bool cell::wait_for_room() noexcept {
  auto& t = base::this_thread;
  const cell* const inner = detail::here.running;
  const cell* const outer = detail::here.outer;
  // Actors whose handlers wait in a circle would all stand still: whoever would close it goes on
  // instead.
  const drain_lot::waiting_scope waits(*env_->lot, id_, inner != nullptr ? inner->id_ : 0,
                                       outer != nullptr ? outer->id_ : 0);
  if (waits.closes_circle()) return true;
  if (detail::here.overlooked != 0) wake_overlooked();  // this receiver may wait for one of them
  const auto once = static_cast<std::uint64_t>(env_->limits.full_wait_ns);
  std::uint8_t& doublings = detail::here.wait_doublings;
  const std::uint64_t limit = once << doublings;
  std::uint64_t longest = 0;
  const std::uint32_t before = gate_.consumed();
  std::uint32_t seen = before;
  std::uint64_t since = base::platform::monotonic_ns();
  for (;;) {
    const std::uint32_t epoch = env_->lot->epoch(id_);
    if (!gate_.ask_to_wait()) break;
    // order: a hint: after its present message the runner shows how far it is
    attention_.store(1, std::memory_order_relaxed);
    if (t.worker_of != nullptr) t.worker_of->expose();
    env_->lot->wait(id_, epoch, static_cast<std::int64_t>(once));
    const std::uint32_t consumed = gate_.consumed();
    if (gate_.length() < soft_limit_ || consumed - before >= sends_per_wait) break;
    const std::uint64_t now = base::platform::monotonic_ns();
    if (consumed != seen) {
      longest = std::max(longest, now - since);
      seen = consumed;
      since = now;
      continue;
    }
    const bool queued = is_queued();  // perhaps every worker waits, and nobody is left to run it
    if (now - since < (queued ? once : limit)) continue;
    if (!queued && doublings < most_doublings) ++doublings;
    return false;
  }
  if (doublings != 0 && longest < limit / 4) --doublings;
  return true;
}

void cell::wake() noexcept {
  auto& h = detail::here;
  if (h.in_place_chain) h.woken_in_place = this;
  home_executor().schedule(*this);
}

void cell::refuse(envelope* e) noexcept { lifecycle::lose(*this, e, lifecycle::gone(*this)); }

void cell::signal(envelope* e) noexcept {
  e->set(envelope_flag::system);
  const push_outcome r = gate_.push_signal(e);
  if (r == push_outcome::closed) {
    lifecycle::answer_signals_of_the_dead(*this);
    return;
  }
  attention_.store(1, std::memory_order_release);  // order: pairs with the exchange in attend
  if (r == push_outcome::woke) wake();
}

void cell::deliver_urgent(envelope* e) noexcept {
  e->set(envelope_flag::urgent);
  deliver(e);
  attention_.store(1, std::memory_order_release);  // order: pairs with the exchange in attend
}

// ---- the runner ---------------------------------------------------------------------------------

base::run_outcome cell::run(std::uint32_t& budget) noexcept {
  auto& t = base::this_thread;
  auto& h = detail::here;
  if (h.run_depth != 0) [[unlikely]]
    return run_nested(budget);
  h.running = this;
  h.run_depth = 1;
  t.actor = this;
  t.actor_id.store(id_, std::memory_order_relaxed);  // order: read by the watchdog as a sample
  const base::run_outcome r = run_loop(budget);
  if (h.reclaim != nullptr) [[unlikely]]
    lifecycle::reclaim_all();
  if (h.overlooked != 0) [[unlikely]]
    wake_overlooked();
  h.running = nullptr;
  h.run_depth = 0;
  t.actor = nullptr;
  t.actor_id.store(0, std::memory_order_relaxed);  // order: read by the watchdog as a sample
  return r;
}

// A send of another actor's handler runs this one in place; or a thread that waits inside a run
// ends an actor.
base::run_outcome cell::run_nested(std::uint32_t& budget) noexcept {
  auto& t = base::this_thread;
  auto& h = detail::here;
  void* const outer_actor = t.actor;
  cell* const outer_running = h.running;
  cell* const outer_outer = h.outer;
  // order: own thread's value
  const std::uint64_t outer_id = t.actor_id.load(std::memory_order_relaxed);
  // order: own thread's value
  const base::message_type* const outer_type = t.handling.load(std::memory_order_relaxed);
  // order: own thread's value
  const bool outer_response = t.in_response.load(std::memory_order_relaxed);
  h.outer = outer_running;
  h.running = this;
  ++h.run_depth;
  t.actor = this;
  t.actor_id.store(id_, std::memory_order_relaxed);       // order: read by the watchdog as a sample
  t.in_response.store(false, std::memory_order_relaxed);  // order: read by the watchdog as a sample
  const base::run_outcome r = run_loop(budget);
  --h.run_depth;
  h.running = outer_running;
  h.outer = outer_outer;
  t.actor = outer_actor;
  // order: read by the watchdog as a sample
  t.actor_id.store(outer_id, std::memory_order_relaxed);
  // order: read by the watchdog as a sample
  t.handling.store(outer_type, std::memory_order_relaxed);
  // order: read by the watchdog as a sample
  t.in_response.store(outer_response, std::memory_order_relaxed);
  return r;
}

base::run_outcome cell::run_loop(std::uint32_t& budget) noexcept {
  auto& h = detail::here;
  if (phase_ == life::unborn) [[unlikely]]
    begin();
  std::uint32_t left = optional_ ? own_quantum(budget) : budget;
  // the caller's, when the actor's own quantum is smaller
  const std::uint32_t unused = budget - left;
  for (;;) {
    if (phase_ >= life::ending) [[unlikely]] {
      // order: relaxed: a hint; attend() acquires
      if (attention_.load(std::memory_order_relaxed) != 0) attend();
      budget = left + unused;
      if (!reach_end()) continue;
      return base::run_outcome::released;
    }
    envelope* const e = pick();
    // A signal that the sender of `e` sent before it comes before it: looked for only now, when `e`
    // has been acquired. order: relaxed: a hint; attend() acquires
    if (attention_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      if (e != nullptr) put_back(e);
      attend();
      continue;
    }
    if (e == nullptr) {
      budget = left + unused;  // before the release: afterwards this cell is not ours
      switch (end_batch()) {
        case release_outcome::released: return base::run_outcome::released;
        case release_outcome::unreachable: become_unreachable(); break;
        case release_outcome::arrivals: after_batch(); break;
      }
      continue;
    }
    process(e);
    if (h.reclaim != nullptr && h.run_depth == 1) [[unlikely]]
      lifecycle::reclaim_all();
    if (h.next_in_place != nullptr) [[unlikely]]
      left = 1;  // it has filled a receiver, whose turn it is now
    if (--left == 0) [[unlikely]] {
      budget = unused;
      // One that has nothing left must not be queued: somebody would be woken to find it empty.
      if (phase_ < life::ending && has_nothing_to_handle()) {
        const release_outcome o = end_batch();
        if (o == release_outcome::released) return base::run_outcome::released;
        if (o == release_outcome::unreachable) become_unreachable();
      }
      reader_.publish(gate_);
      if ((gate_.peek() & mailbox_word::waiting) != 0 && h.run_depth == 1) after_batch();
      return base::run_outcome::more;
    }
  }
}

release_outcome cell::end_batch() noexcept {
  auto& h = detail::here;
  if (h.run_depth == 1 && ext_ == nullptr) [[likely]]
    return reader_.release(gate_, 0);
  const std::uint64_t stalled = ext_ != nullptr && is_stalled() ? mailbox_word::stalled : 0;
  // Whoever runs it in place will fill it again at once: the others are not woken for each batch,
  // but at the latest when that run is over.
  const bool overlook = h.run_depth > 1 && (gate_.peek() & mailbox_word::waiting) != 0 &&
                        ++h.in_place_batches % in_place_batches_per_wake != 0;
  if (!overlook) return reader_.release(gate_, stalled);
  if (h.overlooked != id_) {
    if (h.overlooked != 0) wake_overlooked();
    h.overlooked = id_;
    h.overlooked_in = env_->lot;
  }
  return reader_.release(gate_, stalled, mailbox_word::waiting);
}

void cell::wake_overlooked() noexcept {
  auto& h = detail::here;
  h.overlooked_in->wake(std::exchange(h.overlooked, 0));
}

void cell::after_batch() noexcept {
  const std::uint64_t head = gate_.peek();
  if ((head & mailbox_word::waiting) != 0) {
    reader_.clear_waiting(gate_);
    env_->lot->wake(id_);
  }
  if ((head & mailbox_word::signal) != 0) attend();
  if (phase_ == life::suspended) {
    reader_.take_arrivals(gate_);
    if (watched_) bounded_mailbox::trim(*this);
  }
}

inline envelope* cell::pick() noexcept {
  if (reader_.is_plain() && phase_ != life::suspended) [[likely]] {
    envelope* const e = reader_.next(gate_);
    if (e != nullptr) [[likely]]
      return e;
    if (reader_.is_plain()) return nullptr;
  }
  return pick_apart();
}

envelope* cell::pick_apart() noexcept {
  if (phase_ == life::suspended) return nullptr;
  if (reader_.is_holding()) {
    envelope* const e = awaiting::next(*this);
    if (e != nullptr || reader_.is_holding()) return e;
  }
  if (!reader_.has_urgent()) return reader_.next(gate_);
  if (urgent_streak_ < urgent_share || reader_.peek_front() == nullptr) {
    ++urgent_streak_;
    return reader_.next_urgent();
  }
  urgent_streak_ = 0;
  return reader_.next(gate_);
}

envelope* cell::pick_for_blocking() noexcept { return pick(); }

void cell::put_back(envelope* e) noexcept {
  if (reader_.is_holding())
    ext_->answers.push_front(e);
  else
    reader_.put_back(e);
}

/// What `pick` will return, left where it is: for the testkit.
envelope* cell::peek_next() noexcept {
  if (reader_.is_holding()) {
    envelope* const e = awaiting::peek(*this);
    if (e != nullptr || reader_.is_holding()) return e;
  }
  reader_.take_arrivals(gate_);
  envelope* const front = reader_.peek_front();
  if (reader_.has_urgent() && (front == nullptr || urgent_streak_ < urgent_share))
    return reader_.peek_urgent();
  return front;
}

void cell::attend() noexcept {
  // order: pairs with the store after a signal or an urgent push
  attention_.exchange(0, std::memory_order_acquire);
  reader_.publish(gate_);  // for senders that wait for room
  auto& t = base::this_thread;
  t.turns.store(t.turns.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);  // order: read by the watchdog as a sample
  if (reader_.is_holding())
    awaiting::sort_arrivals(*this);
  else
    reader_.take_arrivals(gate_);
  envelope* newest = reader_.take_signals(gate_);
  envelope* oldest = nullptr;
  while (newest != nullptr) {
    envelope* const older = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  while (oldest != nullptr) {
    envelope* const e = oldest;
    oldest = e->next;
    if (phase_ < life::ended) {
      try {
        lifecycle::on_signal(*this, e);
      } catch (...) { on_failure(nullptr); }
    }
    detail::destroy_payload(e);
    detail::free_envelope_block(e);
  }
}

void cell::begin() noexcept {
  phase_ = life::running;
  // order: read by the watchdog as a sample
  base::this_thread.handling.store(nullptr, std::memory_order_relaxed);
  try {
    start();
  } catch (...) { on_failure(nullptr); }
}

inline void cell::process(envelope* e) noexcept {
  current_ = e;
  auto& t = base::this_thread;
  t.handling.store(e->type, std::memory_order_relaxed);  // order: read by the watchdog as a sample
  t.turns.store(t.turns.load(std::memory_order_relaxed) + 1,
                std::memory_order_relaxed);  // order: read by the watchdog as a sample
  dispatch_outcome outcome;
  try {
    outcome = watched_ || e->is(envelope_flag::response) ? route(e) : dispatch(e);
  } catch (...) {
    on_failure(e);
    outcome = dispatch_outcome::handled;
  }
  current_ = nullptr;
  if (outcome == dispatch_outcome::handled && !e->is(envelope_flag::request)) [[likely]] {
    detail::destroy_payload(e);
    reader_.done(e);
    return;
  }
  settle(e, outcome);
}

void cell::process_for_blocking(envelope* e) noexcept { process(e); }

void cell::settle(envelope* e, dispatch_outcome outcome) noexcept {
  if (outcome == dispatch_outcome::kept) return;
  if (outcome == dispatch_outcome::skipped) {
    cell_extension& x = ext();
    x.skipped.push_back(e);
    ++x.skipped_count;
    return;
  }
  if (outcome == dispatch_outcome::unexpected) lifecycle::report_unexpected(*this, e);
  // A handler that took a request and neither answered nor promised to: the requester must not wait
  // for ever.
  if (e->is(envelope_flag::request))
    respond_error(e, base::make_error(base::errc::unexpected_message, name(), e->type->name));
  detail::destroy_payload(e);
  reader_.done(e);
}

bool cell::is_stalled() const noexcept {
  return phase_ == life::suspended || !ext_->awaiting.empty() || ext_->skipped_count != 0;
}

std::uint32_t cell::own_hard_limit() const noexcept { return ext_->hard_limit; }

std::uint32_t cell::own_quantum(std::uint32_t budget) const noexcept {
  return ext_->quantum != 0 && ext_->quantum < budget ? ext_->quantum : budget;
}

dispatch_outcome cell::route(envelope* e) {
  if (e->is(envelope_flag::response)) return lifecycle::on_response(*this, e);
  if (watched_ && !bounded_mailbox::before_message(*this, e)) return dispatch_outcome::handled;
  return dispatch(e);
}

bool cell::has_nothing_to_handle() const noexcept {
  return reader_.is_holding() ? ext_->answers.front == nullptr
                              : reader_.empty() && !reader_.has_urgent();
}

void cell::become_unreachable() noexcept {
  // The last handle is gone. A timer or a pending request would hold one, so nothing can wake this
  // actor any more.
  quit(base::exit_code::unreachable);
}

void cell::quit(base::exit_reason reason) {
  if (phase_ >= life::ending) return;
  end_code_ = reason.code();
  if (!reason.detail().empty() || end_code_ == base::exit_code::failure)
    ext().reason = std::move(reason);
  phase_ = life::ending;
}

void cell::on_failure(envelope* e) noexcept {
  lifecycle::on_exception(*this, e, std::current_exception());
}

bool cell::reach_end() noexcept { return lifecycle::reach_end(*this); }

}  // namespace garrick::core
