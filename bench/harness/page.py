"""build/bench/report.html: one file without references to others."""

import statistics
from html import escape

from . import curves, figures, plot, speedups, table
from .compare import interval_text, losses_first, quantity, ratio_figure, ratio_text, three

STYLE = """
:root { --paper:#fbfaf7; --ink:#1d1f24; --soft:#6b6f76; --line:#dcd8cf;
        --win:#1f7a5c; --loss:#b8402a; --peer:#8a93a3; --mark:#c08a1e; }
@media (prefers-color-scheme: dark) {
  :root { --paper:#16181c; --ink:#e8e6e1; --soft:#9a9da3; --line:#33363d;
          --win:#4fc195; --loss:#ef7f66; --peer:#7f8999; --mark:#e0b354; }
}
* { box-sizing: border-box; }
body { margin:0 auto; max-width:1240px; padding:32px 24px 80px;
       background:var(--paper); color:var(--ink);
       font:15px/1.5 "Source Sans 3","Noto Sans",system-ui,sans-serif; }
h1 { font-size:28px; margin:0 0 4px; letter-spacing:-.01em; }
h2 { font-size:19px; margin:40px 0 8px; } h3 { font-size:16px; margin:28px 0 2px; }
p { max-width:78ch; }
.soft { color:var(--soft); }
.plots { display:grid; gap:8px 40px;
         grid-template-columns:repeat(auto-fit, minmax(min(100%, 440px), 1fr)); }
.plots > * { min-width:0; max-width:600px; }
table { border-collapse:collapse; width:100%; font-size:14px;
        font-variant-numeric:tabular-nums; }
th { text-align:left; font-weight:600; color:var(--soft); font-size:13px; }
th, td { padding:6px 12px 6px 0; border-bottom:1px solid var(--line); vertical-align:top;
         overflow-wrap:break-word; }
td.n, th.n { text-align:right; }
td.what { width:24%; overflow-wrap:anywhere; }
small { display:block; color:var(--soft); }
.win { color:var(--win); font-weight:600; } .loss { color:var(--loss); font-weight:600; }
svg { display:block; width:100%; height:auto; margin:8px 0 4px; }
svg text { fill:var(--ink); font-size:13px; }
svg .axis text { fill:var(--soft); font-size:12px; } svg .grid { stroke:var(--line); }
pre { overflow-x:auto; font-size:13px; line-height:1.35; }
dl { display:grid; grid-template-columns:minmax(0, max-content) minmax(0, 1fr); gap:4px 20px; }
dt { color:var(--soft); overflow-wrap:anywhere; } dd { margin:0; overflow-wrap:anywhere; }
@media (max-width: 1000px) {  /* a row becomes a card, and each cell names its column */
  body { padding:20px 16px 60px; }
  thead { display:none; }
  table, tbody, tr, td { display:block; width:100%; }
  tr { padding:8px 0; border-bottom:1px solid var(--line); }
  td, td.what { border:0; padding:2px 0; width:100%; }
  td[data-column] { display:flex; justify-content:space-between; gap:16px; }
  td[data-column]::before { content:attr(data-column); color:var(--soft); flex:none; }
  td[data-column] span { text-align:right; min-width:0; overflow-wrap:anywhere; }
}
"""

INTRO = """Every row comes from paired runs: ours and the peers take turns on the same machine,
after a warm-up, and the medians are compared. The ratio says how many times better ours is; below
1 the peer wins, and such rows come first. The interval holds 95 % of the ratios that other rounds
like these would give (bootstrap over rounds); worst and best are the ratios of single rounds. A
peer with several settings is represented by its best one. A run whose result was wrong does not
count, and its row is marked as failed."""

TAILS = """In microseconds. For ours, the best setting of each peer, and the yardsticks that ran in
the same rounds: medians over the rounds. “Worst round” is the figure in that round in which ours
was worst against the peer."""


EMPTY = ("", "–")


