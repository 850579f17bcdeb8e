"""The terminal's tables."""

import statistics

from .compare import (
    best_series,
    interval_text,
    losses_first,
    quantity,
    ratio_figure,
    ratio_text,
    three,
)
from .workload import OURS

HEADER = (
    "workload",
    "garrick",
    "peer",
    "peer's figure",
    "ratio",
    "95 %",
    "worst",
    "best",
    "target",
    "",
)
LATENCY_HEADER = (
    "workload",
    "system",
    "figure",
    "p50",
    "p99",
    "p99.9",
    "CPU %",
    "worst round",
    "besides",
)


def verdict(report):
    if report.failures:
        return "FAILED"
    if not report.comparisons and not any(r["system"] == "garrick" for r in report.records):
        return "no garrick"
    results = [t.passed for t in report.targets]
    if not results:
        return ""
    if None in results:
        return "not measured"
    return "pass" if all(results) else "MISS"


def ours_of(report):
    return next((r for r in report.records if r["system"] == "garrick" and r["checked"]), None)


def best_peer_of(report):
    """Some peer's best figure, so that the row of a workload without a comparison is not empty."""
    good = [r for r in report.records if r["system"] != "garrick" and r["checked"]]
    pick = min if report.workload.better == "lower" else max
    return pick(good, key=lambda r: r["median"], default=None)


def cells(report, comparison):
    unit = report.workload.unit
    ours = ours_of(report)
    mine = quantity(ours["median"], unit) if ours else "–"
    targets = "; ".join(
        f"{t.text}" for t in report.targets if comparison is None or target_fits(t, comparison)
    )
    if comparison:
        return (
            report.workload.name,
            mine,
            f"{comparison.system} ({comparison.variant})",
            quantity(comparison.peer, unit),
            ratio_text(comparison.ratio),
            interval_text(comparison.interval),
            ratio_figure(comparison.low),
            ratio_figure(comparison.high),
            targets,
            verdict(report),
        )
    peer = best_peer_of(report)
    return (
        report.workload.name,
        mine,
        f"{peer['system']} ({peer['variant']})" if peer else "–",
        quantity(peer["median"], unit) if peer else "–",
        "–",
        "–",
        "–",
        "–",
        targets,
        verdict(report),
    )


def target_fits(target, comparison):
    """A target that names another peer belongs to that peer's row."""
    return target.system in (None, comparison.system)


def latency_rows(reports):
    """Tails of the metric of each workload that measures latencies: ours, the best variant of each
    peer, and the yardsticks. "Worst round" is the figure in the round that was worst for ours
    against the first peer.
    """
    rows = []
    for report in reports:
        workload = report.workload
        if not workload.metric.startswith("latency"):
            continue
        worst = report.comparisons[0].worst_round if report.comparisons else None
        records = {id(s): r for s, r in zip(report.series, report.records)}
        for s in counted_series(report):
            record = records[id(s)]
            details = {k: v for k, v in record["details"].items() if k != "cpu_percent"}
            cpu = record["details"].get("cpu_percent")
            rows.append(
                (
                    workload.name,
                    f"{record['system']} ({record['variant']})",
                    *(time_text(record[name]) for name in ("median", "p50", "p99", "p999")),
                    "–" if cpu is None else three(cpu),
                    time_text(s.values[worst - 1] if worst else None),
                    ", ".join(f"{k} {three(v)}" for k, v in details.items()),
                )
            )
    return rows


def counted_series(report):
    peers = [c.system for c in report.comparisons] + report.workload.yardsticks
    chosen = [best_series(report.workload, report.series, system) for system in peers]
    return [
        s
        for s in report.series
        if s.samples
        and not s.failure
        and not s.contender.orientation
        and (s.contender.system == OURS or any(s is c for c in chosen))
    ]


def time_text(ns):
    """A time in microseconds, as the columns of a latency need it."""
    return "–" if ns is None else f"{three(ns / 1000)} us"


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def render(reports):
    lines = aligned(
        [HEADER] + [cells(report, comparison) for report, comparison in losses_first(reports)]
    )
    if tails := latency_rows(reports):
        lines += ["", *aligned([LATENCY_HEADER] + tails), ""]
    for group in dict.fromkeys(r.workload.group for r in reports):
        found = [
            c.ratio
            for r in reports
            if r.workload.group == group
            for c in r.comparisons
            if 0 < c.ratio < float("inf")
        ]
        if len(found) > 1:
            lines.append(
                f"{group}: geometric mean of {len(found)} ratios "
                f"{ratio_text(statistics.geometric_mean(found))}, lowest {ratio_text(min(found))}"
            )
    for report in reports:
        lines += [f"FAILED {report.workload.name}: {failure}" for failure in report.failures]
        lines += [
            f"note: {report.workload.name} has no program for {system}"
            for system in report.workload.absent
        ]
        lines += [
            f"missed: {report.workload.name}: {t.text}, found {t.value:.4g}"
            for t in report.targets
            if t.passed is False
        ]
    return "\n".join(lines) + "\n"
