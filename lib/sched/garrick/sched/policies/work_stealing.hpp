// The default policy: every worker has a next slot for the actor that was just woken, a deque from
// which it takes the newest and others the oldest, and an inbox for work from all other threads. A
// worker that runs dry steals; if it finds nothing it sleeps or waits for events (leading.hpp).
//
// Thread safety: see policy.hpp.
//
// Invariants. A comment that begins with "guard" marks each guard against starvation and names the
// invariant that needs it; docs/internals/parking.md has the table, with the tests that show it.
// W1 Open work is in a deque or an inbox. Every addition of open work is followed on the same
//    thread, before it runs user code, by `call_for_open_work`, `leave_to_those_awake` or, during a
//    search, `end_search`, except work that this thread takes out again before. A runnable that was
//    alone on its worker and is queued again after its run is not announced either: it runs next,
//    unless an item arrives at that moment and runs first; the item's announcement then serves
//    both. `leave_to_those_awake` is for work from outside while a worker is awake and makes
//    progress: that worker takes it or sees it before it sleeps (b3 of S4), or the ticker calls
//    another (K5 of slot_ticker.hpp).
// W2 A slot is empty while its owner looks for work, is parked or has ended.
// W3 Fairness. Time is cut into rounds of at most a quarter of a quantum of messages (a run counts
//    for at least one). Each round starts with the oldest of the inbox or the oldest of the deque,
//    in turns, and the slot's occupant goes to the new end of the deque. Nothing is ever added at
//    the old end of the deque, nor before the items in the inbox. So with k runnables on the worker
//    one in the inbox runs, or gets into the deque if nothing else is there, within 2k rounds, and
//    one in the deque runs within 2k rounds. Both waits together are at most 4k rounds, or k quanta
//    of four messages or more. A run whose sends ran other runnables in place counts as its whole
//    budget, and ends after that message: so the in-place runs of one message are added to a round,
//    but not those of many (docs/internals/overload.md).
//    In the middle of a round, too, arrivals in the inbox run before older work, but after each of
//    these runs others handle as many messages as it did. So a runnable that arrives at a busy
//    worker waits for the run that it finds, for at most `between_looks` messages, and for those
//    before it in the inbox and as many messages of others (docs/internals/parking.md).
// W4 No runnable waits for a stalled worker. Each worker counts its signs of life: it began a
//    round, or it found its own queues empty. A busy worker makes a look once in `look_interval`
//    messages, or sooner if its rounds are short, and watches each of the n-1 others from one look
//    to the next, in turn. If the watched worker gave no sign, the looker moves its work into
//    queues of its own: the item that was in the slot all that time, the oldest of the deque with
//    up to half of the rest, and the whole inbox. So in n-1 looks each of the others begins a round
//    (W3), runs dry or loses its oldest work. While one worker makes progress, a runnable that
//    waits at another with k more has its turn there or is moved within 4(k+1)(n-1) looks. Once
//    moved, it runs within 4(m+1) rounds if the looker has m. (A worker that is not busy searches
//    or is parked: S6 of sleepers.hpp.)
// W5 No worker is called for open work while as many are awake as worker_limit.hpp allows. An awake
//    worker sees the work before it sleeps (b3 of S4), and the ticker is armed, so it calls another
//    if the work stays (K5). A worker beyond the limit sleeps when its own queues are
//    empty, without a search; if it sees open work then (b3) and too few are awake, it wakes
//    itself. The limit is ignored where awake workers are held up: a worker is behind, an item
//    stays in its slot, or no run has begun there since the last message from outside.
#pragma once

#include <garrick/sched/parking/leading.hpp>
#include <garrick/sched/parking/sleepers.hpp>
#include <garrick/sched/places/home_rule.hpp>
#include <garrick/sched/policies/no_guide.hpp>
#include <garrick/sched/policies/policy.hpp>
#include <garrick/sched/policies/stealing_worker.hpp>
#include <garrick/sched/policies/worker_watch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace garrick::sched {

