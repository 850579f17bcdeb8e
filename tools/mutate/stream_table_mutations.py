"""Errors in the code between the nodes of streams and the types of their tuples and stages."""

from mutation import mutation

PATTERNS = "lib/patterns/garrick/patterns/"
OUTPUT_SLOTS = PATTERNS + "channel/output.hpp"
OUTPUT = PATTERNS + "channel/output.cpp"
INPUT = PATTERNS + "channel/input.cpp"
ROUTES_BASE = PATTERNS + "channel/routes.cpp"
STAGE = PATTERNS + "detail/stage_node.cpp"
STAGE_TYPE = PATTERNS + "detail/stage_type.hpp"
QUEUE = PATTERNS + "channel/tuple_queue.cpp"
TIME_MAP = PATTERNS + "detail/time_map.cpp"
by_graphs = ("tests.random_graphs",)

MUTATIONS = [
    mutation(
        "stream: a stage consumes on when its output has no room",
        OUTPUT_SLOTS,
        "    below_ = blocked_ ? 0 : below_;\n",
        "",
        ("tests.streams",),
    ),
    mutation(
        "stream: a stage's results belong to the input before",
        STAGE_TYPE,
        "          (*stage).consume(std::move(tuples[done]), to);\n          to.begin_input();\n",
        "          (*stage).consume(std::move(tuples[done]), to);\n",
        ("tests.streams",),
    ),
    mutation(
        "stream: the block that an empty queue keeps begins where the last tuple was",
        QUEUE,
        "    b->begin = b->end = 0;\n",
        "    b->end = 0;\n",
        by_graphs,
    ),
    mutation(
        "stream: the size of a tuple is taken for its largest power of two",
        PATTERNS + "channel/tuple_type.hpp",
        "    return static_cast<std::size_t>((bytes >> shift) * inverse);\n",
        "    return static_cast<std::size_t>(bytes >> shift);\n",
        by_graphs,
    ),
    mutation(
        "stream, windows: the last window that was looked for is the answer",
        TIME_MAP,
        "      return at == by_time.end() || at->first >= t ? at : by_time.lower_bound(t);\n",
        "      return at;\n",
        ("tests.windows", "tests.joins"),
    ),
    mutation(
        "stream, joins: the entries of a time map are not linked to the one before",
        TIME_MAP,
        "  if (at != all_->by_time.begin()) std::prev(at)->second->next = object;\n",
        "",
        ("tests.joins",),
    ),
    # ---- results that are taken back, and destroyed tuples
    mutation(
        "stream: a tuple that fails behind the end of the slots takes back too much",
        OUTPUT,
        "    if (mark_ == nullptr) marked_ = unpublished();\n",
        "",
        ("tests.taken_back",),
    ),
    mutation(
        "stream: unpublished tuples are not counted when an output is closed",
        OUTPUT,
        "tuples_before(unpublished()) + kept_.tuples();",
        "kept_.tuples();",
        ("tests.taken_back",),
    ),
    mutation(
        "stream: a step that asks how many wait behind forgets its own results",
        OUTPUT_SLOTS,
        "    give_back();\n    return of_.waiting();",
        "    return of_.waiting();",
        ("tests.taken_back",),
    ),
    mutation(
        "stream: an output of outputs forgets that one of them is blocked",
        ROUTES_BASE,
        "      blocked_ |= to_[i]->is_blocked();\n      return true;",
        "      return true;",
        ("tests.taken_back",),
    ),
    mutation(
        "stream: a mark that fails is skipped as a tuple",
        STAGE,
        "      if (takes.tuples_among(tuple, 1) == 0) {",
        "      if (false) {",
        ("tests.channels_no_memory",),
    ),
    mutation(
        "stream: a stage that restarts does not hear the time",
        STAGE,
        "    if (type().deadline != nullptr) type().time_is(stage(), now_);\n",
        "",
        ("tests.taken_back",),
    ),
    mutation(
        "stream: results that are taken back are not destroyed",
        OUTPUT,
        "  if (type_.destroy != nullptr)\n    for",
        "  if (false)\n    for",
        ("tests.lifetimes",),
    ),
    mutation(
        "stream: a node sleeps beside the end of its input",
        INPUT,
        "all_[i].from->ring.size() == 0 && !all_[i].ended();",
        "all_[i].from->ring.size() == 0;",
        ("tests.channel_ends",),
    ),
    mutation(
        "stream: a stage that has enough says so again and again",
        INPUT,
        "  if (std::exchange(left_, true)) return;",
        "  if (std::exchange(left_, true)) left_ = true;",
        ("tests.channel_ends",),
    ),
    mutation(
        "stream: a batch that cannot be put out is lost without a count",
        PATTERNS + "timing.hpp",
        "{ return std::exchange(lost_, 0); }",
        "{ return 0 * lost_; }",
        ("tests.timing",),
    ),
]
