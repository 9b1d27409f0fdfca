#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `shardopt emit maxtext` writes, read by MaxText's own config loader: degrees, batch, remat and every other key
arrive as they were written, JAX's mesh_utils puts the roles where the plan has them, and the loader refuses what we do.
Without the package the files are checked against maxtext_keys.tsv. See README.md."""
import argparse
import contextlib
import io
import logging
import math
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import shardopt

VERSION = "0.2.5"
CASES = [
    "--model 8b --chip v5e --slice 4x4 --batch 256Ki",
    "--model 405b --slice v5p-2048 --batch 4Mi --seq 8192",
    "--model 70b --chip v6e --slice 16x16 --batch 2Mi --seq 8192 --require tensor=4",
    "--model mixtral-8x22b --chip v5e --slice 16x16 --batch 2Mi --seq 8192 --require expert=8",
    "--model deepseek-v3 --slice 8x8x8 --batch 4Mi --seq 4096",
    "--model gpt-oss-120b --slice 4x4x4 --batch 2Mi --seq 8192",
    "--model gemma3-27b --chip v6e --slice 8x8 --batch 512Ki --seq 4096",
    "--model 70b --slice 4x4x4 --slices 4 --batch 2Mi --seq 8192 --require data=4",
    "--model 70b --slice 4x4x4 --batch 2Mi --seq 8192 --require pipeline=4,schedule=circular",
    "--model 70b --slice 4x4x4 --slices 2 --batch 2Mi --seq 8192 --require pipeline=2,schedule=gpipe",
    "--model 70b --slice 4x4x4 --batch 1Mi --seq 32768 --require sequence=8,context=ulysses",
    "--model 70b --slice 4x4x4 --batch 1Mi --seq 32768 --require sequence=8,context=ulysses_ring,ulysses=4",
    "--model 70b --chip tpu7x --slice 4x4x4 --batch 2Mi --seq 8192 --precision fp8",
    "--model 8b --slice 2x2x4 --batch 1Mi --seq 8192 --require data=16,zero=1",
    "--model 70b --chip h100 --nodes 16 --batch 2Mi --seq 8192 --require data=2",
    "--model qwen3-235b-a22b --slice 4x8x8 --batch 4Mi --seq 4096 --optimizer muon",
    "--model {folder}/config.json --chip v5e --slice 4x4 --batch 256Ki --seq 2048",
]
OWN = """{"model_type": "llama", "num_hidden_layers": 12, "hidden_size": 1024, "intermediate_size": 4096, "vocab_size": 32000,
"num_attention_heads": 16, "num_key_value_heads": 8, "max_position_embeddings": 4096, "rope_theta": 10000.0,
"tie_word_embeddings": false, "rms_norm_eps": 1e-5}"""
# One change each that the package refuses, to an emitted file of the first case: our rules are its rules.
REFUSED = [
    ("ZeRO-1 beside fsdp", {"shard_optimizer_over_data": True}),
    ("half a token a device", {"per_device_batch_size": 0.00006103515625, "max_target_length": 8191}),
    ("a ring of tokens that do not divide", {"ici_context_parallelism": 16, "ici_fsdp_parallelism": 1,
                                             "max_target_length": 8160, "context_parallel_strategy": "ring",
                                             "use_tokamax_splash": True}),
    ("an odd number of pipeline microbatches", {"ici_pipeline_parallelism": 16, "ici_fsdp_parallelism": 1,
                                                "num_layers_per_pipeline_stage": 2, "num_pipeline_microbatches": 17}),
    ("heads for Ulysses", {"ici_context_parallelism": 16, "ici_fsdp_parallelism": 1, "use_tokamax_splash": True,
                           "context_parallel_strategy": "ulysses", "context_parallel_load_balance": False}),
]


def keys_known():
    rows = [line.rstrip("\n").split("\t") for line in open(os.path.join(os.path.dirname(__file__), "maxtext_keys.tsv"))
            if not line.startswith("#")]
    return {key: (kind, set(values.split(" or ")) if values else None) for key, kind, values in rows[1:]}


def value(text):
    text = text.split("  #")[0].strip()
    if text.startswith('"'):
        return text[1:-1]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return {"true": True, "false": False}.get(text, text)


def read(path):
    """Keys of the flat YAML that is written; each once."""
    written = {}
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            key, text = line.split(":", 1)
            if key in written:
                raise SystemExit(f"FAIL: {key} stands twice in {path}")
            written[key] = value(text)
    return written


def check_words(written, known):
    for key, own in written.items():
        if key not in known:
            yield f"{key} is no key"
            continue
        kind, values = known[key]
        if type(own).__name__ != kind and not (kind == "float" and isinstance(own, int)):
            yield f"{key}: {own!r} is no {kind}"
        if values and own not in values:
            yield f"{key}: {own!r} is none of {sorted(values)}"


def check_plan(written, plan):
    """Arithmetic that MaxText does, against the report."""
    axes, devices = plan["axes"], math.prod(axis["size"] for axis in plan["machine"]["axes"])
    outer = math.prod(axis["size"] for axis in plan["machine"]["axes"] if axis["name"] in ("dcn", "network"))
    product = {network: math.prod(degree for key, degree in written.items()
                                  if key.startswith(network + "_") and key.endswith("_parallelism"))
               for network in ("ici", "dcn")}
    if product != {"ici": devices // outer, "dcn": outer}:
        yield f"degrees multiply to {product}, of {devices // outer} devices inside and {outer} across"
    theirs = {"data": ["data"], "fsdp": ["fsdp"], "pipeline": ["pipeline"], "expert": ["expert"],
              "tensor": ["tensor", "tensor_sequence"], "sequence": ["context", "context_usp_ulysses"]}
    for role, names in theirs.items():
        degree = math.prod(written[f"{network}_{name}_parallelism"] for network in ("ici", "dcn") for name in names)
        if degree != axes[role]:
            yield f"{role} is {degree}, and {axes[role]} in the plan"
    once = int(devices * written["per_device_batch_size"])
    if once * written["gradient_accumulation_steps"] != plan["batch"]["sequences"]:
        yield f"{once} sequences a pass are not {plan['batch']['sequences']} a step"
    for row in plan["layout"]:
        word = {"qkv": "query_proj", "context": "context", "middle": "out_proj", "gate_up": "mlpwi_0"}.get(row["tensor"])
        if word and written["remat_policy"] == "custom" and row["state"] == "recomputed" and written[word] != "remat":
            yield f"{row['tensor']} is recomputed in {row['layers']} layers, and {word} is {written[word]}"


def load(pyconfig, path, plan, changes=None):
    devices = math.prod(axis["size"] for axis in plan["machine"]["axes"])
    slices = math.prod(axis["size"] for axis in plan["machine"]["axes"] if axis["name"] in ("dcn", "network"))
    return pyconfig.initialize(["", path], run_name="t", base_output_directory="/tmp", internal_compile=True,
                               internal_compile_num_devices=devices, num_slices=slices, log_config=False,
                               enable_checkpointing=False, jax_cache_dir="", **(changes or {}))


def check_loaded(config, written, plan):
    for key, own in written.items():
        if key == "base_config":
            continue
        there = getattr(config, key)
        there = getattr(there, "value", getattr(there, "name", there))
        if there != own and str(there) != str(own):
            yield f"{key} was written as {own!r} and arrives as {there!r}"
    if config.global_batch_size_to_train_on != plan["batch"]["sequences"]:
        yield f"MaxText trains on {config.global_batch_size_to_train_on} sequences"


def check_mesh(config, written, plan, chip):
    """As create_device_mesh of MaxText's maxtext_utils.py calls JAX. Equal axes may trade places."""
    import numpy
    from jax.experimental import mesh_utils

    devices, split = shardopt.devices_of(plan, chip), config.allow_split_physical_axes
    if written.get("custom_mesh"):
        return
    if config.num_slices > 1:
        array = mesh_utils.create_hybrid_device_mesh(config.ici_parallelism, config.dcn_parallelism, devices,
                                                     allow_split_physical_axes=split)
    else:
        array = mesh_utils.create_device_mesh(config.ici_parallelism, devices, allow_split_physical_axes=split)
    sizes = {axis["name"]: axis["size"] for axis in plan["machine"]["axes"]}
    theirs = {"data": ["data"], "pipeline": ["stage"], "fsdp": ["fsdp"], "sequence": ["context", "context_usp_ulysses"],
              "tensor": ["tensor", "tensor_sequence"], "expert": ["expert"]}
    for role, wanted in shardopt.costed(plan).items():
        found = shardopt.lies(numpy.asarray(array), [config.mesh_axes.index(axis) for axis in theirs[role]])
        if sorted((sizes[axis], factor, stride) for axis, factor, stride in found) != sorted(
                (sizes[axis], factor, stride) for axis, factor, stride in wanted):
            yield f"{role} lies on {sorted(found)}, and on {sorted(wanted)} in the plan"


