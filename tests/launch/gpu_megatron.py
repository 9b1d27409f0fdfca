# SPDX-License-Identifier: GPL-3.0-or-later
"""Megatron-Core's config classes, process groups and microbatch calculator on the script that shardopt writes. The wheel
holds megatron.core alone: flags that training/arguments.py defines itself, TRAINING, are held against what that file says
(Megatron-LM, core_v0.16), not against the file."""
import importlib.metadata
import importlib.util
import logging
import os
import re
import warnings

from gpu_checker import command_of, main, need, same_domain, start_ranks, world_of

# Flags of training/arguments.py and training/config that no class of the wheel has, with the number of values.
TRAINING = {"--num-experts": 1, "--swiglu": 0, "--group-query-attention": 0, "--position-embedding-type": 1,
            "--rotary-base": 1, "--rotary-percent": 1, "--max-position-embeddings": 1,
            "--make-vocab-size-divisible-by": 1, "--untie-embeddings-and-output-weights": 0, "--seq-length": 1,
            "--micro-batch-size": 1, "--global-batch-size": 1, "--num-virtual-stages-per-pipeline-rank": 1,
            "--use-tp-pp-dp-mapping": 0, "--no-gradient-accumulation-fusion": 0, "--ckpt-format": 1,
            "--grad-reduce-in-bf16": 0, "--mock-data": 0, "--tokenizer-type": 1, "--vocab-size": 1,
            "--train-iters": 1, "--log-interval": 1, "--log-throughput": 0, "--distributed-timeout-minutes": 1,
            "--cross-entropy-loss-fusion": 0, "--rotary-scaling-factor": 1, "--fp8-param-gather": 0,
            "--reuse-grad-buf-for-mxfp8-param-ag": 0, "--no-create-attention-mask-in-dataloader": 0, "--no-rope-fusion": 0}
# What the wheel imports of Transformer Engine, which a CPU has not, where it is asked for.
FUSED = ("--moe-permute-fusion", "--moe-router-fusion")
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def package():
    warnings.simplefilter("ignore")
    import megatron.core.parallel_state
    import megatron.core.transformer.transformer_config

    logging.disable(logging.WARNING)
    return f"megatron-core {importlib.metadata.version('megatron-core')}"


def classes():
    from megatron.core.distributed.distributed_data_parallel_config import DistributedDataParallelConfig
    from megatron.core.optimizer.optimizer_config import OptimizerConfig
    from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig

    return {"transformer": TransformerConfig, "latent": MLATransformerConfig, "ddp": DistributedDataParallelConfig,
            "optimizer": OptimizerConfig}


def flags_of(cls):
    """flag: field, as argument_utils.py of Megatron-LM makes them of the class; some names are in its metadata."""
    import dataclasses

    return {name: field for field in dataclasses.fields(cls)
            for name in field.metadata.get("argparse_meta", {}).get("arg_names", ["--" + field.name.replace("_", "-")])}


def parse(argv):
    """flag: values."""
    values, at = {}, 0
    while at < len(argv):
        flag, at = argv[at], at + 1
        need(flag.startswith("--"), f"{flag} stands where a flag should")
        need(flag not in values, f"{flag} stands twice")
        values[flag] = []
        while at < len(argv) and not argv[at].startswith("--"):
            values[flag].append(argv[at])
            at += 1
    return values


def value_of(words, field):
    import typing

    kind = str(field.type)
    if not words:
        return field.default is not True
    if field.name in ("pipeline_model_parallel_layout", "cp_comm_type"):
        return words[0]
    if field.name == "window_size":
        return tuple(int(word) for word in words[0].split(","))
    if field.name == "moe_layer_freq":
        need(re.fullmatch(r"[\[\]()*+0-9,]+", words[0]), "moe-layer-freq")  # moe_freq_type() of arguments.py
        return eval(words[0])
    if field.name.endswith("_dtype"):
        import torch

        return getattr(torch, DTYPES[words[0]])
    if "list" in kind.lower() and "Union" not in kind:
        return [int(word) if word.isdigit() else word for word in words]
    need(len(words) == 1, f"{field.name} takes one value")
    word = words[0]
    choices = re.findall(r"['\"]([a-z0-9_-]+)['\"]", kind) if "Literal" in kind else []
    need(not choices or word in choices, f"{field.name}: {word} is none of {choices}")
    return int(word) if re.fullmatch(r"-?[0-9]+", word) else float(word) if re.fullmatch(r"[0-9.e+-]+", word) else word


