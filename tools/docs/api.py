"""Turns Doxygen's reading of the public headers into Markdown: one page a header, and an index of
the names that garrick.hpp exports.
"""

import re
import textwrap
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

import reference
from declarations import comment, declaration, signature
from reference import entity

CODE = re.compile(r"(`[^`]+`)")
ITEM = re.compile(r"([-*]|\d+\.|[A-Z]\d+\.?) +(?=\S)")  # of a list, or an invariant


@dataclass
class header:
    """A header's page: its opening comment and the names it declares."""

    file: Path  # relative to the root
    names: list[entity] = field(default_factory=list)

    @property
    def include(self) -> str:
        return str(Path(*self.file.parts[2:]))

    @property
    def page(self) -> Path:
        return Path("api", *self.file.parts[3:]).with_suffix(".md")


def escape(text: str) -> str:
    """Plain text as Markdown."""
    text = re.sub(r"([\\`*\[\]>#{}]|(?<!\w)_|_(?!\w))", r"\\\1", text.replace("&", "&amp;"))
    return text.replace("<", "&lt;")


def slug(name: str) -> str:
    return re.sub(r"[^\w.~=<>!+-]", "", name.replace("::", ".")).strip(".") or "name"


class writer:
    """Knows where each name is described, and writes the pages."""

    def __init__(self, root: Path, entities: list[entity]):
        self.root = root
        self.exported = reference.exported(root)
        self.exported_names = {name.rsplit("::", 1)[1] for name in self.exported}
        self.headers: dict[Path, header] = {}
        self.places: dict[str, tuple[Path, str]] = {}  # id: page, anchor
        self.by_name: dict[str, str] = {}  # as a text may write it: id
        for found in entities:
            wanted = reference.public(found.file) and not found.for_the_framework
            if not wanted and found.name not in self.exported or self._nested(found, entities):
                continue
            page = self.headers.setdefault(found.file, header(found.file))
            page.names.append(found)
            self._place(page, found)
        for file in sorted((root / "lib").rglob("*.hpp")):
            name = file.relative_to(root)
            if name != reference.UMBRELLA and reference.public(name) and any(self._opening(name)):
                self.headers.setdefault(name, header(name))

    def _nested(self, found: entity, entities: list[entity]) -> bool:
        """A specialisation, or a class inside one that is not shown."""
        name = re.sub(r"operator[<=>]+", "", found.name)
        return "<" in name or not found.documented and found.name.count("::") > 2

    def _place(self, page: header, found: entity) -> None:
        within = slug(re.sub(r"^garrick::\w+::", "", found.name))
        self.places[found.id] = (page.page, within)
        self.by_name.setdefault(found.short, found.id)
        if found.name in self.exported:
            self.by_name[found.short] = found.id
        for member in [*found.members, *(v for m in found.members for v in m.members)]:
            headless = member.kind == "enumvalue" or member.special
            anchor = within if headless else f"{within}.{slug(member.short)}"
            self.places[member.id] = (page.page, anchor)
            self.by_name.setdefault(f"{found.short}::{member.short}", member.id)

    def link(self, id: str, page: Path) -> str | None:
        """The way to a name's description from a page."""
        if id not in self.places:
            return None
        other, anchor = self.places[id]
        return ("" if other == page else relative(other, page)) + f"#{anchor}"

    def code(self, text: str, page: Path) -> str:
        """`text`, as a link if it names something that is described."""
        bare = re.sub(r"\(.*\)$", "", text.removeprefix("garrick::"))
        place = self.link(
            self.by_name.get(re.sub(r"^(base|core|system|sched|testkit)::", "", bare), ""), page
        )
        return f"[`{text}`]({place})" if place else f"`{text}`"

    # Descriptions.

    def inline(self, node: xml.Element | None, page: Path) -> str:
        """The text of a paragraph without blocks."""
        if node is None:
            return ""
        out = escape(node.text or "")
        for child in node:
            inner = "".join(child.itertext())
            if child.tag == "computeroutput":
                out += self.code(inner, page)
            elif child.tag == "ref":
                place = self.link(child.get("refid"), page)
                out += f"[`{inner}`]({place})" if place else f"`{inner}`"
            elif child.tag in ("emphasis", "bold"):
                mark = "*" if child.tag == "emphasis" else "**"
                out += f"{mark}{self.inline(child, page)}{mark}"
            else:
                out += {"ndash": "–", "mdash": "—", "linebreak": "\n"}.get(child.tag, "")
                out += self.inline(child, page)
            out += escape(child.tail or "")
        return out

    def blocks(self, node: xml.Element | None, page: Path) -> list[str]:
        """Paragraphs and the blocks between them, in their order."""
        out = []
        for para in node if node is not None else ():
            if para.tag != "para":
                continue
            text = xml.Element("para")
            text.text = para.text
            for child in para:
                if child.tag not in BLOCKS:
                    text.append(child)
                    continue
                out += [self.inline(text, page).strip(), *self.block(child, page)]
                text = xml.Element("para")
                text.text = child.tail
            out.append(self.inline(text, page).strip())
        return [text for text in out if text]

    def block(self, node: xml.Element, page: Path) -> list[str]:
        if node.tag in ("verbatim", "preformatted"):
            return [drawing((node.text or "").strip("\n"))]
        if node.tag == "programlisting":
            for space in node.iter("sp"):
                space.text = " "
            lines = ["".join(line.itertext()) for line in node.findall("codeline")]
            return ["```cpp\n" + "\n".join(lines).strip("\n") + "\n```"]
        if node.tag in ("itemizedlist", "orderedlist"):
            mark = "-" if node.tag == "itemizedlist" else "1."
            items = ["\n\n".join(self.blocks(item, page)) for item in node]
            return ["\n".join(f"{mark} " + item.replace("\n", "\n    ") for item in items)]
        if node.tag == "simplesect":
            title = {"return": "Returns", "see": "See", "pre": "Needs", "post": "Guarantees"}
            text = " ".join(self.blocks(node, page))
            return [f"**{title.get(node.get('kind'), node.get('kind').capitalize())}:** {text}"]
        rows = []  # parameterlist
        for item in node:
            names = ", ".join(f"`{name.text}`" for name in item.iter("parametername"))
            text = " ".join(self.blocks(item.find("parameterdescription"), page))
            rows.append(f"- {names}: {text}")
        return ["\n".join(rows)]

    def description(self, found: entity, page: Path) -> list[str]:
        return self.blocks(found.node.find("briefdescription"), page) + self.blocks(
            found.node.find("detaileddescription"), page
        )

    def brief(self, found: entity, page: Path) -> str:
        text = " ".join(self.description(found, page)[:1]).replace("\n", " ").strip()
        return re.split(r"(?<=[\w`)][.]) (?=[A-Z`\[])", text, maxsplit=1)[0]

    # Pages.

    def _opening(self, file: Path) -> list[str]:
        """The comment that the header opens with, as Markdown; lists and indented text stay."""
        lines = []
        for line in (self.root / file).read_text(encoding="utf-8").splitlines():
            if not line.startswith("//"):
                break
            lines.append(line.removeprefix("//").removeprefix(" "))
        blocks = re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines).strip("\n"))
        out = []
        for block in blocks:
            texts, drawn = [], False
            for line in items(CODE.sub(unwrapped, block).split("\n")):
                if line.startswith("  ") and (drawn or not re.match(r"\s+([-*]|\d+\.) ", line)):
                    texts += [] if drawn else ["\n```text"]
                    drawn = True
                else:
                    texts += ["```\n"] if drawn else []
                    drawn = False
                    parts = CODE.split(line)
                    line = "".join(p if p.startswith("`") else escape(p) for p in parts)
                texts.append(line)
            out.append("\n".join([*texts, "```"] if drawn else texts).strip("\n"))
        pieces = re.split(r"```text\n(.*?)\n```", "\n\n".join(out), flags=re.S)
        text = "".join(drawing(p) if n % 2 else p for n, p in enumerate(pieces))
        both = r"(```cpp\n(?:(?!```).)*)\n```\n+```cpp(\n)"  # an empty line within code
        while text != (text := re.sub(both, r"\1\n\2", text, flags=re.S)):
            pass
        return [text.strip()]

    def page(self, page: header) -> str:
        text = [
            f"# {page.file.name}",
            f"```cpp\n#include <{page.include}>\n```",
        ]
        names = [name for name in page.names if name.name in self.exported]
        if names:
            each = {name.short: name.id for name in reversed(names)}
            shown = [f"[`garrick::{n}`]({self.link(i, page.page)})" for n, i in each.items()][::-1]
            text.append(f"Or `garrick/garrick.hpp`, which has {', '.join(shown)}.")
        text += self._opening(page.file)
        for overloads in by_name(page.names):
            if overloads[0].is_class:
                text += self.class_section(overloads[0], page.page)
            else:
                text += self.member_section(overloads, page.page, 2)
        source = Path("source", f"{page.file}.md")
        text.append(f"[The whole header]({relative(source, page.page)})")
        return "\n\n".join(text) + "\n"

    def class_section(self, found: entity, page: Path) -> list[str]:
        anchor = self.places[found.id][1]
        text = [f"## {escape(display(found))} {{ #{anchor} }}", declaration(found)]
        text += self.description(found, page)
        members = [m for m in found.members if not m.short.startswith("garrick_")]
        special = [m for m in members if m.special and m.node.findtext("argsstring")]
        fields = [m for m in members if m.kind == "variable" and m.node.get("static") != "yes"]
        text += [
            f"{self.place(m)}`{signature(m).removesuffix(';')}`\n"
            f":   {self.row(m, page) or '&nbsp;'}"
            for m in fields
            if m.node.get("prot") == "public"
        ]
        plain = [m for m in members if not m.special and m not in fields and m.kind != "friend"]
        for overloads in by_name(plain):
            text += self.member_section(overloads, page, 3)
        if special:
            shown = "\n".join(comment(m.text) + signature(m) for m in special)
            text += ["**Construction, assignment, operators**", f"```cpp\n{shown}\n```"]
        return text

    def place(self, found: entity) -> str:
        return f'<a id="{self.places[found.id][1]}"></a>'

    def row(self, found: entity, page: Path) -> str:
        """A description within a table or a list."""
        return cell(" ".join(self.description(found, page)).replace("\n", " "))

    def member_section(self, overloads: list[entity], page: Path, level: int) -> list[str]:
        """One name with all its overloads."""
        first = overloads[0]
        text = [f"{'#' * level} {escape(display(first))} {{ #{self.places[first.id][1]} }}"]
        for found in overloads:
            text += [declaration(found), *self.description(found, page)]
            if found.kind == "enum" and found.members:
                rows = [f"| `{v.short}` | {self.row(v, page)} |" for v in found.members]
                text.append("\n".join(["| value | |\n|---|---|", *rows]))
        return text

    def index(self) -> str:
        page = Path("api/index.md")
        text = [
            "# API reference",
            "Generated from the comments in the headers. A program includes `garrick/garrick.hpp` "
            "and finds these names in the namespace `garrick`. The pages at the left have them by "
            "header, with what other headers offer besides.",
        ]
        for part in ORDER:
            rows = []
            for file, found in sorted(self.headers.items(), key=lambda pair: pair[0].name):
                if reference.part(file) != part:
                    continue
                names = {n.short: n for n in reversed(found.names) if n.name in self.exported}
                rows += [
                    f"| [`{name}`]({self.link(n.id, page)}) | {self.brief(n, page)} "
                    f"| [{file.name}]({relative(found.page, page)}) |"
                    for name, n in sorted(names.items())
                ]
            if rows:
                text += [f"## {part}", "\n".join(["| | | |\n|---|---|---|", *rows])]
        return "\n\n".join(text) + "\n"

    def write(self, folder: Path) -> None:
        pages = {found.page: self.page(found) for found in self.headers.values()}
        pages[Path("api/index.md")] = self.index()
        for path, text in pages.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")


