# SPDX-License-Identifier: GPL-3.0-or-later
"""The transformer as one list of ops of one chip and one microbatch: time, memory and traffic all come from it.

An op has forward and backward FLOPs and HBM bytes, the parameters that the chip holds of it, what it sends by group and
phase as [messages, bytes], and the activation that it makes, if backward needs one."""
from math import ceil, gcd

from data import Record
from mixers import parts_of_mixer, share_of_chip
from model import (attention_span, has_mlp, indexed_span, mixes_tokens, norm_parameters, qk_width, v_width)

FORWARD, BACKWARD = 0, 1

class Op:
    """The ops of a layer, forward and backward: one op as the chip has it."""

    def __init__(self, kind, name, flops=(0.0, 0.0), hbm=(0.0, 0.0), weights=0.0):
        self.kind, self.name = kind, name  # matmul, grouped, attention, scan, elementwise, lookup
        self.m = self.n = self.k = 0.0
        self.groups = self.chunks = 1.0
        self.flops, self.hbm = list(flops), list(hbm)
        self.pair = self.ungated = self.biased = self.low = self.on_vectors = False
        self.scores = self.head_dim = self.routed_bytes = 0.0
        self.repeated = 1.0
        self.weights, self.frozen, self.expert, self.adapter = weights, 0.0, False, False
        self.traffic = {}
        self.output, self.saved, self.saved_ways, self.saved_input, self.saved_copy = None, 0.0, 1.0, False, 0.0

    def send(self, group, phase, messages, size):
        """Collectives on a torus: so many messages, each of these bytes of the whole array."""
        own = self.traffic.setdefault(group, [[0.0, 0.0], [0.0, 0.0]])[phase]
        own[0] += messages
        own[1] += messages * size

    def sent(self, group, phase):
        return self.traffic[group][phase] if group in self.traffic else (0.0, 0.0)

    def keep(self, activation, size):
        """Memory rows and moments: the activation that it makes, and its bytes."""
        self.output, self.saved = activation, size

def matmul(name, m, n, k):
    """Roofline of an op: [M, K] x [K, N], 2 M N K forward and twice that backward; operands in bf16."""
    moved = 2 * (m * k + k * n + m * n)
    op = Op("matmul", name, (2 * m * n * k, 4 * m * n * k), (moved, 2 * moved), n * k)
    op.m, op.n, op.k, op.low = m, n, k, True
    return op

def streams(name, numbers, forward, backward):
    """The ops of a layer, forward and backward: an elementwise op of so many streams of bf16 numbers."""
    return Op("elementwise", name, hbm=(2 * numbers * forward, 2 * numbers * backward))

def width_of_chip(width, ways):
    """Padding: a size that does not divide is rounded up."""
    return float(ceil(width / ways))

class Layer:
    """The ops of a layer, forward and backward: what an op list of one chip leans on."""

    def __init__(self, model, shard, layout, plan, software):
        self.model, self.shard, self.layout, self.plan, self.software = model, shard, layout, plan, software
        self.T, self.t, self.D = shard.tokens, shard.t, float(model.d_model)
        self.own = self.T / self.t if layout.along else self.T  # T_r of the page
        self.ops = []

    def add(self, op):
        self.ops.append(op)
        return op

    def enter(self, op, size):
        """The ops of a layer, forward and backward: into a block over tensor."""
        if self.t > 1 and self.layout.along:
            op.send("tensor", FORWARD, 1, size)
            op.send("tensor", BACKWARD, 1, size)
        elif self.t > 1:
            op.send("tensor", BACKWARD, 2, size)

    def leave(self, op, size):
        """The ops of a layer, forward and backward: out of a block over tensor."""
        if self.t > 1 and self.layout.along:
            op.send("tensor", FORWARD, 1, size)
            op.send("tensor", BACKWARD, 1, size)
        elif self.t > 1:
            op.send("tensor", FORWARD, 2, size)

    def norm(self, name):
        """The ops of a layer, forward and backward: norm and residual, 5 streams and 7."""
        op = self.add(streams(name, self.own * self.D, 5, 7))
        op.weights = float(norm_parameters(self.model))
        return op

