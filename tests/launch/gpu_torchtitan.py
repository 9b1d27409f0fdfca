# SPDX-License-Identifier: GPL-3.0-or-later
"""torchtitan 0.3's command line, parallel dims, model config and stages on the script that shardopt writes."""
import importlib.metadata
import logging
import os
import sys

from gpu_checker import command_of, main, need, same_domain, start_ranks, world_of


def package():
    import torchtitan.trainer

    version = importlib.metadata.version("torchtitan")
    if tuple(int(part) for part in version.split(".")[:2]) < (0, 3):
        raise ImportError(f"torchtitan {version}; 0.3 or later is asked here")
    logging.disable(logging.WARNING)
    return f"torchtitan {version}"


def stages_of(config, dims, plan):
    """Each layer once, in order; how many a pipeline rank has at most is the plan's."""
    from torch.distributed.pipelining.schedules import get_schedule_class
    from torchtitan.distributed import pipeline_parallel as pipeline

    parallelism = config.parallelism
    get_schedule_class(parallelism.pipeline_parallel_schedule)
    count, layers, first, last = pipeline._get_pipeline_metadata(dims, parallelism, config.model_spec.model)
    names = parallelism.module_fqns_per_model_part
    if names is None:
        names = pipeline._generate_llm_fqn_per_model_part(count, layers, first, last)
    flat = [name for part in names for name in part]
    need(flat == ["tok_embeddings", *(f"layers.{i}" for i in range(layers)), "norm", "lm_head"], "layers are lost")
    need(len(names) == dims.pp * plan["knobs"]["virtual_stages"], f"{len(names)} stages")
    ranks = []
    for rank in range(dims.pp):
        chunks = pipeline._get_pp_rank_to_stage_indices_mapping(rank, dims.pp, parallelism.pipeline_parallel_schedule,
                                                                len(names))
        ranks.append(sum(name.startswith("layers.") for chunk in chunks for name in names[chunk]))
    kept = [row["layers"] for row in plan["layout"] if row["tensor"] == "layer_input"]
    need(max(ranks) == sum(kept), f"a rank has {max(ranks)} layers, the plan's fullest stage {sum(kept)}")
    return f", stages of {min(ranks)} to {max(ranks)} layers in {len(names) // dims.pp} chunks"


def within(config, dims):
    """A condition of Trainer.__init__, which needs GPUs, in other words."""
    pieces = (dims.tp if config.parallelism.enable_sequence_parallel else 1) * (2 * dims.cp if dims.cp > 1 else 1)
    if config.training.seq_len % pieces != 0:
        raise ValueError(f"training.seq_len {config.training.seq_len} is no multiple of {pieces}")
    return dims


def compare(config, plan, world, beyond):
    from torchtitan.distributed import ParallelDims

    axes, knobs, training, parallelism = plan["axes"], plan["knobs"], config.training, config.parallelism
    dims = ParallelDims.from_config(parallelism, world)
    data = dims.dp_replicate * dims.dp_shard
    microbatch = parallelism.pipeline_parallel_microbatch_size if dims.pp > 1 else training.local_batch_size
    need(training.global_batch_size % (training.local_batch_size * data) == 0, "trainer.py: global batch size")
    passes = training.global_batch_size // (training.local_batch_size * data) * (training.local_batch_size // microbatch)
    if beyond:
        return within(config, dims)
    need((passes, microbatch) == (knobs["microbatches"], knobs["microbatch_sequences"]), f"{passes} x {microbatch} sequences")
    within(config, dims)
    start_ranks(world)
    dims.build_mesh()
    for name, roles, degree in [("tp", ["tensor"], axes["tensor"]), ("cp", ["sequence"], axes["sequence"]),
                                ("pp", ["pipeline"], axes["pipeline"]), ("dp_replicate", ["data"], axes["data"]),
                                ("dp_shard", ["fsdp", "expert"], axes["fsdp"] * axes["expert"])]:
        mesh = dims.get_optional_mesh(name)
        ranks = mesh.mesh.flatten().tolist() if mesh is not None else [0]
        need(len(ranks) == degree, f"{name}: {len(ranks)} ranks")
        same_domain(plan, ranks, roles, name)
    return dims


def check(job):
    words, folder = command_of(job["file"])
    world, argv = world_of(words), words[words.index("torchtitan.train") + 1:]
    for key, value in job.get("mutate", {}).items():
        argv[argv.index(f"--parallelism.{key}") + 1] = str(value)
    with open(job["file"]) as file:
        own = 'os.environ["MODULE"]' in file.read()  # a model of one's own: on a config function of another
    os.environ.update(MODULE="torchtitan.models.llama3.config_registry", CONFIG="llama3_debugmodel")
    sys.path.insert(0, folder.split(":")[0])
    sys.modules.pop("shardopt_plan", None)
    try:
        from torchtitan.config import ConfigManager

        config = ConfigManager().parse_args(argv)
    finally:
        sys.path.pop(0)
    dims = compare(config, job["plan"], world, "mutate" in job)
    said = f"mesh pp {dims.pp} replicate {dims.dp_replicate} shard {dims.dp_shard} cp {dims.cp} tp {dims.tp} ep {dims.ep}"
    if own:
        return said + ", with a model of one's own"
    config.model_spec.model.update_from_config(config=config)
    model = config.model_spec.model
    need(len(model.layers) == job["model"]["layers"], f"{len(model.layers)} layers")
    if dims.pp > 1:
        said += stages_of(config, dims, job["plan"])
    return said + f", {type(config.activation_checkpoint).__qualname__.split('.')[0]}"


if __name__ == "__main__":
    main(package, check)
