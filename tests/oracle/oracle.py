#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What XLA makes of a sharded layer that JAX hands it, beside what shardopt says of the same plan. See README.md."""
import argparse
import importlib.util
import itertools
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections import Counter

sys.dont_write_bytecode = True
SKIPPED = 77
# One count of layers and a higher one: the difference is a layer, without what stands before and behind the stack. Of a
# pipeline, counts of microbatches.
TEXT_COUNTS, LOOP_COUNTS = (2, 3), (2, 4)
TOLERANCE = 0.01
HOW = {
    "widened": "bf16 that XLA widened to fp32 for the CPU before sending it: counted as bf16",
    "cut": "the CPU has no reduce_scatter: all_reduce of which every chip cuts out its part, counted as one pass",
}


def jax_devices():
    """Eight devices that are the host's cores; exits where there is no JAX."""
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        import jax
    except ImportError:
        print("SKIPPED: JAX is not installed: pip install jax")
        sys.exit(SKIPPED)
    return jax.devices("cpu")


def words_of(program, command, plan, count, folder):
    """A command line of shardopt that asks for this plan at a count of layers, or of microbatches."""
    import plans

    path = os.path.join(folder, "config.json")
    with open(path, "w") as file:
        json.dump(plans.config(plan.model, plan.layers(count)), file)
    return [program, *command, "--model", path, "--chip", "h100", "--nodes", "1", "--stack", "jax-gpu",
            "--seq", str(plan.seq), "--sequences", str(plan.all_sequences(count)), "--remat", "none",
            "--plan", plan.notation(count), "--quiet"]


