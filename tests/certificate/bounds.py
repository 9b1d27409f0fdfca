# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds by another hand (docs/search.md, "Bounds by another hand"): what of a degree tuple no plan can beat, from the
model in tests/reference and the tables in launchers.py, without the program's bounds, lists or layouts.

A tuple is settled by the first of these that suffices: arithmetic (what does not divide, what --require and the
launcher exclude), state that must be held, seconds at the least rates with everything kept, then every knob setting
that is left, with each thing that the launcher can be told to recompute, where memory allows it, on each placement."""
import itertools
import math
import os
import sys
from functools import lru_cache

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.environ.get("SHARDOPT_REFERENCE") or os.path.join(HERE, "..", "reference"))
import data
import machine
import price
import stage
import step
from data import ACTIVATIONS, Record, Unknown
from launchers import (most_heads, placements_of, rules_of, takes_degrees, takes_knobs,
                       whole_heads, NCCL, PADS)
from machine import GROUPS, grid_of_ranks, mesh_at_rates_of

def keep_what_is_read():
    """Models and data files are read once."""
    if not hasattr(price.read_model, "cache_info"):
        data.read_model = price.read_model = lru_cache(price.read_model)
        kept = lru_cache(lambda root, *path: data.read_file(root, *path))
        data.read_json = lambda *path: kept(data.ROOT, *path)

SURE = 1 - 1e-9  # what this adds in another order than the program may differ by so much
ROLES = ("tensor", "expert", "sequence", "fsdp", "data", "pipeline")

def quotients(n):
    """The least x for each value of ceil(n / x)."""
    found, x = [], 1
    while True:
        found.append(x)
        q = -(-n // x)
        if q == 1:
            return found
        x = -(-n // (q - 1))

def taken(case, work, plan, pads):
    """Whether the launcher takes a plan; without one, whether any takes what is padded as launchers pad."""
    model, seq = case.model, work.seq
    if case.launcher or not pads or case.request["padding"] != "launchable":
        return takes_knobs(case.launcher, model, work, plan, pads, case.tpu)
    return any(takes_degrees(one, model, seq, plan.axes) and takes_knobs(one, model, work, plan, pads, case.tpu)
               for one in PADS if not (one in NCCL and case.tpu))

class Case:
    """A request as a report has it, for the launcher of its first plan or for another, with all that tuples share."""

    def __init__(self, report, program, asked, launcher=None):
        keep_what_is_read()
        self.request, self.program = report["request"], program
        self.space = report["search"]["certificate"]["space"]
        first = report["plans"][0] if report["plans"] and not launcher else {}
        alone = asked.launchers[0] if len(asked.launchers) == 1 else None
        self.launcher = launcher or first.get("launcher", alone)
        self.launcher = None if self.launcher in ("any", "none") else self.launcher
        self.free = self.launcher in (None, "jax")
        own = first.get("options", {}) if not launcher else asked.options(launcher)
        self.entry = {"stack": asked.stack(self.launcher), "launcher": self.launcher, "options": own, "axes": {}}
        self.nesting = asked.nesting(self.launcher)
        self.asked, self.report, self.seq = asked.sequences(), report, asked.seq()
        self.worlds, self.sums, self.costs, self.least, self.rated = {}, {}, {}, {}, {}
        self.parts, self.shards = {}, {}
        self.model = price.read_model(self.request["model"], program)
        self.most = 60000  # steps of a tuple
        self.tpu = not asked.chip.has_domains
        remat = self.request.get("remat", "auto")
        self.rules = rules_of(self.launcher, self.model, remat) if not self.free or remat != "auto" else None
        self.offload = self.space["offload"].split(":")[0]
        self.offloads = self.offload in ("all", "activations")
        if self.rules and not self.offloads:
            self.rules = [rule for rule in self.rules if "offloaded" not in rule[0].values()]
        self.knobs = {**self.space["knobs"],
                      **asked.knobs(self.launcher, self.model, self.world(0, self.asked).profile, self.offload)}

    def world(self, number, sequences):
        if (number, sequences) not in self.worlds:
            entry = {**self.entry, "machine": self.space["machines"][number],
                     "batch": {"sequences": sequences, "seq": self.seq}}
            world = price.world_of(self.report, entry, self.program)
            world.limit = world.chip.hbm_bytes * (1 - world.reserve)
            world.rated_mesh = mesh_at_rates_of(world.profile, world.mesh)
            self.worlds[number, sequences] = world
        return self.worlds[number, sequences]

# ---- arithmetic ----

def may_divide(case, degrees, sequences):
    """Divisibility by arithmetic: whether degrees alone leave a plan whose sizes divide, or may be padded."""
    t, x, s, f, d, p = degrees
    if (s > 1 and s > case.seq / 2) or p > case.model.layers:
        return False
    if (t, x) not in case.parts:
        case.parts[t, x] = widths_divide(case, t, x)
    whole = case.parts[t, x]
    if whole is None or case.request["padding"] == "any":
        return whole is not None
    return whole and case.seq % (2 * s if s > 1 else 1) == 0 and sequences % (x * f * d) == 0

def widths_divide(case, t, x):
    """Heads, widths and experts of every layer; None: there are more ways than heads or experts."""
    folds = x == 1 and not case.tpu and any(kind.experts for kind in case.model.kinds)
    divides = True
    for kind in case.model.kinds:
        mixed = kind.experts > 0 and not folds
        if t > most_heads(case.model, kind) or (mixed and x > kind.experts):
            return None
        kv = [one for one in (kind.kv_heads, kind.cross_kv_heads) if one]
        if whole_heads(case.model, kind) % t or any(one % t and t % one for one in kv) or (kind.d_ff and kind.d_ff % t) or \
                (kind.experts and kind.d_ff_shared and kind.d_ff_shared % t) or \
                (mixed and (kind.experts % x or kind.d_ff_expert % t)):
            divides = False
    return divides

def pads_of(case, plan, shard, sequences):
    """What a plan pads; None: it cannot be."""
    model, a, seq = case.model, plan.axes, case.seq
    t, s, p = a["tensor"], a["sequence"], a["pipeline"]
    experts, width = (plan.grid.expert, plan.grid.expert_tensor) if plan.grid else (a["expert"], t)
    needs, heads = set(), 0
    for kind in model.kinds:
        if kind.experts and experts > kind.experts:
            return None
        whole = whole_heads(model, kind)
        kv = [one for one in (kind.kv_heads, kind.cross_kv_heads) if one]
        if whole:
            needs |= {"heads"} if whole % t or any(one % t and t % one for one in kv) else set()
            heads = math.gcd(heads, -(-whole // t))
        if (kind.d_ff and kind.d_ff % t) or (kind.experts and (
                kind.experts % experts or kind.d_ff_expert % width or (kind.d_ff_shared and kind.d_ff_shared % t))):
            needs.add("width")
    needs |= {"vocab"} if model.vocab % t else set()
    fullest, last = int(shard.layers), int(shard.last)
    if plan.stages == "slots":
        if fullest % plan.v or last < 1:
            return None
    elif plan.v > last:
        return None
    even = model.layers % (p * plan.v) == 0 and fullest == last
    if plan.stages == "even" and not even:
        return None
    needs |= set() if even else {"stages"}
    needs |= {"tokens"} if seq % (2 * s if s > 1 else 1) else set()
    if plan.ulysses > 1 and heads % plan.ulysses:
        needs.add("heads")
    if (plan.tensor_overlap or (plan.grid and t > 1)) and shard.seq / s % t:
        return None
    replicas = a["expert"] * a["fsdp"] * a["data"]
    if sequences % replicas or -(-sequences // replicas) % plan.b:
        needs.add("replicas")
    allowed = {"any": needs, "launchable": {"stages", "vocab"}}.get(case.request["padding"], set())
    return needs if needs <= allowed else None

def schedule_runs(plan):
    p, m = plan.axes["pipeline"], plan.m
    return {"circular": m % p == 0, "zb_h1": m >= p,
            "dualpipe": p % 2 == 0 and m % 2 == 0 and m // 2 >= p}.get(plan.schedule, True)

WORDS = {"zero": "zero_stage", "microbatch": "microbatch_sequences", "context": "context_method"}

def meets(case, plan):
    """--require: conditions on degrees and knobs, with commas; a condition of another kind is taken as met."""
    text = case.request.get("require") or ""
    if not text:
        return True
    have = dict(plan.axes) if not plan.m else dict(
        plan.axes, microbatches=plan.m, microbatch_sequences=plan.b, schedule=plan.schedule, virtual_stages=plan.v,
        zero_stage=plan.zero, context_method=plan.context, regather=str(plan.regather).lower(), stages=plan.stages,
        ulysses=plan.ulysses, tensor_overlap=str(plan.tensor_overlap).lower(),
        offload_optimizer=str(plan.offload_optimizer).lower())
    for word in text.replace(",", " ").split():
        for sign in ("<=", ">=", "="):
            name, found, value = word.partition(sign)
            name = WORDS.get(name, name)
            if not found:
                continue
            own = have.get(name)
            if own is not None and not (str(own) == value if sign == "=" else value.isdigit() and (
                    own <= int(value) if sign == "<=" else own >= int(value))):
                return False
            break
    return True

# ---- the least that a collective costs ----

def least_of_group(case, world, number, group, degree, op):
    """Widest groups: on each axis a factor at stride 1, or so far apart that it closes to a ring; the least latency and
    the least seconds per byte over all splits of the degree."""
    key = number, op, degree
    if key not in case.least:
        best = [math.inf] * 4
        axes = world.rated_mesh.axes

        def walk(at, left, spans):
            if at == len(axes):
                if left == 1:
                    (a, b), (c, d) = machine.collective_cost(op, world.rated_mesh, spans)
                    best[:] = [min(old, new) for old, new in zip(best, (a, b, c, d))]
                return
            size = axes[at].size
            for factor in range(1, min(size, left) + 1):
                if size % factor == 0 and left % factor == 0:
                    for stride in {1, size // factor} if factor > 1 else {1}:
                        walk(at + 1, left // factor, spans + [(factor, stride)])
        walk(0, degree, [])
        case.least[key] = ((best[0], best[1]), (best[2], best[3])) if best[0] < math.inf else ((0, 0), (0, 0))
    return case.least[key]

def least_rates(case, numbers, sequences, plan):
    """Each group on an axis of its own, at the least costs of any placement on any of the machines, inside the scale-up
    network."""
    a, u = plan.axes, max(1, plan.ulysses)
    key = (numbers, tuple(a.values()), plan.context, u, plan.sequence_replicates,
           (plan.grid.expert, plan.grid.expert_tensor) if plan.grid else None)
    if key in case.rated:
        return case.rated[key]
    rates = Record(cost={}, axes={}, far=dict.fromkeys(GROUPS, False), lane=set(), axis_count=len(GROUPS))
    for i, group in enumerate(GROUPS):
        degree = math.prod(a[role] for role in machine.roles_of_group(group, plan))
        degree = u if group == "ulysses" and degree > 1 else degree // u if group == "sequence" and u > 1 else degree
        if plan.grid:
            degree = {"expert_tensor": plan.grid.expert_tensor, "expert": plan.grid.expert,
                      "expert_weights": plan.grid.weights, "expert_data": plan.grid.data}.get(group, degree)
        of = [least_of_group(case, case.world(number, sequences), number, group, degree,
                             machine.collective_of_group(group, plan.context)) for number in numbers] if degree > 1 else \
            [((0, 0), (0, 0))]
        rates.cost[group] = tuple(tuple(min(cost[i][k] for cost in of) for k in (0, 1)) for i in (0, 1))
        rates.axes[group] = {i}
    case.rated[key] = rates
    return rates

# ---- what is odd ----

# What it costs in `plan_error`s, in the order of the table in docs/model.md, "What is odd" (tests/certificate/odd.py).
ODD = (1, 1, 1, 0.5, 0.5, 1, 1, 0.5)

def odd_times(case, world, plan):
    """What is odd: a share of plan_error for each of what hardly any run does, on GPUs alone."""
    a, model = plan.axes, case.model
    if case.tpu:
        return 1.0
    shards = a["fsdp"] > 1 or (a["sequence"] > 1 and not plan.sequence_replicates)
    mixture = any(kind.experts for kind in model.kinds)
    seldom = world.profile.shards_seldom > 0 and (shards or plan.zero == 2)
    p, power = a["pipeline"], lambda n: n & (n - 1) == 0
    odd = (seldom, seldom and mixture,
           mixture and shards and a["expert"] * max(1, plan.grid.expert if plan.grid else 1) == 1,
           a["sequence"] > 1 and case.seq // a["sequence"] < 8192, not power(plan.b),
           not power(p) and model.layers % p != 0, p >= 32, plan.v > 1 and model.layers <= p * plan.v)
    return 1 + world.profile.plan_error * sum(weight for weight, is_odd in zip(ODD, odd) if is_odd)

# ---- knob settings ----

def methods_of(case, axes):
    t, s, ranks = axes["tensor"], axes["sequence"], axes["tensor"] * axes["sequence"] * axes["fsdp"] * axes["data"]
    heads, experts = case.knobs["heads"], case.knobs["experts"]
    contexts = [("none", 1)] if s == 1 else [("ring", 1), ("all_gather", 1), ("ulysses", s)] + [
        ("ulysses_ring", u) for u in range(2, s) if heads % u == 0 and s % u == 0]
    grids = [None]
    if experts and axes["expert"] == 1 and not case.tpu:
        for e in range(1, min(experts, ranks) + 1):
            grids += [(e, w) for w in sorted({1, t}) if ranks % e == 0 and ranks // e % w == 0 and
                      not (e == 1 and w == t)]
    return [(context, u, replicates, grid) for context, u in contexts
            for replicates in ((False, True) if s > 1 else (False,)) for grid in grids]

def pipes_of(case, p):
    """(schedule, chunks, split) of a pipeline."""
    layers = case.model.layers
    if p == 1:
        return [("none", 1, "even")]
    own, slots = max(1, layers // p), (layers + 2) // p if p > 2 and (layers + 2) % p == 0 else 0
    chunks = quotients(own)[1:] + ([slots] if slots > own else [])
    splits = ["even", "balanced"] + (["slots"] if slots > own else [])
    every = [(name, 1) for name in case.knobs["schedules"] if name not in ("interleaved", "circular")]
    every += [(name, v) for name in case.knobs["schedules"] if name in ("interleaved", "circular") for v in chunks]
    return [(name, v, split) for split in splits for name, v in every]

def plan_with(axes, method, b, m, pipe, zero=0, regather=True, overlap=False, host=False):
    context, u, replicates, grid = method
    plan = Record(axes=axes, m=m, b=b, schedule=pipe[0], v=pipe[1], stages=pipe[2], zero=zero, context=context,
                  regather=regather, ulysses=u, sequence_replicates=replicates, tensor_overlap=overlap,
                  offload_optimizer=host, grid=None)
    if grid:
        sharded = axes["fsdp"] > 1 or (axes["sequence"] > 1 and not replicates)
        inner = axes["tensor"] * axes["sequence"] * axes["fsdp"]
        if (inner if sharded else inner * axes["data"]) % (grid[0] * grid[1]):
            return None
        plan.grid = grid_of_ranks(plan, *grid)
    return plan

def layouts_of(case, world, plan, shard):
    """Shardings of the stream, and of what a free layout may choose besides."""
    t = plan.axes["tensor"]
    divides = t > 1 and shard.seq / plan.axes["sequence"] % t == 0
    always = plan.tensor_overlap or (plan.grid and t > 1) or (divides and world.profile.stream_split > 0.5)
    copies = any(0 < kind.kv_heads < t for kind in case.model.kinds)
    for along in ([True] if divides else []) + ([False] if t == 1 or not always else []):
        plain = dict(along=along, mlp_gathered=False, kv_copied=copies, kv_gathered=False, embedding_columns=False,
                     logits_columns=False, states={})
        if case.rules is not None or t == 1:
            yield Record(**plain)
            continue
        dense = any(kind.d_ff or kind.d_ff_shared for kind in case.model.kinds)
        for mlp in (False, True) if along and dense else (False,):
            for kv in (False, True) if copies else (False,):
                for embedding, logits in itertools.product((False, True), repeat=2):
                    yield Record(**{**plain, "mlp_gathered": mlp, "kv_gathered": kv, "kv_copied": copies and not kv,
                                    "embedding_columns": embedding, "logits_columns": logits})

def shard_of(case, world, plan):
    """The part of a chip, which most settings of a tuple share."""
    key = (world.work.sequences, *plan.axes.values(), plan.b, plan.m, plan.ulysses, plan.sequence_replicates, plan.stages,
           (plan.grid.expert, plan.grid.expert_tensor) if plan.grid else None)
    if case.shards.get("of") != key[:7]:  # those of one tuple are kept
        case.shards = {"of": key[:7]}
    if key not in case.shards:
        case.shards[key] = stage.shard_of_plan(case.model, world.work, plan)
    return case.shards[key]

class Setting:
    """One plan but for its placement: sums over ops once, then seconds and memory."""

    def __init__(self, case, world, plan, layout):
        self.case, self.world, self.plan, self.layout = case, world, plan, layout
        self.shard = shard_of(case, world, plan)
        key = (world.work.sequences, plan.axes["tensor"], plan.axes["expert"], plan.axes["sequence"], plan.b, plan.context,
               plan.ulysses, plan.sequence_replicates, plan.tensor_overlap,
               (plan.grid.expert, plan.grid.expert_tensor) if plan.grid else None,
               self.shard.ways > 1, self.shard.expert_ways > 1, *(vars(layout)[k] for k in sorted(vars(layout))
                                                                  if k != "states"))
        if key not in case.sums:
            case.sums[key] = stage.stage_sums(world, self.shard, plan, layout)
        self.key, self.sums = key, case.sums[key]
        self.copied = self.sums
        if layout.kv_gathered:
            self.copied = stage.stage_sums(world, self.shard, plan,
                                           Record(**{**vars(layout), "kv_gathered": False, "kv_copied": True}))
        self.parts, self.rows, self.offloads, self.host = None, 0, case.offloads, None

    def costs(self):
        if self.key not in self.case.costs:
            self.case.costs[self.key] = stage.activations_of_layer(self.world, self.shard, self.plan, self.layout)
        return self.case.costs[self.key]

    def stages(self):
        """(rule, resources, pace) of the longer stage by FLOPs first, everything saved."""
        if self.parts is None:
            world, shard = self.world, self.shard
            last = shard.p > 1 and step.stage_is_longer_last(world, shard)
            self.parts = []
            for which in [last, not last] if shard.p > 1 else [False]:
                pace = stage.pace_of_stage(world, shard, which)
                self.parts.append((step.rule_of_stage(world, shard, self.plan, self.copied, pace),
                                   stage.resources_of_stage(world, shard, self.plan, self.layout, self.sums, pace)))
        return self.parts

    def seconds(self, rates, states=None):
        """The formula at these rates: everything saved, or in these states."""
        self.world.rates, longest = rates, 0.0
        for rule, resources in self.stages():
            rule.x = step.exposed_shares(self.world, self.shard, self.plan)
            if states:
                resources = Record(compute=list(resources.compute), attention=resources.attention,
                                   offload=resources.offload,
                                   traffic={g: [list(one) for one in phases]
                                            for g, phases in resources.traffic.items()})
                stage.add_layout(self.costs(), Record(states=states), resources)
            longest = max(longest, step.step_of_stage(self.world, self.shard, self.plan, rule, resources).seconds)
        return longest

    def offloadable(self):
        """Recomputation and offload: what goes to the host whole, in all layers, as long as it has room after the
        optimizer: what cannot be recomputed first, then the dearest to recompute for each byte, as if the stream lay
        whole on every rank."""
        if self.host is None:
            world, shard, plan = self.world, self.shard, self.plan
            whole = next((one for one in layouts_of(self.case, world, plan, shard) if not one.along), None) or \
                next(layouts_of(self.case, world, plan, shard))
            costs = Setting(self.case, world, plan, whole).costs()
            room = world.chip.host_bytes * world.profile.host_memory_share
            if plan.offload_optimizer:
                owned = stage.owned_of(shard, plan, stage.parameters_of_stage(world, shard, plan, self.sums, False,
                                                                              bool(world.tuning)))
                every, kept = stage.state_bytes(world, owned), stage.host_state(world, plan, owned)
                beside = 1 + world.gradient_bytes(True) * sum(owned.values()) / every if world.updates_on_cpu and every \
                    else 1
                room -= kept * beside
            read = 1 / max(1.0, shard.layers) if world.profile.whole_program > 0.5 else 0.0
            flight, self.host = stage.in_flight(world, shard, plan)["first backward"] + read, set()
            fixed = self.case.rules if self.case.request.get("remat", "auto") != "auto" else None
            for name in sorted(costs, key=lambda one: (one != "layer_input",
                                                       -costs[one].seconds / (costs[one].bytes or math.inf))):
                size = flight * shard.layers * costs[name].bytes
                if fixed and fixed[0][0][name] != "offloaded":
                    continue
                if shard.t > 1 and name in ("attention_input", "mlp_input") or not costs[name].exists:
                    continue
                if size <= room:
                    self.host.add(name)
                    room -= size
        return self.host

    def states(self, rule):
        """How many layers of the fullest stage each activation is in which state; None: the rule cannot be met."""
        state, some = rule
        layers = int(self.shard.layers)
        inside = min(some, layers) if some else layers
        if some and inside < layers and inside % max(1, self.plan.v):
            return None
        made = {}
        for name in ACTIVATIONS:
            made[name] = {"saved": layers}
            if state[name] == "offloaded" and self.costs()[name].exists and name not in self.offloadable():
                return None
            if state[name] != "saved" and self.costs()[name].exists:
                made[name] = {"saved": layers - inside, state[name]: inside}
        return made

    def fits(self, states):
        """State that must be held: the rows of every moment, with what stays of activations; None: the least of it."""
        world, shard, plan = self.world, self.shard, self.plan
        if self.rows == 0:
            weights = stage.in_flight(world, shard, plan)
            self.rows = []
            for moment in stage.MOMENTS:
                if moment != "last backward" or shard.p > 1:
                    rows = stage.memory_rows(world, shard, plan, self.layout, self.sums, moment, 0.0)
                    self.rows.append((sum(rows.values()), weights[moment]))
        kept = stage.kept_bytes(self.costs(), Record(states=states)) if states else 0.0
        return all(rest + weight * kept <= world.limit * (1 + 1e-12) for rest, weight in self.rows)

    def choices(self):
        """What a free layout may choose for a layer beside keeping it: (activation, state, bytes that it frees)."""
        found = []
        for name, cost in self.costs().items():
            if cost.bytes > 0 and cost.exists:
                if name != "layer_input":
                    found.append((name, "recomputed", cost.bytes))
                if self.offloads and name in self.offloadable():
                    found.append((name, "offloaded", cost.bytes))
        return found

    def prices(self, rates, weights):
        """Of the least seconds that freeing memory costs, whatever the counts of layers: (constant, seconds of a layer of
        each choice) for each weight w in [0, 1], as main >= (1 - w) series + w host; recomputation without its
        collectives."""
        world, lines = self.world, [(self.seconds(rates), [0.0] * len(self.choices()))]
        for rule, resources in self.stages():
            times, idle = self.shard.m, self.shard.m + rule.idle[1]
            compute = sum(resources.compute) + sum(resources.attention)
            fixed = sum(i * (resources.compute[k] + resources.attention[k]) for k, i in enumerate(rule.idle))
            fixed += rule.optimizer + rule.other - rule.saved
            series = times * compute
            for group in resources.traffic:
                t = step.group_seconds(world, rule, resources, group)
                own = [step.exposed_of(rule, group, t[k], resources.attention[k]) for k in (0, 1)] \
                    if group in machine.CRITICAL else [rule.x[group] * one for one in t]
                series += times * sum(own)
            for w in weights:
                price = []
                for name, state, size in self.choices():
                    host = times * 2 * size / rule.offload_rate if state == "offloaded" else 0.0
                    price.append((1 - w) * idle * self.costs()[name].seconds if state == "recomputed" else
                                 w * host + (1 - w) * world.profile.host_exposed * host)
                lines.append(((1 - w) * series + fixed, price))
        return lines

    def missing(self):
        """Bytes of one microbatch that have to be freed of the layers, by the moment that lacks most."""
        layers = int(self.shard.layers)
        everything = stage.kept_bytes(self.costs(), Record(states={name: {"saved": layers} for name in ACTIVATIONS}))
        self.fits(None)
        lacks = [((rest + weight * everything - self.world.limit * (1 + 1e-12)), weight) for rest, weight in self.rows]
        return max(math.inf if weight <= 0 and lack > 0 else lack / weight if weight > 0 else -math.inf
                   for lack, weight in lacks)

    def played(self, rates, states):
        """The longer of the formula and of the pipeline played pass by pass."""
        seconds = self.seconds(rates, states)
        if self.shard.p <= 1:
            return seconds
        layout = Record(**{**vars(self.layout), "states": states})
        played = step.played_seconds(self.world, self.shard, self.plan, layout, self.sums, self.costs())
        return played if played > seconds * 1.01 else seconds

def rates_of(case, world, number, plan, listed):
    """Each placement's rates, once for all settings of one method."""
    key = ("at", number, tuple(plan.axes.values()), plan.context, plan.ulysses, plan.sequence_replicates,
           (plan.grid.expert, plan.grid.expert_tensor) if plan.grid else None)
    if key not in case.rated:
        case.rated[key] = [machine.rates_of_placement(world.rated_mesh, placement, plan) for placement in listed]
    return case.rated[key]

