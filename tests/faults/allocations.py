#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command with its n-th allocation failing, alone and with all after it: it ends as without, or with exit 70, one
line, and the old file whole.

allocations.py PROGRAM [--all | --tail N --drawn N --seed WORD] [--only NAME] [--jobs N]

--all tries each n: 3.2 million of 35 commands, days of a processor; with --only an hour or so. Otherwise the first three,
the last `tail` (an answer is put together there) and `drawn` between them, by a seed. Exit 1: some run ended otherwise.
"""
import argparse, random, sys

import faults

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--all", action="store_true")
arguments.add_argument("--tail", type=int, default=6)
arguments.add_argument("--drawn", type=int, default=3)
arguments.add_argument("--seed", default="1")
arguments.add_argument("--only")
arguments.add_argument("--jobs", type=int, default=2)
options = arguments.parse_args()


def plan(case):
    count = case.count("malloc")
    print(f"{case.name}: {count} allocations")
    if options.all:
        points = range(1, count + 1)
    else:
        drawn = random.Random(f"{case.name} {options.seed}").sample(range(1, count + 1), min(count, options.drawn))
        points = sorted(set(range(1, min(3, count) + 1)) | set(range(max(1, count - options.tail), count + 1)) | set(drawn))
    for n in points:
        yield "malloc", n, False
        if n % 4 == 0:
            yield "malloc", n, True


place = faults.Place(options.program)
names = [n for n in faults.COMMANDS if options.only in (None, n)]
bad = faults.try_all([faults.Case(place, n) for n in names], plan, options.jobs)
place.end()
sys.exit(1 if bad else 0)
