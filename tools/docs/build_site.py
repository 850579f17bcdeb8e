#!/usr/bin/env python3
"""build_site.py [--serve [PORT]]: builds the site in build/docs/site from the Markdown of the tree
and the comments of its headers.

The pages stay where they are, so that their links work on a forge as well. They are copied to
build/docs/pages in the same tree. There a link to a header leads to its page of the reference, and
a link to another source or folder to a page that shows it. Warnings of MkDocs or Doxygen, links and
anchors that lead nowhere, pages outside the navigation, public headers without a page, questions
(search.py) that the search does not answer, and anything loaded from the network are errors.
"""

import argparse
import functools
import html.parser
import http.server
import logging
import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import api
import links
import reference
import search

LANGUAGES = {".hpp": "cpp", ".cpp": "cpp", ".py": "python", ".cmake": "cmake", ".sh": "bash"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"(`[^`]+`)")
REMARK = re.compile(r"^<!--.*-->\s*$")
ITEM = re.compile(r"^([-*]|\d+\.)\s")
FRONT = "---\nhide: [navigation]\n---\n"
TELLING = re.compile(r"</script>|<\w[^<>]*\s(?:id|name|href|src)=[^<>]*>")  # few of all tags
HIDDEN = "---\nhide: [navigation, toc]\n---\n\n"


class stage:
    """Copies the pages to a folder and remembers which sources they link to."""

    def __init__(self, root: Path, folder: Path, writer: api.writer):
        self.root, self.folder, self.writer = root, folder, writer
        self.pages = {page.relative_to(root) for page in links.pages(root)}
        self.sources: set[Path] = set()
        self.pictures: set[Path] = set()
        self.tags: dict[str, list[str]] = {}  # of the search, by location

    def write(self, page: Path, text: str) -> None:
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def target(self, page: Path, target: str) -> str:
        """A relative link of a page, as it is in the site."""
        file, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not file:
            return target
        goal = Path(os.path.normpath(page.parent / file))
        if goal / "README.md" in self.pages:
            goal = goal / "README.md"
        elif goal == reference.UMBRELLA:
            goal = Path("api/index.md")
        elif goal.suffix == ".svg":
            self.pictures.add(goal)
        elif goal in self.writer.headers:
            goal = self.writer.headers[goal].page
        elif goal not in self.pages:
            self.sources.add(goal)
            goal = source_page(goal)
        return os.path.relpath(goal, page.parent) + (f"#{anchor}" if anchor else "")

    def line(self, page: Path, line: str, linked: set[str]) -> str:
        """Outside fences. A name of the reference becomes a link at its first place on a page."""
        line = LINK.sub(lambda m: f"]({self.target(page, m.group(1))})", line)
        if line.startswith("#"):
            return line
        parts = CODE.split(line)
        for n in range(1, len(parts), 2):
            name = parts[n].strip("`")
            bare = re.sub(r"\(.*\)$", "", name)
            inside = parts[n - 1].endswith("[") or parts[n + 1].startswith("]")
            if not inside and bare not in linked and bare in self.writer.exported_names:
                linked.add(bare)
                parts[n] = self.writer.code(name, page)
        return "".join(parts)

    def page(self, page: Path) -> str:
        text = (self.root / page).read_text(encoding="utf-8")
        self.tags[str(page.with_suffix(".html"))] = search.tags(text)
        out, fence, linked = [FRONT] if page == Path("README.md") else [], None, set()
        for line in text.splitlines():
            mark = links.FENCE.match(line)
            if mark:
                fence = mark.group(1) if fence is None else None
            elif fence is None:
                if REMARK.match(line):
                    continue
                before = out[-1] if out else ""
                if (
                    ITEM.match(line)
                    and before.strip()
                    and not re.match(r"\s|[-*]\s|\d+\.\s", before)
                ):
                    out.append("")
                line = re.sub(r"^ {2,3}(?=\S)", "    ", self.line(page, line, linked))
            out.append(line)
        return "\n".join(out) + "\n"

    def source(self, file: Path) -> str:
        text = (self.root / file).read_text(encoding="utf-8").rstrip()
        return f"{HIDDEN}# {file}\n\n````{LANGUAGES.get(file.suffix, 'text')}\n{text}\n````\n"

    def listing(self, folder: Path) -> str:
        files = sorted(
            p for p in (self.root / folder).iterdir() if not p.name.startswith(("_", "."))
        )
        rows = [f"- `{path.name}{'/' if path.is_dir() else ''}`" for path in files]
        return f"{HIDDEN}# {folder}\n\n" + "\n".join(rows) + "\n"

    def run(self) -> None:
        self.writer.write(self.folder)
        for page in sorted(self.pages):
            self.write(page, self.page(page))
        self.sources |= set(self.writer.headers)
        for source in sorted(self.sources):
            text = self.listing(source) if (self.root / source).is_dir() else self.source(source)
            self.write(source_page(source), text)
        for picture in self.pictures:
            (self.folder / picture).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.root / picture, self.folder / picture)
        for name in ("extra.css", "favicon.svg"):
            shutil.copy(HERE / name, self.folder / name)


