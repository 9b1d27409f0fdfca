# SPDX-License-Identifier: GPL-3.0-or-later
"""What a calibration is worth, as text, Markdown and JSON (docs/schema/calibrate.schema.json)."""
import json
import math

import numpy as np

import fit

# Of each line of the summary its key in JSON and its name.
LINES = {
    "before": "before the fit",
    "fitted": "fitted",
    "fitted_without_flagged": "fitted without the flagged runs",
    "by_groups": "left out by groups of source, model and chip",
    "by_sources": "left out by sources",
    "by_sources_chip_known": "  of these: chip known from other sources",
    "by_sources_chip_unknown": "  of these: chip known from this source alone",
}
# The lines that JSON has of each run.
OF_RUNS = ("before", "fitted", "fitted_without_flagged", "by_groups", "by_sources")
WORST, WORST_VERBOSE = 8, 40
WORDS = {"determined": "", "leans": "leans on its prior", "kept": "kept its prior"}


# ---- JSON ----


def stats_of(errors):
    return {"runs": errors.runs, "median": errors.median, "p90": errors.p90, "worst": errors.worst, "bias": errors.bias}


def group_json(group):
    out = {"name": group.name}
    out.update((key, stats_of(group.errors[key])) for key in group.errors if group.errors[key].runs)
    if group.range:
        out.update(likely_low=group.range.low, likely_high=group.range.high, inside=group.inside)
    return out


def figure_json(c, j):
    p = c.model.parameters[j]
    of, entry, key = p.figure
    word = fit.verdict(p, c.solution.deviation[j])
    return {"profile" if of == "profiles" else "stack": entry, "figure": key, "value": c.set.at(p.figure)["value"],
            "deviation": p.sigma if p.held else float(c.solution.deviation[j]),
            "prior": float(c.model.prior(j, c.solution.x)), "sigma": p.sigma,
            "data_share": 0 if p.held else float(c.solution.data_share[j]),
            "runs": c.set.at(p.figure).get("runs", 0), "determined": word == "determined", "kept_prior": word == "kept",
            "at_bound": bool(c.solution.at_bound[j])}


def run_json(c, i):
    run = c.model.runs[i]
    out = {"id": run.id, "measured_seconds": run.measured_seconds, "unknowns": run.guesses}
    out.update((f"{key}_seconds", float(c.seconds[key][i])) for key in OF_RUNS
               if key in c.seconds and np.isfinite(c.seconds[key][i]))
    if c.groups:
        out["fold"] = int(c.groups.fold[i])
    if run.flagged:
        out["flagged"] = True
    return out


def as_json(c, facts):
    summary = {key: stats_of(errors) for key, errors in c.lines.items() if errors.runs}
    summary["by"] = {"source": [group_json(g) for g in c.by_source], "chip": [group_json(g) for g in c.by_chip]}
    return json.dumps({
        "format_version": 1, "file": facts.file, "sha256": facts.sha256, "start": facts.start,
        "begins_at": c.model.start, "converged": bool(c.solution.converged),
        "runs": [run_json(c, i) for i in np.flatnonzero(c.model.usable)],
        "skipped": [{"id": name, "reason": reason} for name, reason in c.skipped],
        "summary": summary, "figures": [figure_json(c, j) for j in range(len(c.model.parameters))],
    }, indent=2, ensure_ascii=False) + "\n"


# ---- text and Markdown ----


def table(markdown, title, headings, rows):
    """A heading that begins with ">" is of numbers, which stand to the right."""
    names, right = [h.lstrip(">") for h in headings], [h.startswith(">") for h in headings]
    if markdown:
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in [names] + rows]
        lines = ["| " + " | ".join(row) + " |" for row in escaped]
        lines.insert(1, "|" + "|".join("---:" if r else "---" for r in right) + "|")
        return f"\n### {title}\n\n" + "\n".join(lines) + "\n"
    widths = [max(len(row[c]) for row in [names] + rows) for c in range(len(names))]
    lines = ["  ".join(cell.rjust(w) if r and c < len(row) - (not names[-1]) else cell.ljust(w)
                       for c, (cell, w, r) in enumerate(zip(row, widths, right))).rstrip() for row in [names] + rows]
    return f"\n{title}\n" + "\n".join(lines) + "\n"


def error_cells(errors):
    return [f"{100 * errors.median:.1f}%", f"{100 * errors.p90:.1f}%"] if errors.runs else ["-", "-"]


def summary(c, markdown):
    rows = []
    for key, errors in c.lines.items():
        if not errors.runs:
            continue
        name = "left out by runs: all are of one group" if key == "by_groups" and c.groups.by_run else LINES[key]
        rows.append([name.strip() if markdown else name, str(errors.runs), *error_cells(errors),
                     f"{100 * errors.worst:.0f}%", f"{100 * errors.bias:+.1f}%", *error_cells(c.families[key])])
    return table(markdown, "Error", ["error of predicted steps", ">runs", ">median", ">p90", ">worst", ">bias",
                                     ">families: median", ">p90"], rows)


