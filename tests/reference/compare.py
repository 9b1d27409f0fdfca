#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws plans at random, prices each with the program and with the reference, and tells which rows differ.

    compare.py --count N [--seed S] [--shardopt PROGRAM] [--seconds MOST] [--verbose] [--keep FOLDER]

Models, chips, machines, launchers, degrees and knobs are drawn; `explain` fills in what is left open. Exit 0: all that
was compared agrees in every row; 1: a difference. What the program refuses is drawn again; what the reference does not
know is named and counted, never passed."""
import argparse
import collections
import functools
import json
import os
import random
import subprocess
import sys
import time

import data
import price
from data import Unknown

TPUS = {"tpu-v4": ["2x2x2", "2x2x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8"],
        "tpu-v5p": ["2x2x1", "2x2x2", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16"],
        "tpu-v5e": ["2x4", "4x4", "4x8", "8x8", "8x16", "16x16"], "tpu-v6e": ["2x4", "4x8", "8x8", "8x16", "16x16"],
        "tpu-v7": ["2x2x2", "2x4x4", "4x4x4", "4x4x8"], "trainium2": ["4x4"]}
GPUS = ["a100-40g", "a100-80g", "h100", "h200", "h800", "h20", "b200", "b300", "gb200", "gb300", "mi300x", "gaudi3",
        "mi325x", "mi355x", "v100-32g", "gh200-4", "polaris", "a40", "l40s", "h100-nvl", "a100-pcie-80g", "rtx4090"]
LAUNCHERS = {True: ["maxtext", "jax", "any", None], False: ["megatron", "torchtitan", "deepspeed", "any", "jax", None]}
REMAT = ["none", "full", "minimal", "minimal_with_context", "save_qkv_proj", "save_out_proj", "selective_by_op",
         "minimal_offloaded", "qkv_proj_offloaded", "mlp", "layernorm"]


def degrees_drawn(dice, devices, mixture):
    """A split of all devices over the roles: powers of two, and what is left over goes to fsdp or data."""
    degrees, left = dict.fromkeys(data.ROLES, 1), devices
    wanted = ["tensor"] * 3 + ["fsdp"] * 5 + ["data"] * 4 + ["pipeline"] * 3 + ["sequence"]
    wanted = dice.sample(wanted + (["expert"] * 3 if mixture else []), dice.choice((3, 5, 8)))
    while left % 2 == 0:
        degrees[dice.choice(wanted)] *= 2
        left //= 2
    degrees[dice.choice(("fsdp", "data"))] *= left
    return degrees


SCHEDULES = {"maxtext": ("gpipe", "circular"), "megatron": ("1f1b", "interleaved"), "deepspeed": ("1f1b",),
             "torchtitan": ("gpipe", "1f1b", "interleaved", "zb_h1")}


def knobs_drawn(dice, degrees, launcher, sequences, folds):
    """Knobs that are named; of `sequences` a replica."""
    knobs = {}
    if folds and degrees["expert"] == 1 and dice.random() < 0.5:
        knobs["folded_expert"] = 2 ** dice.randrange(1, 5)
    if dice.random() < 0.6:
        knobs["microbatches"] = 2 ** dice.randrange(0, sequences.bit_length())
    if degrees["pipeline"] > 1 and dice.random() < 0.6:
        knobs["schedule"] = dice.choice(SCHEDULES.get(launcher) or (
            "gpipe", "1f1b", "interleaved", "circular", "zb_h1", "dualpipe"))
        if dice.random() < 0.3:
            knobs["stages"] = dice.choice(("balanced", "slots", "even"))
    if degrees["data"] > 1 and dice.random() < 0.5:
        knobs["zero_stage"] = dice.randrange(3)
    if degrees["sequence"] > 1 and dice.random() < 0.7:
        knobs["context_method"] = dice.choice(("ring", "all_gather", "ulysses", "ulysses_ring"))
        if dice.random() < 0.3:
            knobs["sequence_parameters"] = dice.choice(("sharded", "replicated"))
    if degrees["fsdp"] > 1 and dice.random() < 0.3:
        knobs["regather"] = dice.choice(("true", "false"))
    if launcher == "any" and degrees["tensor"] > 1 and dice.random() < 0.2:
        knobs["tensor_overlap"] = "true"
    return knobs


def request_drawn(dice, models, mixtures):
    """The words of one `explain`."""
    torus = dice.random() < 0.4
    model = dice.choice(sorted(mixtures & set(models)) or models) if dice.random() < 0.25 else dice.choice(models)
    chip = dice.choice(sorted(TPUS) if torus else GPUS)
    words, listed = ["--model", model, "--chip", chip], data.read_chip(chip)
    if torus:
        shape = dice.choice(TPUS[chip])
        devices = data.product(int(size) for size in shape.split("x")) * (2 if chip == "tpu-v7" else 1)
        words += ["--slice", shape]
        if dice.random() < 0.2:
            slices = dice.choice((2, 4))
            devices *= slices
            words += ["--slices", str(slices)]
    else:
        nodes = dice.choice((1, 1, 2, 3, 4, 8, 16, 32, 64))
        each, hosts = listed.domain_chips if listed.has_domains else 1, dice.random() < 0.3
        if hosts and listed.domain_chips == listed.chips_per_host:  # of fewer GPUs than the catalog's
            each = dice.choice([count for count in (1, 2, 3, 4) if count <= each])
            words += ["--gpus-per-node", str(each)]
        devices = nodes * each
        words += ["--nodes", str(nodes)]
        if dice.random() < 0.2:
            words += ["--host-memory", dice.choice(("256G", "1T", "1.5TB", "512Gi"))]
        if listed.leaf_nodes and dice.random() < 0.1:
            words += ["--oversubscription", "2"]
    launcher = dice.choice(LAUNCHERS[torus])
    degrees = degrees_drawn(dice, devices, model in mixtures)
    replicas = degrees["data"] * degrees["fsdp"] * degrees["expert"]
    stages, deep = degrees["pipeline"], degrees["pipeline"] > 1 and dice.random() < 0.3
    each = dice.choice((1, 2, 4, 8, 16, 16, 32)) * (1 if stages == 1 else dice.choice((1, 2, 4)))
    if deep:  # schedules that ask for many microbatches, and stages that differ
        launcher, each = "any", stages * dice.choice((2, 3, 4))
    seq = dice.choice((1024, 2048, 2048, 4096, 4096, 8192, 32768, 131072))
    if model.split("-")[0] in ("gpt2", "gpt3", "opt"):
        seq = min(seq, 1024)
    words += ["--seq", str(seq), "--sequences", str(replicas * each)]
    folds = model in mixtures and not torus
    degrees.update(knobs_drawn(dice, degrees, launcher, each, folds))
    if deep:
        degrees.update({"schedule": dice.choice(("zb_h1", "dualpipe", "circular", "interleaved")),
                        "microbatches": each, "stages": dice.choice(("even", "balanced", "slots"))})
        words += ["--schedules", "all"]
    named = " ".join("%s=%s" % pair for pair in degrees.items())
    words += ["--plan", named]
    if launcher:
        words += ["--for", launcher]
    if dice.random() < 0.35:
        words += ["--remat", dice.choice(REMAT)]
    if dice.random() < 0.25:
        words += ["--offload", dice.choice(("none", "all", "optimizer", "activations", "parameters"))]
    figures = [("fp8", listed.fp8_flops_per_second), ("int8", listed.int8_ops_per_second),
               ("mxfp8", listed.fp4_flops_per_second), ("nvfp4", listed.fp4_flops_per_second)]
    known = [precision for precision, peak in figures if peak]
    if known and dice.random() < 0.35:
        words += ["--precision", dice.choice(known)]
    if dice.random() < 0.2:
        words += ["--optimizer", dice.choice(("adafactor", "muon", "sgd", "sgd-momentum"))]
    if dice.random() < 0.2:
        words += ["--state-dtypes", dice.choice(("gradients=fp32", "gradients=bf16", "moments=bf16",
                                                 "master=none moments=bf16", "parameters=fp8", "parameters=bf16", "parameters=fp32"))]
    if dice.random() < 0.1:
        words += dice.choice((["--lora", "16"], ["--qlora", "32"], ["--qlora", "8,int8", "--targets", "attention"],
                              ["--freeze", "embeddings,logits"], ["--freeze", "mlp"], ["--lora", "64", "--task", "dpo"]))
    elif "-vl-" in model:
        words += ["--freeze", dice.choice(("vision", "vision,projector", "projector,embeddings"))]
    if dice.random() < 0.15:
        words += ["--profile", "ideal"]
    if dice.random() < 0.15:
        words += ["--padding", "any"]
    if not deep and dice.random() < 0.15:
        words += ["--schedules", "all"]
    if dice.random() < 0.1:
        words += ["--nesting", dice.choice(("megatron-pp-dp", "torchtitan", "jax", "all"))]
    return words


def traits_of(report, entry, model):
    """By what a table counts plans: kinds of layers, chip, launcher, knobs."""
    knobs, axes = entry["knobs"], entry["axes"]
    traits = {"chip " + report["mesh"]["chip"], "launcher %s" % entry.get("launcher"), "schedule " + knobs["schedule"],
              "context " + knobs["context_method"], "ZeRO-%d" % knobs["zero_stage"],
              "precision " + report["request"]["precision"], "optimizer " + report["request"]["optimizer"]}
    traits |= {role + " > 1" for role in axes if axes[role] > 1}
    traits |= {"layer %s" % kind.mixer["name"] for kind in model.kinds if kind.mixer}
    traits |= {"layer attention: " + kind.attention for kind in model.kinds if kind.heads}
    traits |= {"layer experts" for kind in model.kinds if kind.experts} | {
        "layer indexer" for kind in model.kinds if kind.index_heads}
    states = {row["state"] for row in entry["layout"]}
    traits |= {"activations " + state for state in states if state != "saved"}
    for key, word in (("offload_optimizer", "optimizer on the host"), ("tensor_overlap", "collective matmuls")):
        traits |= {word} if knobs[key] else set()
    traits |= {"folded experts"} if "expert_grid" in entry else set()
    traits |= {"stages " + knobs["stages"]} if axes["pipeline"] > 1 else set()
    traits |= {"weights kept"} if not knobs["regather"] else set()
    traits |= {"profile ideal"} if report["request"]["profile"] == "ideal" else set()
    traits |= {"fine-tuning"} if {"lora", "qlora", "freeze"} & set(report["request"]) else set()
    traits |= {"hosts as typed"} if "gpus_per_node" in report["request"] else set()
    traits |= {"host memory as typed"} if "host_memory" in report["request"] else set()
    traits |= {"slices"} if entry["machine"].get("slices", 1) > 1 else set()
    return traits


class Table:
    """What was drawn, refused, compared and found."""

    def __init__(self):
        self.agree, self.differ, self.unknown = (collections.Counter() for _ in range(3))
        self.rows, self.refused, self.compared, self.right = collections.Counter(), 0, 0, 0
        self.first = []

    def write(self):
        print("%-32s %8s %8s" % ("plans with", "compared", "agree"))
        for trait in sorted(set(self.agree) | set(self.differ)):
            print("%-32s %8d %8d" % (trait, self.agree[trait] + self.differ[trait], self.agree[trait]))
        for what, count in sorted(self.unknown.items()):
            print("not in the reference: %s (%d)" % (what, count))
        for row, count in self.rows.most_common(40):
            print("differs: %-50s in %d plans" % (row, count))
        for words, row, own, told in self.first:
            print("e.g. explain %s\n     %s: reference %r, program %r" % (
                " ".join('"%s"' % word if " " in word else word for word in words), row, own, told))
        print("%d plans compared, %d agree in every row; %d not in the reference; %d draws that the program refuses" % (
            self.compared, self.right, sum(self.unknown.values()), self.refused))


def compare_one(words, program, table, tolerance, keep):
    out = subprocess.run([program, "explain", *words, "--format", "json", "--time-limit", "3", "--threads", "1"],
                         capture_output=True, text=True, check=False)
    if out.returncode not in (0, 3, 4) or not out.stdout.startswith("{"):
        table.refused += 1
        return
    report = json.loads(out.stdout)
    if not report["plans"]:
        table.refused += 1
        return
    entry = report["plans"][0]
    try:
        own, told = price.price(report, entry, program), price.rows_of_report(entry)
    except Unknown as what:
        table.unknown[str(what)] += 1
        return
    found = price.differences(own, told, tolerance)
    table.compared += 1
    table.right += not found
    traits = traits_of(report, entry, data.read_model(report["request"]["model"], program))
    (table.differ if found else table.agree).update(traits)
    table.rows.update(name for name, _, _ in found)
    if found and len(table.first) < 12:
        table.first.append((words, *found[0]))
    if found and keep:
        with open(os.path.join(keep, "%d.json" % table.compared), "w", encoding="utf-8") as file:
            file.write(out.stdout)


def keep_what_is_read():
    """Models and data files are read once."""
    if not hasattr(data.read_model, "cache_info"):
        data.read_model = price.read_model = functools.lru_cache(data.read_model)
        kept = functools.lru_cache(lambda root, *path: data.read_file(root, *path))
        data.read_json = lambda *path: kept(data.ROOT, *path)


def main(words=None):
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--count", type=int, default=100, help="plans to compare")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--shardopt", default=os.environ.get("SHARDOPT", "shardopt"))
    arguments.add_argument("--seconds", type=float, default=1e9, help="stop drawing after so long")
    arguments.add_argument("--tolerance", type=float, default=1e-9)
    arguments.add_argument("--models", help="of these alone, with commas")
    arguments.add_argument("--keep", help="a folder for the reports that differ")
    given = arguments.parse_args(words)
    keep_what_is_read()
    listed = json.loads(subprocess.run([given.shardopt, "models", "--format", "json"], capture_output=True, text=True,
                                       check=True).stdout)
    names = given.models.split(",") if given.models else [model["name"] for model in listed]
    mixtures = {model["name"] for model in listed if model["experts"]}
    dice, table, begun = random.Random(given.seed), Table(), time.time()
    while table.compared + sum(table.unknown.values()) < given.count and time.time() - begun < given.seconds:
        compare_one(request_drawn(dice, names, mixtures), given.shardopt, table, given.tolerance, given.keep)
    table.write()
    return 0 if table.compared and table.right == table.compared else 1


if __name__ == "__main__":
    sys.exit(main())
