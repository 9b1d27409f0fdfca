# SPDX-License-Identifier: GPL-3.0-or-later
"""A model as its dimensions: parameters, FLOPs and the keys that a query sees. Kinds of layers are Records whose keys
are those of `shardopt models NAME --format json`."""
from data import DTYPE_BYTES, Record
from mixers import parts_of_mixer, scan_flops_of_mixer

def qk_width(kind):
    """Parameters and FLOPs: numbers in which a query and a key meet."""
    return kind.qk_nope_head_dim + kind.qk_rope_head_dim if kind.attention == "latent" else kind.head_dim

def v_width(kind):
    """Parameters and FLOPs: numbers of a value."""
    return kind.v_head_dim if kind.attention == "latent" or kind.v_head_dim else kind.head_dim

def has_mlp(kind):
    """The ops of a layer, forward and backward: whether a layer has a second block."""
    return kind.experts > 0 or kind.d_ff > 0

def mixes_tokens(kind):
    """Layers without attention, and with sparse attention: whether a layer has a first block."""
    return kind.heads > 0 or kind.cross_heads > 0 or bool(kind.mixer and kind.mixer["name"] != "none")

def norm_parameters(model):
    """Parameters and FLOPs: D of a norm, and D more for a LayerNorm's bias."""
    return model.d_model * (2 if model.norm == "layer" else 1)