def order_line(name, order):
    if not order or not order.pairs:
        return ""
    text = f"Order of plans, {name}: tau {order.tau:.2f} over {order.pairs} pairs in {order.groups} groups"
    if order.large:
        text += (f"; in {order.large} groups of at least 10 plans median tau {order.cell_tau:.2f}, the plan predicted "
                 f"best is {100 * order.cell_median:.1f}% behind the best in the median and "
                 f"{100 * order.cell_p90:.1f}% at the 90th percentile")
    return text + ".\n"


def sentences(c):
    out = "\n"
    if c.groups:
        out += (f"Measured inside the likely range that is written: {100 * c.inside_groups:.0f}% of the runs left out "
                f"by groups, {100 * c.inside_sources:.0f}% of those left out by sources.\n")
    return out + order_line("fitted", c.fitted_order) + order_line("left out by groups", c.unseen_order)


def groups(markdown, title, what, found, chips):
    headings = [what, ">runs", ">fitted: median", ">p90", ">bias", ">by groups: median", ">p90", ">by sources: median",
                ">p90"] + [">likely", ">inside"] * chips
    rows = []
    for g in found:
        fitted = g.errors["fitted"]
        row = [g.name, str(fitted.runs), *error_cells(fitted), f"{100 * fitted.bias:+.1f}%",
               *error_cells(g.errors["by_groups"]), *error_cells(g.errors["by_sources"])]
        if chips and g.range:
            row += [f"{100 * (g.range.low - 1):+.0f}% to {100 * (g.range.high - 1):+.0f}%", f"{100 * g.inside:.0f}%"]
        elif chips:
            row += ["-", "-"]
        rows.append(row)
    return table(markdown, title, headings, rows)


def worst(c, markdown, verbose):
    """The runs that are furthest off when a fit has not seen them (else: when it has)."""
    line = "by_groups" if c.groups else "fitted"
    errors = {key: c.seconds[key] / c.model.measured - 1 for key in ("fitted", "by_groups", "by_sources")
              if key in c.seconds}
    off = [i for i in range(len(c.model.runs)) if np.isfinite(errors[line][i])]
    off.sort(key=lambda i: (-abs(errors[line][i]), i))
    rows = []
    for i in off[:WORST_VERBOSE if verbose else WORST]:
        run = c.model.runs[i]
        cells = [f"{100 * errors[key][i]:+.1f}%" if key in errors and np.isfinite(errors[key][i]) else "-"
                 for key in ("fitted", "by_groups", "by_sources")]
        rows.append([run.id, f"{run.measured_seconds:.4g}", *cells, "flagged" if run.flagged else ""])
    return table(markdown, "Furthest off", ["run", ">measured s", ">fitted", ">by groups", ">by sources", ">"], rows)


def deviation_cell(deviation):
    """In percent of the value, where that is meaningful."""
    return f"{100 * deviation:.0f}%" if deviation < 0.5 else f"x{math.exp(deviation):.1f}"


def figures(c, markdown):
    rows, determined = [], 0
    for j, p in enumerate(c.model.parameters):
        own, word = figure_json(c, j), WORDS[fit.verdict(p, c.solution.deviation[j])]
        determined += own["determined"]
        note = word + (", " if own["at_bound"] and word else "") + ("at its bound" if own["at_bound"] else "")
        rows.append([f"{p.figure[1]}.{p.figure[2]}", f"{own['value']:.4g}", deviation_cell(own["deviation"]),
                     f"{own['prior']:.4g}", deviation_cell(own["sigma"]), str(own["runs"]), note])
    title = f"Figures: {len(rows)}, of which the runs determine {determined}"
    title += "" if c.solution.converged else " (the fit was stopped before it converged)"
    return table(markdown, title, ["figure", ">value", ">+-", ">prior", ">+-", ">runs", ">"], rows)


def as_text(c, facts, markdown):
    left = int((c.model.usable & (c.weights == 0)).sum())
    out = "## Calibration\n\n" if markdown else ""
    out += f"{len(c.model.runs)} runs of {facts.file} (SHA-256 {facts.sha256[:12]}): "
    out += f"{int(c.model.usable.sum())} replayed"
    if c.skipped:
        out += f", {len(c.skipped)} not" + ("" if facts.verbose else " (-v lists them)")
    if left:
        out += f", {left} left out as flagged"
    begun = ("from its priors" if c.model.start == "priors" else
             "going on from its values: only what these runs determine moves")
    out += f"\nfitted from {facts.start}, {begun}\n"
    out += f"written to {facts.written}\n" if facts.written else ""
    out += summary(c, markdown) + sentences(c)
    out += groups(markdown, "By source", "source", c.by_source, False)
    out += groups(markdown, "By chip generation", "chip", c.by_chip, True)
    out += worst(c, markdown, facts.verbose) + figures(c, markdown)
    if facts.verbose and c.skipped:
        out += table(markdown, "Not replayed", ["not replayed", "because"], [list(row) for row in c.skipped])
    return out