/// The default policy. `Guide` chooses a runnable's worker and a thief's victims
/// (locality_guided.hpp). See `scheduling_policy` for the functions.
template <class Traits = real_traits, class Guide = no_guide>
class work_stealing {
  using atomics = typename Traits::atomics;
  using runnable = base::runnable;
  using deque = work_stealing_deque<atomics>;
  using counter = own_counter<atomics>;

 public:
  static constexpr std::string_view name = Guide::name;  ///< as settings have it
  static constexpr bool needs_places = Guide::active;    ///< it requires `options.places`
  static constexpr bool leads = true;  ///< it uses `options.seat`, unless idle workers spin

  using worker_data = stealing_worker<Traits>;  ///< one worker

  /// Makes the workers' data.
  explicit work_stealing(const policy_options& options)
      : count_(options.workers),
        started_(options.workers),
        quantum_(options.quantum),
        round_(worker_round::length_for(options.quantum)),
        idle_spin_ns_(options.idle_spin_ns),
        guide_(options),
        seat_(options.idle_spin_ns == 0 ? options.seat : nullptr),
        sleepers_(options.workers, options.seat),
        watch_(options.workers) {
    workers_.reserve(count_);
    for (std::uint32_t i = 0; i < count_; ++i)
      workers_.push_back(std::make_unique<worker_data>(i, round_, options));
  }

  /// Returns the worker with this index.
  [[nodiscard]] worker_data& worker(std::uint32_t index) noexcept { return *workers_[index]; }

  /// Gives no more work to workers other than the first `started`, because only these have a
  /// thread. The started workers also take the work that the others have already (W4).
  void use_first(std::uint32_t started) noexcept {
    // order: relaxed; work that goes to the wrong one meanwhile is found
    started_.store(started, std::memory_order_relaxed);
  }

  // --- the places of runnables -------------------------------------------------------------------

  /// Queues `r` at the worker that a guide chooses. Without a guide, queues it at the worker of
  /// `awake_while_others_sleep`; if there is none, at a parked worker; if all are awake, at each
  /// worker in turn.
  [[gnu::hot]] void central_enqueue(runnable& r) noexcept {
    if constexpr (!Guide::active) {
      const std::uint32_t awake = awake_while_others_sleep();
      if (awake != sleepers_type::nobody) {
        if (!r.offer()) return;
        worker(awake).inbox.push(r);
        return leave_to_those_awake(awake);
      }
    }
    const bool ahead = sleepers_type::may_wake(sleepers_.peek()) && watch_.arm_ahead();
    worker_data& target = worker(target_from_outside(r));
    if constexpr (Guide::active)
      external_enqueue(target, r);
    else
      enqueue_beyond_limit(target, r);  // guard W5: the awake workers seem to be held up
    if (ahead) watch_.keep_promise();
  }

  /// Puts `r` into the inbox of `target`; wakes `target` if a worker must be woken.
  void external_enqueue(worker_data& target, runnable& r) noexcept {
    if (!r.offer()) return;  // its old entry, which was announced, is valid again
    target.inbox.push(r);
    call_for_open_work(target.own_index);
  }

  /// Puts `r` into the next slot of `self`; the displaced runnable becomes open work. Needs no
  /// locked operation, unless the helper is busy there.
  void internal_enqueue(worker_data& self, runnable& r) noexcept {
    if constexpr (Guide::active) {
      const std::uint32_t target =
          started(guide_.target(r, static_cast<worker_index>(self.own_index)));
      if (target != self.own_index) return external_enqueue(worker(target), r);
    }
    if (r.has_stale_entry()) [[unlikely]] {
      if (r.offer()) {
        self.inbox.push(r);
        call_for_open_work();
      }
      return;
    }
    runnable* const displaced = self.front.slot.put(r);
    if (displaced != nullptr && displaced->offer()) self.deque.push(displaced);
    if (count_ == 1) return;
    const auto seen = sleepers_.observe();
    if (sleepers_type::any_parked(seen)) [[unlikely]]
      added_while_somebody_sleeps(self, seen, displaced != nullptr);
  }

