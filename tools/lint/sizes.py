#!/usr/bin/env python3
"""Limits on size: 600 lines a file, 70 lines a function, 40 files a folder, 100 columns a line of
C++ or Python. In core and net 25 sources of 500 lines: in each room of core that lies in a row
(layering.py), with the folders in it, and in each folder of net. Tests, models and fuzzers do not
count. The pages that users read have limits of their own (PAGES), with code and tables.

Code that would be hurt by splitting says so: `long: reason` in a comment within the first 20 lines
of a file, or in or up to three lines before a function. A folder has no excuse. The strings of C++
do not count as columns, nor do the texts that a compile-fail test expects.
"""

import ast
import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from layering import ROOMS_IN_ORDER, is_test
from sources import all_files, read, run, without_comments, without_strings

FILE_LINES, FUNCTION_LINES, FOLDER_FILES, COLUMNS = 600, 70, 40, 100
ROOM_FILES, ROOM_LINES = 25, 500
LARGER = {"lib/core/garrick/core/mailbox/mailbox.hpp"}  # one proof
SOURCES = (".hpp", ".cpp", ".py", ".cmake", ".sh")
PAGES = (  # the first pattern that fits a path; the limit; the place for the rest
    ("CHANGELOG.md", 80, "lines", "join entries, or leave details to the guide"),
    ("README.md", 700, "words", "leave details to the guide"),
    ("docs/guide/*.md", 2000, "words", "move details to a fine-print page or to docs/internals"),
    ("docs/decisions/*.md", 700, "words", "move details to docs/internals"),
)
EXPECTATION = re.compile(r"// (expect|each|max-lines):")
EXCUSE = re.compile(r"(?://|#)\s*long:\s*\w+")
NOT_A_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern|concept)\b")
OPERATOR = re.compile(r"\boperator\s*[^\s\w(]+")
FUNCTION_NAME = re.compile(r"([~\w:]+|operator\s*\S{1,3})\s*\(")


def opens_function(head: str) -> bool:
    """Whether the text between the last statement's end and a `{` is a function's head (heuristic:
    it has a parameter list).
    """
    head = re.sub(r"\btemplate\s*<[^{};]*?>\s*(?=\w)", "", head)
    before_parameters = head.split("(", 1)[0]
    return (
        "(" in head
        and not NOT_A_FUNCTION.search(before_parameters)
        and "=" not in OPERATOR.sub("", before_parameters)
    )


def cpp_functions(text: str):
    """(name, first line, last line) of every outermost function body, by matching braces."""
    code = re.sub(
        r"^[ \t]*#(?:[^\n\\]|\\.)*",
        lambda m: "\n" * m.group(0).count("\n"),
        without_comments(text),
        flags=re.M | re.S,
    )
    depth, inside, head_start = 0, None, 0
    for match in re.finditer(r"[{};]", code):
        at, mark = match.start(), match.group(0)
        if mark == "{":
            head = code[head_start:at]
            if inside is None and opens_function(head):
                name = FUNCTION_NAME.search(head)
                start = code.count("\n", 0, head_start + len(head) - len(head.lstrip())) + 1
                inside = (depth, name.group(1) if name else "?", start)
            depth += 1
        elif mark == "}":
            depth -= 1
            if inside and depth == inside[0]:
                yield inside[1], inside[2], code.count("\n", 0, at) + 1
                inside = None
        head_start = at + 1


def python_functions(text: str):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def wide_lines(text: str, python: bool):
    """(line, columns) of lines of more than COLUMNS characters; in C++ also without strings."""
    lines = text.split("\n")
    wide = [number for number, line in enumerate(lines, 1) if len(line) > COLUMNS]
    if not wide:
        return
    bare = lines if python else without_strings(text).split("\n")
    for number in wide:
        if len(bare[number - 1]) > COLUMNS and not EXPECTATION.match(lines[number - 1]):
            yield number, len(lines[number - 1])


def check_file(name: str, text: str) -> list[str]:
    lines = text.split("\n")
    problems = []
    if len(lines) - 1 > FILE_LINES and not any(EXCUSE.search(line) for line in lines[:20]):
        problems.append(f"{name}:1: {len(lines) - 1} lines, the limit is {FILE_LINES}")
    functions = (
        cpp_functions(text)
        if name.endswith((".hpp", ".cpp"))
        else python_functions(text) if name.endswith(".py") else ()
    )
    for function, first, last in functions:
        if last - first + 1 > FUNCTION_LINES and not any(
            EXCUSE.search(line) for line in lines[max(0, first - 4) : last]
        ):
            problems.append(
                f"{name}:{first}: {function} has {last - first + 1} lines, "
                f"the limit is {FUNCTION_LINES}"
            )
    if name.endswith((".hpp", ".cpp", ".py")):
        problems += [
            f"{name}:{number}: {columns} columns, the limit is {COLUMNS}"
            for number, columns in wide_lines(text, name.endswith(".py"))
        ]
    return problems


def room_with_limits(path: Path) -> Path | None:
    """The room in which this source counts, or None."""
    is_source = path.suffix in (".hpp", ".cpp") and not is_test(path)
    if not is_source or path.name.endswith(".model.hpp") or "fuzzed" in path.parts:
        return None
    for room in ROOMS_IN_ORDER["core"]:
        folder = Path("lib/core/garrick/core") / room
        if path.is_relative_to(folder):
            return folder
    return path.parent if path.is_relative_to("lib/net/garrick/net") else None


def check_rooms(root: Path, files) -> list[str]:
    problems = []
    rooms: dict[Path, int] = Counter()
    for path in files:
        if (room := room_with_limits(path)) is None:
            continue
        rooms[room] += 1
        lines = read(root / path).count("\n")
        if lines > ROOM_LINES and path.as_posix() not in LARGER:
            problems.append(f"{path}:1: {lines} lines, the limit is {ROOM_LINES} in this room")
    return problems + [
        f"{room}: {count} sources, the limit is {ROOM_FILES} a room"
        for room, count in sorted(rooms.items())
        if count > ROOM_FILES
    ]


def check_page(path: Path, text: str) -> list[str]:
    for pattern, limit, unit, way_out in PAGES:
        if fnmatchcase(path.as_posix(), pattern):
            count = len(text.split() if unit == "words" else text.splitlines())
            if count > limit:
                return [f"{path}: {count} {unit}, the limit is {limit}; {way_out}"]
    return []


def check(root: Path) -> list[str]:
    files = all_files(root)
    problems = check_rooms(root, files)
    for folder, count in sorted(Counter(path.parent for path in files).items()):
        if count > FOLDER_FILES:
            problems.append(f"{folder}: {count} files, the limit is {FOLDER_FILES} a folder")
    for path in files:
        if path.suffix in SOURCES:
            problems += check_file(str(path), read(root / path))
        elif path.suffix == ".md":
            problems += check_page(path, read(root / path))
    return problems


if __name__ == "__main__":
    run("sizes", check)
