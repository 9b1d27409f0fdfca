#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are no programs, or none that can be read: `shardopt program` says one line, ends with 2, and stays below
2 GB. Each is made of one that is read."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
GOOD = (ROOT / "tests/fuzz/fuzz_program/recommender.mlir").read_text()
HEAD, END = "module @m {\n  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n", "    return %a : tensor<4xf32>\n  }\n}\n"
CALL = "    %{0} = call @{1}(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
FUNCTION = "  func.func private @{0}(%a: tensor<4xf32>) -> tensor<4xf32> {{\n" + CALL + "    return %b : tensor<4xf32>\n  }}\n"
MANUAL = ("    %b = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"x\"}]>] out_shardings=[<@mesh, [{\"x\"}]>] "
          "manual_axes={\"x\"} (%c: tensor<1xf32>) {\n      sdy.return %c : tensor<1xf32>\n    } : (tensor<4xf32>) -> tensor<4xf32>\n")

# name: text or bytes, and a word of what is said
WRONG = {
    "cut": (GOOD[: len(GOOD) * 2 // 3], "the text"),
    "cut at a quote": (GOOD[: GOOD.index('"') + 3], ""),
    "cyclic": (HEAD + CALL.format("b", "f") + END[:-2] + FUNCTION.format("f", "g").replace("%f =", "%b =")
               + FUNCTION.format("g", "f").replace("%g =", "%b =") + "}\n", "calls itself"),
    "wrong shapes": (GOOD.replace("tensor<8192x8xi32>", "tensor<8192x9xi32>", 1), "is written as"),
    "a million operations": (HEAD + "".join(f"    %b{i} = stablehlo.add %a, %a : tensor<4xf32>\n" for i in range(10**6)) + END, "more than 200000"),
    "deep nesting": (HEAD + '"x.y"(%a) ({ ' * 10**5 + END, "nested deeper"),
    "deep brackets": (HEAD + '    %b = "x.y"(%a) {k = ' + "[" * 10**6, "not closed"),
    "bytecode": (b"ML\xefR\x0dStableHLO_v1.0.0\x00\x01\x1b", "bytecode"),
    "dynamic shapes": (GOOD.replace("tensor<8192x8xi32>", "tensor<?x8xi32>"), "dynamic"),
    "shard_map inside": (HEAD + MANUAL + END, "shard"),
    "zeros": (b"\0" * 10**6, ""),
    "another file": ((ROOT / "README.md").read_text(), "expected"),
}


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, word) in WRONG.items():
            path = os.path.join(folder, "step.mlir")
            pathlib.Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())
            ran = subprocess.run([os.environ["SHARDOPT_PROGRAM"], "program", path, "--chip", "v5e", "--slice", "4x4"],
                                 capture_output=True, timeout=120)
            said = ran.stderr.decode(errors="replace")
            ok = ran.returncode == 2 and not ran.stdout and said.count("\n") == 1 and word in said
            if not ok:
                print(f"FAIL {name}: exit {ran.returncode}, says {said[:300]!r}, where {word!r} is expected")
            failed += not ok
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if most > 2e9 and not os.environ.get("SANITIZED"):
        print(f"FAIL: {most / 1e9:.2f} GB were taken")
        failed += 1
    print(f"{len(WRONG)} wrong files, {most / 1e6:.0f} MB at the most")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
