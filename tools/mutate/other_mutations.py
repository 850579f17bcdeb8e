"""Errors in queues and tokens, supervision, timers, and threads of actors."""

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
        "token: an owner frees a runnable that a queue still names",
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
        "clock: timers armed at the stop are not dropped",
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
        "clock: no visitor is let in between two steps",
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
        "wheel: the rest of a slot that is being opened begins with a link to a timer that went",
        WHEEL,
        "    at(timer).before = none;\n    return false;",
        "    return false;",
        by_wheel,
    ),
    mutation(
        "wheel: an old id cancels the timer that has its place now",
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
        "detached: the end is seen before work that is to be run",
        SLOT,
        "      if (Runnable* const r = take()) return r;\n",
        "      if (quit_.load(std::memory_order_acquire)) return nullptr;\n"
        "      if (Runnable* const r = take()) return r;\n",
        equivalent="a thread is told to quit only when it serves no actor, so nothing is to be run",
    ),
    mutation(
        "detached: given work is not announced",
        SLOT,
        "base::order<Atomics, slot_order::give>(std::memory_order_release));\n"
        "    parker_.unpark();",
        "base::order<Atomics, slot_order::give>(std::memory_order_release));",
        by_slot,
    ),
]
