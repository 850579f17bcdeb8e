"""Messages counted into the mailbox (docs/wire.md, reconnect)."""

from layers import layer, message
from values import reader

LAYER_LANE = 255


class reconnect(layer):
    """Counts the messages of this way, and reads the counts of the other."""

    def __init__(self, way):
        super().__init__(way)
        self.came: dict[int, int] = {}  # messages of each lane, to this way's receiver
        self.told: dict[int, int] = {}  # in the mailbox, by the receiver's reports
        self.begun = False  # this way's sender, in this connection

    def receive(self, m: message) -> None:
        if m.lane != LAYER_LANE:
            # Over datagrams each lane has an order of its own.
            if self.session.stream and not self.begun:
                raise m.data.wrong("a message before begin", m.data.at)
            self.came[m.lane] = self.came.get(m.lane, 0) + 1
            self.up(m)
            return
        kind = m.data.fixed(1)
        if kind not in (1, 2):
            raise m.data.wrong(f"neither begin nor ack: {kind}", m.data.at - 1)
        if (kind == 1) == self.begun:
            raise m.data.wrong("begin is the first message, and only that", m.data.at - 1)
        if kind == 1:
            self.receive_begin(m.data)
            return
        counts = [f"lane {lane}: {self.mailbox(lane, m.data)}" for lane in self.lanes(m.data)]
        if not counts:
            raise m.data.wrong("an ack of nothing")
        self.say("ack: " + "; ".join(counts))

    def receive_begin(self, data: reader) -> None:
        self.begun = True
        limits = [data.fixed(n) for n in (4, 8, 4, 8)]
        if 0 in limits:
            raise data.wrong("a limit that is 0", data.at - 24)
        said = "begin: sends up to {} messages and {} bytes, takes {} and {}".format(*limits)
        if data.left() and not self.session.stream:
            raise data.wrong("begin names lanes, over datagrams")
        for lane in self.lanes(data):
            come, there = data.fixed(8), self.opposite().came.get(lane, 0)
            if come != there:
                raise data.wrong(f"of lane {lane} {come} came, not {there}", data.at - 8)
            said += f"; lane {lane}: {come} came, {self.mailbox(lane, data)}"
        self.say(said)

    def lanes(self, data: reader):
        """The lanes of a list, each once."""
        seen = set()
        while data.left():
            lane = data.fixed(1)
            if lane in seen or lane == LAYER_LANE:
                raise data.wrong(f"lane {lane} here", data.at - 1)
            seen.add(lane)
            yield lane

    def mailbox(self, lane: int, data: reader) -> str:
        """How many messages of the other way are in the mailbox."""
        count, other = data.fixed(8), self.opposite()
        if not other.told.get(lane, 0) <= count <= other.came.get(lane, 0):
            raise data.wrong(
                f"lane {lane}: {count} in the mailbox, after {other.told.get(lane, 0)}, and "
                f"{other.came.get(lane, 0)} have come",
                data.at - 8,
            )
        other.told[lane] = count
        return f"{count} in the mailbox"

    def lost(self) -> None:
        self.begun = False
