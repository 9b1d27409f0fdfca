# SPDX-License-Identifier: GPL-3.0-or-later
"""What the reference reads: chips, profiles, optimizers and models as files state them, and reports of the program.

Nothing here computes. A report is read for its inputs alone (degrees, placement, knobs, layout, batch, machine); what
it says of time and memory is only compared with."""
import json
import math
import os
import re
import subprocess
from types import SimpleNamespace

ROOT = os.environ.get("SHARDOPT_DATA_ROOT") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
ROLES = ("tensor", "expert", "sequence", "fsdp", "data", "pipeline")
DTYPE_BYTES = {"none": 0, "fp8": 1, "bf16": 2, "fp16": 2, "fp32": 4}
ACTIVATIONS = ("layer_input", "attention_input", "qkv", "context", "middle", "mlp_input", "gate_up", "product")

class Unknown(Exception):
    """What the reference does not price; the text says what it is."""

class Record(SimpleNamespace):
    """Named figures; what a file leaves out is 0."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return 0

def read_json(*path):
    """Profiles: a data file of the project."""
    return read_file(ROOT, *path)

def read_file(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)

def folded(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())

# ---- chips ----

SCALED_BY_DEVICES = (
    "bf16_flops_per_second", "fp8_flops_per_second", "int8_ops_per_second", "fp4_flops_per_second", "hbm_bytes",
    "hbm_usable_bytes", "hbm_bytes_per_second", "host_bytes", "pcie_bytes_per_second", "pcie_both_bytes_per_second",
    "host_copies_bytes_per_second", "host_memory_bytes_per_second")

def read_chip(name):
    """Profiles: the catalog's figures of a chip, under their own keys, and its topology."""
    json_of_chip, like = {}, name
    while like:  # what a file lacks is its like's; no price is here
        of_like = read_json("mesh", "catalog", like + ".json")
        json_of_chip, like = {**of_like, **json_of_chip}, of_like.get("like")
    chip = Record(name=json_of_chip["name"])
    for key, figure in json_of_chip.items():
        if isinstance(figure, dict) and "value" in figure:
            setattr(chip, key, figure["value"])
    for key, value in json_of_chip["topology"].items():
        if key not in ("source", "verified"):
            setattr(chip, key, value)
    chip.devices_per_chip = chip.devices_per_chip or 1
    chip.has_domains = chip.kind in ("switch", "mesh", "pcie")
    return chip

def use_network(chip, request):
    """Collectives on switches, direct links and networks: --network is what joins two hosts, for all of their chips."""
    told = re.fullmatch(r"(?:(\d+)x)?([\d.]+)([MGT])(bps|bit/s|B/s)", request.get("network", "").replace(" ", ""))
    if "network" in request and not told:
        raise Unknown("network " + request["network"])
    if told:
        rate = int(told[1] or 1) * float(told[2]) * {"M": 1e6, "G": 1e9, "T": 1e12}[told[3]]
        chip.scaleout_bytes_per_second = (rate if told[4] == "B/s" else rate / 8) / max(1, chip.chips_per_host)
    return chip

def host_as_typed(chip, request, chips):
    """The host link: hosts of fewer GPUs have their share of a host; a host's memory is shared by its chips of the job."""
    each = request.get("gpus_per_node", chip.chips_per_host)
    if each != chip.chips_per_host:
        part = each / chip.chips_per_host
        domain = chip.domain_chips // chip.chips_per_host * each
        if chip.kind == "mesh":
            chip.links_per_chip = chip.links_per_chip // (chip.domain_chips - 1) * max(1, domain - 1)
        chip.chips_per_host, chip.domain_chips, chip.leaf_nodes = each, domain, chip.leaf_nodes / part
        chip.host_copies_bytes_per_second *= part
        chip.host_memory_bytes_per_second *= part
    if "host_memory" in request:
        number, unit = re.fullmatch(r"([0-9.e+]+)([kMGT]?i?)B?", str(request["host_memory"])).groups()
        power = "kMGT".index(unit[0]) + 1 if unit else 0
        most = max(chip.chips_per_host, 10) if chip.kind == "pcie" and "gpus_per_node" not in request else each
        chip.host_bytes = float(number) * (1024 if unit.endswith("i") else 1000) ** power / (
            chips if chips <= most else chip.chips_per_host)

def device_of_chip(chip):
    """Collectives on a torus: two devices of one chip (tpu7x) each have half of its rates and memory."""
    device = Record(**vars(chip))
    for key in SCALED_BY_DEVICES:
        setattr(device, key, getattr(chip, key) / chip.devices_per_chip)
    return device

# ---- profiles ----

def entry_chain(entries, name):
    """Profiles: an entry's parents from the oldest on, then itself."""
    chain = []
    while name:
        chain.insert(0, entries[name])
        name = entries[name].get("kin")
    return chain

