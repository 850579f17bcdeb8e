"""Errors in windows, joins and the clocks of streams."""

from mutation import mutation

PATTERNS = "lib/patterns/garrick/patterns/"
PANES_BASE = PATTERNS + "detail/panes.cpp"
JOIN_NODE = PATTERNS + "detail/join_node.cpp"
TIMING = PATTERNS + "timing.cpp"
PANES = PATTERNS + "detail/panes.hpp"
SESSIONS = PATTERNS + "detail/sessions.hpp"
WATERMARK = PATTERNS + "detail/watermark.cpp"
AGGREGATE = PATTERNS + "detail/aggregate.hpp"
JOIN = PATTERNS + "detail/join_node.hpp"
WINDOW_STAGE = PATTERNS + "detail/window_stage.hpp"
by_times = ("tests.timing",)

MUTATIONS = [
    mutation(
        "stream, time: a throttle saves permits without a bound",
        TIMING,
        "    left_ = std::min(most_, left_ + static_cast<double>("
        "(now - last_).count()) / each_ns_);",
        "    left_ = left_ + static_cast<double>((now - last_).count()) / each_ns_;",
        by_times,
    ),
    # ---- windows and joins
    mutation(
        "stream, windows: a tuple that is late opens its window again",
        PANES_BASE,
        "  if (last_end(begin) <= watermark_) return {nullptr, true};\n",
        "",
        ("tests.windows",),
    ),
    mutation(
        "stream, windows: the fastest producer closes windows, not the slowest",
        WATERMARK,
        "inputs_[i].latest < inputs_[lowest].latest))",
        "inputs_[i].latest > inputs_[lowest].latest))",
        ("tests.window_life",),
    ),
    mutation(
        "stream, windows: a result that throws takes those before it with it",
        PANES,
        "        out.begin_input();\n",
        "",
        ("tests.window_life",),
    ),
    mutation(
        "stream, windows: tuples that a restart loses are not counted",
        AGGREGATE,
        "  void lose_all() noexcept { lose(kept_); }",
        "  void lose_all() noexcept { gave(kept_); }",
        ("tests.window_life",),
    ),
    mutation(
        "stream, windows: a tuple between two sessions leaves them two",
        SESSIONS,
        "    if (other != nullptr) join(at->second, *into, *other);\n",
        "    static_cast<void>(other);\n",
        ("tests.window_kinds",),
    ),
    mutation(
        "stream, windows: sessions of a key overlap",
        SESSIONS,
        " || t < into->begin",
        "",
        ("tests.sessions",),
    ),
    mutation(
        "stream, windows: a replica waits for tuples on their way to it",
        WATERMARK,
        "  if (w - shortest_ >= all_[i]",
        "  if (w - 2 * shortest_ >= all_[i]",
        ("tests.sessions",),
    ),
    mutation(
        "stream, joins: a tuple is freed before the last one that could meet it",
        JOIN,
        "    return t + reach_ >= others;",
        "    return t + reach_ > others;",
        ("tests.joins",),
    ),
    mutation(
        "stream, windows: an exception while a window closes takes a result of the one before",
        PANES,
        "      out.begin_input();  // an exception takes no result of the window before with it\n",
        "",
        ("tests.window_life",),
    ),
    mutation(
        "stream, windows: results not gathered when a window's closing threw are not counted",
        PANES_BASE,
        "    counts.lose(p.fresh);\n",
        "    static_cast<void>(counts);\n",
        ("tests.window_life",),
    ),
    mutation(
        "stream, joins: the other side waits for one that is idle",
        JOIN_NODE,
        " && !other.ended && !other.idle;",
        " && !other.ended;",
        ("tests.joins",),
    ),
    mutation(
        "stream, joins: the side that is ahead waits only from the next batch on",
        JOIN,
        "b.done != b.size && !must_wait(left) && ",
        "b.done != b.size && ",
        ("tests.joins",),
    ),
    mutation(
        "stream, joins: a pair that throws takes the one before it with it",
        JOIN,
        "    to.begin_input();  // a pair that throws takes no other one with it\n",
        "",
        ("tests.joins",),
    ),
    mutation(
        "stream, windows: a key or a time that throws takes the windows of a node with it",
        WINDOW_STAGE,
        "    if (!windows_.has_only_asked()) windows_.clear();\n",
        "    windows_.clear();\n",
        ("tests.window_life",),
    ),
    mutation(
        "stream, windows: a key that cannot be hashed takes the windows of a node with it",
        WINDOW_STAGE,
        "    return windows_.asked([&] { return hash_of<Key>(key); });\n",
        "    return hash_of<Key>(key);\n",
        ("tests.failing_keys",),
    ),
    mutation(
        "stream, joins: a tuple's lateness depends on the other side",
        JOIN,
        "    if (t < side.mark.value()) {",
        "    if (t < std::max(left_is_.mark.value(), right_is_.mark.value())) {",
        ("tests.joins",),
    ),
]
