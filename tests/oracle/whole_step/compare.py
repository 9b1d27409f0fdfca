# SPDX-License-Identifier: GPL-3.0-or-later
"""One case: what a compiler sends and keeps, beside what shardopt says of the plan. See README.md."""
import collections
import hashlib
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FORMATS = {"maxtext": "maxtext", "torchtitan": "torchtitan"}
CONTROL = ("s32", "u32", "s64", "pred", "s8", "u8", "int64", "int32", "bool")  # indices, counts and masks


class Case:
    """A row of maxtext.tsv or torchtitan.tsv."""

    def __init__(self, launcher, names, fields):
        self.launcher = launcher
        self.row = dict(zip(names, fields + [""] * (len(names) - len(fields))))
        self.name = self.row["name"]

    def words(self):
        model = os.path.join(HERE, "models", self.row["model"] + ".json")
        model = model if os.path.exists(model) else self.row["model"]
        return ["--model", model, *self.row["machine"].split(), "--sequences", self.row["sequences"], "--seq",
                self.row["seq"], "--plan", self.row["plan"], "--for", self.launcher, *self.row["options"].split(), "-q"]

    def explained(self, program):
        """The plan as shardopt prices it; 3 says that it does not fit, and prices it too."""
        done = subprocess.run([program, "explain", *self.words(), "--format", "json"], stdout=subprocess.PIPE)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{self.name}: shardopt explain ended with {done.returncode}")
        return json.loads(done.stdout)["plans"][0]

    def emitted(self, program):
        """What `shardopt emit` writes of it."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "emitted")  # emit puts a whole file in place of one that is there
            subprocess.run([program, "emit", FORMATS[self.launcher], *self.words(), "-o", path], check=True)
            return open(path).read()

    def asked(self, program):
        """A hash of all that the compiler is told: a recorded result is of this file and these settings. Of torch.compile
        it is not told: steps on fake tensors run without."""
        told = [line.split("  #")[0] for line in self.emitted(program).splitlines() if not line.startswith("#")]
        told = [line for line in told if not line.startswith("    --compile.")]
        return hashlib.sha256("\n".join([*told, self.row["keys"]]).encode()).hexdigest()[:16]


def cases():
    for launcher in FORMATS:
        path = os.path.join(HERE, launcher + ".tsv")
        if os.path.exists(path):
            lines = [line.rstrip("\n").split("\t") for line in open(path)]
            yield from (Case(launcher, lines[0], fields) for fields in lines[1:])


def group_of(row, axes):
    """The group of shardopt's report that a collective belongs to. Where experts have the chips of all other weights, the
    two cannot be told apart."""
    roles, kind = set(row["roles"]), row["kind"]
    if row["dtype"] in CONTROL or not roles:
        return None
    if roles == {"pipeline"} and kind in ("collective_permute", "send"):
        return "pipeline"
    if kind == "ragged_all_to_all":
        return "expert"
    if roles == {"sequence"} and axes["fsdp"] * axes["expert"] > 1 and not row["ring"]:
        return "sequence"
    if roles in ({"tensor"}, {"data"}):
        return next(iter(roles))
    if "data" in roles:
        return "data"
    if roles == {"fsdp"} and axes["expert"] > 1:
        return "expert_weights"
    return "weights"


def whole_bytes(row, group):
    """Bytes as shardopt counts them (docs/json.md, communication): of the whole array once for each pass; of an exchange of
    tokens what all chips send together; of a pipeline and of a ring of keys and values what one passes on."""
    n, permuted = row["chips"], row["kind"] == "collective_permute"
    if group == "expert" or row["kind"] == "all_to_all" and group == "sequence":
        return row["sent"] * n * n / (n - 1)
    return row["sent"] if permuted and group in ("pipeline", "sequence") else row["sent"] * n / (n - 1)


def theirs(recorded, axes):
    """{group: {kind: bytes}} of what was recorded."""
    sent = collections.defaultdict(collections.Counter)
    for row in recorded["rows"]:
        group = group_of(row, axes)
        if group:
            kind = row["kind"] if not (row["kind"] == "collective_permute" and group not in ("pipeline", "sequence")) else "ring"
            sent[group][kind] += whole_bytes(row, group)
    return sent


def ours(plan):
    """{group: bytes} as the report has them, with the names that group_of gives."""
    sent, axes = collections.Counter(), plan["axes"]
    for item in plan["communication"]:
        group = item["group"]
        if group == "ulysses":
            group = "sequence"
        if group in ("tensor_weights",) or (group == "expert_weights" and axes["expert"] == 1):
            group = "tensor" if group == "tensor_weights" else "weights"
        if group == "expert_data":
            group = "data"
        sent[group] += item["bytes"]
    return sent


SMALL = 0.002  # of all bytes of a step: gradients of norms, sums of a loss


def lines_of(case, plan, recorded):
    """Of each group and of HBM: what, our figure, theirs, and of what kinds theirs is."""
    sent, said = theirs(recorded, plan["axes"]), ours(plan)
    floor = SMALL * max(sum(sum(kinds.values()) for kinds in sent.values()), sum(said.values()))
    for group in sorted(set(sent) | set(said)):
        total = sum(sent[group].values())
        if max(total, said[group]) > floor:
            yield group, said[group], total, dict(sent[group])
    yield "HBM", plan["memory"]["total_bytes"], recorded["peak_bytes"], {}
