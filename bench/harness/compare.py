"""From measured series to comparisons: the variant of a peer that counts, ratios with their spread,
and targets.
"""

import statistics
from dataclasses import dataclass, field

from .measure import figure_of, record_of
from .workload import DETAIL, OURS


@dataclass
class Comparison:
    """Ours against one peer. `ratio` > 1 means that ours is better."""

    system: str
    variant: str
    ours: float
    peer: float
    ratio: float
    low: float
    high: float


@dataclass
class Target:
    text: str
    value: float
    passed: bool  # None: nothing was measured


@dataclass
class Report:
    """All that is known about one workload after it ran."""

    workload: object
    records: list
    failures: list
    comparisons: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    figures: list = field(default_factory=list)  # of ours, from its last run


def report_on(workload, series):
    records = [record_of(workload, s) for s in series]
    failures = [
        f"{s.contender.system} ({s.contender.variant}): {s.failure}" for s in series if s.failure
    ]
    report = Report(workload, records, failures)
    ours = best_series(workload, series, OURS)
    report.figures = ours.samples[-1].figures if ours else []
    peers = list(dict.fromkeys(s.contender.system for s in series if s.contender.system != OURS))
    for system in peers:
        peer = best_series(workload, series, system)
        if ours and peer:
            report.comparisons.append(compare(workload, ours, peer))
    report.targets = [judge(workload, t, series, report.comparisons) for t in workload.targets]
    return report


def best_series(workload, series, system):
    """The variant that counts: ours is the first one that is listed, a peer's is its best."""
    usable = [s for s in series if s.contender.system == system and s.samples and not s.failure]
    listed = [s for s in series if s.contender.system == system]
    if system == OURS:
        return listed[0] if listed and listed[0] in usable else None
    pick = min if workload.better == "lower" else max
    return pick(usable, key=lambda s: statistics.median(s.values), default=None)


def compare(workload, ours, peer):
    def ratio(a, b):
        top, bottom = (b, a) if workload.better == "lower" else (a, b)
        return top / bottom if bottom else float("inf")

    paired = [ratio(a, b) for a, b in zip(ours.values, peer.values)]
    a, b = statistics.median(ours.values), statistics.median(peer.values)
    return Comparison(
        peer.contender.system, peer.contender.variant, a, b, ratio(a, b), min(paired), max(paired)
    )


def judge(workload, target, series, comparisons):
    bound, at_least = (
        (target["at_least"], True) if "at_least" in target else (target["at_most"], False)
    )
    sign = "≥" if at_least else "≤"
    if "speedup_over" in target:
        peer = target["speedup_over"]
        value = next((c.ratio for c in comparisons if c.system == peer), None)
        text = f"{sign} {bound:g} × {peer}"
    else:
        value, text = judged_measure(workload, target, series, f"{sign} ", bound)
    if value is None:
        return Target(text, None, None)
    return Target(text, value, value >= bound if at_least else value <= bound)


def judged_measure(workload, target, series, sign, bound):
    measure = target["measure"]
    other = target.get("minus", target.get("times"))
    label = {"median": "", "peak_rss_bytes": "peak memory "}.get(
        measure, measure.removeprefix(DETAIL) + " "
    )

    def value_of(system, variant=None):
        chosen = best_series(workload, series, system)
        if variant:
            named = [
                s for s in series if s.contender.system == system and s.contender.variant == variant
            ]
            chosen = next((s for s in named if s.samples and not s.failure), None)
        return figure_of(record_of(workload, chosen), measure) if chosen else None

    ours = value_of(OURS, target.get("variant"))
    if "variant" in target:
        label = f"{target['variant']} {label}"
    if other is None:
        unit = (
            "B"
            if measure == "peak_rss_bytes"
            else "" if measure.startswith(DETAIL) else workload.unit
        )
        return ours, f"{label}{sign}{quantity(bound, unit)}"
    theirs = value_of(other)
    missing = ours is None or theirs is None
    if "minus" in target:
        return (
            None if missing else ours - theirs
        ), f"{label}{sign}{other} + {quantity(bound, workload.unit)}"
    return (None if missing or not theirs else ours / theirs), f"{label}{sign}{bound:g} × {other}"


def quantity(value, unit):
    """A figure with its unit, short enough for a table."""
    if value is None:
        return "–"
    if unit in ("B", "bytes"):
        for scale, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
            if abs(value) >= scale:
                return f"{value / scale:.3g} {name}"
        return f"{value:.0f} B"
    if abs(value) >= 1e6 and unit.endswith("/s"):
        return f"{value / 1e6:.3g} M {unit}"
    return (f"{value:.4g} {unit}" if abs(value) < 1e4 else f"{value:.0f} {unit}").rstrip()


def ratio_text(ratio):
    if ratio is None:
        return "–"
    return (
        f"{ratio:.0f} ×" if ratio >= 100 else f"{ratio:.1f} ×" if ratio >= 10 else f"{ratio:.2f} ×"
    )


def losses_first(reports):
    """Rows of the table: (report, comparison or None). What failed comes first, then the worst
    ratio.
    """
    rows = []
    for report in reports:
        rows += [(report, c) for c in report.comparisons] or [(report, None)]
    return sorted(
        rows, key=lambda row: (not row[0].failures, row[1].ratio if row[1] else float("inf"))
    )
