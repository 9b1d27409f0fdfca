#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`emit` of every format from every kind of report: what can be written is, and all else is refused in one line.

    emit_table.py SHARDOPT"""
import os
import re
import sys
import tempfile

from shardopt import DONE, run

GPUS = ("megatron", "torchtitan", "torchtitan-toml", "deepspeed")
ADAPTERS = ("trl", "axolotl", "llama-factory")
SERVERS = ("vllm", "sglang", "tensorrt-llm", "maxtext-serving", "dynamo", "llm-d")
FORMATS = ("maxtext", "jax", *GPUS, *ADAPTERS, *SERVERS)
SMALL = "--model llama3.1-8b --chip h100 --nodes 1 --seq 4096"

# The report, and the formats that it has to become; a plan of one launcher is no plan of every other.
KINDS = (
    ("a plan of Megatron", f"plan {SMALL} --sequences 64 --for megatron", {"megatron"}),
    ("a plan of torchtitan", f"plan {SMALL} --sequences 64 --for torchtitan", {"torchtitan", "torchtitan-toml"}),
    ("a plan of DeepSpeed", f"plan {SMALL} --sequences 64 --for deepspeed", {"deepspeed"}),
    ("its optimizer on the host", f"plan {SMALL} --sequences 64 --for megatron --offload optimizer", {"megatron"}),
    ("whole layers recomputed", f"plan {SMALL} --sequences 64 --for megatron --remat full:8", {"megatron"}),
    ("a plan of any", f"plan {SMALL} --sequences 64 --for any", {"jax"}),
    ("a slice", "plan --model llama3.1-8b --chip v6e --slice 4x4 --seq 4096 --sequences 64", {"maxtext", "jax"}),
    ("a plan explained", f"explain {SMALL} --sequences 64 --for megatron --plan data=4,tensor=2", {"megatron", "jax"}),
    ("adapters", f"plan {SMALL} --sequences 16 --lora 16 --for trl", set(ADAPTERS)),
    ("adapters on 4 bits", f"plan {SMALL} --sequences 16 --qlora 16 --for trl", set(ADAPTERS)),
    ("pairs", f"plan {SMALL} --sequences 16 --dpo --for trl", set(ADAPTERS)),
    ("all weights", f"plan {SMALL} --sequences 16 --sft --for trl", set(ADAPTERS)),
    ("a server of vLLM", "inference --model llama3.1-8b --chip h100 --nodes 1 --engine vllm", {"vllm"}),
    ("a server of SGLang", "inference --model llama3.1-8b --chip h100 --nodes 1 --engine sglang", {"sglang"}),
)


def main(program):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for name, words, wanted in KINDS:
            code, _, said = run(program, *words.split(), "-q", "--format", "json", "-o", report)
            if code not in DONE:
                raise SystemExit(f"FAIL {name}: exit {code}: {said}")
            for number, form in enumerate(FORMATS):
                code, text, said = run(program, "emit", form, *(("--from", report) if number % 2 else (report,)), "-q")
                lines = [line for line in said.split("\n") if line and "advice:" not in line]
                written = code in DONE and len(text) > 100 and not lines
                refused = code in (2, 3) and len(lines) == 1 and re.match(r"shardopt: \S", lines[0]) and not text
                if form in wanted and written or form not in wanted and (written or refused):
                    continue
                failures += 1
                print(f"FAIL {name}: emit {form}: exit {code}, {len(text)} letters: {said.strip()}")
    print(f"{len(KINDS)} reports, {len(FORMATS)} formats: {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
