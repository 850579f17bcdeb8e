"""Errors in the nodes of lib/net."""

from mutation import mutation

CORE = "lib/net/garrick/net/node/internal/node_core.cpp"
RECEIVE = "lib/net/garrick/net/node/internal/node_link_receive.cpp"
by_quarantine = ("tests.net.quarantine",)
by_after_down = ("tests.net.after_down",)
by_decoding = ("tests.net.decoding",)
by_connecting = ("tests.net.connecting",)

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
    mutation(
        "node: who was down comes back, whatever the settings say",
        CORE,
        "settings_.after_down == peer_return::new_life_only",
        "false",
        by_after_down,
    ),
    mutation(
        "node: who has let go of the receiver is not told of what was not decoded",
        RECEIVE,
        "  const remote_cell* const to = at != proxies_.end() ? at->second : nullptr;\n",
        "  if (at == proxies_.end()) return;\n"
        "  const remote_cell* const to = at->second;\n",
        by_decoding,
    ),
    mutation(
        "node: what was not decoded is no dead letter",
        RECEIVE,
        "case frame_kind::decode_error: return on_decode_error(f);",
        "case frame_kind::decode_error: return;",
        by_decoding,
    ),
    mutation(
        "node: frames to nobody are not counted",
        RECEIVE,
        "    ++to_nobody_;\n",
        "",
        by_decoding,
    ),
    mutation(
        "node: who dials goes where is listened, and not where is advertised",
        CORE,
        "const endpoint to = given.advertised();",
        "const endpoint to = given;",
        by_connecting,
    ),
]
