#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Command lines at random, for bash: random_lines.py KIND SEED COUNT, where KIND is plan, explain, emit or serve."""
import random, sys

MACHINES = {"h100": ["--nodes 1", "--nodes 2", "--nodes 3 --padding any", "--nodes 4", "--nodes 4 --oversubscription 2"],
            "a100-80g": ["--nodes 1", "--nodes 2"], "a100-40g": ["--nodes 2"], "h200": ["--nodes 1", "--nodes 2"],
            "b200": ["--nodes 1", "--nodes 2"], "gb200": ["--chips 8", "--nodes 1"], "mi300x": ["--nodes 1", "--nodes 2"],
            "gaudi2": ["--nodes 1"], "v5e": ["--slice 2x4", "--slice 4x4", "--slice 4x8", "--slice 4x4 --slices 2"],
            "v6e": ["--slice 4x4", "--slice 2x4", "--slice 8x8", "--slice 4x4 --slices 2"], "trainium1": ["--chips 16"],
            "v5p": ["--slice 2x2x2", "--slice 2x2x4", "--slice 4x4x4", "--slice 2x2x4 --slices 2"], "v4": ["--slice 2x2x4"],
            "tpu-v7": ["--slice 2x2x2", "--slice 2x2x4"]}
CHIPS = {"--nodes 1": 8, "--nodes 2": 16, "--nodes 3 --padding any": 24, "--nodes 4": 32, "--nodes 4 --oversubscription 2": 32,
         "--chips 8": 8, "--chips 16": 16}
DENSE = ["8b", "llama2-7b", "qwen3-4b", "gemma3-4b", "gemma2-9b", "olmo2-7b", "falcon-7b", "phi-2", "gpt2-xl", "mistral-7b",
         "smollm3-3b", "starcoder2-3b", "llama3.2-3b", "70b", "opt-6.7b", "stablelm-3b-4e1t"]
MIXTURES = ["mixtral-8x7b", "deepseek-v2-lite", "gpt-oss-20b", "qwen3-30b-a3b", "qwen1.5-moe-a2.7b", "llama4-scout-17b-16e"]
LAUNCHERS = ["maxtext", "jax", "megatron", "torchtitan", "deepspeed"]
TYPES = {"h100": ["fp8"], "h200": ["fp8"], "b200": ["fp8", "mxfp8", "nvfp4"], "gb200": ["mxfp8", "nvfp4"], "v5e": ["int8"], "v6e": ["int8"],
         "mi300x": ["fp8"], "tpu-v7": ["fp8"]}
REQUIRED = ["tensor=2", "tensor=4", "pipeline=2", "pipeline=1", "sequence=2", "fsdp=1", "data=2", "data=1", "fsdp>=2 pipeline=2", "tensor=2 pipeline=2"]
pick = random.Random(" ".join(sys.argv[1:3])).choice
chance = random.Random(" ".join(sys.argv[1:3]) + "?").random


def some(*options, share=0.35):
    return "".join(" " + pick(o if isinstance(o, list) else [o]) for o in options if chance() < share)


def chips_of(where):
    if where in CHIPS:
        return CHIPS[where]
    words, count = where.split(), 1
    for size in words[1].split("x"):
        count *= int(size)
    return count * (int(words[3]) if len(words) > 2 else 1)


def asked(chip, where, model):
    batch, seq = pick(["64Ki", "128Ki", "256Ki", "512Ki"]), pick(["2048", "4096", "8192"])
    seq = "1024" if model == "gpt2-xl" else "2048" if model in ("falcon-7b", "phi-2", "opt-6.7b") else seq
    return f"--model {model} --chip {chip} {where} --batch {batch} --seq {seq}" + \
        some([f"--precision {t}" for t in TYPES.get(chip, ["bf16"])], [f"--optimizer {o}" for o in ("adafactor", "muon", "sgd", "sgd-momentum")],
             [f"--remat {r}" for r in ("none", "full", "full:3", "save_qkv_proj", "minimal", "selective")], ["--offload none", "--offload all"],
             ["--state-dtypes moments=bf16", "--state-dtypes master=fp32", "--state-dtypes gradients=bf16"],
             ["--hbm-reserve 5%", "--hbm-reserve 15%"], ["--profile ideal"], ["--schedules all", "--schedules 1f1b,interleaved"], share=0.15)


