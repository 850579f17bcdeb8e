#!/usr/bin/env python3
"""Every test case that steps aside for a sanitizer, or always, has its reason in
tools/test/skipped.toml, and every case named there is there. `.ci/run` would find the same an hour
later, when the sanitizers' jobs are through.
"""

import re
import tomllib
from pathlib import Path

from sources import cpp_files, read, run

REASONS = "tools/test/skipped.toml"
CASE = re.compile(
    r'\bTEST_CASE\(\s*(?P<name>(?:"(?:\\.|[^"\\])*"\s*)+)(?P<decorators>[^{]*?)\)\s*\{', re.S
)
PIECE = re.compile(r'"((?:\\.|[^"\\])*)"')
STEPS_ASIDE = re.compile(r"doctest::skip\(\s*(?:\)|[^)]*\bHAS_SANITIZER\b)")


def cases(root: Path):
    """Each test case: where it stands, its name, and whether it steps aside."""
    for path in cpp_files(root):
        if not path.name.endswith(".test.cpp"):
            continue
        text = read(root / path)
        for found in CASE.finditer(text):
            name = "".join(PIECE.findall(found["name"]))
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}", name, bool(STEPS_ASIDE.search(found["decorators"]))


def check(root: Path) -> list[str]:
    allowed = tomllib.loads(read(root / REASONS))["allowed"]
    named = {test for entry in allowed for test in entry["tests"]}
    found = list(cases(root))
    problems = [
        f"{where}: '{name}' steps aside, and {REASONS} does not say why"
        for where, name, aside in found
        if aside and name not in named
    ]
    known = {name for _, name, _ in found}
    # A name without a blank is CTest's, for a whole file or a tool.
    gone = sorted(name for name in named if " " in name and name not in known)
    return problems + [f"{REASONS}: there is no test '{name}'" for name in gone]


if __name__ == "__main__":
    run("left_out", check)
