# SPDX-License-Identifier: GPL-3.0-or-later
"""DeepSpeed's config class on the JSON that shardopt writes."""
import importlib.metadata
import json
import logging

from gpu_checker import main, need, start_ranks


def package():
    import deepspeed

    logging.disable(logging.WARNING)
    return f"deepspeed {importlib.metadata.version('deepspeed')}"


class Grid:
    """As DeepSpeed asks its model parallel unit."""

    def __init__(self, data):
        self.data = data

    def get_data_parallel_world_size(self):
        return self.data


def check(job):
    import deepspeed.comm as comm
    from deepspeed.module_inject.auto_ep_config import validate_autoep_config
    from deepspeed.runtime.config import DeepSpeedConfig

    with open(job["file"]) as file:
        config = json.load(file)
    for path, value in job.get("mutate", {}).items():
        *folders, key = path.split(".")
        at = config
        for folder in folders:
            at = at[folder]
        at[key] = value
    plan = job["plan"]
    axes, knobs = plan["axes"], plan["knobs"]
    world = 1
    for axis in plan["machine"]["axes"]:
        world *= axis["size"]
    start_ranks(world)
    comm.cdb = None
    comm.init_distributed(dist_backend="fake", auto_mpi_discovery=False, verbose=False, rank=0, world_size=world)
    inside = axes["tensor"] * axes["pipeline"]
    parsed = DeepSpeedConfig(config, mpu=Grid(world // inside) if inside > 1 else None)
    need(parsed.gradient_accumulation_steps == knobs["microbatches"], "another number of microbatches than the plan's")
    need(parsed.train_micro_batch_size_per_gpu == knobs["microbatch_sequences"], "another microbatch than the plan's")
    sharded = axes["fsdp"] * (axes["sequence"] if knobs["sequence_parameters"] == "sharded" else 1) > 1
    need(parsed.zero_optimization_stage == (3 if sharded else knobs["zero_stage"]), "another ZeRO stage than the plan's")
    need(parsed.tensor_parallel_config.autotp_size in (0, axes["tensor"]), "another degree of tensor than the plan's")
    need((parsed.zero_config.offload_optimizer is not None) == knobs["offload_optimizer"], "offloads otherwise")
    if parsed.expert_parallel_config is not None and parsed.expert_parallel_config.enabled:
        validate_autoep_config(parsed.expert_parallel_config, world, axes["pipeline"], axes["tensor"], axes["sequence"])
        need(parsed.expert_parallel_config.autoep_size == plan["expert_grid"]["expert"], "another expert grid")
    return (f"ZeRO-{int(parsed.zero_optimization_stage)}, {parsed.gradient_accumulation_steps} x "
            f"{parsed.train_micro_batch_size_per_gpu} sequences, tensor {max(1, parsed.tensor_parallel_config.autotp_size)}")


if __name__ == "__main__":
    main(package, check)
