#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether each figure of an older page stands in the document of a newer one: figures.py OLD NEW, two programs; OLD drew its
pages in C (before the commit that added view/). A figure of the old page, in its words or tables, has to be a number of the
new document of that unit, to the digits that were shown; a share may be a part of a whole there; or a text there has it."""

import html
import json
import re
import subprocess
import sys

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
        for name, part in value.items():
            numbers_of(part, unit if name == "value" else name, out)
    elif isinstance(value, list):
        for part in value:
            numbers_of(part, key, out)
        out["number"].append(len(value))
    elif isinstance(value, str):
        out["texts"].append(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        out["number"].append(value)
        if "seconds" in key or key in ROLES:
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


def main():
    old, new = sys.argv[1:3]
    missing = checked = 0
    for line in COMMANDS:
        document = json.loads(re.search(r'id="document">(.*?)</script>', page_of(new, line), re.S).group(1))
        found = numbers_of(document)
        derived(document, found)
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
    sys.exit(1 if missing or checked < 1000 else 0)


if __name__ == "__main__":
    main()