def configs(values):
    """Each class with the fields that flags set; every flag is somebody's."""
    import torch
    import torch.nn.functional as functional

    fields = {name: flags_of(cls) for name, cls in classes().items()}
    latent = "--multi-latent-attention" in values
    wanted = {name: {} for name in fields}
    for flag, words in values.items():
        known = flag in TRAINING and len(words) == TRAINING[flag]
        for name, own in fields.items():
            if flag in own and own[flag].init:
                wanted[name][own[flag].name] = value_of(words, own[flag])
                known = True
        for flags, field in FIRST_LAST.items():
            if flag == flags:
                wanted["latent"][field] = wanted["transformer"][field] = int(words[0])
                known = True
        need(known, f"{flag} {' '.join(words)}: no such flag")
    kind = "latent" if latent else "transformer"
    model = wanted[kind]
    if "--num-experts" in values:
        model["num_moe_experts"] = int(values["--num-experts"][0])
    if "--swiglu" in values:
        model.update(activation_func=functional.silu, gated_linear_unit=True)
    if "--num-virtual-stages-per-pipeline-rank" in values:
        model["virtual_pipeline_model_parallel_size"] = int(values["--num-virtual-stages-per-pipeline-rank"][0])
    model.update(pipeline_dtype=torch.bfloat16, params_dtype=torch.bfloat16)
    built = classes()[kind](**model)
    ddp = classes()["ddp"](**wanted["ddp"])
    optimizer = classes()["optimizer"](**wanted["optimizer"])
    return built, ddp, optimizer


FIRST_LAST = {"--decoder-first-pipeline-num-layers": "num_layers_in_first_pipeline_stage",
              "--decoder-last-pipeline-num-layers": "num_layers_in_last_pipeline_stage"}


