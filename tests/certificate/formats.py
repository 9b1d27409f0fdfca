#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is computed does not depend on the format: text, Markdown, CSV, page and brief JSON say what the JSON says.

    formats.py SHARDOPT [--requests N] [--seed S] [--only COMMAND]

Requests of plan, inference and rl (narrowings.py), drawn at random; of plan every other one with all that --verbose
adds. The document in the page is the JSON (of a serving front without all its pools), brief JSON is a part of it, each
figure of the CSV is the JSON's to the last digit, and the text has its sentences."""
import argparse
import csv
import io
import itertools
import json
import random
import re
import subprocess
import sys

import narrowings

REQUESTS = {"plan": narrowings.plan_request, "inference": narrowings.inference_request, "rl": narrowings.rl_request}
# Columns of the CSV that stand in the JSON's step.
STEP = ("step_seconds lower_seconds upper_seconds likely_low_seconds likely_high_seconds compute_seconds "
        "exposed_communication_seconds bubble_seconds optimizer_seconds other_seconds").split()


def run(program, words, done=(0, 3)):
    """What it prints; None where the request is an error."""
    said = subprocess.run([program, *words], capture_output=True, text=True, timeout=600, check=False)
    return said.stdout if said.returncode in done else None


def letters(text):
    """Text without what breaks lines, marks up or escapes."""
    return re.sub(r"[\s\\|*`_]+", "", re.sub(r"</?(details|summary)>", "", text))


def within(part, whole, where=""):
    """The first figure of `part` that `whole` has not, or None."""
    if isinstance(part, dict):
        lost = next((key for key in part if not isinstance(whole, dict) or key not in whole), None)
        inner = (within(part[key], whole[key], where + "." + key) for key in part) if lost is None else ()
        return where + "." + lost if lost is not None else next(filter(None, inner), None)
    if isinstance(part, list):
        return next(filter(None, (within(one, other, where + "[]") for one, other in zip(part, whole))), None)
    return None if part == whole else "%s: %r, not %r" % (where, part, whole)


def plan_csv(document, rows):
    """What a row of a plan says otherwise than its plan."""
    for plan, row in zip(document["plans"], rows):
        step, memory = plan["step"], plan["memory"]
        pairs = [(name, step.get(name.removeprefix("step_") if name == "step_seconds" else name)) for name in STEP]
        pairs += [("mfu", plan["mfu"]), ("memory_bytes", memory["total_bytes"]), ("chips_used", plan["chips_used"]),
                  ("memory_limit_bytes", memory["limit_bytes"])]
        for name, value in pairs:
            if value is not None and float(row[name]) != value:
                yield "%s %s, not %.17g" % (name, row[name], value)


def inference_csv(document, rows):
    for point, row in zip(document["front"], rows):
        for name in ("ttft_seconds", "tpot_seconds", "tokens_per_second", "tokens_per_second_per_chip"):
            if name in row and row[name] and float(row[name]) != point[name]:
                yield "%s %s, not %.17g" % (name, row[name], point[name])


def compare(program, command, words):
    """The answers in all formats: how many plans they have, and what differs."""
    def printed(form):
        return run(program, [command, *words, "--format", form])

    answer = printed("json")
    if answer is None:
        return None, []
    document, faults = json.loads(answer), []
    page = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', printed("html") or "", re.S)
    shown = json.loads(page.group(1)) if page else None
    if within(shown, document) or (command != "inference" and shown != document):  # which leaves out pools
        faults.append("the page has another document: %s" % within(shown, document))
    table = printed("csv") if command != "rl" else None
    rows = list(csv.DictReader(io.StringIO(table))) if table else []
    of = {"plan": ("plans", plan_csv), "inference": ("front", inference_csv)}.get(command)
    if of and table is not None:
        if command == "plan" and len(rows) != len(document["plans"]):
            faults.append("csv has %d rows, not %d" % (len(rows), len(document["plans"])))
        faults += ["csv: " + fault for fault in of[1](document, rows)]
    if command == "plan":
        brief = printed("brief")
        lost = within(json.loads(brief), document) if brief else "nothing"
        faults += ["brief: " + lost] if lost else []
        text = letters(run(program, [command, *words, "-o", "/dev/stdout"]) or "")
        for key in ("answer", "sensitivity"):
            said = document["words"].get(key) if document["plans"] else None
            if said and letters(said if isinstance(said, str) else "".join(said)) not in text:
                faults.append("text has not the words: %s" % said)
    return len(document.get("plans", document.get("front", [])) or []), faults


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("program")
    arguments.add_argument("--requests", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", choices=sorted(REQUESTS))
    given = arguments.parse_args()
    tried = answers = wrong = 0
    for number in itertools.count():
        if tried == given.requests:
            break
        dice = random.Random("%d %d" % (given.seed, number))
        command = given.only or dice.choice(("plan", "plan", "plan", "inference", "rl"))
        ask = REQUESTS[command](dice)
        words = [word for option, value in ask.items() for word in ([option] if value is True else [option, value])]
        if command == "plan" and number % 2:
            words += ["--sensitivity", "fast"]
        count, faults = compare(given.program, command, [*words, "-q"])
        if count is None:
            continue
        tried, answers = tried + 1, answers + (count > 0)
        wrong += bool(faults)
        for fault in faults[:3]:
            print("%s %s: %s" % (command, " ".join(words), fault), flush=True)
    print("%d requests, %d with an answer, %d whose formats differ" % (tried, answers, wrong))
    return 1 if wrong or answers == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
