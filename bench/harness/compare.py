"""From measured series to comparisons: the variant of a peer that counts, ratios with their spread
over
single rounds, and targets.
"""

import math
import random
import statistics
from dataclasses import dataclass, field

from .measure import figure_of, record_of
from .workload import DETAIL, OURS

RESAMPLES = 2000
LEAST_ROUNDS = 5  # fewer say nothing about an interval


@dataclass
class Comparison:
    """Ours against one peer. A ratio > 1 means that ours is better. `low` and `high` are the worst
    and the best ratio of a single round; intervals hold 95 %, and are None where there are too few
    rounds.
    """

    system: str
    variant: str
    ours: float
    peer: float
    ratio: float  # of the medians
    low: float
    high: float
    interval: tuple = None  # of `ratio`
    round_ratio: float = None  # the median of the rounds' own ratios
    round_interval: tuple = None  # of `round_ratio`
    worst_round: int = None  # the number, from 1, of the round with the ratio `low`


@dataclass
class Target:
    text: str
    value: float
    passed: bool  # None: nothing was measured
    system: str = None  # the peer in whose row it stands; None: in all


@dataclass
class Report:
    """All that is known about one workload after it ran."""

    workload: object
    records: list
    failures: list
    comparisons: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    figures: list = field(default_factory=list)  # of ours, from its last run
    lines: dict = None  # the same
    series: list = field(default_factory=list)


def report_on(workload, series):
    records = [record_of(workload, s) for s in series]
    failures = [
        f"{s.contender.system} ({s.contender.variant}): {s.failure}" for s in series if s.failure
    ]
    report = Report(workload, records, failures, series=series)
    ours = best_series(workload, series, OURS)
    if ours:
        report.figures, report.lines = ours.samples[-1].figures, ours.samples[-1].lines
    no_peers = (OURS, *workload.yardsticks)
    peers = [s.contender.system for s in series if s.contender.system not in no_peers]
    for system in dict.fromkeys(peers):
        peer = best_series(workload, series, system)
        if ours and peer:
            report.comparisons.append(compare(workload, ours, peer))
    report.targets = [judge(workload, t, series, report.comparisons) for t in workload.targets]
    return report


def usable_series(series, system):
    """Those variants of a system that ran in every round."""
    return [
        s
        for s in series
        if s.contender.system == system
        and s.samples
        and not s.failure
        and not s.contender.orientation
    ]


def best_series(workload, series, system):
    """The variant that counts: ours is the first one that is listed, a peer's is its best."""
    usable = usable_series(series, system)
    listed = [s for s in series if s.contender.system == system]
    if system == OURS:
        return listed[0] if listed and listed[0] in usable else None
    pick = min if workload.better == "lower" else max
    return pick(usable, key=lambda s: statistics.median(s.values), default=None)


def compare(workload, ours, peer):
    def ratio(a, b):
        top, bottom = (b, a) if workload.better == "lower" else (a, b)
        return top / bottom if bottom else float("inf")

    pairs = list(zip(ours.values, peer.values))

    def of_medians(some):
        return ratio(statistics.median(a for a, _ in some), statistics.median(b for _, b in some))

    def of_rounds(some):
        return statistics.median(ratio(a, b) for a, b in some)

    paired = [ratio(a, b) for a, b in pairs]
    return Comparison(
        peer.contender.system,
        peer.contender.variant,
        statistics.median(ours.values),
        statistics.median(peer.values),
        of_medians(pairs),
        min(paired),
        max(paired),
        bootstrap(pairs, of_medians),
        of_rounds(pairs),
        bootstrap(pairs, of_rounds),
        paired.index(min(paired)) + 1,
    )


def compare_with_variant(workload, series, system, variant):
    """Ours against that variant of a peer, be it the best one or not; None if either has failed."""
    ours = best_series(workload, series, OURS)
    peers = [s for s in usable_series(series, system) if s.contender.variant == variant]
    return compare(workload, ours, peers[0]) if ours and peers else None


def bootstrap(rounds, statistic):
    """The interval that holds 95 % of the statistic over rounds that are drawn, with replacement,
    from those that were measured. The draw is seeded: the same rounds give the same interval.
    """
    if len(rounds) < LEAST_ROUNDS:
        return None
    draw = random.Random(1)
    found = sorted(statistic(draw.choices(rounds, k=len(rounds))) for _ in range(RESAMPLES))
    tail = RESAMPLES // 40
    return found[tail], found[-1 - tail]


