"""A plot for a group whose workloads have a sequential program: how much faster than it each other
program is, and how long it takes.
"""

from html import escape

from .compare import quantity, ratio_text
from .plot import LEFT, RIGHT, ROW, TOP, WIDTH, LogAxis, frame
from .workload import OURS

BASE = "sequential"


def rows_of(reports):
    """(workload's name, record, how many times faster than the sequential program), the fastest of
    a workload first.
    """
    rows = []
    for report in reports:
        good = [r for r in report.records if r["checked"] and r["median"]]
        base = next((r["median"] for r in good if r["system"] == BASE), None)
        if base is None or report.workload.metric != "seconds":
            continue
        others = [r for r in good if r["system"] != BASE]
        others.sort(key=lambda r: r["median"])
        rows += [(report.workload.name, r, base / r["median"]) for r in others]
    return rows


def draw(reports):
    """The plot, as HTML, or nothing."""
    rows = rows_of(reports)
    if not rows:
        return ""
    axis = LogAxis([1.0] + [faster for _, _, faster in rows])
    body = [
        f'<line x1="{axis.x(1):.1f}" x2="{axis.x(1):.1f}" y1="{TOP}" y2="{TOP + ROW * len(rows)}" '
        'stroke="var(--ink)"/>'
    ]
    for i, (name, record, faster) in enumerate(rows):
        y = TOP + ROW * i + 30
        start, end = sorted((axis.x(1), axis.x(faster)))
        variant = "" if record["variant"] == "default" else f" ({record['variant']})"
        colour = "var(--win)" if record["system"] == OURS else "var(--peer)"
        body.append(
            f'<text x="{LEFT}" y="{y - 13}">{escape(name)} '
            f'<tspan fill="var(--soft)">/ {escape(record["system"] + variant)}</tspan></text>'
            f'<rect x="{start:.1f}" y="{y - 7:.1f}" width="{max(end - start, 1):.1f}" height="14" '
            f'rx="2" fill="{colour}"/>'
            f'<text x="{WIDTH - 8}" y="{y - 13}" text-anchor="end">{ratio_text(faster)}, '
            f'{quantity(record["median"], record["unit"])}</text>'
        )
    return (
        "<h3>Speed-up</h3>"
        + frame(len(rows), axis, lambda t: f"{t:g} ×", "".join(body), "Speed-up by program")
        + '<p class="soft">Times faster than the sequential program, and the median time.</p>'
    )
