"""Turns what Doxygen read in the public headers into Markdown: one page a header, and an index of what garrick.hpp exports."""

import re
import textwrap
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

import reference
from reference import entity

CODE = re.compile(r"(`[^`]+`)")
WIDTH = 88  # of a declaration, in columns


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
            if name != reference.UMBRELLA and reference.public(name) and self._opening(name):
                self.headers.setdefault(name, header(name))

    def _nested(self, found: entity, entities: list[entity]) -> bool:
        """A specialisation, or a class inside one that is not shown."""
        return "<" in found.short or not found.documented and found.name.count("::") > 2

    def _place(self, page: header, found: entity) -> None:
        within = slug(re.sub(r"^garrick::\w+::", "", found.name))
        self.places[found.id] = (page.page, within)
        self.by_name.setdefault(found.short, found.id)
        if found.name in self.exported:
            self.by_name[found.short] = found.id
        for member in [*found.members, *(v for m in found.members for v in m.members)]:
            anchor = within if member.kind == "enumvalue" else f"{within}.{slug(member.short)}"
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
        """The text of a paragraph; what is a block of its own inside it is left to `blocks`."""
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
            elif child.tag not in BLOCKS:
                out += {"ndash": "–", "mdash": "—", "linebreak": "\n"}.get(child.tag, "")
                out += self.inline(child, page)
            out += escape(child.tail or "")
        return out

    def blocks(self, node: xml.Element | None, page: Path) -> list[str]:
        out = []
        for para in node if node is not None else ():
            if para.tag != "para":
                continue
            text = self.inline(para, page).strip()
            out += [text] if text else []
            for child in para:
                out += self.block(child, page) if child.tag in BLOCKS else []
        return out

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
        """The comment that the header opens with, as Markdown: what is indented or a list stays as it is."""
        lines = []
        for line in (self.root / file).read_text(encoding="utf-8").splitlines():
            if not line.startswith("//"):
                break
            lines.append(line.removeprefix("//").removeprefix(" "))
        blocks = re.split(r"\n(?:[ \t]*\n)+", "\n".join(lines).strip("\n"))
        out = []
        for block in blocks:
            texts, drawn = [], False
            for line in CODE.sub(unwrapped, block).split("\n"):
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
        text = "\n\n".join(block for block in out if block).replace("```\n\n```text\n", "\n")
        return [re.sub(r"```text\n(.*?)\n```", lambda m: drawing(m.group(1)), text, flags=re.S)]

    def page(self, page: header) -> str:
        text = [
            f"# {page.file.name}",
            f"```cpp\n#include <{page.include}>\n```",
        ]
        names = [name for name in page.names if name.name in self.exported]
        if names:
            shown = dict.fromkeys(self.code(f"garrick::{name.short}", page.page) for name in names)
            text.append(f"Or `garrick/garrick.hpp`, which has {', '.join(shown)}.")
        text += self._opening(page.file)
        last = None
        for found in page.names:
            if found.is_class:
                text += self.class_section(found, page.page)
            else:
                text += self.member_section(found, page.page, 2, last)
            last = found
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
            f"{self.place(m)}`{signature(m).removesuffix(';')}`\n:   {self.row(m, page) or '&nbsp;'}"
            for m in fields
            if m.node.get("prot") == "public"
        ]
        last = None
        for member in members:
            if not member.special and member not in fields and member.kind != "friend":
                text += self.member_section(member, page, 3, last)
                last = member
        if special:
            shown = "\n".join(comment(m.text) + signature(m) for m in special)
            text += ["**Construction, assignment, operators**", f"```cpp\n{shown}\n```"]
        return text

    def place(self, found: entity) -> str:
        return f'<a id="{self.places[found.id][1]}"></a>'

    def row(self, found: entity, page: Path) -> str:
        """A description within a table or a list."""
        return cell(" ".join(self.description(found, page)).replace("\n", " "))

    def member_section(
        self, found: entity, page: Path, level: int, last: entity | None
    ) -> list[str]:
        """One name; overloads that follow each other share a heading."""
        text = []
        if last is None or last.name != found.name or last.is_class:
            text.append(f"{'#' * level} {escape(display(found))} {{ #{self.places[found.id][1]} }}")
        text.append(declaration(found))
        text += self.description(found, page)
        if found.members and found.kind == "enum":
            text.append(
                "| value | |\n|---|---|\n"
                + "\n".join(f"| `{v.short}` | {self.row(v, page)} |" for v in found.members)
            )
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
ORDER = ["core", "system", "base", "testkit", "sched", "machine"]