def plan_of(chips, mixture):
    degrees, left = {}, chips
    for role in sorted(["data", "fsdp", "sequence", "tensor", "pipeline"] + (["expert"] if mixture else []), key=lambda _: chance()):
        size = pick([d for d in range(1, left + 1) if left % d == 0])
        degrees[role], left = size, left // size
    last = pick(["data", "fsdp", "tensor"])
    degrees[last] *= left
    words = [f"{r}={d}" for r, d in degrees.items() if d > 1]
    if degrees["pipeline"] > 1:
        schedule = pick(["gpipe", "1f1b", "interleaved", "circular", "zb_h1"])
        words += [f"schedule={schedule}"] + (["virtual_stages=2"] if schedule in ("interleaved", "circular") else [])
    words += some(["microbatches=1", "microbatches=2", "microbatches=4", "microbatches=8", "microbatches=16"], share=0.7).split()
    words += some(["zero_stage=1", "zero_stage=2", "zero_stage=0"], ["regather=false", "regather=true"], ["tensor_overlap=true"], share=0.2).split()
    if degrees["sequence"] > 1:
        words += some(["context_method=ring", "context_method=all_gather", "context_method=ulysses"], share=0.6).split()
    return " ".join(words) or "data=1"


def line(kind):
    chip = pick(list(MACHINES))
    where, model = pick(MACHINES[chip]), pick(DENSE if chance() < 0.7 else MIXTURES)
    if kind == "serve":
        where = pick([w for w in MACHINES[chip] if chips_of(w) <= 8] or [where])
        return f"shardopt inference --model {model} --chip {chip} {where.replace(' --padding any', '').replace(' --oversubscription 2', '')}" + some(
            ["--prompt 128", "--prompt 4096", "--prompt 16384"], ["--output 16", "--output 1024"], [f"--lengths {n}" for n in ("azure-chat", "sharegpt", "rag")],
            ["--cached 50%"], ["--ttft 300ms", "--ttft 2s"], ["--tpot 15ms", "--tpot 40ms"], ["--rate 2/s", "--rate 30/s"], ["--concurrency 16"],
            ["--speculate 3:0.7", "--speculate 5:0.5"], ["--engine any", "--engine vllm", "--engine sglang", "--engine tensorrt-llm"],
            ["--mode aggregated", "--mode disaggregated", "--mode decode", "--mode prefill"], ["--objective latency", "--objective cost", "--objective chips"],
            [f"--precision {t}" for t in TYPES.get(chip, ["bf16"])], ["--kv-dtype int8", "--kv-dtype bf16,fp8"], ["--profile ideal"], ["--top 3", "--top 20"], share=0.2
        ) + some(["--format json", "--format markdown", "--format csv", "--format html"], share=0.8)
    ask = asked(chip, where, model)
    if kind == "plan":
        return f"shardopt {ask}" + some([f"--for {n}" for n in [*LAUNCHERS, "any"]], ["--objective cost", "--objective chip-hours"], ["--nesting all", "--nesting megatron"],
                                        ["--batch-tolerance 20%"], ["--max-idle 50%"], ["--padding any", "--padding none"], ["--sensitivity all", "--sensitivity none"],
                                        ["--top 3", "--variants --top 5"], ["--tokens 1T --mtbf 3h", "--restart 30m --storage 5G"],
                                        ["--require pipeline=2", "--require 'tensor<=4'", "--require 'fsdp>=2 sequence=1'"], share=0.2
                                        ) + some(["--format json", "--format markdown", "--format csv", "--format html", "-v"], share=0.8)
    plan = plan_of(chips_of(where), model in MIXTURES)
    if kind == "explain":
        return f'shardopt explain {ask} --plan "{plan}"' + some(["--why-not"], share=0.1) + some(["--format json", "--format json", "--format markdown", "--format html"], share=0.9)
    launcher = pick(LAUNCHERS if "node" in where or "chips" in where else LAUNCHERS[:2])
    one = f"--plan '{plan}'" if chance() < 0.3 else f"--require '{pick(REQUIRED)}'"
    again = f"shardopt explain --from-config f --chip {chip} {where} --format json"
    return f"shardopt emit {launcher} {ask} {one} -o f && {again}; cat f; rm -f f"


for _ in range(int(sys.argv[3])):
    print(line(sys.argv[1]))
