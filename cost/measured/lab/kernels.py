#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits the forms of single kernels (cost/kernels/README.md) to tables of measured ones and writes cost/kernels/OP.json.

usage: kernels.py TABLES [-o FOLDER] [--only OP]     TABLES: a folder with gemm.tsv.gz, attention.tsv.gz ...

Each (chip, kernel, type) has a few figures. Three shapes in four fit them, soft_l1 on ln(form / measured) at 4%; the
fourth judges: `median` and `p90` of a row are of shapes that its figures have not seen. Which shape is held out is a
digest of its sizes, so that it is the same one on all chips."""
import argparse
import csv
import gzip
import hashlib
import json
import pathlib
import sys

import numpy as np
from scipy.optimize import least_squares

from tables import ROOT

PACKAGE = "PyPI aiconfigurator-core 0.12.0 (NVIDIA, Apache-2.0, 2026-09-01), systems/data"
SCALE, MOST_FITTED, FEWEST = 0.04, 6000, 3
MOST_MEDIAN = 0.35  # of shapes not seen: what is further off has no form
HBM_SHARE = 0.85  # of HBM's rate that a stream reaches: what a kernel that waits for memory is held to
PRECISIONS = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8_block", "nvfp4": "nvfp4"}
PEAKS = {"bf16": "bf16", "fp8": "fp8", "fp8_block": "fp8", "nvfp4": "fp4"}
WIDTHS = {"bf16": 2, "fp8": 1, "fp8_block": 1, "nvfp4": 0.5625}


def catalog(name):
    """The catalog's figures of a chip, with what it has of the chip that it is like."""
    out = {}
    while name:
        path = ROOT / "mesh/catalog" / (name + ".json")
        if not path.is_file():
            return None
        file = json.loads(path.read_text())
        out = {**file, **out}
        name = file.get("like")
    figures = {key: figure["value"] for key, figure in out.items() if isinstance(figure, dict) and "value" in figure}
    return {**out["topology"], **figures}


class Rows:
    """The rows of one table, by column: texts as they are, numbers as arrays."""

    def __init__(self, path, texts):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter="\t"))
        self.of = {}
        for place, key in enumerate(rows[0]):
            column = [row[place] for row in rows[1:]]
            self.of[key] = np.array(column) if key in texts else np.array([float(x) if x else np.nan for x in column])

    def __getitem__(self, key):
        return self.of[key]

    def take(self, chosen):
        out = Rows.__new__(Rows)
        out.of = {key: column[chosen] for key, column in self.of.items()}
        return out

    def __len__(self):
        return len(self.of["us"])

    def groups(self, keys):
        """(values of the keys, the rows that have them), in the order of the values."""
        joined = np.array(["\t".join(values) for values in zip(*(self.of[key].astype(str) for key in keys))])
        for value in sorted(set(joined)):
            yield value.split("\t"), self.take(joined == value)

    def held_out(self, keys):
        """A quarter of the shapes, by a digest of their sizes."""
        sizes = zip(*(self.of[key] for key in keys))
        cache = {}
        def digest(shape):
            if shape not in cache:
                text = " ".join("%g" % size for size in shape)
                cache[shape] = hashlib.sha256(text.encode()).digest()[0] < 64
            return cache[shape]
        return np.array([digest(shape) for shape in sizes])


class Form:
    """One op: its table, what tells kernels apart, and seconds as a function of figures.

    figures: name -> (start, low, high); `seconds(rows, chip, peak, x)` is the form, x the figures by name."""
    file, texts, keys, shape, figures, least = "", (), (), (), {}, 60

    def usable(self, rows):
        return np.full(len(rows), True)

    def figures_of(self, rows):
        return self.figures

    def names(self, values):
        """What a row of the file says of its kernel; None: a type that the forms do not know."""
        raise NotImplementedError

    def seconds(self, rows, chip, names, x):
        raise NotImplementedError


def peak_of(chip, precision):
    return chip.get({"fp4": "fp4_flops_per_second", "fp8": "fp8_flops_per_second"}.get(
        PEAKS.get(precision), "bf16_flops_per_second"), 0)


