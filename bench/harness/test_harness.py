"""Tests of the harness with fake programs: ratios, checks that fail, crashes, time-outs, memory,
the files that it writes.
"""

import json
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness import compare, figures, page, process, table, workload  # noqa: E402
from harness.fixture import SYSTEMS, Fixture, line  # noqa: E402

FIELDS = {
    "workload",
    "group",
    "params",
    "unit",
    "better",
    "system",
    "median",
    "min",
    "max",
    "p50",
    "p99",
    "p999",
    "runs",
    "peak_rss_bytes",
    "cpu_seconds",
    "variant",
    "checked",
    "details",
}


class Variants(Fixture):
    def test_a_variant_of_ours_may_be_judged_by_the_default(self):
        for most, status in ((2, 0), (1.5, 1)):
            self.describe(
                peers=[],
                variants={
                    "garrick": {"default": {"mode": "plain"}, "crowded": {"mode": "crowded"}}
                },
                targets=[
                    {"measure": "median", "variant": "crowded", "times": "garrick", "at_most": most}
                ],
            )
            self.program("garrick", line("2 if options['--mode'] == 'crowded' else 1"))
            self.assertEqual(self.run_cli("--runs", "1", "--strict"), status)

    def test_a_target_may_name_a_variant_of_the_peer(self):
        variants = {"caf-0.17": {"slow": {"mode": "slow"}, "fast": {"mode": "fast"}}}
        for variant, status in (("slow", 0), ("fast", 1)):
            target = {"speedup_over": "caf-0.17", "peer_variant": variant, "at_least": 3}
            self.describe(variants=variants, targets=[target])
            self.program("garrick", line(1))
            self.program("caf-0.17", line("4 if options['--mode'] == 'slow' else 2"))
            self.assertEqual(self.run_cli("--runs", "1", "--strict"), status)
        self.describe(
            variants=variants,
            targets=[{"speedup_over": "caf-0.17", "peer_variant": "aggressive", "at_least": 3}],
        )
        self.assertEqual(self.run_cli(), 2)

    def test_a_variant_that_ours_has_not_is_refused(self):
        self.describe(targets=[{"measure": "median", "variant": "crowded", "at_most": 2}])
        self.assertEqual(self.run_cli(), 2)


class Cases(Fixture):
    def describe_cases(self, **changes):
        lines = ["median", "details.hops"]
        self.describe(
            params={"quick": {"n": 3}, "full": {"n": 4}},
            peers=[],
            curves=[{"x": "size", "by": ["n"], "lines": lines}],
            cases={
                "fake_small": {
                    "params": {"quick": {"size": 10}, "full": {"size": 100}},
                    "targets": [{"measure": "details.hops", "at_most": 20}],
                },
                "fake_large": {
                    "params": {"quick": {"size": 20}, "full": {"size": 200}},
                    "on_request": True,
                },
            },
            **changes,
        )
        self.program(
            "garrick",
            "size = int(options['--size'])\nprint(json.dumps({'seconds': size, 'items': 1, "
            "'check': 'ok', "
            "'details': {'hops': size * 3}}))",
        )

    def test_one_program_may_be_several_workloads(self):
        self.describe_cases()
        found = workload.find_all(self.bench, "quick", 2)
        self.assertEqual(
            {w.name: w.params for w in found},
            {"fake_small": {"n": 3, "size": 10}, "fake_large": {"n": 3, "size": 20}},
        )

    def test_a_case_may_belong_to_another_group(self):
        self.describe(peers=[], cases={"fake": {}, "other_fake": {"group": "others"}})
        self.program("garrick", line(1))
        self.assertEqual(self.run_cli("--runs", "1", "others"), 0)
        self.assertEqual(
            [(r["workload"], r["group"]) for r in self.records()], [("other_fake", "others")]
        )

    def test_what_is_on_request_runs_if_it_is_asked_for(self):
        self.describe_cases()
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        self.assertEqual([r["workload"] for r in self.records()], ["fake_small"])
        self.assertEqual(self.run_cli("--runs", "1", "fakes"), 0)
        self.assertEqual([r["workload"] for r in self.records()], ["fake_large", "fake_small"])

    def test_details_are_recorded_judged_and_drawn(self):
        self.describe_cases()
        self.assertEqual(self.run_cli("--runs", "1", "--strict", "fakes"), 1)  # 30 hops, 20 allowed
        self.assertEqual([r["details"] for r in self.records()], [{"hops": 60}, {"hops": 30}])
        html = (self.out / "report.html").read_text()
        self.assertIn("hops by size (n 3)", html)
        self.assertIn("median by size (n 3)", html)
        self.assertEqual(html.count("<polyline"), 2)

    def test_one_value_is_no_curve(self):
        self.describe_cases()
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        self.assertNotIn("<polyline", (self.out / "report.html").read_text())

    def test_a_curve_that_names_no_measure_is_refused(self):
        self.describe(curves=[{"x": "n", "by": [], "lines": ["median", "speed"]}])
        self.assertEqual(self.run_cli(), 2)


