"""Workloads: reads and checks bench/<group>/<workload>/workload.json. Nothing here knows any
workload by name.
"""

import json
import math
import pathlib
import re
from dataclasses import dataclass, field

KINDS = ("run", "compile", "size")
METRICS = (
    "seconds",
    "ns_per_item",
    "items_per_second",
    "bytes_per_item",
    "cpu_percent",
    "percent",
    "latency",
    "latency_mean",
    "file_bytes",
)
OURS = "garrick"
FIELDS = {
    "name",
    "what",
    "group",
    "kind",
    "params",
    "metric",
    "unit",
    "better",
    "peers",
    "ours",
    "targets",
    "variants",
    "use_variants",
    "expect",
    "timeout_s",
    "warmup",
    "most_runs",
    "rounds",
    "yardsticks",
    "orientation",
    "on_request",
    "curves",
}
MEASURES = ("median", "p50", "p99", "p999", "peak_rss_bytes", "cpu_seconds")
ROUNDS = 5  # counted rounds where the description does not ask for more
DETAIL = "details."  # a figure of its own that the programs of a workload print
PUBLISHED = {
    "title",
    "program",
    "where",
    "measure",
    "claim",
    "source",
    "factor",
    "x",
    "y",
    "lines",
}


class WorkloadError(Exception):
    """A workload.json that cannot be used: the message names the file and the fault."""


@dataclass
class Contender:
    """One program with one set of settings."""

    system: str
    variant: str
    settings: dict
    source: pathlib.Path
    orientation: bool = False  # runs in some rounds only, and nothing is judged by it


@dataclass
class Workload:
    name: str
    what: str
    group: str
    kind: str
    params: dict
    metric: str
    unit: str
    better: str
    contenders: list
    targets: list
    program: str  # the common part of its programs' names: bench_<program>_<system>
    expect: str = None
    timeout_s: float = 120
    warmup: int = 1
    most_runs: int = None  # where more would show nothing new
    rounds: int = ROUNDS  # counted ones, unless the command line says how many
    yardsticks: list = field(default_factory=list)  # systems that run beside, but are not peers
    on_request: bool = False  # only run if its name or group is asked for
    curves: list = field(default_factory=list)
    published: list = field(default_factory=list)  # published values, by the curve they belong to
    absent: list = field(default_factory=list)  # systems that are named but have no source


def find_all(bench_dir, mode, cores):
    """All workloads below bench_dir in order of group and name. `mode` is "quick" or "full"."""
    bench_dir = pathlib.Path(bench_dir)
    systems = json.loads((bench_dir / "common" / "systems.json").read_text())
    found = [
        w
        for path in sorted(bench_dir.glob("*/*/workload.json"))
        for w in load(path, systems, mode, cores)
    ]
    names = [w.name for w in found]
    for name in names:
        if names.count(name) > 1:
            raise WorkloadError(f"two workloads are called {name}")
    return sorted(found, key=lambda w: (w.group, w.name))


def load(path, systems, mode, cores):
    """The workload that the file describes, or those under "cases": each changes some fields."""

    def fail(what):
        raise WorkloadError(f"{path}: {what}")

    try:
        raw = json.loads(path.read_text())
    except ValueError as error:
        fail(f"not JSON: {error}")
    folder, group = path.parent.name, path.parent.parent.name
    if raw.get("name") not in (folder, f"{group}_{folder}"):
        fail(
            f"name is {raw.get('name')!r}; allowed in this folder are {folder} and {group}_{folder}"
        )
    if raw.get("group", group) != group:
        fail(f"group is {raw['group']!r} but the folder is {group!r}")
    program = raw["name"]
    published = published_for(program, path.parent.parent / "published.json")
    cases = raw.pop("cases", {raw["name"]: {}})
    shared = raw.get("params", {})
    found = []
    for name, changes in cases.items():
        params = {
            mode: {**shared.get(mode, {}), **changes.get("params", {}).get(mode, {})}
            for mode in [*shared, *changes.get("params", {})]
        }
        found.append(
            describe(
                path,
                {**raw, **changes, "name": name, "params": params},
                program,
                systems,
                mode,
                cores,
                fail,
            )
        )
        found[-1].published = published
    return found


