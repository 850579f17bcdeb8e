#!/usr/bin/env python3
"""Every public name has its contract where an IDE shows it: in a `///` comment that Doxygen
attaches to it.

Counted are the names that `garrick/garrick.hpp` exports, with their members and the bases they
inherit from, and the names of all other headers that a user may include. Operators, members that
the language makes by itself, markers (`garrick_…`), `detail`, `internal`, names for `cell/` alone,
and members of names marked "For the framework" are excepted. While contracts are missing, LIMITS
holds how many for each part. A number may only fall; `contracts.py --tighten` lowers them to the
present numbers. A complaint of Doxygen is always an error.

No contract of a public header begins with a riddle: `What`, `Who`, `Whose`, `Nobody`, `Somebody`,
`That`, or a `One` that stands for a noun (CONTRIBUTING.md, "Language").

The contract of a `[[nodiscard]]` function in a public header has the word `returns`. Excepted are
comments behind the declaration, and those that begin with "The same", "As above", "Like", "This
overload refuses", "For the framework" or "For the compiler".
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "docs"))

import reference
from sources import cpp_files, main, read

# part: (exported by garrick.hpp, other public headers)
LIMITS = {
    "base": (0, 0),
    "core": (0, 0),
    "sched": (0, 0),
    "system": (0, 0),
    "testkit": (0, 0),
    "patterns": (0, 0),
    "gpu": (0, 0),
}
SHOWN = 15  # missing contracts named for a part that has too many

CONTRACT = re.compile(r"///(?P<behind><)? ?(?P<text>.*)")
RIDDLE = re.compile(
    r"(?i:what(ever)?|who(m|se|ever)?|nobody|somebody)\b|That\b"
    r"|One(?=[.,:;]|$| (of|that|which|who|is|has|can|may|must|less|more|in|at|for|to|by|with)\b)"
)

NODISCARD = re.compile(
    r"\s*(?:template\b.*>\s*)?(?:(?:static|friend|constexpr|inline|virtual|explicit)\s+)*"
    r"\[\[nodiscard\]\]"
)
# Where a search for the comment above a declaration ends: before a blank line, another declaration.
OTHER = re.compile(r"\s*$|.*[;{}]\s*(//.*)?$|\s*(public|private|protected)\s*:|\s*#")
RETURN_TOLD = re.compile(
    r"(?i:.*\breturns\b)|For the (framework|compiler)\b"
    r"|(The same|As above|Like|This overload refuses)\b"
)


def with_bases(entities: list[reference.entity], names: set[str]) -> set[str]:
    """The names, and those of the classes that they derive from."""
    by_id = {e.id: e for e in entities}
    todo = [e for e in entities if e.name in names]
    found = set(names)
    while todo:
        for base in todo.pop().node.findall("basecompoundref"):
            other = by_id.get(base.get("refid"))
            if other is not None and other.name not in found:
                found.add(other.name)
                todo.append(other)
    return found


def excepted(name: reference.entity) -> bool:
    return name.special or name.short.startswith("garrick_") or "<" in name.short


def missing(root: Path, entities: list[reference.entity]) -> dict[str, tuple[list[str], list[str]]]:
    """For each part the names without a contract: (exported, other), each as path:line: name."""
    exported = with_bases(entities, reference.exported(root))
    found = defaultdict(lambda: ([], []))
    for entity in entities:
        is_exported = entity.name in exported or entity.name.rsplit("::", 1)[0] in exported
        if not is_exported and not reference.public(entity.file):
            continue
        names = [entity]
        if not entity.for_the_framework:
            names += [*entity.members, *(v for m in entity.members for v in m.members)]
        for name in names:
            if not name.documented and not excepted(name):
                text = f"{name.file}:{name.line}: {name.name} has no contract"
                found[reference.part(name.file)][0 if is_exported else 1].append(text)
    return found


def contract_above(lines: list[str], at: int) -> str:
    """The text of the `///` comment of the declaration in lines[at]; empty if it has none."""
    at -= 1
    while at >= 0 and not lines[at].lstrip().startswith("///") and not OTHER.match(lines[at]):
        at -= 1
    text = []
    while at >= 0 and lines[at].lstrip().startswith("///"):
        text.insert(0, lines[at].strip().removeprefix("///").strip())
        at -= 1
    return " ".join(text)


def untold_returns(root: Path) -> list[str]:
    """The `[[nodiscard]]` functions of public headers whose contracts do not tell the result."""
    problems = []
    for path in cpp_files(root):
        if path.parts[0] != "lib" or not reference.public(path):
            continue
        lines = read(root / path).split("\n")
        for number, line in enumerate(lines, 1):
            if NODISCARD.match(line):
                text = contract_above(lines, number - 1)
                if text and not RETURN_TOLD.match(text):
                    problems.append(
                        f"{path}:{number}: the contract of a [[nodiscard]] function tells its "
                        "return value with `Returns`"
                    )
    return problems


def riddles(root: Path) -> list[str]:
    """The contracts of public headers whose first word hides the subject."""
    problems = []
    for path in cpp_files(root):
        if path.parts[0] != "lib" or not reference.public(path):
            continue
        inside = False  # the line before belongs to the same comment
        for number, line in enumerate(read(root / path).split("\n"), 1):
            found = CONTRACT.search(line)
            if found and not inside and (word := RIDDLE.match(found["text"])):
                problems.append(
                    f"{path}:{number}: a contract begins with its subject, not with "
                    f"`{word.group(0)}`"
                )
            inside = found is not None and not found["behind"]
    return problems


def check(root: Path, limits: dict[str, tuple[int, int]] | None = None) -> list[str]:
    limits = LIMITS if limits is None else limits
    problems = riddles(root) + untold_returns(root)
    try:
        entities, complaints = reference.load(root)
    except reference.missing_tool as error:
        return [*problems, str(error)]
    problems += complaints
    for part, kinds in sorted(missing(root, entities).items()):
        for what, lines, limit in zip(("exported", "other"), kinds, limits.get(part, (0, 0))):
            if len(lines) > limit:
                problems += lines[:SHOWN]
                rest = f", {len(lines) - SHOWN} of them not shown" if len(lines) > SHOWN else ""
                problems.append(
                    f"lib/{part}: {len(lines)} {what} names without a contract{rest}; "
                    f"the limit is {limit}"
                )
    return problems


def tighten(root: Path) -> None:
    counts = {
        part: tuple(len(lines) for lines in kinds)
        for part, kinds in missing(root, reference.load(root)[0]).items()
    }
    lowered = {
        part: tuple(min(old, new) for old, new in zip(limit, counts.get(part, (0, 0))))
        for part, limit in LIMITS.items()
    }
    table = "".join(f'    "{part}": {limit},\n' for part, limit in lowered.items())
    file = Path(__file__)
    text = file.read_text(encoding="utf-8")
    text = re.sub(r"(?<=^LIMITS = \{\n).*?(?=^\})", table, text, count=1, flags=re.M | re.S)
    file.write_text(text, encoding="utf-8")
    print(table, end="")


if __name__ == "__main__":
    if sys.argv[1:] == ["--tighten"]:
        tighten(HERE.parents[1])
    else:
        sys.exit(main("contracts", check))
