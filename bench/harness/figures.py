"""Figures that a program draws itself: lines over a linear or logarithmic axis, with a paper's
claim and the result (common/curves.hpp).
"""

import math
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 300, 62, 14, 12, 44
LEGEND = 20  # a line of the legend, below the plot
COLOURS = ("var(--win)", "var(--loss)", "var(--mark)", "#5b7fd1", "#9a62b8", "var(--peer)")
TEXTS = ("title", "claim", "found", "x", "y")


def problem_of(figures):
    """The fault of the figures that a program printed, or None."""
    if not isinstance(figures, list):
        return "figures must be a list"
    for figure in figures:
        missing = [name for name in (*TEXTS, "lines") if name not in figure]
        if missing:
            return f"a figure has no {missing[0]!r}"
        points = [p for line in figure["lines"] for p in line["points"]]
        if not points:
            return f"figure {figure['title']!r} has no points"
        if not all(
            len(p) == 2 and all(isinstance(v, (int, float)) and math.isfinite(v) for v in p)
            for p in points
        ):
            return f"figure {figure['title']!r} has a point that is no pair of numbers"
        for axis, at in (("x", 0), ("y", 1)):
            if figure.get(f"log_{axis}") and min(p[at] for p in points) <= 0:
                return (
                    f"figure {figure['title']!r} has values below 0 on its logarithmic {axis} axis"
                )
    return None


class Axis:
    """Maps values to 0 … 1 and says where its ticks are."""

    def __init__(self, values, logarithmic):
        self.logarithmic = logarithmic
        low, high = min(values), max(values)
        if logarithmic:
            self.low, self.high = low / 1.1, max(high, low * 1.5) * 1.1
        else:
            self.low, self.high = min(low, 0), high + 0.05 * (high - min(low, 0)) or 1

    def share(self, value):
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self):
        if not self.logarithmic:
            rough = (self.high - self.low) / 5
            power = 10.0 ** math.floor(math.log10(rough))
            step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough)
            first = math.ceil(self.low / step)
            return [i * step for i in range(first, math.floor(self.high / step) + 1)]
        found, power = [], 10.0 ** math.floor(math.log10(self.low))
        while power <= self.high:
            found += [s * power for s in (1, 2, 5) if self.low <= s * power <= self.high]
            power *= 10
        return (
            found
            if len(found) <= 10
            else [t for t in found if math.isclose(math.log10(t) % 1, 0, abs_tol=1e-9)] or found
        )


def draw(figure):
    points = [p for line in figure["lines"] for p in line["points"]]
    names = figure.get("names") or []
    across = Axis(
        [p[0] for p in points] + ([-0.4, len(names) - 0.6] if names else []),
        figure.get("log_x", False),
    )
    up = Axis([p[1] for p in points], figure.get("log_y", False))

    def x(value):
        return LEFT + across.share(value) * (WIDTH - LEFT - RIGHT)

    def y(value):
        return HEIGHT - BOTTOM - up.share(value) * (HEIGHT - TOP - BOTTOM)

    grid = []
    for tick in up.ticks():
        grid.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/>'
            f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    for i, tick in enumerate(range(len(names)) if names else across.ticks()):
        label = names[i] if names else f"{tick:g}"
        grid.append(
            f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" '
            f'text-anchor="middle">{escape(label)}</text>'
        )
    grid.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
        f'text-anchor="middle">{escape(figure["x"])}</text>'
        f'<text x="14" y="{(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(TOP + HEIGHT - BOTTOM) / 2})">{escape(figure["y"])}</text>'
    )
    body = []
    measured = sum(not line.get("published") for line in figure["lines"])
    for i, line in enumerate(figure["lines"]):
        if line.get("published"):
            colour, dash = COLOURS[(i - measured) % len(COLOURS)], ' stroke-dasharray="1.5 4"'
        else:
            colour, dash = COLOURS[i % len(COLOURS)], (
                ' stroke-dasharray="5 4"' if i >= len(COLOURS) or line["name"] == "ideal" else ""
            )
        at = [(x(p[0]), y(p[1])) for p in line["points"]]
        if not names:
            body.append(
                f'<polyline fill="none" stroke="{colour}" stroke-width="1.8"{dash} points="'
                + " ".join(f"{a:.1f},{b:.1f}" for a, b in at)
                + '"/>'
            )
        body += [
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{4 if names else 2.4}" fill="{colour}"/>'
            for a, b in at
        ]
        legend = HEIGHT + LEGEND * i + 14
        body.append(
            f'<line x1="{LEFT}" x2="{LEFT + 24}" y1="{legend - 4}" '
            f'y2="{legend - 4}" stroke="{colour}" stroke-width="2.4"{dash}/>'
            f'<text x="{LEFT + 32}" y="{legend}">{escape(line["name"])}</text>'
        )
    height = HEIGHT + LEGEND * len(figure["lines"])
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(figure["title"])}">'
        f'<title>{escape(figure["title"])}</title>'
        f'<g class="axis">{"".join(grid)}</g>{"".join(body)}</svg>'
    )


def render(reports):
    """All figures of these reports; empty if there are none. They come from the simulated machine,
    and say so.
    """
    parts = []
    for report in reports:
        for figure in report.figures:
            parts.append(
                f'<div><h3>{escape(figure["title"])} <span class="soft">(simulated)</span></h3>'
                f'<p>{escape(figure["claim"])}</p>'
                f'{draw(figure)}<p class="soft">{escape(figure["found"])}</p></div>'
            )
    return "\n".join(parts)
