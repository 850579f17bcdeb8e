#!/usr/bin/env python3
"""Keeps the code in README.md and docs/guide/*.md equal to code that is compiled and run.

A fenced block that follows a line `<!-- snippet: examples/01_hello.cpp#name -->` must be the text
between the lines `// [name]` and `// [/name]` of that file (the whole file without `#name`), with
the common indentation taken away. `--fix` rewrites the blocks. A C++ block in the guide without
such a line is an error, unless the line before the fence is `<!-- not compiled: reason -->`.
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"<!--\s*snippet:\s*([^\s#]+)(?:#([\w-]+))?\s*-->\s*$")
EXCUSED = re.compile(r"<!--\s*not compiled:\s*\w+.*-->\s*$")
FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\w*)")


class snippet_error(Exception):
    pass


def source_text(root: Path, file: str, name: str | None) -> list[str]:
    path = root / file
    if not path.is_file():
        raise snippet_error(f"there is no {file}")
    lines = path.read_text(encoding="utf-8").splitlines()
    if name:
        marks = [line.strip().lstrip("/# ") for line in lines]
        if f"[{name}]" not in marks or f"[/{name}]" not in marks:
            raise snippet_error(f"{file} has no lines // [{name}] and // [/{name}]")
        lines = lines[marks.index(f"[{name}]") + 1 : marks.index(f"[/{name}]")]
    lines = [line for line in lines if not re.fullmatch(r"\s*(//|#) \[/?[\w-]+\]\s*", line)]
    return textwrap.dedent("\n".join(lines)).strip("\n").split("\n")


def fence_end(lines: list[str], start: int) -> int:
    """The index of the line that closes the fence opened at lines[start]."""
    mark = FENCE.match(lines[start]).group(1)
    for index in range(start + 1, len(lines)):
        if lines[index].strip() == mark:
            return index
    raise snippet_error("a fenced block without an end")


def process(root: Path, page: Path) -> tuple[list[str], list[str]]:
    """The problems of one page, and its lines as they should be."""
    lines = page.read_text(encoding="utf-8").splitlines()
    name = page.relative_to(root)
    problems, result, index = [], [], 0
    while index < len(lines):
        line = lines[index]
        mark = MARK.search(line)
        result.append(line)
        index += 1
        try:
            if mark:
                if index >= len(lines) or not FENCE.match(lines[index]):
                    raise snippet_error("no fenced block follows")
                end = fence_end(lines, index)
                wanted = source_text(root, mark.group(1), mark.group(2))
                if lines[index + 1 : end] != wanted:
                    problems.append(
                        f"{name}:{len(result)}: differs from {mark.group(1)}; ./dev docs --fix "
                        "refreshes it"
                    )
                result += [lines[index], *wanted, lines[end]]
                index = end + 1
            elif fence := FENCE.match(line):
                end = fence_end(lines, index - 1)
                excused = len(result) > 1 and EXCUSED.search(result[-2])
                if fence.group(2) in ("cpp", "c++", "cc") and not excused:
                    problems.append(
                        f"{name}:{index}: C++ that is not taken from a source: "
                        "put `<!-- snippet: file#name -->` before it"
                    )
                result += lines[index : end + 1]
                index = end + 1
        except snippet_error as error:
            problems.append(f"{name}:{index}: {error}")
    return problems, result


def pages(root: Path) -> list[Path]:
    return [
        page
        for page in [root / "README.md", *sorted((root / "docs" / "guide").glob("*.md"))]
        if page.is_file()
    ]


def check(root: Path) -> list[str]:
    return [problem for page in pages(root) for problem in process(root, page)[0]]


def fix(root: Path) -> None:
    for page in pages(root):
        text = "\n".join(process(root, page)[1]) + "\n"
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"refreshed {page.relative_to(root)}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--fix", action="store_true", help="rewrite the blocks from the sources")
    options = parser.parse_args()
    if options.fix:
        fix(options.root)
    problems = check(options.root)
    print(
        "\n".join(
            [
                *problems,
                (
                    f"snippets: {len(problems)} problem(s)"
                    if problems
                    else f"snippets: {len(pages(options.root))} pages clean"
                ),
            ]
        )
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
