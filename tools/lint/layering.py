#!/usr/bin/env python3
"""Checks includes: the table of parts, private rooms, cheap public headers, and no
circles of folders or units.

A unit is `x.hpp` together with `x.cpp`. A folder is a room; `detail/` and `internal/` count as the
room that they lie in.
"""

import re
from pathlib import Path

from sources import cpp_files, read, run, without_comments

# unit of the table -> units that it may include besides itself: a part, or a folder of the parts
# net and cluster. Units below `machine` are reserved for parts to come, so that they begin with
# their rules.
MAY_INCLUDE = {
    "base": set(),
    "core": {"base"},
    "sched": {"base"},
    "system": {"core", "sched", "base"},
    "testkit": {"system", "core", "sched", "base"},
    "machine": {"testkit", "sched", "base"},
    "patterns": {"system", "base"},
    "observe": {"system", "base"},
    "inspect": {"observe", "base"},
    "gpu": {"system", "patterns", "base"},
    # its top: packets, errors, the order of bytes
    "net": {"base"},
    "net/transport": {"net", "base"},
    "net/wire": {"net", "base"},
    "net/layer": {"net/wire", "net", "base"},
    "net/stack": {"net/transport", "net/wire", "net/layer", "net", "base"},
    "net/node": {"core", "system", "net/stack", "net/wire", "net/layer", "net/transport"}
    | {"net", "base"},
    "net/broker": {"core", "system", "net/stack", "net/wire", "net/layer", "net/transport"}
    | {"net", "base"},
    "cluster/coordination": {"base"},
    "cluster": {"cluster/coordination", "net/node", "system", "base"},
    "store": {"base"},
    "durable": {"store", "system", "base"},
}
# the simulated network: a target of its own, or every test would link Asio; the actors of fuzzers
OF_NET = {unit for unit in MAY_INCLUDE if unit.startswith("net")}
MAY_INCLUDE["net/testkit"] = {"testkit", "system", "base"} | OF_NET

# part -> rooms that others may include; "" is its top. Of other parts every room but `detail` and
# `internal`.
PUBLIC_ROOMS = {
    "core": {"", "protocol", "settings", "supervision"},
    # a policy of one's own is made of sched's rooms
    "sched": {"", "policies", "queues", "parking", "places"},
    "system": {"", "settings", "names", "diagnosis"},
    "testkit": {""},
    "patterns": {"", "containers"},
    "gpu": {""},
}
# (part, private room) -> parts that may include it nevertheless, because they drive actors.
OPEN_TO = {
    ("core", "seam"): {"system", "testkit", "net"},  # net: the proxies and handles of its nodes
    ("core", "detail"): {"system", "testkit"},
}
# part, or folder of one -> its rooms from bottom to top: each includes only those before it. "" is
# its top. Rooms that are not named, such as the top of core, are above all of them.
ROOMS_IN_ORDER = {
    "core": ("protocol", "settings", "mailbox", "cell", "life", "overload", "turn", "seam"),
    # a node calls its links through internal/link_port.hpp
    "net/node": ("", "proxy", "link"),
}
# The private headers that the umbrella names: they hold the texts of errors about a user's actor
# and its spawn, and each header between would be another line above such a text.
UMBRELLA = "lib/system/garrick/garrick.hpp"
SHORT_CHAINS = {"garrick/core/detail/handlers.hpp", "garrick/core/detail/spawn_check.hpp"}
# A room that is private but installed says so, and why, in a line of each header's opening comment.
PRIVATE_LINE = re.compile(r"^// Private: \w+", re.M)
NOT_INSTALLED = {"machine"}

# Libraries for networks and their bytes. Each costs a source whole seconds, so few sources of the
# library include one, and no header does, not even an internal one.
OF_NETWORKS = ("boost/asio", "boost/beast", "openssl/", "zstd", "sodium")
SOURCES_OF_NETWORKS = 6

