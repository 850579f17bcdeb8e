#!/usr/bin/env python3
"""Every error of tools/mutate can be planted: its text is in its file exactly once, and each test
that is to find it exists. A change of such a text or of such a test's name changes the error, too.
"""

import sys
from pathlib import Path

from sources import all_files, run

sys.path.append(str(Path(__file__).resolve().parents[1] / "mutate"))

from mutation import is_model, misplaced, mutation, stem_of
from mutations import MUTATIONS


def sources(test: str) -> tuple[Path, str]:
    """Where the test's source stands, at some depth, and its name. A room that is a target of its
    own, such as net_broker, lies in its part's folder.
    """
    part = test.split(".")[0].split("_")[0]
    folder = Path("tests") if part == "tests" else Path("lib") / part
    return folder, f"{stem_of(test)}.{'model' if is_model(test) else 'test'}.cpp"


def problems_of(m: mutation, root: Path, files: list[Path]):
    if why := misplaced(m, root):
        yield why
    if not m.tests and not m.equivalent:
        yield "it has no test, and nothing argues that it is equivalent"
    for test in m.tests:
        folder, name = sources(test)
        if not any(path.name == name and path.is_relative_to(folder) for path in files):
            yield f"its test {test} would be a {name} in {folder}, and there is none"


def check(root: Path, mutations=MUTATIONS) -> list[str]:
    files = [path for path in all_files(root) if path.name.endswith((".test.cpp", ".model.cpp"))]
    return [
        f"tools/mutate: {m.name}: {problem}"
        for m in mutations
        for problem in problems_of(m, root, files)
    ]


if __name__ == "__main__":
    run("planted", check)
