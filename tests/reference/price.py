#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes a plan of a report from the data files and the formulas of docs/model.md, and prints what differs.

    price.py REPORT.json [--rank N] [--shardopt PROGRAM] [--tolerance 1e-9]

Exit 0: every term and memory row agrees; 1: some differ; 2: the plan has what the reference does not know."""
import argparse
import json
import os
import sys
from math import ceil, log2

from data import (DTYPE_BYTES, Record, Unknown, device_of_chip, factors_of_placement, host_as_typed, layout_of, read_chip,
                  read_model, read_optimizer, read_profile, use_network)
from machine import GROUPS, ROLE_OF_GROUP, grid_of_ranks, group_chips, mesh_at_rates_of, mesh_of_gpus, mesh_of_slice, \
    rates_of_placement
from model import model_flops, state_of_training
from stage import MOMENTS, in_flight, kept_bytes, layer_weight, memory_rows, shard_of_plan, stage_sums
from step import price_step
from tuning import tuning_of

ON_CPU = ("megatron", "torchtitan", "deepspeed", "trl")  # launchers whose update of state on the host runs there

def dtypes_of(text):
    """The optimizer: dtypes of the state, as --state-dtypes has them."""
    given = {} if text == "default" else dict(word.split("=") for word in text.replace(",", " ").split())
    dtypes = {"parameters": given.get("parameters", "bf16"), "said": given.get("parameters"), "gradients": given.get("gradients"),
              "first": given.get("m", given.get("moments", "fp32")),
              "second": given.get("v", given.get("moments", "fp32"))}
    dtypes["master"] = given.get("master", "none" if dtypes["parameters"] == "fp32" else "fp32")
    if any(value is not None and value not in DTYPE_BYTES for value in dtypes.values()):
        raise Unknown("state dtypes " + text)
    return dtypes

def profile_in_precision(profile, chip, precision):
    """Precision: rates of the blocks' matmuls over the bf16 peak; grouped ones reach the peak at most."""
    peaks = {"bf16": chip.bf16_flops_per_second, "fp8": chip.fp8_flops_per_second,
             "mxfp8": chip.fp8_flops_per_second if chip.fp4_flops_per_second else 0,
             "nvfp4": chip.fp4_flops_per_second, "int8": chip.int8_ops_per_second}
    efficiency = profile.matrix_efficiency if precision == "bf16" else getattr(profile, precision + "_efficiency")
    ratio = peaks[precision] / chip.bf16_flops_per_second if peaks[precision] else 1.0
    profile.precision, profile.linear_peak_ratio, profile.linear_efficiency = precision, ratio, efficiency * ratio
    grouped = profile.linear_efficiency * profile.compute_factor * profile.grouped_efficiency
    profile.grouped_factor = min(profile.grouped_factor, ratio / grouped)
    return peaks[precision]

STRETCHED = ("matrix_efficiency", "linear_efficiency", "attention_efficiency", "hbm_efficiency", "ici_efficiency",
             "nvlink_efficiency", "network_efficiency", "dcn_efficiency", "pcie_efficiency")
LENGTHENED = ("layer_seconds", "microbatch_seconds", "step_seconds", "rank_seconds", "expert_layer_seconds",
              "dispatch_seconds_per_byte", "host_layer_seconds", "host_tensor_seconds", "stage_message_seconds",
              "ring_step_seconds")

def stretch_profile(profile, chips, slices):
    """Profiles: the slowest of many chips, and slices, divide all rates and multiply all overheads."""
    stretch = 1 + profile.jitter * (log2(chips / 8) if chips > 8 else 0)
    stretch *= 1 + profile.slice_loss * (log2(slices) if slices > 1 else 0)
    if stretch > 1:
        for key in STRETCHED:
            setattr(profile, key, getattr(profile, key) / stretch)
        for key in LENGTHENED:
            setattr(profile, key, getattr(profile, key) * stretch)

def machine_of(chip, machine, oversubscription):
    """Collectives on a torus: the machine that a plan uses, from its shape and the catalog."""
    if chip.has_domains:
        chips = 1
        for one in machine["axes"]:
            chips *= one["size"]
        return mesh_of_gpus(chip, chips, machine["nodes"], oversubscription)
    shape = [int(size) for size in machine["slice"].split("x")]
    return mesh_of_slice(chip, shape + [1] * (3 - len(shape)), machine["slices"])

