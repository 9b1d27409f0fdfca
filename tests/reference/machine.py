# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines as axes, and what a collective costs on them: the four headings on collectives, groups and footprints."""
from math import ceil, floor, gcd, log2, prod
from types import SimpleNamespace

from data import ROLES, Record

GROUPS = ("tensor", "expert_tensor", "expert", "sequence", "ulysses", "pipeline", "weights", "expert_weights",
          "tensor_weights", "data", "expert_data")
CRITICAL = GROUPS[:6]
BACKGROUND = GROUPS[6:9]
ONCE = GROUPS[9:]
ROLE_OF_GROUP = dict(zip(GROUPS, ("tensor", "tensor", "expert", "sequence", "sequence", "pipeline", "fsdp", "fsdp",
                                  "tensor", "data", "data")))
LEVEL_EFFICIENCY = {"ici": "ici_efficiency", "nvlink": "nvlink_efficiency", "pcie": "pcie_efficiency",
                    "network": "network_efficiency", "dcn": "dcn_efficiency"}

# ---- machines ----

def axis(name, kind, level, size, rate, latency):
    return Record(name=name, kind=kind, level=level, size=size, rate=rate, latency=latency)

def slice_is_cubes(shape):
    """Collectives on a torus: whole cubes of 4x4x4, which alone wrap on a 3-D generation."""
    return all(size % 4 == 0 for size in shape)

def mesh_of_slice(chip, shape, slices):
    """Collectives on a torus: the axes of a slice, with two devices of a chip innermost and DCN outermost."""
    devices = chip.devices_per_chip
    flat = chip.kind == "torus_2d"
    wraps = [size == chip.closed_size if flat else slice_is_cubes(shape) for size in shape]
    axes = [axis("core", "mesh", "ici", devices, chip.device_link_bytes_per_second, chip.hop_seconds)]
    for name, size, ring in zip("xyz", shape, wraps):
        axes.append(axis(name, "ring" if ring else "line", "ici", size, chip.link_bytes_per_second / devices,
                         chip.hop_seconds))
    axes.append(axis("dcn", "switch", "dcn", slices, chip.scaleout_bytes_per_second / devices, chip.scaleout_seconds))
    mesh = Record(axes=[one for one in axes if one.size > 1], slices=slices, chips=prod(shape) * slices)
    ordered = sorted(shape)
    if chip.twisted and not flat and slice_is_cubes(shape) and ordered[2] == 2 * ordered[0]:
        if ordered[1] == ordered[0]:
            mesh.twisted_gain = chip.twisted_gain_k_k_2k
        elif ordered[1] == ordered[2]:
            mesh.twisted_gain = chip.twisted_gain_k_2k_2k
    mesh.host_lane = chip.nic_shares_pcie > 0.5
    return mesh

