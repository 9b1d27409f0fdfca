#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `shardopt emit` writes for launchers of fine-tuning, read by their own classes on a CPU: Axolotl's pydantic
schema, LLaMA-Factory's dataclasses, accelerate's and TRL's parsers of flags. Batch, accumulation, length, rank and
recomputation arrive as planned; then one thing is changed that the package refuses. See README.md."""
import argparse
import os
import re
import shlex
import sys
import tempfile

sys.dont_write_bytecode = True
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import shardopt

CASES = [
    "--model 8b --chip 4090 --gpus 1 --lora",
    "--model 70b --chip 4090 --gpus 2 --qlora --offload parameters",
    "--model 8b --chip 4090 --gpus 2 --qlora nf4-single --targets q_proj,v_proj --seq 1024",
    "--model 8b --chip 4090 --gpus 2 --qlora int8 --packing packed --epochs 3",
    "--model 8b --chip a100 --gpus 8 --dpo",
    "--model 8b --chip a100 --gpus 8 --dpo --lora 64",
    "--model mixtral-8x7b --chip l40s --gpus 4 --lora",
    "--model qwen3-8b --chip h100 --gpus 8 --sft",
    "--model 70b --chip h100 --nodes 2 --sft",
    "--model qwen2.5-vl-7b --chip a100 --gpus 8 --freeze vision,projector",
    "--model qwen2.5-vl-7b --chip a100 --gpus 8 --freeze vision",
    "--model qwen2.5-vl-7b --chip a100 --gpus 2 --qlora",
]
# What a launcher has no key for, and has to refuse.
UNSAID = {("trl", 9), ("trl", 10), ("axolotl", 10)}


def pattern_leaves_tower(pattern):
    """Names of Qwen2.5-VL's modules (transformers 5, modeling_qwen2_5_vl.py): text has adapters, its tower none."""
    text, tower = "model.language_model.layers.3.mlp.gate_proj", "model.visual.blocks.3.mlp.gate_proj"
    return bool(re.fullmatch(pattern, text)) and not re.fullmatch(pattern, tower)


def of_axolotl(text, gpus):
    import yaml
    from axolotl.utils.schemas.config import AxolotlConfigWCapabilities as Config
    keys = yaml.safe_load(text)
    read = Config(**keys, env_capabilities={"torch_version": "2.11.0"},
                  capabilities={"bf16": True, "fp8": True, "tf32": True, "n_gpu": gpus, "compute_capability": "sm_90"})
    left = set(keys) - set(read.model_dump(exclude_none=False))
    assert not left, f"no keys of it: {left}"
    return (read.micro_batch_size, read.gradient_accumulation_steps, read.sequence_len, read.lora_r,
            bool(read.gradient_checkpointing), (bool(read.freeze_mm_modules),) * 2)


def of_llama_factory(text, gpus):
    import yaml
    from llamafactory.hparams import (DataArguments, FinetuningArguments, GeneratingArguments, ModelArguments,
                                      TrainingArguments)
    from transformers import HfArgumentParser
    parser = HfArgumentParser([ModelArguments, DataArguments, TrainingArguments, FinetuningArguments, GeneratingArguments])
    model, data, training, tuning, _ = parser.parse_dict(yaml.safe_load(text) | {"use_cpu": True})
    length = data.cutoff_len + bool(data.packing)  # of which it takes one off
    return (training.per_device_train_batch_size, training.gradient_accumulation_steps, length,
            tuning.lora_rank if tuning.finetuning_type == "lora" else None, not model.disable_gradient_checkpointing,
            ("freeze_vision_tower" in text and tuning.freeze_vision_tower,
             "freeze_multi_modal_projector" in text and tuning.freeze_multi_modal_projector))


def of_trl(text, gpus):
    from accelerate.commands.launch import launch_command_parser
    from transformers import HfArgumentParser
    from trl import DPOConfig, ModelConfig, ScriptArguments, SFTConfig
    arrays = dict(re.findall(r"^(LAUNCH|TRAIN)=\(\n(.*?)^\)", text, re.M | re.S))
    launch = launch_command_parser().parse_args(shlex.split(arrays["LAUNCH"]) + shlex.split(arrays["TRAIN"]))
    assert launch.module and launch.num_processes == gpus, launch
    config = DPOConfig if launch.training_script == "trl.scripts.dpo" else SFTConfig
    words = launch.training_script_args + ["--model_name_or_path", "m", "--dataset_name", "d", "--use_cpu", "true",
                                           "--output_dir", tempfile.gettempdir()]
    _, training, model = HfArgumentParser([ScriptArguments, config, ModelConfig]).parse_args_into_dataclasses(words)
    return (training.per_device_train_batch_size, training.gradient_accumulation_steps, training.max_length,
            model.lora_r if model.use_peft else None, training.gradient_checkpointing,
            (isinstance(model.lora_target_modules, str) and pattern_leaves_tower(model.lora_target_modules),) * 2)


# Reader, the package it needs, and what one changes for it to refuse the second case.
FORMATS = {"axolotl": (of_axolotl, "axolotl", "cpu_ram_efficient_loading: false", "cpu_ram_efficient_loading: true"),
           "llama-factory": (of_llama_factory, "llamafactory", "finetuning_type: lora", "finetuning_type: lore"),
           "trl": (of_trl, "trl", "--use_peft", "--use_peft --bnb_4bit_quant_storage bfloat16")}


def planned(plan, case):
    knobs, pairs = plan["knobs"], 2 if "--dpo" in case else 1
    rank = re.search(r"--q?lora (\d+)", case)
    return (knobs["microbatch_sequences"] // pairs, knobs["microbatches"], 1024 if "--seq" in case else 2048,
            None if "lora" not in case else int(rank[1]) if rank else 16, knobs["remat"] == "full",
            ("-vl-" in case, "-vl-" in case and "vision" != case.split()[-1]))


def check(program, form, case, number):
    reader, _, right, wrong = FORMATS[form]
    found = re.search(r"--(gpus|nodes) (\d+)", case)
    gpus = int(found[2]) * (8 if found[1] == "nodes" else 1)
    if (form, number) in UNSAID:
        code, _, said = shardopt.run(program, "emit", form, *case.split(), "-q")
        return None if code == 2 and "freeze" in said else f"is emitted: {code} {said}"
    with tempfile.TemporaryDirectory() as folder:
        plan, path = shardopt.emitted(program, form, case, folder)
        text = open(path).read()
    try:
        read, wanted = reader(text, gpus), planned(plan, case)
    except (Exception, SystemExit) as error:
        return f"refused: {str(error)[:300]}"
    if read != wanted:
        return f"{read}, and {wanted} in the plan"
    if number != 1:
        return None
    try:
        assert right in text
        reader(text.replace(right, wrong), gpus)
    except (Exception, SystemExit):
        return None
    return f"takes {wrong}"


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--shardopt", required=True)
    words = words.parse_args()
    failed = done = 0
    for form, (_, package, _, _) in FORMATS.items():
        try:
            __import__(package)
        except ImportError:
            print(f"{form}: {package} is not installed")
            continue
        for number, case in enumerate(CASES):
            wrong = check(words.shardopt, form, case, number)
            done, failed = done + 1, failed + bool(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {form} {case}{': ' + wrong if wrong else ''}")
    sys.exit(1 if failed else 0 if done else shardopt.SKIPPED)


if __name__ == "__main__":
    main()