def arguments_py(values, config, ddp, world, environment):
    """Conditions of training/arguments.py, validate_args(), in other words: what no class of the wheel asserts."""
    number = lambda flag, default=0: int(values[flag][0]) if flag in values else default
    cp, tp = config.context_parallel_size, config.tensor_model_parallel_size
    need(number("--max-position-embeddings") >= number("--seq-length"), "max-position-embeddings below seq-length")
    need(cp == 1 or number("--seq-length") % (2 * cp) == 0, "seq-length is no multiple of 2 x context-parallel-size")
    need(tp == 1 or not config.sequence_parallel or number("--seq-length") // cp % tp == 0, "tokens of sequence parallel")
    need(config.num_moe_experts is None or tp == 1 or config.sequence_parallel, "experts with tensor: sequence-parallel")
    need(not config.tp_comm_overlap or config.sequence_parallel, "tp-comm-overlap without sequence-parallel")
    fsdp = "--use-megatron-fsdp" in values
    need(not ddp.overlap_param_gather or ((ddp.use_distributed_optimizer or fsdp) and ddp.overlap_grad_reduce),
         "overlap-param-gather without distributed optimizer or overlap-grad-reduce")
    need(not fsdp or values["--ckpt-format"] == ["fsdp_dtensor"], "Megatron-FSDP wants ckpt-format fsdp_dtensor")
    need(not fsdp or environment != "1", "FSDP wants CUDA_DEVICE_MAX_CONNECTIONS above 1")
    need(fsdp or (tp == 1 and cp == 1) or environment == "1", "tensor and context want CUDA_DEVICE_MAX_CONNECTIONS=1")
    need("--optimizer-cpu-offload" not in values or "--use-precision-aware-optimizer" in values, "precision-aware optimizer")
    need("--use-precision-aware-optimizer" not in values or ddp.use_distributed_optimizer, "distributed optimizer")
    need(sum(flag in values for flag in ("--pipeline-model-parallel-layout", "--num-virtual-stages-per-pipeline-rank")) <= 1,
         "two ways to say virtual stages")


def groups(config, values, world, plan):
    """Megatron's own process groups, and those of the plan on a domain."""
    import torch.distributed as dist
    from megatron.core import parallel_state as state

    instances = int(values.get("--num-distributed-optimizer-instances", ["1"])[0])
    start_ranks(world)
    state.destroy_model_parallel()
    layout = config.pipeline_model_parallel_layout
    virtual = config.virtual_pipeline_model_parallel_size
    if layout is not None and layout.virtual_pipeline_model_parallel_size > 1:
        virtual = layout.virtual_pipeline_model_parallel_size
    state.initialize_model_parallel(
        config.tensor_model_parallel_size, config.pipeline_model_parallel_size, virtual,
        context_parallel_size=config.context_parallel_size,
        hierarchical_context_parallel_sizes=config.hierarchical_context_parallel_sizes,
        expert_model_parallel_size=config.expert_model_parallel_size,
        expert_tensor_parallel_size=config.expert_tensor_parallel_size,
        num_distributed_optimizer_instances=instances,
        order="tp-cp-ep-pp-dp" if "--use-tp-pp-dp-mapping" in values else "tp-cp-ep-dp-pp",
        create_gloo_process_groups=False)
    ranks = dist.get_process_group_ranks
    same_domain(plan, ranks(state.get_tensor_model_parallel_group()), ["tensor"], "tensor")
    same_domain(plan, ranks(state.get_context_parallel_group()), ["sequence"], "context")
    same_domain(plan, ranks(state.get_pipeline_model_parallel_group()), ["pipeline"], "pipeline")
    same_domain(plan, ranks(state.get_data_parallel_group()), ["data", "fsdp"], "data")
    if instances > 1:
        inside = ranks(state.get_data_parallel_group(with_context_parallel=True, partial_data_parallel=True))
        same_domain(plan, inside, ["fsdp", "sequence"], "Megatron-FSDP")
    return state.get_data_parallel_world_size()


def check(job):
    from megatron.core import num_microbatches_calculator as calculator

    plan, knobs = job["plan"], job["plan"]["knobs"]
    words, _ = command_of(job["file"])
    world = world_of(words)
    at = next(i for i, word in enumerate(words) if word.endswith("pretrain_gpt.py"))
    argv = words[at + 1:]
    for key, value in job.get("mutate", {}).items():
        argv = [word for i, word in enumerate(argv) if word != f"--{key}" and (i == 0 or argv[i - 1] != f"--{key}")]
        argv += [f"--{key}", str(value)]
    if "pipeline-model-parallel-layout" in job.get("mutate", {}) and "--num-virtual-stages-per-pipeline-rank" in argv:
        where = argv.index("--num-virtual-stages-per-pipeline-rank")
        del argv[where:where + 2]
    values = parse(argv)
    unchecked = [flag for flag in FUSED if flag in values and not importlib.util.find_spec("transformer_engine")]
    for flag in unchecked:
        del values[flag]
    config, ddp, _ = configs(values)
    text = open(job["file"]).read()
    environment = "1" if re.search(r"^export CUDA_DEVICE_MAX_CONNECTIONS=1", text, re.M) else None
    arguments_py(values, config, ddp, world, environment)
    data = groups(config, values, world, plan)
    calculator.unset_num_microbatches_calculator()
    calculator.init_num_microbatches_calculator(0, None, int(values["--global-batch-size"][0]),
                                                int(values["--micro-batch-size"][0]), data)
    need(calculator.get_num_microbatches() == knobs["microbatches"], f"{calculator.get_num_microbatches()} microbatches")
    said = (f"tp {config.tensor_model_parallel_size} cp {config.context_parallel_size} pp {config.pipeline_model_parallel_size}"
            f" ep {config.expert_model_parallel_size} etp {config.expert_tensor_parallel_size} dp {data}, "
            f"{knobs['microbatches']} microbatches")
    layout = config.pipeline_model_parallel_layout
    if layout is not None:
        layout.validate_layer_layout(config.num_layers, None)
        from megatron.core.transformer.enums import LayerType

        ranks = [sum(chunk.count(LayerType.decoder) for chunk in rank) for rank in layout.layout]
        kept = [row["layers"] for row in plan["layout"] if row["tensor"] == "layer_input"]
        need(max(ranks) == sum(kept), f"a rank has {max(ranks)} layers, the plan's fullest stage {sum(kept)}")
        said += f", stages of {min(ranks)} to {max(ranks)} layers in {layout.virtual_pipeline_model_parallel_size} chunks"
    own = sum(flag in TRAINING for flag in values)
    said += "".join(f"; {flag} wants Transformer Engine: not checked" for flag in unchecked)
    return f"{said}; {len(values)} flags, {own} of them only in arguments.py"


if __name__ == "__main__":
    main(package, check)
