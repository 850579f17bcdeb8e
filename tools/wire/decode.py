#!/usr/bin/env python3
"""decode.py PATH...: prints the meaning of bytes of Garrick's wire, version 1.

Written from docs/wire.md alone, as a second opinion: it shares nothing with the product. A path is
a file, or a folder with such files. It ends with 1 if it has not understood everything.

A file `*.hex` holds one frame or one value in hexadecimal. Its first line names its type:

    # frame of {string, i64}
    01 00 01 02 ...

The words of types:
    bool u8 i8 char u16 i16 char16 u32 i32 char32 u64 i64 f32 f64 string duration error handle
    vector<T> set<T> multiset<T> map<K, V> array<T, 3> tuple<T, ...> optional<T> variant<T, ...>
    {T, ...}                      an aggregate
    schema kill_order resolve_order spawn_order
    frame, frame of T             T is the payload's type

A file `*.capture` holds a session: the bytes that both ends received, and the times
(tests/net/golden/README.md has the format). Its layers are undone one after the other, and each
prints a line for each thing that it finds.
"""

import sys
from pathlib import Path

from capture import session_of
from frames import frame, known_types
from values import bad_bytes, parse, reader, value

TYPES = known_types()
TYPES.add("golden_types::letter")
TYPES.add("u32")


def decoded(kind: str, data: bytes) -> str:
    """The meaning of the bytes, by the words of a file's first line."""
    whole = reader(data)
    if kind == "frame" or kind.startswith("frame of "):
        payload = parse(kind[9:]) if len(kind) > 5 else None
        said = "\n  ".join(frame(payload, whole, TYPES))
    else:
        said = value(parse(kind), whole)
    whole.expect_end()
    return said


def decode_hex(path: Path) -> bool:
    """Prints the content of a file of one value. Returns false if it is not understood."""
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    try:
        said, understood = decoded(first.removeprefix("# "), bytes.fromhex(rest)), True
    except (bad_bytes, ValueError) as e:
        said, understood = f"not understood: {e}", False
    print(f"{path.parent.name}/{path.stem}: {said}")
    return understood


def decode_capture(path: Path) -> bool:
    """Prints the content of a captured session. Returns false if it is not understood."""
    print(f"{path.parent.name}/{path.stem}:")
    try:
        for line in session_of(path.read_text(encoding="utf-8", errors="replace")):
            print(f"  {line}")
    except bad_bytes as e:
        print(f"  not understood: {e}")
        return False
    return True


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    understood = True
    for argument in map(Path, sys.argv[1:]):
        files = [argument]
        if argument.is_dir():
            files = sorted(p for p in argument.rglob("*") if p.suffix in (".hex", ".capture"))
        for path in files:
            understood &= decode_capture(path) if path.suffix == ".capture" else decode_hex(path)
    return 0 if understood else 1


if __name__ == "__main__":
    sys.exit(main())
