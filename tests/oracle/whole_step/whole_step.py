#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole training steps as real compilers and frameworks make them, beside what shardopt says of the same plans. See README.md.

    whole_step.py --shardopt build/shardopt              checks the recorded figures and docs/data/whole_steps.md
    whole_step.py --shardopt build/shardopt --table      writes docs/data/whole_steps.md, and ratios of exceptions.tsv
    whole_step.py --shardopt build/shardopt --compile [--only NAME,...] [--into FOLDER]   records
    whole_step.py --shardopt build/shardopt --quick      compiles a few cases anew and compares with what is recorded"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import compare
import program

HERE = compare.HERE
RECORDED, EXCEPTIONS = os.path.join(HERE, "recorded.json"), os.path.join(HERE, "exceptions.tsv")
PAGE = os.path.join(HERE, "..", "..", "..", "docs", "data", "whole_steps.md")
BYTES, MEMORY, SAME = 0.02, 0.03, 0.005  # what passes without a word: of bytes, of HBM; of the ratio of an exception
QUICK = ("dense_data2_fsdp4", "mixture_fsdp2_expert4")
SKIPPED = 77


def load(path, otherwise):
    return json.load(open(path)) if os.path.exists(path) else otherwise


def exceptions():
    """{(case, what): (ratio, cause)}: what is known to be off, by how much, and why."""
    lines = [line.rstrip("\n").split("\t") for line in open(EXCEPTIONS)][1:] if os.path.exists(EXCEPTIONS) else []
    return {(name, what): (float(ratio), cause) for name, what, ratio, cause in lines}


# ---- compiling ----

def topology_of(text):
    """The topology that the emitted file names, as MaxText's train_compile calls it; and how many slices."""
    kind, slices = re.search(r"^# XPK: --tpu-type=(\S+) --num-slices=(\d+)", text, re.M).groups()
    return kind.replace("v5litepod", "v5e"), slices


def compiled(case, words, folder):
    """What the compiler says of a case, from the emitted file as it is; None where it failed."""
    text, path = case.emitted(words.shardopt), os.path.join(folder, case.name)
    told = path + (".yml" if case.launcher == "maxtext" else ".sh")  # MaxText reads no other name
    with open(told, "w") as file:
        file.write(text)
    keys = [key for key in case.row["keys"].split(";") if key]
    if case.launcher == "maxtext":
        command = [words.maxtext, os.path.join(HERE, "compile_maxtext.py"), told, *topology_of(text),
                   path + ".hlo", path + ".out.json", *keys]
    else:
        command = [words.torchtitan, os.path.join(HERE, "step_torchtitan.py"), told, path + ".out.json", *keys]
    with open(path + ".log", "w") as log:
        done = subprocess.run(["nice", "-n", "10", *command], stdout=log, stderr=log, cwd=folder)
    if done.returncode:
        print(f"{case.name}: FAILED, see {path}.log", flush=True)
        return None
    return read_result(case, path, words)


def read_result(case, path, words):
    said = json.load(open(path + ".out.json"))
    if case.launcher == "maxtext":
        slices = 2 if "--slices 2" in case.row["machine"] else 1
        said["rows"] = program.collectives(open(path + ".hlo").read(), said["mesh"], slices)
    said["mesh"] = {axis: size for axis, size in said["mesh"].items() if size > 1}
    said.pop("devices", None)
    for row in said["rows"]:
        row["sent"] = round(row["sent"])
    return {"asked": case.asked(words.shardopt), **said}


def record(words, chosen):
    """Compiles what is not recorded yet. Each result is written at once, so that one that fails loses no other."""
    failed = 0
    for case in chosen:
        recorded = load(RECORDED, {})
        if case.name in recorded and recorded[case.name]["asked"] == case.asked(words.shardopt) and not words.again:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = words.into or folder
            path = os.path.join(folder, case.name)
            found = words.into and not words.again and os.path.exists(path + ".out.json")
            said = read_result(case, path, words) if found else compiled(case, words, folder)
        if said is None:
            failed += 1
            continue
        recorded = load(RECORDED, {})
        recorded[case.name] = said
        with open(RECORDED, "w") as file:
            json.dump(recorded, file, indent=0, sort_keys=True)
        print(f"{case.name}: {said['seconds']} s", flush=True)
    return failed


