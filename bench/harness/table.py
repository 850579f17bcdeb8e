"""The terminal's table."""

import statistics

from .compare import losses_first, quantity, ratio_text

HEADER = ("workload", "garrick", "peer", "peer's figure", "ratio", "spread", "target", "")


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
            f"{comparison.low:.2f}–{comparison.high:.2f}",
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
        targets,
        verdict(report),
    )


def target_fits(target, comparison):
    """A target that names another peer belongs to that peer's row."""
    return "×" not in target.text or target.text.endswith(("× " + comparison.system, "× garrick"))


def render(reports):
    rows = [HEADER] + [cells(report, comparison) for report, comparison in losses_first(reports)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
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
