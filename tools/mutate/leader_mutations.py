"""Errors in how a worker waits for events, and in the turns of workers at that."""

from mutation import mutation

CONCURRENCY = "lib/base/garrick/base/concurrency/"
SEAT = CONCURRENCY + "leader_seat.hpp"
PARKER = CONCURRENCY + "parker.hpp"
PARKING = "lib/sched/garrick/sched/parking/"
LEADING = PARKING + "leading.hpp"
SLEEPERS = PARKING + "sleepers.hpp"
STEALING = "lib/sched/garrick/sched/policies/work_stealing.hpp"
INTERNAL = "lib/net/garrick/net/transport/internal/"
LOOP = "lib/net/garrick/net/transport/internal/loop/io_loop.cpp"
STREAM = INTERNAL + "stream_host.cpp"
FRAMES = "lib/net/garrick/net/node/proxy/internal/mail_slot.cpp"
by_seat = ("base.leader_seat",)
by_nodes = ("tests.net.idle_workers",)

MUTATIONS = [
    mutation(
        "seat: a guest that leaves does not wake the keeper that sleeps",
        SEAT,
        "if ((seen & asleep) != 0 || to != empty) Atomics::wake_one(word_);",
        "if (to != empty) Atomics::wake_one(word_);",
        by_seat,
    ),
    mutation(
        "seat: a keeper that is to lead now is not woken",
        SEAT,
        "if ((seen & asleep) != 0 || to != empty) Atomics::wake_one(word_);",
        "if ((seen & asleep) != 0) Atomics::wake_one(word_);",
        ("base.model.leader_seat",),
    ),
    mutation(
        "seat: the keeper sits down although guests come and go",
        SEAT,
        "        if (now() != seen) continue;\n",
        "        if (role(now()) != role(seen)) continue;\n",
        equivalent="the swap from `seen` fails if anybody has sat there meanwhile",
    ),
    mutation(
        "seat: guests that are away for long keep the seat",
        SEAT,
        "stand_up(mean_ns_.get() > mean_absent_ns ? given_back : empty);",
        "stand_up(empty);",
        by_seat,
    ),
    mutation(
        "seat: one long absence counts as much as all others",
        SEAT,
        "mean_ns_.set(mean_ns_.get() - mean_ns_.get() / 8 + capped / 8);",
        "mean_ns_.set(mean_ns_.get() + capped / 8);",
        by_seat,
    ),
    mutation(
        "seat: the keeper does not forget how long guests were away",
        SEAT,
        "      } else if (take(seen, keeper)) {\n        forget_absences();\n",
        "      } else if (take(seen, keeper)) {\n",
        by_seat,
    ),
    mutation(
        "seat: a guest that would like to sit is not noted",
        SEAT,
        "if (role(seen) == keeper && (seen & wanted) == 0)",
        "if (role(seen) == closed && (seen & wanted) == 0)",
        by_seat + by_nodes,
    ),
    mutation(
        "seat: a guest may lead a loop that is over",
        SEAT,
        "void over() noexcept { stand_up(ended); }",
        "void over() noexcept { stand_up(empty); }",
        by_seat,
    ),
    mutation(
        "parker: a worker that waits elsewhere is not told",
        PARKER,
        "    else if (before == elsewhere)\n      interrupt();\n",
        "    else if (before == elsewhere)\n      ;\n",
        ("base.parker",),
    ),
    mutation(
        "sleepers: a worker that wakes itself takes any bit",
        SLEEPERS,
        "        if (clear_bit(index)) break;\n",
        "",
        ("sched.sleepers",),
    ),
    mutation(
        "sleepers: a worker that wakes itself counts itself although it was woken",
        SLEEPERS,
        "for (bool is_taken = false; !own.has_token();) {",
        "for (bool is_taken = false; !is_taken || !own.has_token();) {",
        ("sched.sleepers",),
    ),
    mutation(
        "leading: the seat is kept while something runs",
        LEADING,
        "    seat_->leave(awake_ns_);\n",
        "",
        by_nodes,
    ),
    mutation(
        "leading: actors run in place while an event is handled",
        LEADING,
        "      ++base::this_thread.no_wait;\n",
        "",
        ("sched.leading",),
    ),
    mutation(
        "leading: a worker that is woken for other work goes on waiting for events",
        LEADING,
        "        if (all_.end_elsewhere(index_)) return false;\n",
        "",
        by_nodes,
    ),
    mutation(
        "leading: after the end of a loop the worker waits there for ever",
        LEADING,
        "          seat_->over();\n          loop_ = nullptr;\n",
        "          seat_->over();\n",
        by_nodes,
    ),
    mutation(
        "stealing: further work that an event has woken is not announced",
        STEALING,
        "      if (!first) call_for_open_work();\n",
        "",
        ("sched.leading",),
    ),
    mutation(
        "leading: one worker alone handles events that were there before",
        LEADING,
        "    if (wakes_another_) all_.wake_one(all_.peek());\n",
        "",
        equivalent="the keeper looks at the seat soon in any case",
    ),
    mutation(
        "sleepers: a worker that waits elsewhere is woken first",
        SLEEPERS,
        "      if (word == last / 64) bits &= ~bit_of(last);\n",
        "",
        ("sched.sleepers",),
    ),
    mutation(
        "loop: a guest does not hear of events",
        LOOP,
        "  guest_ = &who;\n",
        "",
        by_nodes,
    ),
    mutation(
        "loop: the first interruption is the last one",
        LOOP,
        "native_handle(), &count, sizeof count));\n        await_interruption();\n",
        "native_handle(), &count, sizeof count));\n",
        equivalent="this Asio returns to a waiting thread for each event of a descriptor it knows",
    ),
    mutation(
        "loop: it goes on waiting for interruptions after its end",
        LOOP,
        "  engine_->interruptions.close();\n",
        "",
        by_nodes,
    ),
    mutation(
        "loop: its end is kept from the next holder of the seat",
        LOOP,
        "  if (shares()) seat_->close();\n",
        "",
        by_nodes,
    ),
    mutation(
        "stream: it is not watched again before the loop waits",
        STREAM,
        "if (what != number(stream_wait::reading) || socket_ == nullptr) return;",
        "if (what == number(stream_wait::reading) || socket_ == nullptr) return;",
        ("tests.net.hosted", "tests.net.streams"),
    ),
    mutation(
        "stream: bytes to be read behind others are not read",
        STREAM,
        "loop_.behind_others(self(), number(stream_wait::reading));",
        "loop_.behind_others(self(), number(stream_wait::writing));",
        ("tests.net.brokers",),
    ),
    mutation(
        "waiting frames: a spare chunk begins where it ended",
        FRAMES,
        "  if (to.spent_ != nullptr) to.spent_->used = 0;\n",
        "",
        ("net_node.mail_slot",),
    ),
    mutation(
        "waiting frames: a frame after a full chunk is written over its beginning",
        FRAMES,
        "  const std::size_t all = sizeof(head) + aligned(size);\n  for (",
        "  const std::size_t all = 0;\n  for (",
        ("net_node.mail_slot",),
    ),
    mutation(
        "loop: the keeper does not hear of calls posted while no thread leads",
        LOOP,
        "    run.reset();\n  });\n  call_keeper();\n",
        "    run.reset();\n  });\n",
        equivalent="the keeper looks at the seat soon in any case",
    ),
]