# ---- comparing ----

def close(what, ratio):
    return abs(ratio - 1) <= (MEMORY if what == "HBM" else BYTES)


def ratio_of(ours, theirs):
    return ours / theirs if theirs else float("inf")


def judged(words, chosen, recorded):
    """Of every case that is recorded: its lines, each with what is wrong with it, in words, or None."""
    known = exceptions()
    for case in chosen:
        if case.name not in recorded:
            continue
        plan, lines = case.explained(words.shardopt), []
        for what, ours, theirs, kinds in compare.lines_of(case, plan, recorded[case.name]):
            ratio, exception = ratio_of(ours, theirs), known.get((case.name, what))
            wrong = None
            if exception and close(what, ratio):
                wrong = f"is within the limit now ({ratio:.3f}): take the line out of exceptions.tsv"
            elif exception and abs(min(ratio, 99) / exception[0] - 1) > SAME:
                wrong = f"was {exception[0]:.3f} of the compiler's and is {ratio:.3f}"
            elif exception and exception[1] == "?" or not exception and not close(what, ratio):
                wrong = f"is {ratio:.3f} of the compiler's, and no cause is named"
            lines.append((what, ours, theirs, kinds, ratio, exception and exception[1], wrong))
        yield case, plan, lines


def check(words, chosen):
    recorded, failed, count = load(RECORDED, {}), 0, 0
    for case, _, lines in judged(words, chosen, recorded):
        if recorded[case.name]["asked"] != case.asked(words.shardopt):
            print(f"FAIL: {case.name}: what is emitted is not what was compiled: whole_step.py --compile --only {case.name}")
            failed += 1
        for what, ours, theirs, _, _, _, wrong in lines:
            count += 1
            if wrong:
                print(f"FAIL: {case.name}: {what}: {ours / 1e6:,.1f} MB {wrong}")
                failed += 1
    if not words.only and open(PAGE).read() != page(words, chosen, recorded):
        print("FAIL: docs/data/whole_steps.md is not what the recorded figures make: whole_step.py --table")
        failed += 1
    print(f"{count} figures of {len(recorded)} whole steps, {failed} wrong")
    return failed


def quick(words, chosen):
    """Compiles a few cases with the compiler that is here, against what was recorded."""
    if subprocess.run([words.maxtext, "-c", "import maxtext, libtpu"], stderr=subprocess.DEVNULL).returncode:
        print("SKIPPED: MaxText or libtpu is not installed (tests/oracle/whole_step/set_up.sh): no step was compiled")
        sys.exit(SKIPPED)
    recorded, failed = load(RECORDED, {}), 0
    for case in chosen:
        with tempfile.TemporaryDirectory() as folder:
            said = compiled(case, words, folder)
        if said is None:
            failed += 1
            continue
        plan = case.explained(words.shardopt)
        for what, _, theirs, _ in compare.lines_of(case, plan, said):
            was = next((old for name, _, old, _ in compare.lines_of(case, plan, recorded[case.name]) if name == what), 0)
            same = abs(theirs / was - 1) <= BYTES if was else False
            print(f"{'ok' if same else 'FAIL'}: {case.name}: {what}: {theirs / 1e6:,.1f} MB, recorded {was / 1e6:,.1f} MB")
            failed += not same
    return failed


# ---- the page ----

HEAD = """# Whole steps, compared with real compilers

Each row is one training step. For MaxText, libtpu compiled the file of `shardopt emit maxtext` for the TPU slice; for
torchtitan, the script of `shardopt emit torchtitan` ran one step on fake tensors. Nothing here is timed. What one chip
sends and keeps at its peak is read from the compiled program and compared with what `shardopt explain` says of the
plan. `tests/oracle/whole_step/README.md` says how, and how to do it again. `whole_step.py --table` writes this page,
`ctest -R oracle_whole_step` compares it with the program, and every line that is off has its cause below.

Bytes are MB of the whole array, once a pass, over a step (docs/json.md, `communication`). A ratio is ours over theirs.
"""


def middle(values, what):
    if not values:
        return ""
    errors = sorted(abs(value - 1) for value in values)
    return (f"{what}: median {statistics.median(errors):.1%}, worst {errors[-1]:.1%} of {len(errors)}; within "
            f"{BYTES if what != 'HBM' else MEMORY:.0%}: {sum(e <= (BYTES if what != 'HBM' else MEMORY) for e in errors)}")