# A public header never includes these: each of them costs every user whole seconds or drags a
# library into the interface.
EXPENSIVE = OF_NETWORKS + ("nlohmann/", "spdlog/", "fmt/", "CLI/", "CLI11", "hwloc")
EXPENSIVE_STANDARD = {"iostream", "functional", "regex", "ranges", "format"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def unit_of(path: str) -> str | None:
    """The unit of the table for an include path such as garrick/core/x.hpp; the umbrella
    garrick/garrick.hpp belongs to system.
    """
    parts = path.split("/")
    if parts[0] != "garrick":
        return None
    if len(parts) == 2:
        return "system"
    folder = "/".join(parts[1:3])
    return folder if len(parts) > 3 and (parts[1] == "net" or folder in MAY_INCLUDE) else parts[1]


def part_of(unit: str) -> str:
    return unit.split("/")[0]


def source_unit(path: str) -> str:
    """garrick/core/send.hpp and .cpp are the unit garrick/core/send."""
    return re.sub(r"\.(hpp|cpp)$", "", path)


def room_of(path: str) -> str:
    """The folder, of which `detail` and `internal` are the private halves."""
    folders = path.split("/")[:-1]
    while folders and folders[-1] in ("detail", "internal"):
        folders.pop()
    return "/".join(folders)


def private_room(path: str) -> str | None:
    """The private room of its part in which a header lies: `internal`, `detail`, another, none."""
    parts = path.split("/")
    rooms = parts[2:-1]
    for name in ("internal", "detail"):
        if name in rooms:
            return name
    public = PUBLIC_ROOMS.get(parts[1])
    return rooms[0] if public is not None and rooms and rooms[0] not in public else None


def is_test(path: Path) -> bool:
    return path.name.endswith((".test.cpp", ".model.cpp", ".fuzz.cpp"))


def includes_of(text: str):
    clean = without_comments(text, keep_strings=True)
    for match in INCLUDE.finditer(clean):
        yield clean.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def check_private(path: Path, own: str | None, target: str) -> str | None:
    """`own`: the part that a file is a part or a test of, or None. Private rooms are for the own
    part; some are open to more.
    """
    room = private_room(target)
    part = part_of(unit_of(target))
    if room is None or (path.as_posix() == UMBRELLA and target in SHORT_CHAINS):
        return None
    umbrella = path.parts[0] == "lib" and len(path.parts) == 4
    if room == "internal":
        if part != own and not (
            path.name.endswith((".model.cpp", ".model.hpp")) and part == "base"
        ):
            # the model checker's atomics serve every part
            return f"internal/ of {part} is private to that part"
        if path.parts[0] == "lib" and path.suffix == ".hpp" and "internal" not in path.parts:
            return "an installed header includes an internal one, which is never installed"
        return None
    if umbrella or (part != own and own not in OPEN_TO.get((part, room), ())):
        return f"{room}/ of {part} is private to that part"
    return None


def owner_of(path: Path) -> str | None:
    """The part whose private rooms a file may use: its own, or the one that it tests."""
    return path.parts[1] if path.parts[0] in ("lib", "tests") and len(path.parts) > 2 else None


def may_include(path: Path, own: str) -> set[str]:
    """Tests of a part above the testkit may use it, and those of net all of net's own units."""
    allowed = MAY_INCLUDE[own]
    if is_test(path) and own not in {"testkit"} | MAY_INCLUDE["testkit"]:
        allowed = allowed | {"testkit"} | MAY_INCLUDE["testkit"]
        if part_of(own) == "net":
            allowed = allowed | {"net/stack", "net/testkit"}
    return allowed


def check_library_file(path: Path, text: str, lines, problems: list[str]) -> None:
    """Rules for a file below lib/."""
    part = path.parts[1]
    own = unit_of("/".join(path.parts[2:]))
    if own is None or part_of(own) != part:
        problems.append(
            f"{path}:1: lies in lib/{part} but its path says {own}: path and part must agree"
        )
        return
    if own not in MAY_INCLUDE:
        problems.append(f"{path}:1: the unit {own} is not in the table of tools/lint/layering.py")
        return
    name = "/".join(path.parts[2:])
    if path.suffix == ".hpp" and len(path.parts) > 4 and part not in NOT_INSTALLED:
        opening = text.split("#pragma once")[0]
        if private_room(name) not in (None, "internal") and not PRIVATE_LINE.search(opening):
            problems.append(
                f"{path}:1: a header of a private room says why it is installed: "
                "`// Private: installed because ...`"
            )
    for number, bracket, target in lines:
        other = unit_of(target)
        if bracket == '"' and other is None:
            problems.append(f'{path}:{number}: include "{target}" by its full name, garrick/...')
        elif other is not None and other != own and other not in may_include(path, own):
            problems.append(f"{path}:{number}: {own} must not include {other} ({target})")
        elif (
            path.suffix == ".hpp"
            and "internal" not in path.parts
            and own not in ("testkit", "machine", "net/testkit")
            and (target.startswith(EXPENSIVE) or target in EXPENSIVE_STANDARD)
        ):
            problems.append(
                f"{path}:{number}: a public header must not include <{target}>: "
                "it is expensive to compile; move it into a .cpp file"
            )


def room_below(path: str, part: str) -> str | None:
    """The room of a part, or of a folder of one, that has this file; "" for its top."""
    room = room_of(path) + "/"
    top = f"garrick/{part}/"
    return room[len(top) :].split("/")[0] if room.startswith(top) else None


def check_order(path: Path, target: str) -> str | None:
    """Of a file below lib/: a room includes no room that stands above it in its row."""
    for part, order in ROOMS_IN_ORDER.items():
        room, other = (room_below(name, part) for name in ("/".join(path.parts[2:]), target))
        if room not in order or other is None:
            continue
        if other not in order or order.index(other) > order.index(room):
            return f"{part}/{room} must not include {part}/{other}, which stands above it"
    return None


def check_networks(including: dict[Path, str]) -> list[str]:
    """including: the files of the library, without tests, that have a header of OF_NETWORKS."""
    problems = [
        f"{path}:1: a header must not include <{target}>, nor an internal one: move it into a .cpp"
        for path, target in including.items()
        if path.suffix == ".hpp"
    ]
    if len(including) > SOURCES_OF_NETWORKS:
        problems.append(
            f"{max(including)}:1: {len(including)} sources include the expensive headers of "
            f"networks, and at most {SOURCES_OF_NETWORKS} may: "
            + ", ".join(str(path) for path in sorted(including))
        )
    return problems


def circles(graph: dict[str, dict[str, str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan). graph: node -> {successor:
    an example of the edge}.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for successor in sorted(graph.get(node, {})):
            if successor not in index:
                visit(successor)
                low[node] = min(low[node], low[successor])
            elif successor in stack:
                low[node] = min(low[node], index[successor])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def check_circles(graph: dict[str, dict[str, str]], what: str) -> list[str]:
    """One message for each circle, with every arrow that could be cut."""
    return [
        f"{what} circle: {', '.join(circle)} (by "
        + ", ".join(graph[a][b] for a in circle for b in circle if b in graph.get(a, {}))
        + ")"
        for circle in circles(graph)
    ]


def check_build_files(root: Path) -> list[str]:
    """The build must not allow an include that the table forbids."""
    problems = []
    for path in sorted((root / "lib").glob("*/CMakeLists.txt")):
        call = re.search(r"garrick_part\((\w+)([^)]*)\)", read(path))
        if not call or call.group(1) not in MAY_INCLUDE:
            continue
        depends = re.search(r"DEPENDS((?:\s+[a-z_]+)+)", call.group(2))
        for other in depends.group(1).split() if depends else []:
            if other not in MAY_INCLUDE[call.group(1)]:
                problems.append(
                    f"{path.relative_to(root)}:1: {call.group(1)} must not depend on {other}"
                )
    return problems


def check(root: Path) -> list[str]:
    problems = check_build_files(root)
    rooms: dict[str, dict[str, str]] = {}
    units: dict[str, dict[str, str]] = {}
    networks: dict[Path, str] = {}
    for path in cpp_files(root):
        text = read(root / path)
        lines = list(includes_of(text))
        in_library = path.parts[0] == "lib" and len(path.parts) > 3
        if in_library:
            check_library_file(path, text, lines, problems)
        targets = [(number, target) for number, _, target in lines if unit_of(target)]
        for number, target in targets:
            above = check_order(path, target) if in_library and not is_test(path) else None
            if above:
                problems.append(f"{path}:{number}: {above} ({target})")
            private = check_private(path, owner_of(path), target)
            if private:
                problems.append(f"{path}:{number}: {private} ({target})")
        if not in_library or is_test(path):
            continue
        for _, _, target in lines:
            if target.startswith(OF_NETWORKS):
                networks.setdefault(path, target)
        name = "/".join(path.parts[2:])
        for number, target in targets:
            for graph, node in ((rooms, room_of), (units, source_unit)):
                here, there = node(name), node(target)
                if here != there:
                    graph.setdefault(here, {}).setdefault(there, f"{path}:{number}")
    problems += check_networks(networks)
    return problems + check_circles(rooms, "folder") + check_circles(units, "unit")


if __name__ == "__main__":
    run("layering", check)
