#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether each figure of an older page stands in the document of a newer one: figures.py OLD NEW, two programs; OLD drew its
pages in C: those of plans before the commit that added view/, the others (of OTHERS) before the one that names them. A figure of the old page, in its words or tables, has to be a number of the
new document of that unit, to the digits that were shown; a share may be a part of a whole there; or a text there has it."""

import html
import json
import re
import subprocess
import sys
import tempfile

COMMANDS = [
    "plan --model 405b --pods 8",
    "plan --model 70b --chip h100 --nodes 64 --for megatron",
    "plan --model 8b --chip v5e --slice 4x4 --batch 128Ki --seq 4096",
    "plan --model mixtral-8x7b --chip h100 --nodes 4 --batch 1Mi --seq 4096 --require pipeline=4 --max-idle 0",
    "plan --model 70b --chip v5e --slice 2x2 --batch 128Ki",
    "plan --model 405b --chip h100 --nodes 1",
    "explain --model 8b --chip v5e --slice 4x4 --batch 128Ki --plan fsdp=16",
    "explain --model 405b --chip h100 --nodes 128 --batch 16Mi --padding any --plan 'tensor=8 pipeline=32 data=4 schedule=1f1b'",
]
OTHERS = [  # {here}: reports made by OLD
    "sweep --model 8b,70b --chip v5p,h1000 --chips 16,64 --batch 1Mi --deadline 3000d",
    "sweep --model 8b --chip v5e --slice 4x4 --batch 64Ki,128Ki,256Ki",
    "trace tests/data/traces/rank0.json",
    "trace tests/data/traces/rank0.json tests/data/traces/megatron.log --from {here}/two.json",
    "diff {here}/small.json {here}/large.json",
    "diff {here}/serve.json {here}/serve2.json",
    "validate cost/measured/data/train.jsonl --chip h100,v5p",
    "validate cost/measured/data/nanotron-failed.tsv",
]
REPORTS = {"small": "plan --model 8b --chip v5e --slice 4x4 --batch 64Ki --seq 4096", "large": "plan --model 8b --chip v5e --slice 4x4 --batch 128Ki --seq 4096",
           "two": "plan --model 8b --chip h100 --chips 2 --batch 64Ki", "serve": "inference --model 8b --chip h100 --nodes 1",
           "serve2": "inference --model 8b --chip h200 --nodes 1"}
UNITS = {"s": ("time", 1), "ms": ("time", 1e-3), "us": ("time", 1e-6), "ns": ("time", 1e-9), "minutes": ("time", 60),
         "hours": ("time", 3600), "days": ("time", 86400), "years": ("time", 31557600), "%": ("share", 0.01)}
PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def page_of(program, line):
    made = subprocess.run(["bash", "-c", f"{program} {line} --format html"], capture_output=True, text=True, check=False)
    return made.stdout


def figures_of(page):
    """(text, kind, value, tolerance) of each number in the words and tables."""
    page = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.S)
    text = html.unescape(re.sub(r"<[^>]+>", " | ", page)).replace("\u2212", "-")
    for found in re.finditer(r"(?<![\w.=/x-])([+-]?)(\$?)(\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s?((?:[kMGTP]?(?:B/s|FLOP/s|OP/s|B|token/s)|ns|us|ms|s|minutes|hours|days|years|%|[kMGTP])(?![\w/]))?", text):
        sign, _, digits, unit = found.groups()
        plain = digits.replace(",", "")
        value, places = float(plain), len(plain.partition("e")[0].partition(".")[2])
        kind, scale = UNITS.get(unit or "", (None, None))
        if kind is None:
            prefix = unit[0] if unit and unit[0] in PREFIX and unit not in ("B", "B/s") else ""
            kind, scale = ("bytes" if unit and unit.endswith("B") else "number"), PREFIX[prefix]
        exponent = 10.0 ** int(plain.partition("e")[2] or 0)
        yield found.group().strip(), kind, (-1 if sign == "-" else 1) * value * scale, 0.51 * 10.0**-places * scale * exponent


def numbers_of(value, key="", out=None):
    """{kind: [numbers]} and all texts."""
    out = out if out is not None else {"time": [], "bytes": [], "share": [], "number": [], "texts": []}
    if isinstance(value, dict):
        unit = {"s": "seconds", "B": "bytes", "B/s": "bytes"}.get(value.get("unit"), "")
        whole = key if re.search("seconds|bytes", key) else ""  # a sum's parts have its unit
        for name, part in value.items():
            numbers_of(part, unit if name == "value" else f"{whole} {name}", out)
    elif isinstance(value, list):
        for part in value:
            numbers_of(part, key, out)
        out["number"].append(len(value))
    elif isinstance(value, str):
        out["texts"].append(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        out["number"].append(value)
        if "seconds" in key or key.strip() in ROLES:
            out["time"].append(value)
        if "bytes" in key:
            out["bytes"].append(value)
        out["share"] += [value, 1 - value, value - 1]
    return out


ROLES = {"matmul", "attention", "elementwise", "recompute", "tensor", "expert", "sequence", "fsdp", "data", "pipeline", "waits",
         "bubble", "optimizer", "other", "weights"}


def derived(document, found):
    """What the page computes of a document: parts of wholes, changes, sums of bars."""
    plans = document["plans"]
    wholes = [(plan["step"]["seconds"], "time") for plan in plans] + [(plan["ranked_seconds"], "time") for plan in plans[:1]]
    wholes += [(plan["memory"]["limit_bytes"], "bytes") for plan in plans[:1]]
    line = document.get("timeline") or {}
    wholes += [(line[key], "time") for key in ("passes_end_seconds", "step_seconds") if key in line]
    for one in (line, line.get("layer") or {}):
        for row in one.get("rows", []):
            found["time"] += [b - a for a, b in zip(row["begin_seconds"], row["end_seconds"])]
    if "layer" in line:
        wholes.append((line["layer"]["end_seconds"], "time"))
    if "forward_compute_seconds" in line:
        for name in ("forward", "backward"):
            found["share"].append(line[f"{name}_compute_seconds"] / (line[f"{name}_compute_seconds"] + line[f"{name}_exposed_seconds"]))
    for whole, kind in wholes:
        found["share"] += [value / whole for value in found[kind]] + [value / whole - 1 for value in found[kind]]
    moments = [moment for plan in plans for moment in plan.get("memory_moments", [])] + [plan["memory"] for plan in plans]
    for memory in moments + ([document["shortfall"]["memory"]] if "shortfall" in document else []):
        found["bytes"].append(sum(value for key, value in memory.items() if key.endswith("_bytes") and key not in ("total_bytes", "limit_bytes", "reserve_bytes")))
    around = document.get("around") or {}
    points = [point for point in around.get("scaling", []) if point["found"]]
    found["share"] += [a["training_seconds"] * a["chips"] / b["training_seconds"] / b["chips"] for a in points for b in points]
    found["share"] += [abs(miss["factor"] - 1) for miss in around.get("near_misses", []) if miss["figure"]]
    moves = [move for figure in around.get("figures", []) for move in figure["moves"]]
    searched = [move for move in moves if move["basis"] == "search"]
    found["number"] += [len(searched), sum(not move.get("changed") for move in searched), sum(move["basis"] == "plans" for move in moves)]


def derived_of_others(document, found):
    """Ratios and differences of what is measured and predicted, or of A and B; counts."""
    if isinstance(document, list):
        found["number"] += [sum(row["state"] == state for row in document) for state in ("ok", "no_plan", "not_proven", "error")]
        found["number"] += list(range(1, 1 + len({row["message"] for row in document})))
        return
    for row in document.get("terms", []):
        found["share"].append(row["exposed_measured_seconds"] / document["step_seconds"])
        if row.get("predicted_seconds"):
            found["number"].append(row["measured_seconds"] / row["predicted_seconds"])
    if document.get("predicted_step_seconds"):
        found["share"].append(document["step_seconds"] / document["predicted_step_seconds"] - 1)
    for log in document.get("logs", []):
        found["number"].append(document["step_seconds"] / log["step_median_seconds"])
        if document.get("predicted_step_seconds"):
            found["share"].append(log["step_median_seconds"] / document["predicted_step_seconds"] - 1)
        found["share"] += [timer["most_seconds"] / timer["predicted_seconds"] - 1 for timer in log.get("timers", []) if timer.get("predicted_seconds")]
    for group, kind in (("figures", "number"), ("terms_seconds", "time"), ("memory_bytes", "bytes")):
        rows = list((document.get(group) or {}).values())
        for row in rows + [{side: sum(row[side] for row in rows) for side in "ab"}] * bool(rows):
            found[kind] += [row["a"], row["b"], row["b"] - row["a"]]
            found["share"] += [row["b"] / row["a"] - 1] if row["a"] else []
    for plan in document.get("plans", []):
        if plan["rank_a"] and plan["rank_b"]:
            found["share"].append(plan["step_seconds_b"] / plan["step_seconds_a"] - 1)
    for run in document.get("runs", []):
        if run["memory_measured_bytes"]:
            found["share"].append(run["memory_predicted_bytes"] / run["memory_measured_bytes"] - 1)
    reasons = [run["reason"] for run in document.get("skipped", [])]
    found["number"] += [reasons.count(reason) for reason in set(reasons)]


def main():
    old, new = sys.argv[1:3]
    missing = checked = 0
    here = tempfile.mkdtemp()
    others = OTHERS if "id=\"document\"" not in page_of(old, OTHERS[2]) else []
    plans = COMMANDS if "id=\"document\"" not in page_of(old, COMMANDS[-2]) else []
    for name, words in REPORTS.items() if others else ():
        subprocess.run(f"{old} {words} -q --format json -o {here}/{name}.json", shell=True, check=True)
    for line in plans + [line.replace("{here}", here) for line in others]:
        document = json.loads(re.search(r'id="document">(.*?)</script>', page_of(new, line), re.S).group(1))
        found = numbers_of(document)
        if line in plans:
            derived(document, found)
        else:
            derived_of_others(document, found)
        texts = " | ".join(found["texts"]).replace(",", "")
        lost = []
        for text, kind, value, within in figures_of(page_of(old, line)):
            checked += 1
            if re.search(r"(?<![\d.])" + re.escape(text.lstrip("+-").replace(",", "")) + r"(?!\d)", texts):
                continue
            if not any(abs(abs(one) - abs(value)) <= within for one in found[kind]):
                lost.append(text)
        missing += len(lost)
        print(f"{'FAIL' if lost else 'ok'} {line}: {len(lost)} figures of the old page are not in the document: {lost[:12]}" if lost else f"ok {line}")
    print(f"{checked} figures, {missing} missing")
    sys.exit(1 if missing or checked < 300 else 0)


if __name__ == "__main__":
    main()
