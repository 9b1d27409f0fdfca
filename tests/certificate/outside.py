#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A search from outside: nothing that can be found by changing plans beats a proven one.

    outside.py SHARDOPT [--seconds N] [--requests N] [--seed S]

Requests are drawn at random (mixtures, odd machines, long context, tight memory, each launcher). `plan` proves the best
of each; then plans around it and around random ones are priced through `explain --plans`, a file of them at a time, and
the better ones are changed further. A plan that fits, that the same launcher takes, and that is faster than the proven
best by more than 1e-9 of its time is a fault. Exit 0: there was none."""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time

ROLES = ("tensor", "expert", "sequence", "fsdp", "data", "pipeline")
DENSE = ["llama3.1-8b", "llama3.1-70b", "qwen3-14b", "gemma2-9b", "mistral-nemo-12b", "qwen2.5-32b", "llama3.1-405b"]
MIXED = ["mixtral-8x7b", "qwen3-30b-a3b", "dbrx", "deepseek-v2-lite", "gpt-oss-120b", "llama4-scout-17b-16e",
         "qwen3-next-80b-a3b", "glm-4.5-air"]
OTHER = ["nemotron-h-56b", "qwen3-vl-8b", "kimi-linear-48b-a3b", "olmo-hybrid-7b", "llama3.2-1b"]
TPUS = [("v5p", "4x4x4"), ("v5p", "4x4x8"), ("v5p", "2x4x4"), ("v5e", "8x16"), ("v6e", "16x16"), ("v4", "4x8x8"),
        ("v6e", "4x8"), ("v5p", "4x8x12")]
GPUS = [("h100", (1, 2, 3, 4, 6, 8, 16, 32)), ("a100-40g", (2, 4, 8, 16)), ("a100-80g", (1, 3, 8)), ("b200", (2, 8)),
        ("gb200", (1, 2)), ("mi300x", (2, 8)), ("h200", (5, 7))]
KNOBS = {"zero_stage": (0, 1, 2), "schedule": ("gpipe", "1f1b", "interleaved", "circular"),
         "virtual_stages": (1, 2, 3, 4, 5, 8, 10), "stages": ("even", "balanced", "slots"),
         "context_method": ("ring", "all_gather", "ulysses", "ulysses_ring"), "regather": ("true", "false"),
         "sequence_parameters": ("sharded", "replicated"), "tensor_overlap": ("true", "false"),
         "offload_optimizer": ("true", "false"), "folded_expert": (1, 2, 4, 8, 16), "folded_expert_tensor": (1, 2, 4)}

def request_drawn(dice):
    """Words of a request, and what a table counts it as."""
    tpu, kind = dice.random() < 0.4, dice.choice(("dense", "mixture", "mixture", "other"))
    model = dice.choice({"dense": DENSE, "mixture": MIXED, "other": OTHER}[kind])
    words = ["--model", model]
    if tpu:
        chip, shape = dice.choice(TPUS)
        words += ["--chip", chip, "--slice", shape]
        if dice.random() < 0.15:
            words += ["--slices", "2"]
        launcher = dice.choice(("maxtext", "maxtext", "jax", "any"))
    else:
        chip, nodes = dice.choice(GPUS)
        words += ["--chip", chip, "--nodes", str(dice.choice(nodes))]
        launcher = dice.choice(("megatron", "torchtitan", "deepspeed", "megatron", "any"))
    seq = dice.choice((4096, 8192, 8192, 32768, 131072))
    words += ["--seq", str(seq), "--sequences", str(max(1, dice.choice((2 ** 19, 2 ** 20, 2 ** 21)) // seq))]
    words += ["--for", launcher, "--max-idle", "0"]
    tight = dice.random() < 0.3
    if tight:
        words += ["--hbm-reserve", dice.choice(("0.3", "0.45", "0.6"))]
    if dice.random() < 0.15:
        words += ["--padding", "any"]
    if dice.random() < 0.2:
        words += ["--offload", dice.choice(("none", "all", "activations"))]
    if dice.random() < 0.15:
        words += ["--remat", dice.choice(("full", "none", "minimal", "selective"))]
    if dice.random() < 0.15 and chip in ("h100", "b200", "v6e"):
        words += ["--precision", "fp8"]
    return words, {launcher, kind, "torus" if tpu else "switches"} | ({"tight memory"} if tight else set()) | (
        {"long context"} if seq > 8192 else set())

def run(program, words, timeout=120):
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode in (0, 4) else None

def divisors(n):
    return [k for k in range(2, n + 1) if n % k == 0][:8]

def changed(dice, plan):
    """A plan with a few changes: a factor moved between roles, another setting of a knob, or one left open."""
    plan = dict(plan)
    for _ in range(dice.choice((1, 1, 2, 3))):
        if dice.random() < 0.5:
            giver = dice.choice([role for role in ROLES if plan.get(role, 1) > 1] or [None])
            if giver:
                factor = dice.choice(divisors(plan[giver]))
                taker = dice.choice(ROLES)
                plan[giver] //= factor
                plan[taker] = plan.get(taker, 1) * factor
        elif dice.random() < 0.4:
            plan["microbatches"] = max(1, int(plan.get("microbatches", 1) * dice.choice((0.5, 2, 4, 0.25, 3))))
        else:
            knob = dice.choice(sorted(KNOBS))
            plan[knob] = dice.choice(KNOBS[knob])
            if dice.random() < 0.3:
                plan.pop(knob)
    return plan

def text_of(plan):
    return " ".join("%s=%s" % pair for pair in sorted(plan.items()))

def plan_of(entry):
    knobs = entry["knobs"]
    plan = {role: ways for role, ways in entry["axes"].items() if ways > 1}
    plan["microbatches"] = knobs["microbatches"]
    if plan.get("pipeline", 1) > 1:
        plan.update(schedule=knobs["schedule"], virtual_stages=knobs["virtual_stages"], stages=knobs["stages"])
    if plan.get("data", 1) > 1:
        plan["zero_stage"] = knobs["zero_stage"]
    if "expert_grid" in entry:
        plan.update(folded_expert=entry["expert_grid"]["expert"],
                    folded_expert_tensor=entry["expert_grid"]["expert_tensor"])
    return plan

class Outside:
    """One request: its proven best, and the search around it."""

    def __init__(self, program, words, dice):
        self.program, self.words, self.dice, self.priced, self.refused = program, words, dice, 0, 0
        text = run(program, ["plan", *words, "--format", "json", "-q", "--sensitivity", "none", "--time-limit", "60"])
        report = json.loads(text) if text else None
        self.best = None
        if not report or report["search"]["proof"] != "optimal" or not report["plans"]:
            return
        first = report["plans"][0]
        self.best = float.fromhex(report["search"]["certificate"]["fastest"]["hex"])
        self.launcher, self.start = first.get("launcher"), plan_of(first)
        self.pool = [(first["ranked_seconds"], self.start)] + [(p["ranked_seconds"], plan_of(p))
                                                               for p in report["plans"][1:]]
        self.seen = set()
        # --offload auto leaves the state in HBM where that has a plan: the host is outside of such a space
        hosts = report["search"]["certificate"]["space"]["knobs"]["optimizer_offload"]
        self.outside = None if hosts else "offload_optimizer=true"

    def random_plan(self):
        plan, devices = {}, 1
        for role in ROLES:
            devices *= self.start.get(role, 1)
        while devices > 1:
            factor = min(divisors(devices))
            role = self.dice.choice(ROLES)
            plan[role] = plan.get(role, 1) * factor
            devices //= factor
        return changed(self.dice, plan)

    def round(self, count, folder):
        """Prices a file of new plans; the faults among them."""
        drawn = []
        while len(drawn) < count:
            plan = self.random_plan() if self.dice.random() < 0.2 else changed(self.dice, self.dice.choice(self.pool)[1])
            text = text_of(plan)
            if text not in self.seen or len(self.seen) > 100000:
                self.seen.add(text)
                drawn.append((text, plan))
        path = os.path.join(folder, "plans")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(text for text, _ in drawn) + "\n")
        out, faults = run(self.program, ["explain", *self.words, "--plans", path]), []
        for line, (text, plan) in zip((out or "").splitlines(), drawn):
            told = json.loads(line)
            memory = told.get("memory")
            if "error" in told or memory["total_bytes"] > memory["limit_bytes"]:
                self.refused += 1
                continue
            self.priced += 1
            if self.outside and self.outside in text:
                continue
            taken = self.launcher in (None, "none", "any") or self.launcher in told["launchable_by"]
            if not taken:
                continue
            seconds = told.get("ranked_seconds", told["step"]["seconds"])
            if seconds < self.best * (1 - 1e-9):
                faults.append((text, seconds))
            self.pool.append((seconds, plan))
        self.pool = sorted(self.pool, key=lambda pair: pair[0])[:24]
        return faults

def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("program")
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--requests", type=int, default=10 ** 9)
    arguments.add_argument("--each", type=int, default=400, help="plans of a request")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    dice, end = random.Random(given.seed), time.time() + given.seconds
    kinds, faults, priced, refused, done = collections.Counter(), [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < end and done < given.requests:
            words, traits = request_drawn(dice)
            outside = Outside(given.program, words, dice)
            if outside.best is None:
                continue
            for _ in range(4):
                found = outside.round(given.each // 4, folder)
                faults += [(words, *one, outside.best) for one in found]
                for text, seconds in found[:1]:
                    print("FASTER: explain %s --plan \"%s\": %.9g s, proven best %.9g s" % (
                        " ".join(words), text, seconds, outside.best), flush=True)
            done, priced, refused = done + 1, priced + outside.priced, refused + outside.refused
            kinds.update(traits)
            print("%d: %s: best %.6g s; %d priced, %d refused" % (done, " ".join(words), outside.best,
                                                                  outside.priced, outside.refused), flush=True)
    print(", ".join("%s %d" % pair for pair in sorted(kinds.items())))
    print("%d requests, %d plans priced, %d refused; %d faster than a proven best" % (done, priced, refused,
                                                                                   len(faults)))
    return 1 if faults or not done else 0

if __name__ == "__main__":
    sys.exit(main())
