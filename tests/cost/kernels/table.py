#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of single kernels in docs/accuracy.md: what `validate kernels` says of them, in both ways.

usage: table.py PROGRAM TABLES [--update]     exit 1 if the page says something else; 77 where the tables are missing"""
import json
import pathlib
import subprocess
import sys

PROGRAM, TABLES = sys.argv[1], pathlib.Path(sys.argv[2])
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/accuracy.md"
BEGIN, END = "<!-- kernels -->\n", "<!-- /kernels -->"
# Of each op the kernels that training software calls, or whose like it calls.
MATMULS, ATTENTIONS = ("torch_flow", "sglang"), ("fa3", "flash_attention", "torch_flow", "vllm_flash_attn_fa2")


def told(file, *options):
    words = [PROGRAM, "validate", "kernels", str(TABLES / file), "--format", "json", *options]
    return json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)["kernels"]


def key(group):
    return group["chip"], group["precision"], group["library"], group["kernel"]


def percents(group):
    return "%.1f%% / %.0f%%" % (100 * group["median"], 100 * group["p90"]) if group and group["rows"] else ""


def lines():
    yield "| chip | type | kernel | as plans are priced | form of `cost/kernels` | the form, on shapes not seen |"
    yield "|---|---|---|---:|---:|---:|"
    for op, file, names in (("matmul", "gemm.tsv.gz", MATMULS), ("attention", "attention.tsv.gz", ATTENTIONS)):
        plans = {key(group): group for group in told(file, "--profile", "default")}
        chosen = {}
        for group in told(file):
            at = (group["chip"], group["precision"])
            if group["kernel"] in names and group["rows"] and group["precision"] in ("bf16", "fp8", "nvfp4"):
                chosen.setdefault(at, []).append(group)
        for (chip, precision), groups in sorted(chosen.items()):
            group = min(groups, key=lambda one: (names.index(one["kernel"]), one["figures"]["median"]))
            if op == "attention" and precision != "bf16":
                continue
            yield "| %s | %s | %s: %s, %s | %s | %s | %s |" % (
                chip, precision, op, group["kernel"], group["library"], percents(plans.get(key(group))), percents(group),
                percents({**group["figures"], "rows": 1}))
    for name, file in (("NCCL on NVLink or PCIe", "collectives.tsv.gz"), ("DeepEP, dispatch and combine", "dispatch.tsv.gz"),
                       ("gated delta net, KDA", "linear.tsv.gz"), ("experts, CUTLASS and DeepGEMM", "grouped.tsv.gz")):
        judged = {}
        for group in told(file):
            if not group["rows"] or not group.get("figures", {}).get("judged"):
                continue
            if "experts" in name and group["kernel"] not in ("moe_torch_flow_cutlass", "deepgemm"):
                continue
            figures = group["figures"]
            one = (group["library"], group["kernel"], figures.get("ways"), figures.get("nodes"), group["precision"][:3])
            judged.setdefault(group["chip"], {})[one if "NCCL" not in name else one[:3]] = figures
        for chip, figures in sorted(judged.items()):
            figures = list(figures.values())
            medians, p90s = (sorted(one[part] for one in figures) for part in ("median", "p90"))
            low, high = medians[0], medians[-1]
            yield "| %s | | %s, %d kernels | | | %.1f%% to %.1f%% / %.0f%% to %.0f%% |" % (
                chip, name, len(figures), 100 * low, 100 * high, 100 * p90s[0], 100 * p90s[-1])


def main():
    if not TABLES.is_dir():
        print("no", TABLES)
        sys.exit(77)
    text = "\n".join(lines()) + "\n"
    page = PAGE.read_text()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    if page[begin:end] == text:
        return
    if "--update" in sys.argv:
        PAGE.write_text(page[:begin] + text + page[end:])
    else:
        print("docs/accuracy.md has another table of kernels; tests/cost/kernels/table.py --update writes\n" + text)
        sys.exit(1)


main()
