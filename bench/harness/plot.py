"""SVG plots for the report: how many times better ours is, and peak memory. Logarithmic axes, one
row a comparison.
"""

import math
import statistics
from html import escape

from . import table
from .compare import losses_first, quantity, ratio_text

WIDTH, LEFT, RIGHT, ROW, TOP = 480, 8, 92, 42, 8  # legible in 340 pixels, two beside each other


class LogAxis:
    """Maps values to x; covers whole powers of ten or a 1-2-5 step around the data."""

    def __init__(self, values):
        low, high = min(values), max(values)
        self.low = self.step_below(low)
        self.high = self.step_above(max(high, self.low * 1.5))

    @staticmethod
    def step_below(value):
        power = 10.0 ** math.floor(math.log10(value))
        return max(s * power for s in (1, 2, 5) if s * power <= value * 1.0000001)

    @staticmethod
    def step_above(value):
        power = 10.0 ** math.floor(math.log10(value))
        return min(s * power for s in (1, 2, 5, 10) if s * power >= value * 0.9999999)

    def x(self, value):
        share = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self):
        found, power = [], 10.0 ** math.floor(math.log10(self.low))
        while power <= self.high:
            found += [
                s * power for s in (1, 2, 5) if self.low * 0.999 <= s * power <= self.high * 1.001
            ]
            power *= 10
        if len(found) <= 7:
            return found
        powers = [t for t in found if math.isclose(math.log10(t), round(math.log10(t)))] or found
        return powers[:: math.ceil(len(powers) / 7)]


def frame(rows, axis, label, body, title):
    bottom = TOP + ROW * rows
    grid = "".join(
        f'<line class="grid" x1="{axis.x(t):.1f}" x2="{axis.x(t):.1f}" y1="{TOP}" y2="{bottom}"/>'
        f'<text x="{axis.x(t):.1f}" y="{bottom + 18}" '
        f'text-anchor="{"start" if axis.x(t) < 30 else "middle"}">{escape(label(t))}</text>'
        for t in axis.ticks()
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {bottom + 28}" role="img" aria-label="{escape(title)}">'
        f'<title>{escape(title)}</title>'
        f'<g class="axis">{grid}</g>{body}</svg>'
    )


def target_of(report, comparison):
    """The required speed-up over this peer, if there is one."""
    for target in report.workload.targets:
        if target.get("speedup_over") == comparison.system:
            return target["at_least"]
    return None


def ratios(reports):
    rows = [
        (r, c)
        for r, c in losses_first(reports)
        if c and math.isfinite(c.ratio) and c.ratio > 0 and c.low > 0
    ]
    if not rows:
        return ""
    values = [1.0] + [
        v for r, c in rows for v in (c.low, c.high, target_of(r, c) or 1.0) if math.isfinite(v)
    ]
    axis = LogAxis(values)
    body = [
        f'<line x1="{axis.x(1):.1f}" x2="{axis.x(1):.1f}" y1="{TOP}" y2="{TOP + ROW * len(rows)}" '
        'stroke="var(--ink)"/>'
    ]
    for i, (report, c) in enumerate(rows):
        y = TOP + ROW * i + 30  # the label stands above the bar
        start, end = sorted((axis.x(1), axis.x(c.ratio)))
        colour = "var(--win)" if c.ratio >= 1 else "var(--loss)"
        body.append(
            f'<text x="{LEFT}" y="{y - 13}">{escape(report.workload.name)} '
            f'<tspan fill="var(--soft)">/ {escape(c.system)}</tspan></text>'
        )
        body.append(
            f'<rect x="{start:.1f}" y="{y - 7:.1f}" width="{max(end - start, 1):.1f}" height="14" '
            f'rx="2" fill="{colour}"/>'
        )
        body.append(
            f'<line x1="{axis.x(c.low):.1f}" x2="{axis.x(c.high):.1f}" y1="{y:.1f}" y2="{y:.1f}" '
            'stroke="var(--ink)" stroke-width="1.5"/>'
        )
        wanted = target_of(report, c)
        if wanted:
            body.append(
                f'<line x1="{axis.x(wanted):.1f}" x2="{axis.x(wanted):.1f}" y1="{y - 9:.1f}" '
                f'y2="{y + 9:.1f}" stroke="var(--mark)" stroke-width="3"/>'
            )
        body.append(f'<text x="{WIDTH - RIGHT + 12}" y="{y + 5}">{ratio_text(c.ratio)}</text>')
    note = (
        '<p class="soft">Times better than the peer. Bar: ratio of medians; line: lowest and '
        'highest round; gold mark: required. Geometric mean of the '
        f'{len(rows)}: {ratio_text(statistics.geometric_mean(c.ratio for _, c in rows))}.</p>'
    )
    group = reports[0].workload.group
    title = f"Ratio of medians: {group}"
    return (
        f"<h3>{escape(group)}</h3>"
        + frame(len(rows), axis, lambda t: f"{t:g} ×", "".join(body), title)
        + note
    )


def memory(reports):
    rows = []
    for report in reports:
        ours = table.ours_of(report)
        theirs = {c.system: c for c in report.comparisons}
        peers = [
            r
            for r in report.records
            if r["system"] in theirs
            and r["variant"] == theirs[r["system"]].variant
            and r["checked"]
        ]
        rows += [
            (report.workload.name, r)
            for r in ([ours] if ours else []) + peers
            if r["peak_rss_bytes"]
        ]
    if len(rows) < 2:
        return ""
    axis = LogAxis([r["peak_rss_bytes"] for _, r in rows] + [1e6])
    body = []
    for i, (name, record) in enumerate(rows):
        y = TOP + ROW * i + 30  # the label stands above the bar
        colour = "var(--win)" if record["system"] == "garrick" else "var(--peer)"
        end = axis.x(record["peak_rss_bytes"])
        body.append(
            f'<text x="{LEFT}" y="{y - 13}">{escape(name)} '
            f'<tspan fill="var(--soft)">/ {escape(record["system"])}</tspan></text>'
        )
        body.append(
            f'<rect x="{LEFT}" y="{y - 6:.1f}" width="{max(end - LEFT, 1):.1f}" height="12" rx="2" '
            f'fill="{colour}"/>'
        )
        body.append(
            f'<text x="{end + 6:.1f}" y="{y + 5:.1f}">{quantity(record["peak_rss_bytes"], "B")}'
            '</text>'
        )
    return (
        frame(len(rows), axis, lambda t: quantity(t, "B"), "".join(body), "Peak memory")
        + '<p class="soft">Peak resident memory.</p>'
    )
