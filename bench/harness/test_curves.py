"""Tests of plots whose points come from one run, and of papers' published data beside ours."""

import json
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness import curves, figures, workload  # noqa: E402
from harness.fixture import SYSTEMS, Fixture, line  # noqa: E402

ENTRY = {
    "title": "A paper's <figure>",
    "program": "fake",
    "where": {"n": 3},
    "measure": "details.*_#_ns",
    "claim": "It grows.",
    "source": "Read from its table.",
    "factor": 0.5,
    "x": "payload",
    "y": "time",
    "lines": [{"name": "paper", "points": [[8, 10], [16, 30]]}],
}
POINTS = {"x": "bytes", "by": ["n"], "points": "details.*_#_ns"}


class Published(Fixture):
    def publish(self, *entries):
        (self.bench / "fakes").mkdir(parents=True, exist_ok=True)
        (self.bench / "fakes" / "published.json").write_text(json.dumps(entries))

    def describe_points(self, **changes):
        self.describe(**{"peers": [], "yardsticks": ["bare"], "curves": [POINTS], **changes})
        details = {"raw_8_ns": 3, "raw_16_ns": 6, "a_b_8_ns": 2, "a_b_16_ns": 4, "added_ns": 1}
        self.program("garrick", line(1.0, details=details))
        self.program("bare", line(1.0, details={"raw_8_ns": 1, "raw_16_ns": 1}))

    def drawn(self):
        """The drawn lines: for each figure its title, and its lines by name."""
        found = []
        for report in self.reports(1):
            w = report.workload
            records = [(w, record) for record in report.records]
            for figure in curves.figures_of(records, w.curves[0], w.published):
                found.append((figure["title"], {n["name"]: n["points"] for n in figure["lines"]}))
        return found

    def test_details_are_points_of_lines_by_their_names(self):
        self.describe_points()
        self.assertEqual(
            self.drawn(),
            [
                (
                    "fake by bytes (n 3)",
                    {
                        "garrick: raw": [(8, 3), (16, 6)],
                        "garrick: a_b": [(8, 2), (16, 4)],
                        "bare: raw": [(8, 1), (16, 1)],
                    },
                )
            ],
        )

    def test_what_is_drawn_as_points_is_not_listed_besides(self):
        self.describe_points()
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        html = (self.out / "report.html").read_text()
        self.assertIn("added_ns 1", html)
        self.assertNotIn("raw_8_ns", html)

    def test_published_lines_stand_beside_ours_with_their_words(self):
        self.describe_points()
        self.publish(ENTRY)
        ((title, lines),) = self.drawn()
        self.assertEqual(title, ENTRY["title"])
        self.assertEqual(lines["paper"], [[8, 5], [16, 15]])
        self.assertEqual(lines["garrick: raw"], [(8, 3), (16, 6)])
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        html = (self.out / "report.html").read_text()
        for text in ("A paper&#x27;s &lt;figure&gt;", "It grows.", "Read from its table."):
            self.assertIn(text, html)
        self.assertNotIn("(simulated)", html)

    def test_they_belong_to_one_program_one_measure_and_one_set_of_parameters(self):
        self.describe_points()
        for change in ({"program": "b"}, {"where": {"n": 4}}, {"measure": "details.*_#_ms"}):
            self.publish({**ENTRY, **change})
            ((_, lines),) = self.drawn()
            self.assertNotIn("paper", lines)

    def test_published_lines_are_dotted_and_begin_with_the_first_colour(self):
        measured = {"name": "ours", "points": [[1, 1], [2, 2]]}
        published = {"name": "paper", "published": True, "points": [[1, 3], [2, 4]]}
        texts = {name: "t" for name in figures.TEXTS}
        svg = figures.draw({**texts, "lines": [measured, published]})
        strokes = re.findall(r"<polyline[^>]*stroke=\"([^\"]*)\"[^>]*>", svg)
        self.assertEqual(strokes, [figures.COLOURS[0]] * 2)
        self.assertEqual([("dasharray" in p) for p in re.findall("<polyline[^>]*>", svg)], [0, 1])

    def test_a_parameter_that_begins_with_0_is_drawn_over_a_linear_axis(self):
        self.describe(
            peers=[],
            params={"quick": {}, "full": {}},
            curves=[{"x": "loss", "by": [], "lines": ["median"]}],
            cases={
                f"fake_{loss}": {"params": {mode: {"loss": loss} for mode in ("quick", "full")}}
                for loss in (0, 10)
            },
        )
        self.program("garrick", line(1.0))
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        self.assertEqual((self.out / "report.html").read_text().count("<polyline"), 1)

    def test_published_points_at_0_make_the_axis_linear(self):
        self.describe_points()
        self.program("garrick", line(1.0, details={"raw_1_ns": 3, "raw_64_ns": 6}))
        self.publish({**ENTRY, "lines": [{"name": "paper", "points": [[0, 10], [16, 30]]}]})
        self.assertEqual(self.run_cli("--runs", "1"), 0)

    def test_bad_ones_are_refused(self):
        path = self.describe(curves=[POINTS])
        for entry, expected in (
            ({**ENTRY, "colour": "red"}, "colour"),
            ({k: v for k, v in ENTRY.items() if k != "source"}, "source"),
            ({**ENTRY, "lines": []}, "values above 0"),
            ({**ENTRY, "lines": [{"name": "p", "points": [[8, 0]]}]}, "values above 0"),
        ):
            self.publish(entry)
            with self.assertRaisesRegex(workload.WorkloadError, expected):
                workload.load(path, SYSTEMS, "quick", 2)
        for points in ("details.raw_#_ns", "details.*_ns", "*_#", "details.*_*_#"):
            path = self.describe(curves=[{**POINTS, "points": points}])
            self.publish()
            with self.assertRaisesRegex(workload.WorkloadError, "needs a \\* for the line"):
                workload.load(path, SYSTEMS, "quick", 2)

    def test_all_that_is_shipped_belongs_to_a_curve(self):
        for path in HERE.parent.glob("*/published.json"):
            found = workload.find_all(HERE.parent, "quick", 2)
            for entry in json.loads(path.read_text()):
                takers = [
                    w
                    for w in found
                    for c in w.curves
                    if w.program == entry["program"]
                    and entry["measure"] in (c.get("points"), *c.get("lines", []))
                    and entry["where"] == {name: w.params.get(name) for name in c["by"]}
                ]
                self.assertTrue(takers, f"{path}: nothing is drawn beside {entry['title']!r}")


if __name__ == "__main__":
    unittest.main()
