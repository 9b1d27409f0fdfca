# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole calibration of serving runs: the fit, the cross-validation, the report. `shardopt calibrate` runs this as it
does calibrate.py: the first line of standard output is the fitted profile as JSON, all others are the report
(docs/schema/calibrate_serving.schema.json)."""
import calibrate  # first: it needs numpy and scipy, and sets their threads

import json
import os
import sys

import numpy as np

import serving
import serving_score
from report import table


def number(value):
    """NaN is null."""
    return float(value) if np.isfinite(value) else None


# ---- JSON ----


def error_of(row, predicted, i):
    """Of the time of a token where it was measured, else of the rate's inverse."""
    error = predicted["tpot"][i] / row.tpot - 1
    return number(row.rate / predicted["rate"][i] - 1 if np.isnan(error) else error)


def run_json(row, predicted, i):
    out = {"id": row.id, "mode": row.mode, "group": row.group, "layout": row.layout}
    for name, key in serving_score.METRICS.items():
        was, now, unit = getattr(row, key), predicted[key][i], "" if key == "rate" else "_seconds"
        if np.isfinite(was) or np.isfinite(now):
            out[f"{name}_measured{unit}"], out[f"{name}_predicted{unit}"] = number(was), number(now)
    out["resident"] = float(np.nan_to_num(predicted["resident"][i]))
    out["error"] = error_of(row, predicted, i)
    return out


def stats_json(of):
    return {metric: vars(stats) for metric, stats in of.items() if stats.rows}


def as_json(c, score):
    order = score.order
    summary = {"runs": sum(not row.skipped for row in c.model.rows), **stats_json(score.all)}
    summary["by"] = {by: {name: stats_json(of) for name, of in names.items()} for by, names in score.by.items()}
    summary["order"] = {
        "pairs": order.pairs, "tau": number(order.tau), "tau_chip_seconds": number(order.tau_chip),
        "best_within_5_percent": order.best_within / order.best if order.best else None, "choices": order.best,
        "limits": order.limits, "limits_kept": order.limits_kept}
    return json.dumps({
        "runs": [run_json(row, c.worth, i) for i, row in enumerate(c.model.rows) if not row.skipped],
        "skipped": [{"id": row.id, "reason": row.skipped} for row in c.model.rows if row.skipped],
        "summary": summary}, indent=2, ensure_ascii=False) + "\n"


# ---- text and Markdown ----


def error_rows(state, score):
    rows = []
    for name, of in [("all", score.all), *score.by["kind"].items()]:
        cells = []
        for stats in of.values():
            cells += ([f"{100 * stats.median:.1f}%", f"{100 * stats.p90:.0f}%", f"{100 * stats.bias:+.0f}%"]
                      if stats.rows else [""] * 3)
        rows.append([state, name, *cells])
    return rows


def figure_rows(c):
    rows = []
    pooled = [(c.pooled[engine], "all as one") for engine in c.model.program.engines if engine in c.pooled]
    for cell, chips in [(cell, cell.chips[0] if cell.chips else "others") for cell in c.model.cells] + pooled:
        if cell.rows:
            values = [f"{v:.3g}" if moved else "kept" for v, moved in zip(cell.value, cell.moved)]
            rows.append([cell.engine + (", older" if cell.versions else ""), chips, str(cell.rows), str(cell.groups),
                         *values])
    return rows


def head(c, file, score):
    rows, order = c.model.rows, score.order
    text = (f"{sum(not row.skipped for row in rows)} of {len(rows)} rows of {file} replayed. Errors are predicted / "
            "measured - 1,\neach group of rows weighs one; unseen: by a fit without the groups of its fold, of "
            f"{c.model.folds}.\n")
    if order.pairs:
        text += (f"Order within one load, unseen: tau {order.tau:.3f} of the time of a token, {order.tau_chip:.3f} of "
                 f"chip-seconds per token;\n{order.best_within} of {order.best} choices within 5% of the best; "
                 f"{order.limits_kept} of {order.limits} keep their limit.\n")
    if c.unseen:
        text += f"Nine in ten unseen rows take less than {c.likely_factor:.2f} times what is predicted.\n"
    return text


def as_text(c, file, score, markdown):
    errors = [row for state in ("before", "fitted", "unseen") if getattr(c, state)
              for row in error_rows(state, serving_score.score(c.model.rows, getattr(c, state)))]
    metrics = [heading for name in ("TPOT", "TTFT", "rate") for heading in (f">{name} median", ">p90", ">bias")]
    figures = [">" + figure.key for figure in c.model.figures]
    return (head(c, file, score) + table(markdown, "Errors", ["fit", "of", *metrics], errors) +
            table(markdown, "Figures", ["engine", "chips", ">rows", ">groups", *figures], figure_rows(c)))


def main(arguments):
    words = calibrate.read_words(arguments)
    file = os.path.basename(words.file)
    program = serving.Program(words.shardopt, words.table, words.profile, words.threads, words.facts,
                              values=words.begin == "values")
    c = serving.calibrate(program, words.folds, calibrate.progress_bar())
    print(json.dumps(serving.profile(c, file) if words.output else None))
    score = serving_score.score(c.model.rows, c.worth)
    sys.stdout.write(as_json(c, score) if words.format == "json" else
                     as_text(c, file, score, words.format == "markdown"))
    sys.stdout.flush()
    program.close()


if __name__ == "__main__":
    calibrate.run(main)
