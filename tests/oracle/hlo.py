# SPDX-License-Identifier: GPL-3.0-or-later
"""What a compiled program sends: the collectives in the text of an HLO module.

Arrays are counted as shardopt counts them: whole, as one group sees them, once for each pass. An all_gather is its
result, a reduce_scatter its operand, an all_reduce is both (two passes of its operand), an all_to_all what all chips of
a group send together, a permute what one chip sends.

Two things that XLA does for the CPU alone are undone, each only where the text proves it:
- narrow types: the CPU's collectives and matmuls have no bf16, so that values are widened to fp32 before they are sent.
  An operand that is (a rearrangement of) `convert(bf16)` counts as bf16;
- reduce_scatter: the CPU has none; the partitioner leaves an all_reduce of which every chip cuts out its part. An
  all_reduce of which every use ends in a dynamic-slice to 1/n counts as one pass.
"""
import itertools
import math
import re
from dataclasses import dataclass, field

KINDS = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")
WIDTH = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "f32": 4,
         "s64": 8, "u64": 8, "f64": 8}
MOVES = ("bitcast", "copy", "transpose", "reshape", "slice", "broadcast")  # rearrange, and compute nothing


@dataclass
class Instruction:
    name: str
    shapes: list  # (dtype, elements) of each element of a tuple
    opcode: str
    operands: list
    rest: str
    computation: str
    root: bool
    users: list = field(default_factory=list)


@dataclass
class Sent:
    """One array of one collective."""
    kind: str
    groups: frozenset  # of frozensets of devices
    elements: int  # of the whole array
    passes: int
    width: int  # bytes of an element on the wire, widening undone
    notes: tuple  # what was undone

    @property
    def bytes_of_one(self):
        """What one of n chips sends: (n - 1)/n of the whole array in each pass; of an all_to_all 1/n of that; its own in a
        permute."""
        ways = len(next(iter(self.groups)))
        share = {"all_to_all": (ways - 1) / ways**2, "collective_permute": 1}.get(self.kind, (ways - 1) / ways)
        return share * self.passes * self.elements * self.width


def shapes_in(text):
    return [(dtype, math.prod(int(d) for d in dims.split(",") if d))
            for dtype, dims in re.findall(r"\b([a-z]+[0-9]*)\[([0-9,]*)\]", text) if dtype in WIDTH]


