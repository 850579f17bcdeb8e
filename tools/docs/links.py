#!/usr/bin/env python3
"""Every relative link of every Markdown page leads to a file that is there, and its #anchor to a
heading of that page. Links of installed pages (cmake/garrick_install.cmake) lead to installed ones.
A file that an installed page names as `code` is installed, too, or the line says "repository"; the
text before the page's first section may say so for the whole page.
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
NAMED = re.compile(
    r"(?<![\w/.-])(?:\.\./)*((?:bench|cmake|docs|examples|lib|tests|tools|garrick)/[\w./-]*\w)"
    r"|(?<!\S)(\./dev|\.ci/run)\b"
)


def prose(text: str, code: bool = False):
    """(number, line) without fenced blocks, and without `code` or with nothing else."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark:
            fence = mark.group(1) if fence is None else None if line.strip() == fence else fence
        elif fence is None:
            yield number, (
                " | ".join(re.findall(r"`([^`]*)`", line)) if code else re.sub(r"`[^`]*`", "", line)
            )


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
        return not file.endswith((".test.cpp", ".fuzz.cpp")) and "/texts" not in file
    return file.startswith(("docs/guide/", "docs/pictures/")) or file in (
        "CHANGELOG.md",
        "docs/glossary.md",
        "docs/papers.md",
        "docs/portability.md",
        "docs/wire.md",
    )


def check_names(root: Path, page: Path) -> list[str]:
    """The files that an installed page names as `code`."""
    text = page.read_text(encoding="utf-8")
    here = page.relative_to(root).as_posix()
    lines = text.splitlines()
    if not is_installed(here) or "repository" in text.partition("\n## ")[0]:
        return []
    problems = []
    for number, line in prose(text, code=True):
        for path, command in NAMED.findall(line):
            if path.startswith("garrick/"):  # a header, as programs include it
                if not path.endswith(".hpp") or (
                    any(root.glob(f"lib/*/{path}")) and "/internal/" not in path
                ):
                    continue
            elif path and is_installed(path) and (root / path).exists():
                continue
            if "repository" not in lines[number - 1]:
                problems.append(
                    f"{here}:{number}: {path or command}: that is not installed, as the page is; "
                    "say that it is in the repository"
                )
    return problems


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
    return [
        problem
        for page in pages(root)
        for problem in [*check_page(root, page), *check_names(root, page)]
    ]


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
