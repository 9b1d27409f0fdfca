#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is odd is weighed as docs/model.md says, in every plan of the snapshot's searches and of the 60 usual requests.

    odd.py SHARDOPT [MOST]   MOST: so many commands of tests/snapshot/commands.txt, spread over the file (default 40)

Weights are read from the page and compared with bounds.ODD; then ranked seconds over those of the step are compared with
the weights of what is odd of each plan. No search is repeated, and a weight that is planted wrong is found."""
import json, os, re, shlex, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import asked as asked_py
import bounds, data, price
from true import listed

SNAPSHOT = os.path.join(data.ROOT, "tests", "snapshot", "commands.txt")
OUTPUTS = {"--format": 2, "-o": 2, "--output": 2, "--threads": 2, "-v": 1, "--timing": 1, "--color": 2, "--certificate": 2,
           "--sensitivity": 2, "-q": 1}


def weights_of_page():
    """The last column of the table in "What is odd", in units of plan_error, whose share the text above it gives."""
    with open(os.path.join(data.ROOT, "docs", "model.md"), encoding="utf-8") as page:
        text = page.read().split("## What is odd", 1)[1].split("\n## ", 1)[0]
    whole = float(re.search(r"`plan_error` \((\d+)%", text)[1])
    return [float(row) / whole for row in re.findall(r"^    \S.*?(\d+)%$", text, re.M)]


def commands(most):
    """Plain searches of the snapshot: `shardopt [plan] --model ...` alone on a line, without a pipe."""
    with open(SNAPSHOT, encoding="utf-8") as file:
        lines = [line.lstrip("!~ ").strip() for line in file]
    plain = [line for line in lines if re.match(r"shardopt (plan )?--model [^|;&<>$*(]*$", line) and "emit" not in line]
    return plain[::max(1, len(plain) // most)]


def words_of(command):
    words, kept = shlex.split(command)[1:], []
    while words:
        skip = OUTPUTS.get(words[0], 0)
        kept += [] if skip else words[:1]
        words = words[max(1, skip):]
    return kept


def plans_of(program, words):
    words = words + ([] if "--top" in words or "--variants" in words else ["--top", "10"])  # what is odd comes later
    done = subprocess.run([program, *words, "-q", "--sensitivity", "none", "--format", "json", "--time-limit", "5"],
                          capture_output=True, text=True, check=False, cwd=data.ROOT)
    return json.loads(done.stdout) if done.returncode in (0, 4) and done.stdout.startswith("{") else None


def times_of(report, program):
    """(what ranks a plan in place of its step's seconds, by the report and by the page) of each plan."""
    asked = asked_py.Asked(report)
    for plan in report["plans"]:
        case = bounds.Record(model=price.read_model(report["request"]["model"], program), seq=plan["batch"]["seq"],
                             tpu=not asked.chip.has_domains)
        laid = price.plan_of(plan)
        own = bounds.odd_times(case, price.world_of(report, plan, program), laid)
        scale = asked.sequences() / plan["batch"]["sequences"]
        yield plan, plan["ranked_seconds"] / plan["step"]["seconds"] / scale, own


def main():
    program, most = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
    bounds.keep_what_is_read()
    page, faults, compared, odd = weights_of_page(), [], 0, 0
    if list(bounds.ODD) != page:
        faults.append("weights %s, and the page has %s" % (bounds.ODD, page))
    reports = [(words, plans_of(program, words)) for words in
               [words_of(command) for command in commands(most)] +
               [shlex.split(request) for name, request in listed([])[::max(1, 60 // most)] if "405b" not in request]]
    for words, report in reports:
        try:
            for plan, told, own in times_of(report, program) if report else ():
                compared += 1
                odd += own > 1
                if abs(told - own) > 1e-9:
                    faults.append("%s: plan %d is ranked %.6f times its step, and by the page %.6f" % (
                        " ".join(words), plan["rank"], told, own))
        except (data.Unknown, OSError, KeyError) as error:
            print("%s: %r" % (" ".join(words), error))
    found = 0
    for i, weight in enumerate(bounds.ODD):  # a weight that is wrong shows in some plan that is odd in this way
        kept, bounds.ODD = bounds.ODD, tuple(0.25 if k == i else one for k, one in enumerate(bounds.ODD))
        found += any(abs(told - own) > 1e-9 for _, report in reports if report for _, told, own in times_of(report, program))
        bounds.ODD = kept
    print("%d plans, %d of them odd; %d of %d planted weights found" % (compared, odd, found, len(bounds.ODD)))
    print("\n".join(faults))
    return 1 if faults or compared == 0 or odd == 0 or found < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
