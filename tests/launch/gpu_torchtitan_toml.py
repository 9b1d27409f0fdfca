# SPDX-License-Identifier: GPL-3.0-or-later
"""torchtitan 0.2's reader of TOML, parallel dims and model arguments on the file that shardopt writes. TORCHTITAN_02
names a folder with that release (pip install --no-deps --target FOLDER torchtitan==0.2.2), which one environment cannot
hold beside 0.3."""
import importlib
import logging
import os
import sys
import tomllib

from gpu_checker import main, need


def package():
    folder = os.environ.get("TORCHTITAN_02")
    if not folder:
        raise ImportError("TORCHTITAN_02 names no folder with torchtitan 0.2")
    sys.path.insert(0, folder)
    import torchtitan.distributed.pipeline_parallel

    logging.disable(logging.WARNING)
    return f"torchtitan of {folder}"


def check(job):
    from torchtitan.config import ConfigManager
    from torchtitan.distributed import ParallelDims

    path = job["file"]
    if job.get("mutate"):
        lines = open(path).read().splitlines()
        for key, value in job["mutate"].items():
            lines = [f"{key} = {value}" if line.startswith(f"{key} = ") else line for line in lines]
        path += ".beyond"
        open(path, "w").write("\n".join(lines))
    config = ConfigManager().parse_args(["--job.config_file", path])
    for section, values in tomllib.load(open(path, "rb")).items():  # what its reader does not know it drops
        for key in values:
            need(hasattr(getattr(config, section), key), f"{section}.{key} is no key of it")
    plan, parallelism, training = job["plan"], config.parallelism, config.training
    axes, knobs = plan["axes"], plan["knobs"]
    world = 1
    for axis in plan["machine"]["axes"]:
        world *= axis["size"]
    dims = ParallelDims(dp_replicate=parallelism.data_parallel_replicate_degree,
                        dp_shard=parallelism.data_parallel_shard_degree, cp=parallelism.context_parallel_degree,
                        tp=parallelism.tensor_parallel_degree, pp=parallelism.pipeline_parallel_degree,
                        ep=parallelism.expert_parallel_degree, etp=parallelism.expert_tensor_parallel_degree,
                        world_size=world)
    need((dims.dp_replicate, dims.dp_shard, dims.cp, dims.tp, dims.pp) ==
         (axes["data"], axes["fsdp"] * axes["expert"], axes["sequence"], axes["tensor"], axes["pipeline"]) or
         job.get("mutate"), "other degrees than the plan's")
    need(training.seq_len % dims.seq_len_divisor == 0, "sequence length")
    data = dims.dp_replicate * dims.dp_shard
    microbatch = parallelism.pipeline_parallel_microbatch_size if dims.pp > 1 else training.local_batch_size
    need(training.global_batch_size % (training.local_batch_size * data) == 0, "train.py: global batch size")
    passes = training.global_batch_size // (training.local_batch_size * data) * (training.local_batch_size // microbatch)
    need((passes, microbatch) == (knobs["microbatches"], knobs["microbatch_sequences"]) or job.get("mutate"),
         f"{passes} x {microbatch} sequences")
    said = f"replicate {dims.dp_replicate} shard {dims.dp_shard} cp {dims.cp} tp {dims.tp} pp {dims.pp} ep {dims.ep}"
    try:
        module = importlib.import_module(f"torchtitan.models.{config.model.name}")
    except ModuleNotFoundError:
        return said + ", with a model of one's own"
    arguments = module.get_train_spec().model_args[config.model.flavor]
    need(arguments.n_layers == job["model"]["layers"], f"{arguments.n_layers} layers")
    heads = getattr(arguments, "n_kv_heads", None) or arguments.n_heads
    if dims.tp > 1 and heads % dims.tp != 0:  # models/llama3/infra/parallelize.py splits wk and wv by heads
        raise ValueError(f"{heads} KV heads on {dims.tp} ways of tensor")
    if dims.pp > 1:
        said += stages_of(config, dims, arguments.n_layers, plan)
    return said + f", {config.activation_checkpoint.mode}"


def stages_of(config, dims, layers, plan):
    from torch.distributed.pipelining.schedules import get_schedule_class
    from torchtitan.distributed import pipeline_parallel as pipeline

    parallelism = config.parallelism
    get_schedule_class(parallelism.pipeline_parallel_schedule)
    names = parallelism.module_fqns_per_model_part
    if names is None:
        count = -(-layers // parallelism.pipeline_parallel_layers_per_stage)
        names = pipeline.generate_llm_fqn_per_model_part(count, layers,
                                                         parallelism.pipeline_parallel_first_stage_less_layers,
                                                         parallelism.pipeline_parallel_last_stage_less_layers)
    flat = [name for part in names for name in part]
    need(flat == ["tok_embeddings", *(f"layers.{i}" for i in range(layers)), "norm", "output"], "layers are lost")
    need(len(names) == dims.pp * plan["knobs"]["virtual_stages"], f"{len(names)} stages")
    return f", {len(names)} stages"


if __name__ == "__main__":
    main(package, check)