def judge(workload, target, series, comparisons):
    if "any" in target:
        return judge_any([judge(workload, t, series, comparisons) for t in target["any"]])
    bound, at_least = (
        (target["at_least"], True) if "at_least" in target else (target["at_most"], False)
    )
    sign = "≥" if at_least else "≤"
    peer = target.get("speedup_over", target.get("worst_over"))
    if peer:
        variant = target.get("peer_variant")
        found = (
            compare_with_variant(workload, series, peer, variant)
            if variant
            else next((c for c in comparisons if c.system == peer), None)
        )
        worst = "worst_over" in target
        value = found and (found.low if worst else found.ratio)
        name = f"{peer} ({variant})" if variant else peer
        text = f"{'worst round ' if worst else ''}{sign} {bound:g} × {name}"
    else:
        value, text = judged_measure(workload, target, series, f"{sign} ", bound)
        peer = target.get("times", target.get("times_best"))
    system = peer if peer != OURS and peer not in workload.yardsticks else None
    if value is None:
        return Target(text, None, None, system)
    return Target(text, value, value >= bound if at_least else value <= bound, system)


def judge_any(targets):
    """One target is enough. The value is that of the first that passed, or else was measured."""
    text = " or ".join(t.text for t in targets)
    order = sorted(targets, key=lambda t: (True, False, None).index(t.passed))
    return Target(text, order[0].value, order[0].passed)


def judged_measure(workload, target, series, sign, bound):
    measure = target["measure"]
    other = target.get("minus", target.get("times", target.get("times_best")))
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

    def best_value_of(system):
        found = [figure_of(record_of(workload, s), measure) for s in usable_series(series, system)]
        pick = max if "at_least" in target else min
        return pick((v for v in found if v is not None), default=None)

    judged = target.get("system", OURS)
    ours = value_of(judged, target.get("variant"))
    if "variant" in target:
        label = f"{target['variant']} {label}"
    if judged != OURS:
        label = f"{judged}: {label}"
    if other is None:
        unit = (
            "B"
            if measure == "peak_rss_bytes"
            else "" if measure.startswith(DETAIL) else workload.unit
        )
        return ours, f"{label}{sign}{bound_text(bound, unit)}"
    best = "times_best" in target
    theirs = best_value_of(other) if best else value_of(other)
    missing = ours is None or theirs is None
    if "minus" in target:
        return (
            None if missing else ours - theirs
        ), f"{label}{sign}{other} + {bound_text(bound, workload.unit)}"
    text = f"{label}{sign}{bound:g} × {'best ' if best else ''}{other}"
    if "beyond" in target:
        base = value_of(target["beyond"])
        text = f"{label}beyond {target['beyond']} {sign}{bound:g} × {other}'s"
        missing = missing or base is None or theirs <= base
        return (None if missing else (ours - base) / (theirs - base)), text
    return (None if missing or not theirs else ours / theirs), text


def three(value):
    """A figure with three significant digits, without an exponent unless it is tiny."""
    if value == 0 or not math.isfinite(value) or abs(value) < 1e-4:
        return f"{value:.3g}"
    decimals = 2 - math.floor(math.log10(abs(value)))
    text = f"{round(value, decimals):.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def quantity(value, unit, digits=three):
    """A figure with its unit, short enough for a table."""
    if value is None:
        return "–"
    if unit in ("B", "bytes"):
        for scale, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
            if abs(value) >= scale:
                return f"{digits(value / scale)} {name}"
        return f"{digits(value)} B"
    if abs(value) >= 1e6 and unit.endswith("/s"):
        return f"{digits(value / 1e6)} M {unit}"
    return f"{digits(value)} {unit}".rstrip()


def bound_text(value, unit):
    """The bound of a target, as its description has it."""
    return quantity(value, unit, lambda v: f"{v:.10g}")


def interval_text(interval):
    return "–" if interval is None else "–".join(map(ratio_figure, interval))


def ratio_figure(ratio):
    """Three digits, also of those that are zero: 4.00, 12.8, 143."""
    if ratio is None:
        return "–"
    if (ratio >= 100 or ratio < 0.1) and math.isfinite(ratio):
        return three(ratio)
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def ratio_text(ratio):
    return "–" if ratio is None else f"{ratio_figure(ratio)} ×"


def losses_first(reports):
    """Rows of the table: (report, comparison or None). Failed ones come first, then the worst
    ratio.
    """
    rows = []
    for report in reports:
        rows += [(report, c) for c in report.comparisons] or [(report, None)]
    return sorted(
        rows, key=lambda row: (not row[0].failures, row[1].ratio if row[1] else float("inf"))
    )