def chip_entry(entries, chip):
    """Profiles: the first entry that names the chip, else the first of its way of joining chips."""
    for name, entry in entries.items():
        if any(folded(own) == folded(chip.name) for own in entry.get("chips", [])):
            return name
    joined = "switch" if chip.has_domains else "torus"
    for name, entry in entries.items():
        if joined in entry.get("scaleup", []):
            return name
    raise Unknown("no profile of " + chip.name)

def figures_of(entry):
    return {key: figure["value"] for key, figure in entry.items() if isinstance(figure, dict) and "value" in figure}

def read_profile(argument, chip, stack):
    """Profiles: composed from a chip's entry and a stack's, each with what its parents give; the rest is ideal."""
    figures = figures_of(read_json("cost", "profiles", "ideal.json"))
    if argument.endswith(".json"):
        with open(argument, encoding="utf-8") as file:
            whole = json.load(file)
    else:
        whole = read_json("cost", "profiles", argument + ".json")
    if "profiles" in whole:
        figures["tile_padding"] = False
        for entry in entry_chain(whole["profiles"], chip_entry(whole["profiles"], chip)):
            figures.update(figures_of(entry))
        if stack:
            for entry in entry_chain(whole["stacks"], stack):
                figures.update(figures_of(entry))
    else:
        figures.update(figures_of(whole))
    return Record(**figures)

# ---- optimizers ----

def read_optimizer(name):
    """The optimizer: how each kind of tensor's moments are kept, and the steps that make updates orthogonal."""
    for path in os.listdir(os.path.join(ROOT, "cost", "optimizers")):
        rules = read_json("cost", "optimizers", path)
        if folded(rules["name"]) != folded(name):
            continue
        return {part: Record(first=rules[part]["first_moment"]["value"], second=rules[part]["second_moment"]["value"],
                             steps=rules[part].get("newton_schulz_steps", {}).get("value", 0))
                for part in ("matrices", "tables", "vectors")}
    raise Unknown("optimizer " + name)

# ---- models ----

def read_model(name, program):
    """Parameters and FLOPs: a model's dimensions, as `shardopt models NAME --format json` lists them."""
    out = subprocess.run([program, "models", name, "--format", "json"], capture_output=True, text=True, check=False)
    if out.returncode != 0:
        raise Unknown("model: " + out.stderr.strip())
    listed = json.loads(out.stdout)
    kinds = [Record(**kind) for kind in listed["kinds"]]
    model = Record(**{key: listed[key] for key in ("name", "layers", "d_model", "vocab", "tied", "positions", "norm",
                                                   "embedding_norm", "logits_bias", "learned_positions", "no_head",
                                                   "extra_matrices", "extra_vectors", "extra_looked_up")})
    model.kinds = kinds
    # what makes tokens of images, and what projects it to the stream, is held; text does not go through it
    model.towers, model.projector = listed["parts"]["vision"] + listed["parts"]["audio"], listed["parts"]["projector"]
    beyond = model.towers - sum(tower["parameters"] for tower in listed["towers"])  # extras of the model, in extra_*
    model.extra_vectors -= model.projector + beyond
    if not model.tied and not model.extra_looked_up:  # rows of the input's table that no logit has (Llama 3.2 Vision: 8)
        model.extra_looked_up = max(0, listed["parts"]["embedding"] - model.vocab * model.d_model)
    model.capacity_factor = listed["training"]["capacity_factor"] or 0
    return model

# ---- plans ----

def layout_of(plan):
    """The ops of a layer, forward and backward: which of the layout's choices a plan's rows of shardings show."""
    rows = {}
    states = {name: {} for name in ACTIVATIONS}
    for row in plan["layout"]:
        words = re.findall(r"\([^()]*\)|[^,()]+", row["sharding"].strip()[1:-1])
        rows[row["tensor"]] = [word.strip() for word in words if word.strip()]
        if row["tensor"] in states:
            states[row["tensor"]][row["state"]] = row["layers"]
    split = plan["axes"]["tensor"] > 1

    def over_tensor(tensor, dimension):
        return split and tensor in rows and "'tensor'" in rows[tensor][dimension]
    return Record(along=over_tensor("layer_input", 1), mlp_gathered=over_tensor("gate_up", 1),
                  kv_copied=split and not over_tensor("key and value weights", 1),
                  embedding_columns=split and not over_tensor("embedding", 0),
                  logits_columns=split and not over_tensor("logits", 2), states=states)

def factors_of_placement(plan):
    """Groups, nesting and footprints: on each axis the roles with their factors, the innermost first."""
    axes = {}
    for item in plan["placement"]:
        axes.setdefault(item["axis"], []).append((item["stride"], item["role"], item["factor"]))
    return {axis: [(role, factor) for _, role, factor in sorted(items)] for axis, items in axes.items()}

def product(numbers):
    return math.prod(numbers)