  /// Queues `r` after its quantum: in the deque of `self` if the round is used up, else (the
  /// quantum of `r` is smaller) at the back of the inbox. A runnable that is alone on its worker is
  /// taken at once (W1), so no worker is called for it.
  void resume_later(worker_data& self, runnable& r) noexcept {
    if constexpr (Guide::active) {
      const std::uint32_t target =
          started(guide_.target(r, static_cast<worker_index>(self.own_index)));
      if (target != self.own_index) return external_enqueue(worker(target), r);
    }
    if (!r.offer()) return;
    const bool alone = !self.front.slot.occupied_for_owner() && self.deque.empty_for_owner() &&
                       self.inbox.looks_empty();
    if (self.round.is_over())  // guard W3: runnables that use up rounds take turns
      self.deque.push(&r);
    else
      self.inbox.push(r);
    if (!alone) call_for_open_work();  // guard W1
  }

  // --- the next runnable -------------------------------------------------------------------------

  /// Returns work of the slot, the deque, the inbox or another worker. Waits; null at the end.
  [[nodiscard]] runnable* dequeue(worker_data& self) noexcept {
    // order: relaxed; request_stop wakes all workers
    if (stopping_.load(std::memory_order_relaxed)) [[unlikely]]
      return nullptr;
    if (self.round.is_due()) [[unlikely]] {
      if (runnable* r = take_turn(self)) return r;
    }
    if (runnable* r = self.front.slot.take()) return r;
    if (runnable* r = self.deque.pop()) return r;
    self.emptied.add();
    self.round.has_nothing_else();
    if (runnable* r = take_inbox(self, self)) return r;
    return wait_for_work(self);
  }

  /// Returns the rest of the round, and at most a quantum.
  [[nodiscard]] std::uint32_t before_resume(worker_data& self, runnable& r) noexcept {
    self.figures.ran();
    if constexpr (Guide::active) guide_.before_run(r, static_cast<worker_index>(self.own_index));
    return self.round.allowance(quantum_);
  }

  /// Counts the used messages towards the round (W3).
  void after_resume(worker_data& self, std::uint32_t used) noexcept { self.round.use(used); }

  void after_completion(worker_data&) noexcept {}                       ///< does nothing
  void wake_guest() noexcept { sleepers_.wake_one(sleepers_.peek()); }  ///< for a free seat

  // --- the executor's requests -------------------------------------------------------------------

  /// Takes `r` out of the own slot or any queue. Returns false if it is in none or its home is far.
  [[nodiscard]] bool claim(worker_data& self, runnable& r) noexcept {
    if constexpr (Guide::active)
      if (!guide_.may_run_at(r, static_cast<worker_index>(self.own_index))) return false;
    return self.front.slot.claim(&r) || r.claim();
  }

  /// Takes `r` out of the own slot. Returns false if it is not there.
  [[nodiscard]] bool claim_next(worker_data& self, const runnable* r) noexcept {
    return self.front.slot.claim(r);
  }

  /// Empties the slot into the deque. An item that the ticker took is in the inbox by then (N4).
  void expose(worker_data& self) noexcept {
    runnable* const r = self.front.slot.take();
    self.front.slot.wait_for_helper();
    if (r == nullptr || !r->offer()) return;
    self.deque.push(r);
    call_for_open_work();  // guard W1
  }

  /// Returns true if a deque or an inbox holds something. Any thread.
  [[nodiscard]] bool has_open_work() const noexcept {
    return std::ranges::any_of(workers_, [](const auto& w) { return w->has_open_work(); });
  }

  // --- the helper: the slots of busy workers -----------------------------------------------------

  /// Returns true, for one helper, if there is more than one worker.
  [[nodiscard]] bool wants_helper() const noexcept { return count_ > 1; }