def package():
    os.environ |= {"DECOUPLE_GCLOUD": "TRUE", "JAX_PLATFORMS": "cpu"}
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            from maxtext.configs import pyconfig, types
        return pyconfig, types
    except ImportError as error:
        print(f"MaxText is not installed here ({error}): emitted files are checked against maxtext_keys.tsv of {VERSION}")
        return None, None


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--shardopt", default="build/shardopt", help="the program")
    words.add_argument("--only", default="", help="cases that hold this")
    words = words.parse_args()
    pyconfig, types = package()
    known, wrong = keys_known(), []
    if types:
        fields = types.MaxTextConfig.model_fields
        wrong += [f"maxtext_keys.tsv: {key} is no key of the package" for key in known if key not in fields]
    first = None
    for case in [case for case in CASES if words.only in case]:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "config.json"), "w") as file:
                file.write(OWN)
            plan, path = shardopt.emitted(words.shardopt, "maxtext", case.format(folder=folder), folder)
            written = read(path)
            said = list(check_words(written, known)) + list(check_plan(written, plan))
            how = "keys and sums"
            if pyconfig:
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        config = load(pyconfig, path, plan)
                except (Exception, SystemExit) as error:  # pylint: disable=broad-except
                    said.append(f"the loader refuses it: {error}")
                else:
                    how = "the loader"
                    said += check_loaded(config, written, plan)
                    chip = next((chip for chip in shardopt.KINDS if chip.removeprefix("tpu-") in case), "tpu-v5p")
                    chip = "tpu-v7" if "tpu7x" in case else chip
                    if written["hardware"] == "tpu":
                        how = "the loader and JAX's mesh"
                        said += check_mesh(config, written, plan, chip)
                if first is None:
                    first = (open(path).read(), plan)
            print(f"{'FAIL' if said else 'ok  '} {case}: {plan['notation']}: {how}")
            wrong += [f"{case}: {one}" for one in said]
    for name, changes in REFUSED if pyconfig and first else ():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "plan.yml")
            with open(path, "w") as file:
                file.write("\n".join(line for line in first[0].split("\n") if line.split(":")[0] not in changes) + "\n")
                file.writelines(f"{key}: {str(own).lower() if isinstance(own, bool) else own}\n" for key, own in changes.items())
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    load(pyconfig, path, first[1])
            except (Exception, SystemExit) as error:  # pylint: disable=broad-except
                said = next((line for line in str(error).split("\n") if "error," in line or "failed," in line), str(error))
                print(f"ok   refused: {name}: {said.strip()[:150]}")
            else:
                wrong.append(f"the loader takes {name}")
    for one in wrong:
        print("FAIL:", one)
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
