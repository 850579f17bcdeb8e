#!/usr/bin/env python3
"""render.py FOLDER: writes README.md, ARCHITECTURE.md, CONTRIBUTING.md, CHANGELOG.md and docs/**/*.md as plain HTML pages below FOLDER.

It knows the Markdown that this project uses: headings, paragraphs, lists, tables, quotes, fenced code, code, emphasis, links, images.
"""

import html
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STYLE = """body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif;color:#222;background:#fff}
pre{background:#f5f5f2;padding:.8rem;overflow-x:auto;border-radius:4px}code{font:.92em/1.4 ui-monospace,monospace;background:#f5f5f2}
table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.25rem .6rem;text-align:left;vertical-align:top}
blockquote{border-left:4px solid #ccc;margin-left:0;padding-left:1rem}nav a{margin-right:1rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre,code{background:#262626}a{color:#8ab4f8}td,th{border-color:#444}}"""

ITEM = re.compile(r"^(\s*)([-*]|\d+\.)\s+(.*)$")


def inline(text: str) -> str:
    codes: list[str] = []

    def keep(match: re.Match) -> str:
        codes.append(f"<code>{html.escape(match.group(1))}</code>")
        return f"\0{len(codes) - 1}\0"

    text = html.escape(re.sub(r"`([^`]+)`", keep, text), quote=False)
    text = re.sub(r"!\[([^\]]*)\]\(([^)\s]+)\)", r'<img alt="\1" src="\2">', text)
    text = re.sub(
        r"\[([^\]]+)\]\(([^)\s]+)\)",
        lambda m: f'<a href="{page_link(m.group(2))}">{m.group(1)}</a>',
        text,
    )
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*", r"<em>\1</em>", text)
    return re.sub("\0(\\d+)\0", lambda m: codes[int(m.group(1))], text)


def page_link(target: str) -> str:
    return target if re.match(r"[a-z]+:", target) else re.sub(r"\.md(?=#|$)", ".html", target)


def slug(text: str) -> str:
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class renderer:
    """Turns the lines of one page into blocks of HTML."""

    def __init__(self, lines: list[str]):
        self.lines, self.at, self.out = lines, 0, []

    def run(self) -> str:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.lstrip().startswith("```"):
                self.code()
            elif heading := re.match(r"(#{1,6})\s+(.*)", line):
                level, text = len(heading.group(1)), heading.group(2)
                self.out.append(f'<h{level} id="{slug(text)}">{inline(text)}</h{level}>')
                self.at += 1
            elif line.startswith("|"):
                self.table()
            elif line.startswith(">"):
                quoted = self.take(lambda l: l.startswith(">"))
                self.out.append(
                    "<blockquote>"
                    + renderer([re.sub(r"^> ?", "", l) for l in quoted]).run()
                    + "</blockquote>"
                )
            elif ITEM.match(line):
                self.list()
            elif not line.strip() or line.startswith("<!--"):
                self.at += 1
            else:
                text = self.take(
                    lambda l: l.strip()
                    and not re.match(r"#{1,6}\s|```|\||>|<!--", l)
                    and not ITEM.match(l)
                )
                self.out.append(f"<p>{inline(' '.join(text))}</p>" if text else "")
                self.at += 0 if text else 1
        return "\n".join(self.out)

    def take(self, wanted) -> list[str]:
        start = self.at
        while self.at < len(self.lines) and wanted(self.lines[self.at]):
            self.at += 1
        return self.lines[start : self.at]

    def code(self) -> None:
        indent = len(self.lines[self.at]) - len(self.lines[self.at].lstrip())
        self.at += 1
        body = self.take(lambda l: not l.lstrip().startswith("```"))
        self.at += 1
        self.out.append("<pre>" + html.escape("\n".join(l[indent:] for l in body)) + "</pre>")

    def table(self) -> None:
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", l.strip().strip("|"))]
            for l in self.take(lambda l: l.startswith("|"))
        ]
        has_head = len(rows) > 1 and all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
        cells = [
            "".join(f"<{'th' if has_head and n == 0 else 'td'}>{inline(cell)}" for cell in row)
            for n, row in enumerate(rows)
        ]
        self.out.append(
            "<table>"
            + "".join(f"<tr>{row}" for n, row in enumerate(cells) if not (has_head and n == 1))
            + "</table>"
        )

    def list(self) -> None:
        first = ITEM.match(self.lines[self.at])
        depth, tag = len(first.group(1)), "ol" if first.group(2)[0].isdigit() else "ul"
        self.out.append(f"<{tag}>")
        while (
            self.at < len(self.lines)
            and (item := ITEM.match(self.lines[self.at]))
            and len(item.group(1)) == depth
        ):
            self.at += 1
            more = self.take(lambda l: l.strip() and len(l) - len(l.lstrip()) > depth)
            own = [item.group(3), *(re.sub(r"^\s{1,%d}" % (depth + 3), "", l) for l in more)]
            nested = next(
                (
                    n
                    for n, l in enumerate(own)
                    if n and (ITEM.match(l) or l.lstrip().startswith("```"))
                ),
                len(own),
            )
            self.out.append(
                f"<li>{inline(' '.join(own[:nested]))}{renderer(own[nested:]).run()}</li>"
            )
        self.out.append(f"</{tag}>")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    goal = Path(sys.argv[1])
    pages = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        name = page.relative_to(ROOT)
        lines = page.read_text(encoding="utf-8").splitlines()
        title = next((l.lstrip("# ") for l in lines if l.startswith("# ")), name.stem)
        up = "../" * (len(name.parts) - 1)
        target = goal / name.with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
            f'<nav><a href="{up}README.html">Garrick</a></nav>\n{renderer(lines).run()}\n',
            encoding="utf-8",
        )
    print(f"render: {len(pages)} pages in {goal}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
