#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of published steps of reinforcement learning as exact requests: convert_rl.py TABLE.tsv >RUNS.jsonl.

A row that says its split, its lengths and both layouts becomes the options of `shardopt rl` with all of that fixed; the
others say what they lack. The rules by which the words of the table are read stand here and nowhere else."""
import csv
import json
import re
import shlex
import sys
from pathlib import Path

MODELS = {"llama3.1_8b": "llama3.1-8b", "llama3.1-8b": "llama3.1-8b", "llama3.1-70b": "llama3.1-70b",
          "deepseek v3": "deepseek-v3", "qwen3-235b": "qwen3-235b-a22b", "qwen3-30b3a": "qwen3-30b-a3b",
          "qwen3-32b": "qwen3-32b"}
# Of the recipes (examples/configs/recipes/llm/performance at the tags v0.4.0 to v0.6.0): 32 samples of a prompt; which
# models recompute (activation_checkpointing, full); the share of HBM that engines take (gpu_memory_utilization), where
# they share chips and where not. NeMo-RL#959: 64 x 32 answers cut at 4,096 tokens, training batches of 512; its layouts
# are those of grpo_math_8B and grpo_math_70B in examples/configs at v0.3.0: PP2 and TP4 PP4, generation on one GPU and TP4.
# Its means are of generated tokens, and so are the pages': their tokens/s/GPU x GPUs x seconds over answers are 102 to
# 110 tokens more, 127 to 132 with Llama's template, which is the prompt.
PROMPTS = {"llama": 130, "": 105}
RECOMPUTED = ("llama3.1-8b", "qwen3-235b-a22b", "deepseek-v3")
MEMORY = {"yes": "0.6", "no": "0.8"}
SAMPLES = 32
RECIPE_959 = {("8b", "megatron"): ("tensor=1 sequence=1 pipeline=2", "tensor=1"), ("70b", "megatron"): ("tensor=4 sequence=1 pipeline=4", "tensor=4"),
              ("8b", "dtensor"): ("tensor=1 sequence=1", "tensor=1"), ("70b", "dtensor"): ("tensor=8 sequence=1", "tensor=4")}

# Seconds of the step and of its phases; the table's columns.
PHASES = {"step_seconds": "step_s", "generation_seconds": "gen_s", "logprobs_seconds": "logprob_s", "reference_seconds": "ref_s",
          "training_seconds": "train_s", "transfer_seconds": "refit_s", "other_seconds": "other_s"}
NAMES = ("model", "algorithm", "colocated")
SAID = ("commit policy hardware gpus train_gpus rollout_gpus train_engine rollout_engine train_parallel rollout_parallel precision_train "
        "precision_rollout prompts samples_per_prompt rollout_batch_seqs train_batch_seqs max_len mean_len tokens_per_s_per_gpu "
        "train_mfu mem_gb date").split()


def whole(text):
    return int(text) if text and text.isdigit() else None


def command(row):
    """The options of `shardopt rl` that a row is; None: it lacks a split, lengths or layouts."""
    model = MODELS.get(row["model"].lower())
    gpus, train, rollout = (whole(row[k]) for k in ("gpus", "train_gpus", "rollout_gpus"))
    if not model or row["algorithm"] not in ("GRPO", "DAPO") or not train or not row["mean_len"] or row["hardware"] not in ("h100", "gb200", "h20"):
        return None
    words = ["--model", model, "--chip", row["hardware"], "--chips", str(gpus), "--algorithm", row["algorithm"].lower()]
    mean = float(row["mean_len"])
    answers, most = whole(row["rollout_batch_seqs"]) or 2048, whole(row["max_len"]) or 4096
    prompt = PROMPTS["llama" if model.startswith("llama") else ""]
    words += ["--prompts", str(answers // SAMPLES), "--samples", str(SAMPLES), "--prompt", str(prompt), "--answer",
              str(round(mean)), "--max-answer", str(most - prompt), "--train-batch", row["train_batch_seqs"] or "512"]
    if row["id"].startswith("nemorl959"):
        size, engine = re.search(r"-(\d+b)-(\w+)-", row["id"]).groups()
        plan, layout = RECIPE_959[size, engine]
        words += ["--for", "megatron" if engine == "megatron" else "torchtitan"]
    else:
        degrees = [int(x) for x in re.search(r"\] \[([\d,]+)", row["train_parallel"])[1].strip(",").split(",")]
        tensor, context, expert, pipeline = (degrees + [1])[:4] if len(degrees) < 6 else (degrees[0], degrees[1], 1, degrees[5])
        plan = f"tensor={tensor} sequence={context} pipeline={pipeline}" + (f" folded_expert={expert}" if expert > 1 else "")
        tensor, pipeline = re.search(r"\] \[(\d+),(\d+)\]", row["rollout_parallel"]).groups()
        layout = f"tensor={tensor} pipeline={pipeline} attention_data=1"
    if "pipeline=1" not in plan and plan:
        plan += " virtual_stages=1"  # VPP n/a
    if plan:
        words += ["--train-plan", plan, "--remat", "full" if model in RECOMPUTED and "959" not in row["id"] else "none"]
    words += ["--rollout", layout, "--rollout-memory", MEMORY[row["colocated"]]]
    if row["precision_train"] == "fp8":
        words += ["--precision", "fp8", "--rollout-precision", "fp8"]
    lag = re.match(r"(\d)-step", row["policy"])
    if lag:
        words += ["--partial", "yes"]  # in_flight_weight_updates of every recipe off policy
    host = 4 if row["hardware"] == "gb200" else 8
    if row["colocated"] == "yes":
        return words + ["--colocated"]
    return words + ["--train-nodes", str(train // host if gpus > host else train), "--lag", lag[1] if lag else "0"]


def number(text):
    """None: it is no number alone, but words."""
    return int(text) if text.isdigit() else float(text) if re.fullmatch(r"\d*\.?\d+", text) else None


def line_of(row):
    words = command(row)
    out = {"id": row["id"], "source": row["source"], **{name: row[name] for name in NAMES if row[name]}}
    if words:
        out["request"] = shlex.join(words)
    else:
        out["not_replayed"] = "its split, its lengths or one of its layouts is not given"
    figures = {key: number(row[column]) for key, column in PHASES.items()}
    out["measured"] = {key: value for key, value in figures.items() if value is not None}
    words = [column for key, column in PHASES.items() if figures[key] is None]
    out["said"] = {name: row[name] for name in [*SAID, *words] if row[name]}
    return {**out, "note": row["notes"]} if row["notes"] else out


def main():
    lines = [line for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines, delimiter="\t"):
        line = line_of(row)
        print(f"{row['id']}: {line.get('not_replayed', 'understood')}", file=sys.stderr)
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
