#!/usr/bin/env python3
"""Checks who includes whom: the table below, privacy of folders, cheap public headers, and no cycles between folders or files."""

import re
from pathlib import Path

from sources import cpp_files, read, run, without_comments

# unit -> units that it may include besides itself. A unit is a part, or a folder of the part net.
MAY_INCLUDE = {
    "base": set(),
    "core": {"base"},
    "sched": {"base"},
    "system": {"core", "sched", "base"},
    "testkit": {"system", "core", "sched", "base"},
    "machine": {"testkit", "core", "sched", "base"},
    "patterns": {"system"},
    "observe": {"system"},
    "gpu": {"system", "patterns"},
    "net/transport": {"base"},
    "net/layer": {"base"},
    "net/wire": {"base"},
    "net/node": {"core", "system", "base", "net/transport", "net/layer", "net/wire"},
    "net/broker": {"core", "system", "base", "net/transport", "net/layer", "net/wire"},
    "inspector": {"observe", "net/transport", "net/layer", "net/wire", "net/node", "net/broker"},
}

# What a public header never includes: each of these costs every user whole seconds or drags a library into the interface.
DEAR = ("boost/asio", "boost/beast", "nlohmann/", "spdlog/", "fmt/", "CLI/", "CLI11", "hwloc")
DEAR_STANDARD = {"iostream", "functional", "regex", "ranges", "format"}

# Arrows against the direction of the house that are still to be cut.
UNCUT = (
    ("garrick/core/cell", "garrick/core"),
    ("garrick/core/cell", "garrick/core/supervision"),
    ("garrick/core/detail", "garrick/core"),
    ("garrick/system/diagnosis", "garrick/system/threads"),
)

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def unit_of(path: str) -> str | None:
    """The unit of an include path such as garrick/core/x.hpp; the umbrella garrick/garrick.hpp belongs to system."""
    parts = path.split("/")
    if parts[0] != "garrick":
        return None
    if len(parts) == 2:
        return "system"
    if parts[1] == "net" and len(parts) > 3:
        return f"net/{parts[2]}"
    return parts[1]


def is_test(path: Path) -> bool:
    return path.name.endswith((".test.cpp", ".model.cpp", ".fuzz.cpp"))


def includes_of(text: str):
    clean = without_comments(text, keep_strings=True)
    for match in INCLUDE.finditer(clean):
        yield clean.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def check_private(path: Path, own: str | None, target: str) -> str | None:
    """`internal` is for the own part's sources; `detail` for the own part and, being installed, for nobody else by name."""
    folders = target.split("/")[:-1]
    other = unit_of(target)
    if "internal" in folders:
        if own != other and not (
            path.name.endswith((".model.cpp", ".model.hpp")) and other == "base"
        ):  # the model checker's atomics serve every part
            return f"internal/ of {other} is private to that part"
        if path.suffix == ".hpp" and "internal" not in path.parts:
            return "an installed header includes an internal one, which is never installed"
    if "detail" in folders and own not in (other, "system", "testkit") and path.parts[0] != "tests":
        return f"detail/ of {other} is private to that part"
    return None


def check_library_file(path: Path, lines, problems: list[str]) -> str | None:
    """Rules for a file below lib/. Returns the unit that the file belongs to."""
    part = path.parts[1]
    own = unit_of("/".join(path.parts[2:]))
    if own is None or own.split("/")[0] != part:
        problems.append(
            f"{path}:1: lies in lib/{part} but its path says {own}: path and part must agree"
        )
        return own
    if own not in MAY_INCLUDE:
        problems.append(f"{path}:1: the unit {own} is not in the table of tools/lint/layering.py")
        return own
    for number, bracket, target in lines:
        other = unit_of(target)
        if bracket == '"' and other is None:
            problems.append(f'{path}:{number}: include "{target}" by its full name, garrick/...')
        elif other is not None and other != own and other not in MAY_INCLUDE[own]:
            problems.append(f"{path}:{number}: {own} must not include {other} ({target})")
        elif (
            path.suffix == ".hpp"
            and "internal" not in path.parts
            and part not in ("testkit", "machine")
            and (target.startswith(DEAR) or target in DEAR_STANDARD)
        ):
            problems.append(
                f"{path}:{number}: a public header must not include <{target}>: it is dear to compile; move it into a .cpp file"
            )
    return own


def find_cycles(graph: dict[str, dict[str, str]], what: str) -> list[str]:
    """One message for each cycle found by a depth-first walk. graph: node -> {successor: an example of the edge}."""
    problems, done = [], set()

    def visit(node: str, trail: list[str]) -> None:
        if node in trail:
            cycle = trail[trail.index(node) :] + [node]
            edges = ", ".join(graph[a][b] for a, b in zip(cycle, cycle[1:]))
            problems.append(f"{what} cycle: {' -> '.join(cycle)} (by {edges})")
            return
        if node in done:
            return
        for successor in sorted(graph.get(node, {})):
            visit(successor, trail + [node])
        done.add(node)

    for start in sorted(graph):
        visit(start, [])
    return problems


def check_build_files(root: Path) -> list[str]:
    """The build must not allow what the table forbids."""
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
    folders: dict[str, dict[str, str]] = {}
    files: dict[str, dict[str, str]] = {}
    for path in cpp_files(root):
        lines = list(includes_of(read(root / path)))
        in_library = path.parts[0] == "lib" and len(path.parts) > 3
        own = check_library_file(path, lines, problems) if in_library else None
        for number, _, target in lines:
            private = check_private(path, own, target) if unit_of(target) else None
            if private:
                problems.append(f"{path}:{number}: {private} ({target})")
        if not in_library or is_test(path):
            continue
        name = "/".join(path.parts[2:])
        for number, _, target in lines:
            if unit_of(target) is None:
                continue
            here, there = name.rsplit("/", 1)[0], target.rsplit("/", 1)[0]
            if here != there:
                folders.setdefault(here, {}).setdefault(there, f"{path}:{number}")
            if path.suffix == ".hpp":
                files.setdefault(name, {}).setdefault(target, f"{path}:{number}")
    for here, there in UNCUT:
        folders.get(here, {}).pop(there, None)
    return problems + find_cycles(folders, "folder") + find_cycles(files, "include")


if __name__ == "__main__":
    run("layering", check)
