"""Frames of the actor protocol, version 1 (docs/wire.md, Frames)."""

from values import has_handles, parse, reader, value

# letters of the table of fields, and whether there is a payload
KINDS = {
    1: ("message", "RST", True),
    2: ("request", "RSNT", True),
    3: ("response", "RSNT", True),
    4: ("error", "RSN", True),
    5: ("cancel", "RSN", False),
    6: ("link", "RS", False),
    7: ("unlink", "RS", False),
    8: ("monitor", "RSN", False),
    9: ("demonitor", "RSN", False),
    10: ("down", "RSN", True),
    11: ("exit", "RS", True),
    12: ("kill", "RS", True),
    13: ("release", "RN", False),
    14: ("credit", "RN", False),
    15: ("resolve", "N", True),
    16: ("resolved", "RSN", True),
    17: ("spawn", "SN", True),
    18: ("spawned", "SN", True),
    19: ("marker", "RSN", False),
    20: ("marked", "RSN", False),
    21: ("decode_error", "RST", True),
}


HANDLES = "handles"


def numbers(data: reader) -> tuple[reader, list[str]]:
    """The payload, and the numbers of its handles, which lie behind it."""
    rest = data.rest()
    if rest.left() < 4:
        raise rest.wrong("handles without their number")
    count = int.from_bytes(rest.data[-4:], "little")
    size = rest.left() - 4 - 16 * count
    if count == 0 or size < 0:
        raise rest.wrong(f"{count} handles there cannot be")
    payload = reader(rest.take(size), rest.start, rest.of)
    payload.handles = [rest.take(16).hex() for _ in range(count)]
    return payload, list(payload.handles)


def extensions(data: reader) -> list[str]:
    block, found = data.part(), []
    while block.left():
        key, inside = block.varint(), block.part()
        if key | 1 == 3:
            found.append(f"deadline in {inside.varint()} ns")
        elif key | 1 == 5:
            trace, span, flags = inside.take(16), inside.take(8), inside.take(1)[0]
            found.append(f"trace {trace.hex()} span {span.hex()} flags {flags}")
        elif key | 1 == 7:
            found.append("urgent")
        elif key | 1 == 9:
            found.append(HANDLES)
        elif key | 1 == 11:
            found.append(f"{inside.varint()} bytes")
        elif key % 2 == 1:
            raise block.wrong(f"extension {key} must be understood")
        else:
            found.append(f"unknown extension {key}")
            continue
        inside.expect_end()
    return found


def type_number(name: str) -> int:
    """The number of the type with this wire name."""
    x = 0xCBF29CE484222325
    for byte in name.encode():
        x = (x ^ byte) * 0x100000001B3 % 2**64
    return x


# The types of payloads where the frame's type does not name them.
PAYLOADS = {
    "error": "error",
    "down": "error",
    "exit": "error",
    "kill": "kill_order",
    "resolve": "resolve_order",
    "resolved": "schema",
    "spawn": "spawn_order",
    "spawned": "schema",
    "decode_error": "error",
}


class known_types:
    """Types by their numbers: their names, and the words for them if they are known."""

    def __init__(self):
        self.names, self.words = {}, {}

    def add(self, name: str, words: str | None = None) -> None:
        self.names[type_number(name)] = name
        if words is not None:
            self.words[type_number(name)] = parse(words)


def frame(payload, data: reader, types: known_types) -> list[str]:
    """The meaning of a frame. `payload` is the type of its payload; None: the frame names it."""
    first = data.take(1)[0]
    if first & 127 not in KINDS:
        raise data.wrong(f"kind {first & 127}", data.at - 1)
    name, fields, has_payload = KINDS[first & 127]
    said = [name]
    if "R" in fields:
        said.append(f"to {data.take(16).hex()}")
    if "S" in fields:
        said.append(f"from {data.take(16).hex()}")
    if "N" in fields:
        said.append(f"number {data.varint()}")
    if payload is None and name in PAYLOADS:
        payload = parse(PAYLOADS[name])
    if "T" in fields:
        x = data.fixed(8)
        said.append(f"type {x:016x} {types.names.get(x, 'unknown')}")
        if payload is None:
            payload = types.words.get(x)
    if first & 128:
        said += extensions(data)
    if HANDLES in said:
        data, found = numbers(data)
        said[said.index(HANDLES)] = "handles " + " ".join(found)
    if has_payload and payload is not None:
        said.append(value(payload, data))
    elif has_payload:
        said.append(f"payload {data.take(data.left()).hex()}")
    if has_payload and payload is not None and first & 128:
        data.expect_end()
        if has_handles(payload) and any(data.handles or []) and "bytes more)" not in said[-1]:
            raise data.wrong("handles to which nothing refers")
    return said
