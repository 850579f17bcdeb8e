#!/usr/bin/env python3
"""mutate.py [NAME...]: plants each error of mutations.py in a copy of this tree, one at a time, and
says which test or model finds it.

    ./dev mutate                 # all of them: half an hour or more on two cores
    ./dev mutate ring "the end"  # those with one of these texts in their names
    ./dev mutate --by model      # those that a test with this in its name finds
    ./dev mutate --list          # names, files and tests; builds nothing

The copy lies in build/mutate and is kept, so a second run compiles little. A mutation is found if
one of its tests fails or hangs, or if it does not compile. The exit status is 1 if one survives, if
its text is not in its file exactly once, or if a test fails without it. Errors argued to be
equivalent are only looked up, not run.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mutation import is_model, misplaced, mutation
from mutations import MUTATIONS
from programs import programs, run

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutate"
BUILD = COPY / "build" / "test"


def bring_copy_up_to_date() -> None:
    """Makes the copy equal to this tree, and leaves files alone that have not changed."""
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


def configure() -> None:
    done = run(["cmake", "--preset", "test", "-DGARRICK_UNITY=OFF"], cwd=COPY)
    if done.returncode != 0:
        sys.exit(done.stdout + "mutate: the copy cannot be configured")


def plant_and_test(m: mutation, built: programs) -> tuple[bool, str]:
    """Whether it was found, and by which test."""
    path = COPY / m.file
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(m.old, m.new), encoding="utf-8")
    try:
        # One program after the other: the next one is not built if this one finds it.
        for tests in built.by_program(m.tests):
            complaint = built.build(tests, also_libraries=not all(map(is_model, m.tests)))
            if complaint:
                return True, f"the compiler: {complaint}"
            for name in tests:
                how = built.failure(name)
                # A test that fails now and then finds nothing: it has to do so twice.
                if how and (how.startswith("hangs") or built.failure(name)):
                    return True, f"{name}: {how}"
        return False, f"SURVIVES {', '.join(m.tests)}"
    finally:
        path.write_text(right, encoding="utf-8")


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
    bad = [(m, why) for m in chosen if (why := misplaced(m, ROOT))]
    for m, why in bad:
        print(f"{m.name}: {why}")
    if given.list:
        for m in chosen:
            print(f"{m.name}: {m.file}: {', '.join(m.tests) or 'equivalent: ' + m.equivalent}")
    if given.list or bad or not chosen:
        print(f"{len(chosen)} mutations, {len(bad)} of them cannot be planted")
        return 1 if bad or not chosen else 0

    # Models come first: for them the libraries are not rebuilt. Then by file: one is compiled for
    # each, and not the one before it, too.
    chosen.sort(key=lambda m: (not all(map(is_model, m.tests)), m.file))
    bring_copy_up_to_date()
    configure()
    built = programs(BUILD, given.jobs)
    needed = sorted({name for m in chosen for name in m.tests})
    unknown = [name for name in needed if not built.knows(name)]
    if unknown:
        sys.exit(f"mutate: no test is called {', '.join(unknown)}")
    complaint = built.build(needed, also_libraries=True)
    if complaint:
        sys.exit(f"mutate: the tree does not compile: {complaint}")
    for name in needed:
        start = time.monotonic()
        how = built.failure(name) and built.failure(name)
        if how:
            sys.exit(f"mutate: {name} fails without a mutation: {how}")
        built.took(name, time.monotonic() - start)

    survived = 0
    for m in chosen:
        if m.equivalent:
            print(f"{m.name}: equivalent: {m.equivalent}", flush=True)
            continue
        start = time.monotonic()
        found, by = plant_and_test(m, built)
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