class Tuple:
    """One degree tuple and batch on machines of as many devices, which differ in where roles can lie."""

    def __init__(self, case, numbers, degrees, sequences, limit, exact=True):
        """`limit`: ranked seconds up to which plans are looked for; not `exact`: one is enough."""
        self.exact, self.steps = exact, 0
        self.case, self.numbers, self.degrees, self.sequences = case, tuple(numbers), degrees, sequences
        self.world = case.world(self.numbers[0], sequences)
        self.axes = dict(zip(ROLES, degrees))
        # seconds as ranked, and what is odd of any plan
        self.limit, self.scale = limit, case.asked / sequences
        self.replicas = self.axes["expert"] * self.axes["fsdp"] * self.axes["data"]
        self.per_replica = -(-sequences // self.replicas)
        self.tried, self.found, self.open = 0, math.inf, 0
        self.listed = {}

    def verdict(self):
        """("require" | "indivisible" | "bound" | "memory" | "opened" | "believed", the best seconds found)."""
        case, axes = self.case, self.axes
        if case.request.get("require") and not meets(case, Record(axes=axes)):
            return "require"
        if not may_divide(case, self.degrees, self.sequences):
            return "indivisible"
        if (case.launcher in NCCL and case.tpu) or not takes_degrees(case.launcher, case.model, case.seq,
                                                                       axes):
            return "require"
        self.reasons = set()
        try:
            for method in methods_of(case, axes):
                for overlap in (False, True) if case.knobs["tensor_overlap"] and axes["tensor"] > 1 else (False,):
                    self.of_method(method, overlap)
        except StopIteration:
            pass
        if self.open and (self.exact or self.found == math.inf):
            return "believed"
        if self.found < math.inf:
            return "opened"
        for reason in ("bound", "memory", "require"):
            if reason in self.reasons:
                return reason
        return "indivisible"

    def spend(self):
        """Work is bounded: a tuple of too many settings is left to the program, and counted."""
        self.steps += 1
        if self.steps > self.case.most:
            self.open += 1
            raise StopIteration

    def of_method(self, method, overlap):
        case, p = self.case, self.axes["pipeline"]
        pipes = pipes_of(case, p)
        for b in reversed(quotients(self.per_replica)):
            m = -(-self.per_replica // b)
            first = len(pipes) > 6 and self.limit < math.inf  # what is too slow however it is cut need not be admitted
            for split in {pipe[2] for pipe in pipes}:
                mine = [pipe for pipe in pipes if pipe[2] == split]
                if not first:
                    mine = [pipe for pipe in mine if self.may_be(method, b, m, pipe, overlap)]
                if not mine or plan_with(self.axes, method, b, m, mine[0]) is None:
                    continue
                if self.quick(method, b, m, mine, overlap):
                    self.reasons.add("bound")
                    continue
                for pipe in mine:
                    if not first or self.may_be(method, b, m, pipe, overlap):
                        self.of_pipe(method, b, m, pipe, overlap)

    def may_be(self, method, b, m, pipe, overlap):
        """Whether a launcher takes some setting of these: the plainest, or with state shared or weights kept."""
        for zero, regather in ((0, True), (1, True), (0, False)):
            plan = plan_with(self.axes, method, b, m, pipe, zero, regather, overlap)
            if plan is None:
                return False
            if self.admitted(plan):
                return True
        return False

    def admitted(self, plan):
        if not schedule_runs(plan) or not meets(self.case, plan) or not taken(self.case, self.world.work, plan, set()):
            self.reasons.add("require")
            return False
        shard = shard_of(self.case, self.world, plan)
        pads = pads_of(self.case, plan, shard, self.sequences)
        if pads is None:
            self.reasons.add("indivisible")
            return False
        if not taken(self.case, self.world.work, plan, pads):
            self.reasons.add("require")
            return False
        return True

    def quick(self, method, b, m, pipes, overlap):
        """FLOPs and bytes that every setting has: passes without idle time, weights kept, no update."""
        self.spend()
        if self.limit == math.inf:
            return False
        plan = plan_with(self.axes, method, b, m, pipes[0], 0, False, overlap)
        rates = least_rates(self.case, self.numbers, self.sequences, plan)
        shard = shard_of(self.case, self.world, plan)
        return all(self.quick_of(plan, layout, rates) * self.scale * SURE > self.limit
                   for layout in layouts_of(self.case, self.world, plan, shard))

    def quick_of(self, plan, layout, rates):
        world, setting = self.world, Setting(self.case, self.world, plan, layout)
        world.rates = rates
        shard, longest, x = setting.shard, 0.0, step.exposed_shares(world, setting.shard, plan)
        for which in (False, True) if shard.p > 1 else (False,):
            pace = stage.pace_of_stage(world, shard, which)
            resources = stage.resources_of_stage(world, shard, plan, layout, setting.sums, pace)
            seconds = sum(resources.compute) + sum(resources.attention)
            for group in ("tensor", "expert_tensor", "expert", "weights", "expert_weights"):
                for phase in (0, 1):
                    seconds += x[group] * machine.collective_seconds(rates.cost[group],
                                                                     *resources.traffic[group][phase])
            longest = max(longest, plan.m * seconds)
        return longest

    def of_pipe(self, method, b, m, pipe, overlap):
        case, axes = self.case, self.axes
        shares = axes["data"] > 1 or (method[2] and axes["sequence"] > 1) or method[3]
        gathers = axes["expert"] * axes["sequence"] * axes["fsdp"] > 1 or method[3]
        hosts = (False, True) if case.knobs["optimizer_offload"] else (False,)
        for zero in (0, 1, 2) if shares else (0,):
            for regather in (True, False) if gathers else (True,):
                for host in hosts:
                    plan = plan_with(axes, method, b, m, pipe, zero, regather, overlap, host)
                    if self.admitted(plan):
                        self.of_plan(plan)

    def of_plan(self, plan):
        case, world, limit = self.case, self.world, self.limit
        shard = shard_of(case, world, plan)
        times = odd_times(case, world, plan) * self.scale * SURE
        least = least_rates(case, self.numbers, self.sequences, plan)
        for layout in layouts_of(case, world, plan, shard):
            setting = Setting(case, world, plan, layout)
            self.tried += 1
            self.spend()
            if setting.seconds(least) * times > limit:
                self.reasons.add("bound")
                continue
            if not setting.fits(None):
                self.reasons.add("memory")
                continue
            at = [rates for number in self.numbers for rates in rates_of(
                case, case.world(number, self.sequences), number, plan, self.placements(number))]
            near = [rates for rates in at if setting.seconds(rates) * times <= limit]
            if not near:
                self.reasons.add("bound")
                continue
            self.of_layouts(setting, near, times)

    def placements(self, number):
        if number not in self.listed:
            self.listed[number] = list(placements_of(
                self.case.launcher, self.case.world(number, self.sequences).mesh, self.axes, self.case.nesting,
                self.world.chip.name))
        return self.listed[number]

    def of_layouts(self, setting, near, times):
        """What the launcher can be told to recompute; where everything fits as it is, that is the fastest."""
        case = self.case
        everything = {name: {"saved": int(setting.shard.layers)} for name in ACTIVATIONS}
        if case.rules is None:
            if setting.fits(everything):
                self.reached(setting, near, everything, times)
            else:
                self.reasons.add("memory")
                for rates in near:
                    FreeLayout(self, setting, self.at(rates), times).search()
            return
        self.reasons.add("memory")
        # of whole layers recomputed, the fewest that fit are the fastest (L4)
        first = setting.shard.layers if len(case.rules) > 1 else math.inf
        for rule in case.rules:
            states = setting.states(rule) if rule[1] <= first else None
            if states is not None and setting.fits(states):
                first = min(first, rule[1] - 1) if rule[1] else first
                self.reasons.add("bound")
                self.reached(setting, near, states, times)

    def at(self, rates):
        self.world.rates = rates
        return rates

    def reached(self, setting, near, states, times):
        for rates in near:
            if setting.seconds(rates, states) * times > self.limit:
                continue
            seconds = setting.played(rates, states) * times / SURE
            if seconds * SURE <= self.limit and seconds < self.found:
                self.found = seconds
                if not self.exact:
                    raise StopIteration

class FreeLayout:
    """The best counts of layers of a setting on one placement, activation by activation: a branch is left where the least
    that its choices and the freeing of what is still missing cost is above the limit, fractions of layers allowed."""

    def __init__(self, tuple_, setting, rates, times):
        self.tuple, self.setting, self.rates, self.times = tuple_, setting, rates, times
        self.choices, self.layers = setting.choices(), int(setting.shard.layers)
        self.names = list(dict.fromkeys(name for name, _, _ in sorted(
            self.choices, key=lambda one: -one[2])))  # the largest first: what is small settles the rest
        self.own = {name: [i for i, one in enumerate(self.choices) if one[0] == name] for name in self.names}
        self.place = [self.names.index(one[0]) for one in self.choices]
        low, high = 0.0, 1.0
        while high - low > 1e-3 and setting.offloads:  # the bound is concave in w
            one, other = low + (high - low) / 3, high - (high - low) / 3
            low, high = (one, high) if self.at_weights((one,)) < self.at_weights((other,)) else (low, other)
        self.at_weights((0.0, 1.0, *(max(0.0, min(1.0, low + step)) for step in (-0.02, -0.003, 0.0, 0.003, 0.02)))
                        if setting.offloads else (0.0,))

    def at_weights(self, weights):
        self.lines = self.setting.prices(self.rates, weights)
        self.by_price = [sorted(range(len(self.choices)), key=lambda i, price=price: price[i] / self.choices[i][2])
                         for _, price in self.lines]
        return self.least([0.0] * len(self.lines), self.setting.missing(), 0)

    def least(self, paid, missing, level):
        """Seconds of a line's constant, what was chosen and the cheapest of what is left to choose."""
        longest = 0.0
        for (constant, price), order, own in zip(self.lines, self.by_price, paid):
            seconds, lack = constant + own, missing
            for i in order:
                if lack <= 0:
                    break
                if self.place[i] >= level:
                    part = min(self.layers, lack / self.choices[i][2])
                    lack -= part * self.choices[i][2]
                    seconds += part * price[i]
            if lack > 1e-9 * missing:
                return math.inf
            longest = max(longest, seconds)
        return longest

    def search(self):
        self.branch(0, [0.0] * len(self.lines), self.setting.missing(), {})

    def within(self, seconds):
        return seconds * self.times <= min(self.tuple.limit, self.tuple.found)

    def branch(self, level, paid, missing, counts):
        self.tuple.spend()
        if not self.within(self.least(paid, missing, level)):
            self.tuple.reasons.add("bound")
            return
        if missing <= 0 or level == len(self.names):
            states = {name: {"saved": self.layers} for name in ACTIVATIONS}
            for i, layers in counts.items():
                name, state, _ = self.choices[i]
                states[name] = {**states[name], "saved": states[name]["saved"] - layers, state: layers}
            if self.setting.fits(states):
                self.tuple.reached(self.setting, [self.rates], states, self.times)
            return
        own = self.own[self.names[level]]
        size = self.choices[own[0]][2]
        most = min(self.layers, math.ceil(max(0.0, missing) / size - 1e-12))
        for layers in range(most, -1, -1):
            for first in range(layers, -1, -1) if len(own) > 1 else (layers,):
                some = {i: n for i, n in zip(own, (first, layers - first)) if n}
                self.branch(level + 1, [old + sum(price[i] * n for i, n in some.items())
                                        for old, (_, price) in zip(paid, self.lines)],
                            missing - layers * size, {**counts, **some})