class Ratios(Fixture):
    def test_ratio_is_of_medians_against_the_peers_best_variant(self):
        self.describe(targets=[{"speedup_over": "caf-0.17", "at_least": 3}])
        self.program(
            "garrick", line("[9, 1, 2, 3][turn - 1]")
        )  # the warm-up's 9 must not count: median 2
        self.program("caf-0.17", line("8 if options['--mode'] == 'fast' else 20"))
        self.assertEqual(self.run_cli("--runs", "3"), 0)
        records = {(r["system"], r["variant"]): r for r in self.records()}
        self.assertEqual(records["garrick", "default"]["median"], 2e6)
        self.assertEqual(records["garrick", "default"]["min"], 1e6)
        self.assertEqual(records["garrick", "default"]["max"], 3e6)
        self.assertEqual(
            set(records), {("garrick", "default"), ("caf-0.17", "default"), ("caf-0.17", "cores")}
        )
        html = (self.out / "report.html").read_text()
        self.assertIn("4.00 ×", html)
        self.assertIn("caf-0.17 (cores)", html)

    def test_the_geometric_mean_of_a_group_stands_in_table_and_report(self):
        for name, peer in (("fake", 2), ("other", 8)):
            self.describe(name)
            self.program("garrick", line("1"), name)
            self.program("caf-0.17", line(str(peer)), name)
        reports = self.reports(1)
        self.assertIn(
            "fakes: geometric mean of 2 ratios 4.00 ×, lowest 2.00 ×", table.render(reports)
        )
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        self.assertIn("Geometric mean of the 2: 4.00 ×", (self.out / "report.html").read_text())

    def test_speed_ups_over_a_sequential_program_are_drawn(self):
        systems = {**SYSTEMS, "sequential": {"default": {}}}
        (self.bench / "common" / "systems.json").write_text(json.dumps(systems))
        for metric in ("seconds", "ns_per_item"):
            self.describe(metric=metric, unit="s", peers=["caf-0.17", "sequential"])
            self.program("garrick", line("2"))
            self.program("caf-0.17", line("4 if options['--mode'] == 'fast' else 16"))
            self.program("sequential", line("8"))
            self.assertEqual(self.run_cli("--runs", "1"), 0)
            html = (self.out / "report.html").read_text()
            plotted = [text in html for text in ("4.00 ×, 2 s", "2.00 ×, 4 s", "0.50 ×, 16 s")]
            self.assertEqual(plotted, [metric == "seconds"] * 3)

    def test_spread_comes_from_single_rounds(self):
        self.describe()
        self.program("garrick", line("[1, 1, 2, 4][turn - 1]"))
        self.program("caf-0.17", line("8"))
        found = self.reports(3)[0].comparisons[0]
        self.assertEqual((found.ratio, found.low, found.high), (4, 2, 8))

    def test_higher_is_better(self):
        self.describe(metric="items_per_second", better="higher")
        self.program("garrick", line(1, items=600))
        self.program("caf-0.17", line(1, items="100 if options['--mode'] == 'slow' else 200"))
        found = self.reports()[0].comparisons[0]
        self.assertEqual((found.variant, found.ratio), ("cores", 3))

    def test_contenders_take_turns_after_a_warm_up(self):
        self.describe()
        self.program("garrick", line(1))
        self.program("caf-0.17", line(1))
        self.reports(2)
        self.assertEqual(
            self.log.read_text().splitlines(), ["garrick -", "caf-0.17 slow", "caf-0.17 fast"] * 3
        )

    def test_parameters_and_cores_reach_the_program(self):
        self.describe()
        self.program(
            "garrick",
            line(1, check="ok") + "\nassert options == {'--n': '3', '--threads': '2'}, options",
        )
        self.program("caf-0.17", line(1))
        self.assertEqual(self.reports()[0].failures, [])

    def test_losses_come_first_in_the_table(self):
        for name, seconds in (("wins", 1), ("loses", 50)):
            self.describe(name)
            self.program("garrick", line(seconds), name)
            self.program("caf-0.17", line(10), name)
        text = table.render(self.reports())
        self.assertLess(text.index("loses"), text.index("wins"))
        self.assertIn("0.20 ×", text)


