#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A narrower request is never better: each restriction of a request leaves a part of its plans.

    narrower.py SHARDOPT [--pairs N] [--seconds N] [--seed S] [--only COMMAND]

Requests of plan, inference and rl (narrowings.py) are drawn at random and answered; then each again with one
restriction more. A fault is a restriction whose answer is faster in rank by more than 1e-9, or has plans where the
wider request has none; of plan also one whose step is faster than the wider first plan's by more than plans that are
tied, where `seldom_run` does not name such a plan; of inference also a point of the front that the wider front does not
reach. The columns: pairs; restrictions without a plan; pairs whose wider request had to take plans of no launcher;
requests that are errors, or whose wider one is not proven; known faults; others."""
import argparse
import collections
import json
import random
import subprocess
import sys
import time

import narrowings

COMMON = {"plan": ["--sensitivity", "none"], "inference": [], "rl": []}
LIMITS = {"--time-limit", "--memory-limit"}
LITTLE, TIE, LIMIT = 1e-9, 0.02, 8
OFTEN = ("--for", "--offload")  # searches of their own, which may be left out
SAME = ("--top", "--variants")
# A trainer with nothing on the host comes first, however slow; of others that of the fastest update, whatever its
# passes forward take. So a restriction that leaves such a trainer out may find a faster step.
OPEN = ("rl --remat", "rl --train-plan")


def words_of(ask):
    return [word for option, value in ask.items() for word in ([option] if value is True else [option, value])]


class Defect(Exception):
    """An answer that no request should have."""


def answered(program, command, ask):
    """The report, or None where the request is an error; and the error."""
    words = [command, *words_of(ask), "--format", "json", "-q", *COMMON[command]]
    if command == "plan" and "--time-limit" not in ask:
        words += ["--time-limit", str(LIMIT)]
    started = time.time()
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=300, check=False)
    told = done.stderr.strip().split("\n")[0]
    early = not LIMITS & set(ask) and time.time() - started < LIMIT
    if done.returncode not in (0, 2, 3, 4) or (done.returncode == 4 and early):
        raise Defect("exit %d of %s: %s" % (done.returncode, " ".join(words), told))
    return (json.loads(done.stdout), "") if done.stdout and done.returncode != 2 else (None, told)


# ---- plan ----

def fastest(report):
    """The least ranked seconds of all plans; None: there is none. The first of the list may be tied with it."""
    if not report["plans"]:
        return None
    told = report["search"].get("certificate", {}).get("fastest")
    return min([plan["ranked_seconds"] for plan in report["plans"]] + ([float.fromhex(told["hex"])] if told else []))


def plain(report, wide):
    """Seconds of the first plan's step, for the batch that was requested."""
    plan = report["plans"][0]
    return plan["step"]["seconds"] * wide["request"]["batch"] / (plan["batch"]["sequences"] * plan["batch"]["seq"])


def beyond(wide, narrow):
    """What the wider request needs to hold plans that no launcher has as they are, where the narrower one has fallen
    back to them, or a recomputation that its launcher cannot be told (the report says so); {}: nothing."""
    first = narrow["plans"][0] if narrow["plans"] else {}
    if first and narrow["request"]["for"] == "any" != wide["request"]["for"]:
        return {"--for": "any"}
    if first.get("launcher") and first["launcher"] not in first["launchable_exactly_by"]:
        return {"--for": "any", "--stack": first["stack"]}
    return {}


def compare_plan(wide, narrow, option):
    own, limit = fastest(narrow), fastest(wide)
    if own is None:
        return "" if option not in SAME or limit is None else "no plan"
    if limit is None:
        return "a plan where the wider has none"
    if own < limit * (1 - LITTLE) or (option in SAME and own > limit * (1 + LITTLE)):
        return "%.12g s against %.12g s" % (own, limit)
    seldom = wide["search"]["certificate"].get("seldom_run", {}).get("seconds", plain(wide, wide))
    if plain(narrow, wide) < min(plain(wide, wide) / (1 + TIE), seldom) * (1 - LITTLE):
        return "a step of %.12g s against %.12g s, and %s named" % (plain(narrow, wide), plain(wide, wide), seldom)
    return ""


# ---- inference, rl ----

def compare_inference(wide, narrow, _):
    for key, point in enumerate(narrow["front"]):
        if not any(all(one[rate] >= point[rate] * (1 - LITTLE) for rate in RATES) for one in wide["front"]):
            return "point %d, %s: %s" % (key + 1, point["notation"], [point[rate] for rate in RATES])
    return "" if wide.get("best_point") or not narrow.get("best_point") else "a best point where the wider has none"


RATES = ("tokens_per_second_per_user", "tokens_per_second_per_chip")


