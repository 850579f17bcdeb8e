"""Tests of many rounds: their number, the systems that run in each, intervals, worst rounds,
yardsticks, and the table of latencies.
"""

import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from harness import compare, measure, page, table, workload  # noqa: E402
from harness.fixture import SYSTEMS, Fixture, line  # noqa: E402

ENVIRONMENT = {"date": "d", "processor": "p", "cores used": 2, "parameters": "quick"}


class Rounds(Fixture):
    def test_a_workload_may_ask_for_more_and_the_command_line_wins(self):
        for rounds, most, wanted, expected in (
            (None, None, None, 5),
            (7, None, None, 7),
            (7, None, 2, 2),
            (7, 3, None, 3),
        ):
            path = self.describe(peers=[], rounds=rounds, most_runs=most)
            found = workload.load(path, SYSTEMS, "quick", 2)[0]
            self.assertEqual(measure.rounds_of(found, wanted), expected)

    def test_orientation_runs_in_every_fifth_round_without_a_warm_up(self):
        self.describe(
            peers=[],
            rounds=7,
            variants={"garrick": {"default": {"mode": "plain"}, "odd": {"mode": "odd"}}},
            orientation={"garrick": ["odd"]},
        )
        self.program("garrick", line(1))
        self.assertEqual(self.run_cli(), 0)
        lines = (self.out / "runs.jsonl").read_text().splitlines()
        found = [json.loads(text)["variant"] for text in lines]
        self.assertEqual(found.count("default"), 7)
        self.assertEqual([i for i, variant in enumerate(found) if variant == "odd"], [1, 7])
        self.assertEqual(len(self.log.read_text().splitlines()), 7 + 2 + 1)

    def test_orientation_is_not_what_a_peer_is_judged_by(self):
        self.describe(
            orientation={"caf-0.17": ["cores"]},
            targets=[{"measure": "median", "times_best": "caf-0.17", "at_most": 0.1}],
        )
        self.program("garrick", line(1))
        self.program("caf-0.17", line("2 if options['--mode'] == 'fast' else 20"))
        report = self.reports(6)[0]
        self.assertEqual([(c.variant, c.ratio) for c in report.comparisons], [("default", 20)])
        self.assertEqual((report.targets[0].value, report.targets[0].passed), (0.05, True))


