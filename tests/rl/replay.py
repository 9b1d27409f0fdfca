#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays published steps of reinforcement learning: replay.py PROGRAM [--check] [--rows PART] [--verbose].

A row of cost/measured/data/rl.tsv that says its split, its lengths and both layouts becomes a command line of
`shardopt rl` with all of that fixed; seconds of the step, of its phases and the sign of colocated against split are
compared with what was measured. --check fails where the targets of TARGETS are missed."""
import concurrent.futures, csv, json, math, os, pathlib, re, statistics, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = {"llama3.1_8b": "llama3.1-8b", "llama3.1-8b": "llama3.1-8b", "llama3.1-70b": "llama3.1-70b",
          "deepseek v3": "deepseek-v3", "qwen3-235b": "qwen3-235b-a22b", "qwen3-30b3a": "qwen3-30b-a3b",
          "qwen3-32b": "qwen3-32b"}
# Of the recipes (examples/configs/recipes/llm/performance, OpenMathInstruct-2): a prompt with its template is some 150
# tokens; samples of a prompt are 32. NeMo-RL#959: 64 x 32 answers cut at 4,096 tokens, training batches of 512; its
# layouts are those of grpo_math_8B and grpo_math_70B in examples/configs: one GPU, and TP4 (generation), TP4 PP4.
PROMPT, SAMPLES = 150, 32
RECIPE_959 = {("8b", "megatron"): ("tensor=1 sequence=1 pipeline=1", "tensor=1"), ("70b", "megatron"): ("tensor=4 sequence=1 pipeline=4", "tensor=4"),
              ("8b", "dtensor"): ("tensor=1 sequence=1", "tensor=1"), ("70b", "dtensor"): ("tensor=8 sequence=1", "tensor=4")}
TARGETS = {"median": 0.15, "p90": 0.35}


def rows():
    lines = [l for l in (ROOT / "cost/measured/data/rl.tsv").read_text().splitlines() if not l.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def whole(text):
    return int(text) if text and text.isdigit() else None


def command(row):
    """The words of the row; None: it lacks a split, lengths or layouts."""
    model = MODELS.get(row["model"].lower())
    gpus, train, rollout = (whole(row[k]) for k in ("gpus", "train_gpus", "rollout_gpus"))
    if not model or row["algorithm"] not in ("GRPO", "DAPO") or not train or not row["mean_len"] or row["hardware"] not in ("h100", "gb200", "h20"):
        return None
    words = ["rl", "--model", model, "--chip", row["hardware"], "--chips", str(gpus), "--algorithm", row["algorithm"].lower()]
    mean = float(row["mean_len"])
    answers, most = whole(row["rollout_batch_seqs"]) or 2048, whole(row["max_len"]) or 4096
    words += ["--prompts", str(answers // SAMPLES), "--samples", str(SAMPLES), "--prompt", str(PROMPT), "--answer",
              str(round(mean - PROMPT)), "--max-answer", str(most - PROMPT), "--train-batch",
              row["train_batch_seqs"] or "512"]
    if row["id"].startswith("nemorl959"):
        size, engine = re.search(r"-(\d+b)-(\w+)-", row["id"]).groups()
        plan, layout = RECIPE_959[size, engine]
        words += ["--for", "megatron" if engine == "megatron" else "torchtitan"]
    else:
        degrees = [int(x) for x in re.search(r"\] \[([\d,]+)", row["train_parallel"])[1].strip(",").split(",")]
        tensor, context, expert, pipeline = (degrees + [1])[:4] if len(degrees) < 6 else (degrees[0], degrees[1], 1, degrees[4])
        plan = f"tensor={tensor} sequence={context} pipeline={pipeline}" + (f" folded_expert={expert}" if expert > 1 else "")
        tensor, pipeline = re.search(r"\] \[(\d+),(\d+)\]", row["rollout_parallel"]).groups()
        layout = f"tensor={tensor} pipeline={pipeline} attention_data=1"
    if plan:
        words += ["--train-plan", plan]
    words += ["--rollout", layout]
    if row["precision_train"] == "fp8":
        words += ["--precision", "fp8", "--rollout-precision", "fp8"]
    lag = re.match(r"(\d)-step", row["policy"])
    host = 4 if row["hardware"] == "gb200" else 8
    if row["colocated"] == "yes":
        return words + ["--colocated"]
    return words + ["--train-nodes", str(train // host if gpus > host else train), "--lag", lag[1] if lag else "0"]


def replay(program, row):
    words = command(row)
    if not words:
        return None
    run = subprocess.run([program, *words, "--format", "json"], capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if run.returncode != 0:
        return {"row": row, "words": words, "error": run.stderr.strip() or "nothing fits"}
    step = json.loads(run.stdout)["steps"][0]
    phases = step["phases"]
    own = {"step_s": step["seconds"], "gen_s": phases["generation"], "logprob_s": phases["logprobs"] + phases["reference"],
           "train_s": phases["training"], "refit_s": phases["transfer"]}
    return {"row": row, "words": words, "own": own, "step": step}


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def main():
    program, verbose = sys.argv[1], "--verbose" in sys.argv
    part = sys.argv[sys.argv.index("--rows") + 1] if "--rows" in sys.argv else ""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = [r for r in pool.map(lambda row: replay(program, row), [r for r in rows() if part in r["id"]]) if r]
    errors = {}
    for one in done:
        if "error" in one:
            print(one["row"]["id"], one["error"])
            print("   ", " ".join(one["words"]))
            continue
        said = []
        for key, value in one["own"].items():
            if one["row"][key]:
                ratio = value / float(one["row"][key])
                errors.setdefault(key, []).append((abs(ratio - 1), one["row"]["id"]))
                said.append(f"{key} {value:.1f}/{float(one['row'][key]):.1f} ({ratio - 1:+.0%})")
        print(f"{one['row']['id']:44} " + "  ".join(said))
        if verbose:
            print("    " + " ".join(f"{k}={v:.1f}" for k, v in one["step"]["phases"].items() if v), one["step"]["trainer"]["notation"],
                  "|", one["step"]["rollout"]["replicas"], "x", one["step"]["rollout"]["notation"])
    for key, list_ in errors.items():
        values = [e for e, _ in list_]
        print(f"{key}: {len(values)} rows, median {statistics.median(values):.1%}, p90 {quantile(values, 0.9):.1%}")


if __name__ == "__main__":
    main()
