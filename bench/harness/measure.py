"""Measures one workload: warm-up, then rounds in which every contender runs once, so that all meet
the same machine.
"""

import json
import re
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field

from . import figures, process
from .workload import DETAIL

ORIENTATION_EVERY = 5


@dataclass
class Sample:
    value: float
    percentiles: dict
    wall_seconds: float
    cpu_seconds: float
    peak_rss_bytes: int
    sampled_peak_rss_bytes: int
    details: dict = field(default_factory=dict)
    figures: list = field(default_factory=list, repr=False)
    lines: dict = field(default=None, repr=False)  # a title and a text, as it is


@dataclass
class Series:
    """All counted runs of one contender."""

    contender: object
    samples: list = field(default_factory=list)
    failure: str = None

    @property
    def values(self):
        return [s.value for s in self.samples]


class RunError(Exception):
    """This run does not count."""


class Tools:
    """Where the programs are, and how the compiler is called: CMake writes it to toolchain.json."""

    def __init__(self, build_dir):
        self.build_dir = build_dir
        self.launcher = build_dir / "bench" / "bench_launch"
        self.toolchain = json.loads((build_dir / "bench" / "toolchain.json").read_text())

    def program(self, workload, system):
        folder = "minimal/bench" if workload.kind == "size" else "bench"
        return self.build_dir / folder / f"bench_{workload.program}_{system}"


def rounds_of(workload, wanted):
    """How many rounds count: as on the command line, or else as in the description."""
    rounds = wanted or workload.rounds
    return min(rounds, workload.most_runs or rounds)


def takes_part(contender, number):
    """A contender for orientation runs in every fifth counted round, beginning with the first."""
    return not contender.orientation or (number >= 0 and number % ORIENTATION_EVERY == 0)


def measure(workload, tools, wanted, log=lambda text: None, record=lambda entry: None):
    series = [Series(c) for c in workload.contenders]
    runs = rounds_of(workload, wanted)
    for number in range(-workload.warmup, runs):
        for s in series:
            if s.failure or not takes_part(s.contender, number):
                continue
            label = "warm-up" if number < 0 else f"run {number + 1}/{runs}"
            log(f"{workload.name}: {s.contender.system} ({s.contender.variant}), {label}")
            try:
                sample = run_once(workload, s.contender, tools, first=number == -workload.warmup)
            except RunError as error:
                s.failure = str(error)
                continue
            if number >= 0:
                s.samples.append(sample)
                entry = {k: v for k, v in sample.__dict__.items() if k not in ("figures", "lines")}
                record(
                    {
                        "workload": workload.name,
                        "system": s.contender.system,
                        "variant": s.contender.variant,
                        "round": number + 1,
                        **entry,
                    }
                )
    return series


def run_once(workload, contender, tools, first):
    return {"run": run_program, "compile": run_compiler, "size": weigh_program}[workload.kind](
        workload, contender, tools, first
    )


def launch(tools, command, timeout_s):
    outcome = process.run(tools.launcher, command, timeout_s)
    if outcome.failure():
        raise RunError(outcome.failure())
    return outcome


def sample_of(value, outcome, percentiles=None, details=None):
    return Sample(
        value,
        percentiles or {},
        outcome.wall_seconds,
        outcome.cpu_seconds,
        outcome.peak_rss_bytes,
        max(outcome.sampled_rss_bytes, default=0),
        details or {},
    )


def run_program(workload, contender, tools, _first):
    program = tools.program(workload, contender.system)
    if not program.exists():
        raise RunError(f"{program} was not built")
    command = [program]
    for name, value in {**workload.params, **contender.settings}.items():
        command += [f"--{name}", value]
    outcome = launch(tools, command, workload.timeout_s)
    line = last_json_line(outcome.stdout)
    if line.get("check") != "ok":
        raise RunError(f"wrong result: {line.get('check')}")
    sample = sample_of(
        value_of(workload.metric, line), outcome, line.get("latencies"), line.get("details")
    )
    sample.lines = line.get("lines")
    sample.figures = line.get("figures", [])
    if problem := figures.problem_of(sample.figures):
        raise RunError(problem)
    return sample


