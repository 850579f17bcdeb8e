"""Doxygen's reading of the headers, as Python objects: the lint of the contracts and the site's
reference stand on it.
"""

import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lint"))

from layering import NOT_INSTALLED, private_room

UMBRELLA = Path("lib/system/garrick/garrick.hpp")

SETTINGS = """
INPUT = {root}/lib
OUTPUT_DIRECTORY = {folder}
STRIP_FROM_PATH = {root}
RECURSIVE = YES
FILE_PATTERNS = *.hpp
EXCLUDE_PATTERNS = */internal/*
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
CLASS_GRAPH = NO
XML_PROGRAMLISTING = NO
MACRO_EXPANSION = YES
HIDE_FRIEND_COMPOUNDS = YES
SORT_MEMBER_DOCS = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_IF_DOC_ERROR = YES
"""

# Complaints of Doxygen 1.9, which does not understand C++20: specialisations of std::hash, a
# class that derives from itself for another argument, and overloads that differ by a constraint.
NOT_OURS = re.compile(
    r"scope for class std::|potential recursive class relation|no uniquely matching class member"
)


class missing_tool(Exception):
    pass


@dataclass
class entity:
    """A class, function, variable, alias, enumeration, enumerator or concept."""

    id: str
    kind: str
    name: str  # qualified, for a class without its arguments
    file: Path  # relative to the root
    line: int
    node: xml.Element
    members: list["entity"] = field(default_factory=list)

    @property
    def short(self) -> str:
        return re.sub(r"^.*::(?=operator|[^:]+$)", "", self.name)

    @property
    def text(self) -> str:
        texts = [self.node.find(f"{which}description") for which in ("brief", "detailed")]
        return " ".join(
            "".join(text.itertext()).strip() for text in texts if text is not None
        ).strip()

    @property
    def documented(self) -> bool:
        return self.text != ""

    @property
    def for_the_framework(self) -> bool:
        """Installed because templates need it; its comment says that it is not for users."""
        return self.text.startswith("For the framework")

    @property
    def special(self) -> bool:
        """An operator, or a member that the language makes by itself."""
        if self.kind == "friend" or self.short.startswith(("operator", "~")):
            return True
        owner = self.name.rsplit("::", 2)[-2] if "::" in self.name else ""
        if self.kind != "function" or self.short != owner:
            return False
        types = ["".join(p.find("type").itertext()) for p in self.node.findall("param")]
        return not types or (
            len(types) == 1 and re.search(rf"\b{owner}\b.*&", types[0]) is not None
        )

    @property
    def is_class(self) -> bool:
        return self.kind in ("class", "struct", "union")


def doxygen(root: Path, folder: Path) -> list[str]:
    """Writes the XML of lib's headers to folder/xml and returns Doxygen's complaints."""
    try:
        done = subprocess.run(
            ["doxygen", "-"],
            input=SETTINGS.format(root=root, folder=folder),
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise missing_tool("doxygen is missing: `./dev lint` and `./dev docs` install it") from None
    lines = [line.replace(f"{root}/", "") for line in done.stderr.splitlines()]
    complaints = [line for line in lines if re.search(r"(warning|error):", line)]
    return [line for line in complaints if not NOT_OURS.search(line)]


def public(file: Path) -> bool:
    """Whether a user may include the header, by the table of `tools/lint/layering.py`."""
    include = "/".join(file.parts[2:])
    installed = file.suffix == ".hpp" and part(file) not in NOT_INSTALLED
    return installed and private_room(include) is None


def part(file: Path) -> str:
    return file.parts[1]


def exported(root: Path) -> set[str]:
    """The qualified names that garrick/garrick.hpp takes into the namespace garrick."""
    text = (root / UMBRELLA).read_text(encoding="utf-8")
    return {f"garrick::{name}" for name in re.findall(r"^using (\w+::\w+);", text, re.M)}


def _hidden(name: str) -> bool:
    return any(
        part in ("detail", "internal") or part.startswith("@")
        for part in re.sub(r"<.*", "", name).split("::")
    )


def _entity(node: xml.Element, name: str) -> entity | None:
    location = node.find("location")
    if location is None or node.get("prot") == "private" or _hidden(name):
        return None
    file, line = Path(location.get("file")), int(location.get("line"))
    if node.tag == "memberdef" and location.get("declfile"):
        file, line = Path(location.get("declfile")), int(location.get("declline"))
    kind = node.get("kind")
    found = entity(node.get("id"), kind, name, file, line, node)
    for value in node.findall("enumvalue"):
        found.members.append(
            entity(
                value.get("id"), "enumvalue", f"{name}::{value.findtext('name')}", file, line, value
            )
        )
    return found


def read(folder: Path) -> list[entity]:
    """All classes with their public and protected members, and the names in namespaces, in the
    order of the files.
    """
    found: dict[str, entity] = {}
    for path in sorted((folder / "xml").glob("*.xml")):
        if not path.name.startswith(("class", "struct", "union", "namespace", "concept")):
            continue
        compound = xml.parse(path).getroot().find("compounddef")
        name = compound.findtext("compoundname")
        owner = None
        if compound.get("kind") != "namespace":
            owner = _entity(compound, name)
            if owner is None or not name.startswith("garrick::"):
                continue
            found[owner.id] = owner
        elif not name.startswith("garrick") or _hidden(name):
            continue
        for node in compound.iter("memberdef"):
            member = _entity(node, f"{name}::{node.findtext('name')}")
            if member is None or member.kind == "friend" and not member.documented:
                continue
            if owner is None:
                found.setdefault(member.id, member)
            else:
                owner.members.append(member)
    return sorted(found.values(), key=lambda e: (str(e.file), e.line))


def load(root: Path) -> tuple[list[entity], list[str]]:
    """The entities and Doxygen's complaints, without a trace on the disk."""
    with tempfile.TemporaryDirectory(prefix="garrick-doxygen-") as folder:
        complaints = doxygen(root, Path(folder))
        return read(Path(folder)), complaints
