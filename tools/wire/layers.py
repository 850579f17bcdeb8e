"""The layers of docs/wire.md, undone: from the bytes that came to the messages of the sender.

A session has two ways, a>b and b>a, and each way an object for each layer of the stack. It does
as the receiving layer does: it takes messages of the layer below (`receive`), and gives their
content to the one above (`up`). It tells its findings in lines. Bytes that no honest sender sends
are an error (`bad_bytes`).

A datagram that never came is received, too, so that the sent ones are known: an acknowledgement
must be of one of them. It goes no further than to the layer that numbers it.
"""

import math
from dataclasses import dataclass, field, replace

from frames import frame
from values import reader


@dataclass
class message:
    """A message from a layer to the one above."""

    data: reader
    came: bool = True
    lane: int | None = None


class layer:
    """The common part of all layers; alone it is one that changes nothing."""

    def __init__(self, way):
        self.way, self.session, self.above = way, way.session, None

    def say(self, text: str) -> None:
        self.session.say(self.way, f"{type(self).__name__}: {text}")

    def opposite(self):
        """The same layer of the other way."""
        return self.way.opposite.layer(type(self))

    def up(self, m: message) -> None:
        self.above.receive(m)

    def receive(self, m: message) -> None:
        self.up(m)

    def lost(self) -> None:
        """The receiver has lost its stream."""

    def due(self) -> float:
        """When it wants to be called, in microseconds."""
        return math.inf

    def advance(self) -> None:
        """Called when that time has come."""

    def finish(self) -> None:
        """The capture has ended."""


class framing(layer):
    """Each message is preceded by its length."""

    def __init__(self, way):
        super().__init__(way)
        self.partial, self.begins = b"", 0

    def receive(self, m: message) -> None:
        if not self.partial:
            self.begins = m.data.start
        self.partial += m.data.take(m.data.left())
        while len(self.partial) >= 4:
            end = 4 + int.from_bytes(self.partial[:4], "little")
            if len(self.partial) < end:
                return
            whole = reader(self.partial[4:end], self.begins + 4, m.data.of)
            self.partial, self.begins = self.partial[end:], self.begins + end
            self.up(message(whole))

    def left(self) -> str:
        if len(self.partial) < 4:
            return f"{len(self.partial)} of the 4 bytes of a length"
        size = int.from_bytes(self.partial[:4], "little")
        return f"{len(self.partial) - 4} of the {size} bytes of a frame"

    def lost(self) -> None:
        if self.partial:
            self.say(f"{self.left()} came, and are dropped")
        self.partial = b""

    def finish(self) -> None:
        if self.partial:
            end = reader(b"", self.begins + len(self.partial), f" of {self.way.name}")
            raise end.wrong(f"the capture ends, with {self.left()}")


class ordering(layer):
    """Order in each lane."""

    WAITS = 100_000  # microseconds, over a layer that is not reliable
    WINDOW = 16384

    def __init__(self, way):
        super().__init__(way)
        self.next: dict[int, int] = {}
        self.held: dict[int, dict[int, tuple[int, message]]] = {}  # lane, number: since when

    def reliable(self) -> bool:
        return "reliability" in self.session.layers

    def receive(self, m: message) -> None:
        begin = m.data.at
        lane, number = m.data.fixed(1), m.data.fixed(2)
        if not m.came:
            self.say(f"lane {lane}, number {number}")
            return
        ahead = (number - self.next.setdefault(lane, 0)) % 65536
        held = self.held.setdefault(lane, {})
        if ahead >= 32768:
            self.say(f"lane {lane}, number {number}: late, dropped")
        elif number in held:
            self.say(f"lane {lane}, number {number}: came twice, dropped")
        elif ahead == 0:
            self.pass_up(lane, replace(m, data=m.data.rest(), lane=lane))
        elif self.reliable() and ahead > self.WINDOW:
            raise m.data.wrong(f"lane {lane}, number {number}: {ahead} ahead", begin)
        else:
            self.say(f"lane {lane}, number {number}: early, waits for {self.next[lane]}")
            held[number] = (self.session.now, replace(m, data=m.data.rest(), lane=lane))

    def pass_up(self, lane: int, m: message) -> None:
        """The next message, and those that have waited for it."""
        held = self.held[lane]
        self.next[lane] = (self.next[lane] + 1) % 65536
        self.up(m)
        while self.next[lane] in held:
            number = self.next[lane]
            self.say(f"lane {lane}, number {number}: has waited")
            self.next[lane] = (number + 1) % 65536
            self.up(held.pop(number)[1])

    def due(self) -> float:
        if self.reliable():
            return math.inf
        since = [when for held in self.held.values() for when, _ in held.values()]
        return min(since, default=math.inf) + self.WAITS

    def advance(self) -> None:
        """Gives up the gap for which the longest waiting message waits."""
        due = self.due()
        for lane, held in self.held.items():
            if all(since + self.WAITS > due for since, _ in held.values()):
                continue
            first = min(held, key=lambda n: (n - self.next[lane]) % 65536)
            gone = range((first - self.next[lane]) % 65536)
            missing = " ".join(str((self.next[lane] + i) % 65536) for i in gone)
            self.say(f"lane {lane}, number {missing}: given up")
            self.next[lane] = first
            self.pass_up(lane, held.pop(first)[1])

    def finish(self) -> None:
        for lane, held in self.held.items():
            for number in held:
                self.say(f"lane {lane}, number {number}: waits still")


