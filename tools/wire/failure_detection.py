"""The identity of the other end, and that it lives (docs/wire.md, failure_detection)."""

from dataclasses import dataclass, replace

from layers import layer, message
from siphash import siphash
from values import reader

KINDS = {
    1: "data",
    2: "hello",
    3: "hello_ack",
    4: "challenge",
    5: "heartbeat",
    6: "heartbeat_ack",
    7: "leave",
    8: "refuse",
}
TAGGED = ("data", "heartbeat", "heartbeat_ack", "leave")
VERSION = 1
LARGEST_HELLO = 512
REFUSALS = {
    1: "no common version",
    2: "not allowed",
    3: "given up",
    4: "no session that could go on",
    5: "both ends are the same",
    6: "other layers",
    7: "a session that there is already",
}


def tag_of(secrets: tuple[int, int], sender: int) -> int:
    """The bytes before a datagram of this incarnation, in the session with these secrets."""
    return siphash((min(secrets), max(secrets)), [sender]) % 2**32


def fingerprint(names: list[str]) -> int:
    """Of layers, the lowest first."""
    x = 0x811C9DC5
    for byte in b"".join(name.encode() + b"\0" for name in reversed(names)):
        x = (x ^ byte) * 0x01000193 % 2**32
    return x


@dataclass
class version_range:
    """The versions that an end speaks: behind the four letters, in a hello or a refusal."""

    lowest: int
    highest: int

    @staticmethod
    def read(data: reader) -> "version_range":
        letters, at = data.take(4), data.at
        if letters != b"GRCK":
            raise data.wrong(f"{letters!r} where GRCK is expected", at - 4)
        return version_range(data.fixed(2), data.fixed(2))

    def overlaps(self, other: "version_range") -> bool:
        return max(self.lowest, other.lowest) <= min(self.highest, other.highest)

    def text(self) -> str:
        return f"versions {self.lowest} to {self.highest}"


KNOWN = version_range(VERSION, VERSION)


@dataclass
class hello:
    """The hello of an end that connects, or answers."""

    versions: version_range
    node: int
    incarnation: int
    to: int
    flags: int
    interval: int
    layers: int
    capabilities: list[int]
    program: str
    number: int
    proof: int

    @staticmethod
    def read(data: reader) -> "hello":
        if data.left() + 1 > LARGEST_HELLO:
            raise data.wrong(f"a hello of {data.left() + 1} bytes")
        versions, node = version_range.read(data), data.fixed(16)
        incarnation, to = data.fixed(8), data.fixed(8)
        if incarnation == 0:
            raise data.wrong("an incarnation that is 0", data.at - 16)
        flags, interval, layers = data.fixed(1), data.fixed(4), data.fixed(4)
        bits = data.fixed(data.fixed(1))
        capabilities = [i for i in range(bits.bit_length()) if bits >> i & 1]
        program = data.take(data.fixed(1))[:64].decode("utf-8", errors="backslashreplace")
        number, proof = data.fixed(8), data.fixed(8)
        if number == 0:
            raise data.wrong("a number that is 0", data.at - 16)
        return hello(
            versions,
            node,
            incarnation,
            to,
            flags,
            interval,
            layers,
            capabilities,
            program,
            number,
            proof,
        )

    def resumes(self) -> bool:
        return self.flags % 2 == 1

    def text(self) -> str:
        to = f"to {self.to:016x}" if self.to else "to nobody known"
        return (
            f"{self.versions.text()}, node {self.node:032x}, "
            f"incarnation {self.incarnation:016x}, {to}, "
            f"{'goes on' if self.resumes() else 'begins'}"
            f"{' anew' if self.flags & 2 else ''}, beats in {self.interval} ms, "
            f"layers {self.layers:08x}, capabilities {self.capabilities}, "
            f"program {self.program!r}, number {self.number:x}, proof {self.proof:x}"
        )

    def proof_under(self, secrets: tuple[int, int], kind: str) -> int:
        """The proof of a hello, or of the answer to one, that continues this session."""
        number = next(n for n, name in KINDS.items() if name == kind)
        key = (min(secrets), max(secrets))
        return siphash(key, [number, self.number, self.incarnation, self.to])


