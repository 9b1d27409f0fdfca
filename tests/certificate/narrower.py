#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A narrower request is never faster: each restriction of a request leaves a set of plans within.

    narrower.py SHARDOPT [--pairs N] [--seconds N] [--seed S]

Requests are drawn at random; each is planned, and planned again with one restriction more. The narrower one may not
have a faster plan (1e-9), nor a plan where the wider one has none. Both must be proven, or their bounds are compared."""
import argparse
import collections
import json
import random
import subprocess
import sys
import time

import outside


def restrictions(dice, words, report):
    """One option more, of each kind, around the best plan or at random. (kind, words)."""
    first = report["plans"][0] if report["plans"] else None
    axes = first["axes"] if first else {"data": 1, "fsdp": 1, "tensor": 1, "pipeline": 1, "sequence": 1, "expert": 1}
    role, value = dice.choice(sorted(axes)), dice.choice((1, 2, 4, 8))
    sign = dice.choice(("=", "<=", ">="))
    kinds = [("--require degree", ["--require", "%s%s%d" % (role, sign, value)]),
             ("--require knob", ["--require", dice.choice(("microbatches<=4", "microbatches>=8", "zero_stage=0",
                                                           "zero_stage=1", "microbatch_sequences=1", "schedule=1f1b",
                                                           "regather=true", "stages=even"))]),
             ("--schedules", ["--schedules", dice.choice(("1f1b", "gpipe", "gpipe,1f1b", "interleaved,1f1b"))]),
             ("--padding none", ["--padding", "none"]),
             ("--hbm-reserve", ["--hbm-reserve", dice.choice(("0.4", "0.5", "0.65"))]),
             ("--remat", ["--remat", dice.choice(("none", "full", "minimal", "minimal_with_context", "selective",
                                                  "save_qkv_proj", "layernorm"))]),
             ("--offload none", ["--offload", "none"])]
    if "--max-idle" in words:
        kinds.append(("--max-idle 0", ["--max-idle", "0"]))
    if "--batch-tolerance" in words:
        kinds.append(("--batch-tolerance 0", ["--batch-tolerance", "0"]))
    if "," in (words[words.index("--for") + 1] if "--for" in words else ""):
        kinds.append(("--for", ["--for", dice.choice(words[words.index("--for") + 1].split(","))]))
    return dice.choice(kinds)


def with_option(words, more):
    """The words with an option replaced or added; None: it is no restriction of what stands there."""
    words = list(words)
    if more[0] in words:
        if more[0] in ("--remat", "--require", "--schedules", "--hbm-reserve"):
            return None
        at = words.index(more[0])
        if words[at + 1] == more[1]:
            return None
        words[at + 1] = more[1]
        return words
    return words + more


def wide_request(dice):
    words, traits = outside.request_drawn(dice)
    for option in ("--remat", "--hbm-reserve", "--offload", "--padding"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    at = words.index("--max-idle")
    words[at + 1] = dice.choice(("0", "0.3"))
    if words[words.index("--for") + 1] == "any":
        del words[words.index("--for"):words.index("--for") + 2]
        words += ["--for", "any"]
    elif "--nodes" in words and dice.random() < 0.5:
        words[words.index("--for") + 1] = "megatron,torchtitan,deepspeed"
    if dice.random() < 0.2:
        words += ["--batch-tolerance", "5%"]
    return words


def planned(program, words):
    try:
        done = subprocess.run([program, "plan", *words, "--format", "json", "-q", "--sensitivity", "none", "--top", "1",
                               "--time-limit", "30"], capture_output=True, text=True, timeout=200, check=False)
    except subprocess.TimeoutExpired:
        return None, "slow"
    if done.returncode not in (0, 3):
        return None, done.stderr.strip().split("\n")[0]
    return json.loads(done.stdout), ""


def seconds_of(report):
    """The least of all plans: the first of the list may be one that is tied with it."""
    if not report["plans"]:
        return None
    return min([plan["ranked_seconds"] for plan in report["plans"]] +
               [float.fromhex(report["search"]["certificate"]["fastest"]["hex"])])


def kept(report):
    """--offload auto takes the host only where that is needed or pays by 5%, so its space is not one set."""
    return report["search"].get("certificate", {}).get("space", {}).get("offload", "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("program")
    arguments.add_argument("--pairs", type=int, default=10 ** 9)
    arguments.add_argument("--seconds", type=float, default=1e9)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    dice, end = random.Random(given.seed), time.time() + given.seconds
    tried, equal, none, refused, faults = (collections.Counter() for _ in range(5))
    while sum(tried.values()) < given.pairs and time.time() < end:
        words = wide_request(dice)
        wide, wrong = planned(given.program, words)
        if not wide or wide["search"]["proof"] != "optimal":
            continue
        for _ in range(4):
            kind, more = restrictions(dice, words, wide)
            narrow_words = with_option(words, more)
            if narrow_words is None or sum(tried.values()) >= given.pairs:
                continue
            narrow, wrong = planned(given.program, narrow_words)
            if not narrow:
                refused[kind] += 1
                continue
            tried[kind] += 1
            own, limit = seconds_of(narrow), seconds_of(wide)
            none[kind] += own is None
            if own is None or (limit is not None and own >= limit * (1 - 1e-9)):
                equal[kind] += own is not None and abs(own - limit) <= 1e-9 * limit
                continue
            if kept(narrow).split(":")[0] != kept(wide).split(":")[0] and "none" in kept(wide):
                tried[kind] -= 1  # the space of the host is another one
                tried[kind + ", with another use of the host"] += 1
                continue
            first = narrow["plans"][0]
            if kind == "--remat" and first.get("launcher") not in first["launchable_exactly_by"]:
                tried[kind] -= 1  # and the verdict says so
                tried["--remat that the launcher cannot be told"] += 1
                continue
            faults[kind] += 1
            print("NARROWER AND FASTER (%s): plan %s %s: %s against %s; offload %s against %s; by %s against %s" % (
                kind, " ".join(words), " ".join(more), own, limit, kept(narrow)[:12], kept(wide)[:12],
                narrow["plans"][0].get("launcher"), wide["plans"][0].get("launcher") if wide["plans"] else None),
                flush=True)
    print("%-45s %6s %6s %6s %8s %7s" % ("restriction", "pairs", "equal", "none", "refused", "faster"))
    for kind in sorted(set(tried) | set(refused)):
        print("%-45s %6d %6d %6d %8d %7d" % (kind, tried[kind], equal[kind], none[kind], refused[kind], faults[kind]))
    print("%d pairs, %d narrower and faster" % (sum(tried.values()), sum(faults.values())))
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
