"""Values of the actor protocol, version 1, by their types in words (docs/wire.md, Values)."""

import re
import struct

SCHEMA = "{vector<{u8, string, u64, vector<u32>}>, vector<{string, u32, vector<u32>}>}"
ALIASES = {
    "schema": SCHEMA,
    "kill_order": "{error, bool}",
    "resolve_order": "{string, schema}",
    "spawn_order": "{string, vector<u8>, schema}",
}
MISSING = "(default)"


FIXED = {
    "u8": "<B",
    "i8": "<b",
    "u16": "<H",
    "i16": "<h",
    "char16": "<H",
    "u32": "<I",
    "i32": "<i",
    "char32": "<I",
    "f32": "<f",
    "f64": "<d",
}
SIMPLE = {*FIXED, "bool", "char", "u64", "i64", "duration", "string", "error", "handle"}
PARTS = {"vector": 1, "set": 1, "multiset": 1, "optional": 1, "map": 2, "multimap": 2}


class bad_bytes(Exception):
    """The bytes are none that the page allows."""


class reader:
    """Takes numbers and texts from bytes, of which it knows where they were found."""

    def __init__(self, data: bytes, start: int = 0, of: str = "", handles: list | None = None):
        self.data, self.at, self.start, self.of = data, 0, start, of
        self.handles = handles  # the numbers behind a payload; None: taken


    def wrong(self, what: str, at: int | None = None) -> bad_bytes:
        """`at` is within these bytes; without it, it is about the next one."""
        return bad_bytes(f"byte {self.start + (self.at if at is None else at)}{self.of}: {what}")

    def take(self, n: int) -> bytes:
        if n > self.left():
            raise self.wrong(f"{n} bytes wanted, {self.left()} left")
        self.at += n
        return self.data[self.at - n : self.at]

    def left(self) -> int:
        return len(self.data) - self.at

    def rest(self) -> "reader":
        """The rest, taken."""
        at = self.at
        return reader(self.take(self.left()), self.start + at, self.of, self.handles)

    def expect_end(self) -> None:
        if self.left():
            raise self.wrong(f"{self.left()} bytes behind the end")

    def fixed(self, n: int) -> int:
        return int.from_bytes(self.take(n), "little")

    def varint(self) -> int:
        x, at = 0, self.at
        for i in range(10):
            byte = self.take(1)[0]
            x |= (byte & 127) << (7 * i)
            if byte < 128:
                if byte == 0 and i != 0:
                    raise self.wrong("a varint that is too long", at)
                if x >= 1 << 64:
                    raise self.wrong("a varint above 64 bits", at)
                return x
        raise self.wrong("a varint without an end", at)

    def zigzag(self) -> int:
        x = self.varint()
        return x // 2 if x % 2 == 0 else -1 - x // 2

    def flag(self) -> bool:
        x = self.take(1)[0]
        if x > 1:
            raise self.wrong(f"a flag that is {x}", self.at - 1)
        return x == 1

    def part(self) -> "reader":
        n = self.varint()
        at = self.at
        return reader(self.take(n), self.start + at, self.of, self.handles)


def parse(text: str):
    """A type's words as a tree: (name, [parts])."""
    tokens = re.findall(r"[\w]+|[<>{},]", text)

    def one(at: int):
        name = tokens[at]
        if name == "{":
            parts, at = many(at + 1, "}")
            return ("aggregate", parts), at
        if at + 1 < len(tokens) and tokens[at + 1] == "<":
            parts, at = many(at + 2, ">")
            return (name, parts), at
        if name in ALIASES:
            return parse(ALIASES[name]), at + 1
        return (name, []), at + 1

    def many(at: int, end: str):
        parts = []
        while tokens[at] != end:
            part, at = one(at)
            parts.append(part)
            if tokens[at] == ",":
                at += 1
        return parts, at + 1

    try:
        tree, at = one(0)
    except IndexError:
        raise ValueError(f"a type without an end: {text}") from None
    if at != len(tokens):
        raise ValueError(f"words behind the type: {text}")
    check(tree)
    return tree


