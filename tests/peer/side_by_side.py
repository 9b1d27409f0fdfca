#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""shardopt beside aiconfigurator on the same measured rows: errors of the time of a token (TPOT) and of the first (TTFT).

    python3 tests/peer/side_by_side.py --shardopt build/shardopt

The peer's predictions are aiconfigurator.tsv, which predict.py wrote. Of shardopt two are shown: `unseen`, by fits that
had no row of the fold's groups (`calibrate --format json`, a minute), and `fitted`, by the profile that is shipped
(`validate --format json`). Errors are |predicted / measured - 1| over the rows that both price, each row weighs one; why.tsv
has the reason where the peer is ahead in a series. `--gate` says nothing and fails where the shipped profile is not ahead of
the peer, in the median and in the mean of both figures, over all rows without drafts.
"""
import argparse
import collections
import csv
import json
import os
import statistics
import subprocess
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
METRICS = ("tpot", "ttft")
TRACKS = ("aiconfigurator", "unseen", "fitted")


def table_of(path):
    """(comments, rows by id or as they come)"""
    with open(path, newline="") as file:
        lines = file.readlines()
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    return [line[1:].strip() for line in lines if line.startswith("#")], rows


def predictions_of(document):
    """Seconds by id and metric."""
    return {run["id"]: {metric: run.get(f"{metric}_predicted_seconds") for metric in METRICS}
            for run in document["runs"]}


def asked(options, command):
    if command == "validate" and options.fitted:
        return json.load(open(options.fitted))
    if command == "calibrate" and options.unseen:
        return json.load(open(options.unseen))
    words = [options.shardopt, command, options.table, "--format", "json"]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def runs_of(options, peer):
    """The measured rows that the peer predicts: id, kind, series, seconds as measured."""
    models = json.loads(subprocess.run([options.shardopt, "models", "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
    mixtures = {name for model in models if model["experts"] for name in (model["name"], *model["aliases"])}
    for line in open(options.table, encoding="utf-8"):
        run = json.loads(line)
        request, measured = run["request"], run.get("measured", {})
        pools = "prefill" in run.get("plan", {})
        if run["id"] not in peer:
            continue
        kind = "two pools" if pools else "mixture" if request["model"] in mixtures else "dense"
        yield {"id": run["id"], "kind": f"{kind}, drafts?" if request.get("drafts_unknown") else kind,
               "series": f"{request['model']} {request['chip']} {request['engine']}" + (" two pools" if pools else ""),
               "measured": {metric: measured.get(f"{metric}_seconds", 0) for metric in METRICS}}


def signed(rows, track, metric):
    return [row["seconds"][track][metric] / row["measured"][metric] - 1 for row in rows]


def errors_of(rows, track, metric):
    return [abs(error) for error in signed(rows, track, metric)]


def tenth_worst(errors):
    """Nine in ten are no larger."""
    return sorted(errors)[max(0, -(-9 * len(errors) // 10) - 1)]


def paired(rows, metric, tracks):
    """Rows that have the measured figure and that all of these price."""
    return [row for row in rows if row["measured"][metric] and all(row["seconds"][t].get(metric) for t in tracks)]


def cells_of(errors):
    if not errors:
        return ["", "", ""]
    return [f"{100 * statistics.median(errors):.1f}%", f"{100 * statistics.mean(errors):.1f}%",
            f"{100 * tenth_worst(errors):.0f}%"]


def print_table(head, rows):
    widths = [max(len(str(line[i])) for line in [head, *rows]) for i in range(len(head))]
    for line in [head, *rows]:
        cells = [str(cell).ljust(width) if i < 2 else str(cell).rjust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def kinds_of(rows):
    kinds = collections.defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    return {"without drafts": kinds["dense"] + kinds["mixture"], **dict(sorted(kinds.items()))}


def print_kinds(rows, tracks):
    lines = []
    for kind, members in kinds_of(rows).items():
        for track in tracks:
            priced = sum(1 for row in members if row["seconds"][track].get("tpot") or row["seconds"][track].get("ttft"))
            cells = [cells_of(errors_of(paired(members, metric, tracks), track, metric)) for metric in METRICS]
            name = track if track == "aiconfigurator" else f"shardopt, {track}"
            lines.append([kind, name, f"{priced} of {len(members)}", len(paired(members, "tpot", tracks)), *cells[0],
                          *cells[1]])
    print_table(["rows", "of", "priced", "by both", "TPOT median", "mean", "p90", "TTFT median", "mean", "p90"], lines)


def ahead(rows, track, metric):
    """Of the peer, in the median and in the mean."""
    own, peer = errors_of(rows, track, metric), errors_of(rows, "aiconfigurator", metric)
    return statistics.median(own) <= statistics.median(peer) and statistics.mean(own) <= statistics.mean(peer)


def print_series(rows, tracks, reasons):
    """Series in which the peer's median or mean is less."""
    series = collections.defaultdict(list)
    for row in rows:
        series[row["series"]].append(row)
    lines, said = [], []
    shown = "unseen" if "unseen" in tracks else "fitted"
    for name, members in sorted(series.items()):
        for metric in METRICS:
            both = paired(members, metric, tracks)
            if not both or ahead(both, shown, metric):
                continue
            cells = []
            for track in tracks:
                errors, bias = errors_of(both, track, metric), statistics.median(signed(both, track, metric))
                cells.append(f"{100 * statistics.median(errors):.0f}% {100 * statistics.mean(errors):3.0f}% "
                             f"{100 * bias:+4.0f}%")
            lines.append([name, metric.upper(), len(both), *cells])
            said.append((name, metric))
    print(f"\nSeries where the peer is ahead of `{shown}` in the median or in the mean, {len({s for s, _ in said})} of "
          f"{len(series)}: median, mean, and the median with its sign.")
    print_table(["series", "of", "rows", *tracks], lines)
    print("\nWhy:")
    why = collections.defaultdict(list)
    for name, metric in said:
        why[reasons.get((name, metric)) or "not known"].append(f"{name} ({metric.upper()})")
    for reason, names in sorted(why.items()):
        print(textwrap.fill(f"{', '.join(names)}: {reason}.", 118, initial_indent="- ", subsequent_indent="  ",
                            break_on_hyphens=False))