class duplicate_suppression(layer):
    """Each datagram once."""

    def __init__(self, way):
        super().__init__(way)
        self.seen: set[int] = set()

    def receive(self, m: message) -> None:
        number = m.data.fixed(4)
        again = number in self.seen
        self.say(f"number {number}{': again, dropped' if again else ''}")
        if m.came and not again:
            self.seen.add(number)
            self.up(replace(m, data=m.data.rest()))


@dataclass
class partial_message:
    """The parts that have come of a message that is sent in pieces."""

    size: int
    lane: int
    last: int = 0  # when a piece came
    pieces: dict[int, bytes] = field(default_factory=dict)

    def come(self) -> int:
        return sum(map(len, self.pieces.values()))


class slicing(layer):
    """Pieces are joined."""

    WAITS = 2_000_000  # microseconds, where pieces can be lost

    def __init__(self, way):
        super().__init__(way)
        self.partial: dict[int, partial_message] = {}
        self.dropped: set[int] = set()

    def receive(self, m: message) -> None:
        kind = m.data.fixed(1)
        if kind > 1:
            raise m.data.wrong(f"neither a message nor a piece: {kind}", m.data.at - 1)
        if "ordering" not in self.session.layers:
            m.lane = m.data.fixed(1)
        if kind == 0:
            self.begin_next(m, None)
            self.up(replace(m, data=m.data.rest()))
        else:
            self.receive_piece(m)

    def receive_piece(self, m: message) -> None:
        header = m.data.at
        number, size, begin = (m.data.fixed(4) for _ in range(3))
        piece = m.data.rest()
        end = begin + piece.left()
        self.say(f"message {number} in lane {m.lane}: bytes {begin} to {end} of {size}")
        if end == begin or end > size:
            raise m.data.wrong("a piece that is empty, or beyond its message", header)
        if number in self.dropped:
            return
        self.begin_next(m, number)
        p = self.partial.setdefault(number, partial_message(size, m.lane))
        if (p.size, p.lane) != (size, m.lane):
            raise m.data.wrong(f"message {number} has {p.size} bytes in lane {p.lane}", header)
        for at, other in p.pieces.items():
            if begin < at + len(other) and at < end:
                raise m.data.wrong(f"overlaps with bytes {at} to {at + len(other)}", header)
        if self.session.ordered and begin != p.come():
            self.drop(number, m.data)
            return
        p.pieces[begin], p.last = piece.take(piece.left()), self.session.now
        if p.come() == size:
            del self.partial[number]
            joined = b"".join(p.pieces[at] for at in sorted(p.pieces))
            of = f" of message {number} of {self.way.name}"
            self.up(message(reader(joined, 0, of), m.came, m.lane))

    def begin_next(self, m: message, number: int | None) -> None:
        """In order, a message of a lane begins when the one before it is whole."""
        if self.session.ordered:
            for n in [n for n, p in self.partial.items() if p.lane == m.lane and n != number]:
                self.drop(n, m.data)

    def drop(self, number: int, at: reader | None = None) -> None:
        """Gives a message up; where nothing can be lost, the bytes read at `at` are wrong."""
        p = self.partial.pop(number)
        text = f"message {number} in lane {p.lane}: {p.come()} of {p.size} bytes came"
        if at is not None and self.session.reliable:
            raise at.wrong(text, 0)
        self.dropped.add(number)
        self.say(f"{text}, and are dropped")

    def due(self) -> float:
        if self.session.reliable:
            return math.inf
        return min((p.last for p in self.partial.values()), default=math.inf) + self.WAITS

    def advance(self) -> None:
        self.drop(min(self.partial, key=lambda n: self.partial[n].last))

    def lost(self) -> None:
        for number in list(self.partial):
            self.drop(number)
        self.dropped.clear()  # they are counted anew

    def finish(self) -> None:
        for number, p in self.partial.items():
            self.say(f"message {number} in lane {p.lane}: {p.come()} of {p.size} bytes came")


class actor_protocol(layer):
    """Frames."""

    def receive(self, m: message) -> None:
        said = frame(None, m.data, self.session.types)
        m.data.expect_end()
        self.say(f"in lane {m.lane}: {', '.join(said)}")