def published_for(program, path):
    """The group's published.json for this program: lines that are drawn beside ours."""
    if not path.exists():
        return []
    try:
        entries = json.loads(path.read_text())
    except ValueError as error:
        raise WorkloadError(f"{path}: not JSON: {error}") from error
    for entry in entries:
        if set(entry) != PUBLISHED:
            odd = ", ".join(sorted(set(entry) ^ PUBLISHED))
            raise WorkloadError(f"{path}: {entry.get('title')!r} lacks, or has besides: {odd}")
        points = [p for line in entry["lines"] for p in line["points"]]
        if not points or not all(math.isfinite(x) and y * entry["factor"] > 0 for x, y in points):
            raise WorkloadError(f"{path}: {entry['title']!r} needs points with values above 0")
    return [entry for entry in entries if entry["program"] == program]


def points_pattern(points):
    """Which details are points of a curve: `*` stands for the line's name, `#` for x."""
    return re.compile(
        re.escape(points).replace(r"\*", "(?P<line>.+)").replace(r"\#", r"(?P<x>\d+)") + r"\Z"
    )


def describe(path, raw, program, systems, mode, cores, fail):
    for name in raw:
        if name not in FIELDS:
            fail(f"unknown field {name!r}")
    for name in ("name", "what", "group", "kind", "params", "metric", "unit", "better"):
        if name not in raw:
            fail(f"field {name!r} is missing")
    for name, allowed in (("kind", KINDS), ("metric", METRICS), ("better", ("lower", "higher"))):
        if raw[name] not in allowed:
            fail(f"{name} is {raw[name]!r}; allowed are {', '.join(allowed)}")
    if set(raw["params"]) != {"quick", "full"}:
        fail("params needs exactly 'quick' and 'full'")
    if raw["kind"] == "compile" and "expect" not in raw:
        fail("kind 'compile' needs 'expect': a program that does not work must not count")

    if not isinstance(raw.get("rounds", ROUNDS), int) or raw.get("rounds", ROUNDS) < 1:
        fail(f"rounds is {raw['rounds']!r}; allowed are whole numbers from 1")
    contenders, absent = [], []
    for system in raw.get("ours", [OURS]) + raw.get("peers", []) + raw.get("yardsticks", []):
        source = path.parent / f"{system}.cpp"
        if not source.exists():
            absent.append(system)
            continue
        for variant, settings in variants_of(system, raw, systems, fail).items():
            filled = {k: cores if v == "{cores}" else v for k, v in settings.items()}
            seldom = variant in raw.get("orientation", {}).get(system, [])
            contenders.append(Contender(system, variant, filled, source, seldom))
    check_orientation(raw, contenders, absent, fail)
    targets = raw.get("targets", [])
    for target in targets:
        check_target(target, raw, fail)
    for curve in raw.get("curves", []):
        check_curve(curve, fail)
    return Workload(
        name=raw["name"],
        what=raw["what"],
        group=raw["group"],
        kind=raw["kind"],
        params=raw["params"][mode],
        metric=raw["metric"],
        unit=raw["unit"],
        better=raw["better"],
        contenders=contenders,
        targets=targets,
        program=program,
        expect=raw.get("expect"),
        timeout_s=raw.get("timeout_s", 120),
        warmup=raw.get("warmup", 1),
        most_runs=raw.get("most_runs"),
        rounds=raw.get("rounds", ROUNDS),
        yardsticks=raw.get("yardsticks", []),
        absent=absent,
        on_request=raw.get("on_request", False),
        curves=raw.get("curves", []),
    )


