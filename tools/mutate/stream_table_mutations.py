"""Errors in what lies between the nodes of streams and the types of their tuples and stages."""

from mutation import mutation

PATTERNS = "lib/patterns/garrick/patterns/"
OUTPUT_SLOTS = PATTERNS + "channel/output.hpp"
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
        "stream: what a stage puts out belongs to the input before",
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
        "stream, windows: what was looked for last is the answer",
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
]
