#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces made from plans, read back beside them: every term returns to 1%, and an error that was planted is named first.

round_trip.py SHARDOPT
"""
import json, pathlib, subprocess, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import simulate

PLANS = {
    "dense": "explain --model 70b --chip h100 --nodes 8 --batch 1Mi --seq 8192 --for megatron --plan fsdp=16,tensor=4",
    "mixture": "plan --model mixtral-8x22b --chip h100 --nodes 16 --batch 1Mi --seq 4096 --for megatron --top 1",
    "pipeline": "explain --model 70b --chip h100 --nodes 8 --batch 512Ki --seq 8192 --for megatron --plan "
                "tensor=8,pipeline=8",
    "context": "explain --model 70b --chip h100 --nodes 16 --batch 1Mi --seq 131072 --for megatron --plan "
               "tensor=8,sequence=16",
}
# What is planted, and the words that the first difference has to hold.
ERRORS = [("dense", {"fsdp": 2.5}, ["of fsdp", "40%"]), ("dense", {"attention": 2}, ["attention takes", "50%"]),
          ("mixture", {"fsdp": 2.5}, ["of fsdp", "40%"]), ("pipeline", {"tensor": 2.5}, ["of tensor", "40%"]),
          ("pipeline", {"bubble": 4}, ["bubble"]), ("context", {"sequence": 2.5}, ["of sequence", "40%"]),
          ("context", {"attention": 2}, ["attention takes", "50%"])]
TOLERANCE = 0.01
SECRETS = ("planted_secret", "train.py")
faults = []


def run(program, *words):
    answer = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if answer.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {answer.returncode}: {answer.stderr}")
    return answer.stdout


def plan_of(program, words, path):
    words = [word.replace(",", " ") if "=" in word else word for word in words.split()]
    run(program, *words, "--format", "json", "-q", "-o", path)
    return json.loads(path.read_text())["plans"][0]


def check_terms(name, plan, read):
    """Terms below a thousandth of the step count to a thousandth of it."""
    step, measured = plan["step"]["seconds"], {t["term"]: t for t in read["terms"]}
    exposed, whole = dict(plan["step"]["terms_seconds"]), plan["step"]["communication_seconds"]
    exposed["fsdp"] = exposed.get("fsdp", 0) + exposed.pop("weights", 0)
    for term, seconds in exposed.items():
        own = measured.get(term, {"measured_seconds": 0, "exposed_measured_seconds": 0})
        pairs = [("exposed", own["exposed_measured_seconds"], seconds)]
        pairs.append(("measured", own["measured_seconds"], whole.get(term, seconds)))
        for what, got, expected in pairs:
            if abs(got - expected) > TOLERANCE * max(expected, 0.001 * step / TOLERANCE):
                faults.append(f"{name}: {term} {what} {got:.6f} s, planted {expected:.6f} s")
    if abs(read["step_seconds"] / step - 1) > TOLERANCE:
        faults.append(f"{name}: step {read['step_seconds']:.4f} s, planted {step:.4f} s")
    if read["differences"]:
        faults.append(f"{name}: nothing is off, and it says {read['differences'][0]}")
    if read["placed_share"] < 1:
        faults.append(f"{name}: {read['placed_share']:.1%} placed")


def forms(plan, **more):
    """(suffix, content) of each format that can be written."""
    step = simulate.Step(plan)
    events, ranges = simulate.events_of(plan, **more)
    yield "json", simulate.kineto(events, ranges, step)
    yield "json.gz", simulate.kineto(events, ranges, step)


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder, plans = pathlib.Path(folder), {}
        for name, words in PLANS.items():
            plans[name] = plan_of(program, words, folder / f"{name}.report.json")
            for suffix, content in forms(plans[name]):
                path = folder / f"{name}.{suffix}"
                simulate.write(path, content)
                out = run(program, "trace", path, "--from", folder / f"{name}.report.json", "--format", "json")
                check_terms(f"{name} {suffix}", plans[name], json.loads(out))
                text = run(program, "trace", path, "--from", folder / f"{name}.report.json")
                faults.extend(f"{name}: prints {s}" for s in SECRETS if s in text + out)
        for name, scale, words in ERRORS:
            path = folder / "error.json"
            simulate.write(path, next(forms(plans[name], scale=scale))[1])
            read = json.loads(run(program, "trace", path, "--from", folder / f"{name}.report.json", "--format", "json"))
            first = read["differences"][0] if read["differences"] else "nothing"
            print(f"{name} {scale}: {first}")
            if not all(word in first for word in words):
                faults.append(f"{name} {scale}: expected {words}, it says {first}")
    print("\n".join(faults) or "all terms return")
    sys.exit(bool(faults))


main()