  /// Runs the ticker (worker_watch.hpp). Blocks until `request_stop`. Its guards: K2, K4 and K5 of
  /// slot_ticker.hpp; and W5, since an item that stays in a slot needs a worker beyond the limit.
  void helper() noexcept {
    watch_.run(workers_, sleepers_, stopping_, [this](std::uint32_t owner, runnable& r) {
      enqueue_beyond_limit(worker(owner), r);
    });
  }

  // --- the end -----------------------------------------------------------------------------------

  /// Wakes all workers and the helper; each `dequeue` returns null.
  void request_stop() noexcept {
    // order: release, pairs with helper; the tokens carry it to the workers
    stopping_.store(true, std::memory_order_release);
    sleepers_.wake_all();
    watch_.stop();
  }

  /// Returns a runnable that is left in any slot, deque or inbox, or null.
  [[nodiscard]] runnable* drain_one() noexcept {
    for (auto& w : workers_) {
      if (runnable* r = w->front.slot.steal()) return r;
      if (runnable* r = w->deque.pop()) return r;
      if (runnable* r = take_inbox(*w, *w)) return r;
    }
    return nullptr;
  }

  /// Returns the sums over all workers.
  [[nodiscard]] scheduler_stats statistics() const noexcept {
    scheduler_stats sum;
    for (const auto& w : workers_) {
      const worker_stats one = w->figures.read();
      sum.runs += one.runs;
      sum.steals += one.steals;
      sum.parks += one.parks;
    }
    sum.wakes = sleepers_.wakes();
    sum.exposed = watch_.exposed();
    sum.ticks = watch_.ticks();
    return sum;
  }

  /// Returns the figures of the worker with this index, and the length of its queues.
  [[nodiscard]] worker_stats worker_statistics(std::uint32_t index) const noexcept {
    return workers_[index]->statistics();
  }

  /// Returns the state of the sleepers, the ticker, and each worker's queues.
  [[nodiscard]] std::string describe() const {
    std::string text = sleepers_.describe() + ", " + watch_.describe();
    for (const auto& w : workers_) text += "; " + w->describe();
    return text;
  }

 private:
  using sleepers_type = sleepers<atomics, typename Traits::parker>;
  using picture = typename next_slot<atomics>::picture;

  static constexpr std::size_t most_in_batch = 16;  ///< that a theft takes besides the oldest
  /// workers that are asked if work from outside may be left to them
  static constexpr std::uint32_t most_asked = 4;

  /// Like `external_enqueue`, but wakes a worker also beyond the limit (W5).
  void enqueue_beyond_limit(worker_data& target, runnable& r) noexcept {
    if (!r.offer()) return;
    target.inbox.push(r);
    sleepers_.announce(target.own_index);
  }

  /// Returns the number of workers that are awake, of those that have a thread.
  [[nodiscard]] std::uint32_t awake(typename sleepers_type::state seen) const noexcept {
    const std::uint32_t among = started_.load(std::memory_order_relaxed);  // order: as use_first
    return among - std::min(among, sleepers_type::parked(seen));
  }

  /// Wakes a worker after open work has been made visible: `preferred` if that worker is parked. If
  /// as many are awake as may be (W5), the ticker watches instead.
  [[gnu::hot]] void call_for_open_work(std::uint32_t preferred = sleepers_type::nobody) noexcept {
    const auto seen = sleepers_.observe();
    if (sleepers_type::may_wake(seen)) call(seen, preferred);
  }

  /// Does the rest of `call_for_open_work`. Requires `may_wake(seen)`.
  void call(typename sleepers_type::state seen, std::uint32_t preferred) noexcept {
    if (awake(seen) < watch_.most_awake()) [[likely]]
      sleepers_.wake_one(seen, preferred);
    else if (!watch_.armed())  // guard K5: the workers at the limit may be held up
      watch_.arm();
  }

