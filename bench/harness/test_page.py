"""Tests of report.html: the order of its parts, its columns, its digits, and its width."""

import html.parser
import re
import unittest

from harness import compare, curves, figures, page, plot
from harness.fixture import Fixture, line

ENVIRONMENT = {"date": "d", "processor": "p", "cores used": 2, "parameters": "quick"}
EMPTY = ("", "–")


class Reader(html.parser.HTMLParser):
    """The tables of a page, as lists of rows of texts, and the columns that the cells name."""

    def __init__(self):
        super().__init__()
        self.tables, self.columns = [], []

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.columns.append((tag, len(self.tables[-1][-1]), dict(attributes)))

    def handle_data(self, data):
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data


class Page(Fixture):
    def page(self):
        """A page about three groups, one of which measures latencies."""
        self.describe("fake")
        self.program("garrick", line(0.123456, items=1234567))
        self.program("caf-0.17", line(7.654321, items=1234567))
        self.describe("tail", metric="latency", unit="ns", yardsticks=["bare"])
        for system in ("garrick", "caf-0.17", "bare"):
            self.program(
                system, line(1, latencies={"p50": 98765.4, "p99": 123456.7, "p999": 2e9 / 7}),
                name="tail",
            )
        self.describe("long", better="higher", metric="items_per_second", unit="messages/s")
        self.program("garrick", line(0.1, items=3, details={"a_detail": 1234.5678}), name="long")
        self.program("caf-0.17", line(0.7, items=3), name="long")
        return page.render(self.reports(2), ENVIRONMENT)

    def test_means_and_plots_come_before_the_tables(self):
        text = self.page()
        places = [text.index(t) for t in ("geometric mean", "<svg", "Ratios, losses first", "p99")]
        self.assertEqual(places, sorted(places))

    def test_no_column_is_empty(self):
        reader = Reader()
        reader.feed(self.page())
        self.assertGreaterEqual(len(reader.tables), 4)
        for header, *rows in reader.tables:
            self.assertTrue(rows)
            for at, name in enumerate(header):
                self.assertTrue(any(row[at] not in EMPTY for row in rows), (name, rows))
        self.assertEqual(page.grid([("a", ""), ("b", "")], [("x", "–"), ("y", "")]).count("<th"), 2)
        self.assertIn("<th class=\"\">b</th>", page.grid([("a", ""), ("b", "")], [("x", "1")]))

    def test_figures_have_three_significant_digits(self):
        reader = Reader()
        reader.feed(self.page())
        seen = 0
        for _, *rows in reader.tables:
            for row in rows:
                for text in row[1:]:
                    for figure in re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.])", text):
                        digits = figure.replace(".", "").lstrip("0")
                        if "." not in figure:
                            digits = digits.rstrip("0")
                        self.assertLessEqual(len(digits), 3, (figure, row))
                        seen += 1
        self.assertGreater(seen, 20)

    def test_no_column_is_off_a_narrow_screen(self):
        text = self.page()
        reader = Reader()
        reader.feed(text)
        cells = [(n, a) for tag, n, a in reader.columns if tag == "td"]
        self.assertTrue(all(a.get("data-column") for n, a in cells if n > 1), cells)
        style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
        self.assertRegex(style, r"(?s)@media \(max-width: 1000px\) \{.*td\[data-column\]::before")
        self.assertNotIn("nowrap", style)
        self.assertNotIn("class=\"scroll\"", text)
        for width in map(int, re.findall(r"(?<![-\w])min-width:(\d+)px", style)):
            self.assertLessEqual(width, 340)
        for width in map(int, re.findall(r'<svg viewBox="0 0 (\d+)', text)):
            self.assertLessEqual(width, 480, "its text would be too small to read at 340 pixels")


class Digits(unittest.TestCase):
    def test_three(self):
        for value, text in (
            (0, "0"),
            (1, "1"),
            (12.345, "12.3"),
            (99.96, "100"),
            (1234.5, "1230"),
            (1.5e9, "1500000000"),
            (0.012345, "0.0123"),
            (-2.718, "-2.72"),
            (1e-7, "1e-07"),
            (float("inf"), "inf"),
        ):
            self.assertEqual(compare.three(value), text)

    def test_a_ratio_keeps_its_zeros(self):
        for value, text in ((4, "4.00"), (12.84, "12.8"), (143.4, "143"), (0.02, "0.02")):
            self.assertEqual(compare.ratio_figure(value), text)

    def test_the_bound_of_a_target_is_not_rounded(self):
        self.assertEqual(compare.bound_text(1234, "ns"), "1234 ns")
        self.assertEqual(compare.bound_text(2e6, "messages/s"), "2 M messages/s")

    def test_ticks_do_not_crowd(self):
        for low, high in ((1, 3), (0.5, 200), (1e-7, 1e7), (3, 3)):
            self.assertLessEqual(len(plot.LogAxis([low, high]).ticks()), 7)

    def test_a_legend_is_below_its_plot(self):
        lines = [{"name": f"line {i}", "points": [[1, 1], [2, 2]]} for i in range(5)]
        texts = {name: "t" for name in figures.TEXTS}
        svg = figures.draw({**texts, "lines": lines})
        height = int(re.search(r'viewBox="0 0 480 (\d+)"', svg).group(1))
        for y in map(int, re.findall(r'y="(\d+)">line \d', svg)):
            self.assertTrue(figures.HEIGHT < y < height)
        self.assertIn("<div>", curves.rendered({**texts, "lines": lines}))


if __name__ == "__main__":
    unittest.main()