def source_page(file: Path) -> Path:
    return Path("source", f"{file}.md")


def navigation(root: Path, writer: api.writer, pages: set[Path]) -> list:
    def below(folder: str) -> list[str]:
        """The pages of a folder, in the order in which its README links to them."""
        found = [str(p) for p in pages if str(p.parent) == folder]
        readme = root / folder / "README.md"
        order = readme.read_text(encoding="utf-8") if readme.exists() else ""
        return sorted(found, key=lambda name: (order.find(f"({Path(name).name})"), name))

    def groups(folder: str) -> list:
        """The same, those behind each heading of the README together."""
        pages = below(folder)
        readme = root / folder / "README.md"
        text = readme.read_text(encoding="utf-8") if readme.exists() else ""
        _, *parts = re.split(r"^## (.+)$", text, flags=re.M)
        found = {
            title: [page for page in pages if f"({Path(page).name})" in part]
            for title, part in zip(parts[::2], parts[1::2])
        }
        grouped = set().union(*found.values())
        return [p for p in pages if p not in grouped] + [{t: f} for t, f in found.items() if f]

    reference_pages = {
        part: [
            {h.include.removeprefix(f"garrick/{part}/"): str(h.page)}
            for h in sorted(writer.headers.values(), key=lambda h: (len(h.page.parts), h.page))
            if reference.part(h.file) == part
        ]
        for part in api.ORDER
    }
    inside = [{"Architecture": "ARCHITECTURE.md"}]
    inside += [
        {"Internals": below("docs/internals")},
        {"Decisions": below("docs/decisions")},
        {
            "Parts": [
                f"lib/{p}/README.md" for p in api.ORDER if Path("lib", p, "README.md") in pages
            ]
        },
        *below("docs"),
        {"Tests": sorted(str(p) for p in pages if p.parts[0] == "tests")},
        {"Benchmarks": "bench/README.md"},
    ]
    examples = ["examples/README.md"]
    examples += sorted(str(p) for p in pages if "examples" in p.parts[:1] and len(p.parts) > 2)
    return [
        {"Garrick": "README.md"},
        {"Guide": [*groups("docs/guide"), {"Examples": examples}]},
        {"Reference": ["api/index.md", *({p: n} for p, n in reference_pages.items() if n)]},
        {"Inside": inside},
        {"Contributing": ["CONTRIBUTING.md", "CHANGELOG.md"]},
    ]


def listed(nav) -> set[str]:
    """The pages that a navigation leads to."""
    if isinstance(nav, str):
        return {nav}
    return set().union(*map(listed, nav.values() if isinstance(nav, dict) else nav))