def mesh_of_gpus(chip, chips, nodes, oversubscription):
    """Collectives on switches, direct links and networks: the axes of equal parts of domains, joined by a network."""
    part = chips // nodes
    direct, slots = chip.kind == "mesh", chip.kind == "pcie"
    links = chip.links_per_chip / max(1, chip.domain_chips - 1) if direct else chip.links_per_chip
    pairs = chip.bridged_chips if slots and chip.bridged_chips and part % chip.bridged_chips == 0 else 1
    name = "xgmi" if direct else "pcie" if slots else "nvlink"
    axes = [axis("nvlink", "switch", "nvlink", pairs, chip.bridge_bytes_per_second, chip.hop_seconds),
            axis(name, "mesh" if direct else "switch", "pcie" if slots else "nvlink", part // pairs,
                 chip.link_bytes_per_second * links, chip.hop_seconds),
            axis("network", "switch", "network", nodes, chip.scaleout_bytes_per_second, chip.scaleout_seconds)]
    mesh = Record(axes=[one for one in axes if one.size > 1], slices=1, chips=chips,
                  host_lane=chip.nic_shares_pcie > 0.5, ring_base=chip.ring_base_seconds,
                  tree_base=chip.tree_base_seconds, tree_hop=chip.tree_hop_seconds,
                  tree_scaleout=chip.tree_scaleout_seconds)
    if nodes > 1 and oversubscription > 1:
        mesh.oversubscription = oversubscription
        mesh.leaf_nodes = chip.leaf_nodes * (chip.domain_chips // part)
    return mesh

def mesh_at_rates_of(profile, mesh):
    """Profiles: the rate of an axis is its catalog rate times the efficiency of its level."""
    scaled = Record(**vars(mesh))
    scaled.axes = []
    for one in mesh.axes:
        efficiency = getattr(profile, LEVEL_EFFICIENCY[one.level])
        if one.level == "network":
            efficiency *= profile.network_factor
        scaled.axes.append(axis(one.name, one.kind, one.level, one.size, one.rate * efficiency, one.latency))
    scaled.routed_copies = profile.routed_copies
    scaled.ring_step = profile.ring_step_seconds
    return scaled

# ---- one level ----

def is_torus(member):
    return member.kind in ("ring", "line")

def rate_of_chip(member):
    """Collectives on a torus: the rate at which one chip moves bytes along an axis, by the kind of the axis."""
    if member.kind == "ring":
        return 2 * member.rate / member.stride
    if member.kind == "line":
        return member.rate / member.stride
    return (member.factor - 1) * member.rate if member.kind == "mesh" else member.rate

def hops_to_farthest(member):
    """Collectives on a torus: hops to the farthest chip; a tree of log2 messages over a switch."""
    n = member.factor
    if member.kind == "ring":
        return floor(n / 2) * member.stride
    if member.kind == "line":
        return (n - 1) * member.stride
    return 1 if member.kind == "mesh" else ceil(log2(n))

def level_pass(members, chips):
    """Collectives on a torus: axes of a torus work side by side, so their rates add; latencies add up too."""
    rate = sum(rate_of_chip(one) for one in members)
    latency = sum(hops_to_farthest(one) * one.latency for one in members)
    return latency, (chips - 1) / chips / rate

def level_all_to_all(members, chips):
    """Collectives on a torus: half the chips send half of their bytes through the middle of the narrowest axis."""
    per_byte = latency = 0
    for one in members:
        if is_torus(one):
            odd = one.factor % 2 == 1
            share = one.factor / (4 * chips) * ((one.factor ** 2 - 1) / one.factor ** 2 if odd else 1)
        else:
            share = (chips - 1) / chips / chips
        per_byte = max(per_byte, share / rate_of_chip(one))
        latency += (1 if one.kind == "switch" else hops_to_farthest(one)) * one.latency
    return latency, per_byte

def level_permute(members):
    """Collectives on a torus: a message of each chip over `stride` links of the slowest axis."""
    per_byte = latency = 0
    for one in members:
        stride = one.stride if is_torus(one) else 1
        per_byte = max(per_byte, stride / one.rate)
        latency = max(latency, stride * one.latency)
    return latency, per_byte

def levels_of(members):
    """Collectives on switches, direct links and networks: all torus axes are one level, every other axis is its own."""
    levels = []
    for one in members:
        if levels and is_torus(one) and is_torus(levels[-1][-1]):
            levels[-1].append(one)
        else:
            levels.append([one])
    return levels

def hierarchical(op, members):
    """Collectives on switches, direct links and networks: levels are pipelined, and the slowest decides."""
    chips, inside = prod(one.factor for one in members), 1
    latency = per_byte = 0
    switched = any(one.kind == "switch" for one in members)
    for level in levels_of(members):
        here = prod(one.factor for one in level)
        if op == "all_to_all":
            cost, share = level_all_to_all(level, here), here / chips * (here * inside / chips)
        elif op == "permute":
            cost, share = level_permute(level), 1
        else:
            cost, share = level_pass(level, here), 1 / inside
        inside *= here
        per_byte = max(per_byte, share * cost[1])
        latency = max(latency, cost[0]) if op == "permute" else latency + cost[0]
    return (latency, per_byte if switched else 0), (0, per_byte)

def nccl_latency(op, mesh, spans):
    """Collectives on switches, direct links and networks: base and steps of protocol LL."""
    inside = domains = 1
    step = step_out = 0
    for one, (factor, _) in zip(mesh.axes, spans):
        if factor <= 1:
            continue
        if one.level == "network":
            domains, step_out = domains * factor, one.latency
        else:
            inside, step = inside * factor, one.latency
    if op in ("all_to_all", "permute"):
        return mesh.ring_base + step + step_out
    ring = domains * (inside - 1) * step + (domains - 1) * step_out
    if domains > 1:
        ring += (domains * inside - 1) * mesh.ring_step
    return mesh.ring_base + ring

def spine_seconds_per_byte(op, mesh, spans):
    """Collectives on switches, direct links and networks: what the uplinks of the leaves take."""
    chips = prod(factor for factor, _ in spans)
    for one, (f, h) in zip(mesh.axes, spans):
        if one.level != "network" or f * h <= mesh.leaf_nodes:
            continue
        uplink, q = one.rate / mesh.oversubscription, max(1, mesh.leaf_nodes / h)
        if op == "all_to_all":
            return (1 - q / f) / chips / uplink
        if op == "permute":
            return 1 / q / uplink
        return f / chips * (f - 1) / f / q / uplink
    return 0

def collective_cost(op, mesh, spans):
    """Collectives on switches, direct links and networks: two affine pieces (latency, seconds per byte)."""
    copies = mesh.routed_copies if op == "dispatch" else 0
    op = "all_to_all" if op == "dispatch" else op
    whole = all(factor == one.size for one, (factor, _) in zip(mesh.axes, spans) if one.level == "ici")
    members = []
    for one, (factor, stride) in zip(mesh.axes, spans):
        if factor == 1:
            continue
        kind = "line" if one.kind == "ring" and factor * stride != one.size else one.kind
        member = SimpleNamespace(factor=factor, stride=stride, kind=kind, rate=one.rate, latency=one.latency)
        if copies > 1 and one.level == "network":  # one copy of a token to each domain that needs any
            member.rate /= factor * (1 - (1 - 1 / factor) ** copies) / copies
        if mesh.twisted_gain and op == "all_to_all" and whole and one.kind == "ring":
            member.rate *= mesh.twisted_gain
        members.append(member)
    if not members:
        return (0, 0), (0, 0)
    first, second = hierarchical(op, members)
    if mesh.ring_base > 0 or mesh.oversubscription > 1:
        per_byte, latency = second[1], first[0]
        if mesh.oversubscription > 1:
            per_byte = max(per_byte, spine_seconds_per_byte(op, mesh, spans))
        if mesh.ring_base > 0:
            latency = nccl_latency(op, mesh, spans)
        return (latency, per_byte), (0, per_byte)
    return first, second

def collective_seconds(cost, messages, size):
    """Collectives on switches, direct links and networks: the longer of the two affine pieces."""
    return max(messages * latency + size * per_byte for latency, per_byte in cost)

# ---- groups ----

def roles_of_group(group, plan):
    """Groups, nesting and footprints: the roles whose chips form a group; none for ranks of a folded grid."""
    shards = () if plan.sequence_replicates else ("sequence",)
    copies = ("sequence",) if plan.sequence_replicates else ()
    context = plan.context
    return {"tensor": ("tensor",), "tensor_weights": ("tensor",), "expert": () if plan.grid else ("expert",),
            "sequence": () if context == "ulysses" else ("sequence",),
            "ulysses": ("sequence",) if context in ("ulysses", "ulysses_ring") else (),
            "pipeline": ("pipeline",), "weights": ("expert", *shards, "fsdp"),
            "expert_weights": () if plan.grid else (*shards, "fsdp"), "data": ("data", *copies),
            "expert_tensor": (), "expert_data": ()}[group]

def span_of(order, members):
    """Groups, nesting and footprints: a group's factor on one axis and its stride, others inside the outermost."""
    factor = others = stride = 1
    for role, size in order:
        if role in members:
            factor *= size
            stride = others
        else:
            others *= size
    return factor, stride

def footprint(group, mesh, placement, plan):
    """Groups, nesting and footprints: heads exchange among neighbours from the innermost axis on, rings join these."""
    members = roles_of_group(group, plan)
    heads = plan.ulysses if group in ("sequence", "ulysses") and plan.ulysses > 1 else 1
    split, spans = heads > 1, []
    for one in mesh.axes:
        factor, stride = span_of(placement.get(one.name, []), members)
        if split:
            inner = gcd(heads, factor)
            heads //= inner
            factor = inner if group == "ulysses" else factor // inner
            stride = stride if group == "ulysses" else stride * inner
        spans.append((factor, stride if factor > 1 else 1))
    return spans

def folded_footprints(mesh, placement, plan):
    """Groups, nesting and footprints: expert width, experts, shards and copies take neighbours from the inside."""
    left = [plan.grid.expert_tensor, plan.grid.expert, plan.grid.weights, plan.grid.data]
    spans = [[], [], [], []]
    for one in mesh.axes:
        room, stride = one.size // dict(placement.get(one.name, [])).get("pipeline", 1), 1
        for i in range(4):
            factor = gcd(left[i], room)
            spans[i].append((factor, stride if factor > 1 else 1))
            left[i] //= factor
            room //= factor
            stride *= factor
    return dict(zip(("expert_tensor", "expert", "expert_weights", "expert_data"), spans))

def collective_of_group(group, context):
    """Groups, nesting and footprints: what a group does."""
    if group == "sequence":
        return "permute" if context in ("ring", "ulysses_ring") else "pass"
    return {"expert": "dispatch", "ulysses": "all_to_all", "pipeline": "permute"}.get(group, "pass")

def rates_of_placement(mesh, placement, plan):
    """Groups, nesting and footprints: each group's cost, axes, and whether it leaves the scale-up network."""
    rates = Record(cost={}, axes={}, far={}, lane=set())
    grid = folded_footprints(mesh, placement, plan) if plan.grid else {}
    for group in GROUPS:
        spans = grid.get(group) or footprint(group, mesh, placement, plan)
        rates.cost[group] = collective_cost(collective_of_group(group, plan.context), mesh, spans)
        rates.axes[group] = {i for i, (factor, _) in enumerate(spans) if factor > 1}
    across = {i for i, one in enumerate(mesh.axes) if one.level in ("network", "dcn")}
    dcn = {i for i, one in enumerate(mesh.axes) if one.level == "dcn"}
    for group in GROUPS:
        outside = across if group in ("tensor", "expert_tensor") else dcn if group in BACKGROUND else set()
        rates.far[group] = bool(rates.axes[group] & outside)
    rates.lane = across if mesh.host_lane else set()
    rates.axis_count = len(mesh.axes)
    return rates

def grid_of_ranks(plan, expert, expert_tensor):
    """Groups, nesting and footprints: t s f = e w z where parameters are sharded, else t s f d = e w z."""
    a = plan.axes
    sharded = a["fsdp"] > 1 or (a["sequence"] > 1 and not plan.sequence_replicates)
    inner = a["tensor"] * a["sequence"] * a["fsdp"]
    ranks, ways = inner if sharded else inner * a["data"], expert * expert_tensor
    return Record(expert=expert, expert_tensor=expert_tensor, weights=ranks // ways if sharded else 1,
                  data=a["data"] if sharded else ranks // ways)

def group_chips(group, plan):
    """Groups, nesting and footprints: chips of a group."""
    if plan.grid and group in ("expert_tensor", "expert", "expert_weights", "expert_data"):
        return {"expert_tensor": plan.grid.expert_tensor, "expert": plan.grid.expert,
                "expert_weights": plan.grid.weights, "expert_data": plan.grid.data}[group]
    if group == "ulysses":
        return plan.ulysses
    chips = prod(plan.axes[role] for role in ROLES if role in roles_of_group(group, plan))
    return chips // plan.ulysses if group == "sequence" and plan.ulysses > 1 else chips
