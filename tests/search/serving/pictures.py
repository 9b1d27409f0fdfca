#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The map and the timeline in documents of serving and RL against the answer of the same document.

pictures.py PROGRAM     the map has each chip that the answer uses once, and no other; the listed workers lie on as many
chips as their degrees multiply to, apart from each other; the parts of a request add up to its times, and its queue is the
mean wait of an M/D/1 queue at the load of the JSON and half a step.
"""
import json, re, shlex, subprocess, sys

SERVING = ["--model 70b --chip h100 --nodes 1", "--model 70b --chip h100 --nodes 4 --mode disaggregated",
           "--model deepseek-v3 --chip h200 --nodes 4", "--model 8b --chip v5e --slice 2x4 --precision int8",
           "--model 70b --chip v5p --chips 32", "--model 8b --chip a100-80g --nodes 1 --rate 2/s"]
RL = ["--model 8b --chip h100 --nodes 2", "--model 8b --chip h100 --nodes 4 --colocated --algorithm ppo",
      "--model qwen3-30b-a3b --chip h100 --nodes 8 --rollout-chip l40s --rollout-nodes 4"]
failures = 0


def expect(right, what):
    global failures
    failures += not right
    if not right:
        print("FAIL:", what)


def ask(program, command, words):
    return json.loads(subprocess.run([program, command, *shlex.split(words), "--format", "json"], capture_output=True, text=True, check=True).stdout)


def rows(told):
    return [(group["name"], group["devices"], group["where"], group["how"]) for group in told["places"]["maps"][0]["groups"]]


def cells(told):
    """Devices of the map that somebody holds, and those that idle."""
    layer = told["places"]["maps"][0]["layers"][0]
    held = sum(count for group, count in zip(layer["group"], layer["count"]) if group >= 0)
    return held, sum(layer["count"]) - held


def places(where):
    """Coordinates of "x 0 to 1, y 3"."""
    out = [()]
    for part in where.split(", ") if where != "all of it" else []:
        words = part.split()
        out = [at + (i,) for at in out for i in range(int(words[1]), int(words[-1]) + 1)]
    return set(out)


def apart(groups, what):
    seen = set()
    for name, devices, where, _ in groups:
        at = places(where)
        expect(len(at) == int(devices), f"{what}: {name} lies on {len(at)} chips, not {devices}")
        expect(not at & seen, f"{what}: {name} lies on chips of another")
        seen |= at
    return len(seen)


def serving(program, words):
    told = ask(program, "inference", words)
    best, mesh, parts = told["best_point"], told["mesh"], told["request_seconds"]
    groups = rows(told)
    expect(cells(told) == (apart(groups, words), mesh["devices"] - apart(groups, words)), f"{words}: other cells")
    expect(apart(groups, words) * mesh["chips"] == best["chips_used"] * mesh["devices"], f"{words}: other chips than are used")
    for pool in best["pools"]:
        kind = {"both": "worker", "prefill": "prefill worker", "decode": "decode worker"}[pool["phase"]]
        own = [row for row in groups if re.fullmatch(rf"{kind}( \d+)?", row[0])]
        axes = pool["axes"]
        expect(len(own) == pool["workers"], f"{words}: {len(own)} of {kind}")
        expect(all(int(row[1]) == axes["tensor"] * axes["attention_data"] * axes["pipeline"] for row in own), f"{words}: {kind} has other degrees")
    step = best["pools"][-1]["step"]
    first, output = {part: took for part, took in parts.items() if part != "decode"}, told["request"]["output"]
    close = lambda a, b, what: expect(abs(a - b) <= 2e-3 * max(a, b), f"{words}: {what}: {a} and {b}")
    close(sum(first.values()), best["ttft_seconds"], "parts of the first token")
    close(sum(parts.values()), best["ttft_seconds"] + (output - 1) * best["tpot_seconds"], "parts of a request")
    load = best["prefill_load"]
    served = first["prefill"] + (first.get("host", 0) if len(best["pools"]) == 1 else 0)
    close(first["queue"], served * load / (2 * (1 - load)) + (step["seconds"] / 2 if len(best["pools"]) == 1 else 0), "queue")


def learning(program, words):
    told = ask(program, "rl", words)
    step = min(told["steps"], key=lambda step: step["seconds"])
    groups = [(group["name"], group["devices"], group["where"], group["how"]) for one in told["places"]["maps"] for group in one["groups"]]
    trainer, replicas = groups[:1], groups[1:]
    total = apart(trainer, words)
    expect(total == step["trainer"]["chips"], f"{words}: {total} chips train, not {step['trainer']['chips']}")
    generates = apart(replicas, words)
    expect(len(replicas) == step["rollout"]["replicas"], f"{words}: {len(replicas)} replicas")
    together = apart(trainer + replicas, words) if step["way"].startswith("split") and "--rollout-chip" not in words else 0
    expect(together in (0, total + generates), f"{words}: both lie on the same chips")
    expect(cells(told)[0] > 0, f"{words}: no cells")


for one in SERVING:
    serving(sys.argv[1], one)
for one in RL:
    learning(sys.argv[1], one)
print(f"{failures} failed" if failures else f"{len(SERVING) + len(RL)} documents: maps and timelines are those of the answer")
sys.exit(failures > 0)
