"""Errors in what several threads do to one cell, in its run loop and in its mail."""

from mutation import mutation

CELL = "lib/core/garrick/core/cell/"
STEPS = CELL + "cell_steps.hpp"
MAILBOX = CELL + "mailbox.hpp"
RUN = CELL + "running_cell.cpp"
LATEST = CELL + "internal/latest_mail.cpp"
LIFE = CELL + "internal/lifecycle.cpp"
BLOCKING = "lib/core/garrick/core/blocking.cpp"
FULL = CELL + "internal/full_receiver.cpp"
by_steps = ("core.model.cell_steps",)
by_mailbox = ("core.model.mailbox",)
by_newest = ("core.latest_mail", "tests.newest_mail")

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
        "        env.release();  // the hold of the actor's end",
        "        static_cast<void>(env);  // the hold of the actor's end",
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
        "      c.gate_.undrop();",
        "      return;",
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
        "signal: nobody asks for attention",
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
        equivalent="an actor that was woken finds the signal by its tag, and what this thread "
        "sends comes after both; the handle that a signal needs keeps the block",
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
        "the end: the environment stays held although nobody drops it",
        STEPS,
        "    if (unreachable && !alone) env.release();",
        "",
        by_steps,
    ),
    mutation(
        "the end: the look before the close decides who frees",
        STEPS,
        "const bool unreachable = (tags & mailbox_word::unreachable) != 0;",
        "const bool unreachable = alone;",
        by_steps,
    ),
    mutation(
        "the end: the lane is not drained after the close",
        STEPS,
        "    c.answer_late_signals();  // a pusher",
        "    // a pusher",
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
        "old & (word::signal | word::waiting | word::stalled | word::unreachable);",
        "old & (word::waiting | word::stalled | word::unreachable);",
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
        "mailbox: a release overlooks that nobody can push any more",
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
        by_mailbox,
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
        ("tests.ordering", "core.mailbox", "tests.newest_mail"),
    ),
    mutation(
        "run loop: senders that wait for room are not woken",
        RUN,
        "  if ((head & mailbox_word::waiting) != 0) cell_steps::wake_senders(*this);\n",
        "",
        ("tests.overload",),
    ),
    mutation(
        "in place: senders that are left waiting are not woken when the run is over",
        RUN,
        "  detail::here.batch_over = false;\n  wake_overlooked();",
        "  detail::here.batch_over = false;",
        ("tests.in_place",),
    ),
    mutation(
        "a blocking actor does not wait for mail",
        BLOCKING,
        "bool sleep_until_mail(running_cell& self, std::int64_t limit_ns) noexcept {\n",
        "bool sleep_until_mail(running_cell& self, std::int64_t limit_ns) noexcept {\n"
        "  if (limit_ns != 0) return true;\n",
        ("tests.blocking_actors",),
    ),
    mutation(
        "in place: an actor that is not to run in place does, as the next of a chain",
        FULL,
        "      if (!next->in_place_) {",
        "      if (next == nullptr) {",
        ("tests.in_place",),
    ),
    # ---- the newest messages
    mutation(
        "newest: a message joins although the actor has ended",
        LATEST,
        "  if ((gate.peek() & mailbox_word::closed) != 0) return {outcome::closed};\n",
        "",
        by_newest,
    ),
    mutation(
        "newest: an urgent token lets later messages pass a response",
        LATEST,
        "if (!urgent || pushes == pushes_) pushes_",
        "pushes_",
        by_newest,
    ),
    mutation(
        "newest: a spent token stays open",
        LATEST,
        "  if (from.open == token) from.open = nullptr;\n",
        "",
        by_newest,
    ),
    mutation(
        "newest: a token hands out messages beyond its end",
        LATEST,
        "if (from.messages.front != nullptr && from.first < token_in(token).end) return",
        "if (from.messages.front != nullptr) return",
        by_newest,
    ),
    mutation(
        "newest: what is put back keeps the number that it had lost",
        LATEST,
        "  to.messages.push_front(e);\n  --to.first;",
        "  to.messages.push_front(e);",
        by_newest,
    ),
    mutation(
        "newest: what is put back passes the bound",
        LATEST,
        "  --to.first;\n  ++length_;\n  return drop_over_bound();",
        "  --to.first;\n  ++length_;\n  return nullptr;",
        by_newest,
    ),
    mutation(
        "newest: what is set aside stays urgent",
        LATEST,
        "  e->clear(envelope_flag::urgent);\n",
        "",
        by_newest,
    ),
    mutation(
        "newest: what is set aside passes the bound",
        LATEST,
        "  ++aside_count_;\n  ++length_;\n  return drop_over_bound();",
        "  ++aside_count_;\n  ++length_;\n  return nullptr;",
        by_newest,
    ),
    mutation(
        "newest: what is tried again keeps its old numbers",
        LATEST,
        "  normal_.first -= aside_count_;\n",
        "",
        by_newest,
    ),
    mutation(
        "newest: the token of what is tried again has no end",
        LATEST,
        "  token_in(token).end = normal_.first;\n",
        "",
        by_newest,
    ),
    mutation(
        "newest: what is tried again loses the queue's end",
        LATEST,
        "  if (normal_.messages.front == nullptr) normal_.messages.back = aside_.back;\n",
        "",
        by_newest,
    ),
    mutation(
        "newest: what is lost at the end still counts",
        LATEST,
        "  --aside_count_;\n  --length_;\n  return oldest;\n}\n\nvoid",
        "  --aside_count_;\n  return oldest;\n}\n\nvoid",
        by_newest,
    ),
    mutation(
        "newest: an urgent message goes before a normal one",
        LATEST,
        "take_oldest(normal_.messages.front != nullptr ? normal_ : urgent_)",
        "take_oldest(urgent_.messages.front != nullptr ? urgent_ : normal_)",
        by_newest,
    ),
    mutation(
        "newest: a response is put back among the messages",
        RUN,
        "policy_ == mailbox_policy::drop_oldest && !e->is(envelope_flag::response)",
        "policy_ == mailbox_policy::drop_oldest",
        by_newest,
    ),
    mutation(
        "newest: a response is set aside among the messages",
        RUN,
        "x.latest != nullptr && !e->is(envelope_flag::response)",
        "x.latest != nullptr",
        by_newest,
    ),
]