# ---- attention ----

def heads_of_chip(kind, t):
    return width_of_chip(kind.heads, t)

def kv_heads_of_chip(kind, t):
    """The ops of a layer, forward and backward: the KV heads that the chip's query heads touch, as dealt."""
    if kind.kv_heads < 1:
        return 0.0
    h, G = int(heads_of_chip(kind, t)), max(1, kind.heads // kind.kv_heads)
    return float(min(kind.kv_heads, -(-(h + G - gcd(h, G)) // G)))

def widths_of_heads(kind, shard, software):
    """The ops of a layer, forward and backward: numbers of queries, keys, values and context of one chip."""
    latent, qk, v = kind.attention == "latent", float(qk_width(kind)), float(v_width(kind))
    heads, kv = heads_of_chip(kind, shard.t), kv_heads_of_chip(kind, shard.t)
    lanes = max(1, software.lanes)
    index = kind.index_head_dim if kind.index_heads else 0
    sent = 0.0
    if kind.index_top_k:
        sent = float(kind.kv_lora_rank + kind.qk_rope_head_dim + index) if latent else kv * (qk + v) + index
    return Record(heads=heads, kv=kv, query=heads * qk, key=kv * qk, value=0.0 if kind.kv_reused == 3 else kv * v,
                  context=heads * v, latent=sent, padding=1.0 if latent or not v else ceil(v / lanes) * lanes / v,
                  copies=max(1.0, shard.ulysses / kv) if shard.ulysses > 1 else 1.0)

def head_projections(at, kind, w):
    """The ops of a layer, forward and backward: qkv, through a narrow latent of queries where there is one; rotary."""
    T, entry, v = at.T, float(kind.attention_width or at.model.d_model), float(v_width(kind))
    keys, values = float(kind.kv_reused != 2), float(kind.kv_reused == 0)
    whole = kind.kv_heads * (keys * kind.head_dim + values * v)
    columns = whole / at.t if at.layout.kv_gathered else keys * w.key + values * w.value
    gate, rank = width_of_chip(kind.out_gate, at.t), float(kind.q_lora_rank)
    queries, kept = rank or w.query, 0.0 if kind.kv_reused == 2 else w.copies * (w.key + w.value)
    qkv = at.add(matmul("qkv projection", T, queries + columns + gate, entry))
    qkv.weights += queries + columns if kind.qkv_bias else 0
    at.enter(qkv, 2 * T * entry)
    if at.layout.kv_gathered and at.t > 1:
        qkv.send("tensor", FORWARD, 1, 2 * T * whole)
        qkv.send("tensor", BACKWARD, 1, 2 * T * whole)
    last = at.add(matmul("query up projection", T, w.query, rank)) if rank else qkv
    last.keep("qkv", w.padding * 2 * T * (w.query + rank + gate + kept))
    if at.model.positions == "rotary" and not kind.no_rope:
        at.add(streams("rotary", T * (w.query + keys * (w.key + w.value)), 2, 3))

def latent_projections(at, kind, w):
    """The ops of a layer, forward and backward: down for the chip's own tokens, up and query for all of the group."""
    T, rope, q_rank = at.T, float(kind.qk_rope_head_dim), float(kind.q_lora_rank)
    latent = q_rank + kind.kv_lora_rank + rope
    down = at.add(matmul("latent down projection", at.own, latent, at.D))
    down.weights += latent if kind.qkv_bias else 0
    up = at.add(matmul("key and value up projection", T, w.heads * kind.qk_nope_head_dim + w.value,
                       float(kind.kv_lora_rank)))
    query, gate = at.add(matmul("query projection", T, w.query, q_rank or at.D)), width_of_chip(kind.out_gate, at.t)
    gates = at.add(matmul("gate projection", T, gate, at.D)) if gate else None
    at.enter(up, 2 * T * latent)
    if gates or not q_rank:
        at.enter(gates or query, 2 * T * at.D)
    query.keep("qkv", 2 * T * (w.query + w.key + w.value + latent + gate))
    if at.model.positions == "rotary":
        at.add(streams("rotary", T * (w.heads + 1) * rope, 2, 3))

def indexer(at, kind):
    """Layers without attention, and with sparse attention: every key is scored, whole on each chip of tensor."""
    T, width = at.T, float(kind.index_head_dim)
    queries, rank = kind.index_heads * width, float(kind.q_lora_rank)
    seen, chosen = at.shard.seq / 2 / max(1, kind.compress), indexed_span(kind, at.shard.seq)
    query = at.add(matmul("indexer queries", T, queries, rank or at.D))
    at.add(matmul("indexer keys and weights", T, width + kind.index_heads, at.D))
    query.keep("qkv", T * (2 * (queries + width) + 4 * chosen))
    scores = at.add(Op("attention", "indexer scores", (2 * T * queries * seen, 4 * T * queries * chosen),
                       (T * (2 * (queries + width) + 8 * seen), 4 * T * (queries + width + chosen * width))))
    scores.head_dim = width

def keys_are_kept(at):
    return at.plan.context == "all_gather" and at.software.keys_kept

def context_traffic(at, attention, w):
    """Context parallelism: heads for tokens inside, and keys and values over what joins such groups."""
    s, u = at.shard.s, max(1.0, at.shard.ulysses)
    joined = s / u
    keys = w.latent * u if w.latent else w.copies * (w.key + w.value)
    if u > 1:
        for phase in (FORWARD, BACKWARD):
            attention.send("ulysses", phase, 1, 2 * at.T * u * (w.query + keys))
            attention.send("ulysses", phase, 1, 2 * at.T * u * w.context)
    if joined <= 1 or keys_are_kept(at):
        return
    ring = at.plan.context in ("ring", "ulysses_ring")
    returns = ring and at.software.ring_returns
    size = 2 * at.T * (w.latent or keys) * (1 if ring else joined)
    messages = joined - 1 if ring else 1
    attention.send("sequence", FORWARD, messages + returns, size)
    attention.send("sequence", BACKWARD, messages + returns, size)
    attention.send("sequence", BACKWARD, messages, size * (2 if returns else 1))

def gathered_keys(at, w):
    """Context parallelism: keys and values that stay for backward, with the attention's input."""
    if at.shard.s <= 1 or not keys_are_kept(at):
        return
    size = 2 * at.T * (w.latent or w.copies * (w.key + w.value))
    gather = at.add(Op("elementwise", "keys and values"))
    gather.send("sequence", FORWARD, 1, size * at.shard.s)
    gather.send("sequence", BACKWARD, 1, size * at.shard.s)
    gather.keep("attention_input", size * (at.shard.s - 1))

def attention(at, kind, w):
    """Roofline of an op: flash attention reads q, k, v and writes its context once forward, twice that backward."""
    T, latent = at.T, kind.attention == "latent"
    span = attention_span(kind, int(at.shard.seq), False)
    forward = 2 * T * span * (w.query + w.context)
    moved = 2 * T * (w.query + w.copies * (w.key + w.value) + w.context)
    repeated = 1.0
    if kind.index_top_k and latent:  # heads work on the chosen latents as they are, or on all keys under a mask
        rank, rope, every = float(kind.kv_lora_rank), float(kind.qk_rope_head_dim), at.shard.seq / 2
        wider = w.heads * (2 * rank + rope) / (w.query + w.context)
        repeated = min(wider, max(1.0, every / span))
        if wider < every / span:
            moved = 2 * T * (w.heads * (2 * rank + rope) + span * (rank + rope))
    op = at.add(Op("attention", "attention", (forward, 2.5 * forward), (moved, 2 * moved)))
    op.scores = T * attention_span(kind, int(at.shard.seq), True) * w.heads
    op.head_dim, op.repeated = float(kind.v_head_dim if latent else kind.head_dim), repeated
    op.weights = w.heads if kind.sinks else 0.0
    op.keep("context", T * (w.padding * 2 * w.context + 4 * w.heads))
    op.saved_copy = T * w.context
    if at.shard.s > 1:
        context_traffic(at, op, w)

def attention_block(at, kind):
    """The ops of a layer, forward and backward: the first block, from its norm to its output."""
    w = widths_of_heads(kind, at.shard, at.software)
    latent, T = kind.attention == "latent", at.T
    if kind.norms > 0:
        norm = at.norm("attention norm")
        if not has_mlp(kind):
            norm.weights *= kind.norms
        norm.weights += kind.qk_norm_parameters
        gathered = not (latent and kind.q_lora_rank)
        norm.keep("attention_input", 2 * (T if gathered else at.own) * (kind.attention_width or at.model.d_model))
        norm.saved_input, norm.saved_ways = True, T / at.own if gathered else 1.0
    (latent_projections if latent else head_projections)(at, kind, w)
    if kind.index_heads:
        indexer(at, kind)
    if kind.out_gate:
        at.add(streams("attention gate", T * width_of_chip(kind.out_gate, at.t), 3, 5))
    gathered_keys(at, w)
    attention(at, kind, w)
    rank = width_of_chip(kind.out_rank, at.t)
    if rank:
        at.add(matmul("attention output down", T, rank, kind.heads * (w.context / w.heads) / kind.out_groups))
    out = at.add(matmul("attention output", T, at.D, rank or w.context))
    out.weights += at.D if kind.out_bias else 0
    at.leave(out, 2 * T * at.D)
    if has_mlp(kind):
        out.keep("middle", 2 * at.own * at.D)

def cross_block(at, kind):
    """Layers without attention, and with sparse attention: attention to as many states of an encoder as tokens."""
    T, head, S = at.T, float(kind.cross_head_dim), at.shard.seq
    heads = width_of_chip(kind.cross_heads, at.t) * head
    keys, width = max(1.0, width_of_chip(kind.cross_kv_heads, at.t)) * head, float(kind.cross_width or at.D)
    query = at.add(matmul("cross query projection", T, heads, at.D))
    key = at.add(matmul("cross key and value projection", T, 2 * keys, width))
    at.enter(query, 2 * T * at.D)
    at.enter(key, 2 * T * width)
    key.keep("qkv", 2 * T * (heads + 2 * keys))
    moved = 2 * T * (2 * heads + 2 * keys)
    op = at.add(Op("attention", "cross attention", (4 * T * S * heads, 10 * T * S * heads), (moved, 2 * moved)))
    op.scores, op.head_dim, op.saved_copy = T * S * heads / head, head, T * heads
    op.keep("context", T * (2 * heads + 4 * heads / head))
    if at.shard.s > 1:
        group = "ulysses" if at.plan.context == "ulysses" else "sequence"
        op.send(group, FORWARD, 1, 4 * T * keys * at.shard.s)
        op.send(group, BACKWARD, 2, 4 * T * keys * at.shard.s)
    out = at.add(matmul("cross output", T, at.D, heads))
    at.leave(out, 2 * T * at.D)
    if has_mlp(kind):
        out.keep("middle", 2 * at.own * at.D)

# ---- mixers ----

def mixer_context(at, op, part, states):
    """Layers without attention, and with sparse attention: heads exchanged, or states gathered or passed on."""
    u = max(1.0, at.shard.ulysses)
    joined = at.shard.s / u
    if u > 1:
        whole = share_of_chip(part, at.t * u, part.group_share) * 2 * at.T * u * u
        for phase in (FORWARD, BACKWARD):
            op.send("ulysses", phase, 1, whole * part.inp)
            op.send("ulysses", phase, 1, whole * part.out)
    if joined <= 1:
        return
    ring = at.plan.context in ("ring", "ulysses_ring")
    for phase in (FORWARD, BACKWARD):
        op.send("sequence", phase, joined - 1 if ring else 1, at.shard.b * states / u * (1 if ring else joined))

def mixer_block(at, kind):
    """Layers without attention, and with sparse attention: a mixer's parts as ops of one chip."""
    T, parts, t = at.T, parts_of_mixer(at.model, kind), at.t
    beside = kind.heads > 0
    states = sum((4 if part.state_float else 2) * part.state
                 * share_of_chip(part, t, 0 if part.kind == "core" else part.group_share) for part in parts)
    entered, mixed = beside, False
    for part in parts:
        last, share = part is parts[-1], share_of_chip(part, t, part.group_share)
        column = part.kind == "matmul" and part.split != "row"
        if part.kind == "matmul":
            op = at.add(matmul(part.name, T, part.out * (share if part.split == "column" else 1.0),
                               part.inp * (share if part.split == "row" else 1.0)))
        elif part.kind == "core":
            flops = T * part.flops * share_of_chip(part, t, part.group_flops)
            moved = T * (2 * (part.read + part.written) * share + 8 * part.moved_float * share)
            op = at.add(Op("scan", part.name, (flops, part.backward * flops), (moved, part.backward * moved)))
            op.on_vectors, mixed = bool(part.on_vectors), True
        else:
            read, written = part.read * share, part.written * share
            op = at.add(streams(part.name, T, read + written, 2 * read + written))
            op.saved_input = part.kept > 0 and part.kind == "elementwise"
        op.weights = part.parameters * (1.0 if part.whole_weights else share)
        if part.kind == "matmul" and part.split == "row":  # a bias behind partial sums is on every chip
            op.weights = part.inp * part.out * share + part.parameters - part.inp * part.out
        if column and part.inp == at.model.d_model and not entered:
            at.enter(op, 2 * T * part.inp)
            entered = True
        elif part.kind == "matmul" and part.split == "row" and not last and t > 1:
            op.send("tensor", FORWARD, 2, 2 * T * part.out)
        elif part.kind == "matmul" and part.split == "column" and not part.own_input and \
                part.inp != at.model.d_model and t > 1:
            op.send("tensor", BACKWARD, 2, 2 * T * part.inp)
        if part.kind == "core" and at.shard.s > 1:
            mixer_context(at, op, part, states)
        if not last and part.kept > 0:
            op.keep("context" if mixed else "qkv", T * share * 2 * part.kept)
        if last and not beside:
            at.leave(op, 2 * T * part.out)
            if has_mlp(kind):
                op.keep("middle", 2 * at.own * part.out)

# ---- the second block ----

def dense_mlp(at, kind, width):
    """The ops of a layer, forward and backward: MLP up (and gate), activation, MLP down, or gathered weights."""
    gathered = at.layout.mlp_gathered and at.t > 1
    T, hidden = (at.own, width * at.t) if gathered else (at.T, width)
    ups = 2 if kind.gated else 1
    up = at.add(matmul("mlp gate and up" if kind.gated else "mlp up", T, ups * hidden, at.D))
    made = at.add(streams("mlp activation", T * hidden, *((3, 5) if kind.gated else (2, 4))))
    down = at.add(matmul("mlp down", T, at.D, hidden))
    up.keep("gate_up", 2 * T * ups * hidden)
    up.pair = kind.gated
    made.keep("product", 2 * T * hidden)
    made.saved_input = True
    if gathered:
        up.weights /= at.t
        down.weights /= at.t
    if kind.mlp_bias:
        up.weights += ups * width
        down.weights += at.D
    if gathered:
        for op in (up, down):
            op.send("tensor_weights", FORWARD, 1, 2 * op.weights * at.t)
            op.send("tensor_weights", BACKWARD, 2, 2 * op.weights * at.t)
    else:
        at.enter(up, 2 * at.T * at.D)
        at.leave(down, 2 * at.T * at.D)

def experts(at, kind):
    """Expert parallelism: router, dispatch, grouped matmuls, combine, and shared experts as a dense MLP."""
    grid, load = at.plan.grid, at.software.imbalance
    D = float(kind.expert_width or at.model.d_model)
    ways = grid.expert if grid else at.shard.x
    tokens = at.own * grid.expert_tensor if grid else at.T
    routed = tokens * kind.top_k * load
    held, width, ups = at.shard.experts, at.shard.d_ff_expert, 2 if kind.gated else 1
    moved = at.own * kind.top_k * load * D
    router = at.add(matmul("router", at.own, float(kind.experts + kind.null_experts + bool(kind.shared_gate)), at.D))
    router.low = False
    router.weights += kind.experts + kind.null_experts if kind.router_bias else 0
    dispatch = at.add(streams("expert dispatch", moved, 2, 2))
    up = at.add(matmul("expert gate and up" if kind.gated else "expert up", routed / held, ups * width, D))
    made = at.add(streams("expert activation", routed * width, *((3, 5) if kind.gated else (2, 4))))
    down = at.add(matmul("expert down", routed / held, D, width))
    for op in (up, down):
        op.kind, op.groups, op.expert = "grouped", held, True
        op.biased, op.ungated = kind.expert_bias, not kind.gated
        op.weights *= held
        op.flops = [held * flops for flops in op.flops]
        op.hbm = [held * size for size in op.hbm]
    if kind.expert_bias:
        up.weights += ups * width * held
        down.weights += D * held
    room = 1.0
    if at.software.receives_worst_case and not grid:
        room = max(1.0, ways * min(float(kind.top_k), held) / kind.top_k)
    dispatch.keep("mlp_input", room * 2 * routed * D)
    up.keep("gate_up", room * 2 * routed * ups * width)
    made.keep("product", room * 2 * routed * width)
    dispatch.saved_input = made.saved_input = True
    combine = at.add(streams("expert combine", moved, 2, 2))
    dispatch.routed_bytes = combine.routed_bytes = 2 * moved
    for phase in (FORWARD, BACKWARD):
        if ways > 1:
            dispatch.send("expert", phase, 1, 2 * moved * ways)
            combine.send("expert", phase, 1, 2 * moved * ways)
        if grid and grid.expert_tensor > 1:
            up.send("expert_tensor", phase, 1, 2 * routed * D)
            down.send("expert_tensor", phase, 1, 2 * routed * D)
    if not grid:
        at.enter(up, 2 * routed * D)
        at.leave(down, 2 * routed * D)
    if kind.d_ff_shared:
        dense_mlp(at, kind, at.shard.d_ff_shared)

def ops_of_layer(model, kind, shard, layout, plan, software):
    """The ops of a layer, forward and backward: all ops of one layer of a kind, in order."""
    at = Layer(model, shard, layout, plan, software)
    attends, mixes = kind.heads > 0, mixes_tokens(kind)
    if attends:
        attention_block(at, kind)
    if mixes and not attends and kind.norms > 0:
        norm = at.norm("mixer norm")
        if not has_mlp(kind):
            norm.weights *= kind.norms
        norm.keep("attention_input", 2 * at.T * at.D)
        norm.saved_input, norm.saved_ways = True, at.T / at.own
    first = len(at.ops)
    if mixes and kind.mixer:
        mixer_block(at, kind)
    behind = len(at.ops)
    if kind.cross_heads:
        cross_block(at, kind)
    norms = kind.norms - (1 if mixes else 0)
    if norms > 0 and has_mlp(kind):
        norm = at.norm("mlp norm")
        norm.weights *= norms
        whole = (not kind.experts or kind.d_ff_shared > 0) and not layout.mlp_gathered
        norm.keep("mlp_input", 2 * (at.T if whole else at.own) * at.D)
        norm.saved_input, norm.saved_ways = not kind.experts, at.T / at.own if whole else 1.0
    if kind.experts:
        experts(at, kind)
    if kind.d_ff:
        dense_mlp(at, kind, width_of_chip(kind.d_ff, shard.t))
    if kind.extra_matrices + kind.extra_vectors:
        op = matmul("other matrices", at.own, kind.extra_matrices / at.D, at.D) if kind.extra_matrices else \
            Op("elementwise", "other matrices")
        at.add(op).weights = float(kind.extra_matrices + kind.extra_vectors)
    if 0 < kind.copies < kind.count:  # shared blocks are held once; a mixer is each layer's own
        for i, op in enumerate(at.ops):
            if not first <= i < behind:
                op.weights *= kind.copies / kind.count
    if software.tuning:
        from tuning import tuned
        heads = heads_of_chip(kind, shard.t)
        every = heads + 2 * kv_heads_of_chip(kind, shard.t)
        at.ops = tuned(software.tuning, heads / every if every else 1.0, at.ops)
    if plan.tensor_overlap:
        for op in at.ops:
            if op.kind == "matmul" and op.sent("tensor", FORWARD)[0] > 0:
                op.chunks = float(shard.t)
    return at.ops

def ops_of_embedding(model, shard, layout, plan, software):
    """The ops of a layer, forward and backward: the look-up, and what is held alongside the table."""
    at = Layer(model, shard, layout, plan, software)
    t, stream = at.t, 2 * at.T * at.D
    lookup = at.add(Op("lookup", "embedding", hbm=(4 * at.own * at.D, 8 * at.own * at.D)))
    lookup.weights = shard.vocab * at.D + (model.learned_positions * at.D + model.extra_vectors) / t
    for name, held in (("towers", model.towers), ("projector", model.projector)):
        at.add(Op("elementwise", name)).weights = held / t
    if model.extra_matrices:
        op = at.add(matmul("matrices alongside layers", at.T, model.extra_matrices / (at.D * t), at.D))
        at.enter(op, stream)
        at.leave(op, stream)
    if model.embedding_norm:
        at.add(streams("embedding norm", at.own * at.D, 2, 3)).weights = float(norm_parameters(model))
    if t > 1 and not layout.embedding_columns:
        at.leave(lookup, stream)
    elif t > 1:
        lookup.send("tensor", FORWARD, 1, stream / t if layout.along else stream)
        if layout.along:
            lookup.send("tensor", BACKWARD, 1, stream / t)
    return finished(at)

def ops_of_logits(model, shard, layout, plan, software):
    """The ops of a layer, forward and backward: last norm, logits and loss (8 and 12 bytes a logit)."""
    at = Layer(model, shard, layout, plan, software)
    t, stream = at.t, 2 * at.T * at.D
    at.norm("final norm")
    logits = at.add(matmul("logits", at.T, shard.vocab, at.D))
    logits.low = False
    logits.weights = (0.0 if model.no_head else logits.weights) + (shard.vocab if model.logits_bias else 0.0)
    loss = at.add(streams("loss", at.T * shard.vocab, 4, 6))
    if t > 1:
        if layout.logits_columns:
            whole = 2 * at.T * shard.vocab * t
            logits.send("tensor", FORWARD, 1, whole + stream / t)
            logits.send("tensor", BACKWARD, 1, whole + stream / t)
        else:
            at.enter(logits, stream)
        loss.send("tensor", FORWARD, 2, 8 * at.T)
    return finished(at)

def finished(at):
    if not at.software.tuning:
        return at.ops
    from tuning import tuned
    return tuned(at.software.tuning, 1.0, at.ops)

# ---- seconds and saved bytes ----

LOW_BYTES = {"bf16": 2.0, "fp8": 1.0, "mxfp8": 1.0, "int8": 1.0, "nvfp4": 0.5}

def matmul_seconds(op, phase, chip, profile):
    """Roofline of an op: FLOPs at the efficiency, tiles padded, the operand traffic that is not hidden, casts."""
    C, hbm, ratio, casts = chip.bf16_flops_per_second, chip.hbm_bytes_per_second, 1.0, 0.0
    efficiency = profile.matrix_efficiency
    if op.low:
        efficiency, ratio = profile.linear_efficiency, profile.linear_peak_ratio
    efficiency *= profile.compute_factor
    if op.kind == "grouped":
        blocks = profile.precision in ("mxfp8", "nvfp4")
        software = min(1.0, profile.grouped_factor) if op.ungated and blocks else profile.grouped_factor
        y = profile.grouped_efficiency * software
        efficiency *= 1 / (1 + (1 / y - 1) * (1 - 1 / op.groups)) if op.groups > 1 else 1.0
        efficiency *= profile.biased_expert_efficiency if op.biased else 1.0
    if op.low and profile.precision != "bf16":
        numbers = op.m * op.k + op.k * op.n if phase == FORWARD else op.m * op.n
        casts = profile.cast_traffic * (2 + 2 * LOW_BYTES[profile.precision]) * numbers * op.groups / \
            (hbm * profile.hbm_efficiency)
    tile = chip.matrix_tile if profile.tile_padding else 1
    q = 1.0
    if tile > 1:
        q = ceil(op.n / tile) * tile * ceil(op.k / tile) * tile / (op.n * op.k)
    c = 1 + (op.chunks - 1) * profile.chunk_traffic
    traffic = 1 + profile.matmul_traffic * ratio * (C / hbm) * (c / op.m + 1 / op.n + 1 / op.k)
    return op.flops[phase] * q / (C * efficiency) * traffic + casts

def attention_seconds(op, phase, chip, profile):
    """Roofline of an op: flash attention, or unfused over whole squares."""
    C, rate = chip.bf16_flops_per_second, profile.attention_efficiency * profile.attention_factor
    if profile.unfused_attention < 0.5:
        return op.flops[phase] / (C * rate * (profile.attention_backward_rate if phase == BACKWARD else 1))
    flops, size = (2 * op.flops[FORWARD], 13) if phase == FORWARD else (4 * op.flops[FORWARD], 19)
    busy = flops / (C * profile.matrix_efficiency * profile.compute_factor * 0.6)
    if op.head_dim % 8:
        busy /= profile.unaligned_attention_rate
    return busy + size * op.scores * profile.score_traffic / (chip.hbm_bytes_per_second * profile.hbm_efficiency)

def op_seconds(op, phase, chip, profile):
    """Roofline of an op: the longer of arithmetic and traffic."""
    size = op.hbm[phase] / (chip.hbm_bytes_per_second * profile.hbm_efficiency)
    if op.kind in ("matmul", "grouped"):
        return max(size, matmul_seconds(op, phase, chip, profile))
    if op.kind == "attention":
        return max(size, attention_seconds(op, phase, chip, profile) * op.repeated)
    if op.kind == "scan":
        rate = profile.vector_efficiency if op.on_vectors else profile.scan_efficiency
        return max(size, op.flops[phase] / (chip.bf16_flops_per_second * rate))
    if op.kind == "lookup":
        return size
    return size * profile.elementwise_traffic + op.routed_bytes * profile.dispatch_seconds_per_byte / 4

def saved_bytes(op, profile):
    """Memory rows and moments: bytes of the activation that an op makes, as the software keeps it."""
    apart = profile.inputs_kept_apart
    size = (1 - apart) * op.saved + apart * (op.saved / op.saved_ways)
    if profile.low_copies > 0.5 and profile.precision != "bf16":
        low = LOW_BYTES[profile.precision]
        size = size * low / 2 if op.saved_input else size + low * op.saved_copy
    hidden = op.output in ("gate_up", "product") and profile.mlp_kept
    size = size * (hidden or profile.kept_factor) + profile.dispatched_kept * op.routed_bytes
    return size + (5 * op.scores if profile.unfused_attention > 0.5 else 0)