def matrices_of_layer(model, kind):
    """Parameters and FLOPs: the matrices of a layer as (rows, columns, how many, of experts)."""
    D, latent = model.d_model, kind.attention == "latent"
    query, head = kind.heads * qk_width(kind), v_width(kind)
    key = 0 if kind.kv_reused == 2 else kind.kv_heads * kind.head_dim  # 2: keys and values are an earlier layer's
    own, alike = kind.kv_reused == 0, head == kind.head_dim
    value, entry = kind.heads * head, kind.attention_width or D
    ups, wide = 2 if kind.gated else 1, kind.expert_width or D
    cross = kind.cross_heads * kind.cross_head_dim
    listed = [(kind.q_lora_rank or entry, query, 1, False), (D if latent else entry, kind.q_lora_rank, 1, False)]
    if latent:
        listed += [(D, kind.kv_lora_rank + kind.qk_rope_head_dim, 1, False),
                   (kind.kv_lora_rank, kind.heads * (kind.qk_nope_head_dim + kind.v_head_dim), 1, False)]
    else:
        listed += [(entry, key, 2 if alike and own else 1, False),
                   (entry, kind.kv_heads * head if own and not alike else 0, 1, False)]
    out = (value // kind.out_groups, kind.out_rank) if kind.out_rank else (value, D)
    listed += [(entry, kind.out_gate, 1, False), (*out, 1, False), (kind.out_rank, D, 1, False),
               (D, kind.d_ff, ups, False), (kind.d_ff, D, 1, False),
               (D, kind.d_ff_shared, ups, False), (kind.d_ff_shared, D, 1, False),
               (D, kind.experts + kind.null_experts, 1, False),
               (wide, kind.d_ff_expert if kind.experts else 0, ups * kind.experts, True),
               (kind.d_ff_expert, wide, kind.experts, True),
               (kind.q_lora_rank or D, kind.index_heads * kind.index_head_dim, 1, False),
               (D, kind.index_head_dim + kind.index_heads if kind.index_heads else 0, 1, False),
               (D, cross, 1, False), (kind.cross_width or D, 2 * kind.cross_kv_heads * kind.cross_head_dim, 1, False),
               (cross, D, 1, False), (D, kind.extra_matrices // D, 1, False)]
    listed += [(part.inp, part.out, 1, False) for part in parts_of_mixer(model, kind) if part.kind == "matmul"]
    return [row for row in listed if row[0] > 0 and row[1] > 0 and row[2] > 0]

def mlp_parameters(width, hidden, gated, bias):
    """Parameters and FLOPs: 3 D F gated, 2 D F otherwise; a bias of every output where there are biases."""
    ups = 2 if gated else 1
    return (ups + 1) * width * hidden + ((ups * hidden + width) if bias else 0)

def layer_parameters(model, kind):
    """Parameters and FLOPs: of one layer, all, and what a token meets."""
    D, wide = model.d_model, kind.expert_width or model.d_model
    total = sum(rows * columns * count for rows, columns, count, _ in matrices_of_layer(model, kind))
    total -= kind.extra_matrices // D * D - kind.extra_matrices
    total += D if kind.shared_gate else 0
    total += sum(part.parameters - (part.inp * part.out if part.kind == "matmul" else 0)
                 for part in parts_of_mixer(model, kind))
    total += kind.norms * norm_parameters(model) + kind.qk_norm_parameters + kind.extra_vectors
    if kind.heads:
        if kind.attention == "latent":
            biases = kind.q_lora_rank + kind.kv_lora_rank + kind.qk_rope_head_dim
        else:
            biases = kind.head_dim * (kind.heads + kind.kv_heads) + v_width(kind) * kind.kv_heads
        total += (biases if kind.qkv_bias else 0) + (D if kind.out_bias else 0) + (kind.heads if kind.sinks else 0)
    ups = 2 if kind.gated else 1
    for width in (kind.d_ff, kind.d_ff_shared):
        total += ups * width + D if kind.mlp_bias and width else 0
    if kind.expert_bias:
        total += kind.experts * (ups * kind.d_ff_expert + wide)
    total += kind.experts + kind.null_experts if kind.router_bias else 0
    idle = max(0, kind.experts - kind.top_k) * mlp_parameters(wide, kind.d_ff_expert, kind.gated, kind.expert_bias)
    return total, total - idle

def attention_span(kind, seq, full):
    """Parameters and FLOPs: the mean number of keys that a query sees; `full` counts whole squares."""
    S, window = float(seq), float(min(kind.window, seq))
    near = window if full else window - window * window / (2 * S)
    if kind.index_top_k > 0 or kind.compress > 1:
        keys = S / max(1, kind.compress)
        chosen = min(kind.index_top_k, keys) if kind.index_top_k else keys
        return (chosen if full else indexed_span(kind, S)) + near
    if kind.window == 0 or kind.window >= seq:
        return S if full else S / 2
    if not kind.chunked:
        return near
    squares = seq // kind.window * window * window + float(seq % kind.window) ** 2
    return (squares if full else squares / 2) / S

def indexed_span(kind, seq):
    """Layers without attention, and with sparse attention: k - k^2 / 2 S keys of the best k, or half of all."""
    keys, k = seq / max(1, kind.compress), float(kind.index_top_k)
    return keys / 2 if k == 0 or k >= keys else k - k * k / (2 * keys)

def layer_flops(model, seq):
    """Pipelines: forward FLOPs of a token in the mean layer, 2 active + 4 span N_h H, and the active parameters."""
    flops = active = 0
    for kind in model.kinds:
        own = layer_parameters(model, kind)[1]
        flops += kind.count * (2.0 * own + 4 * attention_span(kind, seq, False) * kind.heads * kind.head_dim
                               + scan_flops_of_mixer(model, kind))
        active += kind.count * own
    return flops / model.layers, active / model.layers

def model_flops(model, seq, full):
    """MFU and conventions: 6N and three times the mixing of tokens, of one token."""
    D, total = model.d_model, 0
    for kind in model.kinds:
        active = layer_parameters(model, kind)[1]
        blocks = min(kind.copies, kind.count) if kind.copies else kind.count
        own = sum(part.parameters for part in parts_of_mixer(model, kind))
        total += blocks * (active - own - kind.extra_looked_up) + kind.count * own
        if 0 < kind.copies < kind.count:  # shared blocks work in every layer
            total += (kind.count - kind.copies) * (active - own - kind.extra_looked_up)
    total += model.vocab * D if not model.no_head or model.tied else 0
    total += norm_parameters(model) * (2 if model.embedding_norm else 1) + (model.vocab if model.logits_bias else 0)
    total += model.extra_matrices + model.extra_vectors - model.extra_looked_up
    flops = 6.0 * total
    for kind in model.kinds:
        joined = float(seq) / max(1, kind.compress)
        mixing = 2.0 * kind.heads * (qk_width(kind) + v_width(kind)) * attention_span(kind, seq, full)
        mixing += scan_flops_of_mixer(model, kind) + 4.0 * kind.cross_heads * kind.cross_head_dim * seq
        mixing += 2.0 * kind.index_heads * kind.index_head_dim * (joined if full else joined / 2)
        flops += 3 * kind.count * mixing
    return flops

def blocks_share(model):
    """Layers without attention, and with sparse attention: what of two blocks a mean layer has."""
    blocks = sum(kind.count * (mixes_tokens(kind) + has_mlp(kind)) for kind in model.kinds)
    return blocks / (2 * model.layers)

def mixture_share(model):
    """Overlap and the step: the share of the layers that have experts."""
    return sum(kind.count for kind in model.kinds if kind.experts) / model.layers

def state_of_training(model, rules, dtypes):
    """The optimizer: bytes, FLOPs and gathered bytes of a parameter, averaged over the matrices of each part."""
    size = DTYPE_BYTES
    first, second, master = size[dtypes["first"]], size[dtypes["second"]], size[dtypes["master"]]
    totals = {part: Record(parameters=0.0, kept=0.0, flops=0.0, orthogonal=0.0)
              for part in ("dense", "experts", "tables")}

    def add(rule, part, n, m, count):
        numbers = {"full": 1.0, "factored": (n + m) / (n * m) if n * m else 0.0, "none": 0.0}
        elements, to = n * m * count, totals[part]
        to.parameters += elements
        to.kept += elements * (first * numbers[rule.first] + second * numbers[rule.second])
        if rule.steps:
            n, m = min(n, m), max(n, m)
            to.orthogonal += elements
            to.flops += count * rule.steps * (4 * n * n * m + 2 * n ** 3)
    for kind in model.kinds:
        matrices = matrices_of_layer(model, kind)
        for rows, columns, count, expert in matrices:
            add(rules["matrices"], "experts" if expert else "dense", float(rows), float(columns),
                float(kind.count * count))
        vectors = max(0, layer_parameters(model, kind)[0] - sum(r * c * n for r, c, n, _ in matrices))
        add(rules["vectors"], "dense", 1.0, float(vectors), float(kind.count))
    add(rules["tables"], "tables", float(model.vocab + model.learned_positions), float(model.d_model), 1.0)
    gradient, copy = size[dtypes["gradients"]] if dtypes["gradients"] else 4, size[dtypes["parameters"]]
    state = Record(copy=copy, master=master, first=first, second=second, gradients=dtypes["gradients"],
                   fp8_parameters=dtypes["parameters"] == "fp8", said_bf16=dtypes["said"] == "bf16", part={})
    for name, of in totals.items():
        count = max(1.0, of.parameters)
        kept = master + of.kept / count
        update = 2 * kept + gradient + copy * (1 if master else 2)
        state.part[name] = Record(bytes=kept, update=update, flops=of.flops / count, gathered=2 * of.orthogonal / count)
    if not totals["experts"].parameters:
        state.part["experts"] = state.part["dense"]
    state.orthogonal = any(of.orthogonal for of in totals.values())
    state.update_gradient = gradient
    return state
