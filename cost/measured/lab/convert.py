#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of measured training runs, whose columns are prose, as exact requests: one line of JSON each.

    python3 cost/measured/lab/convert.py [--shardopt build/shardopt] TABLE.tsv >RUNS.jsonl

The rules by which words are read stand here and nowhere else; the program reads what this writes. For every row stderr
says what was assumed, or why the row is no request: check it before the lines are used. Columns: README.md.
"""
import argparse
import csv
import functools
import json
import math
import re
import sys
from pathlib import Path

from tables import HERE, ROOT, Program, Wrong, has, leading_number, leading_whole, rows_of, stack_of

ACTIVATIONS = "layer_input attention_input qkv context middle mlp_input gate_up product".split()
S, R, O, P = "saved", "recomputed", "offloaded", "partly"
POLICIES = {  # cost/state/remat.c
    "none": [S, S, S, S, S, S, S, S], "full": [S, R, R, R, R, R, R, R],
    "minimal_with_context": [S, R, S, S, S, R, S, R], "minimal": [S, R, S, R, S, R, S, R],
    "save_dot_with_context_except_mlp": [S, R, S, S, S, R, R, R], "save_dot_except_mlp": [S, R, S, R, S, R, R, R],
    "save_qkv_proj": [S, R, S, R, R, R, R, R], "save_out_proj": [S, R, R, R, S, R, R, R],
    "minimal_offloaded": [S, R, O, R, O, R, O, R], "qkv_proj_offloaded": [S, R, O, R, R, R, R, R],
    "layernorm": [S, R, S, S, S, R, S, S], "moe_act": [S, S, S, S, S, S, S, R], "mlp": [S, S, S, S, S, S, R, R],
    "selective_by_op": [S, R, P, P, P, P, P, R],
}
ALL_TARGETS = "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj".split()
NODE_GIGABITS = (50, 1e5)
DOCUMENT_TOKENS = 512  # of fine-tuning's "real packed data"
EVALUATION_FACTOR = 1.06  # Google's rounds of MLPerf print blocks that hold an evaluation pass: 7% more by their notes


@functools.lru_cache(maxsize=None)
def side_table(name):
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


# ---- fine-tuning in the words of pre-training ----


def result_failed(result):
    return result.lower().startswith("fails") or any(has(result, word) for word in ("OOM", "OutOfMemory", "out of memory"))


def degree_in(text, word):
    found = re.search(rf"(?:^| ){word}(\d+)", text)
    return int(found.group(1)) if found else 0


def read_parallel(row):
    text = row.fsdp
    row.tp, row.pp, row.cp, row.vpp, row.ep = (degree_in(text, word) for word in ("tp", "pp", "cp", "vp", "ep"))
    if row.tp > 1:
        row.sp = 1
    if has(text, "fsdp"):  # Megatron's is none: replicas share the optimizer's state
        if has(row.framework, "Megatron"):
            row.fsdp = "zero1"
        if degree_in(text, "fsdp") == 1:
            row.fsdp = "none"
    elif not has(text, "zero"):
        row.fsdp = "none" if text or row.chips == 1 else "fsdp"


def read_lengths(row):
    """A step has samples of the mean length, memory the longest."""
    mean, longest = re.search(r"mean (.*)", row.lengths), re.search(r"longest example (.*)", row.lengths)
    most = leading_whole(longest.group(1)) if longest else row.seq_len
    if has(row.lengths, "4,096 tokens") and most == 0:
        most = 4096
    if mean:
        row.seq_len, row.longest, row.longest_unknown = leading_whole(mean.group(1)), most, most == 0
    else:
        row.seq_len, row.lengths_unknown = most, bool(longest) or has(row.lengths, "real lengths shorter")


def read_tuning_row(row):
    if not row.method:
        return
    if row.remat.lower() in ("false", "none", "no"):
        row.remat = "none"
    if row.remat.lower() in ("true", "recompute", "full"):
        row.remat = "full"
    if row.remat.lower() == "offload":
        row.remat = "custom: decoder input offloaded"
    read_parallel(row)
    if not row.remat:  # scripts that say nothing: litgpt's checkpoint blocks under FSDP alone, Hugging Face's all
        full = has(row.framework, "SFTTrainer") or (has(row.framework, "litgpt") and row.chips > 1)
        row.remat = "full" if full else "none"
    read_lengths(row)
    if row.global_batch == 0 and row.micro_batch > 0 and row.ep <= 1:  # every chip is a replica
        row.global_batch = row.micro_batch * row.chips * max(1, row.grad_accum)
    if has(row.notes, "step_s is one iteration"):  # a micro-batch of one chip
        row.global_batch = row.micro_batch * row.chips
    if row.step_time_s <= 0 and row.samples_per_s > 0:
        row.step_time_s = row.global_batch / row.samples_per_s
    if row.lengths_unknown:
        row.step_time_s = 0
    # with FSDP litgpt shows the peak of loading: a whole model and its shards, whatever the micro-batch
    if row.longest_unknown or (has(row.framework, "litgpt") and row.chips > 1):
        row.mem_gb_per_chip = 0
    if result_failed(row.result):
        row.failed, row.step_time_s, row.mem_gb_per_chip = True, 0, 0


# ---- labels ----


def family_of(row):
    """The first word of the id without a release that is part of it, and with one that stands after it."""
    if "-" not in row.id:
        return row.source
    first, rest = row.id.split("-", 1)
    word = first.split(".")[0] or first
    release = re.match(r"v\d[0-9.]*(?=-|$)", rest)
    return f"{first}-{release.group()}" if release and "." in release.group() else word


def framework_of(row):
    """Without vendor, release and what stands in brackets or after "/" and "+"."""
    words = []
    for word in row.framework.split(" "):
        if word and word[0] in "(/+," and words:
            break
        empty = word.lower() in ("nvidia", "framework", "release") or re.match(r"\d|[rv]\d", word)
        if word and not empty:
            words.append(word)
    return " ".join(words) or row.framework or "not said"


# ---- one row ----


class Reading:
    """What becomes of a row."""

    def __init__(self, row, program):
        self.row, self.program, self.notes, self.guesses = row, program, [], 0
        self.request, self.plan, self.measured, self.knobs = {}, "", {}, {}
        if row.rounded:
            self.note("micro_batch rounded up")

    def note(self, text):
        self.notes.append(text)
        self.guesses += 1

    def on_jax(self):
        return any(has(self.row.framework, name) for name in ("JAX", "MaxText", "AXLearn", "Pax", "T5X"))

    def on_torch(self):
        return has(self.row.framework, "torchtitan") or has(self.row.framework, "FSDP")

    def year(self):
        found = re.search(r"20\d\d\d*", self.row.version)
        return int(found.group()) if found else 2024

    # ---- model ----

    def is_model(self, model):
        """Whether the columns that are given agree with the zoo's model."""
        row, kind = self.row, main_kind(model)
        agrees = lambda column, value: column in (0, value)
        return (row.layers > 0 and row.d_model > 0 and row.layers == model["layers"] and
                row.d_model == model["d_model"] and agrees(row.n_heads, kind["heads"]) and
                (kind["attention"] == "latent" or agrees(row.n_kv_heads, kind["kv_heads"])) and
                agrees(row.experts, kind["experts"]) and agrees(row.topk, kind["top_k"]) and
                agrees(row.d_ff, kind["d_ff_expert"] if kind["experts"] > 0 else kind["d_ff"]))

    def known_model(self):
        row, program = self.row, self.program
        named = program.named(row.model)
        if not named and (row.model.count("/") == 1 or re.search(r"[-.]", row.model)) and " " not in row.model:
            named = program.model(row.model)
        if not named and row.params_b > 0:
            named = program.named(f"{row.model[:40]}-{row.params_b:g}b")
        if named and (row.layers == 0 or row.d_model == 0 or self.is_model(named)):
            return named
        for model in program.models:
            if model["layers"] != row.layers or model["d_model"] != row.d_model:
                continue
            full = program.model(model["name"])  # a row without a gate is a GPT's, which rotates nothing
            if (row.gated_mlp or full["positions"] in ("learned", "alibi")) and self.is_model(full):
                return full
        return None

    def read_model(self):
        row, model = self.row, self.known_model()
        if model:
            self.layers, self.d_model, self.tied = model["layers"], model["d_model"], model["tied"]
            self.vocab = row.vocab or model["vocab"]
            self.mixture = any(kind["experts"] > 0 for kind in model["kinds"])
            self.request["model"] = model["name"]
            if self.vocab != model["vocab"]:
                self.request["vocab"] = self.vocab
            return
        heads = row.n_heads
        if heads <= 0 and row.d_model > 0:
            heads = max(1, row.d_model // (128 if row.d_model % 128 == 0 else 96))
            self.note(f"{heads} heads assumed")
        layers = row.layers or self.layers_of_size()
        if layers <= 0 or row.d_model <= 0 or row.d_ff <= 0:
            raise Wrong(f"its model has no dimensions in the table, and the zoo has no {row.model[:40]}")
        if row.layers <= 0:
            self.note(f"{layers} layers make its size")
        if row.seq_len <= 0:
            raise Wrong("its model: max_seq is 0; expected 1 to 2147483647")
        untied = has(row.notes, "untied embeddings")
        said = has(row.notes, "tied embeddings") and not untied
        self.layers, self.d_model, self.vocab = layers, row.d_model, row.vocab or 51200
        self.tied = said or (not row.gated_mlp and row.experts == 0 and not untied)
        self.mixture = row.experts > 0
        model = {"model_type": "shardopt", "d_model": row.d_model, "vocab": self.vocab, "max_seq": row.seq_len}
        kind = {"count": layers, "heads": heads}
        if self.tied:
            model["tied"] = True
        if not row.gated_mlp:
            model.update(norm="layer", positions="learned")
            kind["gated"] = False
        if row.n_kv_heads not in (0, heads):
            kind["kv_heads"] = row.n_kv_heads
        head_dim = row.head_dim or max(1, row.d_model // heads)
        if head_dim * heads != row.d_model:
            kind["head_dim"] = head_dim
        if row.experts > 0:
            kind.update(experts=row.experts, top_k=max(1, row.topk), d_ff_expert=row.d_ff)
        else:
            kind["d_ff"] = row.d_ff
        self.request["model"] = {**model, "layers": [kind]}

    def layers_of_size(self):
        """The number of layers that a dense model's size implies with one table; it divides its stages."""
        row = self.row
        if not row.params_b > 0 or row.experts > 0 or row.d_model <= 0 or row.d_ff <= 0:
            return 0
        stages = max(1, row.pp)
        layer = row.d_model * (4 * row.d_model + (3 if row.gated_mlp else 2) * row.d_ff)
        layers = (row.params_b * 1e9 - row.vocab * row.d_model) / layer
        return max(1, math.floor(layers / stages + 0.5)) * stages if 1 <= layers < 10000 else 0

    # ---- machine ----

    def read_machine(self):
        row = self.row
        chip = self.chip = self.program.chip(row.hardware)
        if not chip:
            raise Wrong(f"the catalog has no {row.hardware[:40]}")
        if not chip["plannable"] and chip["topology"]["kind"] not in ("switch", "mesh", "torus_2d", "torus_3d"):
            raise Wrong(f"the catalog does not know how {chip['name']} are joined")
        if row.chips < 1:
            raise Wrong("it has no number of chips")
        self.torus = chip["topology"]["kind"].startswith("torus")
        self.devices = row.chips * chip["topology"].get("devices_per_chip", 1)
        self.request.update(chip=chip["name"], chips=row.chips)
        if self.torus:
            self.read_slices()
        elif chip["topology"]["kind"] == "switch":
            gigabits = network_gigabits(row.topology, chip["topology"]["chips_per_host"])
            if gigabits > 0:
                self.request["node_gigabits"] = gigabits
        if self.on_jax() and not self.torus:
            self.request["jax_mesh"] = True

    def read_slices(self):
        row = self.row
        offered = {one["chips"] for one in self.chip["topology"]["offered"]}
        slices = slices_in(row.topology, row.fsdp)
        if slices < 1 or row.chips % slices != 0:
            slices = 1
        shape = slice_in(row.topology, row.chips // slices)
        if not shape and row.chips // slices not in offered:
            slices = next((n for n in range(2, 257) if row.chips % n == 0 and row.chips // n in offered), 0)
            if not slices:
                raise Wrong(f"{row.chips} chips are no slice of {self.chip['name']}")
            self.note(f"{slices} slices assumed")
        if shape:
            sizes = sorted(shape) if self.chip["topology"]["kind"] == "torus_3d" else shape
            self.request["slice"] = "x".join(map(str, sizes))
        if slices != 1:
            self.request["slices"] = slices

    # ---- plan ----

    def sharding_unknown(self):
        return not self.row.fsdp or has(self.row.fsdp, "unknown")

    def is_sharded(self):
        return any(has(self.row.fsdp, word) for word in ("zero3", "zero-3", "fsdp", "hsdp", "full shard"))

    def shard_group(self, ranks):
        """How many ranks share parameters; 0: they are not sharded."""
        text = self.row.fsdp
        sharded = ((not text and self.torus) or self.is_sharded() or has(text, "zero2") or has(text, "zero-2"))
        if not sharded:
            return ranks if self.sharding_unknown() and self.on_torch() else 0
        over = text.find("over ")
        if over >= 0 and text[over + 5:over + 6].isdigit():
            return max(1, leading_whole(text[over + 5:]))
        if text[:1].isdigit():
            return max(1, leading_whole(text))
        copies = self.row.dp
        hybrid = has(text, "hsdp") and 1 < copies < ranks and ranks % copies == 0
        return ranks // copies if hybrid else ranks

    def read_degrees(self):
        row = self.row
        tensor, context, stages = max(1, row.tp), max(1, row.cp), max(1, row.pp)
        expert = row.ep if self.torus and row.ep > 1 else 1  # an axis of its own there
        left = self.devices
        for of in (tensor, context, stages, expert):
            left = left // of if left % of == 0 else 0
        if left == 0:
            raise Wrong(f"its plan does not multiply to its {self.devices} devices")
        once = stages > 1 and has(row.fsdp, "zero2")  # ZeRO-2 in a pipeline gathers weights once a step
        fsdp = 1 if once else max(1, self.shard_group(left))
        if self.sharding_unknown() and left > 1 and not self.torus:
            self.note("sharded parameters assumed" if fsdp > 1 else "replicated parameters assumed")
        if left % fsdp != 0:  # the group counts the other roles that shard: context, or experts
            fsdp = max(1, fsdp // context) if left % max(1, fsdp // context) == 0 else left
            self.note(f"shard group taken as {fsdp}")
        self.degrees = {"data": left // fsdp, "fsdp": fsdp, "sequence": context, "tensor": tensor, "expert": expert,
                        "pipeline": stages}

    def read_microbatches(self):
        row, d = self.row, self.degrees
        of_replica = -(-row.global_batch // (d["data"] * d["fsdp"] * d["expert"]))
        micro = row.micro_batch
        if micro <= 0:  # the usual size: one sequence of a large model, more of a small one
            hidden = self.d_model
            micro = 16 if hidden <= 2304 else 8 if hidden <= 3072 else 4 if hidden <= 4096 and d["tensor"] < 8 else 1
            if self.year() >= 2023:
                micro = 1
            while micro > 1 and of_replica % micro != 0:
                micro //= 2
            self.note(f"microbatch of {micro} assumed")
        self.knobs["microbatch_sequences"] = min(micro, of_replica)
        self.knobs["microbatches"] = -(-of_replica // self.knobs["microbatch_sequences"])
        self.request.update(seq=row.seq_len, sequences=row.global_batch)
        if row.longest:
            self.request["longest_seq"] = row.longest

    def read_schedule(self):
        row, knobs, stages, chunks = self.row, self.knobs, self.degrees["pipeline"], self.row.vpp
        if stages <= 1:
            return
        knobs.update(schedule="1f1b", stages="balanced")
        # Megatron's stages are equal unless the embedding and the logits take a layer's place each
        slots = (self.layers + 2) % stages == 0 and self.layers % stages != 0
        if slots and (has(row.version, "MLPerf") or has(row.framework, "Megatron")):
            knobs["stages"] = "slots"
        if (has(row.framework, "Megatron-DeepSpeed") or has(row.framework, "Megatron-LM")) and self.layers % stages == 0:
            knobs["stages"] = "even"
        if chunks <= 0:
            chunks = chunks_assumed(-(-self.layers // stages)) if self.year() >= 2023 else 1
            if self.on_torch():
                chunks = 2 if has(row.notes, "interleaved") else 1  # torchtitan's two a rank
            self.note(f"{chunks} chunks a stage assumed")
        if chunks > 1 and self.layers // stages >= chunks:
            knobs.update(schedule="interleaved", virtual_stages=chunks)
        if has(row.notes, "dualpipe"):
            knobs.update(schedule="dualpipe", virtual_stages=1)
        if has(row.notes, "zero-bubble") or has(row.notes, "zero bubble"):
            knobs["schedule"] = "zb_h1"

    def read_methods(self):
        row, knobs, d = self.row, self.knobs, self.degrees
        replicates = False
        if d["sequence"] > 1:
            gathers = self.torus or has(row.notes, "all-gather")
            knobs["context_method"] = "ulysses" if has(row.notes, "ulysses") else "all_gather" if gathers else "ring"
            shards = self.on_torch() and self.is_sharded()  # FSDP2 shards over context ranks too
            replicates = not self.torus and d["fsdp"] == 1 and not shards
            if replicates:
                knobs["sequence_parameters"] = "replicated"
        # torchtitan keeps weights of stages by default (fsdp_reshard_after_forward)
        kept = (has(row.fsdp, "zero2") or has(row.fsdp, "not re-sharded") or
                (has(row.framework, "torchtitan") and row.pp > 1))
        if d["fsdp"] > 1 and kept:
            knobs["regather"] = "false"
        sharded = (has(row.fsdp, "zero1") or has(row.fsdp, "zero2") or
                   (self.sharding_unknown() and self.year() >= 2022))
        if d["data"] * (d["sequence"] if replicates else 1) > 1 and sharded:
            knobs["zero_stage"] = 1
        if not self.torus and row.ep > 1 and self.mixture:
            knobs["folded_expert"] = row.ep
        along = self.along_sequence() or "folded_expert" in knobs
        if d["tensor"] > 1 and not along:
            self.request["sequence_parallel"] = False

    def along_sequence(self):
        """Whether tensor ranks split the sequence between matmuls: torch's plans do, Megatron's recipes since 2023."""
        row = self.row
        if row.sp >= 0 and not self.torus:
            return row.sp == 1
        recipes = has(row.framework, "Megatron") or has(row.framework, "NeMo")
        return self.torus or self.on_torch() or (recipes and self.year() >= 2023)

    # ---- remat ----

    def read_remat(self):
        text, layers = self.row.remat, 0
        states = list(POLICIES["none"])
        of_stage = self.layers // max(1, self.row.pp)
        every = 2 if has(text, "every other") else int((re.search(r"every (\d+)", text) or [0, 0])[1])
        blocks, offloaded = text.find("full block for "), text.find("activations of ")
        if offloaded >= 0:
            states, layers = [O] * 8, max(1, leading_whole(text[offloaded + 15:]))
        elif text.lower().startswith("none"):
            pass
        elif has(text, "custom"):
            states = custom_remat(text)
        elif blocks >= 0:
            states, layers = POLICIES["full"], max(1, leading_whole(text[blocks + 15:]))
        elif every > 1:
            states, layers = POLICIES["full"], max(1, of_stage // every)
        elif text.lower().startswith("full"):
            states = POLICIES["full"]
        elif has(text, "selective") or has(text, "minimal"):
            states = self.selective_remat(text)
        elif has(text, "unknown") or not text:
            self.note("no recomputation assumed")
        self.set_remat(states, layers)

    def set_remat(self, states, layers=0):
        policy = next((name for name, own in POLICIES.items() if own == list(states)), None)
        self.request.pop("remat_layers", None)
        if policy:
            self.request["remat"] = f"{policy}:{layers}" if layers else policy
            return
        default = POLICIES["full"]
        self.request["remat"] = " ".join(f"{name}={own}" for name, own, usual in zip(ACTIVATIONS, states, default)
                                         if own != usual)
        if layers:
            self.request["remat_layers"] = layers

    def selective_remat(self, text):
        named = (("minimal_with_context", "minimal_with_context"), ("save_dot_except_mlpwi", "save_dot_except_mlp"),
                 ("save_dot_except_logits_ffn1", "save_dot_except_mlp"), ("save_dot_except_logits", "minimal"),
                 ("minimal", "minimal"), ("qkv_proj_offloaded", "qkv_proj_offloaded"),
                 ("save_qkv_proj", "save_qkv_proj"), ("mla_up_proj+mlp", "mlp"))
        states = list(next((POLICIES[policy] for word, policy in named if has(text, word)), POLICIES["none"]))
        if has(text, "layernorm"):
            states[1] = states[5] = R
        if has(text, "moe_act"):
            states[7] = R
        if has(text, "mla_up_proj"):
            states[2] = R
        # Megatron's selective recomputation, where no modules are named, applies to attention's core
        bare = "(" not in text and not self.on_jax() and not self.on_torch()
        if bare or has(text, "core attention") or has(text, "core_attn") or has(text, "(attention)"):
            states[3] = R
        return list(POLICIES["selective_by_op"]) if self.on_torch() else states

    # ---- precision and state ----

    def peak(self, precision):
        value = lambda key: (self.chip.get(key) or {}).get("value", 0)
        fp4 = value("fp4_flops_per_second")
        return {"bf16": value("bf16_flops_per_second"), "fp8": value("fp8_flops_per_second"), "nvfp4": fp4,
                "mxfp8": value("fp8_flops_per_second") if fp4 else 0, "int8": value("int8_ops_per_second")}[precision]

    def read_precision(self):
        text = self.row.precision
        precision = ("nvfp4" if has(text, "fp4") else "mxfp8" if has(text, "mxfp8") else
                     "fp8" if has(text, "fp8") or has(text, "float8") else "int8" if has(text, "int8") else "bf16")
        if has(text, " or "):
            self.note(f"{precision} taken")
        if precision == "mxfp8" and not self.peak("mxfp8") and self.peak("fp8"):
            precision = "fp8"
        if not self.peak(precision):
            self.note(f"{self.chip['name']} has no figure of {precision}: bf16")
            precision = "bf16"
        self.precision = precision
        if precision != "bf16":
            self.request["precision"] = precision

    def read_state(self):
        row, text, state = self.row, self.row.precision, {}
        if has(row.framework, "torchtitan"):
            state["gradients"] = "fp32"  # its mixed_precision_reduce
        if has(row.notes, "PURE") or has(text, "bf16 reduce"):
            state["gradients"] = "bf16"
        if has(row.notes, "fp32 reduce") or has(text, "fp32 reduce"):
            state["gradients"] = "fp32"
        # recipes of NeMo, Megatron-Bridge and MLPerf reduce gradients in bf16; from MLPerf 4.0 on weights are fp8 too
        if has(row.framework, "NeMo") or has(row.framework, "Bridge") or has(row.version, "MLPerf"):
            state["gradients"] = "bf16"
        if has(row.version, "MLPerf") and not has(row.version, "v3") and self.precision == "fp8":
            state.update(parameters="fp8", master="fp32")
        # DeepSpeed's ZeRO-1 sums gradients in the dtype of the weights, its BF16_Optimizer in fp32
        summed = has(row.source, "Rebalancing layers") or has(row.source, "README")
        if has(row.framework, "Megatron-DeepSpeed"):
            state["gradients"] = "fp32" if summed else "bf16"
        if has(text, "bf16 weights"):  # MaxText's moments have the dtype of the weights, which have no other copy
            state.update(master="none", m="bf16", v="bf16", gradients="bf16")
        if has(text, "fp16"):
            state["gradients"] = "fp16"
        if row.method:
            state = self.read_tuning(state)
        order = ("parameters", "gradients", "master", "m", "v")
        if state:
            self.request["state"] = " ".join(f"{key}={state[key]}" for key in order if key in state)

    def read_tuning(self, state):
        """What a row of fine-tuning trains."""
        row, method = self.row, self.row.method.lower()
        full = method.startswith("full")
        if (not full and method not in ("qlora", "lora")) or has(row.id, "dora"):
            raise Wrong("adapters of another kind than LoRA")
        if row.result == "N/A":
            raise Wrong("its source does not run it")
        if has(row.framework, "-ep") and has(row.framework, "moe"):
            raise Wrong("experts in kernels and groups of their own (ScatterMoE), which no profile has")
        tuning = self.request["tuning"] = {}
        if has(row.notes, "CPU offload True"):
            tuning["on_host"] = True
        if full:
            # Hugging Face's and PEFT's scripts train a checkpoint as it is loaded, in 16 bits without a master; what
            # FSDP trains accelerate casts
            upcast = has(row.id, "_liger") and has(row.fsdp, "fsdp")
            if not upcast and (has(row.framework, "SFTTrainer") or has(row.framework, "peft")):
                return {"gradients": "bf16", "master": "none", "m": "bf16", "v": "bf16"}
            return state
        rank, targets = row.lora_rank or 16, [
            "attention" if word == "c_attn" else word for word in re.split(r"[, ]+", row.targets) if word]
        # defaults of their scripts: litgpt 8641822 finetune/lora.py; fsdp_qlora 02586ac7 train.py; AutoModel's recipes
        usual = (("litgpt", 8, ["q_proj", "v_proj"]), ("fsdp_qlora", 64, [t for t in ALL_TARGETS if t != "o_proj"]),
                 ("AutoModel", 8, ["all-linear"]))
        for name, own_rank, own in usual:
            if not row.targets and has(row.framework, name):
                rank, targets = own_rank, own
        if "attention" in targets:
            targets = [word for word in targets if word not in ALL_TARGETS[:4]]
        tuning.update(rank=rank, targets=",".join(targets or ["all-linear"]))
        if row.quant:
            tuning["stored"] = row.quant
        return state

    # ---- figures ----

    def counted(self):
        text = self.row.convention
        if has(text, "HARDWARE") or has(text, "Megatron 2021"):
            return "megatron 2021, recomputed" if has(self.row.remat, "full") else "megatron 2021"
        halved = has(text, "halved") and not has(text, "not halved")
        embedding = (has(text, "all params") or has(text, "incl. embeddings")) and not self.tied
        return ("causal" if halved else "full") + (", embedding" if embedding else "")

    def peak_flops(self):
        """"peak 989" is in TFLOP/s, "peak 989 bf16 / 1979 fp8" one for each precision."""
        text = self.row.convention
        at, slash = text.find("peak "), text.find("/ ")
        peak = leading_number(text[at + 5:]) if at >= 0 else 0
        if (self.precision == "fp8" and slash >= 0 and " fp8" in text[slash:]) or not peak > 0:
            peak = leading_number(text[slash + 2:]) if slash >= 0 else 0
        if 50 < peak < 1e5:
            return peak * 1e12
        return self.peak(self.precision if has(text, "peak per precision") else "bf16")

    def read_measured(self):
        row, out = self.row, self.measured
        if row.step_time_s > 0:
            out["step_seconds"] = row.step_time_s
        elif row.tokens_per_s_per_chip > 0:
            out["tokens_per_second_per_chip"] = row.tokens_per_s_per_chip
        elif row.tflops_per_chip > 0:
            out["flops_per_second_per_chip"] = row.tflops_per_chip * 1e12
        elif row.mfu > 0:
            out.update(mfu=row.mfu, peak_flops_per_second=self.peak_flops())
        elif row.failed or has(row.notes, "out of memory"):
            out["failed"] = True
        elif row.mem_gb_per_chip <= 0:
            raise Wrong("no figure of its speed or memory")
        if ("flops_per_second_per_chip" in out or "mfu" in out) and self.counted() != "full":
            out["counted"] = self.counted()
        if has(row.notes, "evaluation pass"):
            out["step_factor"] = EVALUATION_FACTOR
        self.read_memory()

    def read_memory(self):
        """What "GB" means, and the bytes that it counts (README.md)."""
        row, out, gib = self.row, self.measured, 1073741824.0
        shown = next((shows for word, shows in (("per card", "device"), ("reserved", "reserved"),
                                                ("nvidia-smi", "device")) if has(row.memory_kind, word)), None)
        unit, peak, first = 1e9, row.notes.find("torch peak alloc "), False
        if peak >= 0 and row.mem_gb_per_chip > 0:  # before what nvidia-smi shows, in which are blocks that are kept
            out["memory_bytes"] = leading_number(row.notes[peak + 17:]) * unit
            return
        for source, of, shows, of_first in (("torchtitan", gib, "reserved", False),
                                            ("mlcommons/training_results", gib, None, False),
                                            ("nanotron", gib, "reserved", True),
                                            ("bigscience", 1048576000.0, "device", False)):
            if has(row.source, source):
                unit, shown, first = of, shows, of_first
        if row.mem_gb_per_chip > 0:
            out["memory_bytes"] = row.mem_gb_per_chip * unit
        if shown:
            out["memory_shows"] = shown
        if first:
            out["first_stage_layers"] = self.dealt_layers()

    def dealt_layers(self):
        """nanotron deals blocks to stages by their matmuls until all so far are more than a stage's share."""
        stages, d = self.degrees["pipeline"], self.d_model
        layer = d * (4 * d + 3 * self.row.d_ff)
        if stages <= 1 or not layer > 0:
            return 0
        share = (self.layers + self.vocab * d / layer) / stages
        return int(min(self.layers, math.floor(share) + 1))

    # ---- software ----

    def read_software(self):
        row = self.row
        said = f"{row.precision}; {row.framework}; {row.notes}" + ("; in a pipeline" if row.pp > 1 else "")
        if row.method:
            lies = "sharded" if self.degrees["fsdp"] > 1 else "whole"
            said = f"{row.framework}; {row.notes}; {row.attention}; {lies}, {row.method}"
        query = (row.framework, row.version, said, row.source, self.chip)
        stack = stack_of(self.program.stacks, *query)
        self.request["stack"] = stack or "none"
        if stack and self.program.stacks[stack].get("matches"):
            self.note_software(stack, query)
        if has(row.notes, "all-to-all overlap on"):
            self.request["expert_overlap"] = True
        if has(row.fsdp, "over all"):
            self.request["serial_ranks"] = True
        # Megatron's recipes and those made of it overlap where the stream is split; others say so when they do
        asynchronous = has(said, "async")
        makers = ("Megatron", "NeMo", "NVIDIA", "MegaScale")
        overlaps = (asynchronous or has(row.notes, "TP comm overlap") or has(row.version, "MLPerf") or
                    any(has(row.framework, maker) for maker in makers))
        overlaps = asynchronous if self.on_torch() else overlaps and row.sp == 1
        tensor, local = self.degrees["tensor"], row.seq_len // self.degrees["sequence"]
        if overlaps and tensor > 1 and local % tensor == 0:
            self.knobs["tensor_overlap"] = "true"

    def note_software(self, stack, query):
        """Software that only the kind of chip has suggested is a guess, and one that an unknown release decides."""
        row, matches = self.row, self.program.stacks[stack]["matches"]
        word, squeeze = stack.split("-")[0], lambda text: re.sub(r"[-_ ]", "", text).lower()
        named = has(row.framework, word) or has(row.version, word) or has(row.hardware, word)
        if any(match.get("like") and squeeze(match["like"]) in squeeze(row.framework) for match in matches):
            named = False
        if any(match.get("framework") and squeeze(match["framework"]) in squeeze(row.framework) for match in matches):
            named = True
        latest = stack_of(self.program.stacks, query[0], "1999", *query[2:])  # later than any container of NVIDIA
        undated = not re.search(r"\d", row.version) and latest != stack
        if not named or undated:
            self.note(f"software as of {stack} assumed" + (", undated" if named else ""))

    # ---- all of it ----

    def read(self):
        row = self.row
        self.read_model()
        self.read_machine()
        if has(row.notes, "LoRA") and not row.method:
            raise Wrong("most of its weights are frozen (LoRA), which is not priced")
        if row.seq_len <= 0:
            raise Wrong("no sequence length")
        if row.global_batch <= 0:
            raise Wrong("no global batch")
        self.read_degrees()
        self.read_microbatches()
        self.read_schedule()
        self.read_methods()
        self.read_remat()
        self.read_precision()
        self.read_state()
        self.read_measured()
        capacity = row.notes.find("capacity factor ")
        factor = leading_number(row.notes[capacity + 16:]) if capacity >= 0 else 0
        if 1 <= factor <= 16:
            self.request["capacity_factor"] = factor
        if has(row.notes, "real packed data"):  # attention stays within documents, which are short there
            self.request["document_tokens"] = DOCUMENT_TOKENS
        self.read_software()

    def plan_text(self):
        order = ("data", "fsdp", "sequence", "tensor", "expert", "pipeline")
        words = [f"{role}={self.degrees[role]}" for role in order if self.degrees[role] > 1]
        knobs = ("microbatches microbatch_sequences schedule virtual_stages zero_stage context_method regather stages "
                 "sequence_parameters tensor_overlap folded_expert").split()
        plain = {"stages": "even", "virtual_stages": 1}
        return " ".join(words + [f"{knob}={self.knobs[knob]}" for knob in knobs
                                 if self.knobs.get(knob, plain.get(knob)) != plain.get(knob)])


def main_kind(model):
    """The kind of most layers, which the columns describe: one with experts before all others."""
    most = model["kinds"][0]
    for kind in model["kinds"][1:]:
        mixture = kind["experts"] > 0 and most["experts"] == 0
        if mixture or ((kind["experts"] > 0) == (most["experts"] > 0) and kind["count"] > most["count"]):
            most = kind
    return most


def slice_in(text, chips):
    """"8x16x48" or "4x4x4 slice" anywhere in a note, with this number of chips."""
    for found in re.finditer(r"(?<![A-Za-z0-9-])\d[0-9x]*", text):
        sizes = [int(size) for size in found.group().split("x") if size] if "x" in found.group() else []
        if 2 <= len(sizes) <= 3 and re.fullmatch(r"\d+(x\d+)+", found.group()) and math.prod(sizes) == chips:
            return sizes
    return None


def slices_in(text, notes):
    """"4 slice(s) of ...", "2 slices of ...", "16 pod(s) of": a count."""
    for where in (text, notes):
        for word in (" slice(s)", " slices", " slice ", " pod(s)", " pods"):
            at = where.find(word)
            found = re.search(r"(?:^| )(\d+)$", where[:at]) if at >= 0 else None
            if found:
                return int(found.group(1))
    return 1


def chunks_assumed(layers):
    """At most six chunks, and of one number of layers, as one would choose them."""
    most = min(6, layers)
    chunks = next((n for n in range(most, 1, -1) if layers % n == 0), 1)
    return chunks if chunks > 1 else most


def custom_remat(text):
    """The tensors that MaxText's custom policies name are kept; all others are recomputed."""
    states, kept = list(POLICIES["full"]), O if has(text, "offload") else S
    if has(text, "decoder input") and not has(text, "decoder input kept"):
        states[0] = kept
    if has(text, "qkv_proj") or has(text, "qkv projections") or has(text, "q/k/v"):
        states[2] = R if has(text, "q/k/v recomputed") else kept
    if has(text, "out proj"):
        states[4] = kept
    return states


# ---- the network of a note ----


def item_has(note, at, word):
    """Whether the item around a place, between , ; + has a word."""
    start = max(note.rfind(mark, 0, at) for mark in ",;+") + 1
    return word in re.split(r"[,;+]", note[start:])[0]


def rate_of_item(text):
    """The number before the first Gb/s of this item, and its place; None: it has none."""
    item = re.split(r"[,;+]", text)[0]
    at = item.find("Gb/s")
    return re.search(r"[\d ]*$", item[:at]).start() if at >= 0 else None


def number_gigabits(note, chips):
    """The highest rate of a node in the note."""
    compute = note.find("Compute:")
    most, at = 0.0, max(0, compute)
    while at < len(note):
        if not note[at].isdigit() or (at > 0 and (note[at - 1].isalnum() or note[at - 1] == ".")):
            at += 1
            continue
        begun, found, count = at, re.match(r"\d+\.?\d*(?:[eE][-+]?\d+)?", note[at:]), 1.0
        value, end = float(found.group()), at + found.end()
        of_item = None
        if note[end:end + 2] == "x ":
            offset = rate_of_item(note[end:])
            of_item = end + offset if offset is not None else None
        if note[end:end + 1] == "x" and note[end + 1:end + 2].isdigit():
            of_item = end + 1
        if of_item is not None:
            number = re.match(r" *(\d+\.?\d*(?:[eE][-+]?\d+)?)?", note[of_item:])
            count, value = value, float(number.group(1) or 0)
            end = of_item + (number.end() if number.group(1) else 0)
        unit = re.match(r" *(Gb/s|Gb/S|Gbps|Gbit/s|Tb/s|Tbps)", note[end:])
        storage = item_has(note, begun, "Ethernet") and has(note, "InfiniBand")  # for storage and people
        if unit and not storage:
            behind = re.split(r"[,;+]", note[end + unit.end():])[0]
            if count == 1 and any(word in behind for word in ("per GPU", "per chip", "per NIC", "per accelerator", "/GPU")):
                count = chips
            if count <= 64:
                most = max(most, count * value * (1000 if unit.group(1).startswith("T") else 1))
        at = max(end, begun + 1)
    return most


def network_gigabits(note, chips):
    """Gb/s of a whole node, one way; 0: the note has none."""
    for network in side_table("networks.tsv"):
        if has(note, network["word"]):
            return float(network["gigabits_per_node"])
    words = ("per node", "per GPU", "ConnectX", "EFA", "RoCE", "InfiniBand")
    if not any(has(note, word) for word in words) or ("Storage" in note and "Compute:" not in note):
        return 0
    gigabits = number_gigabits(note, chips)
    return gigabits if NODE_GIGABITS[0] <= gigabits <= NODE_GIGABITS[1] else 0


# ---- lines ----

SAID = ("topology_note framework fsdp remat precision mfu_convention tokens_per_s_per_chip tflops_per_chip mfu "
        "mem_gb_per_chip samples_per_s confidence check method seq_note attention optimizer mem_kind result commit").split()


def aside_of(row):
    """Why a run is replayed but neither fitted nor scored; "": it is."""
    for kind in side_table("aside.tsv"):
        if (row.id.split("-")[0] == kind["family"] and has(row.notes, kind["notes"]) and
                (not kind["confidence"] or kind["confidence"] == row.confidence) and
                row.chips > int(kind["chips_over"] or 0)):
            return kind["reason"]
    return ""


def line_of(row, reading, why, flagged):
    """The object of a row, in the order in which it is written."""
    out = {"id": row.id, "source": row.source, "family": family_of(row), "framework": framework_of(row)}
    fp16 = re.search(r"(?<!b)(fp16|float16)|rowwise|tensorwise", row.precision)
    if row.version:
        out["release"] = row.version
    if fp16:
        out["variant"] = fp16.group()
    request = reading.request
    if row.model != request.get("model"):
        out["model"] = row.model
    active = row.active_params_b if row.active_params_b > 0 else row.params_b
    if active > 0:
        out["active_parameters"] = round(1e9 * active)
    if row.experts > 1:
        out["mixture"] = True
    if why:
        chip = reading.program.chip(row.hardware)
        name = chip["name"] if chip else row.hardware
        out.update(not_replayed=why, request={"chip": name, "chips": row.chips})
    else:
        out.update(request=request, plan=reading.plan_text(), measured=reading.measured)
        if reading.guesses:
            out["guesses"] = reading.guesses
            out["assumed"] = "; ".join(reading.notes)
        if aside_of(row):
            out["aside"] = aside_of(row)
    if row.id in flagged:
        out["flagged"] = flagged[row.id]
    said = {name: row.cells[name] for name in SAID if row.cells.get(name)}
    if said:
        out["said"] = said
    if row.notes:
        out["note"] = row.notes
    return out


def plain(value):
    """Whole numbers without a point."""
    if isinstance(value, dict):
        return {key: plain(own) for key, own in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def written(line):
    return json.dumps(plain(line), ensure_ascii=False, separators=(",", ":")) + "\n"


def settle(readings, program):
    """Stages that cannot be balanced are even, or have one chunk; where a source of JAX's does not mention recomputation,
    a policy that fits is taken."""
    open_rows = dict(readings)
    for turn in range(3):
        answers = program.predictions([written(line_of(one.row, bare(one), "", {})) for one in open_rows.values()])
        again = {}
        for key, one in open_rows.items():
            if "does not divide" not in answers.get(key, {}).get("reason", ""):
                continue
            if turn == 0 and one.knobs.get("stages") == "balanced":
                one.knobs["stages"] = "even"
            elif turn <= 1 and one.knobs.get("virtual_stages", 1) > 1:
                one.knobs.update(stages="balanced", virtual_stages=1, schedule="1f1b")
            else:
                continue
            again[key] = one
        open_rows = again
        if not again:
            break
    unknown = {key: one for key, one in readings.items()
               if one.on_jax() and (has(one.row.remat, "unknown") or not one.row.remat)}
    policies = ("minimal_with_context", "minimal", "full")
    for step in range(len(policies) + 1):
        answers = program.predictions([written(line_of(one.row, bare(one), "", {})) for one in unknown.values()])
        hbm = lambda one: one.chip["hbm_bytes"]["value"] / one.chip["topology"].get("devices_per_chip", 1)
        fits = {key for key, one in unknown.items()
                if answers.get(key, {}).get("memory_predicted_bytes", 0) <= hbm(one)}
        for key, one in list(unknown.items()):
            if step and (key in fits or step == len(policies)):
                one.note(f"recomputation of {policies[step - 1]} assumed, since without it does not fit")
            if key in fits or step == len(policies):
                del unknown[key]
            else:
                one.set_remat(POLICIES[policies[step]])


def bare(reading):
    """The same with nothing measured but a step: predictions are of live tensors then."""
    one = object.__new__(Reading)
    one.__dict__.update(reading.__dict__, measured={"step_seconds": 1}, notes=[], guesses=0)
    one.request = {key: value for key, value in reading.request.items() if key != "longest_seq"}
    return one


def convert(path, program):
    flagged = {one["id"]: one["reason"] for one in side_table("flagged.tsv")}
    rows, readings, why = [], {}, {}
    for row, cells in rows_of(path):
        if isinstance(row, Wrong):
            print(f"{path}: {cells.get('id')}: not read: {row}", file=sys.stderr)
            continue
        read_tuning_row(row)
        reading = Reading(row, program)
        rows.append((row, reading))
        try:
            reading.read()
            readings[row.id] = reading
        except Wrong as reason:
            why[row.id] = str(reason)
    settle(readings, program)
    for row, reading in rows:
        said = why.get(row.id) or "; ".join(reading.notes) or "understood"
        print(f"{path}:{row.line}: {row.id}: {'no request: ' if row.id in why else ''}{said}", file=sys.stderr)
        yield line_of(row, reading, why.get(row.id, ""), flagged)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardopt", default=str(ROOT / "build/shardopt"), help="the program, for its models and chips")
    parser.add_argument("table", type=Path)
    options = parser.parse_args()
    for line in convert(options.table, Program(options.shardopt)):
        sys.stdout.write(written(line))


if __name__ == "__main__":
    main()
