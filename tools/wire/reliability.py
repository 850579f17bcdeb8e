"""Datagrams that all arrive (docs/wire.md, reliability)."""

from dataclasses import replace

from layers import layer, message
from values import reader

FIRST = 2**32 - 256
WINDOW = 8192
MOST_RANGES = 32
MOST_JOINED = 8  # packets at a time


def distance(a: int, b: int) -> int:
    """How far `a` is beyond `b`, as a signed number of 32 bits."""
    return (a - b + 2**31) % 2**32 - 2**31


class packet_bytes:
    """The known parts of a packet."""

    def __init__(self, size: int):
        self.bytes, self.known = bytearray(size), bytearray(size)

    def add(self, begin: int, part: bytes) -> bool:
        """Returns false if other bytes were there before."""
        end = begin + len(part)
        old = zip(self.known[begin:end], self.bytes[begin:end], part)
        if any(known and byte != new for known, byte, new in old):
            return False
        self.bytes[begin:end], self.known[begin:end] = part, b"\1" * len(part)
        return True

    def missing(self) -> int:
        return self.known.count(0)


class reliability(layer):
    """Passes up each packet once, in any order."""

    def __init__(self, way):
        super().__init__(way)
        self.sent: dict[int, int] = {}  # of this way: the highest attempt
        self.acknowledged: set[int] = set()  # of those
        self.oldest = FIRST  # that is not acknowledged
        self.content: dict[int, packet_bytes] = {}  # of those that were sent, come or not
        self.joined: dict[int, packet_bytes] = {}  # of those that have come in part
        self.came: set[int] = set()
        self.next = FIRST  # the oldest that has not come

    def receive(self, m: message) -> None:
        flags, header = m.data.fixed(1), m.data.at - 1
        if flags not in (1, 2, 3, 5, 7):
            raise m.data.wrong(f"flags {flags}", header)
        said, number, attempt = [], None, 0
        if flags & 1:
            number, attempt = m.data.fixed(4), m.data.fixed(1)
            said.append(f"packet {number}" + (f", sent {attempt} times before" if attempt else ""))
        if flags & 2:
            said.append(self.acknowledgement(m.data))
        if number is None:
            m.data.expect_end()
            self.say("; ".join(said))
            return
        if distance(number, self.next) >= WINDOW:
            raise m.data.wrong(f"packet {number} is beyond the window at {self.next}", header)
        self.sent[number] = max(attempt, self.sent.get(number, 0))
        size, begin = (m.data.fixed(2), m.data.fixed(2)) if flags & 4 else (m.data.left(), 0)
        part = m.data.rest()
        if flags & 4:
            if part.left() == 0:
                raise part.wrong("a part that is empty", 0)
            said[0] += f", bytes {begin} to {begin + part.left()} of {size}"
        self.check_bytes(number, size, begin, part)
        again = number in self.came or distance(number, self.next) < 0
        self.say("; ".join(said) + ("; dropped, it has come before" if m.came and again else ""))
        if not m.came or again:
            return
        if flags & 4:
            if not (whole := self.join(number, size, begin, part.data)):
                return
            part = reader(whole, 0, f" of packet {number} of {self.way.name}")
        self.joined.pop(number, None)
        self.came.add(number)
        while self.next in self.came:
            self.next = (self.next + 1) % 2**32
        self.up(replace(m, data=part))

    def check_bytes(self, number: int, size: int, begin: int, part: reader) -> None:
        """A packet is always the same, and its parts lie in it."""
        if begin + part.left() > size:
            raise part.wrong(f"a part that ends beyond its packet of {size} bytes", 0)
        known = self.content.setdefault(number, packet_bytes(size))
        if len(known.bytes) != size:
            raise part.wrong(f"packet {number} has {len(known.bytes)} bytes, not {size}", 0)
        if not known.add(begin, part.data):
            raise part.wrong(f"packet {number} was another one before", 0)

    def join(self, number: int, size: int, begin: int, part: bytes) -> bytes:
        """The packet, if it is whole now."""
        if number not in self.joined and len(self.joined) == MOST_JOINED:
            farthest = max(self.joined, key=lambda n: distance(n, self.next))
            if distance(number, farthest) > 0:
                self.say(f"packet {number}: so many others come in parts, dropped")
                return b""
            self.say(f"packet {farthest}: parts dropped for {number}")
            del self.joined[farthest]
        known = self.joined.setdefault(number, packet_bytes(size))
        known.add(begin, part)
        if known.missing():
            return b""
        self.say(f"packet {number}: whole")
        return bytes(known.bytes)

    def finish(self) -> None:
        for number, known in self.joined.items():
            self.say(f"packet {number}: {known.missing()} of {len(known.bytes)} bytes are missing")

    def acknowledgement(self, data: reader) -> str:
        """Reads one, and checks that it is of packets that were sent the other way."""
        begin, other = data.at, self.opposite()
        following, last, attempt, ago, count = (data.fixed(n) for n in (4, 4, 1, 2, 1))
        if count > MOST_RANGES:
            raise data.wrong(f"{count} ranges", data.at - 1)
        beyond = [(data.fixed(2), data.fixed(2)) for _ in range(count)]
        other.check_last(last, attempt, data, begin + 4)
        other.acknowledge_before(following, data, begin)
        end, texts = 0, []
        for first, size in beyond:
            if first <= end or size == 0 or first + size > WINDOW:
                raise data.wrong(f"a range of {size} from {first} on, behind {end}", begin)
            end = first + size
            numbers = [(following + i) % 2**32 for i in range(first, end)]
            for n in numbers:
                other.acknowledge(n, data, begin)
            texts.append(str(numbers[0]) if size == 1 else f"{numbers[0]} to {numbers[-1]}")
        other.acknowledge(last, data, begin)
        ranges = f" and {', '.join(texts)}" if texts else ""
        again = f" (sent {attempt} times before)" if attempt else ""
        time = "65535 us or more" if ago == 65535 else f"{ago} us"
        return f"has come: all before {following}{ranges}; last {last}{again}, {time} ago"

    def check_last(self, number: int, attempt: int, data: reader, at: int) -> None:
        if number in self.sent and (attempt <= self.sent[number] or number in self.acknowledged):
            return
        if distance(number, self.oldest) < 0:
            return
        raise data.wrong(f"attempt {attempt} of packet {number} was never sent", at)

    def acknowledge_before(self, number: int, data: reader, at: int) -> None:
        if distance(number, self.oldest) < -65536:
            raise data.wrong(f"the oldest that has not come is {number}, long ago", at)
        while distance(self.oldest, number) < 0:
            self.acknowledge(self.oldest, data, at)
            self.oldest = (self.oldest + 1) % 2**32
        while self.oldest in self.acknowledged:
            self.oldest = (self.oldest + 1) % 2**32

    def acknowledge(self, number: int, data: reader, at: int) -> None:
        if number not in self.sent:
            raise data.wrong(f"packet {number} is acknowledged and was never sent", at)
        self.acknowledged.add(number)
