"""Errors in the defence against peers that lie, or do what they may not."""

from mutation import mutation

ROOM = "lib/net/garrick/net/node/link/internal/"
SIGNALS = ROOM + "link_signals.cpp"

MUTATIONS = [
    # ---- ends
    mutation(
        "link: a peer without the right ends an actor with which it has linked its own",
        SIGNALS,
        "  if (!(l && l->set_here) && !lets_end()) {\n",
        "  if (!l && !lets_end()) {\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: the loss of a peer without the right ends all that it has linked",
        SIGNALS,
        "    if (l.set_here || ends_all)\n",
        "    if (true)\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: the actor here of a refused exit is watched on",
        SIGNALS,
        "    if (l) tell<core::signals::unwatch>(who, l->there, std::uint64_t{0});\n    return;\n",
        "    return;\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: the actors here of a lost peer's links are watched on",
        SIGNALS,
        "      tell<core::signals::unwatch>(l.here, l.there, std::uint64_t{0});\n",
        "      static_cast<void>(l);\n",
        ("tests.net.ends_refused",),
    ),
    mutation(
        "link: a link that both ends have set counts as the peer's",
        ROOM + "watches.cpp",
        "  at->second.set_here = true;\n",
        "",
        ("tests.net.ends_refused",),
    ),
]
