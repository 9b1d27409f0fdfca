#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `shardopt emit jax` writes, imported: --check passes, every parameter is there, on TPU devices with coordinates the
array of devices lies where the plan was costed, and a mesh of host devices takes arrays of these shardings. See README.md."""
import argparse
import contextlib
import importlib.util
import io
import math
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import shardopt

HOST_DEVICES = 64
CASES = [
    "--model 405b --slice v5p-2048 --batch 4Mi --seq 8192",
    "--model 405b --slice 4x8x8 --slices 2 --batch 4Mi --seq 8192 --require data=2,tensor=4",
    "--model 8b --chip v5e --slice 4x4 --batch 256Ki",
    "--model mixtral-8x22b --chip v5e --slice 16x16 --batch 2Mi --seq 8192 --require expert=8",
    "--model deepseek-v3 --chip h100 --nodes 16 --batch 1Mi --seq 4096 --padding any",
    "--model gpt-oss-120b --slice 4x4x4 --batch 2Mi --seq 8192",
    "--model gemma3-27b --chip v6e --slice 8x8 --batch 512Ki --seq 4096",
    "--model 70b --slice 4x4x4 --batch 2Mi --seq 8192 --require pipeline=4,tensor=4",
    "--model 70b --slice 4x4x4 --batch 1Mi --seq 32768 --require sequence=8,context=ulysses_ring,ulysses=4",
    "--model 70b --chip tpu7x --slice 2x4x4 --batch 1Mi --seq 8192 --require tensor=2",
    "--model 70b --chip h100 --nodes 8 --batch 2Mi --seq 8192 --require tensor=8",
    "--model gpt3-175b --chip h100 --nodes 8 --batch 1Mi --require data=2,zero=1",
    "--model qwen3-235b-a22b --slice 4x4x4 --batch 2Mi --seq 4096 --require expert=8,fsdp=4",
]


def load(path):
    found = importlib.util.spec_from_file_location("emitted", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def check_degrees(module, plan):
    for role, degree in plan["axes"].items():
        grid = plan.get("expert_grid")
        wanted = grid["expert"] if role == "expert" and grid else degree
        if module.ways(module.ROLES[role]) != wanted:
            yield f"{role} is {module.ways(module.ROLES[role])}, and {wanted} in the plan"
    if module.DEVICES != math.prod(axis["size"] for axis in plan["machine"]["axes"]):
        yield f"{module.DEVICES} devices"


def check_placement(module, plan, chip):
    array, names = module.device_array(shardopt.devices_of(plan, chip)), list(module.MESH_AXES)
    for role, wanted in shardopt.costed(plan).items():
        spans = shardopt.lies(array, [names.index(axis) for axis in module.ROLES[role]])
        if spans != wanted:
            yield f"{role} lies on {sorted(spans)}, and on {sorted(wanted)} in the plan"


def check_arrays(module):
    """On real (host) devices: arrays as the specs say, and stacked ones."""
    import jax

    mesh = module.mesh(jax.devices()[: module.DEVICES])
    for name, sharding in module.shardings(mesh).items():
        shape, held = module.PARAMETERS[name]
        if math.prod(shape) > 1 << 20:
            continue
        array = jax.jit(lambda: jax.numpy.zeros(shape, "bfloat16"), out_shardings=sharding)()
        if array.addressable_shards[0].data.shape != sharding.shard_shape(shape):
            yield f"{name}: {array.addressable_shards[0].data.shape}"
    for _, saved, offloaded in module.REMAT:
        module.remat_policy(saved, offloaded)
    layers = sum(count for count, _, _ in module.REMAT)
    if layers != module.LAYERS_PER_STAGE:
        yield f"REMAT is of {layers} layers, a stage has {module.LAYERS_PER_STAGE}"


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--shardopt", default="build/shardopt", help="the program")
    words.add_argument("--only", default="", help="cases that hold this")
    words = words.parse_args()
    os.environ |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={HOST_DEVICES}"}
    try:
        import jax
    except ImportError:
        print("SKIPPED: JAX is not installed: pip install jax")
        return shardopt.SKIPPED
    wrong = 0
    for case in [case for case in CASES if words.only in case]:
        with tempfile.TemporaryDirectory() as folder:
            plan, path = shardopt.emitted(words.shardopt, "jax", case, folder)
            module, printed = load(path), io.StringIO()
            said = list(check_degrees(module, plan))
            try:
                with contextlib.redirect_stdout(printed):
                    module.check()
            except SystemExit as error:
                said.append(f"--check: {error}")
            how = "--check"
            chip = next((chip for chip in shardopt.KINDS if chip.removeprefix("tpu-") in case), "tpu-v5p")
            if "--nodes" not in case:
                how += ", placed on TPUs"
                said += check_placement(module, plan, "tpu-v7" if "tpu7x" in case else chip)
            if module.DEVICES <= HOST_DEVICES:
                how += ", arrays on host devices"
                said += check_arrays(module)
            print(f"{'FAIL' if said else 'ok  '} {case}: {plan['notation']}: {how}")
            for one in said:
                print("     ", one)
            wrong += len(said)
    print(f"{wrong} wrong, JAX {jax.__version__}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
