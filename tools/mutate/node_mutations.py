"""Errors in the nodes of lib/net."""

from mutation import mutation

CORE = "lib/net/garrick/net/node/internal/node_core.cpp"
by_quarantine = ("tests.net.quarantine",)

MUTATIONS = [
    mutation(
        "node: a quarantine does not wait for a delivery that is under way",
        CORE,
        "    is_shut.wait();\n",
        "",
        by_quarantine,
    ),
    mutation(
        "node: a quarantine gives up where the line of visits is full",
        CORE,
        "while (visit() == visit_result::full) std::this_thread::yield();",
        "visit();",
        by_quarantine,
    ),
]