def plan_of(entry):
    """Groups, nesting and footprints: a plan's degrees and knobs, by the letters of the page."""
    knobs = entry["knobs"]
    plan = Record(axes=entry["axes"], m=knobs["microbatches"], b=knobs["microbatch_sequences"],
                  schedule=knobs["schedule"], v=knobs["virtual_stages"], zero=knobs["zero_stage"],
                  context=knobs["context_method"], regather=knobs["regather"], stages=knobs["stages"],
                  ulysses=knobs["ulysses"], sequence_replicates=knobs["sequence_parameters"] == "replicated",
                  tensor_overlap=knobs["tensor_overlap"], offload_optimizer=knobs["offload_optimizer"], grid=None)
    if "expert_grid" in entry:
        plan.grid = grid_of_ranks(plan, entry["expert_grid"]["expert"], entry["expert_grid"]["expert_tensor"])
    return plan

def profile_of_plan(request, requested, chip, model, stack):
    """Profiles: composed, in the precision, of the machine requested; and the peak of the precision."""
    profile = read_profile(request["profile"], chip, stack)
    peak = profile_in_precision(profile, chip, request["precision"])
    if any(kind.mixer or kind.compress > 1 for kind in model.kinds):
        profile.expert_layer_seconds = max(profile.expert_layer_seconds, profile.scan_expert_seconds)
    if profile.dispatch_per_node > 0.5:
        profile.routed_copies = max(kind.top_k for kind in model.kinds)
    slices = next((one["size"] for one in requested["axes"] if one["name"] == "dcn"), 1)
    stretch_profile(profile, requested["chips"], slices)
    return profile, peak, slices

def default_reserve(profile, device, model, tuning, chips):
    """Profiles: the share of HBM to keep free so that nine in ten fit, at odds of 9 to 1."""
    share = 0.08
    if profile.hbm_error > 0:
        experts = any(kind.experts for kind in model.kinds)
        groups = (1 if chips > 1 else 0) if tuning else 3
        shown = profile.context_bytes + (groups + experts) * profile.communicator_bytes
        shown += profile.all_to_all_bytes if experts else 0
        held = device.hbm_bytes * 9 ** -profile.hbm_error
        share = ceil((1 - (held - shown) / (1 + profile.fragmentation_share) / device.hbm_bytes) / 0.001) * 0.001
    return min(max(share, profile.least_reserve), 0.9)

def world_of(report, entry, program):
    """Profiles: model, chip, profile and state under which a plan is priced."""
    request, requested = dict(report["request"], **entry.get("options", {})), report["mesh"]
    world = Record(model=read_model(request["model"], program))
    chip = read_chip(report["mesh"]["chip"])
    host_as_typed(chip, request, requested["chips"])
    use_network(chip, request)
    if request["profile"] != "ideal" and chip.hbm_usable_bytes:
        chip.hbm_bytes = chip.hbm_usable_bytes
    world.profile, world.peak, slices = profile_of_plan(request, requested, chip, world.model, entry.get("stack"))
    world.copying = max(1, min(chip.chips_per_host, requested["chips"]))
    world.slices = slices
    world.mesh = machine_of(chip, entry["machine"], request.get("oversubscription", 1))
    world.chip = device_of_chip(chip) if chip.devices_per_chip > 1 else chip
    world.state = state_of_training(world.model, read_optimizer(request["optimizer"]),
                                    dtypes_of(request["state_dtypes"]))
    world.tuning, world.forwards = tuning_of(request), 1
    world.stored_bytes = world.state.copy
    if world.tuning:
        if request.get("offload") == "auto":  # a choice of the plan, which only its rows of memory name
            world.tuning.on_host = "parameters_bytes" in entry.get("memory_detail", {}).get("host", {})
        world.forwards += world.tuning.references
        world.stored_bytes = world.tuning.stored_bytes or world.state.copy
    first = profile_of_plan(request, requested, chip, world.model, report["program"].get("stack"))[0]
    own, told = (default_reserve(profile, world.chip, world.model, world.tuning, requested["chips"])
                 for profile in (world.profile, first))
    # a report has the default of its first launcher's software; other plans have their own
    world.reserve = own if abs(told - request["hbm_reserve"]) < 1e-12 else request["hbm_reserve"]
    dtype, own = world.state.gradients, world.profile.gradient_bytes
    fixed = DTYPE_BYTES[dtype] if dtype else (4 if own > 2 else 2) if own > 0 else None
    world.gradient_bytes = lambda accumulated: fixed if fixed is not None else 4 if accumulated else 2
    world.scatter_bytes = fixed if fixed is not None else 2
    world.updates_on_cpu = entry.get("launcher") in ON_CPU
    capacity, q = world.model.capacity_factor, world.profile
    world.software = Record(imbalance=capacity or q.expert_imbalance, ring_returns=q.ring_returns > 0.5, lanes=q.lanes,
                            keys_kept=q.keys_kept > 0.5, tuning=world.tuning,
                            receives_worst_case=q.receives_worst_case > 0.5 and not capacity)
    world.work = Record(sequences=entry["batch"]["sequences"], seq=entry["batch"]["seq"])
    world.work.layer_weight = layer_weight(world)
    return world