class Failures(Fixture):
    def check_failure(self, body, expected, **changes):
        self.describe(**changes)
        self.program("garrick", body)
        self.program("caf-0.17", line(1))
        self.assertEqual(self.run_cli("--runs", "2"), 1)
        ours = next(r for r in self.records() if r["system"] == "garrick")
        self.assertFalse(ours["checked"])
        self.assertIsNone(ours["median"])
        self.assertRegex((self.out / "report.html").read_text(), expected)
        return ours

    def test_wrong_result_is_flagged(self):
        self.check_failure(
            line(1, check="count: expected 3, found 2"), "wrong result: count: expected 3, found 2"
        )

    def test_crash_is_flagged(self):
        self.check_failure("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV")

    def test_exit_status_is_flagged_even_if_the_line_says_ok(self):
        self.check_failure(line(1) + "\nsys.exit(3)", "exit status 3")

    def test_hang_is_ended_and_flagged(self):
        self.check_failure("import time; time.sleep(60)", "not finished after", timeout_s=0.5)

    def test_silence_is_flagged(self):
        self.check_failure("pass", "printed no line of JSON")

    def test_missing_field_is_flagged(self):
        self.check_failure(line(1), "no usable field for bytes_per_item", metric="bytes_per_item")

    def test_program_that_was_not_built_is_flagged(self):
        self.describe()
        self.program("garrick", line(1))
        self.program("caf-0.17", line(1))
        (self.build / "bench" / "bench_fake_garrick").unlink()
        self.assertEqual(self.run_cli(), 1)

    def test_late_failure_voids_the_earlier_runs(self):
        self.describe()
        self.program("garrick", line(1, check="ok") + "\nif turn == 3: sys.exit(1)")
        self.program("caf-0.17", line(1))
        self.assertEqual(self.run_cli("--runs", "3"), 1)
        ours = next(r for r in self.records() if r["system"] == "garrick")
        self.assertFalse(ours["checked"])
        self.assertNotIn("1.00 ×", (self.out / "report.html").read_text())

    def test_missing_source_is_noted_and_no_failure(self):
        self.describe(targets=[{"speedup_over": "caf-0.17", "at_least": 2}])
        self.program("caf-0.17", line(1))
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        self.assertIn("no program yet for garrick", (self.out / "report.html").read_text())
        self.assertEqual(self.run_cli("--runs", "1", "--strict"), 1)


