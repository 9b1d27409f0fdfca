# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program of the TPU's compiler sends in a step: every collective of its text, as often as its loops run it.

Bytes are those of the whole array, once for each pass, as a report of shardopt counts them: an all_gather and a
reduce_scatter are one pass, an all_reduce is two. The compiler makes a loop of permutes of many a gather (or scatter)
beside a matmul: a ring, of which n chips send as much as a pass that they share would; it is counted as that pass, with
what it really sends. An all_reduce in a fusion called all-reduce-scatter leaves a chip its part alone: one pass."""
import collections
import itertools
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import hlo

ROLES = {"diloco": "data", "data": "data", "stage": "pipeline", "fsdp": "fsdp", "fsdp_transpose": "fsdp",
         "context": "sequence", "context_usp_ulysses": "sequence", "context_autoregressive": "sequence",
         "tensor": "tensor", "tensor_sequence": "tensor", "expert": "expert", "autoregressive": "data"}
KINDS = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "ragged-all-to-all", "collective-permute")


def called_by(one):
    """The computations that an instruction runs, and how often in one run of its own."""
    return re.findall(r"\b(?:calls|to_apply|body|branch_computations|called_computations)=\{?%([\w.\-]+)", one.rest)


def constant_of(module, name, text):
    found = re.search(r"%" + re.escape(name) + r" = \S+ constant\((\d+)\)", text)
    return int(found[1]) if found else None


class Loops:
    """How often each computation runs in one step."""

    def __init__(self, text):
        self.module, self.text = hlo.Module(text), text
        entry = re.search(r"^ENTRY %?([\w.\-]+)", text, re.M)[1]
        self.runs = collections.Counter({entry: 1})
        for name in self.order(entry):
            for one in self.module.computations[name]:
                times = self.trips(one) if one.opcode == "while" else 1
                if one.opcode in ("while", "fusion", "call", "call-start", "conditional", "async-start"):
                    for inner in called_by(one):
                        self.runs[inner] += times * self.runs[name]

    def order(self, entry):
        """Computations, each before those that it runs."""
        done, seen = [], set()

        def visit(name):
            if name in seen or name not in self.module.computations:
                return
            seen.add(name)
            for one in self.module.computations[name]:
                for inner in called_by(one):
                    visit(inner)
            done.append(name)

        visit(entry)
        return reversed(done)

    def trips(self, loop):
        """A loop counts from zero to the constant that its condition compares with, in steps of what its body adds: two
        where the compiler unrolled it."""
        known = re.search(r'known_trip_count":\{"n":"(\d+)"', loop.rest)
        if known:
            return int(known[1])
        of = self.module.of
        condition = self.module.computations[re.search(r"condition=%([\w.\-]+)", loop.rest)[1]]
        body = self.module.computations[re.search(r"body=%([\w.\-]+)", loop.rest)[1]]
        bounds = [constant_of(self.module, one.name, self.text) for one in condition if one.opcode == "constant"]
        counters = [int(re.search(r"index=(\d+)", one.rest)[1]) for one in condition if one.opcode == "get-tuple-element"]
        if len(bounds) != 1 or bounds[0] is None or len(counters) != 1:
            sys.exit(f"{loop.name}: how often does it run?")
        counter = of[next(one for one in body if one.root).operands[counters[0]]]
        steps = [constant_of(self.module, name, self.text) for name in counter.operands]
        steps = [step for step in steps if step] if counter.opcode == "add" else []
        return -(-bounds[0] // (steps[0] if steps else 1))


class Mesh:
    """Which roles a group of chips belongs to: those along which its members differ."""

    def __init__(self, axes):
        self.names, self.sizes = zip(*[(name, size) for name, size in axes.items() if size > 1])

    def place(self, chip):
        place = []
        for size in reversed(self.sizes):
            chip, index = divmod(chip, size)
            place.insert(0, index)
        return place

    def roles_of(self, group):
        places = [self.place(chip) for chip in group]
        return tuple(sorted({ROLES[name] for i, name in enumerate(self.names) if len({place[i] for place in places}) > 1}))


def joined(groups):
    """Groups of chips: those of a permute are pairs, which make rings or lines."""
    parent = {chip: chip for group in groups for chip in group}

    def root(chip):
        while parent[chip] != chip:
            chip = parent[chip]
        return chip

    for group in groups:
        first, *others = group
        for other in others:
            parent[root(other)] = root(first)
    out = collections.defaultdict(list)
    for chip in parent:
        out[root(chip)].append(chip)
    return max(out.values(), key=len)


def phase_of(rest):
    name = re.search(r'op_name="([^"]*)"', rest)
    name = name[1] if name else ""
    return "backward" if "transpose(" in name else "forward" if "jvp(" in name else "other"


def between_slices(one, slices):
    """What XLA's runtime carries over DCN: a send to the host, which names the collective that it is a part of."""
    found = re.search(r'_xla_megascale_transfer_type="(\w+)"', one.rest)
    if one.opcode != "send" or not found or slices < 2:
        return None
    return found[1].lower()