  /// Returns a worker that is awake while another is parked, makes progress and, below the limit of
  /// W5, has an empty inbox; `nobody` if none of the first few that are awake is such a worker.
  [[nodiscard]] std::uint32_t awake_while_others_sleep() noexcept {
    const auto seen = sleepers_.peek();
    if (!sleepers_type::any_parked(seen)) return sleepers_type::nobody;
    const bool enough = awake(seen) >= watch_.most_awake();
    const std::uint32_t among = started_.load(std::memory_order_relaxed);  // order: as use_first
    // order: relaxed; any of them will do
    std::uint32_t index = next_target_.load(std::memory_order_relaxed) % among;
    for (std::uint32_t i = 0, asked = 0; i < among && asked < most_asked; ++i) {
      if (!sleepers_.looks_parked(index)) {
        worker_data& w = worker(index);
        // guard W1: a worker in a long handler is left no work
        if ((enough || w.inbox.looks_empty()) && w.has_begun_run_since_asked()) return index;
        ++asked;
      }
      if (++index == among) index = 0;
    }
    return sleepers_type::nobody;
  }

  /// Guards work that was put into the inbox of `target`, which seemed to be awake: wakes it if all
  /// sleep by now (W1), and otherwise makes sure that the ticker watches (K5).
  void leave_to_those_awake(std::uint32_t target) noexcept {
    const auto seen = sleepers_.observe();
    // order: as use_first
    if (sleepers_type::parked(seen) >= started_.load(std::memory_order_relaxed))
      sleepers_.wake_one(seen, target);
    else if (sleepers_type::any_parked(seen) && !watch_.armed())
      watch_.arm();
  }

  std::uint32_t target_from_outside(runnable& r) noexcept {
    if constexpr (Guide::active) return started(guide_.target(r, no_worker));
    const std::uint32_t parked = sleepers_.some_parked();
    if (parked != sleepers_type::nobody) return parked;
    // order: relaxed; any distribution will do
    return started(next_target_.fetch_add(1, std::memory_order_relaxed) % count_);
  }

  /// Returns `target` or, if that one has no thread, a worker with a thread that replaces it.
  [[nodiscard]] std::uint32_t started(std::uint32_t target) const noexcept {
    const std::uint32_t started = started_.load(std::memory_order_relaxed);  // order: as use_first
    return target < started ? target : target % started;
  }

  /// Does the rare rest of internal_enqueue. Actors woken by an event wait until the event has been
  /// handled, so they are open work, in order; the first actor is taken out again, and not
  /// announced (W1).
  void added_while_somebody_sleeps(worker_data& self, typename sleepers_type::state seen,
                                   bool open_work) noexcept {
    if (self.handles_event) {
      const bool first = self.inbox.looks_empty();
      runnable* const r = self.front.slot.take();
      if (r != nullptr && r->offer()) self.inbox.push(*r);
      if (!first) call_for_open_work();
    }
    if (open_work && sleepers_type::may_wake(seen)) call(seen, sleepers_type::nobody);  // guard W1
    // guard K1
    if (self.front.slot.occupied_for_owner() && !watch_.armed()) watch_.arm();
  }

  /// Empties the inbox of `from`. Returns the oldest item; the rest goes into the deque of `self`,
  /// so that the oldest comes out first.
  [[gnu::hot]] runnable* take_inbox(worker_data& self, worker_data& from) noexcept {
    bool more = false;
    runnable* const oldest = from.inbox.take_all([&](runnable& r) {
      self.deque.push(&r);
      more = true;
    });
    if (more) call_for_open_work();  // guard W1
    return oldest;
  }

  /// Guard W3: takes the oldest of the own inbox, before the items in the slot and in the deque.
  /// Returns null if there is none, or if the worker has no other work.
  runnable* take_arrival(worker_data& self) noexcept {
    if (!self.front.slot.occupied_for_owner() && self.deque.empty_for_owner()) return nullptr;
    runnable* const oldest = self.inbox.take_oldest();
    if (oldest == nullptr) return nullptr;
    self.round.arrival_runs();
    if (!self.inbox.seems_empty()) call_for_open_work();  // guard W1
    return oldest;
  }

  /// Takes the runnable that has its turn before those in the slot and in the deque, or null. Not
  /// inlined, so that `dequeue` stays small.
  [[gnu::noinline]] runnable* take_turn(worker_data& self) noexcept {
    if (self.round.is_over())
      if (runnable* r = start_round(self)) return r;
    return self.round.arrival_may_run() ? take_arrival(self) : nullptr;
  }

