#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference as a test: a sample of random plans agrees, every function names its heading, planted faults are found.

    run.py PROGRAM [--count N] [--seed S]"""
import argparse
import ast
import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import compare
import data
import ops
import price
import stage
import step

HERE = os.path.dirname(os.path.abspath(__file__))
PRICED = ("data", "machine", "mixers", "model", "ops", "price", "stage", "step", "tuning")
# Headings of the page on what is not in the price of a plan: fitting, validation, and what follows a search.
NOT_PRICED = {"Calibration", "Validation and likely ranges", "Uncertainty", "What is odd", "Failures",
              "Training time and cost", "Where launchers place roles"}


def headings():
    with open(os.path.join(data.ROOT, "docs", "model.md"), encoding="utf-8") as page:
        return set(re.findall(r"^## (.+)$", page.read(), re.M))


def check_headings():
    """Each function of a formula names its heading, and each heading has a function."""
    known, named, wrong = headings(), set(), []
    for module in PRICED:
        with open(os.path.join(HERE, module + ".py"), encoding="utf-8") as source:
            tree = ast.parse(source.read())
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            first = re.match(r"([A-Z][\w ,-]+): ", ast.get_docstring(node) or "")
            first = first.group(1) if first else ""
            if first in known:
                named.add(first)
            elif first:
                wrong.append("%s.%s names %r, which is no heading" % (module, node.name, first))
    return wrong + ["no function names %r" % heading for heading in sorted(known - named - NOT_PRICED)]


# What a report is of: one stage of a dense model on a torus, a pipeline of a mixture on GPUs, and one of several launchers
# that keep another state.
SEEN = (["--model", "llama3.1-8b", "--chip", "v5p", "--slice", "4x4x4", "--seq", "4096", "--sequences", "256", "--plan",
         "fsdp=32 tensor=2 microbatches=2"],
        ["--model", "qwen3-30b-a3b", "--chip", "h100", "--nodes", "8", "--seq", "4096", "--sequences", "256", "--plan",
         "data=8 expert=1 tensor=2 pipeline=4 microbatches=8", "--for", "megatron", "--remat", "full"],
        ["--model", "qwen3-4b", "--chip", "a100-80g", "--nodes", "1", "--sft", "--sequences", "64", "--seq", "2048",
         "--for", "llama-factory,trl", "--plan", "fsdp=8"])
# (file, where the figure is): each is made a thousandth larger in a copy of the data.
FIGURES = (("cost/profiles/default.json", ("profiles", "tpu-v5p", "matrix_efficiency"), 0),
           ("cost/profiles/default.json", ("profiles", "gpu", "hbm_efficiency"), 1),
           ("cost/profiles/default.json", ("stacks", "maxtext-tpu", "tensor_exposed"), 0),
           ("mesh/catalog/tpu-v5p.json", ("link_bytes_per_second",), 0),
           ("mesh/catalog/h100.json", ("scaleout_bytes_per_second",), 1),
           ("mesh/catalog/h100.json", ("hbm_usable_bytes",), 1))


def planted_figures(reports, program):
    """Figures that are a thousandth off in the data that the reference reads."""
    missed, root = [], data.ROOT
    for path, keys, seen in FIGURES:
        with tempfile.TemporaryDirectory() as folder:
            for part in ("cost/profiles", "cost/optimizers", "mesh/catalog"):
                shutil.copytree(os.path.join(root, part), os.path.join(folder, part))
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                whole = json.load(file)
            entry = whole
            for key in keys:
                entry = entry[key]
            entry["value"] *= 1.001
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                json.dump(whole, file)
            data.ROOT = folder
            if not differs(reports[seen], program):
                missed.append("%s of %s" % (".".join(keys), path))
            data.ROOT = root
    return missed


def differs(report, program):
    entry = report["plans"][0]
    return price.differences(price.price(report, entry, program), price.rows_of_report(entry), 1e-9)


FORMULAS = (("stage.in_flight", stage, "in_flight", lambda rows: {k: 1.001 * v for k, v in rows.items()}),
            ("ops.attention_span", ops, "attention_span", lambda span: span + 0.5),
            ("stage.goes_round", stage, "goes_round", lambda rings: not rings),
            ("step.bubble_of_schedule", step, "bubble_of_schedule", lambda idle: (idle[0], 1.001 * idle[1], idle[2])))


def planted_formulas(reports, program):
    """Formulas that are a little different in the reference."""
    missed = []
    for name, module, function, change in FORMULAS:
        kept = getattr(module, function)
        users = [one for one in (ops, stage, step, price) if getattr(one, function, None) is kept]
        for user in users:
            setattr(user, function, lambda *given: change(kept(*given)))
        if not any(differs(report, program) for report in reports):
            missed.append(name)
        for user in users:
            setattr(user, function, kept)
    return missed


def planted_reports(reports, program):
    """Reports in which one number was changed."""
    missed = []
    for path in (("step", "terms_seconds", "matmul"), ("step", "seconds"), ("memory", "optimizer_bytes"),
                 ("memory_moments", 0, "transient_bytes"), ("communication", 0, "bytes")):
        report = copy.deepcopy(reports[1])
        entry = report["plans"][0]
        for key in path[:-1]:
            entry = entry[key]
        entry[path[-1]] *= 1 + 1e-8
        if not differs(report, program):
            missed.append("report: " + ".".join(map(str, path)))
    return missed


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("program")
    arguments.add_argument("--count", type=int, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    faults = check_headings()
    compare.keep_what_is_read()
    reports = [json.loads(subprocess.run([given.program, "explain", *words, "--format", "json"], capture_output=True,
                                         text=True, check=True).stdout) for words in SEEN]
    for words, report in zip(SEEN, reports):
        faults += ["%s: %s: reference %r, program %r" % (words[1], *row) for row in differs(report, given.program)]
    if not faults:
        planted = [("figures", planted_figures, len(FIGURES)), ("formulas", planted_formulas, len(FORMULAS)),
                   ("reports", planted_reports, 5)]
        for what, plant, count in planted:
            missed = plant(reports, given.program)
            print("%d of %d planted faults in %s found" % (count - len(missed), count, what))
            faults += ["not found: " + one for one in missed]
    print("\n".join(faults))
    code = compare.main(["--count", str(given.count), "--seed", str(given.seed), "--shardopt", given.program])
    return 1 if faults else code


if __name__ == "__main__":
    sys.exit(main())
