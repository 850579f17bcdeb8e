"""Errors in the dials of nodes, and in the questions that need them."""

from mutation import mutation

DIALS = "lib/net/garrick/net/node/internal/node_core_dials.cpp"
NODE = "lib/net/garrick/net/node/node.cpp"
by_several_links = ("tests.net.several_links",)
by_silence = ("tests.net.after_a_silence",)

MUTATIONS = [
    mutation(
        "node: a question for a name while a node comes back has to be asked again",
        NODE,
        "if (!is_repeated ||",
        "if (true ||",
        ("tests.net.connecting", "tests.net.after_a_silence"),
    ),
    mutation(
        "node: an endpoint whose peer has an old link is dialled again without a pause",
        DIALS,
        "if (repeat <= repeats_at_once)",
        "if (true)",
        by_several_links,
    ),
    mutation(
        "node: the pauses between such dials do not grow",
        DIALS,
        "std::max(d.pause * 2, s.reopen_first)",
        "s.reopen_first",
        by_several_links,
    ),
    mutation(
        "node: such an endpoint is dialled for ever",
        DIALS,
        "if (d.until <= now) {",
        "if (false) {",
        by_several_links,
    ),
    mutation(
        "node: a dial after a pause is made although no caller waits for it",
        DIALS,
        "if (!waits || node->is_stopping_) return;",
        "if (node->is_stopping_) return;",
        by_several_links,
    ),
    mutation(
        "node: a spawn that was never sent is not tried by the next link",
        NODE,
        "why == base::errc::not_handled ||",
        "",
        by_silence,
    ),
    mutation(
        "node: a spawn that may have arrived is repeated",
        NODE,
        "is_harmless_to_repeat() const noexcept override { return false; }",
        "is_harmless_to_repeat() const noexcept override { return true; }",
        by_silence,
    ),
]
