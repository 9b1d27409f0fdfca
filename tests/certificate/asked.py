# SPDX-License-Identifier: GPL-3.0-or-later
"""What a request asks for, in words of its own: machines, roles, schedules, nesting, launchers with their software, what
may lie on the host, batches. From the options in `request` of a report, the catalog and the profiles alone; whatever the
report says of its space is compared with it, never read."""
import json
import math
import os
import re
import sys

sys.path.insert(0, os.environ.get("SHARDOPT_REFERENCE") or
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
import data
from machine import mesh_of_gpus, mesh_of_slice, slice_is_cubes

ROLES = ("tensor", "expert", "sequence", "fsdp", "data", "pipeline")
RANKS = ("tensor", "sequence", "expert", "fsdp", "data", "pipeline")
NESTINGS = {"default": ROLES, "all": ROLES, "maxtext": ("expert", "tensor", "sequence", "fsdp", "data", "pipeline"),
            "jax": ("tensor", "sequence", "fsdp", "expert", "data", "pipeline"), "megatron": RANKS, "torchtitan": RANKS,
            "megatron-pp-dp": ("tensor", "sequence", "expert", "pipeline", "fsdp", "data")}
NESTING_OF = {"maxtext": "maxtext", "jax": "jax", "torchtitan": "torchtitan", "megatron": "megatron",
              "deepspeed": "megatron", "trl": "megatron", "axolotl": "megatron", "llama-factory": "megatron"}
LAUNCHERS = frozenset(NESTING_OF)
TUNERS = {"trl", "axolotl", "llama-factory"}
SCHEDULES = ("gpipe", "1f1b", "interleaved", "circular", "zb_h1", "dualpipe")
TUNING = {"lora", "qlora", "freeze", "task", "targets", "mean_length", "max_length", "packing", "samples", "epochs"}
TIE = 0.02  # what counts as tied with the fastest

class Asked:
    def __init__(self, report):
        self.request, self.report = report["request"], report
        self.chip = data.use_network(data.read_chip(self.chip_name()), self.request)
        self.topology = catalog(self.chip.name)["topology"]
        own = data.read_json("mesh", "catalog", self.chip.name + ".json")  # prices are no kin's
        self.chip.usd, self.chip.usd_reserved = (own.get("usd_per_chip_hour" + word, {}).get("value", 0)
                                                 for word in ("", "_reserved"))
        self.fine_tunes = bool(TUNING & set(self.request))
        asked = self.request["for"]
        self.launchers = [] if asked == "any" else asked.split(",")

    def chip_name(self):
        """The name in the catalog: an alias is another word for it, part of a name is not."""
        wanted = data.folded(self.request["chip"])
        for path in sorted(os.listdir(os.path.join(data.ROOT, "mesh", "catalog"))):
            if path.endswith(".json"):
                chip = catalog(path[:-5])
                names = [chip["name"], *(alias.split(":")[0] for alias in chip.get("aliases", []))]
                if wanted in map(data.folded, names):
                    return chip["name"]
        raise KeyError("chip " + self.request["chip"])

    def sequences(self):
        if self.request.get("sequences"):
            return int(self.request["sequences"])
        batch, seq = self.request["batch"], self.seq()
        return max(1, batch // seq + (batch % seq >= seq - batch % seq))

    def seq(self):
        """Tokens of a sequence; of samples with lengths, those that a plan computes, which is believed."""
        return self.request.get("seq") or (self.report["plans"][0]["batch"]["seq"] if self.report["plans"] else 1)

    # ---- machines ----

    def machine(self):
        """The machine asked for: (chips,) of GPUs, (shape, slices) of a torus."""
        request, chip = self.request, self.chip
        if chip.has_domains:
            return (request["chips"] if "chips" in request else request.get("nodes", 1) * chip.domain_chips,)
        if "slice" in request:
            return self.shape(request["slice"]), request.get("slices", 1)
        if "chips" in request:
            return self.most_cubic(request["chips"]), 1
        return sizes_of(self.topology["pod"]), request.get("pods", 1)

    def shape(self, text):
        """A shape, "4x4x8", or a name that counts chips or cores, "v5p-256"."""
        count = re.fullmatch(r"[A-Za-z].*-(\d+)", text)
        if count:
            return self.most_cubic(int(count[1]) // self.topology.get("cores_in_name", 1))
        return sizes_of(text.split("-")[-1])

    def offered(self):
        """Every shape that one can have: those listed, and on a 3-D torus whole cubes of 4x4x4."""
        yield from map(sizes_of, self.topology.get("shapes", ()))
        most = self.topology.get("max_cubes", 0) if self.topology["kind"] == "torus_3d" else 0
        least = (lambda size: size) if self.topology.get("sorted_shapes") else (lambda size: 1)
        for x in range(1, min(most, 64) + 1):
            for y in range(least(x), min(most // x, 64) + 1):
                for z in range(least(y), min(most // x // y, 64) + 1):
                    yield 4 * x, 4 * y, 4 * z

    def most_cubic(self, chips):
        for shape in map(sizes_of, self.topology.get("defaults", ())):
            if math.prod(shape) == chips:
                return shape
        return min((shape for shape in self.offered() if math.prod(shape) == chips), key=sum)

    def idle(self):
        """What leaves a share of the chips idle, `max_idle` at most: whole hosts of GPUs; of a torus offered shapes."""
        own, most = self.machine(), self.request["max_idle"]
        chips = math.prod(own) if self.chip.has_domains else math.prod(own[0]) * own[1]
        least = max(1, math.ceil((1 - most) * chips - 1e-9 - 1e-12 * chips))
        if most <= 0:
            return []
        if self.chip.has_domains:
            host = self.chip.chips_per_host
            return [(count,) for count in range((chips - 1) // host * host, max(least, host) - 1, -host)]
        shapes, size = list(self.offered()), math.prod(own[0])
        found = [(shape, slices) for slices in range(own[1], 0, -1) for shape in shapes
                 if math.prod(shape) <= size and least <= math.prod(shape) * slices < chips]
        if own[0] not in shapes:
            found += [(own[0], slices) for slices in range(own[1] - 1, 0, -1) if size * slices >= least]
        return found

    def mesh(self, machine):
        if not self.chip.has_domains:
            return mesh_of_slice(self.chip, list(machine[0]), machine[1])
        chips, host, part = machine[0], self.chip.chips_per_host, self.chip.domain_chips
        boards = max(host, 8) if self.chip.kind == "pcie" else host
        if chips <= boards or chips <= part:
            part = chips
        while part > host and chips % part:
            part -= host
        return mesh_of_gpus(self.chip, chips, chips // part, self.request.get("oversubscription", 1))

    def named(self, machine):
        """A machine as a report names it: (nodes or slice and slices, its axes)."""
        mesh = self.mesh(machine)
        axes = tuple((one.name, one.size, one.kind) for one in mesh.axes)
        if self.chip.has_domains:
            return (next((one.size for one in mesh.axes if one.name == "network"), 1),), axes
        shape = machine[0][:2] if self.topology["kind"] == "torus_2d" and machine[0][2] == 1 else machine[0]
        return ("x".join(map(str, shape)), machine[1]), axes

    # ---- the space ----

    def schedules(self):
        text = self.request["schedules"]
        return {"launchable": set(SCHEDULES[:4]), "all": set(SCHEDULES)}.get(text) or set(text.split(","))

    def nesting(self, launcher):
        return self.request.get("nesting") or NESTING_OF.get(launcher, "default")

    def roles(self, launcher, model):
        """From the inside out; experts have one of their own in mixtures."""
        mixture = any(kind.experts for kind in model.kinds)
        return [role for role in NESTINGS[self.nesting(launcher)] if mixture or role != "expert"]

    def stack(self, launcher):
        """The software: the one asked for, or the best of the chip, or where the launcher does not run that, its own."""
        if self.request["profile"] == "ideal":
            return None
        entries = data.read_json("cost", "profiles", self.request["profile"] + ".json") \
            if not self.request["profile"].endswith(".json") else data.read_file(self.request["profile"])
        stacks = entries.get("stacks")
        if not stacks:
            return None
        newest = list(reversed(stacks))
        best = next((one for one in newest if self.lists(stacks[one])), None) or \
            next((one for one in newest if self.joined(stacks[one])), None)
        if self.request.get("stack") not in (None, "as-is"):
            return next(one for one in stacks if data.folded(self.request["stack"]) in map(
                data.folded, (one, *stacks[one].get("aliases", ()))))
        if launcher and launcher not in launchers_of(stacks, best):
            best = next((one for one in newest if launcher in stacks[one].get("launchers", ()) and
                         self.fits(stacks, one)), best)
        if self.request.get("stack") == "as-is":
            best = next((one for one in newest if stacks[one].get("untuned") and stacks[one].get("kin") == best), best)
        return best

    def lists(self, entry):
        return self.chip.name in entry.get("chips", ())

    def joined(self, entry):
        return ("switch" if self.chip.has_domains else "torus") in entry.get("scaleup", ())

    def fits(self, stacks, name):
        """Whether a stack runs on the chip, by its own words or by its parent's."""
        while name and not stacks[name].get("chips") and not stacks[name].get("scaleup"):
            name = stacks[name].get("kin")
        return bool(name) and (self.lists(stacks[name]) if stacks[name].get("chips") else self.joined(stacks[name]))

    def options(self, launcher):
        """What a launcher's own search has in place of the request's: whoever fine-tunes trains a checkpoint as it lies."""
        own = {"for": launcher or "any"}
        adapters = "lora" in self.request or "qlora" in self.request
        if self.fine_tunes and not adapters and launcher in TUNERS and self.request["state_dtypes"] == "default":
            own["state_dtypes"] = "gradients=bf16 master=none moments=bf16"
        return own

    def offloads(self):
        """What may lie on the host: the values of space.offload that answer the request. With `auto` everything, where
        the host's memory is known; the search that has the parameters of fine-tuning there has nothing else there."""
        asked = self.request["offload"]
        if asked == "parameters":
            return {"none"}
        if asked != "auto":
            return {asked}
        tuned = "sft" in self.request or "lora" in self.request or "qlora" in self.request
        return {"all" if self.chip.host_bytes and self.chip.pcie_bytes_per_second else "none", *(["none"] if tuned else [])}

    def knobs(self, launcher, model, profile, offload):
        """The numbers that the rules of knobs speak of."""
        heads = 0
        for kind in model.kinds:
            heads = math.gcd(heads, launchers_heads(model, kind))
        return {"layers": model.layers, "heads": heads, "experts": max((kind.experts or 0) for kind in model.kinds),
                "tensor_overlap": profile.tensor_overlapped < profile.tensor_exposed,
                "optimizer_offload": offload in ("all", "optimizer") and bool(self.chip.host_bytes)}

# ---- the parts ----

def launchers_heads(model, kind):
    import launchers
    return launchers.whole_heads(model, kind)

def catalog(name):
    """A file of the catalog; what it lacks is its like's."""
    path = os.path.join(data.ROOT, "mesh", "catalog", name + ".json")
    with open(path, encoding="utf-8") as file:
        own = json.load(file)
    like = catalog(own["like"]) if "like" in own else {}
    return {**{key: value for key, value in like.items() if key != "aliases"}, **own}

def sizes_of(text):
    sizes = [int(size) for size in text.lower().split("x")]
    return tuple(sizes + [1] * (3 - len(sizes)))

def launchers_of(stacks, name):
    while name and not stacks[name].get("launchers"):
        name = stacks[name].get("kin")
    return stacks[name]["launchers"] if name else ()

# ---- the comparison ----

def check_machines(asked, report, require):
    """The machines of the space are that of the request and every smaller one that it admits; the mesh is the first's."""
    machines, mesh = report["search"]["certificate"]["space"]["machines"], report["mesh"]
    told = [((m["nodes"],) if asked.chip.has_domains else (m["slice"], m["slices"]),
             tuple((a["name"], a["size"], a["kind"]) for a in m["axes"])) for m in machines]
    own = [asked.named(asked.machine())] + [asked.named(one) for one in asked.idle()]
    require(told[0] == own[0], "the machine is not the one asked for:", told[0], "in place of", own[0])
    require(sorted(told) == sorted(own), "machines that --max-idle admits are missing or too many:",
            sorted(set(told) ^ set(own))[:2])
    first = asked.mesh(asked.machine())
    own = [(one.name, one.size, one.kind, one.rate) for one in first.axes]
    told = [(axis["name"], axis["size"], axis["kind"], axis["bytes_per_second"]) for axis in mesh["axes"]]
    require(own == told and mesh["chips"] == first.chips, "the mesh is not that of the request:", own, told)
    spine = asked.request.get("oversubscription", 1) > 1 and first.axes and first.axes[-1].name == "network"
    require(spine == ("oversubscribed" in mesh["note"]), "the spine of the mesh is not the request's")

def check_asked(asked, report, require):
    """Chip, machines, schedules, orders, launcher and software are those that the request asks for."""
    space, request = report["search"]["certificate"]["space"], report["request"]
    require(asked.chip.name == report["mesh"]["chip"], "the request is of another chip:", request["chip"])
    check_machines(asked, report, require)
    require(set(space["knobs"]["schedules"]) == asked.schedules(), "schedules are not those of the request")
    require(set(asked.launchers) <= LAUNCHERS, "a launcher that is none:", request["for"])
    orders = asked.request.get("nesting") == "all"
    require(space["orders"].startswith("all" if orders else "1"), "the orders of the space are not those asked for")
    require(space["offload"].split(":")[0] in asked.offloads(), "what may lie on the host is not what was asked for:",
            space["offload"])
    require(space["padding"].split(":")[0] == request["padding"], "padding is not what was asked for")
    require(request["objective"] in ("time", "chip-hours", "cost"), "an objective that is none")
    for plan in report["plans"]:
        launcher = plan.get("launcher")
        launcher = None if launcher in ("any", "none") else launcher
        require(launcher in asked.launchers or launcher is None, "plan", plan["rank"], "is of a launcher that was not asked for")
        require(plan.get("stack") == asked.stack(launcher), "plan", plan["rank"], "is of other software:", plan.get("stack"))
    told = [(one["launcher"], one["stack"]) for one in report.get("launchers", ()) if one["launcher"] in LAUNCHERS]
    require(not told or told == [(one, asked.stack(one)) for one in asked.launchers],
            "the launchers of the report are not those asked for:", told)