def page(words, chosen, recorded):
    out, causes = [HEAD], {}
    for launcher, software in (("maxtext", "MaxText 0.2.5, jax 0.12.0, libtpu 0.0.50.1"),
                               ("torchtitan", "torchtitan 0.3.0, torch 2.13.0")):
        rows, memory, sent = [], [], []
        for case, _, lines in judged(words, [one for one in chosen if one.launcher == launcher], recorded):
            for i, (what, ours, theirs, kinds, ratio, cause, _) in enumerate(lines):
                (memory if what == "HBM" else sent).append(min(ratio, 9.99))
                number = causes.setdefault(cause, len(causes) + 1) if cause else None
                first = f"{case.row['model']}, {machine_of(case)}: `{case.row['plan']}`, {words_of(case)}" if i == 0 else ""
                parts = ", ".join(f"{kind} {size / 1e6:,.1f}" for kind, size in sorted(kinds.items(), key=lambda k: -k[1])
                                  if size > 0.01 * theirs)
                rows.append(f"| {first} | {what} | {theirs / 1e6:,.1f} | {ours / 1e6:,.1f} | {ratio:.3f}"
                            f"{f' ({number})' if number else ''} | {parts} |")
        if rows:
            out.append(f"\n## {software}\n\n{middle(sent, 'Bytes sent')}.\n{middle(memory, 'HBM')}.\n\n"
                       "| step | what | theirs, MB | ours, MB | ratio | theirs by kind |\n|---|---|---|---|---|---|\n"
                       + "\n".join(rows) + "\n")
    waiting = [case.name for case in chosen if case.name not in recorded]
    if waiting:
        out.append(f"\nListed, and not compiled yet: {len(waiting)} steps ({', '.join(waiting)}).\n")
    out.append("\n## What is off, and why\n\n" + "\n".join(f"{number}. {cause}" for cause, number in causes.items()) + "\n")
    return "".join(out)


def machine_of(case):
    return case.row["machine"].replace("--slice ", "").replace("--chip ", "").replace(" --slices 2", ", two slices").replace(
        " --nodes ", ", nodes: ")


def words_of(case):
    keys = {"scan_layers=false": "scan off"}.get(case.row["keys"], "no rings" if "windowed" in case.row["keys"] else "")
    return ", ".join(filter(None, (case.row["options"].replace("--remat ", "").replace(" --offload activations", ""), keys)))


def table(words, chosen):
    """Writes exceptions.tsv with the ratios of today: causes stay, what is close now goes, what has no cause gets a
    question mark, which a check refuses. Then the page."""
    recorded, known = load(RECORDED, {}), exceptions()
    lines = [(case.name, what, ratio) for case, _, found in judged(words, chosen, recorded)
             for what, _, _, _, ratio, _, _ in found if not close(what, ratio)]
    with open(EXCEPTIONS, "w") as file:
        file.write("case\twhat\tratio\tcause\n")
        for name, what, ratio in lines:
            cause = known.get((name, what), (0, "?"))[1]
            file.write(f"{name}\t{what}\t{min(ratio, 99):.4f}\t{cause}\n")
            if cause == "?":
                print(f"{name}: {what}: {ratio:.3f} has no cause yet")
    with open(PAGE, "w") as file:
        file.write(page(words, chosen, recorded))


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--shardopt", default="build/shardopt", help="the program")
    words.add_argument("--only", default="", help="names of cases, with commas")
    words.add_argument("--maxtext", default=sys.executable, help="the Python that has MaxText and libtpu")
    words.add_argument("--torchtitan", default=sys.executable, help="the Python that has torchtitan")
    words.add_argument("--into", help="keep what is compiled in this folder, and go on from what lies there")
    for flag in ("compile", "again", "table", "quick"):
        words.add_argument("--" + flag, action="store_true")
    words = words.parse_args()
    words.shardopt = os.path.abspath(words.shardopt)
    names = words.only.split(",") if words.only else QUICK if words.quick else None
    chosen = [case for case in compare.cases() if names is None or case.name in names]
    if words.table:
        return table(words, chosen)
    sys.exit(bool((record if words.compile else quick if words.quick else check)(words, chosen)))


if __name__ == "__main__":
    main()
