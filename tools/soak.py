#!/usr/bin/env python3
"""soak.py BUILD MINUTES [--share PART] [-j JOBS] [-R REGEX]: runs the tests of a build folder in
their long modes for about this part of so many minutes, and watches their memory.

The label of a test tells how it is lengthened (cmake/garrick_test.cmake, garrick_soak):
    soak_seeds    an exploration: GARRICK_SEEDS, from the 200 of a short run on
    soak_torture  a torture test or a model: GARRICK_TORTURE, from 1 on
    soak_repeat   anything else with threads or clocks: it is run again and again
Each test has its share of the time, of which explorations and torture have eight times as much as
others. It runs as in a short run, then four times as long, and so on while its share lasts; with
the label soak_at_least_N, up to N seeds or rounds also if that takes longer. A test that needs
more memory the longer it runs has failed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

VARIABLES = {"soak_seeds": ("GARRICK_SEEDS", 200), "soak_torture": ("GARRICK_TORTURE", 1)}
WEIGHT = {"soak_seeds": 8, "soak_torture": 8, "soak_repeat": 1}
STEP, MOST = 4, 4**12
# Memory that a longer run may need beyond a short one: buffers that grow to their size.
ALLOWED_FACTOR, ALLOWED_MIB = 1.25, 16
SILENT_SECONDS = 600  # a run that lasts this long beyond its share hangs


@dataclass
class test:
    name: str
    command: list[str]
    folder: str
    environment: dict[str, str]
    kind: str
    least: int  # seeds or rounds, regardless of its share of the time


@dataclass
class verdict:
    """The result of one test."""

    runs: int = 0
    most: int = 1  # times as long as in a short run
    mib: list[float] = field(default_factory=list)
    wrong: str = ""
    output: str = ""
    slopes: list[str] = field(default_factory=list)  # the last run's text about its memory


def tests_of(build: str, regex: str) -> list[test]:
    """The tests that have a label of ours."""
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found = []
    for entry in json.loads(listing)["tests"]:
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        kinds = [label for label in properties.get("LABELS", []) if label.startswith("soak_")]
        if kinds and "command" in entry and re.search(regex, entry["name"]):
            environment = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
            folder = properties.get("WORKING_DIRECTORY", build)
            least = [int(k.rsplit("_", 1)[1]) for k in kinds if k.startswith("soak_at_least_")]
            kind = next(k for k in kinds if not k.startswith("soak_at_least_"))
            found.append(
                test(
                    entry["name"],
                    entry["command"],
                    folder,
                    environment,
                    kind,
                    max(least, default=0),
                )
            )
    return found


def run(one: test, factor: int, most_seconds: float) -> tuple[int, float, str]:
    """The status of one run, its largest resident memory in MiB, and the end of its output."""
    environment = {**os.environ, **one.environment}
    environment.pop("TEST_ALARM", None)  # it is for runs of the usual length
    if one.kind in VARIABLES:
        name, unit = VARIABLES[one.kind]
        environment[name] = str(unit * factor)
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        child = subprocess.Popen(
            one.command,
            cwd=one.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        killer = threading.Timer(most_seconds, child.kill)
        killer.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
        output.seek(0)
        text = output.read()[-6000:]
    return child.returncode, usage.ru_maxrss / 1024, text


def soak(one: test, seconds: float) -> verdict:
    """Runs a test until its share of the time is over, or it fails."""
    result = verdict()
    end = time.monotonic() + seconds
    factor = 1
    most_seconds = seconds
    least = -(-one.least // VARIABLES[one.kind][1]) if one.least else 1
    while True:
        before = time.monotonic()
        status, mib, text = run(one, factor, most_seconds + SILENT_SECONDS)
        result.slopes = re.findall(r"^slope: .*", text, re.M)
        took = time.monotonic() - before
        result.runs += 1
        result.most = factor
        result.mib.append(mib)
        if status != 0:
            result.wrong = f"status {status} {describe(one, factor)}"
            result.output = text
            return result
        if mib > result.mib[0] * ALLOWED_FACTOR + ALLOWED_MIB:
            result.wrong = (
                f"{mib:.0f} MiB {describe(one, factor)}, {result.mib[0]:.0f} in a short run"
            )
            return result
        longer = STEP if one.kind in VARIABLES else 1
        if before + took + longer * took <= end:
            factor = min(factor * longer, MOST)
        elif factor < least:
            most_seconds = max(seconds, 2 * took * least / factor)
            factor = least
        else:
            return result


def describe(one: test, factor: int) -> str:
    if one.kind not in VARIABLES:
        return "in a repetition"
    name, unit = VARIABLES[one.kind]
    return f"with {name}={unit * factor}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--share", type=float, default=1, metavar="PART")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="JOBS")
    parser.add_argument("-R", default="", metavar="REGEX")
    options = parser.parse_args()
    tests = tests_of(options.build, options.R)
    if not tests:
        print("soak: no test has a label soak_… and matches")
        return 1
    weights = sum(WEIGHT[one.kind] for one in tests)
    unit = options.minutes * options.share * 60 * options.j / weights
    failed = []

    def go(one: test) -> None:
        result = soak(one, unit * WEIGHT[one.kind])
        how = f"{result.runs} runs, up to {result.most} times as long"
        if one.kind not in VARIABLES:
            how = f"{result.runs} times"
        end = result.wrong and f"FAILED: {result.wrong}"
        line = f"{one.name:44} {how:32} {max(result.mib):6.0f} MiB  {end}".rstrip()
        print("\n".join(filter(None, (line, *result.slopes, result.output))), flush=True)
        if result.wrong:
            failed.append(one.name)

    with ThreadPoolExecutor(options.j) as pool:
        list(pool.map(go, sorted(tests, key=lambda one: -WEIGHT[one.kind])))
    print("".join(f"failed: {name}\n" for name in sorted(failed)), end="")
    print(f"{len(tests) - len(failed)} passed, {len(failed)} failed (long modes)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
