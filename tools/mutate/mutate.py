#!/usr/bin/env python3
"""mutate.py [NAME...]: plants each error of mutations.py in a copy of this tree, one at a time, and
says which test or model finds it.

    ./dev mutate                 # all of them: an hour
    ./dev mutate ring "the end"  # those whose names contain one of these texts
    ./dev mutate --by model      # those that a test finds whose name contains this
    ./dev mutate --list          # names, files and tests; builds nothing

The copy lies in build/mutate and is kept, so a second run compiles little. A mutation is found if
one of its tests fails or hangs, or if it does not compile. The exit status is 1 if one survives, if
its text is not in its file exactly once, or if a test fails without it. What is argued to be
equivalent is only looked up, not run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from mutation import mutation
from mutations import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutate"
BUILD = COPY / "build" / "test"
PATIENCE = 120  # seconds for one test; what hangs longer has found something


@dataclass
class test:
    command: list[str]
    folder: str


def target_of(name: str) -> str:
    """The program of a test, by the rules of cmake/ for names."""
    part, *rest = name.split(".")
    if rest[0] == "model":
        return f"{part}_{rest[1]}_model"
    return "garrick_tests" if part == "tests" else f"{part}_tests"


def bring_copy_up_to_date() -> None:
    """Makes the copy hold what this tree holds, and leaves files alone that have not changed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    names = {os.fsdecode(name) for name in listed.split(b"\0") if name}
    names = {name for name in names if (ROOT / name).is_file()}
    kept = COPY / "build"
    for old in COPY.rglob("*"):
        if old.is_relative_to(kept) or not (old.is_file() or old.is_symlink()):
            continue
        if str(old.relative_to(COPY)) not in names:
            old.unlink()
    for name in names:
        source, target = ROOT / name, COPY / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        os.utime(target)


def run(command: list[str], **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


def configure() -> None:
    done = run(["cmake", "--preset", "test"], cwd=COPY)
    if done.returncode != 0:
        sys.exit(done.stdout + "mutate: the copy cannot be configured")


def built_tests() -> dict[str, test]:
    """By their names in CTest, which knows commands only of programs that are there."""
    listed = run(["ctest", "--show-only=json-v1"], cwd=BUILD)
    found = {}
    for entry in json.loads(listed.stdout)["tests"]:
        command = entry.get("command")
        if not command:
            continue
        folder = next(
            (p["value"] for p in entry["properties"] if p["name"] == "WORKING_DIRECTORY"),
            str(BUILD),
        )
        found[entry["name"]] = test(command, folder)
    return found


def first_error(output: str) -> str:
    lines = output.splitlines()
    errors = [line for line in lines if "error" in line and "-Werror" not in line]
    return (errors or lines[-1:])[0]


def build(tests: tuple[str, ...] | list[str], jobs: int) -> str:
    """Empty, or what the compiler says."""
    targets = sorted({target_of(name) for name in tests})
    done = run(["cmake", "--build", str(BUILD), f"-j{jobs}", "--target", *targets])
    return "" if done.returncode == 0 else first_error(done.stdout)


def ninja(*arguments: str) -> list[str]:
    return run(["ninja", "-t", *arguments], cwd=BUILD, check=True).stdout.splitlines()


def build_model(model: test) -> str:
    """As build, for a model alone: it brings the headers that it runs, so the libraries, in which
    many files include them, can stay as they are."""
    program = str(Path(model.command[0]).relative_to(BUILD))
    own = next(name for name in ninja("inputs", program) if name.endswith(".model.cpp.o"))
    for step in (own, program):
        done = run(ninja("commands", "-s", step)[0], cwd=BUILD, shell=True)
        if done.returncode != 0:
            return first_error(done.stdout)
    return ""


def failure(t: test) -> str:
    """Empty, or how the test fails."""
    try:
        done = run(t.command, cwd=t.folder, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"hangs for {PATIENCE} s"
    if done.returncode == 0:
        return ""
    cases = [
        line[len("TEST CASE:") :].strip()
        for line in done.stdout.splitlines()
        if line.startswith("TEST CASE:")
    ]
    return cases[0] if cases else f"ends with {done.returncode}"


def plant_and_test(m: mutation, tests: dict[str, test], jobs: int) -> tuple[bool, str]:
    """Whether it was found, and by what."""
    path = COPY / m.file
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(m.old, m.new), encoding="utf-8")
    try:
        models = [name for name in m.tests if ".model." in name]
        others = [name for name in m.tests if name not in models]
        complaints = [build_model(tests[name]) for name in models]
        complaints += [build(others, jobs)] if others else []
        if any(complaints):
            return True, f"the compiler: {next(filter(None, complaints))}"
        for name in m.tests:
            how = failure(tests[name])
            # A test that fails now and then finds nothing: it has to do so twice.
            if how and (how.startswith("hangs") or failure(tests[name])):
                return True, f"{name}: {how}"
        return False, f"SURVIVES {', '.join(m.tests)}"
    finally:
        path.write_text(right, encoding="utf-8")


def misplaced(m: mutation) -> str:
    """Empty, or why the mutation cannot be planted in this tree."""
    path = ROOT / m.file
    if not path.is_file():
        return f"there is no {m.file}"
    count = path.read_text(encoding="utf-8").count(m.old)
    return "" if count == 1 else f"its text is {count} times in {m.file}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    options.add_argument("names", nargs="*", metavar="NAME", help="a part of a mutation's name")
    options.add_argument("--by", metavar="TEST", help="a part of the name of a test that finds it")
    options.add_argument("--list", action="store_true", help="only names, files and tests")
    options.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), help="of the build")
    given = options.parse_args()
    chosen = [m for m in MUTATIONS if not given.names or any(n in m.name for n in given.names)]
    if given.by is not None:
        chosen = [m for m in chosen if any(given.by in name for name in m.tests)]
    bad = [(m, why) for m in chosen if (why := misplaced(m))]
    for m, why in bad:
        print(f"{m.name}: {why}")
    if given.list:
        for m in chosen:
            print(f"{m.name}: {m.file}: {', '.join(m.tests) or 'equivalent: ' + m.equivalent}")
    if given.list or bad or not chosen:
        print(f"{len(chosen)} mutations, {len(bad)} of them cannot be planted")
        return 1 if bad or not chosen else 0

    bring_copy_up_to_date()
    configure()
    needed = sorted({name for m in chosen for name in m.tests})
    complaint = build(needed, given.jobs) if needed else ""
    if complaint:
        sys.exit(f"mutate: the tree does not compile: {complaint}")
    tests = built_tests()
    unknown = [name for name in needed if name not in tests]
    if unknown:
        sys.exit(f"mutate: no test is called {', '.join(unknown)}")
    for name in needed:
        how = failure(tests[name]) and failure(tests[name])
        if how:
            sys.exit(f"mutate: {name} fails without a mutation: {how}")

    survived = 0
    for m in chosen:
        if m.equivalent:
            print(f"{m.name}: equivalent: {m.equivalent}", flush=True)
            continue
        start = time.monotonic()
        found, by = plant_and_test(m, tests, given.jobs)
        survived += not found
        print(f"{m.name}: {by} ({time.monotonic() - start:.0f} s)", flush=True)
    equivalent = sum(bool(m.equivalent) for m in chosen)
    print(
        f"{len(chosen)} mutations: {len(chosen) - equivalent - survived} found, "
        f"{equivalent} equivalent, {survived} survived"
    )
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
