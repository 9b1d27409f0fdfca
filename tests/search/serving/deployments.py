#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Published throughput of deployments beside shardopt's, each under the conditions of its source.

Rows are tests/data/serving/deployments.tsv. At least 15 in 20 have to be within a quarter, and a row that is not has to
say why; one that is within says nothing. --markdown prints the table of docs/accuracy.md.
"""
import argparse
import json
import math
import os
import shlex
import subprocess
import sys

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "data", "serving", "deployments.tsv")
WITHIN = 0.25


def rows():
    with open(DATA, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def predicted(program, options):
    words = shlex.split(options) + ["--ttft", "1000s"]
    if "--mode prefill" not in options and "--tpot" not in options:
        words += ["--tpot", "100s"]
    done = subprocess.run([program, "inference", *words, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAIL {options}: exit {done.returncode}: {done.stderr}")
    point = json.loads(done.stdout)["best_point"]
    pools = [pool["workers"] * math.prod(pool["axes"][a] for a in ("tensor", "attention_data", "pipeline"))
             for pool in point["pools"]]
    return point["tokens_per_second_per_chip"], pools


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shardopt", required=True)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    within, wrong, table = 0, [], rows()
    if options.markdown:
        print("| deployment | tokens/s a chip, published | here | error | why |\n|---|---|---|---|---|")
    for row in table:
        published = float(row["published"])
        rate, pools = predicted(options.shardopt, row["options"])
        error = rate / published - 1
        near = abs(error) <= WITHIN
        if row["pools"]:
            near = near and all(abs(a / int(b) - 1) <= WITHIN for a, b in zip(pools, row["pools"].split("+"), strict=True))
        within += near
        if near == bool(row["reason"]):
            wrong.append(f"{row['name']}: {100 * error:+.0f}% " + ("has a reason" if near else "has no reason"))
        form = "| {} | {:,.0f} {} | {:,.0f} | {:+.0f}% | {} |" if options.markdown else "{:54s} {:8,.0f} {:6s} {:8,.0f} {:+4.0f}%  {}"
        print(form.format(row["name"], published, row["counts"], rate, 100 * error, row["reason"]))
    print(f"\n{within} of {len(table)} within {100 * WITHIN:.0f}%.", file=sys.stderr)
    if wrong or len(table) < 20 or within < 0.75 * len(table):
        sys.exit("FAIL " + "; ".join(wrong or ["too few are within it"]))


if __name__ == "__main__":
    main()
