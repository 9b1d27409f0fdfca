# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests and their restrictions, drawn at random. A request is {option: value}, True: the option has none; a
restriction is a request with one option added or changed, whose plans are a part of those of the first."""
import itertools

LAUNCHERS = ("megatron", "torchtitan", "deepspeed")
SCHEDULES = ("gpipe", "1f1b", "interleaved", "circular")
MODELS = ("llama3.2-1b", "llama3.1-8b", "llama3.1-8b", "qwen3-14b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite",
          "llama3.1-70b", "gemma2-9b", "nemotron-h-56b")
GPUS = (("h100", (1, 2, 3, 4)), ("a100-40g", (1, 2)), ("b200", (1, 2)), ("gb200", (1,)), ("mi300x", (1, 2)),
        ("4090", (1, 2)), ("gh200", (2, 4)))
TPUS = (("v5p", "4x4x4"), ("v5p", "2x4x4"), ("v5e", "4x8"), ("v6e", "4x4"), ("v4", "2x2x4"))
TUNING = ({"--lora": "16"}, {"--lora": "16", "--task": "dpo"}, {"--qlora": "16"}, {"--qlora": "16,int8"},
          {"--task": "sft"}, {"--lora": "8", "--targets": "attention"}, {"--task": "sft", "--freeze": "embeddings"})
REMAT = ("none", "full", "full:8", "minimal", "minimal_with_context", "selective", "save_qkv_proj", "layernorm",
         "qkv=saved")
KNOBS = ("microbatches<=4", "microbatches>=8", "zero_stage=0", "zero_stage=1", "zero_stage=2", "microbatch_sequences=1",
         "schedule=1f1b", "schedule=interleaved", "virtual_stages=2", "regather=true", "regather=false", "stages=even",
         "stages=balanced", "context_method=ring", "context_method=ulysses", "sequence_parameters=sharded",
         "tensor_overlap=true", "tensor_overlap=false", "offload_optimizer=true", "offload_optimizer=false",
         "folded_expert=4", "folded_expert_tensor=1", "ulysses=2")
ROLES = ("data", "fsdp", "tensor", "pipeline", "sequence", "expert")


def sublists(values):
    """Every true part of a list, as one argument; the shortest first."""
    return [",".join(part) for size in range(1, len(values)) for part in itertools.combinations(values, size)]


def fewer(offered, value):
    """What may be given in place of `value`: the entry of `offered`, or parts of a list."""
    if value in offered:
        return list(offered[value])
    return sublists(value.split(",")) if isinstance(value, str) else []


# ---- plan ----

def plan_request(dice):
    ask, tpu = {"--model": dice.choice(MODELS)}, dice.random() < 0.25
    if tpu:
        ask["--chip"], ask["--slice"] = dice.choice(TPUS)
    else:
        chip, nodes = dice.choice(GPUS)
        ask["--chip"], ask["--nodes"] = chip, str(dice.choice(nodes))
    tuned = not tpu and dice.random() < 0.4
    if tuned:
        ask.update(dice.choice(TUNING))
        if dice.random() < 0.3:
            ask.update({"--mean-length": "600", "--packing": dice.choice(("packed", "padding-free", "padded"))})
    else:
        ask["--seq"] = dice.choice(("2048", "8192", "8192", "32768"))
    ask["--sequences"] = dice.choice(("8", "12", "32", "64", "128"))
    launchers = LAUNCHERS + ("trl", "axolotl", "llama-factory") if tuned else ("maxtext", "jax") if tpu else LAUNCHERS
    ask["--for"] = dice.choice((None, "any", dice.choice(launchers), ",".join(launchers), ",".join(launchers[-2:])))
    if ask["--for"] is None:
        del ask["--for"]
    else:
        for option, values in (("--padding", ("any", "launchable")), ("--nesting", ("all",)),
                               ("--schedules", ("all", "launchable", "gpipe,1f1b,interleaved"))):
            if dice.random() < 0.15:
                ask[option] = dice.choice(values)
    if ask.get("--for") == "any" and ask["--chip"] == "h100" and dice.random() < 0.7:
        ask["--stack"] = "megatron-core"
    for option, values in (("--max-idle", ("0", "0.3", "0.5")), ("--batch-tolerance", ("5%", "10%")),
                           ("--offload", ("all", "optimizer", "activations")),
                           ("--hbm-reserve", ("0.02", "0.3", "0.5")),
                           ("--precision", ("fp8",)), ("--optimizer", ("adafactor", "muon")), ("--rank", ("time",)),
                           ("--require", ("pipeline<=2", "tensor<=4", "microbatches<=16")),
                           ("--objective", ("cost", "chip-hours")), ("--state-dtypes", ("moments=bf16",))):
        if dice.random() < 0.15:
            ask[option] = dice.choice(values)
    return ask


def near(dice, report):
    """A condition on a degree near the first plan's, or at random."""
    axes = report["plans"][0]["axes"] if report["plans"] else dict.fromkeys(ROLES, 1)
    role = dice.choice(sorted(axes))
    return "%s%s%d" % (role, dice.choice(("=", "<=", ">=")), dice.choice((1, 2, 4, 8, axes[role], axes[role])))


