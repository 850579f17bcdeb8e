"""Errors in the steps of several threads on one cell, in its run loop and in its mail."""

from mutation import mutation

CORE = "lib/core/garrick/core/"
CELL = CORE + "cell/"
STEPS = CELL + "cell_steps.hpp"
MAILBOX = CORE + "mailbox/mailbox.hpp"
RUN = CORE + "turn/running_cell.cpp"
LATEST = CORE + "latest.hpp"
LIFE = CORE + "turn/internal/lifecycle.cpp"
BLOCKING = CORE + "blocking.cpp"
IN_PLACE = CORE + "overload/internal/in_place.cpp"
WAIT = CORE + "overload/internal/room_wait.cpp"
ADMISSION = CORE + "overload/internal/admission.cpp"
by_steps = ("core.model.cell_steps",)
by_mailbox = ("core.model.mailbox",)
by_latest = ("tests.latest",)

MUTATIONS = [
    # ---- steps on a cell
    mutation(
        "handles: the last drop schedules without holding the environment",
        STEPS,
        "    env.hold();  // a worker may end this actor",
        "    // a worker may end this actor",
        by_steps,
    ),
    mutation(
        "handles: the hold for the schedule is never given up",
        STEPS,
        "    c.schedule();\n    env.release();",
        "    c.schedule();",
        by_steps,
    ),
    mutation(
        "handles: the drop that finds the actor ended keeps the block",
        STEPS,
        "        drop_weak(c);\n        env.release();",
        "        env.release();",
        by_steps,
    ),
    mutation(
        "handles: the drop that finds the actor ended keeps the environment",
        STEPS,
        "        env.release();  // the reference of the actor's end",
        "        static_cast<void>(env);  // the reference of the actor's end",
        by_steps,
    ),
    mutation(
        "handles: a stale entry in a queue is overlooked",
        STEPS,
        "c.may_end_here() && !c.has_stale_entry()",
        "c.may_end_here()",
        by_steps,
    ),
    mutation(
        "handles: a weak handle becomes a strong one from zero",
        STEPS,
        "    while (n != 0) {",
        "    for (;;) {",
        by_steps,
    ),
    mutation(
        "handles: a handle made after the last drop does not take the tag back",
        STEPS,
        "    c.gate_.undrop();\n",
        "",
        by_steps,
    ),
    mutation(
        "handles: a strong handle is dropped relaxed",
        STEPS,
        "base::order<atomics<Cell>, cell_order::drop_strong>(std::memory_order_acq_rel)",
        "std::memory_order_relaxed",
        by_steps,
    ),
    mutation(
        "handles: a weak handle is dropped relaxed",
        STEPS,
        "base::order<atomics<Cell>, cell_order::drop_weak>(std::memory_order_acq_rel)",
        "std::memory_order_relaxed",
        by_steps,
    ),
    mutation(
        "signal: attention is asked for before the signal is there",
        STEPS,
        "    const push_outcome pushed = c.gate_.push_signal(e);",
        "    want_attention(c);\n    const push_outcome pushed = c.gate_.push_signal(e);\n"
        "    if (pushed == push_outcome::queued) return;",
        by_steps,
    ),
    mutation(
        "signal: no sender asks for attention",
        STEPS,
        "    want_attention(c);\n    if (pushed",
        "    if (pushed",
        by_steps,
    ),
    mutation(
        "signal: attention is asked for after the actor was woken",
        STEPS,
        "    want_attention(c);\n    if (pushed == push_outcome::woke) c.wake();",
        "    if (pushed == push_outcome::woke) c.wake();\n    want_attention(c);",
        equivalent="an actor that was woken finds the signal by its tag, and messages of "
        "this thread come after both; the handle that a signal needs keeps the block",
    ),
    mutation(
        "signal: an idle actor is not woken",
        STEPS,
        "    if (pushed == push_outcome::woke) c.wake();",
        "",
        by_steps,
    ),
    mutation(
        "signal: one that comes too late is not answered",
        STEPS,
        "      c.answer_late_signals();\n      return;",
        "      return;",
        by_steps,
    ),
    mutation(
        "signal: the runner clears its attention last",
        STEPS,
        "    return oldest;",
        "    c.attention_.exchange(0, std::memory_order_acquire);\n    return oldest;",
        by_steps,
    ),
    mutation(
        "signal: the lane is handled newest first",
        STEPS,
        "      newest->next = oldest;\n      oldest = newest;\n      newest = older;",
        "      if (oldest == nullptr) oldest = newest;\n      newest = older;",
        by_steps,
    ),
    mutation(
        "the end: a handle that outlives the system does not hold the environment",
        STEPS,
        "      env.hold();\n      // After the close",
        "      // After the close",
        by_steps,
    ),
    mutation(
        "the end: the block is not kept for its last steps",
        STEPS,
        "      c.add_weak();",
        "",
        by_steps,
    ),
    mutation(
        "the end: the environment stays held although no thread drops it",
        STEPS,
        "    if (unreachable && !alone) env.release();",
        "",
        by_steps,
    ),
    mutation(
        "the end: the look before the close decides which thread frees",
        STEPS,
        "const bool unreachable = (tags & mailbox_word::unreachable) != 0;",
        "const bool unreachable = alone;",
        by_steps,
    ),
    mutation(
        "the end: the lane is not drained after the close",
        STEPS,
        "    c.answer_late_signals();  // a later pusher",
        "    // a later pusher",
        by_steps,
    ),
    mutation(
        "the end: the strong handles' share of the block is kept",
        STEPS,
        "    if (unreachable) drop_weak(c);",
        "    ",
        by_steps,
    ),
    mutation(
        "the end: the runner's hold of the block is kept",
        STEPS,
        "    if (!alone) drop_weak(c);",
        "",
        by_steps,
    ),
    mutation(
        "the end: an unreachable actor is held like any other",
        STEPS,
        "const bool alone = (c.gate_.peek() & mailbox_word::unreachable) != 0;",
        "const bool alone = false;",
        equivalent="it only saves two counts that are taken and given back",
    ),
    # ---- the mailbox
    mutation(
        "mailbox: the lane is taken before its tag is cleared",
        MAILBOX,
        "    g.head_.fetch_and(\n        ~word::signal,",
        "    if (Node* const all = g.signals_.exchange(nullptr, std::memory_order_acquire))\n"
        "      return g.head_.fetch_and(~word::signal, std::memory_order_acquire), all;\n"
        "    g.head_.fetch_and(\n        ~word::signal,",
        by_mailbox,
    ),
    mutation(
        "mailbox: a push drops the tag of a signal",
        MAILBOX,
        "old & (word::signal | word::waiting | word::unreachable |",
        "old & (word::waiting | word::unreachable |",
        by_mailbox,
    ),
    mutation(
        "mailbox: the push of an answer leaves the actor stalled",
        MAILBOX,
        "(Answer ? 0 : word::stalled)",
        "word::stalled",
        by_mailbox,
    ),
    mutation(
        "mailbox: a release overlooks a signal",
        MAILBOX,
        "(old & (word::signal | word::waiting) & ~overlook) != 0)",
        "(old & word::waiting & ~overlook) != 0)",
        by_mailbox,
    ),
    mutation(
        "mailbox: a release overlooks a sender that waits",
        MAILBOX,
        "(old & (word::signal | word::waiting) & ~overlook) != 0)",
        "(old & word::signal) != 0)",
        by_mailbox,
    ),
    mutation(
        "mailbox: a release overlooks that no thread can push any more",
        MAILBOX,
        "      if ((old & word::unreachable) != 0) return release_outcome::unreachable;\n",
        "",
        by_mailbox,
    ),
    mutation(
        "mailbox: an envelope is freed while the word names it",
        MAILBOX,
        "    if (n == last())\n      last_ |= handled_bit;",
        "    if (n == nullptr)\n      last_ |= handled_bit;",
        by_mailbox,
    ),
    mutation(
        "mailbox: the last envelope is never freed at the end",
        MAILBOX,
        "        if (last_handled()) retire(last());\n        last_ = 0;",
        "        last_ = 0;",
        by_mailbox,
    ),
    mutation(
        "mailbox: a handle made after the last drop does not wait for the tag",
        MAILBOX,
        "            word::unreachable) == 0)",
        "            word::unreachable) == 1u << 31)",
        by_mailbox,
    ),
    mutation(
        "mailbox: a sender waits for an idle actor",
        MAILBOX,
        "      if ((old & (word::idle | word::closed | word::stalled)) != 0) return false;",
        "      if ((old & (word::closed | word::stalled)) != 0) return false;",
        by_mailbox,
    ),
    mutation(
        "mailbox: a wrap is counted without release",
        MAILBOX,
        "base::order<Atomics, mailbox_order::push_halves>(std::memory_order_release)",
        "std::memory_order_relaxed",
        by_mailbox,
    ),
    mutation(
        "mailbox: a wrap that is counted late is taken for a length",
        MAILBOX,
        "    if (n >= (1u << 31)) n &= 0xffff;",
        "    if (n == 1u << 31) n &= 0xffff;",
        ("core.mailbox",),
    ),
    mutation(
        "mailbox: the lane of the dead is taken without a look",
        MAILBOX,
        "    if (g.signals_.load(std::memory_order_relaxed) == nullptr) return nullptr;\n",
        "",
        equivalent="the exchange says the same; the look saves a locked operation",
    ),
    # ---- the run loop and the end
    mutation(
        "run loop: attention is looked for before the message is taken",
        STEPS,
        "    message = c.pick();\n",
        "    const bool calm = !wants_attention(c);\n    message = c.pick();\n"
        "    if (calm && message != nullptr) return true;\n",
        by_steps,
    ),
    mutation(
        "run loop: a message that a signal precedes is lost",
        STEPS,
        "    if (message != nullptr) c.put_back(message);\n",
        "",
        by_steps,
    ),
    mutation(
        "run loop: urgent mail starves the rest",
        RUN,
        "  if (urgent_streak_ < urgent_share || reader_.peek_front() == nullptr) {",
        "  if (urgent_streak_ != 255 || reader_.peek_front() == nullptr) {",
        ("tests.ordering", "core.mailbox"),
    ),
    mutation(
        "run loop: senders that wait for room are not woken",
        RUN,
        "  if ((head & mailbox_word::waiting) != 0) cell_steps::wake_senders(*this);\n",
        "",
        ("tests.overload",),
    ),
    mutation(
        "in place: messages handled there are charged as the run's own only",
        IN_PLACE,
        "budget = 0U - static_cast<std::uint32_t>(turns_of_this_thread() - here.in_place_since);",
        "budget = 0U;",
        ("tests.nested_floods",),
    ),
    mutation(
        "in place: senders that are left waiting are not woken when the run is over",
        IN_PLACE,
        "  here.batch_over = false;\n  wake_overlooked();",
        "  here.batch_over = false;",
        ("tests.in_place",),
    ),
    mutation(
        "a blocking actor does not wait for mail",
        BLOCKING,
        " std::int64_t limit_ns, bool awaits) noexcept {\n",
        " std::int64_t limit_ns, bool awaits) noexcept {\n"
        "  if (limit_ns != 0) return true;\n",
        ("tests.blocking_actors",),
    ),
    mutation(
        "in place: an actor that is not to run in place does, as the next of a chain",
        IN_PLACE,
        "      if (!next->limits().in_place) {",
        "      if (next == nullptr) {",
        ("tests.in_place",),
    ),
    mutation(
        "in place: a flood of a child of a group runs its supervisor and no other of it",
        WAIT,
        "  return runs_here(sibling) ? sibling : address();",
        "  return {};",
        ("tests.restarting_receivers",),
    ),
    mutation(
        "children: the one that has to suspend with its group is not published",
        "lib/core/garrick/core/supervision/internal/children.cpp",
        "    wait_for_answer_of(younger);\n",
        "",
        ("tests.restarting_receivers",),
    ),
    # ---- the newest value
    mutation(
        "latest: each value has a message of its own",
        LATEST,
        "      if (of_->told.expired()) {",
        "      {",
        by_latest,
    ),
    mutation(
        "latest: a value put after the last one was taken is not told",
        LATEST,
        "    of_->told.reset();\n",
        "",
        by_latest,
    ),
    mutation(
        "latest: a value is taken twice",
        LATEST,
        "return std::exchange(of_->value, std::nullopt);",
        "return of_->value;",
        by_latest,
    ),
    mutation(
        "length: messages that came and went while it was read count",
        MAILBOX,
        "    return n > since ? n - since : 0;",
        "    return since == 77777 ? 0 : n;",
        by_mailbox,
    ),
    mutation(
        "batch: waiting senders are not woken when a budget ends",
        RUN,
        "      if ((gate_.peek() & mailbox_word::waiting) != 0 && here.run_depth == 1) "
        "after_batch();\n",
        "",
        ("tests.in_place",),
    ),
    mutation(
        "in place: an actor that is run by hand leaves its waiting senders asleep",
        CORE + "send.cpp",
        "  in_place::wake_overlooked();  // the caller may have other things to do than to fill it "
        "again\n",
        "",
        ("tests.in_place",),
    ),
    mutation(
        "turn: the turn below a borrowed one is not known",
        CORE + "turn/internal/turn_frame.hpp",
        "    here.below = &outer_;\n",
        "",
        ("tests.try_spawn",),
    ),
    mutation(
        "end: an actor that a run in place drops waits for the outermost handler",
        RUN,
        "    if (here.reclaim != nullptr) [[unlikely]]\n      lifecycle",
        "    if (here.reclaim != nullptr && here.run_depth == 1) [[unlikely]]\n      lifecycle",
        ("tests.nested_floods",),
    ),
    mutation(
        "end: a list that grows while it is worked off is worked off all the same",
        LIFE,
        "    if (turns < most_ends_at_once) {",
        "    if (turns < most_ends_at_once || turns != 0) {",
        ("tests.lifetime",),
    ),
    mutation(
        "waking_together: a woken actor keeps the one behind it of the last time",
        CELL + "cell.cpp",
        "  woken.queue_link = nullptr;\n",
        "",
        ("tests.waking_together",),
    ),
    mutation(
        "waking_together: the list takes an actor that a queue still holds",
        CELL + "cell.cpp",
        "soft_limit_ != 0 && !has_stale_entry()",
        "soft_limit_ != 0",
        ("tests.waking_together",),
    ),
    mutation(
        "waking_together: a full mailbox waits for the end of the scope",
        CELL + "cell.cpp",
        "soft_limit_ != 0 && !has_stale_entry()",
        "!has_stale_entry()",
        ("tests.waking_together",),
    ),
]