def check(tree) -> None:
    """Raises ValueError if there is no such type."""
    name, parts = tree
    if name == "array":
        if len(parts) != 2 or not parts[1][0].isdecimal():
            raise ValueError("an array needs a type and a number")
        parts = parts[:1]
    elif name in PARTS:
        if len(parts) != PARTS[name]:
            raise ValueError(f"{name} needs {PARTS[name]} parts")
    elif name not in ("aggregate", "tuple", "variant") and (parts or name not in SIMPLE):
        raise ValueError(f"no type is called {name}")
    for part in parts:
        check(part)


def number(name: str, data: reader) -> str:
    if name == "bool":
        return "true" if data.flag() else "false"
    if name == "char":
        return repr(chr(data.take(1)[0]))
    if name == "u64":
        return str(data.varint())
    if name == "i64":
        return str(data.zigzag())
    if name == "duration":
        ns = data.zigzag()
        return "infinite" if ns == 2**63 - 1 else f"{ns} ns"
    (x,) = struct.unpack(FIXED[name], data.take(struct.calcsize(FIXED[name])))
    return repr(x)


def text(data: reader) -> str:
    return repr(data.take(data.varint()).decode("utf-8", errors="backslashreplace"))


def error(data: reader) -> str:
    fields = data.part()
    category, code = text(fields), int(number("u32", fields))
    message, detail = text(fields), text(fields)
    if category == "''":
        if code != 0 or message != "''" or detail != "''":
            raise fields.wrong("an error without a category")
        return "no error"
    return f"error {code} of {category}: {message}: {detail}"


def handle(data: reader) -> str:
    begin, kind = data.at, data.fixed(1)
    if kind == 0:
        return "nobody"
    if kind == 2:
        return f"own handle {data.take(16).hex()}"
    if kind != 1:
        raise data.wrong(f"a handle of kind {kind}", begin)
    place, numbers = data.varint(), data.handles or []
    if place >= len(numbers):
        raise data.wrong(f"handle {place} of {len(numbers)}", begin)
    number, numbers[place] = numbers[place], None
    if number is None:
        raise data.wrong(f"handle {place} twice", begin)
    return f"handle {number}"


def has_handles(tree) -> bool:
    """Returns true if values of this type may have handles."""
    name, parts = tree
    return name == "handle" or any(has_handles(p) for p in parts)


def aggregate(fields: list, data: reader) -> str:
    part = data.part()
    values = [value(f, part) if part.left() else MISSING for f in fields]
    if part.left():
        values.append(f"({part.left()} bytes more)")
    return "{" + ", ".join(values) + "}"


def container(name: str, parts: list, data: reader) -> str:
    at, count = data.at, data.varint()
    if count > data.left():
        raise data.wrong(f"{count} elements, {data.left()} bytes left", at)
    elements = [": ".join(value(p, data) for p in parts) for _ in range(count)]
    keys = [e.split(": ")[0] for e in elements] if name == "map" else elements
    if name in ("map", "set") and len(set(keys)) != len(keys):
        raise data.wrong("a key twice")
    brackets = "[]" if name == "vector" else "<>"
    return brackets[0] + ", ".join(elements) + brackets[1]


def value(tree, data: reader) -> str:
    """The next value, of this type, as text."""
    name, parts = tree
    if name == "string":
        return text(data)
    if name == "error":
        return error(data)
    if name == "handle":
        return handle(data)
    if name == "aggregate":
        return aggregate(parts, data)
    if name in ("vector", "set", "multiset", "map", "multimap"):
        return container(name, parts, data)
    if name == "array":
        return "[" + ", ".join(value(parts[0], data) for _ in range(int(parts[1][0]))) + "]"
    if name == "tuple":
        return "(" + ", ".join(value(p, data) for p in parts) + ")"
    if name == "optional":
        return value(parts[0], data) if data.flag() else "nothing"
    if name == "variant":
        which = data.varint()
        if which >= len(parts):
            raise data.wrong(f"alternative {which} of {len(parts)}")
        return f"{which}: {value(parts[which], data)}"
    return number(name, data)