class Matmul(Form):
    """Reading two operands of `width` bytes and writing bf16; a low type's input is cast in the call."""
    file, texts = "gemm.tsv.gz", ("chip", "engine", "kernel", "dtype")
    keys, shape = ("chip", "engine", "kernel", "dtype"), ("n", "k")
    figures = {"share": (0.7, 0.02, 1.1), "k0": (100, 0, 2000), "start_seconds": (5e-6, 0, 5e-5),
               "cast_bytes": (5, 0, 40)}

    def usable(self, rows):
        return rows["m"] >= 1024

    def names(self, values):
        precision = PRECISIONS.get(values[3])
        return precision and {"chip": values[0], "library": values[1], "kernel": values[2], "precision": precision}

    def figures_of(self, rows):
        low = rows["dtype"][0] != "bfloat16"
        return {key: figure for key, figure in self.figures.items() if low or key != "cast_bytes"}

    def seconds(self, rows, chip, names, x):
        m, n, k, hbm = rows["m"], rows["n"], rows["k"], chip["hbm_bytes_per_second"]
        size = WIDTHS[names["precision"]] * (m * k + k * n) + 2 * m * n
        busy = 2 * m * n * (k + x["k0"]) / (peak_of(chip, names["precision"]) * x["share"])
        return np.maximum(busy, size / (hbm * HBM_SHARE)) + x["start_seconds"] + x.get("cast_bytes", 0) * m * k / hbm


def span_of(rows):
    """Keys of a query in the mean: causal, within the window if there is one."""
    length, window = rows["length"], rows.of.get("window", np.zeros(len(rows)))
    windowed = (window > 0) & (window < length)
    return np.where(windowed, window - window * window / (2 * length), length / 2)


class Attention(Form):
    """A causal forward. A share for each width of heads that was measured."""
    file, texts = "attention.tsv.gz", ("chip", "engine", "kernel", "dtype", "kv_dtype")
    keys, shape = ("chip", "engine", "kernel", "dtype", "kv_dtype"), ("length", "heads", "kv_heads", "head_dim")
    figures = {"length0": (1000, 0, 8000), "start_seconds": (1e-5, 0, 1e-4)}

    def usable(self, rows):
        return (rows["length"] >= 1024)

    def names(self, values):
        precision = PRECISIONS.get(values[3])
        if values[3] != values[4]:
            return None
        return precision and {"chip": values[0], "library": values[1], "kernel": values[2], "precision": precision}

    def figures_of(self, rows):
        widths = sorted(set(rows["head_dim"]))
        return {**self.figures, **{"share.%g" % width: (0.5, 0.005, 1.1) for width in widths}}

    def seconds(self, rows, chip, names, x):
        flops = 4 * rows["batch"] * rows["length"] * rows["heads"] * rows["head_dim"]
        share = np.select([rows["head_dim"] == float(key[6:]) for key in x if key.startswith("share.")],
                          [x[key] for key in x if key.startswith("share.")], np.nan)
        return flops * (span_of(rows) + x["length0"] / 2) / (peak_of(chip, names["precision"]) * share) + \
            x["start_seconds"]


class Latent(Attention):
    """Latent attention's prefill: keys of 192, values of 128, a causal half."""
    file, texts = "attention-latent.tsv.gz", ("chip", "engine", "kernel", "dtype")
    keys, shape = ("chip", "engine", "kernel", "dtype"), ("length", "heads", "batch")
    figures = {"share": (0.5, 0.01, 1.1), "length0": (1000, 0, 8000), "start_seconds": (1e-5, 0, 1e-4)}

    def names(self, values):
        return {"chip": values[0], "library": values[1], "kernel": values[2], "precision": PRECISIONS[values[3]]}

    def figures_of(self, rows):
        return self.figures

    def seconds(self, rows, chip, names, x):
        flops = 2 * rows["batch"] * rows["length"] * rows["heads"] * (192 + 128)
        return flops * (span_of(rows) + x["length0"] / 2) / (peak_of(chip, names["precision"]) * x["share"]) + \
            x["start_seconds"]


