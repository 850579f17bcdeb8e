#!/usr/bin/env python3
"""Keeps the pictures of docs/pictures alike, and its charts equal to their data.

Each picture is an SVG of its own that follows the reader's colour scheme, so a forge and the site
show the same file. Its <style> is docs/pictures/style.css. NAME.svg beside NAME.json is a chart of
bars with those data: a bar is as long as the logarithm of its ratio, so 1 has no length. `--fix`
draws the charts and puts the style into the pictures.
"""

import argparse
import json
import math
import re
import sys
import xml.etree.ElementTree as xml
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WIDTH, LEFT, RIGHT, ROW, TOP = 400, 206, 24, 22, 34
WIDEST = 420  # units of a picture: so a text of 12 has 11 pixels on a screen of 390
STYLE = re.compile(r"<style>.*?</style>", re.S)
SVG = "{http://www.w3.org/2000/svg}"


def chart(data: dict) -> str:
    """The drawing of a chart; its style is still empty."""
    bars = data["bars"]
    most = 1.2 * max(ratio for _, ratio in bars)
    bottom = TOP + ROW * len(bars)

    def x(ratio: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(ratio) / math.log(most)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 28}" '
        f'width="{WIDTH}" role="img">',
        f'<title>{escape(data["title"])}</title>',
        "<style></style>",
        f'<rect class="paper" width="{WIDTH}" height="{bottom + 28}" rx="8"/>',
        f'<text class="bold" x="12" y="20">{escape(data["title"])}</text>',
    ]
    tick = 1
    while tick <= most:
        lines.append(
            f'<path class="rule" d="M{x(tick):.1f} {TOP}V{bottom}"/>'
            f'<text class="soft mid" x="{x(tick):.1f}" y="{bottom + 17}">{tick} ×</text>'
        )
        tick *= 10
    for row, (name, ratio) in enumerate(bars):
        y = TOP + ROW * row
        lines.append(
            f'<text class="soft" x="12" y="{y + 15}">{escape(name)}</text>'
            f'<rect class="bar" x="{LEFT}" y="{y + 4}" '
            f'width="{max(x(ratio) - LEFT, 1):.1f}" height="14" rx="2"/>'
            f'<text class="soft" x="{max(x(ratio), LEFT + 1) + 5:.1f}" y="{y + 15}">{ratio}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def wanted(root: Path) -> dict[Path, str]:
    """The text that each picture should have, by its file."""
    folder = root / "docs" / "pictures"
    found = {file: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.svg"))}
    for data in folder.glob("*.json"):
        found[data.with_suffix(".svg")] = chart(json.loads(data.read_text(encoding="utf-8")))
    style = f"<style>\n{(folder / 'style.css').read_text(encoding='utf-8')}</style>"
    return {file: STYLE.sub(lambda _: style, text) for file, text in found.items()}


def problem_of(text: str) -> str | None:
    """Returns the fault of a picture by itself, or None."""
    try:
        top = xml.fromstring(text)
    except xml.ParseError as error:
        return str(error)
    if "viewBox" not in top.attrib or float(top.get("viewBox").split()[2]) > WIDEST:
        return f"needs a viewBox that is at most {WIDEST} wide"
    if top.find(f"{SVG}title") is None or top.find(f"{SVG}style") is None:
        return "needs a <title> and a <style>"
    if re.search(r'(?:fill|stroke|style|href|src)="(?!#|none)', text):
        return "takes colours from the classes of style.css, and nothing from elsewhere"
    return None


def check(root: Path) -> list[str]:
    problems = []
    for file, text in wanted(root).items():
        name = file.relative_to(root)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            problems.append(f"{name}: is not up to date; ./dev docs --fix refreshes it")
        if problem := problem_of(text):
            problems.append(f"{name}: {problem}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--fix", action="store_true", help="draw charts, and copy the style")
    options = parser.parse_args()
    found = wanted(options.root)
    if options.fix:
        for file, text in found.items():
            file.write_text(text, encoding="utf-8")
    problems = check(options.root)
    summary = f"{len(problems)} problem(s)" if problems else f"{len(found)} clean"
    print("\n".join([*problems, f"pictures: {summary}"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
