#!/usr/bin/env python3
"""Measures ours and its peers in turn on the same work, and writes a table, plots and a file for
programs to read.

See bench/README.md. Exit status: 0 if all that was measured was also correct, 1 if a program failed
or gave a wrong result (or, with --strict, if a target was missed or not measured), 2 if the command
line or a workload's description is wrong.
"""

import argparse
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import compare, environment, export, measure, page, table, workload  # noqa: E402


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Benchmarks against peers; writes build/bench/report.html."
    )
    parser.add_argument("names", nargs="*", help="groups or workloads (default: all)")
    parser.add_argument(
        "--full", action="store_true", help="the papers' parameters instead of the quick ones"
    )
    parser.add_argument(
        "--runs",
        type=int,
        help="counted runs of each program (default 5, or the number of a workload)",
    )
    parser.add_argument(
        "--export",
        action="store_true",
        help="pack the programs for a machine without a compiler into OUT/export, then stop",
    )
    parser.add_argument(
        "--list", action="store_true", help="name, group, parameters and peers, then stop"
    )
    parser.add_argument("--strict", action="store_true", help="a missed target is an error too")
    parser.add_argument(
        "--build",
        type=pathlib.Path,
        default=HERE.parent / "build" / "release",
        help="where bench_all was built",
    )
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=HERE.parent / "build" / "bench",
        help="where the results go",
    )
    parser.add_argument("--workloads", type=pathlib.Path, default=HERE, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.runs is not None and args.runs < 1:
        parser.error("--runs must be at least 1")
    return args


def print_list(workloads):
    for w in workloads:
        params = " ".join(f"{k}={v}" for k, v in w.params.items())
        systems = ", ".join(dict.fromkeys(c.system for c in w.contenders))
        absent = f" (no program yet: {', '.join(w.absent)})" if w.absent else ""
        print(f"{w.name:18} {w.group:8} {params:44} {systems}{absent}")


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure_all(chosen, tools, runs, samples_path):
    reports = []
    with samples_path.open("w") as samples:
        for w in chosen:
            start = time.monotonic()
            series = measure.measure(
                w, tools, runs, progress, lambda entry: samples.write(json.dumps(entry) + "\n")
            )
            progress("")
            report = compare.report_on(w, series)
            reports.append(report)
            print(
                f"{w.name}: {time.monotonic() - start:.0f} s {table.verdict(report)}".rstrip(),
                file=sys.stderr,
                flush=True,
            )
    return reports


def write_results(out, reports, env):
    records = [record for report in reports for record in report.records]
    (out / "results.json").write_text(json.dumps(records, indent=1) + "\n")
    (out / "environment.json").write_text(json.dumps(env, indent=1) + "\n")
    comparisons = [
        {"workload": report.workload.name, **vars(comparison)}
        for report in reports
        for comparison in report.comparisons
    ]
    (out / "comparisons.json").write_text(json.dumps(comparisons, indent=1) + "\n")
    drawn = {report.workload.name: report.figures for report in reports if report.figures}
    (out / "figures.json").write_text(json.dumps(drawn, indent=1) + "\n")
    (out / "report.html").write_text(page.render(reports, env))


def main(argv=None):
    args = parse(argv)
    try:
        status = run(args)
        sys.stdout.flush()
        return status
    except OSError as error:
        print(
            f"bench: a result cannot be written: {error}; the report is incomplete", file=sys.stderr
        )
        # # The rest of the buffer would be tried again at the end, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def run(args):
    mode = "full" if args.full else "quick"
    try:
        chosen = workload.select(
            workload.find_all(args.workloads, mode, environment.usable_cores()), args.names
        )
    except workload.WorkloadError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    if args.list:
        print_list(chosen)
        return 0
    chosen = export.those_that_can_be_built(chosen, args.build)
    try:
        if args.export:
            print(export.pack(chosen, args.build, args.workloads, args.out / "export"))
            return 0
        tools = measure.Tools(args.build)
    except OSError as error:
        print(f"bench: {error}; build the target bench_all in {args.build} first", file=sys.stderr)
        return 2
    args.out.mkdir(parents=True, exist_ok=True)
    env = environment.gather(tools, HERE.parent, mode, args.runs)
    reports = measure_all(chosen, tools, args.runs, args.out / "runs.jsonl")
    write_results(args.out, reports, env)
    print(table.render(reports))
    print(f"report: {args.out / 'report.html'}")
    wrong = any(report.failures for report in reports)
    missed = any(not t.passed for report in reports for t in report.targets)
    return 1 if wrong or (args.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