def price(report, entry, program):
    """Overlap and the step: everything of one plan, as flat rows that a report has too."""
    world = world_of(report, entry, program)
    plan, layout = plan_of(entry), layout_of(entry)
    t = plan.axes["tensor"]
    copies = any(0 < kind.kv_heads < t for kind in world.model.kinds)
    layout.kv_gathered = copies and not layout.kv_copied
    world.rates = rates_of_placement(mesh_at_rates_of(world.profile, world.mesh), factors_of_placement(entry), plan)
    shard = shard_of_plan(world.model, world.work, plan)
    sums = stage_sums(world, shard, plan, layout)
    time = price_step(world, shard, plan, layout, sums)
    rows = rows_of_step(world, shard, plan, sums, time)
    kept, weights, most = kept_bytes(time.costs, layout), in_flight(world, shard, plan), None
    for moment in MOMENTS:
        if moment == "last backward" and shard.p <= 1:
            continue
        memory = memory_rows(world, shard, plan, layout, sums, moment, weights[moment] * kept)
        memory["total"] = sum(memory.values())
        most = memory if most is None or memory["total"] > most["total"] else most
        rows.update({"memory at the %s: %s" % (moment, name): size for name, size in memory.items()})
    rows.update({"memory: " + name: size for name, size in most.items()})
    rows["memory: limit"] = world.chip.hbm_bytes * (1 - world.reserve)
    tokens = world.work.sequences * world.work.seq / world.mesh.chips / time.seconds
    rows["mfu"] = model_flops(world.model, world.work.seq, False) * tokens / world.peak
    rows["mfu_full_attention"] = model_flops(world.model, world.work.seq, True) * tokens / world.peak
    return rows

def rows_of_step(world, shard, plan, sums, time):
    """Overlap and the step: the step as a sum, its bounds, and what each group sends."""
    rows = {"step": time.seconds, "lower": time.lower, "upper": time.upper, "formula": time.formula,
            "played": time.played, "compute": time.compute, "bubble": time.bubble, "optimizer": time.optimizer,
            "other": time.other, "waits": time.waits, "communication": time.communication}
    terms = {"matmul": 0.0, "attention": 0.0, "elementwise": 0.0}
    for part, times in ((sums.layer, time.pace.layers), (sums.embedding, float(time.pace.embedding)),
                        (sums.logits, float(time.pace.logits))):
        for name, seconds in part.kinds.items():
            terms[name] += shard.m * times * seconds
    rows.update(terms)
    rows["recompute"] = max(0.0, time.compute - sum(terms.values()))
    for group in GROUPS:
        phases = time.rule.once[group] if group in time.rule.once else time.resources.traffic[group]
        times = 1 if group in time.rule.once else shard.m
        size = times * (phases[0][1] + phases[1][1])
        if size > 0:
            rows[group + ": messages"] = times * (phases[0][0] + phases[1][0])
            rows[group + ": bytes"] = size
            rows[group + ": seconds"] = time.groups[group]
            rows[group + ": exposed"] = time.exposed[group]
            rows[group + ": chips"] = group_chips(group, plan)
            rows[group + ": role"] = ROLE_OF_GROUP[group]
    return rows

