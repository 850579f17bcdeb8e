#!/usr/bin/env python3
"""skipped.py JOB BUILD: names every test that the last run of CTest in a build folder has left out.

A test is left out if CTest says so, if its text says `skipped: WHY`, or if its program has it and
does not run it (`doctest::skip`). A text of a doctest case counts for that case, not for
the others of its file. Each must stand in skipped.toml with a reason; otherwise the exit status is
1.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

ALLOWED = pathlib.Path(__file__).with_suffix(".toml")
ENTRY = re.compile(
    r'^\d+/\d+ Test: (?P<name>.*?)\nCommand: "(?P<program>[^"]*)"(?P<rest>[^\n]*)\n.*?'
    r"^Output:\n-+\n(?P<output>.*?)<end of output>\n",
    re.M | re.S,
)


# The line of doctest in front of the messages of a case.
BLOCK = re.compile(r"^={20,}$", re.M)
CASE = re.compile(r"^TEST CASE:  (?P<name>.+)$", re.M)
REASON = re.compile(r"skipped: +(.+)")


def reasons_in(output: str, test: str) -> dict[str, list[str]]:
    """The skipped ones in this output, with the reasons: cases of doctest, or else the test."""
    found: dict[str, list[str]] = {}
    for block in BLOCK.split(output):
        case = CASE.search(block)
        for reason in REASON.finditer(block):
            inside = case is not None and case.start() < reason.start()
            name = case["name"] if inside else test
            found.setdefault(name, []).append(reason[1])
    return found


def of_log(log: str) -> tuple[dict[str, str], set[str]]:
    """The reasons of tests and test cases; and the programs with doctest's cases."""
    said: dict[str, str] = {}
    programs: set[str] = set()
    for e in ENTRY.finditer(log):
        for name, reasons in reasons_in(e["output"], e["name"]).items():
            said[name] = "; ".join(dict.fromkeys(reasons))
        if "--source-file=" in e["rest"]:
            programs.add(e["program"])
    return said, programs


def cases(program: str, *options: str) -> list[str]:
    listed = subprocess.run([program, "--list-test-cases", "--no-colors=true", *options],
                            capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if not line.startswith(("[doctest]", "====="))]


def decorated(program: str) -> list[str]:
    """The test cases that the program does not run unless it is asked to."""
    running = set(cases(program))
    return [case for case in cases(program, "--no-skip=true") if case not in running]


def main() -> int:
    job, build = sys.argv[1], pathlib.Path(sys.argv[2])
    results = build / "Testing/Temporary"
    skipped, programs = of_log((results / "LastTest.log").read_text(errors="replace"))
    not_run = results / "LastTestsDisabled.log"  # NUMBER:NAME, if there are any
    for line in not_run.read_text().splitlines() if not_run.exists() else []:
        skipped.setdefault(line.partition(":")[2], "no reason given")
    for program in sorted(programs):
        for case in decorated(program):
            skipped[case] = "doctest::skip"
    reasons = {
        test: allowed["reason"]
        for allowed in tomllib.loads(ALLOWED.read_text())["allowed"]
        if job in allowed.get("jobs", [job])
        for test in allowed["tests"]
    }
    unknown = 0
    for test, why in sorted(skipped.items()):
        if test in reasons:
            print(f"skipped: {test}: {reasons[test]}")
        else:
            unknown += 1
            print(f"error: '{test}' was skipped ({why}), and {ALLOWED.name} has no reason for it")
    print(f"{len(skipped)} tests skipped, {unknown} of them without a reason")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
