"""Plots of a measure against a parameter, one line for each system and variant: what workload.json
asks for under "curves".
"""

from html import escape

from . import figures
from .measure import figure_of
from .workload import DETAIL


def draw(reports):
    """The plots of a group, as HTML."""
    parts = []
    for program in dict.fromkeys(r.workload.program for r in reports):
        members = [r for r in reports if r.workload.program == program]
        wanted = [curve for r in members for curve in r.workload.curves]
        for curve in [c for i, c in enumerate(wanted) if c not in wanted[:i]]:
            records = [
                (r.workload, record)
                for r in members
                if curve in r.workload.curves
                for record in r.records
                if record["checked"]
            ]
            for family, points in families(records, curve).items():
                for measure in curve["lines"]:
                    figure = figure_for(curve["x"], measure, family, points)
                    if figure["lines"]:
                        parts.append(f'<h3>{escape(figure["title"])}</h3>{figures.draw(figure)}')
    return "\n".join(parts)


def families(records, curve):
    """Records that differ in `x` only, by the values of the parameters `by`; those with one value
    of `x` are no curve.
    """
    found = {}
    for workload, record in records:
        if curve["x"] in workload.params and all(name in workload.params for name in curve["by"]):
            key = tuple((name, workload.params[name]) for name in curve["by"])
            found.setdefault(key, []).append((workload.params[curve["x"]], record))
    return {key: points for key, points in found.items() if len({x for x, _ in points}) > 1}


def figure_for(x_name, measure, family, points):
    lines = {}
    for x, record in points:
        y = figure_of(record, measure)
        if y is not None and y > 0:
            name = (
                record["system"]
                if record["variant"] == "default"
                else f"{record['system']} ({record['variant']})"
            )
            lines.setdefault(name, []).append((x, y))
    xs = [x for x, _ in points]
    name = measure.removeprefix(DETAIL).replace("_", " ")
    unit = points[0][1]["unit"] if measure in ("median", "p50", "p99", "p999") else ""
    where = ", ".join(f"{parameter} {value}" for parameter, value in family)
    return {
        "title": f"{name} by {x_name}" + (f" ({where})" if where else ""),
        "x": x_name,
        "y": f"{name}, {unit}" if unit else name,
        "log_x": max(xs) > 20 * min(xs),
        "log_y": True,
        "lines": [{"name": n, "points": sorted(p)} for n, p in lines.items()],
    }