def plan_restrictions(dice, ask, report):
    """{kind: values of its option}; whoever draws takes a kind and then a value."""
    tuned = any(option in ask for option in ("--lora", "--qlora", "--task"))
    parameters = ("parameters",) if tuned else ()
    usual = report["request"]["for"]
    old = ask.get("--require", "") + " "
    kinds = {
        "--require degree": [old + near(dice, report)],
        "--require knob": [old + dice.choice(KNOBS)],
        "--offload": fewer({None: ("none", "optimizer", "activations", "all") + parameters, "parameters": (),
                            "all": ("none", "optimizer", "activations"), "optimizer": ("none",),
                            "activations": ("none",)}, ask.get("--offload")),
        "--remat": REMAT,
        "--hbm-reserve": ("0.6", "0.7"),
        "--host-memory": ("64GB", "300GB"),
        "--max-idle": ("0",) if ask.get("--max-idle") != "0" else (),
        "--batch-tolerance": ("0", "2%") if "--batch-tolerance" in ask else (),
    }
    kinds.update(dice.sample([("--top", ("3",)), ("--variants", (True,)), ("--time-limit", ("0.05", "0.3")),
                              ("--gap", ("5%",)), ("--memory-limit", ("256M",))], 2))
    if "," in usual:
        kinds["--for, of the usual" if "--for" not in ask else "--for, of a list"] = sublists(usual.split(","))
    if ask.get("--for") == "any" and "--stack" in ask:
        kinds["--for, of any"] = ("megatron",)
    if "--for" in ask:
        kinds["--schedules"] = fewer({None: sublists(SCHEDULES), "launchable": sublists(SCHEDULES),
                                      "all": ("launchable", "zb_h1,1f1b", "dualpipe,1f1b", *sublists(SCHEDULES))},
                                     ask.get("--schedules"))
        kinds["--padding"] = fewer({None: ("none",), "launchable": ("none",), "any": ("launchable", "none")},
                                   ask.get("--padding"))
        kinds["--nesting"] = fewer({"all": ("default", "maxtext", "jax", "megatron", "megatron-pp-dp", "torchtitan")},
                                   ask.get("--nesting", "default"))
    if "--require" not in ask:
        kinds.update((short, ("1", "2", "4"))
                     for short in dice.sample(("--tp", "--pp", "--dp", "--fsdp", "--cp", "--ep", "--mbs"), 2))
    return kinds


# ---- inference ----

