#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Emitted and read back: the first plan of every model of the zoo, by every launcher that takes it, on machines that the
launcher uses. What `explain --from-config` makes of the file has to be the plan, its seconds and its bytes to 0.1%, or a
line of `emit` or of `explain` says what the file cannot. And `emit` of a report writes what `emit` of options writes.

    round_trip.py SHARDOPT [--jobs 2] [--only REGEX] [--share 3/40] [--keep FOLDER]

Every difference is listed, by class; the exit code is 1 if there is one. --share K/N: the K-th of N parts of all cases.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile

GPU = ("megatron", "torchtitan", "torchtitan-toml", "deepspeed")
TPU = ("maxtext", "jax")
TUNE = ("trl", "axolotl", "llama-factory", "megatron")
# chip, its HBM in bytes, chips of the smallest machine, precisions
HOSTS = (("h100", 80e9, 8, ("bf16", "fp8")), ("h200", 141e9, 8, ("bf16", "fp8")), ("a100", 80e9, 8, ("bf16",)),
         ("b200", 180e9, 8, ("bf16", "mxfp8", "fp8", "nvfp4")), ("mi300x", 192e9, 8, ("bf16", "fp8")))
RACKS = (("gb200", 186e9, 72, ("bf16", "mxfp8")), ("gb300", 279e9, 72, ("bf16", "mxfp8", "nvfp4")))
SLICES = (("v5p", 95e9, ("4x4x4", "4x4x8", "8x8x8", "8x16x16", "16x16x16")), ("v6e", 32e9, ("4x4", "8x8", "16x16")),
          ("tpu7x", 192e9, ("4x4x4", "4x8x8", "8x8x8", "8x16x16")))
DONE = (0, 4)
EXACT = 1e-3
# Lines of emit (NOTE) and of explain (warning) that say what the file cannot: a difference that one explains is none.
SAID = re.compile("|".join((
    "in what it can express the plan takes", "recomputes whole layers", "recomputes modules in all layers",
    "is requested, which is slower", "that keeps no more than the plan does", "the plan's activations",
    "weights of the MLP gathered over tensor", "gathered over tensor were costed", "a table split by d_model",
    "is not priced", "is priced as", "are priced as", "priced in HBM", "priced as one", "stands in the program",
    "placed as is best", "overlapped tensor collectives are in no measured run", "exchanges of experts alongside",
    "cannot say")))
# What else than AdamW of the usual dtypes a launcher's files say of the state.
STATES = {"megatron": ("--optimizer lion", "--optimizer muon", "--state-dtypes moments=bf16", "--state-dtypes gradients=fp32",
                       "--state-dtypes gradients=bf16,v=fp16", "--optimizer sgd-momentum"),
          "torchtitan": ("--state-dtypes master=none,moments=bf16",),
          "deepspeed": ("--optimizer lion", "--optimizer muon", "--state-dtypes master=bf16,moments=bf16",
                        "--state-dtypes gradients=fp32", "--optimizer sgd"),
          "maxtext": ("--optimizer muon", "--optimizer sgd", "--state-dtypes m=bf16", "--state-dtypes master=none,moments=bf16"),
          **{tuner: ("--optimizer adamw8bit", "--optimizer lion", "--optimizer lion8bit", "--optimizer adafactor")
             for tuner in TUNE[:3]}}


def run(*words, limit=300):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=limit)
    return done.returncode, done.stdout, done.stderr