class Experts(Form):
    """All matmuls of one layer's experts, and their permutation, with the load even: `rows0` rows of an expert more."""
    file, texts = "grouped.tsv.gz", ("chip", "engine", "kernel", "dtype", "distribution")
    keys, shape = ("chip", "engine", "kernel", "dtype"), ("hidden", "inter", "topk", "experts")
    figures = {"share": (0.6, 0.02, 0.95), "rows0": (200, 0, 3000), "width0": (100, 0, 2000), "passes": (4, 0, 40),
               "start_seconds": (2e-5, 0, 2e-4)}

    def usable(self, rows):
        return (rows["distribution"] == "balanced") & (rows["tokens"] >= 512) & \
            (rows["tokens"] * rows["topk"] >= 16 * rows["experts"])

    def names(self, values):
        precision = PRECISIONS.get(values[3])
        return precision and {"chip": values[0], "library": values[1], "kernel": values[2], "precision": precision,
                              "matrices": 2 if values[2].endswith("_nongated") else 3}

    def seconds(self, rows, chip, names, x):
        routed, held, inter = rows["tokens"] * rows["topk"] / rows["ep"], rows["experts"] / rows["ep"], \
            rows["inter"] / rows["tp"]
        hbm = chip["hbm_bytes_per_second"] * HBM_SHARE
        busy = 2 * names["matrices"] * (routed + x["rows0"] * held) * rows["hidden"] * (inter + x["width0"]) / \
            (peak_of(chip, names["precision"]) * x["share"])
        weights = names["matrices"] * np.minimum(held, routed) * rows["hidden"] * inter * WIDTHS[names["precision"]]
        return np.maximum(busy, weights / hbm) + x["passes"] * 2 * routed * rows["hidden"] / hbm + x["start_seconds"]


class Collective(Form):
    """Bytes on a chip's links over a share of their rate; the share of groups of 2, 4, 8 chips."""
    file, texts = "collectives.tsv.gz", ("chip", "engine", "op", "dtype")
    keys, shape = ("chip", "engine", "op", "gpus"), ("elements",)
    figures = {"share": (0.5, 0.005, 1.2), "start_seconds": (2e-5, 0, 2e-4)}
    least = 12
    OPS = {"all_gather": 1, "reduce_scatter": 1, "alltoall": 1, "all_reduce": 2}

    def usable(self, rows):
        return rows["elements"] * np.where(rows["dtype"] == "int8", 1, 2) >= 1 << 17

    def names(self, values):
        if values[2] not in self.OPS or not values[1].startswith("nccl"):
            return None
        return {"chip": values[0], "library": values[1], "collective": values[2].replace("alltoall", "all_to_all"),
                "ways": int(float(values[3]))}

    def seconds(self, rows, chip, names, x):
        size = rows["elements"] * np.where(rows["dtype"] == "int8", 1, 2)
        passes = self.OPS[rows["op"][0]] * (rows["gpus"] - 1) / rows["gpus"]
        link = chip["link_bytes_per_second"] * chip.get("links_per_chip", 1)
        return passes * size / (link * x["share"]) + x["start_seconds"]


class Dispatch(Form):
    """Bytes that were routed, 2 T k D, over a rate; of several numbers of SMs the best one."""
    file, texts = "dispatch.tsv.gz", ("chip", "engine", "phase")
    keys, shape = ("chip", "engine", "phase", "nodes"), ("hidden", "topk", "tokens")
    least = 5
    figures = {"bytes_per_second": (3e11, 1e9, 5e12), "start_seconds": (5e-5, 0, 1e-3)}

    def usable(self, rows):
        best = {}
        sizes = list(zip(*(np.nan_to_num(rows[key], nan=-1) if key not in self.texts else rows[key] for key in
                           ("chip", "engine", "phase", "nodes", "ep", "hidden", "topk", "experts", "tokens"))))
        for place, size in enumerate(sizes):
            if size not in best or rows["us"][place] < rows["us"][best[size]]:
                best[size] = place
        chosen = np.full(len(rows), False)
        chosen[list(best.values())] = True
        return chosen & (rows["tokens"] >= 256)

    def names(self, values):
        return {"chip": values[0], "library": values[1], "phase": values[2], "nodes": int(float(values[3]))}

    def seconds(self, rows, chip, names, x):
        return 2 * rows["tokens"] * rows["topk"] * rows["hidden"] / x["bytes_per_second"] + x["start_seconds"]


class Scan(Form):
    """A recurrence in chunks of 64 tokens: what the heads compute, at a share of the peak, and a state that is handed
    from chunk to chunk."""
    file, texts = "linear.tsv.gz", ("chip", "engine", "kind", "kernel", "d_state")
    keys, shape = ("chip", "engine", "kernel"), ("length", "batch", "num_v_heads")
    figures = {"share": (0.1, 0.0005, 1.1), "chunk_seconds": (1e-6, 0, 1e-4), "start_seconds": (3e-5, 0, 3e-4)}

    def usable(self, rows):
        return (np.char.find(rows["kernel"], "conv1d") < 0) & (rows["batch"] * rows["length"] >= 1024)

    def names(self, values):
        return {"chip": values[0], "library": values[1], "kernel": values[2]}

    def seconds(self, rows, chip, names, x):
        tokens, heads = rows["batch"] * rows["length"], rows["num_v_heads"]
        flops = tokens * heads * (6 * rows["head_k_dim"] * rows["head_v_dim"] +
                                  4 * 64 * (rows["head_k_dim"] + rows["head_v_dim"]))
        return flops / (chip["bf16_flops_per_second"] * x["share"]) + \
            np.ceil(rows["length"] / 64) * x["chunk_seconds"] + x["start_seconds"]