def inference_request(dice):
    chip, nodes = dice.choice((("h100", 1), ("h100", 1), ("h100", 2), ("b200", 1), ("mi300x", 1), ("a100-80g", 1)))
    ask = {"--model": dice.choice(("llama3.1-8b", "llama3.1-70b", "qwen3-30b-a3b", "mixtral-8x7b", "llama3.2-1b")),
           "--chip": chip, "--nodes": str(nodes)}
    if dice.random() < 0.2:
        ask.update({"--chip": "v5e", "--slice": "2x4", "--model": "llama3.1-8b"})
        del ask["--nodes"]
    for option, values in (("--engine", ("any", "vllm,sglang", "sglang,tensorrt-llm", "vllm,tensorrt-llm")),
                           ("--precision", ("bf16,fp8", "fp8,int8", "bf16,int4")), ("--kv-dtype", ("bf16,fp8",)),
                           ("--mode", ("any", "aggregated")), ("--objective", ("latency", "cost", "chips")),
                           ("--ttft", ("2s", "1s")), ("--tpot", ("50ms", "30ms")), ("--rate", ("20/s",)),
                           ("--require", ("tensor<=4", "pipeline=1")), ("--prompt", ("256", "8192")),
                           ("--cached", ("50%",)), ("--speculate", ("3:0.7",))):
        if dice.random() < 0.3 and not (option == "--engine" and ask["--chip"] == "v5e"):
            ask[option] = dice.choice(values)
    if ask.get("--objective") == "chips":
        ask["--rate"] = "20/s"
    if "--prompt" not in ask and dice.random() < 0.2:
        ask["--lengths"] = "sharegpt"
    return ask


def inference_restrictions(dice, ask, report):
    old = ask.get("--require", "") + " "
    axes = report["best_point"]["pools"][0]["axes"] if report.get("best_point") else {"tensor": 1, "pipeline": 1}
    role = dice.choice(sorted(axes))
    kinds = {
        "--require": [old + "%s%s%d" % (role, dice.choice(("=", "<=", ">=")), dice.choice((1, 2, 4, axes[role])))],
        "--mode": ("aggregated", "disaggregated") if ask.get("--mode", "any") == "any" else (),
        "--precision": fewer({}, ask.get("--precision")), "--kv-dtype": fewer({}, ask.get("--kv-dtype")),
        "--ttft": ("500ms", "100ms"), "--tpot": ("20ms", "8ms"),
        "--max-model-len": ("32768",), "--gpu-memory-utilization": ("0.7", "0.5"), "--top": ("2",),
        "--time-limit": ("0.02",),
    }
    if ask.get("--engine") == "any":
        kinds["--engine, of any"] = ("vllm", "sglang", "tensorrt-llm")
    elif "," in report["request"]["engine"]:
        kinds["--engine"] = sublists(report["request"]["engine"].split(","))
    return kinds


# ---- rl ----

def rl_request(dice):
    ask = {"--model": dice.choice(("llama3.2-1b", "llama3.1-8b", "llama3.1-8b", "qwen3-14b")), "--chip": "h100",
           "--nodes": dice.choice(("1", "1", "2")), "--gpus-per-node": dice.choice(("4", "8"))}
    for option, values in (("--lag", ("2", "4", "0")), ("--algorithm", ("ppo", "dapo")), ("--answer", ("300",)),
                           ("--engine", ("sglang", "tensorrt-llm")), ("--for", ("torchtitan", "deepspeed")),
                           ("--lora", ("16",)), ("--prompts", ("16", "128")), ("--kv-dtype", ("fp8",)),
                           ("--objective", ("cost",)), ("--train-batch", ("512",))):
        if dice.random() < 0.3:
            ask[option] = dice.choice(values)
    return ask


def rl_restrictions(dice, ask, report):
    """--rollout-memory is none: it sets how many answers are in flight, and more of them may be slower."""
    first = report["steps"][0] if report["steps"] else {"train_chips": 8}
    hosts = first["train_chips"] // int(ask["--gpus-per-node"])
    return {"--lag": [str(lag) for lag in range(int(ask.get("--lag", "1")))], "--colocated": (True,),
            "--partial": ("yes", "no"), "--train-nodes": ("1", str(max(1, hosts))),
            "--train-plan": ("tensor=%d" % dice.choice((1, 2, 4)), "pipeline=2", "data=2 tensor=2"),
            "--rollout": ("tensor=%d" % dice.choice((1, 2, 4)),), "--remat": ("full", "none")}


COMMANDS = {"plan": (plan_request, plan_restrictions), "inference": (inference_request, inference_restrictions),
            "rl": (rl_request, rl_restrictions)}