class Intervals(unittest.TestCase):
    @staticmethod
    def median_ratio(rounds):
        ours, peer = zip(*rounds)
        return sorted(peer)[len(peer) // 2] / sorted(ours)[len(ours) // 2]

    def interval(self, rounds):
        return compare.bootstrap(rounds, self.median_ratio)

    def test_steady_rounds_give_a_narrow_interval_and_torn_ones_a_wide_one(self):
        self.assertEqual(self.interval([(2.0, 6.0)] * 15), (3, 3))
        self.assertEqual(self.interval([(1.0, 2.0)] * 14 + [(1.0, 90.0)]), (2, 2))
        self.assertEqual(self.interval([(1.0, 1.0)] * 7 + [(1.0, 4.0)] * 8), (1, 4))

    def test_rounds_are_drawn_as_pairs(self):
        # Slow rounds are slow for both: each round's ratio is 3, however many of them are drawn.
        rounds = [(1.0 + i, 3.0 + 3 * i) for i in range(15)]
        self.assertEqual(self.interval(rounds), (3, 3))

    def test_the_same_rounds_give_the_same_interval_and_few_give_none(self):
        rounds = [(1.0, 1.0 + i / 7) for i in range(15)]
        low, high = self.interval(rounds)
        self.assertEqual((low, high), self.interval(rounds))
        self.assertTrue(1 < low < 2 < high < 3, (low, high))
        self.assertIsNone(self.interval(rounds[:4]))


class Comparisons(Fixture):
    def test_interval_and_worst_round_stand_in_table_report_and_file(self):
        self.describe(targets=[{"worst_over": "caf-0.17", "at_least": 1}])
        self.program("garrick", line("[9, 1, 1, 16, 1, 1, 1, 1][turn - 1]"))
        self.program("caf-0.17", line("8 if options['--mode'] == 'fast' else 20"))
        report = self.reports(7)[0]
        found = report.comparisons[0]
        self.assertEqual((found.ratio, found.round_ratio), (8, 8))
        self.assertEqual((found.low, found.worst_round, found.high), (0.5, 3, 8))
        self.assertEqual((found.interval, found.round_interval), ((8, 8), (8, 8)))
        self.assertEqual((report.targets[0].value, report.targets[0].passed), (0.5, False))
        text = table.render([report])
        for words in ("8.00–8.00", "0.50", "worst round ≥ 1 × caf-0.17", "MISS"):
            self.assertIn(words, text)
        self.assertIn("8.00–8.00", page.render([report], ENVIRONMENT))

    def test_comparisons_are_written(self):
        self.describe()
        self.program("garrick", line("[9, 1, 4][turn - 1]"))
        self.program("caf-0.17", line("8 if options['--mode'] == 'fast' else 20"))
        self.assertEqual(self.run_cli("--runs", "2"), 0)
        written = json.loads((self.out / "comparisons.json").read_text())
        self.assertEqual(
            [(c["workload"], c["variant"], c["low"], c["worst_round"]) for c in written],
            [("fake", "cores", 2, 2)],
        )
        self.assertIsNone(written[0]["interval"])


class Targets(Fixture):
    def judged(self, target, ours, **changes):
        self.describe(metric="latency", unit="ns", targets=[target], **changes)
        self.program("garrick", self.latencies(ours))
        self.program("bare", self.latencies(10))
        self.program(
            "caf-0.17",
            "tail = 300 if options['--mode'] == 'fast' else 200\n"
            "middle = 50 if options['--mode'] == 'fast' else 60\n"
            "print(json.dumps({'seconds': 1, 'items': 1, 'check': 'ok', "
            "'latencies': {'p50': middle, 'p99': middle, 'p999': tail}}))",
        )
        return self.reports(1)[0].targets[0]

    @staticmethod
    def latencies(p999):
        return line(1, latencies={"p50": 1, "p99": 1, "p999": p999})

    def test_the_best_variant_of_the_measure_is_not_always_that_of_the_figure(self):
        found = self.judged({"measure": "p999", "times": "caf-0.17", "at_most": 0.4}, 100)
        self.assertAlmostEqual(found.value, 1 / 3)
        self.assertTrue(found.passed)
        found = self.judged({"measure": "p999", "times_best": "caf-0.17", "at_most": 0.4}, 100)
        self.assertEqual((found.value, found.passed), (0.5, False))
        self.assertEqual(found.text, "p999 ≤ 0.4 × best caf-0.17")
        found = self.judged({"measure": "p999", "times_best": "caf-0.17", "at_least": 0.4}, 100)
        self.assertAlmostEqual(found.value, 1 / 3)

    def test_one_of_several_is_enough(self):
        either = {
            "any": [
                {"measure": "p999", "times_best": "caf-0.17", "at_most": 0.1},
                {"measure": "p999", "times": "bare", "at_most": 5},
            ]
        }
        for ours, value, passed in ((20, 0.1, True), (50, 5, True), (60, 0.3, False)):
            found = self.judged(either, ours, yardsticks=["bare"])
            self.assertEqual((found.value, found.passed), (value, passed))
        self.assertEqual(found.text, "p999 ≤ 0.1 × best caf-0.17 or p999 ≤ 5 × bare")

    def test_what_is_beyond_a_base_is_compared_with_what_a_peer_has_beyond_it(self):
        # bare: 10, CAF: 300
        target = {"measure": "p999", "beyond": "bare", "times": "caf-0.17", "at_most": 0.2}
        for ours, value, passed in ((39, 0.1, True), (155, 0.5, False), (10, 0, True)):
            found = self.judged(target, ours, yardsticks=["bare"])
            self.assertEqual((found.value, found.passed), (value, passed))
        self.assertEqual(found.text, "p999 beyond bare ≤ 0.2 × caf-0.17's")
        found = self.judged({**target, "times": "bare"}, 20, yardsticks=["bare"])
        self.assertIsNone(found.passed)

    def test_a_target_may_be_about_a_peer(self):
        for most, passed in ((40, True), (20, False)):
            target = {"measure": "p999", "system": "caf-0.17", "times": "bare", "at_most": most}
            found = self.judged(target, 1, yardsticks=["bare"])
            self.assertEqual((found.value, found.passed), (30, passed))
        self.assertEqual(found.text, "caf-0.17: p999 ≤ 20 × bare")

    def test_what_is_beyond_needs_a_peer_and_names_a_known_system(self):
        beyond = {"measure": "p50", "beyond": "bare", "at_most": 1}
        for target in (beyond, {**beyond, "times": "caf-0.17"}):
            self.describe(targets=[target])
            self.assertEqual(self.run_cli(), 2)

    def test_what_names_a_yardstick_stands_in_every_row(self):
        self.judged({"measure": "p50", "times": "bare", "at_most": 2}, 1, yardsticks=["bare"])
        report = self.reports(1)[0]
        self.assertEqual([c.system for c in report.comparisons], ["caf-0.17"])
        self.assertIn("p50 ≤ 2 × bare", table.cells(report, report.comparisons[0]))

    def test_what_names_a_peer_stands_in_its_row(self):
        target = {"measure": "p50", "times": "bare", "at_most": 2}
        self.judged(target, 1, peers=["bare", "caf-0.17"])
        report = self.reports(1)[0]
        shown = {c.system: table.cells(report, c)[-2] for c in report.comparisons}
        self.assertEqual(shown, {"bare": "p50 ≤ 2 × bare", "caf-0.17": ""})


class Descriptions(Fixture):
    def test_bad_descriptions_are_named(self):
        bare = {"measure": "p50", "times": "bare", "at_most": 2}
        for expected, changes in (
            ("not among the peers", {"targets": [bare]}),
            ("not among the peers", {"targets": [{"any": [bare]}]}),
            ("not among the peers", {"targets": [{"worst_over": "bare", "at_least": 1}]}),
            ("list of targets under 'any'", {"targets": [{"any": []}]}),
            ("is not understood", {"targets": [{**bare, "minus": "caf-0.17"}]}),
            ("rounds is 0", {"rounds": 0}),
            ("by which it is judged", {"orientation": {"garrick": ["default"]}}),
            ("not among the contenders", {"orientation": {"garrick": ["odd"]}}),
        ):
            path = self.describe(**changes)
            (path.parent / "garrick.cpp").touch()
            with self.assertRaisesRegex(workload.WorkloadError, expected):
                workload.load(path, SYSTEMS, "quick", 2)
            path.unlink()


class Latencies(Fixture):
    def test_tails_and_processor_time_stand_beside_the_yardsticks(self):
        self.describe(
            metric="latency_mean",
            unit="ns",
            yardsticks=["bare"],
            variants={"garrick": {"default": {}, "one": {"mode": "one"}, "odd": {"mode": "odd"}}},
            orientation={"garrick": ["odd"]},
        )
        self.program("garrick", self.turns([1000, 2000, 8000, 2000], 31))
        self.program("caf-0.17", self.turns([4000] * 4, 70))
        self.program("bare", self.turns([500, 500, 900, 500], 2))
        report = self.reports(3)[0]
        rows = {row[1]: row[2:] for row in table.latency_rows([report])}
        self.assertEqual(
            list(rows),
            ["garrick (default)", "garrick (one)", "caf-0.17 (default)", "bare (default)"],
        )
        self.assertEqual(
            rows["garrick (default)"],
            ("2 us", "2 us", "4 us", "8 us", "31", "8 us", "hops 3"),
        )
        self.assertEqual(rows["bare (default)"][-2], "0.9 us")
        self.assertIn("garrick (one)", table.render([report]))
        html = page.render([report], ENVIRONMENT)
        self.assertIn("<h3>Latencies</h3>", html)
        self.assertIn("bare (default)", html)

    @staticmethod
    def turns(means, cpu):
        return (
            f"mean = {means}[turn - 1]\n"
            "print(json.dumps({'seconds': 1, 'items': 1, 'check': 'ok', "
            "'latencies': {'mean': mean, 'p50': mean, 'p99': 2 * mean, 'p999': 4 * mean}, "
            f"'details': {{'hops': 3, 'cpu_percent': {cpu}}}}}))"
        )

    def test_other_workloads_have_no_such_table(self):
        self.describe()
        self.program("garrick", line(1))
        self.program("caf-0.17", line(1))
        self.assertEqual(table.latency_rows(self.reports(1)), [])
        self.assertNotIn("p99.9", table.render(self.reports(1)))


if __name__ == "__main__":
    unittest.main()
