# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage of a plan on one chip: what it computes, sends and holds, per microbatch and per step."""
from math import ceil, floor, inf, log2

from data import ACTIVATIONS, Record
from machine import CRITICAL, BACKGROUND
from model import blocks_share, layer_flops, mixture_share
from ops import (BACKWARD, FORWARD, LOW_BYTES, op_seconds, ops_of_embedding, ops_of_layer, ops_of_logits, saved_bytes,
                 width_of_chip)

MOVING = CRITICAL + BACKGROUND
PHASES = (FORWARD, BACKWARD)
NOT_REPEATED = ("weights", "expert_weights", "tensor_weights")

# ---- the part of a model that one chip has ----

def fullest_and_last(model, split, stages, logits_in_layers):
    """Pipelines: layers of the fullest stage and of the last: EVEN, BALANCED or SLOTS."""
    L, p = model.layers, stages
    if p == 1 or split == "even":
        return L // p, L // p
    if split == "slots":
        return (L + 2) // p, (L + 2) // p - 1
    meet, best = floor(L / p - (p - 1) / p * logits_in_layers), None
    for at in range(meet, meet + 3):
        last = min(L // p, max(1, at))
        others = -(-(L - last) // (p - 1))
        longest = max(others, last + logits_in_layers)
        if best is None or longest < best[0]:
            best = longest, others, last
    return best[1], best[2]

def shard_of_plan(model, work, plan):
    """Padding: degrees, tokens and widths of one chip, each size rounded up where it does not divide."""
    a, experts = plan.axes, plan.grid or Record(expert=plan.axes["expert"], expert_tensor=plan.axes["tensor"])
    s = a["sequence"]
    pieces = 2 * s if s > 1 else 1
    seq = ceil(work.seq / pieces) * pieces
    shard = Record(t=a["tensor"], x=a["expert"], s=s, f=a["fsdp"], d=a["data"], p=a["pipeline"], b=plan.b, m=plan.m,
                   seq=float(seq), tokens=plan.b * float(seq) / s, ulysses=plan.ulysses,
                   replicates=plan.sequence_replicates, vocab=width_of_chip(model.vocab, a["tensor"]))
    for kind in model.kinds:
        if kind.experts:
            shard.experts = width_of_chip(kind.experts, experts.expert)
            shard.d_ff_expert = width_of_chip(kind.d_ff_expert, experts.expert_tensor)
            shard.d_ff_shared = width_of_chip(kind.d_ff_shared, a["tensor"]) if kind.d_ff_shared else shard.d_ff_shared
    shard.layer_flops, shard.active = layer_flops(model, work.seq)
    logits = 2.0 * model.vocab * model.d_model / (shard.layer_flops * work.layer_weight)
    fullest, last = fullest_and_last(model, plan.stages, a["pipeline"], logits)
    shard.layers, shard.last = float(fullest), float(last)
    shard.slots = 1 if plan.stages == "slots" and a["pipeline"] > 1 else 0
    sharding = 1 if plan.sequence_replicates else s
    shard.ways, shard.expert_ways = shard.x * sharding * shard.f, sharding * shard.f
    shard.copies = shard.expert_copies = shard.d * (s if plan.sequence_replicates else 1)
    if plan.grid:
        shard.expert_ways, shard.expert_copies = plan.grid.weights, plan.grid.data
    return shard

def layer_weight(world):
    """Pipelines: w, seconds of a FLOP of a layer over those of a FLOP of the logits, of one sequence on one chip."""
    model, work = world.model, world.work
    plain = Record(axes=dict.fromkeys(("tensor", "expert", "sequence", "fsdp", "data", "pipeline"), 1), b=1, m=1,
                   ulysses=1, grid=None, stages="even", context="none", regather=True)
    shard = shard_of_plan(model, Record(seq=work.seq, layer_weight=1.0), plain)
    for kind in model.kinds:
        if kind.experts:
            shard.experts = min(shard.experts, float(kind.top_k))
    sums = stage_sums(world, shard, plain, Record())
    layer = max(part_seconds(sums.layer), blocks_share(model) * world.profile.host_layer_seconds)
    layer = (layer + fixed_layer_seconds(world)) / shard.layer_flops
    return layer * 2.0 * model.vocab * model.d_model / part_seconds(sums.logits)

def part_seconds(part):
    return sum(part.compute) + sum(part.attention)

def fixed_layer_seconds(world):
    """Overlap and the step: `each` of the overheads, layer_seconds + u expert_layer_seconds."""
    return blocks_share(world.model) * world.profile.layer_seconds + \
        mixture_share(world.model) * world.profile.expert_layer_seconds

def stage_load(world, shard, layers, logits):
    """Pipelines: FLOPs of a stage, of which a layer's count w times."""
    head = 2.0 * world.model.vocab * world.model.d_model if logits else 0.0
    return layers * shard.layer_flops * world.work.layer_weight + head

def pace_of_stage(world, shard, last):
    """Pipelines: the stage as which the step is priced, with what all others take over what it does."""
    if shard.p <= 1:
        return Record(layers=shard.layers, others=0.0, embedding=True, logits=True)
    layers = shard.last if last else shard.layers
    own, every = stage_load(world, shard, layers, last), stage_load(world, shard, world.model.layers, True)
    return Record(layers=layers, others=max(0.0, (every - own) / own), embedding=not last, logits=last)

def layers_of_stage(model, shard, stage):
    """Pipelines: layers of a stage as launchers deal them; what is left over goes to the stages behind."""
    p, last = int(shard.p), int(shard.last)
    if p <= 1:
        return int(shard.layers)
    if stage >= p - 1:
        return last
    if shard.slots:
        return int(shard.layers) - (1 if stage == 0 else 0)
    rest = model.layers - last
    return rest // (p - 1) + (1 if p - 1 - stage <= rest % (p - 1) else 0)

def layers_of_chunk(model, shard, v, stage, chunk):
    """The played step: layers of a chunk; the first chunks have what is left over."""
    if shard.slots:
        fewer = (stage == 0 and chunk == 0) or (stage == shard.p - 1 and chunk == v - 1)
        return int(shard.layers) // v - (1 if fewer else 0)
    layers = layers_of_stage(model, shard, stage)
    return layers // v + (1 if chunk < layers % v else 0)

# ---- sums over the ops ----

class Sums:
    """The ops of a layer, forward and backward: the ops of a part added up."""

    def __init__(self):
        self.compute, self.attention = [0.0, 0.0], [0.0, 0.0]
        self.kinds = {"matmul": 0.0, "attention": 0.0, "elementwise": 0.0}  # seconds of both phases
        self.traffic = {group: [[0.0, 0.0], [0.0, 0.0]] for group in MOVING}
        self.weights, self.trained = {"dense": 0.0, "experts": 0.0}, {"dense": 0.0, "experts": 0.0}
        self.gathered = self.gathered_trained = self.largest = 0.0
        self.stored_apart = self.largest_stored = self.adapters = 0.0
        self.saved = dict.fromkeys(ACTIVATIONS, 0.0)

    def add(self, world, shard, op, times):
        forwards, state = world.forwards, world.state
        for phase in PHASES:
            often = times * (forwards if phase == FORWARD else 1)
            seconds = often * op_seconds(op, phase, world.chip, world.profile)
            (self.attention if op.kind == "attention" else self.compute)[phase] += seconds
            term = {"matmul": "matmul", "grouped": "matmul", "attention": "attention", "scan": "attention"}
            self.kinds[term.get(op.kind, "elementwise")] += seconds
            for group in op.traffic:
                messages, size = op.traffic[group][phase]
                if group == "tensor_weights":
                    scattered = world.scatter_bytes if phase == BACKWARD else state.copy
                    size *= (state.copy + scattered) / 4
                self.traffic[group][phase][0] += often * messages
                self.traffic[group][phase][1] += often * size
        part, trained = "experts" if op.expert else "dense", op.weights - op.frozen
        self.weights[part] += times * op.weights
        self.trained[part] += times * trained
        over_tensor = op.sent("tensor_weights", FORWARD)[0] > 0
        fetched = (shard.expert_ways if op.expert else shard.ways) > 1 or bool(world.tuning and world.tuning.on_host)
        gathered = op.weights * shard.t if over_tensor else op.weights if fetched else 0.0
        self.gathered += times * gathered
        self.gathered_trained += times * (gathered * trained / op.weights if op.frozen else gathered)
        self.adapters += times * trained if op.adapter else 0.0
        if op.kind in ("matmul", "grouped") and op.frozen and world.tuning.stored_bytes:
            self.stored_apart += times * op.frozen
            self.largest_stored = max(self.largest_stored, op.frozen / op.groups / (2 if op.pair else 1))
        self.largest = max(self.largest, gathered)
        if op.output:
            self.saved[op.output] += times * saved_bytes(op, world.profile)

def stage_sums(world, shard, plan, layout):
    """The ops of a layer, forward and backward: the mean layer of the model, the embedding and the logits."""
    model, software = world.model, world.software
    sums = Record(layer=Sums(), embedding=Sums(), logits=Sums())
    for kind in model.kinds:
        for op in ops_of_layer(model, kind, shard, layout, plan, software):
            sums.layer.add(world, shard, op, kind.count / model.layers)
    own = shard.tokens / shard.t if layout.along else shard.tokens
    sums.layer.saved["layer_input"] = 2 * own * model.d_model
    for op in ops_of_embedding(model, shard, layout, plan, software):
        sums.embedding.add(world, shard, op, 1)
    for op in ops_of_logits(model, shard, layout, plan, software):
        sums.logits.add(world, shard, op, 1)
    return sums

# ---- FSDP ----

def spans_slice(world, shard, ways):
    """FSDP, ZeRO and gradients: whether a group is the whole slice."""
    chips = shard.t * shard.x * shard.s * shard.f * shard.d * shard.p
    return ways > 1 and ways * max(1, world.slices) >= chips

def goes_round(world, shard, ways):
    """FSDP, ZeRO and gradients: whether matmuls of such weights are rings: 4 to ring_ways chips, one slice."""
    return 4 <= ways <= world.profile.ring_ways and world.slices <= 1 and spans_slice(world, shard, ways)

def loop_turns(world, shard, plan, table):
    """FSDP, ZeRO and gradients: how often a compiled loop over a pipeline touches weights, in microbatches."""
    if world.profile.whole_program <= 0.5 or shard.p <= 1:
        return 1.0
    if table:
        return 1 / shard.m
    if plan.schedule not in ("gpipe", "circular"):
        return 1.0
    return 1 + (shard.p - 1) / (shard.m * float(plan.v))

def stays_whole(world, shard):
    return world.profile.stages_stay_whole > 0.5 and shard.p > 1

def add_gathers(world, shard, plan, to, what, messages, weights, trained, again):
    """FSDP, ZeRO and gradients: gathers of a microbatch, and the scatter of the gradient."""
    ways = shard.expert_ways if what == "experts" else shard.ways
    rings = goes_round(world, shard, ways) and what in ("layers", "logits")
    around = (ways + 1) / (ways - 1)
    whole = world.profile.slice_all_reduce > 0.5 and spans_slice(world, shard, ways)
    gather_passes = around if rings and what == "layers" else 1.0
    scatter_passes = around if rings else 2.0 if whole else 1.0
    width = world.stored_bytes if what in ("layers", "experts") else world.state.copy
    turns = loop_turns(world, shard, plan, what in ("logits", "embedding"))
    once = 1 / shard.m if stays_whole(world, shard) else turns
    gathers = gather_passes * (turns if plan.regather else once)
    repeats, scatters = gather_passes * turns * again, scatter_passes * once
    if trained <= 0:
        scatters = 0.0
    share = trained / weights if weights > 0 else 1.0
    group = to["expert_weights" if what == "experts" else "weights"]
    group[FORWARD][0] += world.forwards * gathers * messages
    group[FORWARD][1] += world.forwards * gathers * width * weights
    group[BACKWARD][0] += (repeats + scatters) * messages
    group[BACKWARD][1] += (repeats * width + scatters * world.scatter_bytes * share) * weights

def logits_of_own_tokens(world, shard):
    """FSDP, ZeRO and gradients: each chip of tensor has the logits of its own tokens over the whole vocabulary."""
    return world.profile.whole_program > 0.5 and world.profile.stream_split > 0.5 and shard.t > 1

def beside_table(world, shard, logits):
    """Memory rows and moments: what a tied model's logits have besides the embedding's table: the last norm."""
    table, every = shard.vocab * world.model.d_model, logits["dense"]
    return every - table if every >= table else every

def add_tables(world, shard, plan, pace, sums, to):
    """FSDP, ZeRO and gradients: the tables of a stage; look-ups are exchanged where the software does so."""
    profile, stream = world.profile, 2 * shard.tokens * world.model.d_model
    exchanged = profile.embedding_exchanged > 0.5 and shard.t <= 1 and shard.s <= 1
    again = 1 if plan.regather and not profile.gathers_matrices > 0.5 else 0
    once = world.model.tied and pace.embedding and pace.logits and not exchanged
    beside, beside_trained = (beside_table(world, shard, of) if once else 0.0
                              for of in (sums.logits.weights, sums.logits.trained))
    if pace.embedding and exchanged:
        for phase in PHASES:
            to["weights"][phase][0] += 1
            to["weights"][phase][1] += stream
    elif pace.embedding:
        add_gathers(world, shard, plan, to, "embedding", 1, sums.embedding.weights["dense"] + beside,
                    sums.embedding.trained["dense"] + beside_trained, again)
    if profile.logit_chunks > 1:
        again += 1
    if not pace.logits or once:
        return
    if logits_of_own_tokens(world, shard):  # the whole table, over fsdp and tensor
        weights = loop_turns(world, shard, plan, True) * sums.logits.weights["dense"] * shard.t
        to["weights"][FORWARD][0] += 1
        to["weights"][FORWARD][1] += world.state.copy * weights
        to["weights"][BACKWARD][0] += 2
        to["weights"][BACKWARD][1] += 2 * world.scatter_bytes * weights
    else:
        add_gathers(world, shard, plan, to, "logits", 1, sums.logits.weights["dense"], sums.logits.trained["dense"],
                    again)

def add_orthogonal(world, shard, to, group, part, layers, weights):
    """The optimizer: Newton-Schulz brings matrices together once a step; a microbatch counts its share."""
    gathered = world.state.part[part].gathered
    if gathered > 0:
        to[group][BACKWARD][0] += layers / shard.m
        to[group][BACKWARD][1] += layers * gathered * weights / shard.m

def add_part(world, plan, part, times, to):
    """The ops of a layer, forward and backward: a part's seconds and traffic; of kept weights the gradient alone."""
    for phase in PHASES:
        to.compute[phase] += times * part.compute[phase]
        to.attention[phase] += times * part.attention[phase]
        for group in MOVING:
            messages, size = part.traffic[group][phase]
            if group == "tensor_weights" and phase == BACKWARD and not plan.regather:
                messages /= 2
                size *= world.scatter_bytes / (world.state.copy + world.scatter_bytes)
            to.traffic[group][phase][0] += times * messages
            to.traffic[group][phase][1] += times * size

def resources_of_stage(world, shard, plan, layout, sums, pace):
    """Overlap and the step: seconds, messages and bytes of one microbatch on a stage, everything saved."""
    to = Record(compute=[0.0, 0.0], attention=[0.0, 0.0], offload=0.0,
                traffic={group: [[0.0, 0.0], [0.0, 0.0]] for group in MOVING})
    add_part(world, plan, sums.layer, pace.layers, to)
    if pace.embedding:
        add_part(world, plan, sums.embedding, 1, to)
    if pace.logits:
        add_part(world, plan, sums.logits, 1, to)
    add_host_waits(world, shard, plan, sums.layer, pace.layers, to)
    again = 1 if plan.regather else 0
    layers, L = sums.layer, pace.layers
    if shard.ways > 1:
        add_gathers(world, shard, plan, to.traffic, "layers", L, L * layers.weights["dense"],
                    L * layers.trained["dense"], again)
        add_tables(world, shard, plan, pace, sums, to.traffic)
        add_orthogonal(world, shard, to.traffic, "weights", "dense", L, layers.trained["dense"])
    if shard.expert_ways > 1 and layers.weights["experts"] > 0:
        add_gathers(world, shard, plan, to.traffic, "experts", L, L * layers.weights["experts"],
                    L * layers.trained["experts"], again)
        add_orthogonal(world, shard, to.traffic, "expert_weights", "experts", L, layers.trained["experts"])
    if shard.p > 1:
        tokens, chunks = shard.tokens / shard.t if layout.along else shard.tokens, float(plan.v)
        if world.profile.whole_program > 0.5 and plan.schedule in ("gpipe", "circular"):
            chunks, tokens = 2 * (chunks + (shard.p - 1) / shard.m), shard.tokens
        for phase in PHASES:
            to.traffic["pipeline"][phase][0] += chunks
            to.traffic["pipeline"][phase][1] += chunks * 2 * tokens * world.model.d_model
    return to

def add_host_waits(world, shard, plan, layer, layers, to):
    """Overlap and the step: a layer takes no less than its launches; a stage waits for its messages."""
    profile = world.profile
    chips = shard.t * shard.x * shard.s * shard.f * shard.d * shard.p
    least = blocks_share(world.model) * profile.host_layer_seconds
    if shard.p > 1 and chips > world.chip.domain_chips:
        least += profile.host_tensor_seconds * (shard.t - 1)
    messages = plan.v * profile.stage_message_seconds if shard.p > 1 else 0.0
    for phase, share in ((FORWARD, 1 / 3), (BACKWARD, 2 / 3)):
        waits = max(0.0, share * least - layer.compute[phase] - layer.attention[phase])
        to.compute[phase] += layers * waits + messages / 2

# ---- recomputation ----

def share_kept_partly(op, kind, target):
    """Recomputation and offload: of an op under selective checkpointing: freed, run again, sent again."""
    if target in ("qkv", "context"):
        return (0.0, 0.0, 0.0) if not kind.mixer else (0.5, 0.5, 0.0) if op.kind == "matmul" else (1.0, 1.0, 1.0)
    if op.output == "middle":
        return 0.0, 1.0, 0.0
    if op.output == "gate_up":
        if op.kind == "grouped":
            return 1.0, 1.0, 1.0
        return (0.5, 0.5, 0.0) if op.pair else (0.0, 0.0, 0.0)
    if op.output == "mlp_input" and op.sent("expert", FORWARD)[0] > 0:
        return 0.0, 0.0, 0.0
    return 1.0, 1.0, 1.0

def activations_of_layer(world, shard, plan, layout):
    """Recomputation and offload: of each activation its bytes, and the seconds and collectives that remake it."""
    model, profile = world.model, world.profile
    costs = {name: Record(bytes=0.0, seconds=0.0, traffic={group: [0.0, 0.0] for group in MOVING}, exists=False,
                          partly=Record(freed=0.0, seconds=0.0, traffic={group: [0.0, 0.0] for group in MOVING}))
             for name in ACTIVATIONS}
    for kind in model.kinds:
        share, ops = kind.count / model.layers, ops_of_layer(model, kind, shard, layout, plan, world.software)
        mlp = kind.experts > 0 or kind.d_ff > 0
        last, made = "product" if mlp else "context", False
        for j, op in enumerate(ops):
            target = next((other.output for other in ops[j:] if other.output), None)
            if target is None or (made and not op.output):  # behind the last product
                combined = profile.combines_again > 0.5 and kind.experts > 0
                if not (made and (profile.recompute_whole > 0.5 or combined)):
                    continue
                target = "product" if combined else "gate_up" if mlp else "context"
            made = made or op.output == last
            partly = ((0.0, 0.0, 0.0) if op.kind == "matmul" else (0.0, 1.0, 0.0)) if made and not op.output \
                else share_kept_partly(op, kind, target)
            cost, seconds = costs[target], op_seconds(op, FORWARD, world.chip, profile)
            size = saved_bytes(op, profile) if op.output else 0.0
            cost.seconds += share * seconds
            cost.partly.seconds += share * partly[1] * seconds
            cost.partly.freed += share * partly[0] * size
            if op.output == "middle" and shard.t > 1 and layout.along:  # partial sums are kept next to their sum
                cost.partly.freed -= share * 2 * shard.tokens * model.d_model
            for group in op.traffic:
                if group in NOT_REPEATED:
                    continue
                owner = target
                if group == "tensor" and op.output == "qkv":
                    owner = "attention_input"
                if group in ("tensor", "expert_tensor") and op.output == "gate_up":
                    owner = "mlp_input"
                sent = partly[2] if owner == target else 1.0
                for i in (0, 1):
                    costs[owner].traffic[group][i] += share * op.traffic[group][FORWARD][i]
                    costs[owner].partly.traffic[group][i] += share * sent * op.traffic[group][FORWARD][i]
            if op.output:
                cost.bytes += share * size
                cost.exists = True
    own = shard.tokens / shard.t if layout.along else shard.tokens
    costs["layer_input"] = Record(bytes=2 * own * model.d_model, exists=True)
    return costs

def add_state(cost, state, layers, to):
    """Recomputation and offload: what so many layers' recomputed, partly kept or offloaded activation adds."""
    if state == "offloaded":
        to.offload += 2 * layers * cost.bytes
        return
    again = cost.partly if state == "partly" else cost
    to.compute[BACKWARD] += layers * again.seconds
    for group in MOVING:
        for i in (0, 1):
            to.traffic[group][BACKWARD][i] += layers * again.traffic[group][i]

def add_layout(costs, layout, to):
    """Recomputation and offload: what the layout's states add to a stage with everything saved."""
    for name, states in layout.states.items():
        for state, layers in states.items():
            if state != "saved" and layers > 0 and costs[name].exists:
                add_state(costs[name], state, layers, to)

def kept_bytes(costs, layout):
    """Recomputation and offload: bytes of one microbatch that stay in HBM, over the layers of the fullest stage."""
    kept = 0.0
    for name, states in layout.states.items():
        if costs[name].exists:
            kept += costs[name].bytes * states.get("saved", 0)
            if states.get("partly"):
                kept += (costs[name].bytes - costs[name].partly.freed) * states["partly"]
    return kept

# ---- parameters that a chip has ----

def parameters_of_stage(world, shard, plan, sums, last, trained):
    """Memory rows and moments: parameters of the first or last stage that one chip holds, by part."""
    def stage(ends):
        layers, whole = shard.last if ends else shard.layers - shard.slots, shard.p <= 1

        def of(part, name):
            return (part.trained if trained else part.weights)[name]
        tables = of(sums.embedding, "dense") if whole or not ends else 0.0
        if whole and world.model.tied:
            tables += beside_table(world, shard, sums.logits.trained if trained else sums.logits.weights)
        elif whole or ends:
            tables += of(sums.logits, "dense")
        return {"dense": layers * of(sums.layer, "dense") / shard.ways,
                "experts": layers * of(sums.layer, "experts") / shard.expert_ways, "tables": tables / shard.ways}
    own = stage(last)
    if plan.schedule == "dualpipe":
        other = stage(not last)
        own = {name: own[name] + other[name] for name in own}
    return own

def owned_of(shard, plan, local):
    """Memory rows and moments: of trained parameters those whose state the chip keeps: over the copies with ZeRO."""
    if plan.zero < 1:
        return local
    twice = 2 if plan.schedule == "dualpipe" else 1
    return {name: count / (twice * (shard.expert_copies if name == "experts" else shard.copies))
            for name, count in local.items()}

# ---- once a step ----

def state_bytes(world, owned):
    """The optimizer: master and moments of the parameters that a chip owns."""
    return sum(world.state.part[name].bytes * count for name, count in owned.items())

def host_state(world, plan, owned):
    """The optimizer: bytes of state that lie on the host: all for which it has room, gradients of CPUs alongside."""
    if not plan.offload_optimizer:
        return 0.0
    every, beside = state_bytes(world, owned), 1.0
    if world.updates_on_cpu and every > 0:
        beside = 1 + world.gradient_bytes(True) * sum(owned.values()) / every
    room = world.chip.host_bytes * world.profile.host_memory_share / beside
    return min(room, every)

def copy_bytes(world, plan):
    """FSDP, ZeRO and gradients: bytes of a parameter's copy for compute next to its state; none where it is cast."""
    profile = world.profile
    whole = plan.zero == 0 or (profile.whole_master > 0.5 and not plan.offload_optimizer)
    return 0 if profile.casts_master > 0.5 and world.state.master > 0 and whole else world.state.copy

def weight_gradient_seconds(world, shard, layers):
    """Pipelines: W, FLOPs of weight gradients of a microbatch at the matmul rate alone."""
    profile = world.profile
    rate = profile.linear_efficiency * profile.compute_factor * max(
        1.0, profile.grouped_efficiency * profile.grouped_factor)
    return 2 * shard.tokens * shard.active / shard.t * layers / (world.chip.bf16_flops_per_second * rate)

def update_bytes(world, accumulated, owned):
    """The optimizer: bytes that an update reads and writes, the gradient as it is kept: accumulated or not."""
    state, count = world.state, sum(owned.values())
    size = (world.gradient_bytes(accumulated) - state.update_gradient) * count
    return size + sum(state.part[name].update * number for name, number in owned.items())

def optimizer_seconds(world, shard, plan, owned):
    """The optimizer: the update in HBM, streamed from the host, or on its CPUs."""
    chip, profile, state, count = world.chip, world.profile, world.state, sum(owned.values())
    size = update_bytes(world, shard.m > 1, owned) - (state.copy - copy_bytes(world, plan)) * count
    seconds = size * profile.optimizer_traffic / (chip.hbm_bytes_per_second * profile.hbm_efficiency)
    flops = sum(state.part[name].flops * number for name, number in owned.items())
    seconds += flops / (chip.bf16_flops_per_second * min(1.0, profile.matrix_efficiency))
    on_host = host_state(world, plan, owned)
    if not on_host > 0:
        return seconds
    both_ways, one_way, memory, _ = host_rates(chip, world.copying)
    if not world.updates_on_cpu:
        return max(seconds, 2 * on_host / (both_ways * profile.pcie_efficiency))
    q, link = on_host / state_bytes(world, owned), one_way * profile.pcie_efficiency
    down = q * count * world.gradient_bytes(shard.m > 1) / link
    up = q * count * state.copy / link
    update = q * update_bytes(world, True, owned) / (memory * profile.host_update_efficiency)
    backward = 2 * weight_gradient_seconds(world, shard, shard.layers)
    return max(seconds, (1 - q) * seconds + max(0.0, down - backward) + update + up)

def host_rates(chip, copying):
    """The host link: both ways added, one way, the host's memory, and what offloading of activations gets."""
    part = chip.host_copies_bytes_per_second / copying if chip.host_copies_bytes_per_second else inf
    one_way = min(chip.pcie_bytes_per_second, part)
    both = min(max(chip.pcie_bytes_per_second, chip.pcie_both_bytes_per_second), part)
    memory = chip.host_memory_bytes_per_second / copying or both
    return both, one_way, memory, min(both, 2.0 / 3 * one_way)

def traffic_over_copies(world, shard, plan, ways, local, orthogonal):
    """FSDP, ZeRO and gradients: messages and bytes at the start and at the end of a step, of parts with copies."""
    profile, state = world.profile, world.state
    if ways <= 1 or local <= 0:
        return (0.0, 0.0), (0.0, 0.0)
    buckets, reduced = shard.layers, world.gradient_bytes(shard.m > 1) * local
    if plan.zero == 0:
        each = 2.0
        if profile.reduced_tensors > 1:
            each = 2 * profile.reduced_tensors
        elif profile.ring_step_seconds > 0:
            each = 2 * min(1.0, log2(ways) / (ways - 1))
        return (0.0, 0.0), (each * buckets, 2 * reduced)
    late = profile.gathers_after_update > 0.5
    masters = late or (profile.casts_master > 0.5 and profile.whole_master > 0.5)
    gathered = (state.master if masters and state.master else state.copy) * local
    start, end = [0.0, 0.0], [buckets, reduced]
    if late:
        end = [2 * buckets, reduced + gathered]
    else:
        start = [buckets, gathered]
    if plan.zero == 2:
        start = [start[0] + (shard.m - 1) * buckets, start[1] + (shard.m - 1) * reduced]
    if state.orthogonal:
        end = [end[0] + buckets, end[1] + orthogonal]
    return tuple(start), tuple(end)

def once_a_step(world, shard, plan, sums, pace):
    """FSDP, ZeRO and gradients: what moves once a step; the optimizer's seconds and the overheads."""
    profile, rule = world.profile, Record()
    local = parameters_of_stage(world, shard, plan, sums, False, bool(world.tuning))
    gathered = {name: world.state.part[name].gathered * count for name, count in local.items()}
    rule.once = {"data": ((0.0, 0.0), (0.0, 0.0)), "expert_data": ((0.0, 0.0), (0.0, 0.0))}
    dense, orthogonal = sum(local.values()), sum(gathered.values())
    if plan.grid:
        rule.once["expert_data"] = traffic_over_copies(world, shard, plan, plan.grid.data, local["experts"],
                                                       gathered["experts"])
        dense, orthogonal = dense - local["experts"], orthogonal - gathered["experts"]
    rule.once["data"] = traffic_over_copies(world, shard, plan, shard.copies, dense, orthogonal)
    rule.once_unsplit = dict(rule.once)
    if plan.schedule == "interleaved":  # all but the last chunk's gradients move during the rest of backward
        share = 1 - 1 / float(plan.v)
        for group, (start, end) in rule.once.items():
            rule.once[group] = (tuple(a + b * share for a, b in zip(start, end)), tuple(b / plan.v for b in end))
    ranks = shard.copies * profile.rank_seconds if plan.zero > 0 else 0.0
    rule.other = profile.step_seconds + ranks + shard.m * (
        profile.microbatch_seconds + pace.layers * fixed_layer_seconds(world))
    rule.other += fetch_seconds(world, shard, plan, sums)
    rule.optimizer = optimizer_seconds(world, shard, plan, owned_of(shard, plan, local))
    return rule

def fetch_seconds(world, shard, plan, sums):
    """The host link: parameters that live on the host come for each forward and, unless kept, for backward."""
    if not (world.tuning and world.tuning.on_host):
        return 0.0
    local = parameters_of_stage(world, shard, plan, sums, False, False)
    size = world.stored_bytes * (local["dense"] + local["experts"]) + world.state.copy * local["tables"]
    passes = world.forwards + (1 if plan.regather else 0)
    return shard.m * passes * size / (host_rates(world.chip, world.copying)[1] * world.profile.pcie_efficiency)

# ---- memory ----

def schedule_in_flight(plan, shard):
    """Pipelines: microbatches in flight on the first stage and on the last."""
    p, m, v = shard.p, shard.m, plan.v
    if plan.schedule in ("gpipe", "circular"):
        return float(m), float(m)
    if plan.schedule == "interleaved":
        return min(m * v, (v + 1) * p - 1) / v, min(m * v, (v - 1) * p + 1) / v
    if plan.schedule == "zb_h1":
        return float(min(m, p)), float(min(m, p))
    if plan.schedule == "dualpipe":
        return float(min(m, p + 1)), float(min(m, p + 1))
    return float(min(m, p)), 1.0

MOMENTS = ("first backward", "last logits", "last backward", "update")

def in_flight(world, shard, plan):
    """Memory rows and moments: microbatches whose activations exist, at each moment."""
    first, last = schedule_in_flight(plan, shard)
    if plan.schedule in ("gpipe", "circular") and world.profile.whole_program > 0.5 and shard.p > 1:
        first = last = first + (shard.p - 1) / float(plan.v)
    missing = shard.slots * min(shard.m, 2 * shard.p - 1 if plan.v > 1 else shard.p)
    read = 1 / max(1.0, shard.layers) if world.profile.whole_program > 0.5 else 0.0  # read where it is kept
    at_last = last * (shard.last / shard.layers)
    return {"first backward": first - missing / shard.layers - read, "last logits": at_last,
            "last backward": at_last - read, "update": 0.0}

def gathered_row(world, shard, plan, sums, moment, layers):
    """Memory rows and moments: weights in use and prefetched or kept, gradients, and the logits' table."""
    profile, one, logits = world.profile, sums.layer.gathered, moment == "last logits"
    program, matrices = profile.whole_program > 0.5, profile.gathers_matrices > 0.5
    trained = sums.layer.gathered_trained if world.tuning else one
    in_use, others, gradient, table = min(1.0, layers) * one, 0.0, trained, 0.0
    if logits and shard.ways > 1:
        table = sums.logits.weights["dense"] * (shard.t if logits_of_own_tokens(world, shard) else 1)
    table_gradient = 0.0 if program else table
    if table_gradient and world.tuning:
        table_gradient = sums.logits.trained["dense"]
    if not plan.regather:
        others = layers * one - in_use
        if shard.p <= 1 and shard.ways > 1 and not matrices:
            others += sums.embedding.weights["dense"]
    elif matrices:
        in_use = 0.0 if logits else min(sums.layer.largest, layers * one)
    elif not logits:
        others = min(2.0, layers) * one - in_use
    if matrices:
        gradient = 0.0 if logits else min(trained, sums.layer.largest / (2 if program else 1))
    copies = 1.0
    if profile.slice_all_reduce > 0.5 and not program and spans_slice(world, shard, shard.ways) and \
            not goes_round(world, shard, shard.ways):
        copies = 2.0
    of_table = world.state.copy + 4 if profile.logit_chunks > 1 else world.scatter_bytes
    return world.stored_bytes * (in_use + others) + world.state.copy * table + \
        copies * (world.scatter_bytes * gradient + of_table * table_gradient)

def parameters_row(world, shard, plan, sums, last, local):
    """Memory rows and moments: the copy for compute, casts that are kept, and what fine-tuning holds frozen."""
    def copies(of):
        profile, state = world.profile, world.state
        every, size = sum(of.values()), copy_bytes(world, plan)
        total = size * every
        if state.fp8_parameters and total > 0:  # tables stay in bf16
            total += (2 - state.copy) * of["tables"]
        low, precision = 0.0, profile.precision
        if profile.low_copies > 0.5 and precision != "bf16" and shard.ways <= 1:
            both = precision != "fp8" or profile.transposed_low_copy > 0.5
            low = LOW_BYTES[precision] * ((2 if both else 1) - (1 if state.fp8_parameters else 0))
        alone = profile.low_parameters > 0.5 and not (state.fp8_parameters or state.said_bf16 or plan.offload_optimizer)
        if low > 0 and precision in ("fp8", "mxfp8") and alone:
            low = max(0.0, low - state.copy)
        return total + low * (of["dense"] + of["experts"])
    tuning = world.tuning
    if not tuning:
        return copies(local)
    if tuning.on_host:
        return 0.0
    trained = parameters_of_stage(world, shard, plan, sums, last, True)
    layers = shard.last if last else shard.layers - shard.slots
    of = sums.layer.weights
    ways = shard.expert_ways if of["experts"] > of["dense"] else shard.ways
    quantised, frozen = layers * sums.layer.stored_apart / ways, max(world.state.copy, world.profile.frozen_bytes)
    size = copies(trained) + frozen * (sum(local.values()) - sum(trained.values())) - \
        (frozen - world.stored_bytes) * quantised
    return size + (world.state.copy * sum(local.values()) if tuning.reference_model else 0.0)

def program_rows(world, shard, plan, layout, moment, local):
    """Memory rows and moments: casts, gradients, masters and the logits' gradient of one compiled program."""
    profile, rows = world.profile, Record(casts=0.0, gradients=0.0, master=0.0, logits=0.0)
    if profile.whole_program <= 0.5 or moment == "update":
        return rows
    shards = shard.m <= 1 and goes_round(world, shard, shard.ways)
    cast = copy_bytes(world, plan) <= 0
    tables = local["tables"] if shard.m > 1 and shard.p <= 1 else 0.0
    if cast:
        rows.casts = world.state.copy * (local["experts"] + (0.0 if shards else local["dense"]) + tables)
    if moment != "last logits":
        own = 1 / shard.t if layout.along else 1.0
        rows.gradients = world.scatter_bytes * (local["experts"] + local["dense"])
        rows.logits = 2 * loss_tokens(world, shard) * (shard.vocab + own * world.model.d_model)
    if shard.ways <= 1 and shard.copies > 1 and cast and profile.whole_master > 0.5 and plan.zero > 0:
        rows.master = world.state.master * sum(local.values())
    return rows

def loss_tokens(world, shard):
    """Memory rows and moments: tokens whose logits a chip has at once; a pipeline of one program shares them out."""
    every = world.profile.whole_program > 0.5 and shard.p > 1
    return shard.tokens * shard.m / shard.p if every else shard.tokens

def memory_rows(world, shard, plan, layout, sums, moment, saved):
    """Memory rows and moments: the rows of one moment; `saved` is what is kept of activations."""
    profile, state, D = world.profile, world.state, world.model.d_model
    last = shard.p > 1 and moment in ("last logits", "last backward")
    layers = shard.last if last else shard.layers
    local = parameters_of_stage(world, shard, plan, sums, last, False)
    trained = parameters_of_stage(world, shard, plan, sums, last, True) if world.tuning else local
    owned = owned_of(shard, plan, trained)
    on_host, owned_count = host_state(world, plan, owned), sum(owned.values())
    held = sum(trained.values())
    if plan.zero >= 2:
        held = owned_count * (2 if plan.schedule == "dualpipe" else 1)
    accumulates = shard.m > 1
    if accumulates and stays_whole(world, shard):
        held = (trained["dense"] + trained["tables"]) * shard.ways + trained["experts"] * shard.expert_ways
    gradient = world.gradient_bytes(accumulates) if accumulates or moment == "update" else 0.0
    program = program_rows(world, shard, plan, layout, moment, local)
    rows = {}
    rows["parameters"] = parameters_row(world, shard, plan, sums, last, local) + program.casts
    rows["gradients"] = gradient * held + profile.update_scratch_bytes * owned_count + program.gradients
    rows["gradients"] += profile.bucket_bytes if shard.copies > 1 else 0.0
    rows["optimizer"] = state_bytes(world, owned) - on_host + program.master
    if profile.whole_master > 0.5 and not plan.offload_optimizer:
        rows["optimizer"] += state.master * (sum(trained.values()) - owned_count)
    own = shard.tokens / shard.t if layout.along else shard.tokens
    stream = 2 * own * D
    rows["activations"] = saved
    if profile.stage_outputs_kept > 0.5 and shard.p > 1 and not last and moment != "update":
        rows["activations"] += schedule_in_flight(plan, shard)[0] * plan.v * stream
    rows["gathered"] = gathered_row(world, shard, plan, sums, moment, layers)
    rows["logits"] = program.logits
    chunked = profile.logit_chunks > 1
    if moment == "last logits":
        tokens = loss_tokens(world, shard)
        whole = 2 * shard.vocab * shard.t if layout.logits_columns and shard.t > 1 else 0.0
        rows["logits"] = tokens * (profile.logit_bytes * shard.vocab + whole) / max(1.0, profile.logit_chunks)
        streams = 1 if profile.whole_program > 0.5 else 2
        rows["transient"] = streams * (tokens / shard.tokens * stream) + 2 * tokens * D + \
            (2 * stream if chunked else 0.0)
    else:
        kept = sums.layer.saved
        working = sum(kept.values()) + max(kept["gate_up"] + kept["product"], kept["qkv"] + kept["context"])
        again = 0.0
        if shard.t > 1 and layout.along:
            again = ((1 if profile.inputs_kept_apart > 0.5 else 0) + profile.tensor_streams) * 2 * shard.tokens * D
        rows["transient"] = working + stream + again + 2 * sums.layer.largest_stored
        if moment == "update":
            rows["transient"] = max(rows["transient"], profile.update_copies * state.second * owned_count)
            if on_host > 0 and not world.updates_on_cpu:
                rows["transient"] += on_host / max(1.0, layers)
    return rows