def grid(header, rows):
    """A table. `header` has pairs of a name and a class, a row has a piece of HTML for each.
    Columns in which no row has a value are left out. On a narrow screen a row becomes a card.
    """
    kept = [i for i in range(len(header)) if any(row[i] not in EMPTY for row in rows)]

    def cell(i, text):
        name, kind = header[i]
        column = f' data-column="{escape(name)}"' if i and name else ""
        return f'<td class="{kind}"{column}><span>{text or "–"}</span></td>'

    head = "".join(f'<th class="{header[i][1]}">{escape(header[i][0])}</th>' for i in kept)
    body = "\n".join(f"<tr>{''.join(cell(i, row[i]) for i in kept)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def means_table(reports):
    """The ratios of each group in one row."""
    rows = []
    for group, members in groups_of(reports):
        ratios = [c.ratio for r in members for c in r.comparisons if 0 < c.ratio < float("inf")]
        if ratios:
            mean, losses = statistics.geometric_mean(ratios), sum(r < 1 for r in ratios)
            kind = "win" if mean >= 1 else "loss"
            rows.append(
                (
                    f"<b>{escape(group)}</b>",
                    f'<span class="{kind}">{ratio_text(mean)}</span>',
                    ratio_figure(min(ratios)),
                    ratio_figure(max(ratios)),
                    str(len(ratios)),
                    str(losses),
                )
            )
    names = ("geometric mean", "lowest", "highest", "comparisons", "losses")
    return grid([("group", "what"), *((name, "n") for name in names)], rows) if rows else ""


def groups_of(reports):
    groups = dict.fromkeys(r.workload.group for r in reports)
    return [(g, [r for r in reports if r.workload.group == g]) for g in groups]


def ratio_cells(comparison):
    if comparison is None:
        return ("–",) * 4
    kind = "win" if comparison.ratio >= 1 else "loss"
    return (
        f'<span class="{kind}">{ratio_text(comparison.ratio)}</span>',
        interval_text(comparison.interval),
        ratio_figure(comparison.low),
        ratio_figure(comparison.high),
    )


def target_text(report, comparison):
    parts = []
    for t in report.targets:
        if comparison is not None and not table.target_fits(t, comparison):
            continue
        mark = {
            True: '<span class="win">pass</span>',
            False: '<span class="loss">miss</span>',
            None: "not measured",
        }[t.passed]
        parts.append(f"{escape(t.text)}: {mark}")
    return "<br>".join(parts) or "–"


def peak(record):
    return quantity(record["peak_rss_bytes"], "B") if record else "–"


def record_for(report, system, variant):
    return next(
        (r for r in report.records if r["system"] == system and r["variant"] == variant), None
    )


def ratio_row(report, comparison):
    w = report.workload
    name, mine, peer, figure = (escape(c) for c in table.cells(report, comparison)[:4])
    theirs = record_for(report, comparison.system, comparison.variant) if comparison else None
    failed = (
        f'<small class="loss">failed: {escape("; ".join(report.failures))}</small>'
        if report.failures
        else ""
    )
    absent = f'<small>no program yet for {escape(", ".join(w.absent))}</small>' if w.absent else ""
    params = ", ".join(f"{k} {v}" for k, v in w.params.items() if k != "hash")
    return (
        f"<b>{name}</b>"
        f'<small>{escape(w.what)}{"; " if params else ""}{escape(params)}</small>{failed}{absent}',
        mine,
        peer.removesuffix(" (default)"),
        figure,
        *ratio_cells(comparison),
        peak(table.ours_of(report)),
        peak(theirs),
        target_text(report, comparison),
    )


def ratio_table(reports):
    header = [
        ("workload", "what"),
        ("garrick", "n"),
        ("peer", ""),
        ("peer’s figure", "n"),
        ("ratio", "n"),
        ("95 %", "n soft"),
        ("worst", "n soft"),
        ("best", "n soft"),
        ("our peak memory", "n"),
        ("peer’s", "n"),
        ("target", ""),
    ]
    return grid(header, [ratio_row(r, c) for r, c in losses_first(reports)])


def latency_table(reports):
    rows = table.latency_rows(reports)
    if not rows:
        return ""
    header = [(name, "n" if 1 < i < 8 else "") for i, name in enumerate(table.LATENCY_HEADER)]
    shown = [[escape(cell.removesuffix(" us")) for cell in row] for row in rows]
    return f'<h3>Latencies</h3><p class="soft">{TAILS}</p>{grid(header, shown)}'


def figure_text(value):
    return "–" if value is None else three(value)


def record_row(record, workloads):
    """One series: its figures, and the details that are no points of a curve."""
    details = ", ".join(
        f"{k} {three(v)}"
        for k, v in record["details"].items()
        if not curves.is_point(workloads, k)
    )
    variant = "" if record["variant"] == "default" else f" ({record['variant']})"
    low, high = figure_text(record["min"]), figure_text(record["max"])
    return (
        f"<b>{escape(record['workload'])}</b>"
        + (f"<small>{escape(details)}</small>" if details else ""),
        escape(record["system"] + variant),
        escape(quantity(record["median"], record["unit"])),
        low if low == high else f"{low} to {high}",
        *(figure_text(record[name]) for name in ("p50", "p99", "p999")),
        str(record["runs"]),
        peak(record),
        figure_text(record["cpu_seconds"]),
        "" if record["checked"] else '<span class="loss">NO</span>',
    )


def record_table(reports):
    workloads = [report.workload for report in reports]
    names = ("median", "lowest to highest", "p50", "p99", "p99.9", "runs", "peak memory", "CPU s")
    header = [("workload", "what"), ("system", ""), *((name, "n") for name in names)]
    rows = [record_row(record, workloads) for report in reports for record in report.records]
    return grid([*header, ("checked", "n")], rows) if rows else ""


def printed(lines):
    return f'<h3>{escape(lines["title"])}</h3><pre>{escape(lines["text"])}</pre>'


def plots(drawn):
    """Plots beside each other, where there is room."""
    shown = "\n".join(f"<div>{one}</div>" for one in drawn if one)
    return f'<div class="plots">{shown}</div>' if shown else ""


def render(reports, environment):
    parts = [
        "<h1>Garrick benchmarks</h1>"
        f"<p class='soft'>{escape(environment['date'])}, {escape(environment['processor'])}, "
        f"{environment['cores used']} cores, {escape(environment['parameters'])} parameters</p>"
        f"<p>{INTRO}</p>",
        "<h2>Means and ratios</h2>",
        means_table(reports),
        plots(plot.ratios(members) for _, members in groups_of(reports)),
        "<h2>Ratios, losses first</h2>" + ratio_table(reports) if reports else "",
    ]
    for group, members in groups_of(reports):
        parts.append(f"<h2>{escape(group)}</h2>")
        drawn = curves.draw(members) + figures.render(members)
        if not drawn and not plot.ratios(members):
            parts.append("<p class='soft'>Nothing to compare in this group.</p>")
        memory = "" if any(r.figures for r in members) else plot.memory(members)
        parts.append(plots((memory, speedups.draw(members))))
        parts.append(drawn and f'<div class="plots">{drawn}</div>')
        parts += [printed(r.lines) for r in members if r.lines]
        parts.append(latency_table(members))
        parts.append(record_table(members))
    rows = "".join(
        f"<dt>{escape(str(k))}</dt><dd>{escape(str(v))}</dd>" for k, v in environment.items()
    )
    parts.append(f"<h2>Environment</h2><dl>{rows}</dl>")
    settings = "".join(
        f"<dt>{escape(c)}</dt><dd>{escape(s)}</dd>" for c, s in thread_settings(reports)
    )
    parts.append(f"<h2>Settings of the programs</h2><dl>{settings}</dl>")
    body = "\n".join(p for p in parts if p)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width'>"
        f"<title>Garrick benchmarks</title><style>{STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def thread_settings(reports):
    seen = {}
    for report in reports:
        for c in report.workload.contenders:
            text = (
                ", ".join(f"{k} {v}" for k, v in c.settings.items()) or "the program's own defaults"
            )
            seen.setdefault(f"{c.system} ({c.variant})", text)
    return sorted(seen.items())
