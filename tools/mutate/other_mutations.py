"""Errors in queues and tokens, supervision, timers, threads of actors, and the scheduler."""

from mutation import mutation

BASE = "lib/base/garrick/base/"
CORE = "lib/core/garrick/core/"
RING = BASE + "concurrency/ring.hpp"
TOKEN = BASE + "concurrency/run_token.hpp"
CHILDREN = "lib/core/garrick/core/supervision/internal/children.cpp"
TIMER = CORE + "turn/internal/timer_steps.hpp"
SERVICE = BASE + "time/timer_service.cpp"
WHEEL = BASE + "time/timing_wheel.cpp"
VISITS = BASE + "time/internal/visited_mutex.hpp"
SWEPT = BASE + "memory/swept_list.hpp"
SLOT = "lib/system/garrick/system/threads/internal/thread_slot.hpp"
POOL = "lib/system/garrick/system/threads/detached_pool.cpp"
STEALING = "lib/sched/garrick/sched/policies/work_stealing.hpp"
ROUND = "lib/sched/garrick/sched/policies/worker_round.hpp"
by_ring = ("base.model.ring",)
by_token = ("base.model.run_token",)
by_steps = ("core.model.cell_steps",)
by_timer = ("core.model.timer_steps",)
by_service = ("base.timer_service",)
by_wheel = ("base.timing_wheel",)
by_swept = ("base.swept_list",)
by_visits = ("base.visited_mutex",)
by_slot = ("system.model.thread_slot",)

