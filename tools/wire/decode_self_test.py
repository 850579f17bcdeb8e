#!/usr/bin/env python3
"""Proves that the decoder does not take everything: breaks captures, and looks for the
complaint and for the byte that it names.
"""

import random
import re
import unittest
from pathlib import Path

from capture import session_of
from frames import frame, known_types
from reliability import FIRST, reliability
from session import session
from values import bad_bytes, parse, reader

SESSIONS = Path(__file__).resolve().parents[2] / "tests" / "net" / "golden" / "sessions"


def lines_of(text: str) -> list[str]:
    """The meaning of a capture, and at last its fault."""
    lines = []
    try:
        for line in session_of(text):
            lines.append(line)
    except bad_bytes as e:
        lines.append(f"not understood: {e}")
    return lines


def complaint(text: str) -> str:
    """The fault of a capture; empty: none."""
    last = lines_of(text)[-1:]
    return "".join(last).partition("not understood: ")[2]


class capture_test(unittest.TestCase):
    def setUp(self):
        self.texts = {p.stem: p.read_text(encoding="utf-8") for p in SESSIONS.glob("*.capture")}
        self.assertEqual(len(self.texts), 10)

    def change(self, name: str, line: int, old: str, new: str) -> str:
        """The capture with another text in this line, from 1 on."""
        lines = self.texts[name].split("\n")
        self.assertIn(old, lines[line - 1])
        lines[line - 1] = lines[line - 1].replace(old, new, 1)
        return "\n".join(lines)

    def line_of(self, name: str, pattern: str) -> int:
        """The first line that is so."""
        lines = self.texts[name].split("\n")
        return next(i for i, line in enumerate(lines, 1) if re.search(pattern, line))

    def assert_complains(self, text: str, *expected: str):
        said = complaint(text)
        for one in expected:
            self.assertIn(one, said)

    def test_captures_as_they_are(self):
        for name, text in self.texts.items():
            self.assertEqual(complaint(text), "", name)

    def test_what_is_no_capture(self):
        self.assert_complains("", "line 1: no capture")
        self.assert_complains("GET / HTTP/1.1", "line 1: no capture")
        self.assert_complains("# capture 2 of stream", "line 1: a capture of format 2")
        self.assert_complains("# capture 1 of tea", "line 1: no stack is called tea")

    def test_records_that_are_none(self):
        begin = "# capture 1 of stream\n"
        self.assert_complains(begin + "0 up c\n", "line 2: no record: '0 up c'")
        self.assert_complains(begin + "5 up a\n4 up b\n", "line 3: the time falls from 5 to 4")
        self.assert_complains(begin + "5 up a\n5 up a\n", "line 3: a is up already")
        self.assert_complains(begin + "0 up b\n0 a>b 1\n  xy\n", "line 4: not hexadecimal: 'xy'")
        self.assert_complains(begin + "0 a>b 1\n  00\n", "byte 0 of a>b: b has no transport")
        self.assert_complains(begin + "0 a|b 1\n  00\n", "of a stream that never came")
        self.assert_complains(begin + "# type x = {tea}\n", "line 2: no type is called tea")

    def test_a_file_that_was_cut_off_within_a_record(self):
        line = self.line_of("datagrams", "a>b 80")
        text = "\n".join(self.texts["datagrams"].split("\n")[: line + 1])
        self.assert_complains(
            text, f"line {line}: byte 32 of a>b: 80 bytes announced, 32 there"
        )

    def test_a_stream_that_was_cut_off_within_a_frame(self):
        line = self.line_of("stream", "a>b 60")
        text = "\n".join(self.texts["stream"].split("\n")[: line + 2])
        self.assert_complains(
            text, "byte 60 of a>b: the capture ends, with 56 of the 80 bytes of a frame"
        )

    def test_no_place_to_cut_off_is_taken_for_something_else(self):
        for name, text in self.texts.items():
            for end in range(0, len(text), 97):
                said = complaint(text[:end])
                self.assertRegex(said, r"^$|line \d+: |byte \d+ of ", f"{name}, first {end}")

    def test_another_version(self):
        # An end that is answered anyway speaks a version unknown here.
        line = self.line_of("stream", "a>b 60") + 1
        text = self.change("stream", line, "43 4b 01 00 01 00", "43 4b 02 00 03 00")
        self.assert_complains(
            text, "byte 9 of b>a: hello_ack, where an end speaks versions 2 to 3, and only 1 is"
        )
        line = self.line_of("datagrams", "b>a 68") + 1
        text = self.change("datagrams", line, "43 4b 01 00 01 00", "43 4b 00 00 00 00")
        self.assert_complains(text, f"line {line - 1}: byte 5 of b>a: hello_ack, where an end spe")

    def test_a_refusal_for_a_reason_that_there_is_not(self):
        line = self.line_of("other_versions", "a>b 60") + 1
        text = self.change("other_versions", line, "43 4b 02 00 03 00", "43 4b 01 00 03 00")
        self.assert_complains(text, "byte 9 of b>a: no common version, where one end speaks vers")
        line = self.line_of("other_layers", "b>a 9") + 1
        text = self.change("other_layers", line, "43 4b 01 00 01 00", "43 4b 02 00 02 00")
        self.assert_complains(text, "byte 9 of b>a: other layers, where one end speaks versions 2")

    def test_another_protocol(self):
        line = self.line_of("datagrams", "a>b 80") + 1
        text = self.change("datagrams", line, "47 52 43 4b", "48 54 54 50")
        self.assert_complains(text, "byte 1 of a>b: b'HTTP' where GRCK is expected")
        text = self.change("datagrams", line, "02 47", "22 47")
        self.assert_complains(text, "byte 0 of a>b: a packet of kind 34")

    def test_layers_that_contradict_themselves(self):
        for name, old, new, expected in (
            ("plain_datagrams", "0d 00 00 00 00 d0 01", "0d 00 00 00 07 d0 01", "a piece: 7"),
            ("plain_datagrams", "0d 00 00 00 00 d0 01", "0d 00 00 00 00 d0 16", ": kind 22"),
            ("datagrams", "02 01 ff ff ff 00 ff", "04 01 ff ff ff 00 ff", ": flags 4"),
            ("datagrams", "01 ff ff ff 00 ff ff", "05 ff ff ff 00 ff ff", "never sent"),
            ("datagrams", "01 ff ff ff 00 ff ff", "01 ff ff ff 09 ff ff", "never sent"),
            ("datagrams", "00 ff ff ff 00 e8 03", "00 ff ff ff 03 e8 03", "attempt 3 of packet"),
            ("datagrams", "00 e8 03 00", "00 e8 03 21", ": 33 ranges"),
            ("datagrams", "01 02 ff ff ff 00 d0", "01 02 1f 00 00 00 d0", "beyond the window"),
            ("narrow_path", "05 02 ff ff ff 01 cb", "04 02 ff ff ff 01 cb", ": flags 4"),
            ("narrow_path", "05 02 ff ff ff 01 cb", "06 02 ff ff ff 01 cb", ": flags 6"),
            ("narrow_path", "cb 00 c2 00", "cb 00 c3 00", "beyond its packet of 203 bytes"),
            ("narrow_path", "01 cb 00 c2 00", "01 cc 00 c2 00", "has 203 bytes, not 204"),
            ("narrow_path", "02 cb 00 43 00", "02 cb 00 42 00", "was another one before"),
            ("ordered_datagrams", "06 e5 a1 1f 25 01", "06 e5 a1 1f 25 09", "9 was never sent"),
            ("datagrams", "8d 02 00 00 76", "8d 02 00 00 75", "overlaps with bytes 187 to 374"),
            ("datagrams", "8d 02 00 00 76", "8e 02 00 00 76", "has 653 bytes in lane 208"),
            ("datagrams", "8d 02 00 00 76", "8d 01 00 00 76", "beyond its message"),
            ("stream", "01 00 ff 02 d0 01", "01 00 ff 02 d0 02", "lane 208: 2 in the mailbox"),
            ("datagrams", "02 d0 02 00 00 00", "02 d0 00 00 00 00", "0 in the mailbox, after 1"),
            ("stream", "00 d0 04 00 00 00", "00 d0 05 00 00 00", "of lane 208 5 came, not 4"),
            ("stream", "01 00 ff 02 d0 01", "01 00 ff 01 d0 01", "begin is the first"),
            ("stream", "01 00 ff 02 d0 01", "01 00 ff 03 d0 01", "neither begin nor ack: 3"),
        ):
            with self.subTest(name, old=old):
                line = self.line_of(name, old)
                said = complaint(self.change(name, line, old, new))
                self.assertRegex(said, r"^line \d+: byte \d+ of (a>b|b>a): ")
                self.assertIn(expected, said)

    def test_a_part_that_is_empty(self):
        part = re.compile(r"a>b 17(\n  [0-9a-f ]* cb 00 c9 00) .. ..\n")
        text, count = part.subn(r"a>b 15\1\n", self.texts["narrow_path"], count=1)
        self.assertEqual(count, 1)
        self.assert_complains(text, " of a>b: a part that is empty")

    def test_a_packet_of_which_a_part_never_came(self):
        part = re.compile(r"a>b( 82\n  [0-9a-f ]* 05 03 ff ff ff 02 cb 00 43 00)")
        text, count = part.subn(r"a|b\1", self.texts["narrow_path"], count=1)
        self.assertEqual(count, 1)
        said = "\n".join(lines_of(text))
        self.assertIn("packet 4294967042: whole", said)
        self.assertNotIn("packet 4294967043: whole", said)
        self.assert_complains(text, "lane 208: 2 in the mailbox, after 1, and 1 have come")

    def test_eight_packets_are_joined_at_a_time_and_those_with_the_lowest_numbers(self):
        joins = session("datagrams", known_types()).way_to("b").layer(reliability)
        for number in range(1, 10):
            self.assertEqual(joins.join(FIRST + number, 2, 0, b"x"), b"")
        self.assertEqual(sorted(joins.joined), [FIRST + i for i in range(1, 9)])
        self.assertEqual(joins.join(FIRST, 2, 1, b"y"), b"")
        self.assertEqual(sorted(joins.joined), [FIRST + i for i in range(8)])
        self.assertEqual(joins.join(FIRST, 2, 0, b"x"), b"xy")

    def test_a_hello_of_a_stack_with_other_layers(self):
        line = self.line_of("datagrams", "39 53 2c 50")
        lines = lines_of(self.change("datagrams", line, "39 53 2c 50", "0d c9 43 98"))
        self.assertTrue(any("other layers than those of datagrams" in one for one in lines), lines)
        self.assertFalse(any("actor_protocol: in lane" in one for one in lines), lines)

    def test_what_comes_before_both_ends_have_said_hello(self):
        beat = "# capture 1 of plain_stream\n0 up a\n0 up b\n1 a>b 9\n  05 00 00 00 05 01 00 00 00"
        self.assert_complains(beat, "byte 4 of a>b: heartbeat before both ends have said hello")

    def test_a_tag_of_nobody_is_dropped_as_a_receiver_does_it(self):
        line = self.line_of("ordered_datagrams", "05 e5 a1 1f 25 02")
        text = self.change("ordered_datagrams", line, "25 02", "24 02")
        lines = lines_of(text)
        self.assertTrue(any("heartbeat: of no session, dropped" in one for one in lines), lines)

    def test_an_answer_that_does_not_repeat_the_secret_is_ignored(self):
        line = self.line_of("datagrams", "22 22 00 00 00 00 00 00 11 11")
        lines = lines_of(self.change("datagrams", line, "00 11 11", "00 11 12"))
        self.assertTrue(any("hello_ack" in one and "ignored" in one for one in lines), lines)
        self.assertFalse(any("actor_protocol: in lane" in one for one in lines), lines)

    def test_damage_of_any_kind_is_told_from_errors_of_the_decoder(self):
        chance = random.Random(1)
        for name, text in self.texts.items():
            for turn in range(40):
                lines = text.split("\n")
                at = chance.randrange(1, len(lines))
                place = chance.randrange(len(lines[at]) + 1)
                new = chance.choice("0123456789abcdef <>|#")
                lines[at] = lines[at][:place] + new + lines[at][place + 1 :]
                with self.subTest(name, turn=turn, line=at + 1):
                    complaint("\n".join(lines))


