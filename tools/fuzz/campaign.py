#!/usr/bin/env python3
"""Runs fuzzers for so many minutes of processor time each, keeps the inputs that they have found,
and writes a line about each into the log.

    tools/fuzz/campaign.py MINUTES [NAME…]      (after `./dev fuzz 1`, which builds them)

A fuzzer begins with its folder of first inputs, x.fuzz, and with corpora/x.tar.gz, the inputs of
earlier campaigns. Afterwards the inputs that reach something new are packed into that archive
again: so few as will do, and none above 4 kB. Exit status 1: something was found; the input lies
in build/fuzz, and the log says so.
"""

import argparse
import datetime
import gzip
import io
import os
import pathlib
import re
import resource
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUZZERS = ROOT / "build/asan/fuzz"
BUILD = ROOT / "build/fuzz"
LOG = ROOT / "docs/fuzzing.md"
ROUND = 60  # seconds; processor time is looked at after each
LARGEST = 4096  # bytes of an input that is kept
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1"}


def sources(name: str) -> pathlib.Path:
    """The folder of first inputs of fuzz_PART_UNIT."""
    listed = FUZZERS / f"{name}.seeds"
    if listed.exists():
        return pathlib.Path(listed.read_text().strip())
    _, part, unit = name.split("_", 2)
    found = list((ROOT / "lib" / part).rglob(f"{unit}.fuzz.cpp"))
    if len(found) != 1:
        sys.exit(f"{name}: no {unit}.fuzz.cpp in lib/{part}")
    return found[0].with_suffix("")


def archive_of(name: str) -> pathlib.Path:
    first = sources(name)
    return first.parent / "corpora" / f"{first.stem}.tar.gz"


def unpack(name: str) -> pathlib.Path:
    """Unpacks the inputs from which the fuzzer goes on, in build/fuzz/corpus."""
    corpus = BUILD / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    archive = archive_of(name)
    if archive.exists():
        with tarfile.open(archive) as packed:
            packed.extractall(corpus, filter="data")
    return corpus


def used() -> float:
    """Seconds of processor time of all that was run and has ended."""
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def fuzz(name: str, minutes: float) -> tuple[float, int, str, list[str]]:
    """Minutes used, inputs tried, the last line of a round, inputs that were found."""
    corpus = unpack(name)
    first = sources(name)
    command = [FUZZERS / name, f"-max_total_time={ROUND}", "-timeout=10",
               "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={BUILD}/{name}-",
               corpus]
    command += [first] if first.is_dir() else []
    start, tried, state, found = used(), 0, "", []
    while used() - start < minutes * 60:
        ran = subprocess.run(command, env=ENVIRONMENT, text=True, errors="replace",
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        tried += sum(map(int, re.findall(r"number_of_executed_units: (\d+)", ran.stdout)))
        states = re.findall(r"cov: (\d+) ft: (\d+)", ran.stdout)
        state = f"{states[-1][0]} | {states[-1][1]}" if states else state
        if ran.returncode != 0:
            (BUILD / f"{name}.log").write_text(ran.stdout)
            found += re.findall(r"Test unit written to (\S+)", ran.stdout) or ["?"]
            break
    return (used() - start) / 60, tried, state, found


def keep(name: str) -> int:
    """Packs the inputs that are worth it; says how many."""
    small = BUILD / "merged" / name
    subprocess.run(["rm", "-rf", small], check=True)
    small.mkdir(parents=True)
    subprocess.run([FUZZERS / name, "-merge=1", "-timeout=10", f"-max_len={LARGEST}", small,
                    BUILD / "corpus" / name], env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    files = sorted(f for f in small.iterdir() if f.stat().st_size <= LARGEST)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for f in files:
            entry = tarfile.TarInfo(f.name)  # no times, no owners: the same inputs, the same bytes
            entry.size = f.stat().st_size
            archive.addfile(entry, io.BytesIO(f.read_bytes()))
    archive_of(name).parent.mkdir(exist_ok=True)
    archive_of(name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return len(files)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("minutes", type=float, help="processor time of each fuzzer")
    p.add_argument("names", nargs="*", help="fuzz_net_frame …; all, if none is named")
    a = p.parse_args()
    built = sorted(f.name for f in FUZZERS.glob("fuzz_*") if os.access(f, os.X_OK))
    built = [b for b in built if (FUZZERS / b).is_file() and not b.endswith(".seeds")]
    unknown = set(a.names) - set(built)
    if unknown or not built:
        sys.exit(f"not built: {', '.join(sorted(unknown)) or 'any fuzzer'}; run ./dev fuzz 1 first")
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True,
                            capture_output=True, check=True).stdout.strip()
    failed = 0
    for name in a.names or built:
        minutes, tried, state, found = fuzz(name, a.minutes)
        kept = keep(name) if not found else 0
        failed += bool(found)
        what = ", ".join(pathlib.Path(f).name for f in found) or "nothing"
        line = (f"| {datetime.date.today()} | `{commit}` | `{name}` | {minutes:.1f} | {tried:,} |"
                f" {state} | {kept} | {what} |")
        print(line, flush=True)
        with LOG.open("a") as log:
            log.write(line + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