class failure_detection(layer):
    """Undoes the prefix of its sender, and checks that it was the right one."""

    def __init__(self, way):
        super().__init__(way)
        self.incarnation = 0  # the sender's, in this session
        self.secret = 0  # its own, in this session
        self.said = 0  # the incarnation by which it has said hello last
        self.said_secret = 0  # the secret that it has told then
        self.attempt = 0  # the number of its last hello, if that resumes
        self.cookie = 0  # of its last challenge
        self.versions = KNOWN  # that it has named then
        self.greeted = False  # it has said hello on this connection, or answered
        self.heartbeats: set[int] = set()

    def receive(self, m: message) -> None:
        at = m.data.at
        kind = KINDS.get(m.data.fixed(1))
        if kind is None:
            raise m.data.wrong(f"a packet of kind {m.data.data[at]}", at)
        if kind in TAGGED:
            if not self.belongs(kind, m):
                return
            getattr(self, f"receive_{kind}")(m)
        elif kind == "refuse":
            self.receive_refusal(m)
        else:
            self.receive_hello(kind, m)

    def belongs(self, kind: str, m: message) -> bool:
        """Returns true if the datagram is of this session."""
        other = self.opposite()
        if not self.session.stream:
            tag = m.data.fixed(4)
            if tag != tag_of((self.secret, other.secret), self.incarnation):
                self.say(f"{kind}: of no session, dropped (tag {tag:08x})")
                return False
        if kind != "leave" and not (self.greeted and other.greeted):
            raise m.data.wrong(f"{kind} before both ends have said hello", 0)
        return True

    def receive_data(self, m: message) -> None:
        self.up(replace(m, data=m.data.rest()))

    def receive_heartbeat(self, m: message) -> None:
        number, behind = m.data.fixed(4), m.data.rest()
        self.heartbeats.add(number)
        what = "bytes of a later version" if behind.data.strip(b"\0") else "zeros"
        padding = f", and {len(behind.data)} {what}" if behind.data else ""
        self.say(f"heartbeat {number}{padding}")

    def receive_heartbeat_ack(self, m: message) -> None:
        number = m.data.fixed(4)
        if number not in self.opposite().heartbeats:
            raise m.data.wrong(f"heartbeat {number} was never sent", m.data.at - 4)
        behind = m.data.rest()
        padding = f", and {len(behind.data)} bytes of a later version" if behind.data else ""
        self.say(f"heartbeat_ack {number}{padding}")

    def receive_leave(self, m: message) -> None:
        why = m.data.fixed(1) if m.data.left() != 0 else 0
        words = bytes(m.data.rest().data).decode("utf-8", "replace") if why == 2 else ""
        self.say({1: "leave: it has heard nothing", 2: f"leave: {words}"}.get(why, "leave"))
        self.session.over |= m.came

    def receive_refusal(self, m: message) -> None:
        other, at = self.opposite(), m.data.at + 4
        versions = version_range.read(m.data)
        to, proof, why = m.data.fixed(8), m.data.fixed(8), m.data.fixed(1)
        if m.data.left() != 0:
            m.data.take(m.data.fixed(1))  # words for people
        by = ""
        if m.data.left() >= 24:
            node, incarnation = m.data.fixed(16), m.data.fixed(8)
            by = f", with node {node:032x}, incarnation {incarnation:016x}"
        is_proved = self.session.stream or proof == other.said_secret
        ignored = to != other.said or not is_proved
        reason = REFUSALS.get(why, f"reason {why}")
        self.say(
            f"refuse: {versions.text()}, incarnation {to:016x}: {reason}{by}"
            f"{', ignored' if ignored else ''}"
        )
        overlap = versions.overlaps(other.versions)
        if not ignored and not {1: not overlap, 6: overlap}.get(why, True):
            raise m.data.wrong(
                f"{reason}, where one end speaks {versions.text()}, and the other "
                f"{other.versions.text()}",
                at,
            )
        # An end that is refused for a session tries again.
        self.session.over |= m.came and not ignored and why != 7

    def proves(self, kind: str, h: hello) -> bool:
        """Returns true if an answer, or a hello that resumes, is as its sender must make it."""
        other = self.opposite()
        resumes = h.resumes() if kind == "hello" else kind == "hello_ack" and other.attempt != 0
        if resumes:
            number = h.number if kind == "hello" else other.attempt
            proof = h.proof_under((self.secret, other.secret), kind)
            return h.resumes() and (h.number, h.proof) == (number, proof)
        return kind == "hello" or (h.to, h.proof) == (other.said, other.said_secret)

    def is_told_secret(self, kind: str, h: hello) -> bool:
        """Returns true if the number is the sender's secret."""
        if kind == "hello":
            return not h.resumes()
        return kind == "hello_ack" and self.opposite().attempt == 0

    def receive_hello(self, kind: str, m: message) -> None:
        at = m.data.at + 4
        h = hello.read(m.data)
        more = f", and {m.data.left()} bytes more" if m.data.left() else ""
        other = self.opposite()
        ignored = not self.proves(kind, h)
        self.say(f"{kind}: {h.text()}{more}{', ignored' if ignored else ''}")
        if ignored or not m.came:
            return
        self.said, self.versions = h.incarnation, h.versions
        tells = self.is_told_secret(kind, h)
        if tells:
            self.said_secret = h.number
        if kind == "hello":
            self.attempt = h.number if h.resumes() else 0
        if kind != "hello":
            for one in (h.versions, other.versions):
                if not one.overlaps(KNOWN):
                    raise m.data.wrong(
                        f"{kind}, where an end speaks {one.text()}, and only {VERSION} is known", at
                    )
        if kind == "challenge":
            self.cookie = h.number
            return
        if not h.versions.overlaps(KNOWN):
            self.say(f"only version {VERSION} is known: no session")
            return
        if h.layers != fingerprint(self.session.layers):
            self.say(f"other layers than those of {self.session.name}: no session")
            return
        is_new = self.incarnation != h.incarnation or (tells and self.secret != h.number)
        if self.incarnation != 0 and is_new and kind == "hello":
            if h.proof == 0 or h.proof != other.cookie:
                return  # it is challenged first
            self.say("a new incarnation: the session with the earlier one is over")
            self.session.begin_anew()
        self.incarnation, self.greeted = h.incarnation, True
        if tells:
            self.secret = h.number

    def lost(self) -> None:
        self.greeted = self.opposite().greeted = False