class handles_test(unittest.TestCase):
    FIRST, SECOND = bytes(range(16)), bytes(range(16, 32))

    def said(self, words: str, payload: bytes, *numbers: bytes) -> str:
        """The meaning of a message with this payload."""
        fields = bytes(16 + 16 + 8) + bytes([2, 9, 0])
        behind = b"".join(numbers) + len(numbers).to_bytes(4, "little")
        data = reader(b"\x81" + fields + payload + behind)
        said = frame(parse(words), data, known_types())[-1]
        data.expect_end()
        return said

    def assert_complains(self, expected: str, *message):
        with self.assertRaises(bad_bytes) as raised:
            self.said(*message)
        self.assertIn(expected, str(raised.exception))

    def test_handles_are_the_numbers_behind_the_payload(self):
        first, second = self.FIRST.hex(), self.SECOND.hex()
        payload = bytes([3, 1, 1, 0, 1, 0])
        said = self.said("tuple<{handle, handle}, handle>", payload, self.FIRST, self.SECOND)
        self.assertEqual(said, f"({{handle {second}, nobody}}, handle {first})")
        payload = bytes([1, 0, 2]) + self.SECOND
        said = self.said("tuple<handle, handle>", payload, self.FIRST)
        self.assertEqual(said, f"(handle {first}, own handle {second})")

    def test_handles_that_cannot_be(self):
        self.assert_complains("handle 1 of 1", "handle", bytes([1, 1]), self.FIRST)
        both = "tuple<handle, handle>"
        self.assert_complains("handle 0 twice", both, bytes([1, 0, 1, 0]), self.FIRST)
        self.assert_complains("a handle of kind 3", "handle", bytes([3, 0]), self.FIRST)
        self.assert_complains("nothing refers", "handle", bytes([0]), self.FIRST)
        self.assert_complains("16 bytes wanted", "handle", bytes([2, 0]), self.FIRST)

    def test_handles_in_fields_that_are_not_known_are_left(self):
        said = self.said("{u8}", bytes([3, 7, 1, 0]), self.FIRST)
        self.assertEqual(said, "{7, (2 bytes more)}")


if __name__ == "__main__":
    unittest.main()
