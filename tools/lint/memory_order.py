#!/usr/bin/env python3
"""Every memory order has an `order:` comment beside it or just before, which names its partner."""

import re
from pathlib import Path

from sources import cpp_files, read, run, without_comments

USE = re.compile(r"\bmemory_order(?:_|::)(relaxed|consume|acquire|release|acq_rel|seq_cst)\b")
REASON = re.compile(r"(?://|/\*|\*).*\border:\s*\w+")
REACH = 3  # lines of code; comments between them do not count
COMMENT = re.compile(r"\s*(//|\*|/\*)")


def near(lines: list[str], index: int):
    """The line itself and the lines shortly before it."""
    yield lines[index]
    code = 0
    for line in reversed(lines[:index]):
        code += not COMMENT.match(line)
        if code > REACH:
            return
        yield line


def check_text(name: str, text: str) -> list[str]:
    problems = []
    lines = text.split("\n")
    for index, code in enumerate(without_comments(text).split("\n")):
        use = USE.search(code)
        if use and not any(REASON.search(line) for line in near(lines, index)):
            problems.append(
                f"{name}:{index + 1}: {use.group(1)} without an `order:` comment that names "
                "the operation it pairs with"
            )
    return problems


def check(root: Path) -> list[str]:
    return [
        problem for path in cpp_files(root) for problem in check_text(str(path), read(root / path))
    ]


if __name__ == "__main__":
    run("memory_order", check)