FORMS = {"matmul": Matmul, "attention": Attention, "latent_attention": Latent, "experts": Experts,
         "collective": Collective, "dispatch": Dispatch, "scan": Scan}


def rounded(key, value):
    """Four digits; what is nothing beside its unit is 0."""
    return 0.0 if value < (1e-8 if key.endswith("seconds") else 1e-3) else float("%.4g" % value)


def fit(form, rows, chip, names):
    """The figures of one kernel, by least squares on logarithms; a few starts, since soft_l1 has local minima."""
    figures = form.figures_of(rows)
    keys = list(figures)
    start, low, high = (np.array([figures[key][i] for key in keys], float) for i in range(3))
    size = high - low
    if len(rows) > MOST_FITTED:
        rows = rows.take(np.random.default_rng(1).choice(len(rows), MOST_FITTED, replace=False))
    measured = rows["us"] * 1e-6

    def residual(x):
        return np.log(form.seconds(rows, chip, names, dict(zip(keys, low + x * size))) / measured) / SCALE

    best = None
    for shift in (1, 0.1, 3):
        at = np.clip((start * np.where([key.startswith("share") or key == "bytes_per_second" for key in keys], 1, shift)
                      - low) / size, 1e-6, 1 - 1e-6)
        found = least_squares(residual, at, bounds=(0, 1), loss="soft_l1", max_nfev=60)
        if best is None or found.cost < best.cost:
            best = found
    return {key: rounded(key, value) for key, value in zip(keys, low + best.x * size)}


def nested(figures):
    """share.64 and share.128 as one object."""
    out = {}
    for key, value in figures.items():
        head, _, width = key.partition(".")
        if width:
            out.setdefault(head, {})[width] = value
        else:
            out[key] = value
    return out


def errors(form, rows, chip, names, figures):
    error = form.seconds(rows, chip, names, figures) / (rows["us"] * 1e-6) - 1
    return {"median": round(float(np.median(abs(error))), 4), "p90": round(float(np.quantile(abs(error), 0.9)), 4)}


def fit_all(op, folder):
    form = FORMS[op]()
    rows = Rows(folder / form.file, form.texts)
    rows = rows.take(form.usable(rows))
    kernels = []
    for values, group in rows.groups(form.keys):
        names, chip = form.names(values), catalog(values[0])
        why = "no chip of the catalog" if not chip else "no form" if not names else \
            "%d rows" % len(group) if len(group) < form.least else \
            "the catalog has no peak of it" if not peak_of(chip, names.get("precision")) > 0 else None
        if why:
            print("left out: %s: %s" % (" ".join(values), why), file=sys.stderr)
            continue
        held = group.held_out(form.shape)
        if held.sum() < FEWEST or held.mean() > 0.5:  # too few shapes to judge by: the errors are those of the fit,
            held[:] = False  # and `judged` is 0
        figures = fit(form, group.take(~held), chip, names)
        row = {**names, **nested(figures), "fitted": int((~held).sum()), "judged": int(held.sum()),
               **errors(form, group.take(held) if held.any() else group, chip, names, figures)}
        if row["median"] > MOST_MEDIAN:
            print("left out: %s: the form is off by %.0f%% in the median" % (" ".join(values), 100 * row["median"]),
                  file=sys.stderr)
            continue
        kernels.append(row)
    return kernels


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("tables", type=pathlib.Path)
    options.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "cost/kernels")
    options.add_argument("--only", choices=FORMS)
    asked = options.parse_args()
    for op in [asked.only] if asked.only else FORMS:
        kernels = fit_all(op, asked.tables)
        lines = ",\n    ".join(json.dumps(row) for row in kernels)
        path = asked.output / (op + ".json")
        path.write_text('{\n  "op": "%s",\n  "source": "%s; fitted by cost/measured/lab/kernels.py",\n  "kernels": [\n    %s\n  ]\n}\n'
                        % (op, PACKAGE, lines))


if __name__ == "__main__":
    main()