BLOCKS = {
    "verbatim",
    "preformatted",
    "programlisting",
    "itemizedlist",
    "orderedlist",
    "simplesect",
    "parameterlist",
}
ORDER = ["core", "system", "patterns", "net", "gpu", "testkit", "base", "sched", "machine"]


def relative(target: Path, page: Path) -> str:
    """The link from one page to another, both relative to the same folder."""
    return "../" * (len(page.parts) - 1) + str(target)


def by_name(names: list[entity]) -> list[list[entity]]:
    """Overloads together, where the first of them stands."""
    found: dict[str, list[entity]] = {}
    for name in names:
        found.setdefault(name.name, []).append(name)
    return list(found.values())


def unwrapped(code: re.Match) -> str:
    return re.sub(r"\s*\n\s*", " ", code.group(0))


def items(lines: list[str]) -> list[str]:
    """The lines of a block, as a list in Markdown if it has items whose further lines are indented.
    A line may stand before the first item.
    """
    start = next((n for n, line in enumerate(lines[:2]) if ITEM.match(line)), None)
    if start is None:
        return lines
    out = [*lines[:start], ""] if start else []
    for line in lines[start:]:
        out.append(re.sub(r"^(?=[A-Z]\d)", "- ", line) if ITEM.match(line) else line.strip())
    return out


def drawing(block: str) -> str:
    """An indented block of a comment, told apart: code, or a table or picture."""
    text = textwrap.dedent(block)
    is_code = re.search(r"[;{]\s*(//.*)?$", text, re.M) and not has_columns(text)
    return f"```{'cpp' if is_code else 'text'}\n{text}\n```"


def has_columns(text: str) -> bool:
    """Whether two lines have a gap that ends at the same place, other than before a comment."""
    lines = re.sub(r" *//.*", "", text).splitlines()
    ends = [gap.end() for line in lines for gap in re.finditer(r"(?<=\S) {3,}(?=\S)", line)]
    return len(set(ends)) < len(ends)


def cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def display(found: entity) -> str:
    name = re.sub(r"^garrick::\w+::", "", found.name) if found.is_class else found.short
    return name + ("()" if found.kind == "function" else "")
