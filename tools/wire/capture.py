"""Reads captured sessions: the text that tests/net/golden/README.md describes."""

import re
from dataclasses import dataclass, field

from frames import known_types
from session import STACKS, session
from values import bad_bytes

FIRST = re.compile(r"# capture ([0-9]+) of (\S+)")
TYPE = re.compile(r"# type (\S.*) = (.+)")
STATE = re.compile(r"([0-9]{1,18}) (up|lost) ([ab])")
BYTES = re.compile(r"([0-9]{1,18}) (a[>|]b|b[>|]a) ([0-9]{1,9})")


@dataclass
class record:
    """One thing that happened."""

    line: int
    when: int
    what: str  # "up", "lost", ">" or "|"
    end: str  # its receiver
    announced: int = 0
    data: bytearray = field(default_factory=bytearray)


def wrong(line: int, what: str) -> bad_bytes:
    return bad_bytes(f"line {line}: {what}")


def header(first: str) -> str:
    """The name of the stack."""
    found = FIRST.fullmatch(first)
    if not found:
        raise wrong(1, "no capture: it does not begin with `# capture 1 of STACK`")
    if found[1] != "1":
        raise wrong(1, f"a capture of format {found[1]}, and only 1 is known")
    if found[2] not in STACKS:
        raise wrong(1, f"no stack is called {found[2]}; there are {', '.join(STACKS)}")
    return found[2]


def begin_of(number: int, text: str) -> record:
    """The record that begins in this line."""
    if found := STATE.fullmatch(text):
        return record(number, int(found[1]), found[2], found[3])
    if found := BYTES.fullmatch(text):
        return record(number, int(found[1]), found[2][1], found[2][2], int(found[3]))
    raise wrong(number, f"no record: {text[:40]!r}")


def records(lines: list[str], types: known_types):
    """All records, in their order; `lines` from the second one on."""
    now: record | None = None
    for number, text in enumerate(lines, 2):
        if text.startswith(" ") and now is not None and now.what in ">|":
            try:
                now.data += bytes.fromhex(text)
            except ValueError:
                raise wrong(number, f"not hexadecimal: {text.strip()[:40]!r}") from None
        elif found := TYPE.fullmatch(text):
            try:
                types.add(found[1], found[2])
            except ValueError as e:
                raise wrong(number, str(e)) from None
        else:
            if now is not None:
                yield now
            now, before = begin_of(number, text), now
            if before is not None and now.when < before.when:
                raise wrong(number, f"the time falls from {before.when} to {now.when}")
    if now is not None:
        yield now


def session_of(text: str):
    """The meaning of a capture, line by line. Raises bad_bytes at bytes that are not understood."""
    lines = text.splitlines()
    types = known_types()
    whole = session(header(lines[0] if lines else ""), types)
    yield f"a session of {whole.name}: {', '.join(whole.layers)}"
    for r in records(lines[1:], types):
        whole.advance(r.when)
        yield from whole.said()
        try:
            if r.what in ("up", "lost"):
                whole.change(r.end, r.what == "up")
            else:
                if len(r.data) != r.announced:
                    raise bad_bytes(
                        f"byte {whole.passed(r.end) + len(r.data)} of {whole.way_to(r.end).name}: "
                        f"{r.announced} bytes announced, {len(r.data)} there"
                    )
                whole.take(r.end, bytes(r.data), r.what == ">")
        except bad_bytes as e:
            yield from whole.said()
            raise wrong(r.line, str(e)) from None
        yield from whole.said()
    try:
        whole.finish()
    finally:
        yield from whole.said()
