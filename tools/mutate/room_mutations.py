"""Errors where senders wait: for room in a mailbox, for credit, in a circle."""

from mutation import mutation

CORE = "lib/core/garrick/core/"
CELL = CORE + "cell/"
OVERLOAD = CORE + "overload/"
STEPS = CELL + "cell_steps.hpp"
LOT = OVERLOAD + "drain_lot.hpp"
CREDIT = OVERLOAD + "internal/sender_credit.hpp"
PAUSED = OVERLOAD + "internal/paused_senders.cpp"
IN_PLACE = OVERLOAD + "internal/in_place.cpp"
WAIT = OVERLOAD + "internal/room_wait.cpp"
ADMISSION = OVERLOAD + "internal/admission.cpp"
TAKING = OVERLOAD + "internal/credit.cpp"
WAITING = "lib/base/garrick/base/concurrency/waiting_workers.hpp"
PARKED = OVERLOAD + "internal/parked.cpp"
by_lot = ("core.model.drain_lot",)
by_lot_test = ("core.drain_lot",)
by_refills = ("tests.refilled_receivers",)
by_credit = ("core.model.sender_credit",)
by_pauses = ("tests.drained_elsewhere",)

ENTER = (
    "      for (const auto* a = top_; a != nullptr; a = a->outer) lot_.enter(a->id, receiver);\n"
)
LOOK = (
    "      for (int steps = 0; receiver != 0 && steps < longest_circle && !circle_; "
    "++steps) {\n"
    "        receiver = lot_.waits_for(receiver);\n"
    "        circle_ = receiver != 0 && detail::is_on_stack(top_, receiver);\n"
    "      }\n"
)