def unreachable(root: Path, staged: stage, nav: list) -> list[str]:
    """Public headers that have no page, and pages that are in no navigation."""
    headers = {file.relative_to(root) for file in (root / "lib").rglob("*.hpp")}
    wanted = {file for file in headers if reference.public(file)} - {reference.UMBRELLA}
    problems = [
        f"{file}: a public header without a page: it needs an opening comment"
        for file in wanted - set(staged.writer.headers)
    ]
    pages = {str(page) for page in staged.pages}
    pages |= {str(found.page) for found in staged.writer.headers.values()}
    problems += [f"{page}: a page outside the navigation" for page in pages - listed(nav)]
    return sorted(problems)


class page_reader(html.parser.HTMLParser):
    """The definitions, links and loaded files of a page."""

    LOADS = {
        "script": "src",
        "img": "src",
        "iframe": "src",
        "link": "href",
        "source": "src",
        "video": "src",
    }

    def __init__(self):
        super().__init__()
        self.ids, self.goals, self.loaded = set(), set(), set()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and values.get("href"):
            self.goals.add(values["href"])
        if self.LOADS.get(tag) in values:
            self.loaded.add(values[self.LOADS[tag]])


def check(site: Path) -> list[str]:
    """Links and anchors that lead nowhere, and files that would come from the network."""
    read: dict[Path, page_reader] = {}
    for path in site.rglob("*.html"):
        read[path] = page_reader()
        read[path].feed("".join(TELLING.findall(path.read_text(encoding="utf-8"))))
    problems = []
    for path, page in read.items():
        name = path.relative_to(site)
        problems += [
            f"{name}: loads {url}" for url in page.loaded if re.match(r"(https?:)?//", url)
        ]
        for goal in page.goals if path.name != "404.html" else ():
            file, _, anchor = goal.partition("#")
            if re.match(r"[a-z]+:", goal):
                continue
            other = Path(os.path.normpath(path.parent / file)) if file else path
            other = other / "index.html" if other.is_dir() else other
            if not other.exists():
                problems.append(f"{name}: {goal}: there is no such page")
            elif anchor and other in read and anchor not in read[other].ids:
                problems.append(f"{name}: {goal}: that page has no such place")
    return sorted(problems)


def build(root: Path, goal: Path) -> list[str]:
    try:
        import lunr  # noqa: F401 (search.py needs it)
        from mkdocs.commands.build import build as mkdocs_build
        from mkdocs.config import load_config
        from mkdocs.exceptions import Abort
    except ImportError:
        return [
            "MkDocs is missing: `./dev docs` installs it, and asks Debian's /usr/bin/python3 for it"
        ]
    entities, problems = reference.load(root)
    if problems:
        return problems
    pages, site = goal / "pages", goal / "site"
    shutil.rmtree(pages, ignore_errors=True)
    staged = stage(root, pages, api.writer(root, entities))
    staged.run()
    nav = navigation(root, staged.writer, staged.pages)
    if problems := unreachable(root, staged, nav):
        return problems
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    settings = {"docs_dir": str(pages), "site_dir": str(site), "nav": nav, "strict": True}
    config = load_config(str(HERE / "mkdocs.yml"), **settings)
    config["extra"]["search_rules"] = search.RULES
    try:
        mkdocs_build(config)
    except Abort as error:
        return [str(error)]
    search.prepare(site, staged.tags)
    return check(site) + search.check(site)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--serve", nargs="?", type=int, const=8000, metavar="PORT", help="show it")
    port = parser.parse_args().serve
    goal = ROOT / "build" / "docs"
    problems = build(ROOT, goal)
    print(
        "\n".join(
            [
                *problems,
                f"site: {len(problems)} problem(s)" if problems else f"site: {goal / 'site'}",
            ]
        )
    )
    if problems or port is None:
        return 1 if problems else 0
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=goal / "site")
    try:
        with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
            print(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", flush=True)
            server.serve_forever()
    except OSError as error:
        print(f"site: port {port}: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
