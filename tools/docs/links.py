#!/usr/bin/env python3
"""Every relative link of every Markdown page leads to a file that is there, and its #anchor to a
heading of that page. Links of installed pages (cmake/garrick_install.cmake) lead to installed ones.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^\s*(```+|~~~+)")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)


def prose(text: str):
    """(number, line) without fenced blocks and without `code`."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark:
            fence = mark.group(1) if fence is None else None if line.strip() == fence else fence
        elif fence is None:
            yield number, re.sub(r"`[^`]*`", "", line)


def anchors(text: str) -> set[str]:
    """The anchors that a Markdown viewer makes from the headings."""
    found = set()
    fence = None
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark:
            fence = mark.group(1) if fence is None else None
        elif fence is None and (heading := re.match(r"#{1,6}\s+(.*?)\s*#*$", line)):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            number = 1
            unique = slug
            while unique in found:
                unique, number = f"{slug}-{number}", number + 1
            found.add(unique)
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


def is_installed(file: str) -> bool:
    if file.startswith("examples/"):
        return not file.endswith((".test.cpp", ".fuzz.cpp"))
    return file.startswith(("docs/guide/", "docs/pictures/")) or file in (
        "docs/glossary.md",
        "docs/papers.md",
        "docs/wire.md",
    )


def check_page(root: Path, page: Path) -> list[str]:
    problems = []
    for number, line in prose(page.read_text(encoding="utf-8")):
        for target in LINK.findall(line):
            if ELSEWHERE.match(target):
                continue
            file, _, anchor = target.partition("#")
            goal = (page.parent / file).resolve() if file else page
            if not goal.exists():
                problems.append(
                    f"{page.relative_to(root)}:{number}: {target}: there is no such file"
                )
                continue
            here, there = page.relative_to(root).as_posix(), goal.relative_to(root).as_posix()
            is_content = goal.suffix in (".md", ".hpp", ".cpp", ".svg")
            if is_installed(here) and is_content and not is_installed(there):
                problems.append(f"{here}:{number}: {target}: that is not installed, as the page is")
            if (
                anchor
                and goal.suffix == ".md"
                and anchor not in anchors(goal.read_text(encoding="utf-8"))
            ):
                problems.append(
                    f"{page.relative_to(root)}:{number}: {target}: that page has no such heading"
                )
    return problems


def pages(root: Path) -> list[Path]:
    if (root / ".git").exists():
        listed = subprocess.run(
            [
                "git",
                "-C",
                str(root),
                "ls-files",
                "--cached",
                "--others",
                "--exclude-standard",
                "*.md",
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")
        return [root / name for name in listed if name and (root / name).is_file()]
    return [
        page for page in sorted(root.rglob("*.md")) if "build" not in page.relative_to(root).parts
    ]


def check(root: Path) -> list[str]:
    return [problem for page in pages(root) for problem in check_page(root, page)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=ROOT)
    root = parser.parse_args().root.resolve()
    problems = check(root)
    print(
        "\n".join(
            [
                *problems,
                (
                    f"links: {len(problems)} problem(s)"
                    if problems
                    else f"links: {len(pages(root))} pages clean"
                ),
            ]
        )
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