MEMORY = ("parameters", "gradients", "optimizer", "activations", "gathered", "logits", "transient", "total")

def moment_of(text, several):
    """Memory rows and moments: which moment a report's words mean."""
    if "logits" in text:
        return "last logits"
    if "start" in text or "first" in text:
        return "first backward"
    return "update" if "update" in text or not several or "end" in text else "last backward"

def rows_of_report(entry):
    """The same rows as a report has them."""
    step = entry["step"]
    rows = {"step": step["seconds"], "lower": step["lower_seconds"], "upper": step["upper_seconds"],
            "formula": step["formula_seconds"], "played": step["played_seconds"], "compute": step["compute_seconds"],
            "bubble": step["bubble_seconds"], "optimizer": step["optimizer_seconds"], "other": step["other_seconds"],
            "communication": step["exposed_communication_seconds"], "mfu": entry["mfu"],
            "mfu_full_attention": entry["mfu_full_attention"]}
    for name in ("matmul", "attention", "elementwise", "recompute", "waits"):
        rows[name] = step["terms_seconds"][name]
    for group in entry["communication"]:
        for key, name in (("messages", "messages"), ("bytes", "bytes"), ("seconds", "seconds"),
                          ("exposed_seconds", "exposed"), ("chips", "chips"), ("role", "role")):
            rows["%s: %s" % (group["group"], name)] = group[key]
    several, texts = entry["axes"]["pipeline"] > 1, [one["moment"] for one in entry["memory_moments"]]
    names = [moment for moment in MOMENTS if several or moment != "last backward"]
    for name, moment in zip(names, entry["memory_moments"]):
        rows.update({"memory at the %s: %s" % (name, row): moment[row + "_bytes"] for row in MEMORY})
    if len(texts) != len(names):
        raise Unknown("moments " + ", ".join(texts))
    rows.update({"memory: " + row: entry["memory"][row + "_bytes"] for row in MEMORY})
    rows["memory: limit"] = entry["memory"]["limit_bytes"]
    return rows

def differences(own, told, tolerance):
    """Rows that differ by more than the tolerance."""
    found, names = [], set(own) | set(told)
    if told["memory: total"] > told["memory: limit"]:  # priced as if there were more HBM
        names.remove("memory: limit")
    for name in sorted(names):
        a, b = own.get(name), told.get(name)
        if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
            if a != b:
                found.append((name, a, b))
            continue
        scale = told["memory: total"] if name.startswith("memory") else told["step"] if ": " not in name else 0.0
        # what is a difference of larger terms is as exact as these are
        least = 1e-6 * scale if name in ("recompute", "waits", "bubble", "communication") else 0.0
        if abs(a - b) > tolerance * max(abs(a), abs(b), least):
            found.append((name, a, b))
    return found

def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("report")
    arguments.add_argument("--rank", type=int, default=1)
    arguments.add_argument("--shardopt", default=os.environ.get("SHARDOPT", "shardopt"))
    arguments.add_argument("--tolerance", type=float, default=1e-9)
    given = arguments.parse_args()
    with open(given.report, encoding="utf-8") as file:
        report = json.load(file)
    entry = next((plan for plan in report["plans"] if plan["rank"] == given.rank), None)
    if entry is None:
        print("price.py: the report has no plan of rank %d" % given.rank, file=sys.stderr)
        return 2
    try:
        own, told = price(report, entry, given.shardopt), rows_of_report(entry)
    except Unknown as what:
        print("not in the reference:", what)
        return 2
    found = differences(own, told, given.tolerance)
    for name, a, b in found:
        print("%-45s reference %-24r report %-24r" % (name, a, b))
    print("%d of %d rows agree to %g" % (len(set(own) | set(told)) - len(found), len(set(own) | set(told)),
                                         given.tolerance))
    return 1 if found else 0

if __name__ == "__main__":
    sys.exit(main())