  /// Guard W3: begins a round and returns its first runnable; null if there is none older than the
  /// slot's, or the round before goes on.
  runnable* start_round(worker_data& self) noexcept {
    if (self.round.wants_time() && self.round.goes_on(Traits::clock::now_ns())) return nullptr;
    self.beats.add();  // guard W4, against relief
    if (count_ > 1 && self.watch.is_due()) look_about(self);
    const bool inbox_first = self.round.begin();
    runnable* oldest = inbox_first ? take_arrival(self) : self.deque.steal_oldest();
    if (oldest == nullptr) oldest = inbox_first ? self.deque.steal_oldest() : take_arrival(self);
    if (oldest == nullptr) return nullptr;
    runnable* const occupant = self.front.slot.take();
    if (occupant != nullptr && occupant->offer()) {
      self.deque.push(occupant);
      call_for_open_work();  // guard W1
    }
    return oldest;
  }

  /// Guard W4: relieves the watched worker if it is stalled, and watches the next one.
  void look_about(worker_data& self) noexcept {
    worker_data& watched = worker(self.watch.whom());
    if (self.watch.stands_still(watched.beats.get())) relieve(self, watched);
    worker_data& next = worker(self.watch.watch_next(count_));
    self.watch.note(next.beats.get());
    self.watched_slot = next.front.slot.look();
  }

  /// Moves the work of `other` into the queues of `self`, where it gets its turn (W3).
  void relieve(worker_data& self, worker_data& other) noexcept {
    const auto add = [&](runnable* r) {
      if (r == nullptr) return;
      self.inbox.push(*r);
      call_for_open_work();  // guard W1, also for `steal_more`
      self.figures.stole(other.own_index);
    };
    const picture slot = other.front.slot.look();
    if (slot.item != nullptr && slot == self.watched_slot)
      if (runnable* const r = other.front.slot.steal(); r != nullptr && r->offer()) add(r);
    runnable* oldest = nullptr;
    if (other.deque.steal(oldest) == deque::steal_result::taken) {
      steal_more(self, other);
      add(oldest);
    }
    add(take_inbox(self, other));
  }

  /// Tries to steal from one victim. Sets `contended` if another try may succeed.
  runnable* visit(worker_data& self, std::uint32_t victim, bool& contended) noexcept {
    const bool near = guide_.are_neighbours(static_cast<worker_index>(self.own_index),
                                            static_cast<worker_index>(victim));
    runnable* const r =
        near ? steal_from(self, worker(victim), contended) : steal_one(worker(victim), contended);
    if (r != nullptr) self.figures.stole(victim);
    return r;
  }

  /// Steals several runnables from a neighbour.
  runnable* steal_from(worker_data& self, worker_data& victim, bool& contended) noexcept {
    runnable* r = nullptr;
    const auto result = victim.deque.steal(r);
    if (result == deque::steal_result::taken) {
      steal_more(self, victim);
      return r;
    }
    if (result == deque::steal_result::lost) contended = true;
    return take_inbox(self, victim);
  }

  /// Takes up to half of the victim's rest, so that the next theft is not needed soon. The end of
  /// the search (c3 of S4) or `relieve` announces these runnables.
  void steal_more(worker_data& self, worker_data& victim) noexcept {
    std::size_t left = std::min(victim.deque.size() / 2, most_in_batch);
    runnable* r = nullptr;
    for (; left > 0 && victim.deque.steal(r) == deque::steal_result::taken; --left)
      self.deque.push(r);
  }

