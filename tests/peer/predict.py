#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What aiconfigurator predicts of the measured serving rows that its own package publishes.

    python3 -m venv venv && venv/bin/pip install aiconfigurator==0.12.0     # 850 MB, no torch
    venv/bin/python tests/peer/predict.py cost/measured/data/serving.jsonl > tests/peer/aiconfigurator.tsv

Each row of the table that comes from silicon_sample.csv is looked up there by its id, and its columns are handed to the
function behind `aiconfigurator cli estimate`, all else left at its default: nominal lengths, the newest table of
kernels, a budget of one prompt for each step. Where its tables lack the precision that the sample lists, it is asked
again with the precision left to it ("own"); rows that it refuses then too have its reason.
"""
import csv
import datetime
import functools
import json
import logging
import os
import re
import sys
import warnings
from importlib import metadata

import yaml

warnings.simplefilter("ignore")
# Each estimate reads some 500 YAML files three times: the parser in C, and each answer once. No figure changes by it.
yaml.safe_load = functools.partial(yaml.load, Loader=yaml.CSafeLoader)
import aiconfigurator_core  # noqa: E402
from aiconfigurator.sdk import perf_database  # noqa: E402

perf_database.get_latest_database_version = functools.lru_cache(None)(perf_database.get_latest_database_version)
from aiconfigurator.cli.api import cli_estimate  # noqa: E402

logging.disable(logging.WARNING)

# Configs that are not in the package under the name that the sample has; nothing is downloaded.
NAMES = {"meta-llama/Llama-3.1-70B": "meta-llama/Meta-Llama-3.1-70B",
         "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Meta-Llama-3.1-8B",
         "nvidia/Llama-3.1-8B-Instruct-FP8": "meta-llama/Meta-Llama-3.1-8B",
         "nvidia/Qwen3-32B-NVFP4": "Qwen/Qwen3-32B",
         "zhipuai/GLM-5": "zai-org/GLM-5"}
LAYOUT = ["tp_size", "pp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size"]
POOLS = [f"{pool}_{name}" for pool in ("prefill", "decode") for name in ("batch_size", "num_workers", *LAYOUT)]


def whole(text):
    return int(float(text)) if text else None


def asked(row, own_precision):
    """The options of one estimate."""
    names = POOLS if row["mode"] == "disagg" else ["batch_size", *LAYOUT]
    options = {name: whole(row[name]) for name in names if row[name]}
    if not own_precision:
        options |= {name: row[name] for name in ("gemm_quant_mode", "moe_quant_mode") if row[name]}
    return {"model_path": NAMES.get(row["model_path"], row["model_path"]), "system_name": row["system"],
            "backend_name": row["backend"], "mode": row["mode"], "isl": whole(row["isl"]), "osl": whole(row["osl"]),
            **options}


def reason(error):
    text = re.sub(r" at /\S+/systems/", " in ", str(error).splitlines()[0] if str(error) else "")
    return f"{type(error).__name__}: {text}"[:160].replace("\t", " ")


def estimate(row):
    """(precision, tables' version, ms of a token, ms to the first, why not)"""
    reasons = []
    for precision in ("listed", "own"):
        try:
            result = cli_estimate(**asked(row, precision == "own"))
            return precision, str(result.raw.get("version", "")), f"{result.tpot:.6g}", f"{result.ttft:.6g}", ""
        except Exception as error:  # whatever it raises is its answer
            if reason(error) not in reasons:
                reasons.append(reason(error))
    return "", "", "", "", "; then ".join(reasons)


def main():
    sample_path = os.path.join(os.path.dirname(aiconfigurator_core.__file__), "systems", "silicon_sample.csv")
    with open(sample_path, newline="") as file:
        sample = {row["id"]: row for row in csv.DictReader(file)}
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    print(f"# aiconfigurator {metadata.version('aiconfigurator')}, {datetime.date.today()}: "
          f"tests/peer/predict.py {sys.argv[1]}")
    print("# Times are milliseconds; `precision` is the one that silicon_sample.csv lists, or the package's own.")
    print("id", "precision", "tables", "tpot_ms", "ttft_ms", "why", sep="\t")
    for row in rows:
        key = row["source"].partition(" id=")[2]
        if key in sample:
            print(row["id"], *estimate(sample[key]), sep="\t", flush=True)


if __name__ == "__main__":
    main()
