#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`ops` of a report: each op next to the fastest measured kernel of its size, against sizes taken from the model by hand.

usage: ops.py PROGRAM     exit 77 without numpy and scipy, which cost/measured/lab/kernels.py needs"""
import json
import pathlib
import subprocess
import sys

PROGRAM = sys.argv[1]
LAB = pathlib.Path(__file__).resolve().parents[3] / "cost/measured/lab"
try:
    import numpy as np
    import scipy  # noqa: F401  kernels.py needs it
except ImportError:
    print("no numpy or scipy: not compared")
    sys.exit(77)
sys.path.insert(0, str(LAB))
import kernels as lab  # noqa: E402  (the path of it)

wrong = 0
KNOWN = 0.15  # the median error up to which a form is named


def report(words):
    done = subprocess.run([PROGRAM, "explain", *words.split(" ; ")[0].split(), "--plan", words.split(" ; ")[1], "--format", "json"],
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def rate(op, chip, owner, precision, sizes, flops):
    """FLOP/s of the fastest kernel by Python's own forms."""
    form = lab.FORMS[op]()
    best = 0
    for fact in json.loads((lab.ROOT / "cost/kernels" / (op + ".json")).read_text())["kernels"]:
        if fact["chip"] != owner or fact["precision"] != precision or fact["median"] > KNOWN:
            continue
        figures, share = dict(fact), fact["share"]
        if isinstance(share, dict):
            widths = sorted(map(float, share))
            if widths[-1] < sizes["head_dim"] or widths[0] > 2 * sizes["head_dim"]:
                continue
            at = np.interp(sizes["head_dim"], widths, [share["%g" % width] for width in widths])
            if sizes["head_dim"] < widths[0]:
                at *= 0.85 ** np.log2(widths[0] / sizes["head_dim"])
            figures["share.%g" % sizes["head_dim"]] = float(at)
        rows = lab.Rows.__new__(lab.Rows)
        rows.of = {key: np.array([float(size)]) for key, size in {**sizes, "us": 1}.items()}
        names = {"chip": chip, "precision": precision}
        best = max(best, flops / float(form.seconds(rows, lab.catalog(chip), names, figures)[0]))
    return best


def held(what, got, wanted):
    global wrong
    if not (got and abs(got / wanted - 1) < 1e-9) if wanted else got is not None:
        print("%s: %s, by hand %s" % (what, got, wanted))
        wrong += 1


def of(document, name):
    op = next(op for op in document["ops"] if op["op"] == name)
    return op, op.get("kernel", {}).get("flops_per_second")


# Llama 3.1 8B, tensor 8, microbatches of 2 x 4 sequences of 8,192 on each of two replicas.
words = "--model 8b --chip h100 --nodes 2 --batch 256Ki --seq 8192 ; data=2 tensor=8 microbatches=2"
document = report(words)
tokens = 262144 / 2 / 2
for name, n, k in (("qkv projection", 6144 / 8, 4096), ("attention output", 4096, 512), ("mlp down", 4096, 14336 / 8)):
    op, got = of(document, name)
    held(name, got, rate("matmul", "h100", "h100", "bf16", {"m": tokens, "n": n, "k": k}, 2 * tokens * n * k))
    held(name + ": share", op["peak_share"], op["flops"] / (op["forward_seconds"] + op["backward_seconds"]) / 989e12)
attention = {"batch": tokens / 8192, "length": 8192, "heads": 4, "head_dim": 128, "window": 0}
held("attention", of(document, "attention")[1],
     rate("attention", "h100", "h100", "bf16", attention, 4 * tokens * 4 * 128 * 4096))

# In fp8 on B200, the head's projection stays bf16.
document = report("--model 8b --chip b200 --nodes 1 --batch 256Ki --seq 8192 --precision fp8 ; fsdp=8")
tokens = 262144 / 8
held("fp8", of(document, "mlp down")[1],
     rate("matmul", "b200", "b200", "fp8", {"m": tokens, "n": 4096, "k": 14336}, 2 * tokens * 4096 * 14336))
held("logits in bf16", of(document, "logits")[1],
     rate("matmul", "b200", "b200", "bf16", {"m": tokens, "n": 128256, "k": 4096}, 2 * tokens * 128256 * 4096))

# A window of 4,096 of 32,768 keys; H200 takes H100's kernels.
document = report("--model mistral-7b --chip h200 --nodes 1 --batch 256Ki --seq 32768 ; fsdp=8")
tokens, span = 262144 / 8, 4096 - 4096 * 4096 / (2 * 32768)
windowed = {"batch": 1, "length": 32768, "heads": 32, "head_dim": 128, "window": 4096}
held("a window", of(document, "attention")[1],
     rate("attention", "h200", "h100", "bf16", windowed, 4 * tokens * 32 * 128 * span))

# Nobody has measured TPUs; windows that differ from layer to layer are no one kernel.
document = report("--model 8b --chip tpu-v5p --slice 2x2x2 --batch 256Ki --seq 8192 ; fsdp=8")
held("TPU", of(document, "qkv projection")[1], None)
document = report("--model gpt-oss-20b --chip b200 --nodes 1 --batch 256Ki --seq 8192 ; fsdp=8")
held("windows that differ", of(document, "attention")[1], None)
sys.exit(wrong > 0)
