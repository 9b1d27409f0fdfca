# SPDX-License-Identifier: GPL-3.0-or-later
"""Fine-tuning: what of a model is trained, and what that makes of its ops (docs/model.md, "Fine-tuning")."""
import copy

from data import Record, Unknown
from ops import BACKWARD, FORWARD, Op

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
PARTS = ("embeddings", "attention", "mlp", "experts", "router", "norms", "logits", "vision", "projector")
STORED = {"nf4": 0.5 + 1 / 64. + 4 / (64. * 256), "nf4-single": 0.5 + 4 / 64., "int8": 1.0, "gptq": 0.5 + 2.5 / 128}
# a matmul's part, the matrices it is made of, and the activation that it alone reads; the rest is of attention
ROWS = {"qkv projection": ("attention", TARGETS[:3], "attention_input"),
        "query projection": ("attention", TARGETS[:1], "attention_input"),
        "latent down projection": ("attention", TARGETS[1:2], "attention_input"),
        "key and value up projection": ("attention", TARGETS[2:3], None),
        "attention output": ("attention", TARGETS[3:4], None),
        "mlp gate and up": ("mlp", TARGETS[4:6], "mlp_input"), "mlp up": ("mlp", TARGETS[5:6], "mlp_input"),
        "mlp down": ("mlp", TARGETS[6:], "product"), "router": ("router", (), None),
        "expert gate and up": ("experts", TARGETS[4:6], "mlp_input"),
        "expert up": ("experts", TARGETS[5:6], "mlp_input"), "expert down": ("experts", TARGETS[6:], "product"),
        "embedding": ("embeddings", (), None), "logits": ("logits", (), None),
        "towers": ("vision", (), None), "projector": ("projector", (), None),
        **{name + " norm": ("norms", (), None) for name in ("attention", "mlp", "mixer", "final", "embedding")}}

def words_of(text):
    return text.replace(",", " ").split()

def tuning_of(request):
    """Fine-tuning: the options of a request; None for pre-training."""
    if not any(key in request for key in ("lora", "qlora", "targets", "freeze", "task", "mean_length", "max_length",
                                          "packing", "samples", "epochs")):
        return None
    tuning = Record(rank=0.0, stored_bytes=0.0, frozen=set(), targets=set())
    for key in ("qlora", "lora"):
        if key in request:
            tuning.rank = 16.0
            tuning.stored_bytes = STORED["nf4"] if key == "qlora" else tuning.stored_bytes
            for word in words_of(request[key]):
                if word in STORED:
                    tuning.stored_bytes = STORED[word]
                elif word.isdigit():
                    tuning.rank = float(word)
                else:
                    raise Unknown("fine-tuning: format " + word)
    if tuning.rank:
        tuning.frozen, tuning.targets = set(PARTS), set(TARGETS)
        if "targets" in request:
            tuning.targets = set()
            for word in words_of(request["targets"]):
                named = {"all-linear": TARGETS, "attention": TARGETS[:4], "mlp": TARGETS[4:]}
                alone = [one for one in TARGETS if one.split("_")[0] == word.split("_")[0]]
                tuning.targets |= set(named.get(word, alone))
    for word in words_of(request.get("freeze", "")):
        tuning.frozen |= {part for part in PARTS if part.startswith(word) or part == word + "s"}
    if request.get("task") == "dpo":
        tuning.references, tuning.reference_model = 1, not tuning.rank
    tuning.on_host = request.get("offload") == "parameters"
    return tuning

def columns_of_adapters(tuning, op, query_share):
    """Fine-tuning: how many matrices of an op have adapters, and how many of its columns are theirs."""
    of = ROWS.get(op.name, ("attention", (), None))[1]
    chosen, columns = [one for one in of if one in tuning.targets], 0.0
    for one in chosen:
        share = 1 / len(of) if len(of) < 3 else query_share if one == "q_proj" else (1 - query_share) / 2
        columns += share * op.n
    return len(chosen), columns

def adapter(base, name, n, k, times, ways):
    """Fine-tuning: one matrix of an adapter, [m, k] x [k, n] of each group, split and gathered like the base's."""
    rows, groups = base.m, base.groups
    flops, moved = 2 * times * groups * rows * n * k, 2 * times * groups * (rows * k + k * n + rows * n)
    op = Op("matmul", name, (flops, 2 * flops), (moved, 2 * moved), times * groups * n * k)
    op.m, op.n, op.k, op.expert, op.adapter = rows, n, k, base.expert, True
    if ways > 1:
        size = 2 * op.weights
        op.weights /= ways
        op.send("tensor_weights", FORWARD, 1, size)
        op.send("tensor_weights", BACKWARD, 2, size)
    return op

def frozen(op):
    """Fine-tuning: a frozen matmul has no gradient of its weights: backward is one matmul, not two."""
    op.frozen = op.weights
    if op.kind == "lookup":
        op.hbm[BACKWARD] = 0.0
    if op.kind in ("matmul", "grouped"):
        op.flops[BACKWARD] /= 2
        op.hbm[BACKWARD] /= 2
        if "tensor_weights" in op.traffic:
            op.traffic["tensor_weights"][BACKWARD] = [one / 2 for one in op.traffic["tensor_weights"][BACKWARD]]

def tuned(tuning, query_share, ops):
    """Fine-tuning: frozen matmuls, their weights written out where they lie quantised, and adapters before them."""
    needed, out = set(), []
    for op in (copy.deepcopy(one) for one in ops):
        part, of, read = ROWS.get(op.name, ("attention", (), None))
        is_frozen, matmul = part in tuning.frozen, op.kind in ("matmul", "grouped")
        count, columns = columns_of_adapters(tuning, op, query_share) if is_frozen and tuning.rank else (0, 0.0)
        if read and (not is_frozen or count or tuning.stored_bytes):
            needed.add(read)
        if is_frozen:
            frozen(op)
        if matmul and part != "logits":
            gather = op.sent("tensor_weights", FORWARD)
            ways = gather[1] / (2 * op.weights) if gather[0] > 0 and op.weights else 1.0
            if is_frozen and tuning.stored_bytes and part != "router":
                size = (tuning.stored_bytes + 2) * op.weights
                out.append(Op("elementwise", "dequantise", hbm=(size, size)))
            if count:
                by_rows, size = of == TARGETS[6:], 6 * op.m * op.groups * columns
                out.append(adapter(op, "adapter down", tuning.rank, op.k, count, ways if by_rows else 1.0))
                out.append(adapter(op, "adapter up", columns, tuning.rank, 1, 1.0 if by_rows else ways))
                out.append(Op("elementwise", "adapter sum", hbm=(size, size)))
        out.append(op)
    for op in out:
        if op.output in ("attention_input", "mlp_input", "product") and op.output not in needed:
            op.saved = op.saved_copy = 0.0
    return out
