#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays published steps of reinforcement learning: replay.py PROGRAM [--check] [--fit] [--rows PART] [--verbose].

The lines of cost/measured/data/rl.jsonl that are requests of `shardopt rl`, with split, lengths and both layouts fixed,
are priced; seconds of the step, of its phases and the sign of colocated against split are
compared with what was measured. --check fails where the targets of TARGETS are missed."""
import concurrent.futures, itertools, json, math, os, pathlib, shlex, statistics, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = {"median": 0.15, "p90": 0.35, "generation": 0.2}


MEASURED = {"step_s": "step_seconds", "gen_s": "generation_seconds", "logprob_s": "logprobs_seconds", "train_s": "training_seconds",
            "refit_s": "transfer_seconds"}


def rows():
    """Runs by the names of what is compared; "" where nobody measured it."""
    for line in (ROOT / "cost/measured/data/rl.jsonl").read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        yield {**run.get("said", {}), **run, **{key: run["measured"].get(name, "") for key, name in MEASURED.items()}}


def replay(program, row):
    if "request" not in row:
        return None
    words = ["rl", *shlex.split(row["request"])]
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


def source_of(row):
    return "NeMo-RL#959" if "959" in row["id"] else row["id"].split("-grpo")[0].split("-dapo")[0]


def predicted(one, fit):
    """The step from its phases, with other figures in place of those of the profile: the formula of docs/rl.md."""
    figures = json.loads((ROOT / "cost/rl/profiles/default.json").read_text())
    step, phases = one["step"], one["step"]["phases"]
    apart = step["way"] != "colocated"
    generation = phases["generation"]
    tokens = sum(part["steps"] * part["answers"] for part in step["rollout"]["in_flight"])
    generation += (fit["host_sequence_seconds"] - figures["host_sequence_seconds"]["value"]) * tokens
    generation += (fit["host_step_seconds"] - figures["host_step_seconds"]["value"]) * step["rollout"]["decode_steps"]
    training = sum(phases[k] for k in ("training", "logprobs", "reference"))
    other = fit["other_share"] * (generation + training)
    busy = training + other + phases["load"]
    return phases["transfer"] + (max(generation, busy) if step["lag"] > 0 else generation + busy)


GRID = {"host_step_seconds": [0.002, 0.003, 0.0035, 0.004, 0.0045, 0.005, 0.006], "host_sequence_seconds": [0, 1e-5, 2e-5, 3e-5, 4e-5, 5e-5],
        "other_share": [0.05, 0.08, 0.1, 0.12]}


def fitted(rows_):
    """The least sum of absolute logarithms over a grid."""
    best = None
    for values in itertools.product(*GRID.values()):
        fit = dict(zip(GRID, values))
        loss = sum(abs(math.log(predicted(one, fit) / float(one["row"]["step_s"]))) for one in rows_)
        if best is None or loss < best[0]:
            best = (loss, fit)
    return best[1]


def leave_out(scored):
    for source in sorted({source_of(one["row"]) for one in scored}):
        kept = [one for one in scored if source_of(one["row"]) != source]
        out = [one for one in scored if source_of(one["row"]) == source]
        fit = fitted(kept)
        errors = [abs(predicted(one, fit) / float(one["row"]["step_s"]) - 1) for one in out]
        print(f"without {source} ({len(kept)} rows), {len(out)} of it: median {statistics.median(errors):.1%}, "
              f"p90 {quantile(errors, 0.9):.1%}   {fit}")
    print("of all:", fitted(scored))


def signs(scored):
    """Colocated against split on as many chips, in each edition: (right, all). Two that are within 1% say nothing."""
    right = pairs = 0
    for a, b in itertools.combinations(scored, 2):
        x, y = a["row"], b["row"]
        if source_of(x) != source_of(y) or x["model"] != y["model"] or x["gpus"] != y["gpus"]:
            continue
        if {x["colocated"], y["colocated"]} != {"yes", "no"} or x.get("precision_train") != y.get("precision_train") or x["algorithm"] != y["algorithm"]:
            continue
        measured, own = float(x["step_s"]) < float(y["step_s"]), a["own"]["step_s"] < b["own"]["step_s"]
        pairs += 1
        tied = abs(a["own"]["step_s"] / b["own"]["step_s"] - 1) < 0.01
        right += tied or measured == own
        print(f"{'tied' if tied else 'right' if measured == own else 'WRONG'}: {source_of(x)} {x['model']} on {x['gpus']}: colocated and split "
              f"{x['step_s']} and {y['step_s']} s, here {a['own']['step_s']:.0f} and {b['own']['step_s']:.0f} s")
    return right, pairs


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
                errors.setdefault(key, []).append((abs(ratio - 1), one["row"]))
                said.append(f"{key} {value:.1f}/{float(one['row'][key]):.1f} ({ratio - 1:+.0%})")
        print(f"{one['row']['id']:44} " + "  ".join(said))
        if verbose:
            print("    " + " ".join(f"{k}={v:.1f}" for k, v in one["step"]["phases"].items() if v), one["step"]["trainer"]["notation"],
                  "|", one["step"]["rollout"]["replicas"], "x", one["step"]["rollout"]["notation"])
    scored = [one for one in done if "own" in one and one["row"].get("train_parallel")]
    groups = {key: [e for e, _ in list_] for key, list_ in errors.items()}
    groups["step_s, rows that have both layouts"] = [e for e, r in errors.get("step_s", []) if r.get("train_parallel")]
    for key in ("gen_s", "logprob_s", "train_s", "refit_s"):
        groups[key + ", Megatron Core"] = [e for e, r in errors.get(key, []) if "dtensor" not in r["id"]]
    for key, values in groups.items():
        if values:
            print(f"{key}: {len(values)} rows, median {statistics.median(values):.1%}, p90 {quantile(values, 0.9):.1%}")
    right, pairs = signs(scored)
    if "--fit" in sys.argv:
        leave_out([one for one in done if "own" in one and "dtensor" not in one["row"]["id"] and "dapo" not in one["row"]["id"]])
    if "--check" in sys.argv:
        step = groups["step_s, rows that have both layouts"]
        ok = (len(step) >= 29 and statistics.median(step) <= TARGETS["median"] and quantile(step, 0.9) <= TARGETS["p90"] and
              statistics.median(groups["gen_s"]) <= TARGETS["generation"] and right == pairs >= 6)
        print("within the targets" if ok else f"NOT within {TARGETS}")
        sys.exit(not ok)


if __name__ == "__main__":
    main()
