"""Errors in the scheduler: its guards against starvation (docs/internals/parking.md), queues."""

from mutation import mutation

SCHED = "lib/sched/garrick/sched/"
PARKING = SCHED + "parking/"
POLICIES = SCHED + "policies/"
INBOX = SCHED + "queues/inbox.hpp"
STEALING = POLICIES + "work_stealing.hpp"
ROUND = POLICIES + "worker_round.hpp"
WATCH = POLICIES + "worker_watch.hpp"
LOOKS = PARKING + "slot_looks.hpp"
LIMIT = PARKING + "worker_limit.hpp"
SLEEPERS = PARKING + "sleepers.hpp"
by_guards = ("sched.starvation_guards",)
by_limit = ("sched.worker_watch",)

MUTATIONS = [
    mutation(
        "stealing: work taken out of an inbox is not announced",
        STEALING,
        "    if (more) call_for_open_work();",
        "",
        ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: work left in an inbox is not announced",
        STEALING,
        "    if (!self.inbox.seems_empty()) call_for_open_work();",
        "",
        ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: arrivals wait for the end of the round",
        STEALING,
        "return self.round.arrival_may_run() ? take_arrival(self) : nullptr;",
        "return nullptr;",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: an arrival interrupts at once the work that a worker has begun",
        STEALING,
        "    self.round.has_nothing_else();\n",
        "",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: a worker's time before it slept is not measured",
        PARKING + "leading.hpp",
        "      self.round.slept(nap.begin_ns, nap.end_ns);\n",
        "",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: a runnable that gives up its turn early goes on",
        STEALING,
        "    if (self.round.is_over())  // guard W3: runnables that use up rounds take turns\n"
        "      self.deque.push(&r);\n    else\n"
        "      self.inbox.push(r);\n",
        "    self.deque.push(&r);\n",
        ("tests.quantum",),
    ),
    mutation(
        "stealing: the runnable in the slot stays there when a round begins",
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
        "stealing: a runnable that leaves the slot when a round begins is not announced",
        STEALING,
        "      self.deque.push(occupant);\n      call_for_open_work();",
        "      self.deque.push(occupant);",
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
        "stealing: a runnable that gives up its turn early goes to the deque when a look is due",
        STEALING,
        "    if (self.round.is_over())  // guard W3: runnables that",
        "    if (self.round.is_due())  // guard W3: runnables that",
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
        "stealing: no thread watches work that is left to those awake",
        STEALING,
        "    else if (sleepers_type::any_parked(seen) && !watch_.armed())\n"
        "      watch_.arm();\n  }\n\n  std::uint32_t target_from_outside",
        "  }\n\n  std::uint32_t target_from_outside",
        ("sched.model.work_stealing", "sched.scheduler", "machine.sharing"),
    ),
    mutation(
        "stealing: the ticker calls no worker for one that is behind",
        LOOKS,
        "w->emptied.get())) sleepers.wake_another();",
        "w->emptied.get())) continue;",
        ("sched.model.work_stealing", "sched.scheduler", "machine.sharing"),
    ),
    mutation(
        "sleepers: a worker is called for a backlog only if none searches",
        SLEEPERS,
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
        LIMIT,
        "    w.work_waits = w.work_waits || looks_at_many_ * 2 > looks_;\n",
        "",
        ("sched.worker_limit",),
    ),
    mutation(
        "worker limit: a helper that hardly looks lowers it",
        LIMIT,
        "looks_ < fewest_looks ||",
        "",
        ("sched.worker_limit",),
    ),
    mutation(
        "inbox: work that is put back forgets later arrivals",
        INBOX,
        "        last->queue_link = newer;\n",
        "",
        ("sched.model.queues",),
    ),
    mutation(
        "inbox: later arrivals go before work that is put back",
        INBOX,
        "        T* last = first;\n        while (T* const next = last->queue_link) last = next;\n"
        "        last->queue_link = newer;\n",
        "        T* last = newer;\n        while (T* const next = last->queue_link) last = next;\n"
        "        last->queue_link = first;\n        first = newer;\n",
        ("sched.inbox",),
    ),
    mutation(
        "inbox: the line is not turned over",
        INBOX,
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
        "round: a worker that has done nothing counts as slow",
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
        POLICIES + "stealing_worker.hpp",
        "        round(longest_round, worker_round::first_of(longest_round)),\n",
        "        round(longest_round),\n",
        ("sched.work_stealing",),
    ),
    # ---- work stealing: rounds (W3)
    mutation(
        "stealing: no round begins",
        STEALING,
        "    if (self.round.is_over())\n      if (runnable* r = start_round(self)) return r;\n",
        "",
        ("sched.work_stealing", "sched.fairness"),
    ),
    # ---- work stealing: announcements (W1, S4)
    mutation(
        "stealing: a runnable that is displaced from the slot is not announced",
        STEALING,
        "    if (open_work && sleepers_type::may_wake(seen))",
        "    if (open_work && count_ == 0 && sleepers_type::may_wake(seen))",
        by_guards,
    ),
    mutation(
        "stealing: an exposed runnable is not announced",
        STEALING,
        "    self.deque.push(r);\n    call_for_open_work();  // guard W1\n",
        "    self.deque.push(r);\n",
        by_guards,
    ),
    mutation(
        "stealing: a runnable that goes on later is not announced",
        STEALING,
        "    if (!alone) call_for_open_work();",
        "    static_cast<void>(alone);\n",
        ("sched.work_stealing",),
    ),
    mutation(
        "stealing: a worker that falls asleep beside open work calls no worker",
        STEALING,
        "      if (open) call_for_open_work(self.own_index);",
        "",
        ("sched.model.work_stealing",),
    ),
    # ---- work stealing: the ticker (K1, K2, K5)
    mutation(
        "stealing: a worker that fills its slot arms no ticker",
        STEALING,
        "    if (self.front.slot.occupied_for_owner() && !watch_.armed()) watch_.arm();\n",
        "",
        by_guards,
    ),
    mutation(
        "stealing: a worker that falls asleep beside a filled slot arms no ticker",
        STEALING,
        "(open || watch_.some_slot_occupied(workers_))",
        "(open || workers_.empty())",
        by_guards,
    ),
    mutation(
        "stealing: a worker that falls asleep beside open work arms no ticker",
        STEALING,
        "(open || watch_.some_slot_occupied(workers_))",
        "watch_.some_slot_occupied(workers_)",
        by_guards,
    ),
    mutation(
        "stealing: at the limit, no thread watches open work",
        STEALING,
        "    else if (!watch_.armed())  // guard K5: the workers at the limit may be held up\n"
        "      watch_.arm();\n",
        "",
        by_limit,
    ),
    mutation(
        "ticker: an item that stays in a slot is not exposed",
        LOOKS,
        "        expose_stuck(budget, expose, stuck);\n",
        "",
        ("sched.worker_watch", "sched.model.work_stealing"),
    ),
    mutation(
        "ticker: an item behind a worker on the ticker's own processor is not exposed",
        LOOKS,
        "      expose_stuck(budget, expose, [&](std::size_t i) { return seen_[i].unmoved; });\n",
        "",
        ("machine.sharing",),
    ),
    mutation(
        "ticker: it rests without a last look",
        WATCH,
        "            !found_reason_after_disarming(workers, sleepers, unused))",
        "            (this->disarm(unused), true))",
        ("sched.model.work_stealing",),
    ),
    # ---- work stealing: the limit (W5)
    mutation(
        "stealing: at the limit, workers are woken for open work",
        STEALING,
        "    if (awake(seen) < watch_.most_awake()) [[likely]]",
        "    if (awake(seen) <= count_) [[likely]]",
        by_limit,
    ),
    mutation(
        "stealing: a worker beyond the limit searches",
        STEALING,
        "awake(sleepers_.peek()) <= watch_.most_awake();",
        "awake(sleepers_.peek()) <= count_;",
        by_limit,
    ),
    mutation(
        "stealing: at the limit, no worker is woken for work beside one that is held up",
        STEALING,
        "      enqueue_beyond_limit(target, r);  // guard W5",
        "      external_enqueue(target, r);  // guard W5",
        by_limit,
    ),
    mutation(
        "stealing: at the limit, no worker is woken for an item that stays in a slot",
        STEALING,
        "      enqueue_beyond_limit(worker(owner), r);",
        "      external_enqueue(worker(owner), r);",
        by_limit,
    ),
    # ---- work stealing: a worker that stands still (W4)
    mutation(
        "stealing: no busy worker looks about",
        STEALING,
        "    if (count_ > 1 && self.watch.is_due()) look_about(self);\n",
        "",
        by_guards + ("sched.model.work_stealing", "sched.stalled_watch", "machine.simulation"),
    ),
    mutation(
        "stealing: a worker that stands still keeps the item in its slot",
        STEALING,
        "    if (slot.item != nullptr && slot == self.watched_slot)",
        "    if (slot.item == nullptr && slot == self.watched_slot)",
        by_guards + ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: a worker that stands still keeps its deque",
        STEALING,
        "    if (other.deque.steal(oldest) == deque::steal_result::taken) {",
        "    if (oldest != nullptr) {",
        by_guards + ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: a worker that stands still is relieved of one item of its deque at a time",
        STEALING,
        "      steal_more(self, other);\n      add(oldest);",
        "      add(oldest);",
        by_guards,
    ),
    mutation(
        "stealing: a worker that stands still keeps its inbox",
        STEALING,
        "    add(take_inbox(self, other));\n",
        "",
        by_guards + ("sched.model.work_stealing",),
    ),
    mutation(
        "stealing: work of which a worker is relieved is not announced",
        STEALING,
        "      call_for_open_work();  // guard W1, also for `steal_more`\n",
        "",
        by_guards,
    ),
    mutation(
        "stealing: a worker that begins rounds seems to stand still",
        STEALING,
        "    self.beats.add();  // guard W4, against relief\n    if (count_ > 1",
        "    if (count_ > 1",
        by_guards,
    ),
    mutation(
        "stealing: a worker that runs dry seems to stand still",
        STEALING,
        "    self.beats.add();  // guard W4, against relief\n    self.front.sit();",
        "    self.front.sit();",
        by_guards,
    ),
    mutation(
        "stealing: a look takes an item that is new in a slot",
        STEALING,
        "slot.item != nullptr && slot == self.watched_slot",
        "slot.item != nullptr",
        by_guards,
    ),
]
