"""Plots of a measure against a parameter, one line for each system and variant, as workload.json
asks for under "curves". Where a paper has published the same plot, its lines stand beside ours.
"""

from html import escape

from . import figures
from .measure import figure_of
from .workload import DETAIL, points_pattern


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
            published = members[0].workload.published
            parts += [rendered(figure) for figure in figures_of(records, curve, published)]
    return "\n".join(parts)


def figures_of(records, curve, published):
    """All plots of one curve that have lines of ours or a peer's."""
    found = []
    if "points" in curve:
        for family, members in by_parameters(records, curve).items():
            found.append((curve["points"], family, figure_of_points(curve, family, members)))
    else:
        for family, points in families(records, curve).items():
            for measure in curve["lines"]:
                found.append((measure, family, figure_for(curve["x"], measure, family, points)))
    return [
        beside(figure, [e for e in published if e["measure"] == measure and fits(e, family)])
        for measure, family, figure in found
        if figure["lines"]
    ]


def fits(entry, family):
    return entry["where"] == dict(family)


def beside(figure, entries):
    """The figure with the published data: the paper's words, its axes, and its lines."""
    for entry in entries:
        lines = [
            {
                "name": line["name"],
                "published": True,
                "points": [[x, y * entry["factor"]] for x, y in line["points"]],
            }
            for line in entry["lines"]
        ]
        texts = {name: entry[name] for name in ("title", "claim", "source", "x", "y")}
        log_x = figure["log_x"] and all(x > 0 for line in lines for x, _ in line["points"])
        figure = {**figure, **texts, "log_x": log_x, "lines": figure["lines"] + lines}
    return figure


def rendered(figure):
    claim = f'<p>{escape(figure["claim"])}</p>' if "claim" in figure else ""
    source = f'<p class="soft">{escape(figure["source"])}</p>' if "source" in figure else ""
    return f'<div><h3>{escape(figure["title"])}</h3>{claim}{figures.draw(figure)}{source}</div>'


def by_parameters(records, curve):
    """Records by the values of the parameters `by`."""
    found = {}
    for workload, record in records:
        if all(name in workload.params for name in curve["by"]):
            key = tuple((name, workload.params[name]) for name in curve["by"])
            found.setdefault(key, []).append((workload, record))
    return found


def families(records, curve):
    """Records that differ in `x` only, by the values of the parameters `by`; those with one value
    of `x` are no curve.
    """
    with_x = [(w, record) for w, record in records if curve["x"] in w.params]
    found = {
        key: [(w.params[curve["x"]], record) for w, record in members]
        for key, members in by_parameters(with_x, curve).items()
    }
    return {key: points for key, points in found.items() if len({x for x, _ in points}) > 1}


def name_of(record):
    if record["variant"] == "default":
        return record["system"]
    return f"{record['system']} ({record['variant']})"


def figure_for(x_name, measure, family, points):
    lines = {}
    for x, record in points:
        y = figure_of(record, measure)
        if y is not None and y > 0:
            lines.setdefault(name_of(record), []).append((x, y))
    name = measure.removeprefix(DETAIL).replace("_", " ")
    unit = points[0][1]["unit"] if measure in ("median", "p50", "p99", "p999") else ""
    return plotted(
        f"{name} by {x_name}", family, x_name, f"{name}, {unit}" if unit else name, lines
    )


def figure_of_points(curve, family, members):
    """One run has all points of its lines: those details whose names fit the pattern."""
    pattern = points_pattern(curve["points"].removeprefix(DETAIL))
    lines = {}
    for _, record in members:
        for detail, y in record["details"].items():
            if (match := pattern.match(detail)) and y > 0:
                name = f"{name_of(record)}: {match['line']}"
                lines.setdefault(name, []).append((int(match["x"]), y))
    program = members[0][0].program
    return plotted(
        f"{program} by {curve['x']}", family, curve["x"], members[0][1]["unit"], lines
    )


def plotted(title, family, x, y, lines):
    where = ", ".join(f"{parameter} {value}" for parameter, value in family)
    xs = [at for points in lines.values() for at, _ in points]
    return {
        "title": title + (f" ({where})" if where else ""),
        "x": x,
        "y": y,
        "log_x": bool(xs) and min(xs) > 0 and max(xs) > 20 * min(xs),
        "log_y": True,
        "lines": [{"name": n, "points": sorted(p)} for n, p in lines.items()],
    }


def is_point(workloads, detail):
    """True if this detail is drawn as a point of a curve of one of these workloads."""
    patterns = {c["points"] for w in workloads for c in w.curves if "points" in c}
    return any(points_pattern(p.removeprefix(DETAIL)).match(detail) for p in patterns)
