# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a serving report by another hand: rates and cost from the seconds of a step, rows of memory, and for dense
models with attention alone the bytes of weights and cache and a floor of the step, from a model's dimensions and the
catalog. What a page, a workspace and activations take is believed."""
import math
import os
import sys

sys.path.insert(0, os.environ.get("SHARDOPT_REFERENCE") or
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
import data

BYTES = {"bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}

def close(a, b, share=1e-9):
    return abs(a - b) <= share * max(abs(a), abs(b))

class Hand:
    def __init__(self, report, program=None):
        self.request, self.report = report["request"], report
        self.chip = data.read_chip(report["mesh"]["chip"])
        self.usd = data.read_json("mesh", "catalog", self.chip.name + ".json").get("usd_per_chip_hour", {}).get("value", 0)
        self.model = data.read_model(self.request["model"], program) if program else None
        own = self.request.get("options", {})
        plain = not {"lengths", "speculate", "cached", "rate", "price", "network", "concurrency"} & set(own)
        self.lengths = (self.request["prompt"], self.request["output"]) if plain else None
        self.dense = bool(self.model) and not self.model.towers and all(
            kind.heads and kind.kv_heads and not kind.experts and not kind.mixer and not kind.window and
            kind.attention not in ("latent", "cross") and not kind.index_heads and not kind.shares_kv
            for kind in self.model.kinds)

    # ---- rates ----

    def check_point(self, point, require, name):
        """What a point says of rates, cost and memory follows from its steps."""
        for pool in point["pools"]:
            step, memory = pool["step"], pool["memory"]
            require(close(step["seconds"], sum(step["terms_seconds"].values()), 1e-6), name, "a step is not its terms")
            rows = sum(memory[key + "_bytes"] for key in ("weights", "kv", "activations", "workspace"))
            require(close(memory["total_bytes"], rows, 1e-6), name, "memory is not its rows")
            require(memory["total_bytes"] <= memory["limit_bytes"] * (1 + 1e-9), name, "does not fit")
            self.check_weights(pool, require, name)
        user, chips = point["tokens_per_second_per_user"], self.report["mesh"]["chips"]
        require(close(user * point["tpot_seconds"], 1), name, "a user's rate is not that of a token's time")
        if not self.lengths:
            return
        prompt, output = self.lengths
        require(close(point["tokens_per_second_per_chip"], point["tokens_per_second"] / chips), name, "the rate of a chip")
        require(close(point["requests_per_second"], point["tokens_per_second"] / output, 1e-6), name, "requests a second")
        if self.usd and "cost_usd_per_million_output_tokens" in point:
            usd = self.usd * chips / 3600 / point["tokens_per_second"] * 1e6
            require(close(point["cost_usd_per_million_output_tokens"], usd, 1e-6), name, "the cost of a token")
        pool = point["pools"][-1]
        if len(point["pools"]) == 1 and pool["axes"]["pipeline"] == 1:
            require(close(point["tpot_seconds"], pool["step"]["seconds"], 1e-6), name, "a token's time is not its step's")
            require(close(point["tokens_per_second"], point["concurrency"] * user, 1e-6), name, "tokens a second")
            require(point["concurrency"] == pool["batch"] * pool["workers"] * pool["axes"]["attention_data"] or
                    point["concurrency"] == pool["batch"] * pool["workers"], name, "requests in flight")

    # ---- dense models ----

    def weights(self, axes, dtype):
        """Bytes of the weights of one chip, at least: matrices over tensor and pipeline; other tables may lie whole."""
        kind_parts = 0
        for kind in self.model.kinds:
            width = kind.head_dim or self.model.d_model // kind.heads
            attention = 2 * kind.heads * width + 2 * kind.kv_heads * width
            kind_parts += kind.count * self.model.d_model * (attention + (3 if kind.gated else 2) * kind.d_ff)
        return kind_parts * BYTES.get(dtype, 0) / (axes["tensor"] * axes["pipeline"])

    def cache(self, axes, dtype, batch):
        """Bytes of keys and values of one chip, at least: every sequence at its end; heads are copied where they are
        fewer than chips, and copies divide by sequence or batch."""
        prompt, output = self.lengths
        size = 0
        for kind in self.model.kinds:
            width = kind.head_dim or self.model.d_model // kind.heads
            ways = min(axes["tensor"], kind.kv_heads * axes["kv_sequence"] * axes["kv_batch"])
            size += kind.count * 2 * kind.kv_heads * width / ways
        return batch * (prompt + output) * size * BYTES.get(dtype, 0) / axes["pipeline"] / axes["attention_data"]

    def check_weights(self, pool, require, name):
        if not self.dense or not self.lengths or pool["precision"] not in BYTES or pool["kv_dtype"] not in BYTES:
            return
        memory, axes = pool["memory"], pool["axes"]
        least = self.weights(axes, pool["precision"])
        require(memory["weights_bytes"] >= least * (1 - 1e-9), name, "weights take", least, "bytes at least")
        if pool["phase"] != "prefill":
            least = self.cache(axes, pool["kv_dtype"], pool["batch"])
            require(memory["kv_bytes"] >= least * (1 - 1e-9), name, "the cache takes", least, "bytes at least")
        if pool["phase"] == "both" and axes["pipeline"] == 1 and axes["attention_data"] == 1:
            prompt, output = self.lengths
            tokens = pool["batch"] * (1 + prompt / output)
            count = self.weights(axes, "int8")  # of matrices on a chip
            peak = {"fp8": self.chip.fp8_flops_per_second, "int8": self.chip.int8_ops_per_second}.get(
                pool["precision"], self.chip.bf16_flops_per_second)
            least = max(2 * count * tokens / peak, count * BYTES[pool["precision"]] / self.chip.hbm_bytes_per_second)
            require(pool["step"]["seconds"] >= least, name, "its step takes", least, "s at least")

    def memory_claim(self, row, limits):
        """A range that is said to hold too much: "own" where weights and cache alone are above the limit, "believed"
        where they are with what the engine's fullest point has of the rest, else "wrong"; None: no such model."""
        known = (row["engine"], row["phase"]) in limits
        if not self.dense or not self.lengths or not known or row["weights"] not in BYTES or row["cache"] not in BYTES:
            return None
        limit, rest = limits[row["engine"], row["phase"]]
        tables = (1 if self.model.tied else 2) * self.model.vocab * self.model.d_model / row["tensor"]  # of the fullest chip
        held = self.weights(row, row["weights"]) + tables * BYTES["bf16"]
        held += self.cache(row, row["cache"], row["low"]) if row["phase"] != "prefill" else 0
        return "own" if held > limit else "believed" if held + 1.5 * rest > limit else "wrong"

def limits_of(report):
    """By engine and phase: the limit, and the most that activations and workspace take in any point of the front."""
    found = {}
    for point in report["front"]:
        for pool in point["pools"]:
            memory, key = pool["memory"], (point["engine"] or "none", pool["phase"])
            rest = memory["total_bytes"] - memory["weights_bytes"] - memory["kv_bytes"]
            limit, most = found.get(key, (memory["limit_bytes"], 0))
            found[key] = max(limit, memory["limit_bytes"]), max(most, rest)
    return found