class Targets(Fixture):
    def judged(self, target, ours="1", peer="10", metric="ns_per_item", **more):
        self.describe(targets=[target], metric=metric)
        self.program("garrick", line(ours, **more))
        self.program("caf-0.17", line(peer, **more))
        return self.reports()[0].targets[0]

    def test_speedup(self):
        self.assertTrue(self.judged({"speedup_over": "caf-0.17", "at_least": 10}).passed)
        self.assertFalse(self.judged({"speedup_over": "caf-0.17", "at_least": 10.01}).passed)

    def test_bound(self):
        self.assertTrue(self.judged({"measure": "median", "at_most": 1e6}).passed)
        self.assertFalse(self.judged({"measure": "median", "at_most": 9e5}).passed)

    def test_difference_and_multiple(self):
        found = self.judged({"measure": "median", "minus": "caf-0.17", "at_most": -9e6})
        self.assertEqual((found.value, found.passed), (-9e6, True))
        found = self.judged(
            {"measure": "p99", "times": "caf-0.17", "at_most": 1.5},
            metric="latency",
            latencies={"p50": 1, "p99": 7, "p999": 9},
        )
        self.assertEqual((found.value, found.passed), (1.0, True))

    def test_strict_makes_a_miss_an_error(self):
        self.judged({"speedup_over": "caf-0.17", "at_least": 11})
        self.assertEqual(self.run_cli("--runs", "1"), 0)
        self.assertEqual(self.run_cli("--runs", "1", "--strict"), 1)


class Files(Fixture):
    def test_results_have_exactly_the_specified_fields(self):
        self.describe(metric="latency")
        self.program("garrick", line(1, latencies={"p50": 5, "p99": 7, "p999": 9}))
        self.program("caf-0.17", line(1, latencies={"p50": 6, "p99": 8, "p999": 10}))
        self.assertEqual(self.run_cli("--runs", "2"), 0)
        for record in self.records():
            self.assertEqual(set(record), FIELDS)
            self.assertEqual(record["runs"], 2)
            self.assertIs(record["checked"], True)
            self.assertIn(record["better"], ("lower", "higher"))
        self.assertEqual([self.records()[0][p] for p in ("p50", "p99", "p999")], [5, 7, 9])

    def test_report_stands_alone_and_names_the_environment(self):
        self.describe(what="a <b>bold</b> claim")
        self.program("garrick", line(1))
        self.program("caf-0.17", line(2))
        self.run_cli("--runs", "1")
        html = (self.out / "report.html").read_text()
        self.assertIsNone(re.search(r"(src|href)\s*=|@import|url\(", html))
        self.assertIn("<svg", html)
        self.assertIn("a &lt;b&gt;bold", html)
        for words in (
            "processor",
            "compiler",
            "flags (caf-0.17)",
            "allocator",
            "cores used",
            "threads ",
        ):
            self.assertIn(words, html)

    def test_full_parameters(self):
        self.describe()
        self.program("garrick", line(1))
        self.program("caf-0.17", line(1))
        self.run_cli("--runs", "1", "--full")
        self.assertEqual(self.records()[0]["params"], {"n": 4})


class Kinds(Fixture):
    def test_compile_time_is_measured_and_the_program_must_work(self):
        self.describe(kind="compile", metric="seconds", expect="hello")
        self.program("garrick", "print('hello')")
        self.program("caf-0.17", "print('hello')")
        report = self.reports(1)[0]
        self.assertEqual(report.failures, [])
        self.assertGreater(report.records[0]["median"], 0)
        self.program("caf-0.17", "print('goodbye')")
        self.assertRegex(self.reports(1)[0].failures[0], "expected 'hello'")

    def test_compile_error_is_a_failure(self):
        self.describe(kind="compile", metric="seconds", expect="hello", peers=[])
        self.program("garrick", "print('hello')", source="int main( {}\n")
        self.assertTrue(self.reports(1)[0].failures)

    def test_size_is_that_of_the_file(self):
        self.describe(
            kind="size",
            metric="file_bytes",
            unit="bytes",
            peers=["bare"],
            targets=[{"measure": "median", "minus": "bare", "at_most": 100}],
        )
        self.program("garrick", "pass" + " " * 90, below="minimal/bench")
        self.program("bare", "pass", below="minimal/bench")
        longer_name = 2 * (len("garrick") - len("bare"))  # it stands twice in the fake program
        self.assertEqual(self.reports(1)[0].targets[0].value, 90 + longer_name)


