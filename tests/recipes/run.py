#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prices published recipes (recipes.tsv) and holds how far the prices are from what their owners measured, and how much
faster than a recipe the program says that its own best plan of the same request is.

    run.py SHARDOPT [--update | --some] [NAME...]

A recipe that ran is priced, whatever the model of memory thinks of it. The limits are a little above today's errors, so
that one that grows is seen; --update writes the table of docs/data/recipes.md again. --some: what is claimed over every
third, and of the others the prices alone, for CI.
"""
import csv, json, os, shlex, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "../../docs/data/recipes.md")
BEGIN, END = "<!-- table -->\n", "<!-- /table -->\n"
MEDIAN_MOST, P90_MOST, WORST_MOST = 0.09, 0.2, 0.35  # Qwen3-30B on 16 H100 and DeepSeek-V4-Flash: a third
CLAIM_MEDIAN_MOST, CLAIM_WORST_MOST = 0.08, 0.35
WITH_HOST_MOST = 0.42  # claims that rest on the host, of which five runs on GPUs are measured: DeepSeek-V3, AutoModel
OF_THE_PLAN = ("--plan", "--remat", "--offload", "--schedules", "--padding")  # what is chosen where it is planned


def priced(program, options):
    """What the program says of a recipe: tokens/s and chip, the plan's memory, the probability that it fits."""
    done = subprocess.run([program, "explain", *shlex.split(options), "--format", "json", "--quiet"],
                          capture_output=True, text=True)
    plans = json.loads(done.stdout)["plans"] if done.returncode in (0, 3, 4) else []
    if not plans:
        return None, done.stderr or done.stdout[:200]
    return plans[0], ""


def claimed(program, options, *more):
    """The best plan of the same request and `more`; None: there is none."""
    words, kept = shlex.split(options), []
    while words:
        word = words.pop(0)
        if word in OF_THE_PLAN:
            words.pop(0)
        else:
            kept.append(word)
    done = subprocess.run([program, "plan", *kept, *more, "--sensitivity", "none", "--top", "1", "--format", "json", "--quiet"],
                          capture_output=True, text=True)
    plans = json.loads(done.stdout)["plans"] if done.returncode in (0, 3, 4) else []
    return plans[0] if plans else None


def gained(recipe, best):
    """The terms of the step that the best plan saves most of, as shares of the recipe's step: what a claim consists of."""
    terms = [plan["step"]["terms_seconds"] for plan in (recipe, best)]
    scale = [plan["chips_used"] / (recipe["step"]["seconds"] * recipe["chips_used"]) for plan in (recipe, best)]
    saved = {term: terms[0].get(term, 0) * scale[0] - terms[1].get(term, 0) * scale[1]
             for term in {**terms[0], **terms[1]}}
    words = [f"{term} {saved[term]:.0%}" for term in sorted(saved, key=lambda term: (-saved[term], term))
             if saved[term] >= 0.015]
    lost = [f"{term} {-saved[term]:.0%}" for term in sorted(saved, key=lambda term: (saved[term], term))
            if saved[term] <= -0.015]
    return ", ".join(words) + (" less; " if words else "") + (", ".join(lost) + " more" if lost else "")


def p90(values):
    return sorted(values)[min(len(values) - 1, int(0.9 * len(values)))]


def main():
    program, names = sys.argv[1], [word for word in sys.argv[2:] if not word.startswith("--")]
    with open(os.path.join(HERE, "recipes.tsv")) as file:
        recipes = list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"))
    lines, errors, claims, with_host, over, failed = [], [], [], [], [], False
    some, page = "--some" in sys.argv, open(PAGE, encoding="utf-8").read()
    for number, recipe in enumerate(recipes):
        if names and not any(name in recipe["recipe"] for name in names):
            continue
        plan, why = priced(program, recipe["options"])
        if not plan:
            print(f"FAIL: {recipe['recipe']} is refused: {why}")
            failed = True
            continue
        measured, price = float(recipe["measured_tokens_per_second_per_chip"]), plan["tokens_per_second_per_chip"]
        asked = not some or number % 3 == 0
        found = claimed(program, recipe["options"]) if asked else None
        best = found and found["tokens_per_second_per_chip"]
        home = found
        if found and found["memory"].get("host_bytes"):  # what is on the host is also said apart
            home = claimed(program, recipe["options"], "--offload", "none")
            with_host.append(best / price - 1)
        error = price / measured - 1
        errors.append(abs(error))
        if best:
            claims.append(max(0, home["tokens_per_second_per_chip"] / price - 1) if home else 0)
            over.append(best / measured - 1)
        fits = plan.get("fits_probability")
        held, limit = plan["memory"]["total_bytes"] / 1e9, plan["memory"]["limit_bytes"] / 1e9
        apart = f" ({claims[-1]:.1%} in HBM alone)" if home is not found else ""
        priced_words = (f"| {recipe['recipe']} | {measured:,.5g} | {price:,.4g} | {error:+.1%} | "
                        f"{held:.0f} of {limit:.0f} GB | {'' if fits is None else format(fits, '.0%')} | ")
        if not asked:
            lines.append(next((line for line in page.splitlines(True) if line.startswith(priced_words)), priced_words))
            continue
        lines.append(f"{priced_words}"
                     f"{format(max(0, best / price - 1), '.1%') if best else 'none'}{apart} | "
                     f"{gained(plan, found) if best and best / price > 1.08 else ''} | {recipe['source']} |\n")
        print(lines[-1], end="", flush=True)
    head = ["| recipe | measured tokens/s per chip | priced | error | HBM | fits with | best plan faster by | of which | source |\n",
            "|---|---:|---:|---:|---:|---:|---:|---|---|\n"]
    last = [f"\n{len(lines)} recipes priced: median error {statistics.median(errors):.1%}, nine in ten within "
            f"{p90(errors):.1%}, worst {max(errors):.1%}. The best plan of the same request is said to be faster by "
            f"{statistics.median(claims):.1%} in the median, {max(claims):.1%} at most, in HBM alone; {len(with_host)} use the "
            f"host and claim {max(with_host, default=0):.1%} at most; over what was measured by "
            f"{statistics.median(over):.1%} in the median, {max(over):.1%} at most.\n"]
    print(last[0])
    if names:
        return failed
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    if some:  # what is said of all claims is the page's
        last = ["\n" + old.split("\n\n", 1)[1]]
    table = "".join(head + lines + last)
    if "--update" in sys.argv:
        with open(PAGE, "w") as file:
            file.write(before + BEGIN + table + END + after)
    elif old != table:
        print(f"FAIL: the table of docs/data/recipes.md is another: run.py {program} --update writes it again")
        failed = True
    if statistics.median(errors) > MEDIAN_MOST or p90(errors) > P90_MOST or max(errors) > WORST_MOST:
        print(f"FAIL: errors: median at most {MEDIAN_MOST:.0%}, p90 {P90_MOST:.0%}, worst {WORST_MOST:.0%}")
        failed = True
    if statistics.median(claims) > CLAIM_MEDIAN_MOST or max(claims) > CLAIM_WORST_MOST:
        print(f"FAIL: claims over recipes: median at most {CLAIM_MEDIAN_MOST:.0%}, worst {CLAIM_WORST_MOST:.0%}")
        failed = True
    if max(with_host, default=0) > WITH_HOST_MOST:
        print(f"FAIL: claims that rest on the host: at most {WITH_HOST_MOST:.0%}")
        failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
