"""Errors in the teams that work on containers: claims of pieces, turns, and ends."""

from mutation import mutation

PATTERNS = "lib/patterns/garrick/patterns/"
TEAM = PATTERNS + "team/"
SHARES = TEAM + "shares.hpp"
RANGE = TEAM + "range_work.cpp"
TREE = TEAM + "tree_work.cpp"
NODES = TEAM + "tree_work.hpp"
WORK = TEAM + "shared_work.cpp"
QUEUE = TEAM + "work_queue.cpp"
TURN = TEAM + "turn_length.hpp"
HANDS = TEAM + "team.cpp"
PHASES = PATTERNS + "team/phases.hpp"
PHASE_WORK = PATTERNS + "team/phase_work.cpp"
STENCIL = PATTERNS + "stencil.hpp"
SURROUNDINGS = PATTERNS + "detail/surroundings.hpp"
by_model = ("patterns.model.shares",)
by_shares = ("patterns.shares",)
by_maps = ("tests.map",)
by_reductions = ("tests.reduce",)
by_parts = ("tests.divide_conquer",)
by_many = ("tests.accelerator",)
by_phases = ("patterns.model.phases",)
by_stencils = ("tests.stencil",)
by_teams = ("tests.teams",)

MUTATIONS = [
    # ---- claims
    mutation(
        "team: a piece may be claimed by two",
        SHARES,
        "    if (taken_[number].exchange(1, std::memory_order_relaxed) != 0) return false;\n",
        "    taken_[number].store(1, std::memory_order_relaxed);\n",
        by_model,
    ),
    mutation(
        "team: a thread that comes late claims a piece behind the last one",
        SHARES,
        "      if (number >= cut_.pieces) return false;\n",
        "",
        by_model,
    ),
    mutation(
        "team: a thread that finishes any piece ends it",
        SHARES,
        "std::memory_order_acq_rel)) == elements;",
        "std::memory_order_acq_rel)) >= elements;",
        by_model,
    ),
    mutation(
        "team: the first pieces get too much",
        SHARES,
        "(i < rest ? i : rest)",
        "rest * (i != 0)",
        by_shares,
    ),
    mutation(
        "team: the last piece of a length is as long as the others",
        SHARES,
        "size - begin < length ? size : begin + length",
        "begin + length",
        by_shares,
    ),
    # ---- work on a range
    mutation(
        "team: a block is worked on again",
        TURN,
        "  at.begun.begin = block.end;\n",
        "  if (block.end == at.begun.end) at.begun.begin = block.end;\n",
        by_maps,
    ),
    mutation(
        "team: a request that has failed is worked on to its end",
        RANGE,
        "    if (!has_failed()) run(block);\n",
        "    run(block);\n",
        by_maps,
    ),
    mutation(
        "team: no thread hears of the end",
        RANGE,
        "    if (shares_.finish(block.end - block.begin)) {\n      ended();\n",
        "    if (shares_.finish(block.end - block.begin)) {\n",
        by_maps,
    ),
    mutation(
        "team: a turn takes as long as there is something to do",
        RANGE,
        "    if (turn_is_over(begin, now, at, on)) return true;\n",
        "",
        by_maps,
    ),
    mutation(
        "team: a stopped piece is not begun where it was left",
        RANGE,
        "    if (at.begun.empty() && !shares_.claim(at.who, at.begun, at.block)) return false;\n",
        "    if (!shares_.claim(at.who, at.begun, at.block)) return false;\n",
        by_maps,
    ),
    # ---- requests
    mutation(
        "team: a request that takes longer than expected gets no helpers",
        WORK,
        "    send(others_[told_], work_on{shared_from_this(), seat_of(told_)});\n",
        "    static_cast<void>(told_);\n",
        by_maps,
    ),
    mutation(
        "team: helpers are woken for a request that has only begun",
        WORK,
        "  if (const std::uint64_t ns = spent(); ns != 0 && ns < wake_up_ns) return;\n",
        "",
        by_teams,
    ),
    mutation(
        "team: helpers are woken for elements that have been cheap",
        HANDS,
        "  if (ps == 0) return most;\n",
        "  if (ps < 1'000'000'000) return most;\n",
        by_teams,
    ),
    mutation(
        "team: one function's time is taken for another's",
        HANDS,
        "    if (of == kind) return known;\n",
        "    if (of != nullptr) return known;\n",
        by_teams,
    ),
    mutation(
        "team: an empty container is handed out",
        HANDS,
        "  if (work.size() == 0) return work.end_at_once();\n",
        "",
        by_maps,
    ),
    mutation(
        "team: the first of a team with threads of its own is told nothing",
        HANDS,
        "  for (std::size_t i = on_own_threads_ ? 0 : 1; i < n; ++i)\n",
        "  for (std::size_t i = 1; i < n; ++i)\n",
        by_many,
    ),
    mutation(
        "team: others wait until the team is done",
        HANDS,
        "  s.quantum = 1;",
        "",
        by_maps,
    ),
    mutation(
        "team: others wait until the asked actor is done",
        TEAM + "team.hpp",
        "asked_quantum = 8;",
        "asked_quantum = 0;",
        by_maps,
    ),
    # ---- one after the other
    mutation(
        "team: one of a team that has more to do does not go on",
        QUEUE,
        "    goes_on_ = false;\n",
        "    static_cast<void>(goes_on_);\n",
        by_maps,
    ),
    mutation(
        "team: one of a team forgets the others when one is done",
        QUEUE,
        "    parts_.pop_front();\n    in_a_row_ = duration();\n",
        "    parts_.clear();\n    in_a_row_ = duration();\n",
        by_many,
    ),
    mutation(
        "team: a long request holds up the others",
        QUEUE,
        "      parts_.push_back(std::move(first));\n      parts_.pop_front();\n",
        "",
        by_many,
    ),
    mutation(
        "team: the turns of the request before count, too",
        QUEUE,
        "    parts_.pop_front();\n    in_a_row_ = duration();\n",
        "    parts_.pop_front();\n",
        by_many,
    ),
    mutation(
        "team: others' requests have a turn each",
        QUEUE,
        "most_in_a_row = turn_length * 8;",
        "most_in_a_row = turn_length;",
        by_many,
    ),
    mutation(
        "team: the asked actor lets others wait for a turn",
        TURN,
        " || (at.was_asked && on.mailbox_length() != 0)",
        " || (at.was_asked && on.mailbox_length() > 1'000'000)",
        by_teams,
    ),
    # ---- work that divides itself
    mutation(
        "team: a part is taken twice",
        TREE,
        "return other.waiting[other.first++];",
        "return other.waiting[other.first];",
        by_parts,
    ),
    mutation(
        "team: parts are put together before the last one is solved",
        TREE,
        "    if (p->unsolved.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;\n",
        "    if (p->unsolved.fetch_sub(1, std::memory_order_acq_rel) > 2) return false;\n",
        by_parts,
    ),
    mutation(
        "team: a thread that divides does not go on after a turn",
        TREE,
        "    if (turn_is_over(begin, now, at, on)) return true;\n",
        "    if (turn_is_over(begin, now, at, on)) return false;\n",
        by_parts,
    ),
    mutation(
        "team: a tree that is dropped is left to its destructors",
        NODES,
        "  while (n != &whole || !n->of_parts.empty()) {\n",
        "  while (n != &whole) {\n",
        by_parts,
    ),
    # ---- phases
    mutation(
        "stencil: a thread that comes late from an earlier phase claims a piece of the present one",
        PHASES,
        "      if (n != phase || !claims_",
        "      if (n < phase || !claims_",
        by_phases,
    ),
    mutation(
        "stencil: a thread that goes away does not look whether the next phase has begun",
        PHASES,
        "if (phase_.load(std::memory_order_relaxed) == phase || !away_[who].take()) return false;",
        "return false;",
        by_phases,
    ),
    mutation(
        "stencil: a phase begins before it is known how much there is to do",
        PHASES,
        "    left_.store(cut_.size, std::memory_order_relaxed);\n"
        "    // order: release: the writes of all phases, to the look in `claim`\n"
        "    phase_.store(now() + 1, "
        "base::order<Atomics, phases_order::begin>(std::memory_order_release));\n",
        "    phase_.store(now() + 1, "
        "base::order<Atomics, phases_order::begin>(std::memory_order_release));\n"
        "    left_.store(cut_.size, std::memory_order_relaxed);\n",
        by_phases,
    ),
    mutation(
        "stencil: chunks of the next phase are claimed in the present one",
        PHASES,
        "      while (n < end_of(phase)) {",
        "      while (n < end_of(phase) + 1) {",
        by_phases,
    ),
    mutation(
        "stencil: no thread is called back for the next phase",
        PHASE_WORK,
        "      call_back(at.block);\n",
        "",
        by_stencils,
    ),
    mutation(
        "stencil: after a failure the next phase begins",
        PHASE_WORK,
        "      if (has_failed() || phase + 1 == count_) {",
        "      if (phase + 1 == count_) {",
        by_stencils,
    ),
    mutation(
        "stencil: both iterations read the same container",
        STENCIL,
        "    const T* const in = buffers_[iteration % 2];",
        "    const T* const in = buffers_[0];",
        by_stencils,
    ),
    mutation(
        "stencil: the other container is a copy where it could be made with a size",
        STENCIL,
        "      if (made.size() == c.size()) return made;",
        "      if (made.size() != c.size()) return made;",
        by_stencils,
    ),
    mutation(
        "stencil: the last row but one sees no edge",
        STENCIL,
        "form_.height - y > form_.radius_y;",
        "form_.height - y >= form_.radius_y;",
        by_stencils,
    ),
    mutation(
        "stencil: a position beyond an edge goes round only once",
        SURROUNDINGS,
        "      p = (p % end + end) % end;",
        "      p = p < 0 ? std::max(p + end, std::ptrdiff_t{0}) : std::min(p - end, end - 1);",
        by_stencils,
    ),
]