  /// Visits all others, from a random one on.
  runnable* visit_all(worker_data& self, bool& contended) noexcept {
    std::uint32_t victim = self.random() % count_;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (victim != self.own_index) {
        if (runnable* r = visit(self, victim, contended)) return r;
      }
      if (++victim == count_) victim = 0;
    }
    return nullptr;
  }

  /// Visits near workers first and often. Returns null if it found nothing or lost to a thief.
  runnable* walk(worker_data& self, bool& contended) noexcept {
    for (auto w = guide_.walk(static_cast<worker_index>(self.own_index)); !w.has_been_everywhere();)
      if (runnable* r = visit(self, w.next(self.random), contended)) return r;
    return nullptr;
  }

  /// Steals one runnable from far away, and no more, since the others' homes are there.
  runnable* steal_one(worker_data& victim, bool& contended) noexcept {
    runnable* oldest = nullptr;
    const auto result = victim.deque.steal(oldest);
    if (result == deque::steal_result::taken) return oldest;
    if (result == deque::steal_result::lost) contended = true;
    return victim.inbox.take_oldest();
  }

  /// Looks everywhere for work, for as long as `idle_spin_ns` says. Requires that this worker
  /// counts as searching. Returns null if there is nothing anywhere.
  [[gnu::hot]] runnable* search(worker_data& self) noexcept {
    const std::uint64_t end = idle_spin_ns_ == 0 ? 0 : Traits::clock::now_ns() + idle_spin_ns_;
    for (;;) {
      if (runnable* r = take_inbox(self, self)) return r;
      bool contended = false;
      if constexpr (Guide::active)
        if (runnable* r = walk(self, contended)) return r;
      if (runnable* r = visit_all(self, contended)) return r;
      // order: relaxed; the tokens carry it
      if (stopping_.load(std::memory_order_relaxed)) return nullptr;
      if (!contended && (end == 0 || Traits::clock::now_ns() >= end)) return nullptr;
      atomics::pause();
    }
  }

  /// Called when the own queues are empty: searches, or sleeps. Returns null if the pool stops.
  [[gnu::hot]] runnable* wait_for_work(worker_data& self) noexcept {
    self.beats.add();  // guard W4, against relief
    self.front.sit();
    leading<sleepers_type> events(sleepers_, self.own_index, seat_);
    const auto look = [this] { return has_open_work(); };
    const bool has_room = awake(sleepers_.peek()) <= watch_.most_awake();  // W5
    bool searching = has_room && sleepers_.try_begin_search();
    for (;;) {
      if (runnable* r = searching ? search(self) : nullptr) {
        sleepers_.end_search(look);  // guard S4 (c3)
        return r;
      }
      sleepers_.prepare_park(self.own_index, searching);
      const bool open = has_open_work();
      if (open) call_for_open_work(self.own_index);  // guard S4 (b3)
      // guards K1 and K5: a worker that was woken may wait for its processor
      if (count_ > 1 && (open || watch_.some_slot_occupied(workers_)) && !watch_.armed())
        watch_.arm();
      const bool handled = events.nap(self, [&] { sleepers_.end_search(look); });
      // order: relaxed; the token carried it
      if (stopping_.load(std::memory_order_relaxed)) return nullptr;
      if (runnable* r = handled ? take_woken(self) : nullptr) return r;
      searching = !handled || sleepers_.try_begin_search();
    }
  }

  /// Takes the actors woken by an event, the oldest first.
  runnable* take_woken(worker_data& self) noexcept {
    if (runnable* r = take_inbox(self, self)) return r;
    runnable* const r = self.deque.steal_oldest();
    return r != nullptr ? r : self.front.slot.take();
  }

  // constant
  std::uint32_t count_;
  typename atomics::template atomic<std::uint32_t> started_;  // almost: it falls at most once
  std::uint32_t quantum_, round_;
  std::uint64_t idle_spin_ns_;
  [[no_unique_address]] Guide guide_;
  base::leader_seat* const seat_;
  std::vector<std::unique_ptr<worker_data>> workers_;
  typename atomics::template atomic<bool> stopping_{false};  // written once, at the end
  // all threads
  sleepers_type sleepers_;
  worker_watch<Traits> watch_;
  alignas(64) typename atomics::template atomic<std::uint32_t> next_target_{0};
};

}  // namespace garrick::sched