MUTATIONS = [
    # ---- the ring
    mutation(
        "ring: the tail is published before the items are built",
        RING,
        "    for (std::size_t i = 0; i < n; ++i) std::construct_at(",
        "    tail_.value.store(mine.tail + n, std::memory_order_release);\n"
        "    for (std::size_t i = 0; i < n; ++i) std::construct_at(",
        by_ring,
    ),
    mutation(
        "ring: the tail is stored relaxed",
        RING,
        "order<Atomics, ring_order::publish_tail>(std::memory_order_release)",
        "std::memory_order_relaxed",
        by_ring,
    ),
    mutation(
        "ring: the head is stored relaxed",
        RING,
        "order<Atomics, ring_order::publish_head>(std::memory_order_release)",
        "std::memory_order_relaxed",
        by_ring,
    ),
    mutation(
        "ring: the head is read relaxed",
        RING,
        "order<Atomics, ring_order::see_head>(std::memory_order_acquire)",
        "std::memory_order_relaxed",
        by_ring,
    ),
    mutation(
        "ring: room for one too many",
        RING,
        "std::min(items.size(), capacity() - (mine.tail - mine.seen_head))",
        "std::min(items.size(), capacity() + 1 - (mine.tail - mine.seen_head))",
        by_ring,
    ),
    mutation(
        "ring: the end is decided before the close is seen",
        RING,
        "    return size() == 0;",
        "    return consumer_.seen_tail == consumer_.head;",
        by_ring,
    ),
    mutation(
        "ring: the room is given back before the item is gone",
        RING,
        "      const destroy_taken after{*this};",
        "      head_.value.store(mine.head + 1, std::memory_order_release);\n"
        "      const destroy_taken after{*this};",
        by_ring,
    ),
    # ---- the token of a queue's entry
    mutation(
        "token: a claim leaves no stale entry",
        TOKEN,
        "        seen, stale, order<Atomics, token_order::claim>",
        "        seen, none, order<Atomics, token_order::claim>",
        by_token,
    ),
    mutation(
        "token: an owner frees what a queue still names",
        TOKEN,
        "!= stale)\n      return true;\n    // order: release, pairs with take: the owner",
        "!= orphan)\n      return true;\n    // order: release, pairs with take: the owner",
        by_token,
    ),
    mutation(
        "token: the queue's link is taken to be free without acquire",
        TOKEN,
        "order<Atomics, token_order::looks>(std::memory_order_acquire)",
        "std::memory_order_relaxed",
        by_steps,
    ),
    # ---- supervision
    mutation(
        "children: one that was told to end is restarted",
        CHILDREN,
        "  if (failed.stopping) return;             // the order to end is on its way\n",
        "",
        ("tests.supervision_crossings",),
    ),
    mutation(
        "children: any end goes on with the restart of the group",
        CHILDREN,
        "  if (now_ == activity::halting && awaited) go_on_halting(self);",
        "  if (now_ == activity::halting) go_on_halting(self);",
        ("tests.supervision_deadlines",),
    ),
    # ---- timers
    mutation(
        "timer: the one that fires once and is cancelled fires all the same",
        TIMER,
        "    if (r.state_.exchange(over, std::memory_order_relaxed) == armed) {",
        "    if (r.state_.exchange(over, std::memory_order_relaxed) != busy) {",
        by_timer,
    ),
    mutation(
        "timer: a beat does not keep the record from being cleaned up",
        TIMER,
        "    if (!r.state_.compare_exchange_strong(expected, busy,",
        "    if (!r.state_.compare_exchange_strong(expected, armed,",
        by_timer,
    ),
    mutation(
        "timer: the hold of a timer that was cancelled in the service is kept",
        TIMER,
        "    if (cancel_at_service(r)) drop_holder(r);\n    r.finish();\n    return true;",
        "    static_cast<void>(cancel_at_service(r));\n    r.finish();\n    return true;",
        by_timer,
    ),
    mutation(
        "timer: the record is let go before it is cleaned up",
        TIMER,
        "      if (cancel_at_service(r)) drop_holder(r);\n"
        "      r.finish();\n    }\n    drop_holder(r);",
        "      if (cancel_at_service(r)) drop_holder(r);\n      drop_holder(r);\n"
        "      return r.finish();\n    }\n    drop_holder(r);",
        by_timer,
    ),
    mutation(
        "timer: the hold of a beat that was armed before a cancel was seen is kept",
        TIMER,
        "      if (cancel_at_service(r)) drop_holder(r);\n",
        "      static_cast<void>(cancel_at_service(r));\n",
        by_timer,
    ),
    mutation(
        "timer: a hold that the service still has is given up",
        TIMER,
        "      if (cancel_at_service(r)) drop_holder(r);\n",
        "      static_cast<void>(cancel_at_service(r));\n      drop_holder(r);\n",
        by_timer,
    ),
    mutation(
        "timer: a beat has no hold of its own while the service may drop the timer",
        TIMER,
        "    r.holders_.fetch_add(1, std::memory_order_relaxed);\n    arm();",
        "    static_cast<void>(r.holders_.load(std::memory_order_relaxed));\n"
        "    arm();\n    r.holders_.fetch_add(1, std::memory_order_relaxed);",
        by_timer,
    ),
    mutation(
        "timer: the first id replaces that of a beat which came before",
        TIMER,
        "    r.id_.compare_exchange_strong(none, first, std::memory_order_relaxed,\n"
        "                                  std::memory_order_relaxed);",
        "    r.id_.store(first - none, std::memory_order_relaxed);",
        by_timer,
    ),
    mutation(
        "timer: a beat is over without release",
        TIMER,
        "base::order<atomics<Record>, timer_order::armed_again>(std::memory_order_release)",
        "std::memory_order_relaxed",
        by_timer,
    ),
    # ---- the list of an actor's timers
    mutation(
        "timer list: one call looks at all records",
        SWEPT,
        "    for (unsigned looks = 0; looks < most_looked_at && next_look_ != nullptr; ++looks) {",
        "    while (next_look_ != nullptr) {",
        by_swept,
    ),
    mutation(
        "timer list: a record that is removed stays the place to go on from",
        SWEPT,
        "    if (next_look_ == &x) next_look_ = x.next_;  // S2\n",
        "",
        by_swept,
    ),
    mutation(
        "timer list: each call begins a pass anew",
        SWEPT,
        "    if (next_look_ == nullptr) next_look_ = first_;",
        "    next_look_ = first_;",
        by_swept,
    ),
    mutation(
        "timer list: one look a call is too few for the bound",
        SWEPT,
        "most_looked_at = 3;",
        "most_looked_at = 1;",
        by_swept,
    ),
    # ---- the clock's thread
    mutation(
        "clock: an earlier deadline does not wake the thread",
        SERVICE,
        "      wake = deadline < state_->sleeping_until;  // T1\n",
        "",
        by_service,
    ),
    mutation(
        "clock: a timer that is armed after the stop is kept",
        SERVICE,
        "    stopped = state_->stopping;\n",
        "",
        by_service,
    ),
    mutation(
        "clock: what is armed at the stop is not dropped",
        SERVICE,
        "  while (state_->wheel.pop_any(task)) drop(task);",
        "  while (state_->wheel.pop_any(task)) task = {};",
        by_service,
    ),
    mutation(
        "clock: the thread opens a slot in one step",
        SERVICE,
        "  unsigned moves = most_moves;",
        "  unsigned moves = most_moves * 1000;",
        by_service,
    ),
    mutation(
        "clock: the thread takes out all that is due in one step",
        SERVICE,
        "  while (due.size() < batch) {",
        "  for (;;) {",
        by_service,
    ),
    mutation(
        "clock: nobody is let in between two steps",
        VISITS,
        "      if (static_cast<std::int32_t>(left) <= 0) return;",
        "      if (static_cast<std::int32_t>(left) >= 0) return;",
        by_visits,
    ),
    mutation(
        "wheel: timers are taken out although some are still to be sorted",
        WHEEL,
        "  for (unsigned moves = most_moves; !sort_until(now, moves);) moves = most_moves;\n"
        "  if (heap_size_ == 0) return false;",
        "  if (heap_size_ == 0) return false;",
        by_wheel,
    ),
    mutation(
        "wheel: the rest of a slot that is being opened begins with a link to what went",
        WHEEL,
        "    at(timer).before = none;\n    return false;",
        "    return false;",
        by_wheel,
    ),
    mutation(
        "wheel: an old id cancels who has its place now",
        WHEEL,
        "  ++n.generation;  // W3; it wraps from odd to zero, which no id carries\n",
        "  n.generation += 2;\n",
        by_wheel,
    ),
    # ---- threads of detached actors
    mutation(
        "detached: a thread is given after the stop",
        POOL,
        "  if (stopped_) return base::errc::shutting_down;\n",
        "",
        ("system.detached_pool",),
    ),
    mutation(
        "detached: at the bound, a free thread of the other kind is not taken",
        POOL,
        "!full || !free_[kind].empty() ? free_[kind] : free_[1 - kind]",
        "free_[kind]",
        ("system.detached_pool",),
    ),
    mutation(
        "detached: the end is seen before what is to be run",
        SLOT,
        "      if (Runnable* const r = take()) return r;\n",
        "      if (quit_.load(std::memory_order_acquire)) return nullptr;\n"
        "      if (Runnable* const r = take()) return r;\n",
        equivalent="a thread is told to quit only when it serves nobody, so nothing is to be run",
    ),
    mutation(
        "detached: what is given is not announced",
        SLOT,
        "base::order<Atomics, slot_order::give>(std::memory_order_release));\n"
        "    parker_.unpark();",
        "base::order<Atomics, slot_order::give>(std::memory_order_release));",
        by_slot,
    ),
    # ---- the scheduler
    mutation(
        "stealing: what is taken out of an inbox is not announced",
        STEALING,
        "    if (more) call_for_open_work();\n",
        "",
        ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: what is stolen is not announced",
        STEALING,
        "    if (got != 0) call_for_open_work();",
        "",
        equivalent="only a searching worker steals, and the end of its search looks into all "
        "queues and wakes whoever it must; the announcement is only sooner",
    ),
    mutation(
        "stealing: what is left in an inbox is not announced",
        STEALING,
        "    if (!self.inbox.seems_empty()) call_for_open_work();\n",
        "",
        ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: what arrives waits for the end of the round",
        STEALING,
        "return self.round.arrival_may_run() ? take_arrival(self) : nullptr;",
        "return nullptr;",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: what arrives at once interrupts what a worker has begun",
        STEALING,
        "    self.round.has_nothing_else();\n",
        "",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: what a worker did before it slept is not measured",
        "lib/sched/garrick/sched/parking/leading.hpp",
        "      self.round.slept(nap.begin_ns, nap.end_ns);\n",
        "",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: who gives up its turn early goes on",
        STEALING,
        "    if (self.round.is_over())\n      self.deque.push(&r);\n    else\n"
        "      self.inbox.push(r);\n",
        "    self.deque.push(&r);\n",
        ("tests.quantum",),
    ),
    mutation(
        "stealing: what was in the slot stays there when a round begins",
        STEALING,
        "    runnable* const occupant = self.front.slot.take();\n",
        "    runnable* const occupant = count_ == 0 ? self.front.slot.take() : nullptr;\n",
        ("sched.fairness",),
    ),
    mutation(
        "stealing: one that goes on later seems alone although something is in the inbox",
        STEALING,
        "self.deque.empty_for_owner() &&\n                       self.inbox.looks_empty();",
        "self.deque.empty_for_owner();",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: a round in which the inbox has its turn in vain begins without the oldest",
        STEALING,
        "    if (oldest == nullptr) oldest = inbox_first ?",
        "    if (oldest == nullptr && count_ == 0) oldest = inbox_first ?",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: what leaves the slot when a round begins is not announced",
        STEALING,
        "      self.deque.push(occupant);\n      call_for_open_work();\n",
        "      self.deque.push(occupant);\n",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: work is left to those awake, and the ticker called, although all sleep",
        STEALING,
        "    if (sleepers_type::parked(seen) >= started_.load(",
        "    if (sleepers_type::parked(seen) > started_.load(",
        ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: who gives up its turn early goes to the deque when a look is due",
        STEALING,
        "    if (self.round.is_over())\n      self.deque.push(&r);",
        "    if (self.round.is_due())\n      self.deque.push(&r);",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: work is left to those awake although all sleep",
        STEALING,
        "      sleepers_.wake_one(seen, target);\n    else if",
        "      static_cast<void>(target);\n    else if",
        ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: work is left to one in a handler that takes long",
        STEALING,
        "(enough || w.inbox.looks_empty()) && w.has_begun_run_since_asked()) return index;",
        "(enough || w.inbox.looks_empty())) return index;",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: nobody watches work that is left to those awake",
        STEALING,
        "    else if (sleepers_type::any_parked(seen) && !watch_.armed())\n"
        "      watch_.arm();\n  }\n\n  std::uint32_t target_from_outside",
        "  }\n\n  std::uint32_t target_from_outside",
        ("sched.model.work_stealing", "sched.scheduler", "machine.sharing"),
    ),
    mutation(
        "stealing: the ticker calls nobody for a worker that is behind",
        "lib/sched/garrick/sched/parking/slot_looks.hpp",
        "w->emptied.get())) sleepers.wake_another();",
        "w->emptied.get())) continue;",
        ("sched.model.work_stealing", "sched.scheduler", "machine.sharing"),
    ),
    mutation(
        "sleepers: who is called for a backlog is called only if nobody searches",
        "lib/sched/garrick/sched/parking/sleepers.hpp",
        "    while (any_parked(seen))\n      if (try_wake(seen, nobody)) return true;",
        "    while (may_wake(seen))\n      if (try_wake(seen, nobody)) return true;",
        ("sched.sleepers", "machine.sharing"),
    ),
    mutation(
        "stealing: at the limit, outside work is not left to one with a filled inbox",
        STEALING,
        "(enough || w.inbox.looks_empty())",
        "(enough ? w.inbox.looks_empty() : w.inbox.looks_empty())",
        ("sched.worker_watch",),
    ),
    mutation(
        "worker limit: many runnables that wait do not raise it",
        "lib/sched/garrick/sched/parking/worker_limit.hpp",
        "    w.work_waits = w.work_waits || looks_at_many_ * 2 > looks_;\n",
        "",
        ("sched.worker_limit",),
    ),
    mutation(
        "worker limit: a helper that hardly looks lowers it",
        "lib/sched/garrick/sched/parking/worker_limit.hpp",
        "looks_ < fewest_looks ||",
        "",
        ("sched.worker_limit",),
    ),
    mutation(
        "inbox: what is put back forgets what came meanwhile",
        "lib/sched/garrick/sched/queues/inbox.hpp",
        "        last->queue_link = newer;\n",
        "",
        ("sched.model.queues",),
    ),
    mutation(
        "inbox: what came meanwhile goes before what is put back",
        "lib/sched/garrick/sched/queues/inbox.hpp",
        "        T* last = first;\n        while (T* const next = last->queue_link) last = next;\n"
        "        last->queue_link = newer;\n",
        "        T* last = newer;\n        while (T* const next = last->queue_link) last = next;\n"
        "        last->queue_link = first;\n        first = newer;\n",
        ("sched.inbox",),
    ),
    mutation(
        "inbox: the line is not turned over",
        "lib/sched/garrick/sched/queues/inbox.hpp",
        "    walk(turned_over(take_line()));\n",
        "    walk(take_line());\n",
        ("sched.inbox",),
    ),
    mutation(
        "round: others have no turn after an arrival",
        ROUND,
        "    next_arrival_ = handled_ + (handled_ - arrival_began_);\n",
        "    next_arrival_ = handled_;\n",
        ("sched.worker_round", "sched.work_stealing"),
    ),
    mutation(
        "round: its length does not follow the time",
        ROUND,
        "std::clamp<std::uint64_t>(fitting, 1, most)",
        "fitting == 0 ? 1 : most",
        ("sched.worker_round",),
    ),
    mutation(
        "round: one of quick messages goes on for ever",
        ROUND,
        "measured_at_ns_ != 0 && handled_ - measured_ + length_ <= longest_;",
        "measured_at_ns_ != 0;",
        ("sched.worker_round",),
    ),
    mutation(
        "round: one of quick messages does not go on",
        ROUND,
        "now_ns - measured_at_ns_ >= shall_last_ns() / 2",
        "now_ns - measured_at_ns_ >= 1",
        ("sched.worker_round", "machine.simulation"),
    ),
    mutation(
        "round: the inbox and the deque do not take turns",
        ROUND,
        "    inbox_has_turn_ = !inbox_has_turn_;\n",
        "",
        ("sched.worker_round", "sched.fairness"),
    ),
    mutation(
        "round: a run may use nothing when the round is over",
        ROUND,
        "is_over() ? 1 : std::min(",
        "std::min(",
        ("sched.worker_round", "sched.fairness"),
    ),
    mutation(
        "round: who has done nothing counts as slow",
        ROUND,
        "    if (measured_at_ns_ != 0 && handled_ != measured_) {",
        "    if (measured_at_ns_ != 0) {",
        ("sched.worker_round",),
    ),
    mutation(
        "round: that something arrived lately does not make it measure each",
        ROUND,
        "length_ < longest_ || has_arrived_ || arrivals_come_;",
        "length_ < longest_ || has_arrived_;",
        ("sched.worker_round",),
    ),
    mutation(
        "round: that something has just arrived does not make it measure at once",
        ROUND,
        "length_ < longest_ || has_arrived_ || arrivals_come_;",
        "length_ < longest_ || arrivals_come_;",
        ("sched.worker_round",),
    ),
    mutation(
        "round: the next look stays due when one begins",
        ROUND,
        "    look_after(0);\n    inbox_has_turn_ = ",
        "    inbox_has_turn_ = ",
        ("sched.worker_round",),
    ),
    mutation(
        "round: an arrival counts although nothing else was there after it",
        ROUND,
        "    arrival_runs_ = false;\n    next_arrival_ = handled_ + std::min(",
        "    next_arrival_ = handled_ + std::min(",
        ("sched.worker_round",),
    ),
    mutation(
        "round: the first one is as long as it may be",
        "lib/sched/garrick/sched/policies/stealing_worker.hpp",
        "        round(longest_round, worker_round::first_of(longest_round)),\n",
        "        round(longest_round),\n",
        ("sched.work_stealing",),
    ),
]