class Launcher(Fixture):
    def run_python(self, code, timeout_s=30):
        return process.run(
            self.build / "bench" / "bench_launch", [sys.executable, "-c", code], timeout_s
        )

    def test_peak_memory_is_the_programs_and_not_the_harness_s(self):
        ballast = bytearray(200_000_000)
        ballast[::4096] = b"x" * len(ballast[::4096])
        small = self.run_python("pass")
        large = self.run_python("import time; b = b'x' * 80_000_000; time.sleep(0.3)")
        self.assertLess(small.peak_rss_bytes, 60_000_000)
        self.assertGreater(large.peak_rss_bytes, 80_000_000)
        self.assertGreater(max(large.sampled_rss_bytes), 80_000_000)
        self.assertEqual(len(ballast), 200_000_000)

    def test_processor_time_is_counted(self):
        busy = self.run_python("import time\nwhile time.process_time() < 0.3: pass")
        self.assertGreaterEqual(busy.cpu_seconds, 0.3)

    def test_unknown_program_is_a_failure(self):
        found = process.run(self.build / "bench" / "bench_launch", ["/nonexistent/program"], 5)
        self.assertRegex(found.failure(), "cannot run /nonexistent/program")


class Figures(Fixture):
    def test_figures_reach_the_report_and_runs_are_limited(self):
        self.describe(peers=[], most_runs=2, warmup=0, metric="percent", unit="%")
        self.program("garrick", line(1.0, percent=4.0, figures=[Plots.FIGURE]))
        self.assertEqual(self.run_cli("--runs", "5"), 0)
        self.assertEqual(len((self.out / "runs.jsonl").read_text().splitlines()), 2)
        self.assertEqual(json.loads((self.out / "results.json").read_text())[0]["median"], 4.0)
        self.assertEqual(
            json.loads((self.out / "figures.json").read_text())["fake"][0]["x"], "workers"
        )
        html = (self.out / "report.html").read_text()
        self.assertIn("(simulated)", html)
        self.assertIn("the paper&#x27;s", html)

    def test_lines_of_a_program_reach_the_report_as_they_are(self):
        self.describe(peers=[])
        table = {"title": "What was done", "text": "stage  busy\n<a>       1\n"}
        self.program("garrick", line(1.0, lines=table))
        self.assertEqual(self.run_cli(), 0)
        html = (self.out / "report.html").read_text()
        self.assertIn("<h3>What was done</h3><pre>stage  busy\n&lt;a&gt;       1\n</pre>", html)
        self.assertNotIn("busy", (self.out / "runs.jsonl").read_text())

    def test_a_figure_without_points_does_not_count(self):
        self.describe(peers=[])
        self.program("garrick", line(1.0, figures=[{**Plots.FIGURE, "lines": []}]))
        self.assertEqual(self.run_cli(), 1)