def relative(target: Path, page: Path) -> str:
    """The link from one page to another, both relative to the same folder."""
    return "../" * (len(page.parts) - 1) + str(target)


def unwrapped(code: re.Match) -> str:
    return re.sub(r"\s*\n\s*", " ", code.group(0))


def drawing(block: str) -> str:
    """An indented block of a comment, told apart: code or a picture."""
    text = textwrap.dedent(block)
    language = "cpp" if re.search(r"[;{]\s*(//.*)?$", text, re.M) else "text"
    return f"```{language}\n{text}\n```"


def cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def display(found: entity) -> str:
    name = re.sub(r"^garrick::\w+::", "", found.name) if found.is_class else found.short
    return name + ("()" if found.kind == "function" else "")


def tidy(text: str) -> str:
    """Doxygen's spaces taken out: `ref< P > &x` becomes `ref<P>& x`."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"< (?=[\w:(])", "<", re.sub(r" (?=>)", "", text))
    text = re.sub(r"<\s+", "<", text) if "<=" not in text else text
    text = re.sub(r"\s+([&*]+)(?=\w)", r"\1 ", text)
    text = re.sub(r"\s+([&*]+)(?=[,)>.]|$)", r"\1", text)
    return re.sub(r"\s*=\s*(default|delete|0)$", r" = \1", text)


def text_of(node: xml.Element | None) -> str:
    return tidy("".join(node.itertext())) if node is not None else ""


def template_of(found: entity) -> str:
    parameters = found.node.find("templateparamlist")
    if parameters is None:
        return ""
    each = []
    for p in parameters:
        name, value = text_of(p.find("declname")), text_of(p.find("defval"))
        kind = text_of(p.find("type"))
        each.append(f"{kind} {name}".strip() + (f" = {value}" if value else ""))
    return f"template <{', '.join(each)}>\n"


def signature(found: entity) -> str:
    node = found.node
    type = text_of(node.find("type"))
    if found.kind in ("function", "friend"):
        arguments = tidy(re.sub(r"(?<=\w)=(?!=)", " = ", node.findtext("argsstring") or ""))
        before = "friend " if found.kind == "friend" else ""
        before += "static " if node.get("static") == "yes" and found.name.count("::") > 2 else ""
        before += "explicit " if node.get("explicit") == "yes" else ""
        before += "virtual " if node.get("virt") not in (None, "non-virtual") else ""
        requires = text_of(node.find("requiresclause"))
        line = " ".join(f"{before}{type} {found.short}{arguments};".split())
        line = line.removeprefix("virtual ") if "override" in arguments else line
        return template_of(found) + (f"  requires {requires}\n" if requires else "") + wrapped(line)
    if found.kind == "typedef":
        return f"{template_of(found)}using {found.short} = {type};"
    if found.kind == "enum":
        return f"enum class {found.short}{f' : {type}' if type else ''};"
    if found.kind == "concept":
        return f"{template_of(found)}concept {found.short};"
    if found.kind == "variable":
        value = text_of(node.find("initializer"))
        return f"{template_of(found)}{type} {found.short}{' ' if value.startswith('=') else ''}{value};"
    bases = [
        f"{base.get('prot')} {tidy(re.sub(r'garrick::[a-z]+::', '', base.text or ''))}"
        for base in node.findall("basecompoundref")
        if base.get("prot") != "private" and "detail::" not in (base.text or "")
    ]
    return f"{template_of(found)}{found.kind} {found.short}{' : ' + ', '.join(bases) if bases else ''};"


def comment(text: str) -> str:
    return "".join(f"// {line}\n" for line in textwrap.wrap(text, WIDTH))


def wrapped(line: str) -> str:
    """A long declaration with one parameter a line."""
    if len(line) <= WIDTH or "(" not in line:
        return line
    start = line.index("(") + 1
    depth, at, parts = 0, start, []
    for i in range(start, len(line)):
        depth += (line[i] in "(<{[") - (line[i] in ")>}]" and line[i - 1] != "-")
        if depth < 0:
            parts.append(line[at:i])
            return line[:start] + "\n    " + ",\n    ".join(p.strip() for p in parts) + line[i:]
        if line[i] == "," and depth == 0:
            parts.append(line[at:i])
            at = i + 1
    return line


def declaration(found: entity) -> str:
    return f"```cpp\n{signature(found)}\n```"
