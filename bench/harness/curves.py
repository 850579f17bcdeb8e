"""SVG plots of a figure against a parameter, one line for each system and variant: what workload.json asks for under "curves"."""

import math
from html import escape

from .measure import figure_of
from .workload import DETAIL

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 500, 260, 64, 12, 26, 34
COLOURS = ("#1f7a5c", "#b8402a", "#c08a1e", "#4a6fb5", "#8a4fa3", "#5f8f2f", "#8a93a3", "#2f8f9d", "#a05a2c")


def draw(reports):
    """The plots of a group, as pieces of HTML."""
    pieces = []
    for folder in dict.fromkeys(r.workload.folder for r in reports):
        members = [r for r in reports if r.workload.folder == folder]
        wanted = [curve for r in members for curve in r.workload.curves]
        for curve in [c for i, c in enumerate(wanted) if c not in wanted[:i]]:
            records = [(r.workload, record) for r in members if curve in r.workload.curves for record in r.records if record["checked"]]
            for family, points in families(records, curve).items():
                pieces += family_plots(curve, family, points)
    return pieces


def families(records, curve):
    """Records that differ in `x` only, by the values of the parameters `by`; those with one value of `x` are no curve."""
    found = {}
    for workload, record in records:
        if curve["x"] in workload.params and all(name in workload.params for name in curve["by"]):
            key = tuple((name, workload.params[name]) for name in curve["by"])
            found.setdefault(key, []).append((workload.params[curve["x"]], record))
    return {key: points for key, points in found.items() if len({x for x, _ in points}) > 1}


def family_plots(curve, family, points):
    names = list(dict.fromkeys((r["system"], r["variant"]) for _, r in points))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    key = " · ".join(f'<span style="color:{colours[n]}">■</span> {escape(label_of(n))}' for n in names)
    where = ", ".join(f"{name} {value}" for name, value in family)
    plots = [plot(curve["x"], measure, points, colours, where) for measure in curve["lines"]]
    return [f'<p class="soft">{key}</p><div class="curves">{"".join(p for p in plots if p)}</div>']


def label_of(name):
    system, variant = name
    return system if variant == "default" else f"{system} ({variant})"


def plot(x_name, measure, points, colours, where):
    lines = {}
    for x, record in points:
        y = figure_of(record, measure)
        if y is not None and y > 0:
            lines.setdefault((record["system"], record["variant"]), []).append((x, y))
    if not lines:
        return ""
    xs = sorted({x for line in lines.values() for x, _ in line})
    ys = [y for line in lines.values() for _, y in line]
    across, up = scale(xs[0], xs[-1], LEFT, WIDTH - RIGHT, xs[-1] > 20 * xs[0]), scale(min(ys), max(ys), HEIGHT - BOTTOM, TOP, True)
    title = f"{measure.removeprefix(DETAIL).replace('_', ' ')} by {x_name}" + (f" ({where})" if where else "")
    body = [f'<text x="{LEFT}" y="14">{escape(title)}</text><g class="axis">']
    for tick in ticks(min(ys), max(ys)):
        body.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(tick):.1f}" y2="{up(tick):.1f}"/>'
                    f'<text x="{LEFT - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{short(tick)}</text>')
    body += [f'<text x="{across(x):.1f}" y="{HEIGHT - 12}" text-anchor="middle">{short(x)}</text>' for x in xs]
    body.append("</g>")
    for name, line in lines.items():
        colour = colours[name]
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in sorted(line))
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"><title>{escape(label_of(name))}</title></polyline>')
        body += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"><title>{escape(label_of(name))}: {y:.5g}</title></circle>'
                 for x, y in line]
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>{"".join(body)}</svg>'


def scale(low, high, first, last, logarithmic):
    if high <= low:
        return lambda value: (first + last) / 2
    bend = math.log if logarithmic else float
    return lambda value: first + (bend(value) - bend(low)) / (bend(high) - bend(low)) * (last - first)


def ticks(low, high):
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
        found = [s * 10.0 ** p for p in powers for s in steps if low <= s * 10.0 ** p <= high]
        if len(found) >= 3:
            break
    return found or [low]


def short(value):
    for factor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:g}{unit}"
    return f"{value:.3g}"