class Descriptions(Fixture):
    def rejected(self, expected, **changes):
        path = self.describe(**changes)
        with self.assertRaisesRegex(workload.WorkloadError, expected):
            workload.load(path, SYSTEMS, "quick", 2)

    def test_bad_descriptions_are_named(self):
        self.rejected("unknown field 'colour'", colour="red")
        self.rejected("'group' is missing", group=None)
        self.rejected("better is 'bigger'", better="bigger")
        self.rejected("not among the peers", targets=[{"speedup_over": "erlang", "at_least": 2}])
        self.rejected("either 'at_least' or 'at_most'", targets=[{"measure": "median"}])
        self.rejected("exactly 'quick' and 'full'", params={"quick": {}})

    def test_name_and_group_are_those_of_the_folders(self):
        path = self.describe("a")
        fields = json.loads(path.read_text())
        for change, expected in (
            ({"name": "fakes_a"}, None),
            ({"name": "b"}, "name is 'b'; allowed in this folder are a and fakes_a"),
            ({"group": "others"}, "group is 'others' but the folder is 'fakes'"),
        ):
            path.write_text(json.dumps({**fields, **change}))
            if expected is None:
                found = workload.load(path, SYSTEMS, "quick", 2)
                self.assertEqual([(w.name, w.program) for w in found], [("fakes_a", "fakes_a")])
            else:
                with self.assertRaisesRegex(workload.WorkloadError, expected):
                    workload.load(path, SYSTEMS, "quick", 2)

    def test_selection(self):
        self.describe("a")
        self.describe("b", group="others")
        found = workload.find_all(self.bench, "quick", 2)
        self.assertEqual([w.name for w in workload.select(found, ["others"])], ["b"])
        self.assertEqual([w.name for w in workload.select(found, ["a"])], ["a"])
        self.assertEqual(len(workload.select(found, [])), 2)
        self.assertEqual(self.run_cli("nonsense"), 2)

    def test_the_shipped_descriptions_are_valid(self):
        for mode in ("quick", "full"):
            found = workload.find_all(HERE.parent, mode, 2)
            self.assertGreater(len(found), 0)
            for w in found:
                self.assertTrue(w.contenders, f"{w.name} has no program at all")


class Plots(unittest.TestCase):
    def test_quantities_are_short(self):
        self.assertEqual(compare.quantity(64e6, "B"), "64 MB")
        self.assertEqual(compare.quantity(2.5e6, "tuples/s"), "2.5 M tuples/s")
        self.assertEqual(compare.quantity(None, "s"), "–")

    FIGURE = {
        "title": "A <figure>",
        "claim": "the paper's",
        "found": "ours",
        "x": "workers",
        "y": "s",
        "log_x": True,
        "log_y": False,
        "names": [],
        "lines": [
            {"name": "a", "points": [[1, 3.0], [64, 0.5]]},
            {"name": "b", "points": [[1, 2.0], [64, 1.0]]},
        ],
    }

    def test_a_figure_is_drawn_with_every_line_inside_its_frame(self):
        svg = figures.draw(self.FIGURE)
        self.assertEqual(svg.count("<polyline"), 2)
        self.assertIn("A &lt;figure&gt;", svg)
        at = [
            tuple(map(float, p.split(",")))
            for line in re.findall(r'points="([^"]*)"', svg)
            for p in line.split()
        ]
        self.assertEqual(len(at), 4)
        self.assertTrue(all(figures.LEFT <= x <= figures.WIDTH - figures.RIGHT for x, _ in at), at)
        self.assertTrue(all(figures.TOP <= y <= figures.HEIGHT - figures.BOTTOM for _, y in at), at)
        self.assertLess(at[1][1] - at[0][1], figures.HEIGHT)
        self.assertGreater(at[1][1], at[0][1], "a smaller value is lower")

    def test_a_bad_figure_is_named(self):
        self.assertIsNone(figures.problem_of([self.FIGURE]))
        self.assertRegex(figures.problem_of([{"title": "t"}]), "no 'claim'")
        self.assertRegex(figures.problem_of([{**self.FIGURE, "lines": []}]), "no points")
        self.assertRegex(
            figures.problem_of([{**self.FIGURE, "lines": [{"name": "a", "points": [[0, 1]]}]}]),
            "logarithmic x",
        )

    def test_an_empty_report_can_be_written(self):
        self.assertIn(
            "<html",
            page.render(
                [], {"date": "d", "processor": "p", "cores used": 2, "parameters": "quick"}
            ),
        )


if __name__ == "__main__":
    unittest.main()