def collectives(text, axes, slices=1):
    """Rows of a step: kind, roles, chips, dtype, phase, ring, and `sent`, the bytes that one chip sends, `times` in all."""
    loops, mesh = Loops(text), Mesh(axes)
    rows = collections.defaultdict(lambda: [0.0, 0])
    for name, runs in loops.runs.items():
        for one in loops.module.computations.get(name, []):
            carried = between_slices(one, slices)
            if carried:
                dtype, elements = loops.module.of[one.operands[0]].shapes[0]
                key = (carried, ("data",), slices, dtype, phase_of(one.rest), False)
                passes = 2 if carried == "all_reduce" else 1
                rows[key][0] += passes * (slices - 1) / slices * hlo.WIDTH[dtype] * elements * runs
                rows[key][1] += runs
            kind = one.opcode.removesuffix("-start")
            if kind not in KINDS or one.opcode.endswith("-done"):
                continue
            group = joined(hlo.groups_of(one.rest))
            operands = one.operands[:1] if kind in ("ragged-all-to-all", "collective-permute") else one.operands
            arrays = [shape for operand in operands for shape in loops.module.of[operand].shapes[:1]]
            size = sum(hlo.WIDTH[dtype] * elements for dtype, elements in arrays)
            if kind == "ragged-all-to-all":  # from a buffer to a buffer, either of which may have room for the worst case
                size = min(hlo.WIDTH[dtype] * elements for operand in one.operands[:2]
                           for dtype, elements in loops.module.of[operand].shapes[:1])
            n, ring = len(group), kind == "collective-permute" and "windowed" in name + one.rest
            if kind == "all-reduce" and re.match(r"(fused_computation\.)?all-reduce-scatter", name):
                kind = "reduce-scatter"
            share = {"all-gather": n - 1, "all-reduce": 2 * (n - 1) / max(n, 1), "collective-permute": 1}.get(
                kind, (n - 1) / max(n, 1))
            key = (kind.replace("-", "_"), mesh.roles_of(group), n, arrays[0][0], phase_of(one.rest), ring)
            rows[key][0] += share * size * runs
            rows[key][1] += runs
    return [dict(zip(("kind", "roles", "chips", "dtype", "phase", "ring"), key), sent=sent, times=times)
            for key, (sent, times) in sorted(rows.items(), key=lambda row: -row[1][0])]


if __name__ == "__main__":
    import json

    for path in sys.argv[1:]:
        axes = json.load(open(path.replace(".hlo", ".out.json")))["mesh"]
        print(path)
        for row in collectives(open(path).read(), axes):
            n = row["chips"]
            whole = row["sent"] * (n / (n - 1) if row["kind"] != "collective_permute" or row["ring"] else 1) / 1e6
            print("  ", row["kind"], "ring" if row["ring"] else "", "x".join(row["roles"]), n, row["dtype"], row["phase"],
                  f"{whole:.3f} MB x{row['times']}")