def close_of(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    raise ValueError("parentheses do not match: " + text[:200])


class Module:
    def __init__(self, text):
        self.of, self.computations = {}, {}
        computation = None
        for line in text.splitlines():
            head = re.match(r"(?:ENTRY )?%?([\w.\-]+) .*\{$", line)
            if head and " = " not in line.split("(")[0]:
                computation = head[1]
                self.computations[computation] = []
                continue
            found = re.match(r"\s+(ROOT )?%?([\w.\-]+) = (.*)$", line)
            if found and computation:
                self.add(found[2], found[3], computation, bool(found[1]))
        for one in list(self.of.values()):
            for operand in one.operands:
                if operand in self.of:
                    self.of[operand].users.append(one)

    def add(self, name, text, computation, root):
        end = close_of(text, 0) + 1 if text[0] == "(" else text.index(" ")
        opcode, arguments = re.match(r"\s*([\w\-]+)", text[end:])[1], text.index("(", end)
        last = close_of(text, arguments)
        operands = re.findall(r"%([\w.\-]+)", text[arguments:last])
        if opcode == "parameter":
            operands = [text[arguments + 1 : last]]
        one = Instruction(name, shapes_in(text[:end]), opcode, operands, text[last + 1 :], computation, root)
        self.of[name] = one
        self.computations[computation].append(one)

    def called(self, one):
        found = re.search(r"(?:calls|to_apply)=%([\w.\-]+)", one.rest)
        return self.computations[found[1]] if found and one.opcode in ("fusion", "call") else None

    def source_width(self, one, index=None):
        """Bytes of an element that was widened into this value; None where it was not. `index`: of a tuple."""
        if one.opcode == "convert":
            return WIDTH[self.of[one.operands[0]].shapes[0][0]]
        if one.opcode == "get-tuple-element":
            return self.source_width(self.of[one.operands[0]], int(re.search(r"index=(\d+)", one.rest)[1]))
        if one.opcode == "tuple":
            return self.source_width(self.of[one.operands[index]])
        if one.opcode in MOVES or one.opcode == "dynamic-slice":
            return self.source_width(self.of[one.operands[0]])
        inner = self.called(one)
        if inner:
            return self.source_width(next(i for i in inner if i.root), index)
        if one.opcode == "parameter":
            callers = [i for i in self.of.values() if self.called(i) is self.computations[one.computation]]
            if len(callers) == 1:
                return self.source_width(self.of[callers[0].operands[int(one.operands[0])]])
        return None

    def cut(self, one, ways, index=None):
        """Every use of the value (of a tuple: of its element) is a cut to one part of `ways`."""
        if one.root:
            callers = [i for i in self.of.values() if self.called(i) is self.computations[one.computation]]
            return bool(callers) and index is None and all(self.cut(i, ways) for i in callers)
        return bool(one.users) and all(self.cuts(user, one, ways, index) for user in one.users)

    def cuts(self, user, one, ways, index):
        if user.opcode == "get-tuple-element":
            return int(re.search(r"index=(\d+)", user.rest)[1]) != index or self.cut(user, ways)
        if user.opcode == "dynamic-slice" and user.operands[0] == one.name:
            return user.shapes[0][1] * ways == one.shapes[0][1]
        if user.opcode in MOVES or user.opcode == "convert":
            return self.cut(user, ways)
        inner = self.called(user)
        if not inner:
            return False
        places = {str(i) for i, operand in enumerate(user.operands) if operand == one.name}
        return all(self.cut(i, ways) for i in inner if i.opcode == "parameter" and i.operands[0] in places)

    def sent(self):
        """Every array of every collective."""
        for one in self.of.values():
            kind = one.opcode.removesuffix("-start")
            if kind not in KINDS:
                continue
            groups = groups_of(one.rest)
            ways = len(next(iter(groups)))
            arrays = [shape for name in one.operands for shape in self.of[name].shapes]
            if kind == "all-to-all":
                arrays = [(arrays[0][0], sum(elements for _, elements in arrays))]
            for i, (dtype, elements) in enumerate(arrays):
                notes, width, passes = [], WIDTH[dtype], 1
                source = self.source_width(self.of[one.operands[i]])
                if source and source < width:
                    notes.append("widened")
                    width = source
                if kind == "all-reduce":
                    tuple_index = i if len(arrays) > 1 else None
                    passes = 1 if self.cut(one, ways, tuple_index) else 2
                    if passes == 1:
                        notes.append("cut")
                whole = elements * (ways if kind in ("all-gather", "all-to-all") else 1)
                name = "reduce-scatter" if kind == "all-reduce" and passes == 1 else kind
                yield Sent(name.replace("-", "_"), groups, whole, passes, width, tuple(notes))


def iota(text):
    """Devices of [2,4]<=[8] or [4,2]<=[2,4]T(1,0), as a list of lists along the last dimension."""
    shape, source, order = re.match(r"\[([\d,]+)\](?:<=\[([\d,]+)\])?(?:T\(([\d,]+)\))?", text).groups()
    shape = [int(d) for d in shape.split(",")]
    source = [int(d) for d in source.split(",")] if source else shape
    return permuted(source, [int(d) for d in order.split(",")] if order else range(len(source))), shape


def permuted(source, order):
    """iota(source) transposed by `order`, flat."""
    strides = [math.prod(source[i + 1 :]) for i in range(len(source))]
    return [sum(index * strides[axis] for index, axis in zip(place, order))
            for place in itertools.product(*[range(source[axis]) for axis in order])]


def groups_of(rest):
    """The groups of a collective in any of the forms in which XLA writes them."""
    listed = re.search(r"(?:replica_groups|source_target_pairs)=\{(\{[\d,{}]*\})\}", rest)
    if listed:
        return frozenset(frozenset(int(d) for d in group.split(",")) for group in re.findall(r"\{([\d,]+)\}", listed[1]))
    short = re.search(r"replica_groups=(\[[\d,]+\]<=\[[\d,]+\](?:T\([\d,]+\))?)", rest)
    if short:
        flat, (count, size) = iota(short[1])
        return frozenset(frozenset(flat[i * size : (i + 1) * size]) for i in range(count))
    mesh = re.search(r"replica_groups=mesh\[([^\]]*)\](?:, device_ids=\((\[[^)]*\)?)\))? \{([^}]*)\}", rest)
    names, sizes = zip(*re.findall(r"'(\w+)'=(\d+)", mesh[1]))
    sizes = [int(size) for size in sizes]
    flat = iota(mesh[2])[0] if mesh[2] else list(range(math.prod(sizes)))
    along = []  # parts of axes: (stride, size)
    for name, before, part in re.findall(r"'(\w+)'(?::\((\d+)\)(\d+))?", mesh[3]):
        axis = names.index(name)
        before, part = int(before or 1), int(part or sizes[axis])
        along.append((math.prod(sizes[axis + 1 :]) * (sizes[axis] // before // part), part))
    offsets = [sum(stride * index for (stride, _), index in zip(along, place))
               for place in itertools.product(*[range(part) for _, part in along])]
    starts = [i for i in range(len(flat)) if all(i // stride % part == 0 for stride, part in along)]
    return frozenset(frozenset(flat[start + offset] for offset in offsets) for start in starts)
