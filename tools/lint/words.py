#!/usr/bin/env python3
"""Text that must not be in the repository: notes of unfinished work, paths of somebody's machine,
conflict marks, stray blanks.
"""

import re
from pathlib import Path

from sources import all_files, run

# Written in pieces so that this file passes its own check.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:ho" r"me|ro" r"ot|wo" r"rk|Us" r"ers|mnt)/[\w.-]+")
CONFLICT = re.compile(r"^(<{7}|>{7}|={7})( |$)")
TEXT = {
    ".hpp",
    ".cpp",
    ".py",
    ".cmake",
    ".txt",
    ".md",
    ".json",
    ".sh",
    ".in",
    ".yml",
    ".expected",
    "",
}
NO_BLANK_CHECK = {
    ".md",
    ".txt",
    ".expected",
}  # two blanks at a line's end mean something in Markdown; shipped texts stay as they are
PROSE = (
    "examples/word_count/texts",
)  # shipped literature: only conflict marks would be wrong there; a fuzzer's inputs are any bytes


def check_line(line: str, suffix: str) -> str | None:
    if CONFLICT.match(line):
        return "a conflict mark"
    if found := UNFINISHED.search(line):
        return f"{found.group(0)}: finish it or open an issue"
    if found := MACHINE_PATH.search(line):
        return f"{found.group(0)} is a path of one machine"
    if suffix not in NO_BLANK_CHECK and (line != line.rstrip() or "\t" in line):
        return "a tab or a blank at the end"
    return None


def check_file(name: str, data: bytes) -> list[str]:
    if b"\0" in data or name.startswith(PROSE) or Path(name).parent.suffix == ".fuzz":
        return []
    suffix = Path(name).suffix
    text = data.decode("utf-8", errors="replace")
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        if problem := check_line(line, suffix):
            problems.append(f"{name}:{number}: {problem}")
    if text and not text.endswith("\n"):
        problems.append(f"{name}: no end of line at the end of the file")
    return problems


def check(root: Path) -> list[str]:
    return [
        problem
        for path in all_files(root)
        if path.suffix in TEXT
        for problem in check_file(str(path), (root / path).read_bytes())
    ]


if __name__ == "__main__":
    run("words", check)