def print_refused(rows):
    for track, name in (("aiconfigurator", "aiconfigurator"), ("fitted", "shardopt")):
        refused = [row for row in rows if not row["seconds"][track].get("tpot")]
        counts = collections.Counter(row["series"] for row in refused)
        text = "; ".join(f"{series} {count}" for series, count in sorted(counts.items()))
        print(textwrap.fill(f"{name} does not price {len(refused)} of {len(rows)} rows: {text or 'none'}.", 118,
                            break_on_hyphens=False))


def gate(rows, document, by_id):
    """One line for each thing that does not hold. The errors of a row are also `validate`'s own."""
    members = kinds_of(rows)["without drafts"]
    for metric in METRICS:
        if not ahead(paired(members, metric, ("aiconfigurator", "fitted")), "fitted", metric):
            yield f"{metric.upper()}: the peer is ahead of the shipped profile"
    for run in document["runs"]:
        row = by_id.get(run["id"])
        if row and row["measured"]["tpot"] and run.get("tpot_predicted_seconds"):
            own = signed([row], "fitted", "tpot")[0]
            if abs(own - run["error"]) > 1e-9:
                yield f"{run['id']}: its error is {own} here, {run['error']} in the answer"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shardopt", default="shardopt")
    parser.add_argument("--table", default="cost/measured/data/serving.jsonl")
    parser.add_argument("--peer", default=os.path.join(HERE, "aiconfigurator.tsv"))
    parser.add_argument("--fitted", help="what `validate TABLE --format json` wrote")
    parser.add_argument("--unseen", help="what `calibrate TABLE --format json` wrote; none: leave it out")
    parser.add_argument("--gate", action="store_true")
    options = parser.parse_args()
    comments, peer = table_of(options.peer)
    peer = {row["id"]: {metric: float(row[f"{metric}_ms"]) / 1000 if row[f"{metric}_ms"] else None
                        for metric in METRICS} for row in peer}
    shipped = asked(options, "validate")
    seconds = {"aiconfigurator": peer, "fitted": predictions_of(shipped)}
    if options.unseen != "none" and not options.gate:
        seconds["unseen"] = predictions_of(asked(options, "calibrate"))
    tracks = [track for track in TRACKS if track in seconds]
    rows = list(runs_of(options, peer))
    for row in rows:
        row["seconds"] = {track: seconds[track].get(row["id"], {}) for track in tracks}
    if options.gate:
        wrong = list(gate(rows, shipped, {row["id"]: row for row in rows}))
        print("\n".join(wrong) or f"{len(rows)} rows: ahead of the peer")
        raise SystemExit(1 if wrong else 0)
    _, reasons = table_of(os.path.join(HERE, "why.tsv"))
    print(f"{len(rows)} measured rows; {comments[0]}\n")
    print_kinds(rows, tracks)
    print()
    print_refused(rows)
    print_series(rows, tracks, {(row["series"], row["metric"]): row["why"] for row in reasons})


if __name__ == "__main__":
    main()
