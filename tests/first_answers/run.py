#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a stranger is told first: 26 requests as people make them, and whether what is printed can be launched.

    run.py SHARDOPT [--all] [--table] [NAME...]

Of each request: plan 1 is for a launcher by name, `emit` of it writes a configuration that takes the printed time to
1e-9, it leaves 3% of HBM free or the report warns, it has no optimizer state on the host where another plan within 2%
has none. Without --all only requests that take seconds are asked. --table prints a line for each request.
"""
import json, os, subprocess, sys, tempfile

QUICK = {
    "8B, 8 H100": "--model 8b --chip h100 --nodes 1 --batch 1Mi",
    "70B, 8 nodes of H100": "--model 70b --chip h100 --nodes 8",
    "70B, 64 nodes of H100": "--model 70b --chip h100 --nodes 64",
    "8B, v6e-256": "--model 8b --chip v6e --slice 16x16",
    "Gemma 27B, v5e-256": "--model gemma3-27b --chip v5e --slice 16x16",
    "8B, v5e-16": "--model 8b --chip v5e --slice 4x4",
    "8B of 128k tokens, 32 H100": "--model 8b --chip h100 --nodes 4 --seq 131072 --batch 4Mi",
    "7B, 16 A100-40": "--model llama2-7b --chip a100-40g --nodes 2",
    "13B, 32 A100-80": "--model llama2-13b --chip a100-80g --nodes 4",
    "8B, 256 H100, small batch": "--model 8b --chip h100 --nodes 32 --batch 256Ki",
}
SLOW = {
    "405B, 64 nodes of H100": "--model 405b --chip h100 --nodes 64",
    "405B, 2048 nodes of H100": "--model 405b --chip h100 --nodes 2048 --batch 16Mi",
    "405B fp8, 32 nodes of B200": "--model 405b --chip b200 --nodes 32 --precision fp8",
    "70B, v6e-256": "--model 70b --chip v6e --slice 16x16 --batch 2Mi",
    "405B, 2 x v6e-256": "--model 405b --chip v6e --slice 16x16 --slices 2",
    "70B, v5p-1024": "--model 70b --chip v5p --slice 8x8x8",
    "70B, 16 x v5e-256": "--model 70b --chip v5e --slice 16x16 --slices 16",
    "Mixtral 8x7B, v5p-256": "--model mixtral-8x7b --chip v5p --slice 4x4x8",
    "Mixtral 8x7B, 128 H100": "--model mixtral-8x7b --chip h100 --nodes 16",
    "Mixtral 8x22B, 128 H100": "--model mixtral-8x22b --chip h100 --nodes 16",
    "Qwen3-30B, 16 H100": "--model qwen3-30b-a3b --chip h100 --nodes 2",
    "DeepSeek-V3, 256 Ironwood": "--model deepseek-v3 --chip tpu7x --chips 256",
    "8B of 1M tokens, 256 H100": "--model 8b --chip h100 --nodes 32 --seq 1048576 --batch 8Mi",
    "8B of 1M tokens, 512 v5p": "--model 8b --chip v5p --slice 8x8x8 --seq 1048576 --batch 8Mi",
    "70B of 32k tokens, 64 H200": "--model 70b --chip h200 --nodes 8 --seq 32768",
    "70B, 64 MI300X": "--model 70b --chip mi300x --nodes 8",
}
FREE_LEAST, HOST_GAIN = 0.03, 0.02


def run(*words):
    return subprocess.run(words, capture_output=True, text=True)


def emitted_seconds(program, launcher, report, folder):
    """What the plan takes as it is emitted: the plan priced again as its launcher can be told; and the refusal."""
    path = os.path.join(folder, "emitted")
    done = run(program, "emit", launcher, "--from", report, "-o", path)
    if done.returncode:
        return None, done.stderr.strip()
    if "in what it can express the plan takes" in done.stderr:
        return None, done.stderr.strip()
    told = run(program, "explain", "--from", report, "--format", "json")
    return (json.loads(told.stdout)["plans"][0]["step"]["seconds"] if told.returncode in (0, 4) else None), done.stderr


def faults_of(program, words, folder):
    path = os.path.join(folder, "report.json")
    done = run(program, *words.split(), "--format", "json", "-o", path, "--time-limit", "120")
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.strip()}"], None
    report = json.load(open(path))
    plan, faults = report["plans"][0], []
    launcher = plan.get("launcher")
    if not launcher:
        return ["plan 1 is for no launcher"], plan
    seconds, said = emitted_seconds(program, launcher, path, folder)
    if seconds is None:
        faults.append(f"emit {launcher}: {said}")
    elif abs(seconds / plan["step"]["seconds"] - 1) > 1e-9:
        faults.append(f"emit {launcher}: {seconds} s, printed {plan['step']['seconds']} s")
    memory = plan["memory"]
    free = 1 - memory["total_bytes"] / memory["limit_bytes"]
    if free < FREE_LEAST and not plan.get("warnings"):
        faults.append(f"{100 * free:.1f}% of HBM free and no warning")
    if plan["knobs"]["offload_optimizer"]:
        other = run(program, *words.split(), "--for", launcher, "--require", "offload_optimizer=false", "--top", "1",
                    "--format", "json")
        if other.returncode == 0:
            fastest = report["search"]["certificate"]["fastest"]["seconds"]  # plan 1 is tied with it
            gain = json.loads(other.stdout)["plans"][0]["ranked_seconds"] / fastest - 1
            if gain < HOST_GAIN:
                faults.append(f"the optimizer is on the host for {100 * gain:.1f}%")
    return faults, plan


def line_of(name, plan):
    memory = plan["memory"]
    free = 100 * (1 - memory["total_bytes"] / memory["limit_bytes"])
    return (f"| {name} | {plan.get('launcher', '-')} | {plan['notation']} | {plan['step']['seconds']:.4g} | "
            f"{100 * plan['mfu']:.1f} | {free:.1f} | {'yes' if plan['knobs']['offload_optimizer'] else 'no'} | "
            f"{plan['knobs'].get('remat', '')} |")


def main():
    program, words = sys.argv[1], sys.argv[2:]
    names = [w for w in words if not w.startswith("--")]
    asked = {**QUICK, **SLOW} if "--all" in words or names else QUICK
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, line in asked.items():
            if names and name not in names:
                continue
            faults, plan = faults_of(program, line, folder)
            bad += bool(faults)
            if "--table" in words and plan:
                print(line_of(name, plan), flush=True)
            print(*(f"FAIL {name}: {fault}" for fault in faults), sep="\n", end="\n" if faults else "", flush=True)
    print(f"{bad} of {len(names or asked)} first answers are not what somebody would launch" if bad else
          f"{len(names or asked)} first answers can be launched as they are printed")
    sys.exit(bad > 0)


main()