def check_curve(curve, fail):
    if "points" in curve:
        points = curve["points"]
        if set(curve) != {"x", "by", "points"}:
            fail(f"curve {curve} needs exactly 'x', 'by' and 'points', or 'lines' instead")
        if not points.startswith(DETAIL) or points.count("*") != 1 or points.count("#") != 1:
            fail(f"curve draws {points!r}; {DETAIL}NAME needs a * for the line and a # for x")
        return
    if set(curve) != {"x", "by", "lines"}:
        fail(f"curve {curve} needs exactly 'x', 'by' and 'lines'")
    if any(line not in MEASURES and not line.startswith(DETAIL) for line in curve["lines"]):
        fail(f"curve draws {curve['lines']}; allowed are {', '.join(MEASURES)} and {DETAIL}NAME")


def variants_of(system, raw, systems, fail):
    if raw["kind"] != "run":
        return {"default": {}}
    if system in raw.get("variants", {}):
        return raw["variants"][system]
    if system not in systems:
        fail(f"unknown system {system!r}: common/systems.json lists {', '.join(systems)}")
    chosen = raw.get("use_variants", {}).get(system, list(systems[system]))
    for name in chosen:
        if name not in systems[system]:
            fail(f"{system} has no variant {name!r}")
    return {name: systems[system][name] for name in chosen}


def check_orientation(raw, contenders, absent, fail):
    for system, variants in raw.get("orientation", {}).items():
        if system in absent:
            continue
        known = [c.variant for c in contenders if c.system == system]
        for variant in variants:
            if variant not in known:
                fail(f"orientation names {system} ({variant}), which is not among the contenders")
        if system == OURS and known[0] in variants:
            fail(f"orientation names {system} ({known[0]}), by which it is judged")


def check_target(target, raw, fail):
    if "any" in target:
        if set(target) != {"any"} or not target["any"]:
            fail(f"target {target} needs a list of targets under 'any', and nothing else")
        for one in target["any"]:
            check_target(one, raw, fail)
        return
    peers = raw.get("peers", [])
    names = set(target)
    if ("at_least" in names) == ("at_most" in names):
        fail(f"target {target} needs either 'at_least' or 'at_most'")
    names -= {"at_least", "at_most"}
    if names & {"speedup_over", "worst_over"} and "peer_variant" in names:
        names.remove("peer_variant")
        peer = target.get("speedup_over", target.get("worst_over"))
        if target["peer_variant"] not in raw.get("variants", {}).get(peer, {}):
            fail(
                f"target names the variant {target['peer_variant']!r} of {peer}, which this "
                "workload does not give it"
            )
    if names in ({"speedup_over"}, {"worst_over"}):
        other, allowed = target.get("speedup_over", target.get("worst_over")), peers
    elif (
        "measure" in names
        and len(names & {"minus", "times", "times_best"}) <= 1
        and names <= {"measure", "minus", "times", "times_best", "variant", "system", "beyond"}
        and ("beyond" not in names or "times" in names)
    ):
        if target["measure"] not in MEASURES and not target["measure"].startswith(DETAIL):
            fail(f"target measures {target['measure']!r}; allowed are {', '.join(MEASURES)}")
        other = target.get("minus", target.get("times", target.get("times_best")))
        allowed = peers + raw.get("yardsticks", []) + [OURS]
    else:
        fail(f"target {target} is not understood: see bench/README.md")
    if target.get("variant", "default") not in raw.get("variants", {}).get(OURS, {"default": {}}):
        fail(f"target names the variant {target['variant']!r}, which {OURS} does not have")
    for named in (other, target.get("beyond"), target.get("system")):
        if named is not None and named not in allowed:
            fail(f"target compares with {named!r}, which is not among the peers")


def select(workloads, wanted):
    """The workloads whose name or group is named; if none is, all that run without being asked
    for."""
    if not wanted:
        return [w for w in workloads if not w.on_request]
    known = {w.name for w in workloads} | {w.group for w in workloads}
    for name in wanted:
        if name not in known:
            raise WorkloadError(
                f"no group or workload is called {name!r}; there are {', '.join(sorted(known))}"
            )
    return [w for w in workloads if w.name in wanted or w.group in wanted]