def compare_rl(wide, narrow, _):
    steps = narrow["steps"]
    if steps and not wide["steps"]:
        return "a step where the wider has none"
    if steps and steps[0]["seconds"] < wide["steps"][0]["seconds"] * (1 - LITTLE):
        return "%.12g s against %.12g s" % (steps[0]["seconds"], wide["steps"][0]["seconds"])
    best = {step["way"]: step["seconds"] for step in wide["steps"]}
    for step in steps:
        if step["seconds"] < best.get(step["way"], step["seconds"]) * (1 - LITTLE):
            return "%s: %.12g s against %.12g s" % (step["way"], step["seconds"], best[step["way"]])
    return ""


COMPARE = {"plan": compare_plan, "inference": compare_inference, "rl": compare_rl}


def proof(command, report):
    return (report["certificate"] if command == "rl" else report["search"])["proof"]


class Run:
    """Pairs, and what came of them."""

    def __init__(self, program):
        self.program, self.dice = program, None
        self.tried, self.none, self.beyond, self.refused = (collections.Counter() for _ in range(4))
        self.faults, self.open, self.why = (collections.Counter() for _ in range(3))

    def pair(self, command, ask, wide):
        kinds = narrowings.COMMANDS[command][1](self.dice, ask, wide)
        drawn = sorted(kind for kind, values in kinds.items() if values)
        kind = self.dice.choice(drawn + 3 * [kind for kind in drawn if kind.startswith(OFTEN)])
        option = kind.replace(",", "").split(" ")[0]
        value = self.dice.choice(list(kinds[kind]))
        if ask.get(option) == value:
            return
        narrow, wrong = answered(self.program, command, {**ask, option: value})
        kind = command + " " + kind
        if not narrow:
            self.refused[kind] += 1
            self.why[wrong] += 1
            return
        other = beyond(wide, narrow) if command == "plan" else {}
        if other:
            wide, wrong = answered(self.program, command, {**ask, **other})
            self.beyond[kind] += 1
            if not wide or proof(command, wide) != "optimal":
                self.refused[kind] += 1
                self.why[wrong or "not proven: plan %s" % " ".join(words_of({**ask, **other}))] += 1
                return
        self.tried[kind] += 1
        fault = COMPARE[command](wide, narrow, option)
        self.none[kind] += not narrow.get({"plan": "plans", "inference": "front", "rl": "steps"}[command])
        if fault:
            (self.open if kind in OPEN else self.faults)[kind] += 1
            print("%s (%s): %s %s, %s %s: %s" % ("OPEN" if kind in OPEN else "BETTER", kind, command,
                                                 " ".join(words_of(ask)), option, value, fault), flush=True)

    def request(self, command):
        ask = narrowings.COMMANDS[command][0](self.dice)
        wide, wrong = answered(self.program, command, ask)
        if not wide or proof(command, wide) != "optimal":
            self.refused["(%s)" % command] += 1
            self.why[wrong or "not proven: %s %s" % (command, " ".join(words_of(ask)))] += 1
            return
        for _ in range(3):
            self.pair(command, ask, wide)

    def table(self):
        columns = (self.tried, self.none, self.beyond, self.refused, self.open, self.faults)
        print("%-32s" % "restriction" + "%8s" * len(columns) % ("pairs", "none", "beyond", "refused", "open", "faults"))
        for kind in sorted(set(self.tried) | set(self.refused)):
            print("%-32s" % kind + "".join("%8d" % column[kind] for column in columns))
        print("%d pairs, %d open, %d faults" % tuple(sum(c.values()) for c in (self.tried, self.open, self.faults)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("program")
    arguments.add_argument("--pairs", type=int, default=10 ** 9)
    arguments.add_argument("--seconds", type=float, default=1e9)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", choices=sorted(COMPARE))
    arguments.add_argument("-v", "--verbose", action="store_true", help="why requests were refused")
    given = arguments.parse_args()
    run, end, number = Run(given.program), time.time() + given.seconds, 0
    while sum(run.tried.values()) < given.pairs and time.time() < end:
        run.dice = random.Random("%d %d" % (given.seed, number))  # the next are the same, whatever becomes of this one
        try:
            run.request(given.only or run.dice.choice(("plan",) * 5 + ("inference",) * 2 + ("rl",)))
        except Defect as defect:
            run.tried["defects"] += 1
            run.faults["defects"] += 1
            print("DEFECT: %s" % defect, flush=True)
        number += 1
    run.table()
    for wrong, times in run.why.most_common() if given.verbose else ():
        print("%4d %s" % (times, wrong))
    return 1 if run.faults or not run.tried else 0


if __name__ == "__main__":
    sys.exit(main())