def machine_of(kind, size, draw):
    """The least machine of a kind that holds the training of so many parameters with room to spare, and its chips."""
    bytes_needed = size * 18 * 1.8
    if kind == "slices":
        chip, hbm, slices = draw.choice(SLICES)
        for shape in slices:
            chips = eval(shape.replace("x", "*"))
            if chips * hbm > bytes_needed:
                return f"--chip {chip} --slice {shape}", chips, "bf16"
        return f"--chip {chip} --slice {slices[-1]} --slices 4", 4 * chips, "bf16"
    chip, hbm, unit, precisions = draw.choice(RACKS if kind == "racks" else HOSTS)
    precision = draw.choice(precisions)
    units = int(bytes_needed // (hbm * unit)) + 1
    if kind == "racks":
        return f"--chip {chip} --nodes {units}", 64 * units, precision
    if kind != "odd":
        units = 1 << (units - 1).bit_length()
    elif units > 1:
        units |= 1
    return f"--chip {chip} --nodes {units}", 8 * units, precision


def cases_of(model):
    """The requests of one model: (launcher, kind, words), the same in every run."""
    name, size = model["name"], model["parameters"]
    draw = random.Random(name)
    for launcher in GPU + TPU:
        kinds = ("slices",) if launcher in TPU else ("hosts", "racks", "long", "offload", "odd", "full")
        for kind in kinds:
            if launcher == "torchtitan-toml" and kind not in ("hosts", "long"):
                continue
            machine, chips, precision = machine_of(kind, size, draw)
            if launcher == "deepspeed" or (launcher == "torchtitan-toml" and precision == "nvfp4"):
                precision = "bf16"
            seq = 131072 if kind == "long" else draw.choice((2048, 4096, 4096, 8192))
            seq = min(seq, max(1024, model["max_seq"])) if model["positions"] == "learned" else seq
            sequences = max(8, chips * (1 if kind == "long" else draw.choice((2, 4, 8))))
            words = f"--model {name} {machine} --seq {seq} --sequences {sequences} --precision {precision}"
            words += {"offload": " --offload optimizer", "full": " --remat full"}.get(kind, "")
            yield launcher, kind, words
    for launcher in TUNE:
        nodes = 1 + int(size * 18 * 1.8 // (8 * 141e9))
        tuning = draw.choice(("--lora 16", "--sft", "--dpo --lora", "--qlora"))
        yield launcher, "tuning", f"--model {name} --chip h200 --nodes {nodes} --seq 2048 --sequences {16 * nodes} {tuning}"
    draw = random.Random(f"state of {name}")
    for launcher, states in STATES.items():
        machine, chips, _ = machine_of("slices" if launcher in TPU else "hosts", size, draw)
        words = draw.choice(("--lora 16", "--sft")) if launcher in TUNE[:3] else "--precision bf16"
        yield (launcher, "state", f"--model {name} {machine} --seq {min(2048, model['max_seq'])} --sequences {4 * chips} {words} "
                                  f"{draw.choice(states)}")


def folded(notation):
    """Of torchtitan, whose expert ranks are ranks of dp_shard: experts of an axis of their own say the same."""
    degrees = dict(re.findall(r"(\w+)=(\d+)", notation))
    if "(folded)" not in notation and degrees["expert"] != "1":
        degrees["fsdp"] = str(int(degrees["fsdp"]) * int(degrees["expert"]))
    return degrees


def facts(path, launcher):
    with open(path) as file:
        plans = json.load(file)["plans"]
    if not plans:
        return None
    plan = plans[0]
    notation = folded(plan["notation"]) if launcher.startswith("torchtitan") else plan["notation"]
    said = {"notation": notation, "seconds": plan["step"]["seconds"], "bytes": plan["memory"]["total_bytes"]}
    for knob in ("microbatches", "microbatch_sequences", "schedule", "virtual_stages", "zero_stage", "context_method",
                 "ulysses", "offload_optimizer", "stages", "tensor_overlap"):
        said[knob] = plan["knobs"][knob]
    said["memory"] = {key: value for key, value in plan["memory"].items() if key.endswith("_bytes")}
    said["chips"] = plan["chips_used"]
    return said


def general(text):
    """A message without what differs from case to case: lines of one class read the same."""
    lines = [line for line in text.strip().split("\n") if "warning: " not in line and "advice: " not in line]
    line = (lines or [""])[-1].replace("shardopt: ", "")
    line = re.sub(r"^\S*/(\S+?)(:\d+:\d+)?: ", "", line)
    return re.sub(r"[\d,.]+", "N", line)[:150]


def difference(want, got):
    """The class of what differs, and how much of it; None: nothing does."""
    differ = [key for key in want if key not in ("seconds", "bytes", "memory") and want[key] != got[key]]
    seconds, held = got["seconds"] / want["seconds"] - 1, got["bytes"] / want["bytes"] - 1
    rows = [key for key, value in want["memory"].items()
            if abs(got["memory"].get(key, 0) - value) > EXACT * want["bytes"] and key != "total_bytes"]
    if not differ and abs(seconds) <= EXACT and abs(held) <= EXACT:
        return None
    what = " ".join(differ + rows + (["seconds"] if abs(seconds) > EXACT else []))
    values = "; ".join(f"{key} {want[key]} -> {got[key]}" for key in differ)
    return f"differs: {what}", f"step {seconds:+.1%}, HBM {held:+.1%} {values}"


def trip(program, case, folder):
    """(class, more) of the case; "same", "no plan", "said" and "too long" are fine."""
    launcher, kind, words = case
    report, script, back = (os.path.join(folder, name) for name in ("report.json", "launch", "back.json"))
    script += {"deepspeed": ".json", "maxtext": ".yml", "torchtitan-toml": ".toml", "jax": ".py"}.get(
        launcher, ".yml" if launcher in TUNE[1:3] else ".sh")
    owner = "torchtitan" if launcher == "torchtitan-toml" else launcher
    code, _, said = run(program, "plan", *words.split(), "--for", owner, "--top", "1", "--sensitivity", "none",
                        "--time-limit", "60", "-q", "--format", "json", "-o", report)
    if code == 3 or "takes no plan" in said or "does not take" in said or "neither a model of this name" in said:
        return "no plan", said
    if code == 4:
        return "too long", ""
    if code not in DONE:
        return f"plan exits {code}: {general(said)}", ""
    code, text, said = run(program, "emit", launcher, *words.split(), "--for", owner, "-o", script)
    if code not in DONE:
        return f"emit exits {code}: {general(said)}", ""
    code, again, told = run(program, "emit", launcher, "--from", report, "-q")
    if code not in DONE:
        return f"emit of the report exits {code}: {general(told)}", ""
    with open(script) as file:
        text = file.read()
    plain = [[line for line in of.split("\n") if "NOTE" not in line and '"notes"' not in line] for of in (text, again)]
    machine = re.search(r"--chip \S+( --(slice|slices|nodes|chips) \S+)+", words).group(0).split()
    machine = [] if launcher == "jax" else machine
    name = re.search(r"--model \S+", words).group(0).split() if launcher == "jax" else []
    want = facts(report, launcher)
    for limit in (["--time-limit", "1"], []):  # what it compares with is a search of its own, which is no matter here
        code, _, warned = run(program, "explain", "--from-config", script, *machine, *name, *limit, "--format", "json",
                              "-o", back)
        if code not in (*DONE, 3):
            return f"explain exits {code}: {general(warned)}", ""
        got = facts(back, launcher)
        if got:
            break
    if not want or not got:
        return ("no plan" if not want else "explain finds no plan"), ""
    differs = difference(want, got)
    if differs is None:
        if plain[0] != plain[1]:
            lines = [line for line in plain[0] if line not in plain[1]] + [line for line in plain[1] if line not in plain[0]]
            return "emit of the report differs from that of options", "; ".join(line.strip() for line in lines)[:300]
        return "same", ""
    reasons = [line for line in (said + warned).split("\n") if SAID.search(line)]
    if reasons:
        return f"said: {general(SAID.search(reasons[0]).group(0))}", f"{differs[0]} {differs[1]}"
    return differs


def one(program, case, keep):
    with tempfile.TemporaryDirectory() as folder:
        if keep:
            folder = os.path.join(keep, re.sub(r"[^\w.]+", "_", "-".join(case)))
            os.makedirs(folder, exist_ok=True)
        try:
            return case, *trip(program, case, folder)
        except subprocess.TimeoutExpired:
            return case, "too long", ""


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--only", default="", help="of 'LAUNCHER KIND WORDS', what this matches")
    words.add_argument("--share", default="1/1")
    words.add_argument("--keep", help="a folder for the files of each case")
    words.add_argument("--log", help="a file that gets a line for each case")
    given = words.parse_args()
    part, parts = map(int, given.share.split("/"))
    models = json.loads(run(given.program, "models", "--format", "json")[1])
    cases = [case for model in models for case in cases_of(model)]
    cases = [case for case in cases if re.search(given.only, " ".join(case))]
    random.Random(0).shuffle(cases)
    found = collections.defaultdict(list)
    log = open(given.log, "w") if given.log else None
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        jobs = [pool.submit(one, given.program, case, given.keep) for case in cases[part - 1::parts]]
        for done in concurrent.futures.as_completed(jobs):
            case, what, more = done.result()
            found[what].append((case, more))
            if log:
                print(what, "|", *case, "|", more, file=log, flush=True)
    fine = ("same", "no plan", "said", "too long")
    bad = 0
    for what, rows in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(rows)} {what}")
        if what.split(":")[0] in fine:
            continue
        bad += len(rows)
        for (launcher, kind, words), more in sorted(rows)[:8]:
            print(f"    {launcher} {kind}: {words}\n        {more}")
    total = sum(map(len, found.values()))
    print(f"{total} cases: {bad} differ and do not say why")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
