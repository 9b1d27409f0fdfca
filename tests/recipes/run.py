#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prices published recipes (recipes.tsv) and holds how far the prices are from what their owners measured.

    run.py SHARDOPT [--update] [NAME...]

A recipe that ran is priced, whatever the model of memory thinks of it. The limits are a little above today's errors, so
that one that grows is seen; --update writes the table of docs/data/recipes.md again.
"""
import csv, json, os, shlex, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "../../docs/data/recipes.md")
BEGIN, END = "<!-- table -->\n", "<!-- /table -->\n"
MEDIAN_MOST, WORST_MOST = 0.09, 0.25


def priced(program, options):
    """What the program says of a recipe: tokens/s and chip, the plan's memory, the probability that it fits."""
    done = subprocess.run([program, "explain", *shlex.split(options), "--format", "json", "--quiet"],
                          capture_output=True, text=True)
    plans = json.loads(done.stdout)["plans"] if done.returncode in (0, 3, 4) else []
    if not plans:
        return None, done.stderr or done.stdout[:200]
    return plans[0], ""


def main():
    program, names = sys.argv[1], [word for word in sys.argv[2:] if word != "--update"]
    with open(os.path.join(HERE, "recipes.tsv")) as file:
        recipes = list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))
    lines, errors, failed = [], [], False
    for recipe in recipes:
        if names and not any(name in recipe["recipe"] for name in names):
            continue
        plan, why = priced(program, recipe["options"])
        if not plan:
            print(f"FAIL: {recipe['recipe']} is refused: {why}")
            failed = True
            continue
        measured = float(recipe["measured_tokens_per_second_per_chip"])
        error = plan["tokens_per_second_per_chip"] / measured - 1
        errors.append(abs(error))
        fits = plan.get("fits_probability")
        held, limit = plan["memory"]["total_bytes"] / 1e9, plan["memory"]["limit_bytes"] / 1e9
        lines.append(f"| {recipe['recipe']} | {measured:,.5g} | {plan['tokens_per_second_per_chip']:,.4g} | {error:+.1%} | "
                     f"{held:.0f} of {limit:.0f} GB | {'' if fits is None else format(fits, '.0%')} | {recipe['source']} |\n")
    head = ["| recipe | measured tokens/s per chip | priced | error | HBM | fits with | source |\n",
            "|---|---:|---:|---:|---:|---:|---|\n"]
    last = [f"\n{len(lines)} recipes priced: median error {statistics.median(errors):.1%}, worst {max(errors):.1%}.\n"]
    table = "".join(head + lines + last)
    print(table)
    if names:
        return failed
    with open(PAGE) as file:
        text = file.read()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    if "--update" in sys.argv:
        with open(PAGE, "w") as file:
            file.write(before + BEGIN + table + END + after)
    elif old != table:
        print(f"FAIL: the table of docs/data/recipes.md is another: run.py {program} --update writes it again")
        failed = True
    if statistics.median(errors) > MEDIAN_MOST or max(errors) > WORST_MOST:
        print(f"FAIL: the median is to be at most {MEDIAN_MOST:.0%}, the worst {WORST_MOST:.0%}")
        failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
