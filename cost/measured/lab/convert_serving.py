#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of measured serving runs as exact requests, one line of JSON each.

    python3 cost/measured/lab/convert_serving.py [--shardopt build/shardopt] TABLE.tsv >RUNS.jsonl

The rules by which the words of the table are read stand here and nowhere else; the program reads what this writes. For
every row stderr says what was taken of it, or why the row is no request. Columns: README.md.
"""
import argparse
import collections
import csv
import json
import sys

from tables import ROOT, Program

ENGINES = ("vllm", "sglang", "tensorrt-llm", "maxtext")
FORKS = {"vllm-tpu": "vllm", "jetstream-pytorch": "maxtext", "trtllm": "tensorrt-llm"}
# The first that the words hold: "fp4(gemm nvfp4, moe nvfp4)", "fp8(gemm fp8, moe fp8_block)", "w8a8".
TYPES = {"mxfp4": "mxfp4", "fp4": "nvfp4", "fp8": "fp8", "int8": "int8", "w8a8": "int8", "int4": "int4"}
LOADS = ("closed-loop", "offline-max", "open-loop-inf", "open-loop", "static-batch", "prefill-only")
PROFILE = json.loads((ROOT / "cost/serving/profiles/default.json").read_text())["published_weights"]
PUBLISHED = {model: entry["weights"] for entry in PROFILE for model in entry["models"]}
WAYS = {"workers": "workers", "tensor": "tp", "pipeline": "pp", "attention_data": "attn_dp", "expert": "ep"}
LENGTH_SHARE = 0.9  # InferenceX draws lengths between 80% and 100% of those that its tables list (InferenceX@843c625)


def number(text):
    """Nothing where the source says nothing, and of arrivals that are all at once."""
    return None if not text or text == "inf" else int(text) if text.isdigit() else float(text)


def seconds(text):
    return float(text) / 1000 if text else None


def given(**figures):
    return {key: value for key, value in figures.items() if value not in (None, "", False)}


def type_of(text, otherwise):
    return next((name for part, name in TYPES.items() if part in text), "bf16" if text else otherwise)


def weights_of(row):
    """gpt-oss is published in MXFP4 whatever a table calls it."""
    published = PUBLISHED.get(row["model"], "bf16")
    return published if published == "mxfp4" else type_of(row["prec_w"], published)


def cache_of(row, weights, engine):
    """TensorRT-LLM's own checkpoints of narrow weights have a narrow cache; other engines keep 16 bits."""
    narrow = weights in ("fp8", "nvfp4") and engine == "tensorrt-llm"
    cache = type_of(row["prec_kv"], "fp8" if narrow else "bf16")
    return cache if cache in ("fp8", "int8") else "bf16"


def worker(row, prefix):
    """The degrees of one pool; those of experts in the group of its tensor and data ranks, where `moe_tp` has the rest."""
    cell = lambda name: number(row[prefix + name]) or None
    ways = {key: cell(column) for key, column in WAYS.items()}
    if not prefix:
        ways["workers"], rest = cell("dp"), cell("moe_tp")
        group = (ways["tensor"] or 1) * (ways["attention_data"] or 1)
        if not ways["expert"] and rest and group % rest == 0:
            ways["expert"] = group // rest
    return given(**ways)


def plan_of(row):
    if row["mode"] == "disagg":
        return given(prefill=worker(row, "prefill_") or None, decode=worker(row, "decode_") or None)
    return worker(row, "")


def reason(row, engine, chip):
    """Why a row is no request; None: it is one."""
    if engine and not chip:
        return f"the catalog has no chip {row['chip']}"
    if not engine:
        return f"{row['engine']} is none of the engines that are priced"
    if row["spec"] not in ("", "none", "unlabelled"):
        return f"speculation is on, or may be: {row['spec'][:40]}"
    if not number(row["isl"]) or not number(row["osl"]):
        return "the lengths of its requests are not fixed"
    if row["mode"] not in (*LOADS, "disagg"):
        return f"its mode is {row['mode']}, which has no fixed load"
    return None


def line_of(row, program):
    """Published layouts name several chips."""
    names = row["chip"].split(",")
    chips = [program.chip(name) for name in names]
    chip = ",".join(chip["name"] for chip in chips) if all(chips) else None
    engine = FORKS.get(row["engine"], row["engine"])
    engine = engine if engine in ENGINES else None
    why, weights = reason(row, engine, chip), weights_of(row)
    load = "closed-loop" if row["mode"] == "disagg" else row["mode"]
    request = given(
        model=row["model"], chip=chip or row["chip"], chips=number(row["chips"]), engine=engine,
        engine_version=row["engine_version"], precision=weights, kv_dtype=cache_of(row, weights, engine),
        load=load if load in LOADS else None, prompt=number(row["isl"]), answer=number(row["osl"]),
        length_share=LENGTH_SHARE if "inferencex" in row["source"] else None,
        exponential_answers=row["spread"] == "exponential", concurrency=number(row["concurrency"]),
        batch=number(row["batch"]), rate=number(row["request_rate"]), requests=number(row["requests"]),
        gpu_memory_utilization=number(row["memory_fraction"]), drafts_unknown=row["spec"] == "unlabelled")
    measured = given(
        tpot_seconds=seconds(row["tpot_ms"]), ttft_seconds=seconds(row["ttft_ms"]),
        output_tokens_per_second=number(row["out_tok_s"]),
        prompt_tokens_per_second_per_chip=number(row["in_tok_s_chip"]), request_seconds=number(row["e2e_s"]))
    said = given(mode=row["mode"] if "load" not in request else None, confidence=row["tier"],
                 speculation=row["spec"] if row["spec"] not in ("", "none", "unlabelled") else None)
    return given(
        id=row["id"], source=row["source_ref"] or row["source"], family=row["source"], group=row["group"],
        framework=row["engine"] if row["engine"] != engine else None,
        variant=row["prec_w"] if row["prec_w"] != weights else None, not_replayed=why, request=request,
        plan=plan_of(row) or None, measured=measured or None, said=said or None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--shardopt", default=str(ROOT / "build/shardopt"), help="the program, which knows the chips")
    options = parser.parse_args()
    program = Program(options.shardopt)
    with open(options.table, newline="", encoding="utf-8") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t", restval="")
        for row in rows:
            line = line_of(collections.defaultdict(str, row), program)
            taken = line.get("not_replayed") or " ".join(f"{key}={value}" for key, value in line["request"].items())
            print(f"{row['id']}: {taken}", file=sys.stderr)
            print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
