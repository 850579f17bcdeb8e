#!/usr/bin/env python3
"""Every memory order that is written has an `order:` comment, on its line or the three lines before, that names what it pairs with."""
import re
from pathlib import Path

from sources import cpp_files, read, run, without_comments

USE = re.compile(r"\bmemory_order(?:_|::)(relaxed|consume|acquire|release|acq_rel|seq_cst)\b")
REASON = re.compile(r"(?://|/\*|\*).*\border:\s*\w+")
REACH = 3


def check_text(name: str, text: str) -> list[str]:
    problems = []
    lines = text.split("\n")
    for index, code in enumerate(without_comments(text).split("\n")):
        use = USE.search(code)
        if use and not any(REASON.search(line) for line in lines[max(0, index - REACH):index + 1]):
            problems.append(f"{name}:{index + 1}: {use.group(1)} without an `order:` comment that names the operation it pairs with")
    return problems


def check(root: Path) -> list[str]:
    return [problem for path in cpp_files(root) for problem in check_text(str(path), read(root / path))]


if __name__ == "__main__":
    run("memory_order", check)