def emitted(program, plan):
    """What `shardopt emit jax` writes of the plan, as a module."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "emitted.py")
        subprocess.run(words_of(program, ["emit", "jax"], plan, TEXT_COUNTS[0], folder) + ["-o", path], check=True)
        found = importlib.util.spec_from_file_location("emitted", path)
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        return module


class Jax:
    """One plan as JAX and XLA compile it, on the mesh and with the shardings of the emitted module. Nothing runs."""

    def __init__(self, program, plan, devices):
        self.plan = plan
        self.module = emitted(program, plan)
        self.mesh = self.module.mesh(devices)
        if {axis: size for axis, size in self.mesh.shape.items()} != plan.axes:
            sys.exit(f"{plan.name}: the emitted mesh is {dict(self.mesh.shape)}")

    def programs(self, dtype, counts, scan):
        import hlo
        import layer
        import pipeline

        plan = layer.Shardings(self.mesh, self.module, self.plan.model, dtype)
        for count in counts:
            if self.plan.stages > 1:
                compiled = pipeline.compiled(plan, self.plan.stage_layers, count, self.plan.sequences, self.plan.seq, scan)
            else:
                compiled = layer.compiled(plan, count, self.plan.sequences, self.plan.seq, scan)
            yield compiled, hlo.Module(compiled.as_text())

    def roles_of(self, groups):
        """The axes of the mesh along which the groups lie."""
        import numpy

        numbers, names = numpy.arange(self.mesh.size).reshape(self.mesh.devices.shape), self.mesh.axis_names
        ways = len(next(iter(groups)))
        for count in range(1, len(names) + 1):
            for axes in itertools.combinations(range(len(names)), count):
                if numpy.prod([numbers.shape[axis] for axis in axes]) != ways:
                    continue
                rest = [axis for axis in range(len(names)) if axis not in axes]
                rows = numpy.transpose(numbers, rest + list(axes)).reshape(-1, ways)
                if frozenset(frozenset(row.tolist()) for row in rows) == groups:
                    return frozenset(names[axis] for axis in axes)
        return frozenset()

    def group_of(self, sent):
        """The group of shardopt's report that an array belongs to: by who sends it, and whether it holds tokens."""
        roles, tokens = self.roles_of(sent.groups), sent.elements % 3 == 0
        if sent.kind == "collective_permute":
            pairs = [[divmod(device, self.mesh.size // self.plan.stages) for device in pair] for pair in sent.groups]
            return "pipeline" if tokens and all(len({rest for _, rest in pair}) == 1 for pair in pairs) else "?"
        if tokens:
            return next((role for role in ("tensor", "sequence", "expert") if roles == {role}), "?")
        if self.plan.model["experts"] and roles == {"fsdp", "sequence"} & set(self.mesh.axis_names):
            return "expert_weights"
        if roles == {"data"} or roles == {"tensor"}:  # over tensor: gradients of norms, where the stream is split
            return next(iter(roles))
        return "weights" if roles and roles <= {"fsdp", "sequence", "expert", "tensor", "data"} else "?"

    def traffic(self):
        """Of one layer: {(group, collective, bytes that one chip sends, notes): count}."""
        count = Counter()
        for sign, (_, module) in zip((-1, 1), self.programs("bfloat16", TEXT_COUNTS, False)):
            for sent in module.sent():
                count[self.group_of(sent), sent.kind, sent.bytes_of_one, sent.notes] += sign
        return {key: times for key, times in count.items() if times}

    def memory(self):
        """Bytes of one layer: arguments (weights), results (their gradients), and what is kept between forward and
        backward. In fp32, and halved: the CPU has no bf16 matmul, and XLA keeps fp32 copies of what it widens."""
        sizes = []
        for compiled, _ in self.programs("float32", LOOP_COUNTS, True):
            said = compiled.memory_analysis()
            sizes.append((said.argument_size_in_bytes, said.output_size_in_bytes, said.temp_size_in_bytes))
        return [(more - less) / 2 / (LOOP_COUNTS[1] - LOOP_COUNTS[0]) for less, more in zip(*sizes)]


class Shardopt:
    """The same plan as shardopt prices it."""

    def __init__(self, program, plan):
        self.plan = plan
        self.priced = [self.explain(program, plan, count) for count in TEXT_COUNTS]
        # Of a pipeline with a layer a stage more: embedding and logits, which every microbatch meets, drop out there.
        self.longer = plan.stages > 1 and [self.explain(program, plan.longer(), count) for count in TEXT_COUNTS]
        for one in self.priced:
            rows = {row["tensor"]: row["sharding"] for row in one["layout"]}
            gathers = any(item["group"] == "tensor_weights" for item in one["communication"])
            if rows["layer_input"] != plan.residual or gathers != plan.gather_mlp:
                sys.exit(f"{plan.name}: shardopt's layout is another: the stream lies {rows['layer_input']}, the MLP's "
                         f"weights are {'' if gathers else 'not '}gathered over tensor")

    @staticmethod
    def explain(program, plan, count):
        with tempfile.TemporaryDirectory() as folder:
            # The layer takes bf16 weights, as a kernel does: what a framework keeps of them beside is no part of it.
            words = words_of(program, ["explain", "--format", "json", "--state-dtypes", "parameters=bf16 master=none"],
                             plan, count, folder)
            return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)["plans"][0]

    def traffic(self):
        """Of what is compared: {group: bytes that one chip sends}. Weights that come together over fsdp and tensor are one
        group: XLA gathers them in one."""
        sent = self.sent(self.priced)
        if self.longer:
            longer = self.sent(self.longer)
            sent = {group: size if group == "pipeline" else self.plan.stage_layers * (longer[group] - size)
                    for group, size in sent.items()}
        return sent

    @staticmethod
    def sent(priced):
        sent = Counter()
        for sign, one in zip((-1, 1), priced):
            for item in one["communication"]:
                chips, group = item["chips"], item["group"]
                share = (chips - 1) / chips / (chips if group == "expert" else 1)
                share = 1 if group == "pipeline" else share
                sent["weights" if group == "tensor_weights" else group] += sign * share * item["bytes"]
        return sent

    def memory(self):
        """Bytes of one layer: parameters, gradients, and activations with gathered weights where these are kept."""
        rows = {}
        for sign, one in zip((-1, 1), self.priced):
            for moment in one["memory_moments"]:
                for key, size in moment.items():
                    if key != "moment":
                        rows[moment["moment"], key] = rows.get((moment["moment"], key), 0) + sign * size
        start, end = "at the start of backward", "at the end of backward"
        if self.plan.stages > 1:  # a microbatch more changes neither weights nor gradients
            return [rows["last stage, start of backward", "activations_bytes"]]
        kept = rows[start, "activations_bytes"] + (rows[start, "gathered_bytes"] if self.plan.keep_gathered else 0)
        return [rows[start, "parameters_bytes"], rows[end, "gradients_bytes"], kept]


def ratio_line(plan, what, how, theirs, ours, notes):
    ratio = ours / theirs if theirs else float("inf")
    fits = abs(ratio - 1) <= TOLERANCE
    words = ", ".join(sorted(notes)) if fits else "WRONG"
    return fits, (plan.name, what, how, f"{theirs:,.0f}", f"{ours:,.0f}", f"{ratio:.4f}", words)


def traffic_lines(plan, jax, shardopt):
    theirs, ours = jax.traffic(), shardopt.traffic()
    for group in sorted({key[0] for key in theirs} | {group for group, size in ours.items() if size}):
        times, sizes, notes, total = Counter(), Counter(), set(), 0
        for (of, kind, size, note), count in theirs.items():
            if of == group:
                times[kind] += count
                sizes[kind] += count * size
                notes.update(note)
                total += count * size
        how = ", ".join(f"{times[kind]} {kind} {sizes[kind] / 1e6:.3f} MB" for kind in sorted(times))
        yield ratio_line(plan, group, how, total, ours.get(group, 0), notes)


def memory_lines(plan, jax, shardopt):
    names = ("weights", "gradients", "kept for backward")[-1 if plan.stages > 1 else 0 :]
    for name, theirs, ours in zip(names, jax.memory()[-len(names) :], shardopt.memory()):
        yield ratio_line(plan, name, "memory", theirs, ours, ())


def write_table(head, lines):
    widths = [max(len(row[i]) for row in [head] + lines) for i in range(len(head))]
    for row in [head] + lines:
        cells = [cell.rjust(width) if 3 <= i <= 5 else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def compare(program, plan):
    """The figures of one plan."""
    jax, shardopt = Jax(program, plan, jax_devices()), Shardopt(program, plan)
    return [*traffic_lines(plan, jax, shardopt), *memory_lines(plan, jax, shardopt)]


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--shardopt", default="build/shardopt", help="the program")
    words.add_argument("--only", default="", help="plans whose name holds this")
    words.add_argument("--jobs", type=int, default=os.cpu_count(), help="plans that are compiled at a time")
    words = words.parse_args()
    jax_devices()
    import plans

    chosen = [plan for plan in plans.PLANS if words.only in plan.name]
    with multiprocessing.get_context("spawn").Pool(max(1, min(words.jobs, len(chosen)))) as pool:
        lines = sum(pool.starmap(compare, [(words.shardopt, plan) for plan in chosen], chunksize=1), [])
    print("One layer (of a pipeline: one microbatch of a stage's), forward and backward, on one of eight chips: bytes "
          "that it sends, and bytes that it holds.")
    write_table(("plan", "what", "XLA's way", "JAX", "shardopt", "ratio", "why"), [line for _, line in lines])
    for word, meaning in HOW.items():
        print(f"{word}: {meaning}.")
    wrong = sum(not fits for fits, _ in lines)
    print(f"{len(lines)} figures, {wrong} of them more than {TOLERANCE:.0%} apart.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
