#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The forms of kernels twice: `validate kernels` in C and cost/measured/lab/kernels.py in Python, on the same rows.

usage: forms.py PROGRAM TABLES [all]     TABLES: the folder of measured kernels (shared/kernels); exit 77 where it is
missing. Without `all`, as in CI, the two long tables (experts, attention) are left out.

Of every kernel on every chip: the same rows, and the same median, p90 and bias to a millionth. Then a row is made 10%
slower, a size wrong, a file short, and what is said of each is looked at."""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, TABLES = sys.argv[1], pathlib.Path(sys.argv[2])
LAB = pathlib.Path(__file__).resolve().parents[3] / "cost/measured/lab"
SKIP = 77
try:
    import numpy as np
    import scipy  # noqa: F401  kernels.py needs it
except ImportError:
    print("no numpy or scipy: not compared")
    sys.exit(SKIP)
if not TABLES.is_dir():
    print("no", TABLES)
    sys.exit(SKIP)
sys.path.insert(0, str(LAB))
import kernels as lab  # noqa: E402  (the path of it)

FILES = {op: lab.FORMS[op].file for op in lab.FORMS}


def told(path, *options):
    done = subprocess.run([PROGRAM, "validate", "kernels", str(path), "--format", "json", *options],
                          capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def by_python(op):
    """Of each kernel of the file: (rows, median, p90, bias) of all its rows, fitted or not."""
    form = lab.FORMS[op]()
    rows = lab.Rows(TABLES / form.file, form.texts)
    rows = rows.take(form.usable(rows))
    facts = json.loads((lab.ROOT / "cost/kernels" / (op + ".json")).read_text())["kernels"]
    out = {}
    for values, group in rows.groups(form.keys):
        names = form.names(values)
        fact = names and next((f for f in facts if all(f.get(key) == value for key, value in names.items())), None)
        if not fact:
            continue
        figures = {key: value for key, value in fact.items() if isinstance(value, float) or key == "k0"}
        for width, share in fact["share"].items() if isinstance(fact.get("share"), dict) else ():
            figures["share." + width] = share
        error = form.seconds(group, lab.catalog(values[0]), names, figures) / (group["us"] * 1e-6) - 1
        key = (values[0], names["library"], names.get("kernel") or names.get("collective") or names.get("phase"),
               names.get("precision", ""), names.get("ways", names.get("nodes", 0)))
        out[key] = error
    return out


def stats(error):
    return len(error), float(np.median(abs(error))), float(np.quantile(abs(error), 0.9)), float(np.median(error))


wrong = compared = 0
for op, file in FILES.items():
    if op in ("experts", "attention") and "all" not in sys.argv:
        continue
    code, json_of, err = told(TABLES / file)
    if code or json_of["op"] != op:
        print(op, "exit", code, err)
        wrong += 1
        continue
    mine, theirs = by_python(op), {}
    for group in json_of["kernels"]:
        figures = group.get("figures")
        if not figures or figures["library"] != group["library"] or not group["rows"]:
            continue
        key = (group["chip"], group["library"], group["kernel"],
               group["precision"] if op in ("matmul", "attention", "latent_attention", "experts") else "",
               figures.get("ways", figures.get("nodes", 0)))
        theirs.setdefault(key, []).append(group)
    for key, error in mine.items():
        groups = theirs.pop(key, [])
        rows = sum(group["rows"] for group in groups)
        same = rows == len(error)
        if len(groups) == 1:
            group, (_, median, p90, bias) = groups[0], stats(error)
            same = same and all(abs(a - b) < 1e-6 for a, b in
                                ((group["median"], median), (group["p90"], p90), (group["bias"], bias)))
        compared += rows
        if not same:
            print("differs:", op, key, "C", [(g["rows"], g["median"], g["p90"], g["bias"]) for g in groups], "Python",
                  stats(error))
            wrong += 1
    for key in theirs:
        print("only in C:", op, key)
        wrong += 1
print("%d rows priced twice" % compared)

with tempfile.TemporaryDirectory() as folder:
    table = pathlib.Path(folder) / "own.tsv"
    head = "chip\tengine\tkernel\tdtype\tm\tn\tk\tus\n"
    row = "h100\ttrtllm 1.3.0rc20\ttorch_flow\tbfloat16\t8192\t8192\t8192\t%g\n"
    table.write_text(head + row % 1000)
    at = 1 / (1 + told(table)[1]["kernels"][0]["bias"])
    table.write_text(head + row % (1000 / at))
    for slower, gate, code in ((1, "1%", 0), (1.1, "9%", 1), (1.1, "10%", 0)):
        table.write_text(head + row % (slower * 1000 / at))
        got, json_of, err = told(table, "--max-error", gate)
        if got != code or abs(json_of["summary"]["bias"] - (1 / slower - 1)) > 1e-4:
            print("a row %g slower under %s: exit %d, %s %s" % (slower, gate, got, json_of and json_of["summary"], err))
            wrong += 1
    for text, said in ((head + "h100\tx\ty\tbfloat16\t-1\t2\t3\t4\n", "own.tsv: line 2: m: \"-1\""),
                       (head + "h100\tx\n", "line 2: has 2 columns, the head 8"), ("a\tb\n", "is no table of kernels"),
                       ("", "is empty"), (head + "h100\tx\ty\tbfloat16\t1\t2\tnan\t4\n", "k: \"nan\"")):
        table.write_text(text)
        got, json_of, err = told(table)
        if got != 2 or json_of is not None or said not in err or err.count("\n") != 1:
            print("%r: exit %d, %s" % (text[:60], got, err))
            wrong += 1
    table.write_text(head + "nobody\tx\ty\tbfloat16\t2048\t2\t3\t4\n")
    got, json_of, err = told(table)
    if got or json_of["summary"] != {"rows": 0, "median": None, "p90": None, "worst": None, "bias": None, "smaller": 0,
                                     "no_form": 1}:
        print("an unknown chip: exit", got, json_of, err)
        wrong += 1
sys.exit(wrong > 0)
