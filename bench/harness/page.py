"""build/bench/report.html: one file without references to others."""

from html import escape

from . import curves, figures, plot, speedups, table
from .compare import interval_text, losses_first, quantity, ratio_text

STYLE = """
:root { --paper:#fbfaf7; --ink:#1d1f24; --soft:#6b6f76; --line:#dcd8cf;
        --win:#1f7a5c; --loss:#b8402a; --peer:#8a93a3; --mark:#c08a1e; }
@media (prefers-color-scheme: dark) {
  :root { --paper:#16181c; --ink:#e8e6e1; --soft:#9a9da3; --line:#33363d;
          --win:#4fc195; --loss:#ef7f66; --peer:#7f8999; --mark:#e0b354; }
}
* { box-sizing: border-box; }
body { margin:0 auto; max-width:1120px; padding:32px 24px 80px;
       background:var(--paper); color:var(--ink);
       font:15px/1.5 "Source Sans 3","Noto Sans",system-ui,sans-serif; }
h1 { font-size:28px; margin:0 0 4px; letter-spacing:-.01em; }
h2 { font-size:19px; margin:40px 0 8px; } h3 { font-size:16px; margin:28px 0 2px; }
p { max-width:78ch; }
.soft { color:var(--soft); } .scroll { overflow-x:auto; }
table { border-collapse:collapse; width:100%; font-variant-numeric:tabular-nums; }
th { text-align:left; font-weight:600; color:var(--soft); font-size:13px; }
th, td { padding:6px 14px 6px 0; border-bottom:1px solid var(--line); vertical-align:top;
         white-space:nowrap; }
td.n, th.n { text-align:right; } td.what { white-space:normal; min-width:15em; }
.what small { display:block; color:var(--soft); }
.win { color:var(--win); font-weight:600; } .loss { color:var(--loss); font-weight:600; }
svg { display:block; width:100%; height:auto; margin:8px 0 4px; }
svg text { fill:var(--ink); font-size:13px; }
svg .axis text { fill:var(--soft); font-size:12px; } svg .grid { stroke:var(--line); }
pre { overflow-x:auto; font-size:13px; line-height:1.35; }
dl { display:grid; grid-template-columns:max-content 1fr; gap:4px 20px; }
dt { color:var(--soft); } dd { margin:0; overflow-wrap:anywhere; }
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


def ratio_cell(comparison):
    if comparison is None:
        return '<td class="n">–</td>' * 4
    kind = "win" if comparison.ratio >= 1 else "loss"
    return (
        f'<td class="n {kind}">{ratio_text(comparison.ratio)}</td>'
        f'<td class="n soft">{interval_text(comparison.interval)}</td>'
        f'<td class="n soft">{comparison.low:.2f}</td>'
        f'<td class="n soft">{comparison.high:.2f}</td>'
    )


def target_cell(report, comparison):
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
    return f"<td>{'<br>'.join(parts) or '–'}</td>"


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
        f'<tr><td class="what"><b>{name}</b>'
        f'<small>{escape(w.what)}{"; " if params else ""}{escape(params)}</small>{failed}{absent}'
        f'</td><td class="n">{mine}</td><td>{peer}</td>'
        f'<td class="n">{figure}</td>{ratio_cell(comparison)}'
        f'<td class="n">{peak(table.ours_of(report))}</td>'
        f'<td class="n">{peak(theirs)}</td>{target_cell(report, comparison)}</tr>'
    )


def ratio_table(reports):
    head = (
        "<tr><th>workload</th><th class=n>garrick</th><th>peer</th><th class=n>peer’s figure</th>"
        "<th class=n>ratio</th><th class=n>95 %</th><th class=n>worst</th><th class=n>best</th>"
        "<th class=n>our peak memory</th>"
        "<th class=n>peer’s</th><th>target</th></tr>"
    )
    rows = "\n".join(ratio_row(r, c) for r, c in losses_first(reports))
    return f'<div class="scroll"><table>{head}\n{rows}</table></div>'


def latency_table(reports):
    rows = table.latency_rows(reports)
    if not rows:
        return ""
    head = "".join(
        f'<th class="{"n" if 1 < i < 8 else ""}">{escape(name)}</th>'
        for i, name in enumerate(table.LATENCY_HEADER)
    )
    body = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="{"n" if 1 < i < 8 else ""}">{escape(cell.removesuffix(" us"))}</td>'
            for i, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<h3>Latencies</h3><p class="soft">{TAILS}</p>'
        f'<div class="scroll"><table><tr>{head}</tr>\n{body}</table></div>'
    )


def record_table(reports):
    names = (
        "system",
        "variant",
        "median",
        "min",
        "max",
        "p50",
        "p99",
        "p999",
        "runs",
        "peak_rss_bytes",
        "cpu_seconds",
        "checked",
    )
    rows = []
    workloads = [report.workload for report in reports]
    for r in [record for report in reports for record in report.records]:
        details = {k: v for k, v in r["details"].items() if not curves.is_point(workloads, k)}
        cells = [f"<td>{escape(r['workload'])}</td>"]
        for name in names:
            value = r[name]
            text = (
                "–"
                if value is None
                else (
                    quantity(value, "B")
                    if name == "peak_rss_bytes"
                    else (
                        ("yes" if value else "NO")
                        if name == "checked"
                        else f"{value:.5g}" if isinstance(value, float) else str(value)
                    )
                )
            )
            cells.append(
                f'<td class="{"n" if name not in ("system", "variant") else ""}">{escape(text)}'
                '</td>'
            )
        cells.append(f"<td>{escape(r['unit'])}</td>")
        cells.append(
            f"<td>{escape(', '.join(f'{k} {v:.4g}' for k, v in details.items()))}</td>"
        )
        rows.append("<tr>" + "".join(cells) + "</tr>")
    head = "".join(
        f'<th class="{"n" if n not in ("system", "variant") else ""}">{n.replace("_", " ")}</th>'
        for n in names
    )
    return (
        f'<div class="scroll"><table><tr><th>workload</th>{head}<th>unit</th><th></th></tr>'
        f'{"".join(rows)}</table></div>'
    )


def printed(lines):
    return f'<h3>{escape(lines["title"])}</h3><pre>{escape(lines["text"])}</pre>'


def render(reports, environment):
    parts = [
        "<h1>Garrick benchmarks</h1>"
        f"<p class='soft'>{escape(environment['date'])}, {escape(environment['processor'])}, "
        f"{environment['cores used']} cores, {escape(environment['parameters'])} parameters</p>"
        f"<p>{INTRO}</p>",
        "<h2>Ratios, losses first</h2>",
        ratio_table(reports),
    ]
    for group in dict.fromkeys(r.workload.group for r in reports):
        members = [r for r in reports if r.workload.group == group]
        parts.append(f"<h2>{escape(group)}</h2>")
        drawn = curves.draw(members) + figures.render(members)
        parts.append(
            plot.ratios(members)
            or ("" if drawn else "<p class='soft'>Nothing to compare in this group.</p>")
        )
        parts.append("" if any(r.figures for r in members) else plot.memory(members))
        parts.append(drawn)
        parts.append(speedups.draw(members))
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
