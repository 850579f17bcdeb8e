"""A whole session: two ways, and the layers of each."""

from failure_detection import failure_detection
from frames import known_types
from layers import (
    actor_protocol,
    duplicate_suppression,
    framing,
    layer,
    message,
    ordering,
    slicing,
)
from reconnect import reconnect
from reliability import reliability
from values import bad_bytes, reader

# From the bottom to the top.
STACKS = {
    "stream": (framing, failure_detection, slicing, reconnect, actor_protocol),
    "plain_stream": (framing, failure_detection, slicing, actor_protocol),
    "datagrams": (
        failure_detection,
        reliability,
        ordering,
        slicing,
        reconnect,
        actor_protocol,
    ),
    "ordered_datagrams": (failure_detection, ordering, slicing, actor_protocol),
    "plain_datagrams": (failure_detection, duplicate_suppression, slicing, actor_protocol),
}


class way:
    """One direction."""

    def __init__(self, whole: "session", sender: str, receiver: str):
        self.session, self.receiver, self.name = whole, receiver, f"{sender}>{receiver}"
        self.opposite: way = self
        self.bytes = 0
        self.layers: list[layer] = []

    def build(self) -> None:
        self.layers = [kind(self) for kind in STACKS[self.session.name]]
        for below, above in zip(self.layers, self.layers[1:]):
            below.above = above

    def layer(self, kind: type) -> layer:
        return next(one for one in self.layers if type(one) is kind)


class session:
    """The conversation of two ends."""

    def __init__(self, name: str, types: known_types):
        self.name, self.types = name, types
        self.layers = [kind.__name__ for kind in STACKS[name]]
        self.stream = "framing" in self.layers
        self.ordered = self.stream or "ordering" in self.layers
        self.reliable = self.stream or "reliability" in self.layers
        self.now, self.over = 0, False
        self.up = {"a": False, "b": False}
        self.lines: list[str] = []
        self.ways = {"b": way(self, "a", "b"), "a": way(self, "b", "a")}  # by receiver
        for end, other in (("a", "b"), ("b", "a")):
            self.ways[end].opposite = self.ways[other]
            self.ways[end].build()
        self.mark = ""

    def say(self, where: way | None, text: str) -> None:
        name = f"{where.name} {self.mark}" if where else ""
        self.lines.append(f"{self.now // 1000}.{self.now % 1000:03} {name}{text}")

    def said(self) -> list[str]:
        """The lines since the last call."""
        lines, self.lines = self.lines, []
        return lines

    def way_to(self, end: str) -> way:
        return self.ways[end]

    def passed(self, end: str) -> int:
        """Bytes of all records to this end."""
        return self.ways[end].bytes

    def advance(self, now: int) -> None:
        """Time passes, until `now`."""
        while (first := min(self.all_layers(), key=lambda one: one.due())).due() <= now:
            self.now = int(first.due())
            first.advance()
        self.now = now

    def all_layers(self) -> list[layer]:
        return [one for w in self.ways.values() for one in w.layers]

    def change(self, end: str, up: bool) -> None:
        """The transport of this end is there, or is lost."""
        if self.up[end] == up:
            raise bad_bytes(f"{end} is {'up' if up else 'lost'} already")
        self.up[end] = up
        self.say(None, f"{end} is up" if up else f"{end} has lost its transport")
        if not up and self.stream:
            for one in self.ways[end].layers:
                one.lost()

    def take(self, end: str, data: bytes, came: bool) -> None:
        """Bytes for this end."""
        w = self.ways[end]
        of = f" of {w.name}"
        begin, w.bytes = w.bytes, w.bytes + len(data)
        if not came and self.stream:
            raise bad_bytes(f"byte {begin}{of}: of a stream that never came")
        if came and not self.up[end]:
            raise bad_bytes(f"byte {begin}{of}: {end} has no transport")
        self.mark = "" if came else "(never came) "
        w.layers[0].receive(message(reader(data, begin, of), came))
        self.mark = ""

    def begin_anew(self) -> None:
        """Above failure_detection nothing is known any more."""
        for w in self.ways.values():
            kept = {type(one): one for one in w.layers if type(one) in (framing, failure_detection)}
            w.build()
            w.layers = [kept.get(type(one), one) for one in w.layers]
            for below, above in zip(w.layers, w.layers[1:]):
                below.above = above

    def finish(self) -> None:
        for one in self.all_layers():
            one.finish()
        self.say(None, "the session is over" if self.over else "the session is open still")