def last_json_line(text):
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except ValueError as error:
                raise RunError(f"printed a line that is not JSON: {error}") from error
    raise RunError("printed no line of JSON")


def value_of(metric, line):
    try:
        if metric == "seconds":
            return line["seconds"]
        if metric == "ns_per_item":
            return line["seconds"] * 1e9 / line["items"]
        if metric == "items_per_second":
            return line["items"] / line["seconds"]
        if metric == "bytes_per_item":
            return line["rss_bytes"] / line["items"]
        if metric == "cpu_percent":
            return 100 * line["cpu_seconds"] / line["seconds"]
        if metric == "percent":
            return line["percent"]
        if metric == "latency":
            return line["latencies"]["p50"]
        if metric == "latency_mean":
            return line["latencies"]["mean"]
    except (KeyError, ZeroDivisionError) as error:
        raise RunError(f"the line of JSON has no usable field for {metric}: {error!r}") from error
    raise RunError(f"metric {metric} does not come from a run")


def expect_output(workload, program, tools):
    if not program.exists():
        raise RunError(f"{program} was not built")
    outcome = launch(tools, [program], workload.timeout_s)
    if workload.expect and not re.search(workload.expect, outcome.stdout):
        raise RunError(f"wrong result: expected {workload.expect!r} in {outcome.stdout[:200]!r}")
    return outcome


def run_compiler(workload, contender, tools, first):
    if first:
        expect_output(workload, tools.program(workload, contender.system), tools)
    settings = tools.toolchain["systems"].get(contender.system)
    if settings is None:
        raise RunError(f"toolchain.json has no compiler settings for {contender.system}")
    with tempfile.TemporaryDirectory() as folder:
        command = [
            tools.toolchain["compiler"],
            *settings["flags"],
            "-c",
            contender.source,
            "-o",
            f"{folder}/object.o",
        ]
        outcome = launch(tools, command, workload.timeout_s)
    return sample_of(outcome.wall_seconds, outcome)


def weigh_program(workload, contender, tools, _first):
    program = tools.program(workload, contender.system)
    with tempfile.TemporaryDirectory() as folder:
        stripped = f"{folder}/{program.name}"
        if not program.exists():
            raise RunError(f"{program} was not built")
        shutil.copy(program, stripped)
        subprocess.run([tools.toolchain["strip"], stripped], check=True)
        outcome = expect_output(workload, type(program)(stripped), tools)
        size = type(program)(stripped).stat().st_size
    return sample_of(size, outcome)


def record_of(workload, series):
    """One entry of results.json; all fields but `details` are fixed by the specification."""
    values = series.values
    good = bool(values)

    def middle(name):
        found = [s.percentiles[name] for s in series.samples if name in s.percentiles]
        return statistics.median(found) if found else None

    names = dict.fromkeys(name for s in series.samples for name in s.details)
    details = {
        name: statistics.median(s.details[name] for s in series.samples if name in s.details)
        for name in names
    }
    return {
        "workload": workload.name,
        "group": workload.group,
        "params": dict(workload.params),
        "unit": workload.unit,
        "better": workload.better,
        "system": series.contender.system,
        "median": statistics.median(values) if good else None,
        "min": min(values) if good else None,
        "max": max(values) if good else None,
        "p50": middle("p50"),
        "p99": middle("p99"),
        "p999": middle("p999"),
        "runs": len(values),
        "peak_rss_bytes": max(s.peak_rss_bytes for s in series.samples) if good else None,
        "cpu_seconds": statistics.median(s.cpu_seconds for s in series.samples) if good else None,
        "variant": series.contender.variant,
        "checked": series.failure is None and good,
        "details": details,
    }


def figure_of(record, measure):
    """A measure of a record by its name in a target or a curve: a field, or `details.NAME`.
    None if there is none.
    """
    if measure.startswith(DETAIL):
        return record["details"].get(measure[len(DETAIL) :])
    return record[measure]
