#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiles MaxText's whole training step from a YAML file that `shardopt emit maxtext` wrote, with libtpu, for a named TPU
topology; no TPU has to be there. Runs in the virtual environment of set_up.sh. See README.md.

    compile_maxtext.py FILE.yml TOPOLOGY SLICES OUT.hlo OUT.json [KEY=VALUE ...]"""
import json
import os
import sys
import time

QUIET = {"DECOUPLE_GCLOUD": "TRUE", "TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "JAX_PLATFORMS": "cpu",
         "TF_CPP_MIN_LOG_LEVEL": "2", "TPU_ACCELERATOR_TYPE": "", "TPU_WORKER_HOSTNAMES": "localhost",
         "PYTHONDONTWRITEBYTECODE": "1"}
# What the file leaves to whoever launches it: where outputs and data are. A synthetic data set needs no files.
LAUNCH = ["run_name=whole_step", "base_output_directory=/tmp/whole_step", "enable_checkpointing=false",
          "dataset_type=synthetic", "tokenizer_type=tiktoken", "skip_jax_distributed_system=true", "log_config=false",
          "steps=10", "use_vertex_tensorboard=false", "jax_cache_dir="]


def step_of(path, topology, slices, keys):
    """The configuration and the mesh that MaxText makes of the file, and its step for them, compiled."""
    import jax

    jax.config.update("jax_default_prng_impl", "unsafe_rbg")
    from flax.core.spmd import logical_axis_rules
    from maxtext.configs import pyconfig
    from maxtext.trainers.pre_train import train, train_compile
    from maxtext.utils import maxtext_utils, sharding

    config = pyconfig.initialize(["", path, *LAUNCH, f"compile_topology={topology}",
                                  f"compile_topology_num_slices={slices}", *keys])
    mesh = train_compile.get_topology_mesh(config)
    arguments, named, state, _, model = train_compile.get_shaped_inputs(mesh, config)
    parameters, state = sharding.maybe_update_params_sharding_with_opt(config, state)
    state = sharding.build_zero1_input_state_mesh_shardings(config, state, parameters)
    signature = maxtext_utils.get_functional_train_with_signature(
        train.train_step, sharding.get_input_data_sharding(config, mesh), state, model, config, parameters)
    function, *placed = signature
    compiled = train_compile.jit_and_compile(function, arguments, named, mesh, *placed, config,
                                             logical_axis_rules(config.logical_axis_rules))
    return mesh, compiled


def main():
    path, topology, slices, text, figures, *keys = sys.argv[1:]
    start = time.time()
    mesh, compiled = step_of(path, topology, int(slices), keys)
    with open(text, "w") as file:
        file.write(compiled.as_text())
    memory = compiled.memory_analysis()
    said = {"mesh": {axis: int(size) for axis, size in mesh.shape.items()},
            "seconds": round(time.time() - start, 1),
            "devices": [device.id for device in mesh.devices.flat],
            "arguments_bytes": memory.argument_size_in_bytes, "temporaries_bytes": memory.temp_size_in_bytes,
            "outputs_bytes": memory.output_size_in_bytes, "aliased_bytes": memory.alias_size_in_bytes,
            "host_bytes": memory.host_temp_size_in_bytes + memory.host_argument_size_in_bytes,
            "peak_bytes": memory.peak_memory_in_bytes}
    with open(figures, "w") as file:
        json.dump(said, file)


if __name__ == "__main__":
    if any(os.environ.get(key) != value for key, value in QUIET.items()):  # libtpu reads them when it is loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **QUIET})
    main()