MUTATIONS = [
    # ---- room
    mutation(
        "room: the runner wakes before it clears the tag",
        STEPS,
        "    c.reader_.clear_waiting(c.gate_);\n    c.env().lot->wake(c.id());",
        "    c.env().lot->wake(c.id());\n    c.reader_.clear_waiting(c.gate_);",
        by_lot,
    ),
    mutation(
        "room: the runner wakes no sender",
        STEPS,
        "    c.reader_.clear_waiting(c.gate_);\n    c.env().lot->wake(c.id());",
        "    c.reader_.clear_waiting(c.gate_);",
        by_lot,
    ),
    mutation(
        "room: an actor that ends wakes no sender",
        STEPS,
        "    if ((tags & mailbox_word::waiting) != 0) env.lot->wake(c.id());\n",
        "",
        by_lot,
    ),
    mutation(
        "room: a sender reads the epoch after it has asked",
        STEPS,
        "    const std::uint32_t epoch = lot.epoch(c.id());\n"
        "    if (!c.gate_.ask_to_wait()) return wait_end::pointless;",
        "    if (!c.gate_.ask_to_wait()) return wait_end::pointless;\n"
        "    const std::uint32_t epoch = lot.epoch(c.id());",
        by_lot,
    ),
    mutation(
        "room: a wake-up does not advance the epoch",
        LOT,
        "word.fetch_add(1, std::memory_order_acq_rel);",
        "word.fetch_add(0, std::memory_order_acq_rel);",
        by_lot,
    ),
    mutation(
        "room: only one of the waiting senders is woken",
        LOT,
        "    Atomics::wake_all(at(id).word);",
        "    Atomics::wake_one(at(id).word);",
        by_lot,
    ),
    # ---- the hard limit
    mutation(
        "hard limit: a sender looks for it before it makes room, and not after that",
        ADMISSION,
        "  if ((length < hard || !room.is_at(hard)) && room.once(length)) return true;\n"
        "  return !room.is_at(hard) || room.at_hard_limit();\n",
        "  const bool full = length >= hard && room.is_at(hard);\n"
        "  return full ? room.at_hard_limit() : room.once(length);\n",
        by_refills,
    ),
    mutation(
        "hard limit: a receiver that is idle for a moment is no reason to look again",
        WAIT,
        "  return can_run_soon() && !to_.has_ended() ? outcome::look_again : outcome::pointless;\n",
        "  return outcome::pointless;\n",
        by_refills,
    ),
    mutation(
        "hard limit: a sender that has given up does not see that the receiver goes on",
        WAIT,
        " &&\n      (!gave_up.stood_still || to_.gate().consumed() == gave_up.handled)) {",
        ") {",
        by_refills,
    ),
    mutation(
        "hard limit: an answer leaves the mailbox stalled",
        CORE + "life/respond.hpp",
        "  r.requester->deliver_answer(e);\n",
        "  r.requester->deliver_now(e);\n",
        by_refills,
    ),
    # ---- circles
    mutation(
        "circle: a sender looks for it before it enters itself",
        LOT,
        ENTER + LOOK,
        "      const std::uint64_t to = receiver;\n" + LOOK + ENTER.replace("receiver", "to"),
        by_lot,
    ),
    mutation(
        "circle: a sender enters itself with release only",
        LOT,
        "base::order<Atomics, lot_order::enter>(std::memory_order_seq_cst)",
        "std::memory_order_release",
        by_lot,
    ),
    mutation(
        "circle: a sender looks with acquire only",
        LOT,
        "base::order<Atomics, lot_order::see_waiter>(std::memory_order_seq_cst)",
        "std::memory_order_acquire",
        by_lot,
    ),
    mutation(
        "circle: an entry is open before it names its receiver",
        LOT,
        "      s.awaited.store(receiver, std::memory_order_relaxed);\n"
        "      // order: seq_cst, pairs with waits_for\n"
        "      s.waiter.store(who, base::order<Atomics, lot_order::enter>"
        "(std::memory_order_seq_cst));",
        "      s.waiter.store(who, base::order<Atomics, lot_order::enter>"
        "(std::memory_order_seq_cst));\n"
        "      s.awaited.store(receiver, std::memory_order_relaxed);",
        by_lot,
    ),
    mutation(
        "circle: a wait that is over stays in the lot",
        LOT,
        "        return s.waiter.store(0, std::memory_order_relaxed);",
        "        return;",
        by_lot_test,
    ),
    mutation(
        "circle: only waits of two are seen",
        LOT,
        "    static constexpr int longest_circle = 16;",
        "    static constexpr int longest_circle = 1;",
        by_lot,
    ),
    mutation(
        "circle: only the innermost of the actors that run one another in place is entered",
        LOT,
        "a = a->outer) lot_.enter(a->id, receiver);",
        "a = nullptr) lot_.enter(a->id, receiver);",
        by_lot_test,
    ),
    # ---- credit
    mutation(
        "credit: the epoch is read after the look for credit",
        CREDIT,
        "      const std::uint32_t epoch = lot.epoch(id);\n      taken = take();\n",
        "      taken = take();\n      const std::uint32_t epoch = lot.epoch(id);\n",
        by_credit,
    ),
    mutation(
        "credit: a sender that waits is counted relaxed",
        CREDIT,
        "waiting_.fetch_add(1, at<credit_order::count_waiter>(std::memory_order_seq_cst));",
        "waiting_.fetch_add(1, std::memory_order_relaxed);",
        by_credit,
    ),
    mutation(
        "credit: a grant looks for waiting senders before it adds",
        CREDIT,
        "    left_.fetch_add(messages, at<credit_order::grant>(std::memory_order_seq_cst));\n"
        "    // order: seq_cst, pairs with wait\n"
        "    if (waiting_.load(at<credit_order::see_waiter>(std::memory_order_seq_cst)) != 0) "
        "lot.wake(id);",
        "    const bool anybody = waiting_.load(std::memory_order_seq_cst) != 0;\n"
        "    left_.fetch_add(messages, std::memory_order_seq_cst);\n"
        "    if (anybody) lot.wake(id);",
        by_credit,
    ),
    mutation(
        "credit: a grant wakes before it adds",
        CREDIT,
        "    left_.fetch_add(messages, at<credit_order::grant>(std::memory_order_seq_cst));\n"
        "    // order: seq_cst, pairs with wait\n"
        "    if (waiting_.load(at<credit_order::see_waiter>(std::memory_order_seq_cst)) != 0) "
        "lot.wake(id);",
        "    if (waiting_.load(std::memory_order_seq_cst) != 0) lot.wake(id);\n"
        "    left_.fetch_add(messages, std::memory_order_seq_cst);",
        by_credit,
    ),
    mutation(
        "credit: it is taken with a store",
        CREDIT,
        "      if (left_.compare_exchange_weak(n, n - 1, std::memory_order_seq_cst,\n"
        "                                      std::memory_order_seq_cst))\n"
        "        return true;",
        "      return left_.store(n - 1, std::memory_order_seq_cst), true;",
        by_credit,
    ),
    mutation(
        "credit: a message goes without the last credit",
        CREDIT,
        "    while (n > 0)\n",
        "    while (n >= 0)\n",
        ("tests.drained_elsewhere",),
    ),
    mutation(
        "credit: a sender that goes without it owes nothing",
        TAKING,
        "  credit.owe();\n",
        "",
        ("tests.drained_elsewhere",),
    ),
    mutation(
        "credit: a sender goes on waiting when the receiver has ended",
        TAKING,
        "[&of] { return of.has_ended(); }",
        "[] { return false; }",
        ("tests.drained_elsewhere",),
    ),
    mutation(
        "credit: a claimed receiver stays so while its sender waits",
        TAKING,
        "    if (!waits.closes_circle()) {\n      in_place::hand_over();",
        "    if (!waits.closes_circle()) {",
        ("tests.drained_elsewhere",),
    ),
    mutation(
        "wait: receivers claimed by sends deeper down the stack are all that is given back",
        IN_PLACE,
        "std::exchange(chain->next, nullptr))\n      next->home_executor()",
        "chain->outer != nullptr ? nullptr : std::exchange(chain->next, nullptr))\n"
        "      next->home_executor()",
        ("tests.drained_elsewhere",),
    ),
    # ---- pauses
    mutation(
        "pause: a handler waits for its first credit, and holds its worker",
        TAKING,
        "    if (may_pause && owe_and_pause(of)) return credit.owe(), true;\n",
        "    if (may_pause && false && owe_and_pause(of)) return credit.owe(), true;\n",
        by_pauses,
    ),
    mutation(
        "pause: a message sent before a pause is lost when much is under way",
        TAKING,
        "    if (may_pause && owe_and_pause(of)) return credit.owe(), true;\n",
        "    if (may_pause && owe_and_pause(of)) return credit.owe(), false;\n",
        ("tests.net.stopped_peers",),
    ),
    mutation(
        "pause: a sender that pauses does not look for credit once more",
        CREDIT,
        "return left_.load(at<credit_order::see_credit>(std::memory_order_seq_cst)) < 0;",
        "return true;",
        by_credit,
    ),
    mutation(
        "pause: a grant does not end pauses",
        CREDIT,
        "    if (ends_pauses()) senders_.go_on();\n",
        "",
        by_pauses,
    ),
    mutation(
        "pause: a grant that only pays debts ends pauses",
        CREDIT,
        "    if (left() < 0) return false;\n",
        "",
        by_pauses,
    ),
    mutation(
        "pause: the receiver's end does not end them",
        "lib/core/garrick/core/seam/proxy_cell.cpp",
        "  credit::end_pauses(*this);\n",
        "",
        ("tests.net.stopped_peers",),
    ),
    mutation(
        "stuck: no worker that waits is counted",
        TAKING,
        "      const counted_wait counted;\n",
        "",
        ("tests.net.floods",),
    ),
    mutation(
        "stuck: an actor that no thread runs is granted nothing",
        "lib/net/garrick/net/node/link/internal/link_receive.cpp",
        "grant(id, exports::grant_to_stuck(*x, keeps_up(*x)), exports::grant_bytes_to_stuck(*x));",
        "grant(id, 0, exports::grant_bytes_to_stuck(*x));",
        ("tests.net.floods",),
    ),
    mutation(
        "stuck: an actor with a bounded mailbox is granted more than it is sure to take",
        "lib/net/garrick/net/node/link/internal/exports.cpp",
        "         who.limits().policy == core::mailbox_policy::unbounded &&\n"
        "         who.mailbox_length() <",
        "         who.mailbox_length() <",
        ("tests.net.floods",),
    ),
    mutation(
        "stuck: an actor with a half-full mailbox is granted more",
        "lib/net/garrick/net/node/link/internal/exports.cpp",
        "         who.mailbox_length() < who.hard_limit() / 2;",
        "         who.hard_limit() != 0;",
        ("tests.net.floods",),
    ),
    mutation(
        "pause: the clock does not end them",
        PAUSED,
        "  one.go_on();\n",
        "",
        by_pauses,
    ),
    mutation(
        "pause: an actor that pauses is queued, too",
        TAKING,
        "  return pauses;\n",
        "  return pauses && false;\n",
        by_pauses,
    ),
    mutation(
        "pause: a debt of a start hook is the next actor's",
        TAKING,
        "  if (cell* const to = std::exchange(here.owes_to, nullptr)) to->drop_weak();\n",
        "",
        by_pauses,
    ),
    mutation(
        "pause: an actor loses its debt if another one runs inside of its send",
        CORE + "turn/internal/turn_frame.hpp",
        "    detail::here.owes_to = owes_to_;\n",
        "",
        by_pauses,
    ),
    mutation(
        "pause: a handler owes as much as it sends",
        TAKING,
        " || here.owed == most_owed ||",
        " ||",
        by_pauses,
    ),
    mutation(
        "pause: a sender that waits in no case pauses",
        TAKING,
        " of_senders(of).patience().count() == 0)",
        " false)",
        equivalent="its clock calls at once",
    ),
    mutation(
        "stuck: a sender that waits for room in its own node is not counted",
        WAIT,
        "  const counted_wait counted;\n  return wait_counted",
        "  return wait_counted",
        ("tests.net.floods", "tests.waiting_senders"),
    ),
    mutation(
        "all wait: the last worker tells no waiting thread",
        WAITING,
        "    if (has_work()) tell();\n",
        "    static_cast<void>(has_work());\n",
        ("core.model.drain_lot", "tests.waiting_senders"),
    ),
    mutation(
        "all wait: a thread outside that queues something tells no waiting thread",
        WAITING,
        "      tell();\n  }\n\n  /// Returns true if all",
        "      return;\n  }\n\n  /// Returns true if all",
        ("core.model.drain_lot",),
    ),
    mutation(
        "all wait: the pool does not know which threads to tell",
        "lib/system/garrick/system/system_core.cpp",
        "static_cast<core::drain_lot*>(all)->wake_claimers(); },",
        "static_cast<void>(all); },",
        ("tests.waiting_senders",),
    ),
    mutation(
        "all wait: no sender counts as one that could run its receiver",
        WAIT,
        "  if (ex != nullptr || restarts) claimer.emplace(*to_.env().lot, to_.id());\n",
        "",
        ("tests.waiting_senders",),
    ),
    mutation(
        "all wait: a worker that waits keeps its work to itself",
        "lib/sched/garrick/sched/worker_pool.hpp",
        "    policy_.expose(self());\n    waiting_.begin",
        "    waiting_.begin",
        ("tests.waiting_senders",),
    ),
    mutation(
        "all wait: a sender sleeps before it tries to claim its receiver",
        CELL + "cell_steps.hpp",
        "    if (claim()) return wait_end::claimed;\n"
        "    lot.wait(c.id(), epoch, limit_ns);\n"
        "    return wait_end::woken;\n",
        "    lot.wait(c.id(), epoch, limit_ns);\n"
        "    return claim() ? wait_end::claimed : wait_end::woken;\n",
        ("core.model.drain_lot",),
    ),
    mutation(
        "slot: a helper counts as gone before it has handed on the item that it took",
        "lib/sched/garrick/sched/queues/next_slot.hpp",
        "    if (item != nullptr) give(*item);\n",
        "    helper_busy_.store(0, std::memory_order_release);\n"
        "    if (item != nullptr) give(*item);\n",
        ("sched.model.queues",),
    ),
]
