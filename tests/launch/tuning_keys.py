#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every key that `emit` writes for launchers of fine-tuning, by hand: tuning_keys.py PROGRAM [1-4: these cases]. What a line
requests and what its plan says becomes keys and values here as the packages' manuals have them, no package is needed
(emit_tuning.py has the packages read them). The file is then read back: the plan, its seconds and the work are the same.
Files as people write them are read too: what stands in them, and what their manuals have where they are silent."""
import json, re, shlex, subprocess, sys, tempfile

CASES = [
    "--model 8b --chip 4090 --gpus 1 --lora",
    "--model 70b --chip 4090 --gpus 2 --qlora --offload parameters",
    "--model 8b --chip 4090 --gpus 2 --qlora nf4-single --targets q_proj,v_proj --seq 1024",
    "--model 8b --chip 4090 --gpus 2 --qlora int8 --packing packed --epochs 3",
    "--model 8b --chip a100 --gpus 8 --dpo --lora 1",
    "--model qwen3-8b --chip h100 --gpus 8 --sft --packing padding-free",
    "--model 8b --chip h100 --nodes 2 --sft --state-dtypes 'master=fp32 moments=fp32'",
    "--model 8b --chip h100 --nodes 2 --sft --require fsdp=8",
    "--model qwen2.5-vl-7b --chip a100 --gpus 8 --freeze vision,projector",
    "--model qwen2.5-vl-7b --chip a100 --gpus 8 --freeze vision",
    "--model qwen2.5-vl-7b --chip a100 --gpus 2 --qlora --targets q_proj,v_proj",
    "--model 8b --chip a100 --gpus 8 --dpo --lora --require fsdp=8",
]
# What a launcher has no key for.
UNSAID = {("trl", 8), ("trl", 9), ("axolotl", 9), ("llama-factory", 7)}


def run(*words, code=(0, 4)):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True)
    return done.stdout if done.returncode in code else f"exit {done.returncode}: {done.stderr}"


def flat(text):
    """Lines of YAML, of two levels at most, or flags of a script's arrays: {key: value}."""
    found, above = {}, ""
    for line in text.splitlines():
        flag, pair = re.match(r"    --(\w+) ?(.*)$", line), re.match(r"( *)([\w.]+):(.*)$", line)
        if flag and "#!" in text:
            found[flag[1]] = flag[2]
        elif pair and not line.startswith("#") and "#!" not in text:
            above = above if pair[1] else pair[2]
            found[f"{above}.{pair[2]}" if pair[1] else pair[2]] = pair[3].strip()
    return found


def said_of(case, plan):
    """What each launcher has to be told, in words of our own."""
    given = dict(zip(shlex.split(case), shlex.split(case)[1:] + [""]))
    qlora, hosts = given.get("--qlora", "") if "--qlora" in given else None, int(given.get("--nodes", 1))
    degrees, knobs, pairs = plan["degrees"], plan["knobs"], 2 if "--dpo" in given else 1
    rank = next((int(given[o]) for o in ("--lora", "--qlora") if given.get(o, "").isdigit()), 16)
    host = given.get("--offload") == "parameters"
    return {"hosts": hosts, "world": hosts * 8 if "--nodes" in given else int(given["--gpus"]), "pairs": pairs == 2,
            "micro": knobs["microbatch_sequences"] // pairs, "accumulate": knobs["microbatches"],
            "length": int(given.get("--seq", 2048)), "full": knobs["remat"] == "full", "host": host,
            "bits": 0 if qlora is None else 8 if "int8" in qlora else 4, "double": qlora is not None and "single" not in qlora,
            "rank": rank if "--lora" in given or "--qlora" in given else 0, "epochs": given.get("--epochs", "1"),
            "targets": given.get("--targets"), "packed": given.get("--packing") == "packed", "free": given.get("--packing") == "padding-free",
            "shards": degrees["fsdp"] > 1 or host, "groups": degrees["data"], "fsdp": degrees["fsdp"], "regather": knobs["regather"],
            "vision": "vision" in given.get("--freeze", ""), "projector": "projector" in given.get("--freeze", ""),
            "tower": "-vl-" in case, "plain": plan["plain"]}


def yes(value):
    return "true" if value else "false"


def trl(of):
    keys = {"num_machines": of["hosts"], "num_processes": of["world"], "mixed_precision": "no" if of["plain"] else "bf16",
            "module": "trl.scripts.dpo" if of["pairs"] else "trl.scripts.sft", "dtype": "bfloat16", "bf16": yes(not of["plain"]),
            "max_length": of["length"], "per_device_train_batch_size": of["micro"], "gradient_accumulation_steps": of["accumulate"],
            "gradient_checkpointing": yes(of["full"]), "num_train_epochs": of["epochs"]}
    if not of["pairs"]:
        keys |= {"packing": yes(of["packed"]), "padding_free": yes(of["free"])}
    if of["shards"]:
        keys |= {"use_fsdp": "", "fsdp_version": 2, "fsdp_reshard_after_forward": yes(of["regather"]), "fsdp_offload_params": yes(of["host"]),
                 "fsdp_cpu_ram_efficient_loading": yes(of["bits"] == 0), "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
                 "fsdp_state_dict_type": "SHARDED_STATE_DICT"}
    elif of["world"] > 1:
        keys["multi_gpu"] = ""
    if of["shards"] and of["groups"] > 1:
        keys |= {"use_parallelism_config": "", "parallelism_config_dp_replicate_size": of["groups"],
                 "parallelism_config_dp_shard_size": of["fsdp"]}
    if of["rank"]:
        names = (of["targets"] or "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj").split(",")
        keys |= {"use_peft": "", "lora_r": of["rank"], "lora_alpha": 2 * of["rank"],
                 "lora_target_modules": f"'.*language_model.*\\.({'|'.join(names)})'" if of["tower"] else
                 " ".join(names) if of["targets"] else "all-linear"}
        keys |= {} if of["pairs"] else {"learning_rate": "1e-4"}
    if of["bits"]:
        keys |= {f"load_in_{of['bits']}bit": ""}
    if of["bits"] == 4:
        keys |= {"bnb_4bit_quant_type": "nf4"} | ({"use_bnb_nested_quant": ""} if of["double"] else {})
    return keys


def axolotl(of):
    keys = {"sequence_len": of["length"], "sample_packing": yes(of["packed"]), "batch_flattening": yes(of["free"]),
            "micro_batch_size": of["micro"], "gradient_accumulation_steps": of["accumulate"], "gradient_checkpointing": yes(of["full"]),
            "num_epochs": of["epochs"], "learning_rate": "0.0001"}
    keys |= {"rl": "dpo"} if of["pairs"] else {}
    keys |= {"bfloat16" if of["plain"] else "bf16": "true"}
    if of["rank"]:
        keys |= {"adapter": "qlora" if of["bits"] == 4 else "lora", "lora_r": of["rank"], "lora_alpha": 2 * of["rank"],
                 "lora_mlp_kernel": "false"}
        keys |= {"lora_target_modules": f"[{of['targets'].replace(',', ', ')}]"} if of["targets"] else {"lora_target_linear": "true"}
    keys |= {f"load_in_{of['bits']}bit": "true"} if of["bits"] else {}
    keys |= {"bnb_config_kwargs.bnb_4bit_use_double_quant": "false"} if of["bits"] == 4 and not of["double"] else {}
    keys |= {"freeze_mm_modules": yes(of["vision"])} if of["tower"] and of["vision"] else {}
    if of["shards"]:
        keys |= {"fsdp_version": 2, "fsdp_config.offload_params": yes(of["host"]), "fsdp_config.reshard_after_forward": yes(of["regather"]),
                 "fsdp_config.cpu_ram_efficient_loading": yes(of["bits"] == 0), "fsdp_config.auto_wrap_policy": "TRANSFORMER_BASED_WRAP"}
    if of["shards"] and of["groups"] > 1:
        keys |= {"dp_replicate_size": of["groups"], "dp_shard_size": of["fsdp"]}
    return keys


def llama_factory(of):
    keys = {"stage": "dpo" if of["pairs"] else "sft", "finetuning_type": "lora" if of["rank"] else "full", "cutoff_len": of["length"],
            "packing": yes(of["packed"]), "per_device_train_batch_size": of["micro"], "gradient_accumulation_steps": of["accumulate"],
            "disable_gradient_checkpointing": yes(not of["full"]), "num_train_epochs": of["epochs"], "do_train": "true"}
    keys |= {"pure_bf16" if of["plain"] else "bf16": "true"}
    if of["rank"]:
        keys |= {"lora_rank": of["rank"], "lora_alpha": 2 * of["rank"], "lora_target": of["targets"] or "all"}
    keys |= {"quantization_bit": of["bits"]} if of["bits"] else {}
    keys |= {"double_quantization": yes(of["double"])} if of["bits"] == 4 else {}
    if of["tower"] and not of["rank"]:
        keys |= {"freeze_vision_tower": yes(of["vision"]), "freeze_multi_modal_projector": yes(of["projector"])}
    if of["shards"]:
        keys |= {"fsdp": "full_shard auto_wrap" + " offload" * of["host"], "fsdp_config.version": 2,
                 "fsdp_config.reshard_after_forward": yes(of["regather"]), "fsdp_config.cpu_ram_efficient_loading": yes(of["bits"] == 0)}
    return keys


# What each switches on, and so must not be there where it was not requested.
SWITCHES = {"trl": (trl, "use_fsdp use_peft multi_gpu use_parallelism_config load_in_4bit load_in_8bit use_bnb_nested_quant"),
            "axolotl": (axolotl, "rl adapter load_in_4bit load_in_8bit fsdp_version dp_replicate_size bfloat16 lora_target_linear "
                                 "bnb_config_kwargs.bnb_4bit_use_double_quant"),
            "llama-factory": (llama_factory, "quantization_bit double_quantization fsdp pure_bf16 lora_rank")}


def check(form, number, case):
    words = [*shlex.split(case), "--for", form, "-q"]
    if (form, number) in UNSAID:
        text = run("finetune", *words, "--top", "1")
        return [] if "exit 2" in text or number == 7 else [f"is planned: {text[:200]}"]
    report = json.loads(run("finetune", *words, "--format", "json", "--top", "1"))
    plan = report["plans"][0]
    notation = dict(re.findall(r"(\w+)=(\d+)", plan["notation"]))
    plan["degrees"] = {role: int(notation.get(role, 1)) for role in ("data", "fsdp")}
    plan["plain"] = "lora" not in case and "master=fp32" not in case  # torch makes moments like weights: all of it in bf16
    make, switches = SWITCHES[form]
    with tempfile.NamedTemporaryFile("w+", suffix=".yaml") as file:
        said = run("emit", form, *words, "-o", file.name)
        text = open(file.name).read()
        back = run("explain", "--from-config", file.name, *[w for o in ("--chip", "--gpus", "--nodes") for w in
                   ((o, shlex.split(case)[shlex.split(case).index(o) + 1]) if o in case else ())], "--model", shlex.split(case)[1],
                   "--format", "json", "-q")
    others = {"trl": "--machine_rank", "axolotl": "--num_machines 2", "llama-factory": "NNODES=2"}[form]  # how other hosts start
    found, wanted = flat(text), {k: str(v) for k, v in make(said_of(case, plan)).items()}
    wrong = [f"{key} is {found.get(key)}, wanted {value}" for key, value in wanted.items() if found.get(key) != value]
    wrong += [f"{key} is there: {found[key]}" for key in switches.split() if key in found and key not in wanted and found[key] != "false"]
    wrong += [f"{others} is there or lacks"] * ((others in text) != ("--nodes 2" in case))
    wrong += ["NODE_RANK is there or lacks"] * (form == "trl" and ("NODE_RANK=" in text) != (said_of(case, plan)["world"] > 1))
    again = json.loads(back)["plans"][0] if back[:1] == "{" else {"notation": said + back[:300], "step": {"seconds": 0}}
    if again["notation"] != plan["notation"] or abs(again["step"]["seconds"] / plan["step"]["seconds"] - 1) > 1e-9:
        wrong.append(f"comes back as {again['notation']} of {again['step']['seconds']:.6g} s, not {plan['notation']} of {plan['step']['seconds']:.6g}")
    return wrong


TRL = "accelerate launch --num_processes 8 --module trl.scripts.sft --model_name_or_path meta-llama/Meta-Llama-3-8B "
AXOLOTL = "base_model: meta-llama/Meta-Llama-3-8B\nsequence_len: 512\nmicro_batch_size: 3\n"
FACTORY = "model_name_or_path: meta-llama/Meta-Llama-3-8B\nper_device_train_batch_size: 3\n"
VL = "Qwen/Qwen2.5-VL-7B-Instruct"
# A file, and what it requests of eight GPUs: data=8 and one microbatch a step where nothing else stands. TRL: 8 samples of 1,024
# tokens, checkpoints, r 16, scales as they are; Axolotl: no checkpoints, r 8, scales nested; LLaMA-Factory: adapters of r 8 on all,
# 8 samples of 2,048 tokens, checkpoints, scales nested, towers and projectors frozen.
READ = [
    (TRL, "seq=1024 task=sft micro=8 remat=full"),
    (TRL + "--max_length 4096 --per_device_train_batch_size 2 --gradient_accumulation_steps 5", "seq=4096 task=sft micro=2 accumulate=5 remat=full"),
    (TRL + "--gradient_checkpointing false --packing true --num_train_epochs 3", "seq=1024 task=sft packing=packed epochs=3 micro=8 remat=none"),
    (TRL + "--padding_free true --use_fsdp", "seq=1024 task=sft packing=padding-free fp32 fsdp=8 micro=8 remat=full"),
    (TRL + "--bf16 false --use_fsdp --fsdp_reshard_after_forward false", "seq=1024 task=sft fsdp=8 keeps micro=8 remat=full"),
    (TRL + "--use_fsdp --parallelism_config_dp_replicate_size 2 --parallelism_config_dp_shard_size 4 --bf16 false",
     "seq=1024 task=sft data=2 fsdp=4 micro=8 remat=full"),
    (TRL + "--use_fsdp --fsdp_offload_params true --bf16 false", "seq=1024 task=sft offload=parameters fsdp=8 micro=8 remat=full"),
    (TRL + "--use_peft", "seq=1024 lora=16 micro=8 remat=full"),
    (TRL + "--use_peft --lora_r 4 --lora_target_modules all-linear", "seq=1024 lora=4 micro=8 remat=full"),
    (TRL + "--use_peft --lora_target_modules q_proj v_proj", "seq=1024 lora=16 targets=q_proj,v_proj micro=8 remat=full"),
    (TRL + "--use_peft --lora_target_modules '.*language_model.*\\.(k_proj|o_proj)'", "seq=1024 lora=16 targets=k_proj,o_proj micro=8 remat=full"),
    (TRL + "--use_peft --load_in_4bit", "seq=1024 qlora=16,nf4-single micro=8 remat=full"),
    (TRL + "--use_peft --load_in_4bit --use_bnb_nested_quant", "seq=1024 qlora=16 micro=8 remat=full"),
    (TRL + "--use_peft --load_in_8bit", "seq=1024 qlora=16,int8 micro=8 remat=full"),
    (TRL.replace("sft", "dpo"), "seq=1024 task=dpo micro=16 remat=full"),
    (AXOLOTL, "seq=512 task=sft micro=3 remat=none"),
    (AXOLOTL + "gradient_checkpointing: offload\ngradient_accumulation_steps: 2\nsample_packing: true\nnum_epochs: 2\n",
     "seq=512 task=sft packing=packed epochs=2 micro=3 accumulate=2 remat=full"),
    (AXOLOTL + "adapter: lora\nlora_target_modules: [o_proj]\n", "seq=512 lora=8 targets=o_proj micro=3 remat=none"),
    (AXOLOTL + "adapter: lora\nload_in_8bit: true\nlora_r: 64\nlora_target_linear: true\nlora_target_modules: [q_proj]\n",
     "seq=512 qlora=64,int8 micro=3 remat=none"),
    (AXOLOTL + "adapter: qlora\nload_in_4bit: true\nlora_target_modules:\n  - q_proj\n  - down_proj\n",
     "seq=512 qlora=8 targets=q_proj,down_proj micro=3 remat=none"),
    (AXOLOTL + "adapter: qlora\nload_in_4bit: true\nbnb_config_kwargs:\n  bnb_4bit_use_double_quant: false\n",
     "seq=512 qlora=8,nf4-single micro=3 remat=none"),
    (AXOLOTL.replace("meta-llama/Meta-Llama-3-8B", VL) + "freeze_mm_modules: true\n", "seq=512 freeze=vision,projector task=sft micro=3 remat=none"),
    (AXOLOTL + "bfloat16: true\nbatch_flattening: true\nfsdp_version: 2\nfsdp_config:\n  offload_params: true\n",
     "seq=512 task=sft packing=padding-free offload=parameters fsdp=8 micro=3 remat=none"),
    (AXOLOTL + "bf16: auto\nfsdp_version: 2\ndp_shard_size: 2\nfsdp_config:\n  reshard_after_forward: false\n",
     "seq=512 task=sft fp32 data=4 fsdp=2 keeps micro=3 remat=none"),
    (AXOLOTL + "rl: dpo\nadapter: lora\n", "seq=512 lora=8 task=dpo micro=6 remat=none"),
    (AXOLOTL + "adapter: dora\n", "adapter"), (AXOLOTL + "deepspeed: zero3.json\n", "deepspeed"), (AXOLOTL + "lora_r: 0\n", "lora_r"),
    (AXOLOTL + "num_epochs: many\n", "num_epochs"), (AXOLOTL + "fsdp_version: 2\ndp_shard_size: 3\n", "dp_shard_size"), (AXOLOTL + "fsdp_version: 2\ndp_replicate_size: 5\n", "dp_replicate_size"),
    (FACTORY + "finetuning_type: lora\n", "seq=2048 lora=8 micro=3 remat=full"),
    ("model_name_or_path: meta-llama/Meta-Llama-3-8B\ncutoff_len: 100\n", "seq=100 lora=8 micro=8 remat=full"),
    (FACTORY.replace("meta-llama/Meta-Llama-3-8B", VL) + "finetuning_type: full\ncutoff_len: 4096\ndisable_gradient_checkpointing: true\npacking: true\n",
     "seq=4096 freeze=vision,projector task=sft packing=packed micro=3 remat=none"),
    (FACTORY.replace("meta-llama/Meta-Llama-3-8B", VL) + "finetuning_type: full\nfreeze_vision_tower: false\n",
     "seq=2048 freeze=projector task=sft micro=3 remat=full"),
    (FACTORY.replace("meta-llama/Meta-Llama-3-8B", VL) + "finetuning_type: full\nfreeze_multi_modal_projector: false\n",
     "seq=2048 freeze=vision task=sft micro=3 remat=full"),
    (FACTORY + "lora_rank: 32\nlora_target: q_proj,v_proj\nquantization_bit: 4\n", "seq=2048 qlora=32 targets=q_proj,v_proj micro=3 remat=full"),
    (FACTORY + "quantization_bit: 4\ndouble_quantization: false\nlora_target: all\n", "seq=2048 qlora=8,nf4-single micro=3 remat=full"),
    (FACTORY + "quantization_bit: 8\ngradient_accumulation_steps: 4\n", "seq=2048 qlora=8,int8 micro=3 accumulate=4 remat=full"),
    (FACTORY + "finetuning_type: lora\nstage: dpo\nfsdp: full_shard auto_wrap offload\n",
     "seq=2048 lora=8 task=dpo offload=parameters fsdp=8 micro=6 remat=full"),
    (FACTORY + "finetuning_type: full\nfreeze_vision_tower: false\nfreeze_multi_modal_projector: false\nbf16: true\nfsdp: full_shard\n"
     "fsdp_config:\n  reshard_after_forward: false\n", "seq=2048 task=sft fp32 fsdp=8 keeps micro=3 remat=full"),
]


def read(text, wanted):
    """What a file requests: its work in the words of options, degrees, sequences of a microbatch (a pair has two), recomputation."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        form = "axolotl" if "base_model" in text else "trl" if "trl." in text else "llama-factory"
        told = run("explain", "--from-config", file.name, "--config-format", form, "--chip", "h100", "--gpus", "8", "--format", "json", "-q")
    if told[:1] != "{":
        return [] if told.startswith("exit 2:") and "=" not in wanted and f": {wanted}:" in told else [told[:300]]
    request = json.loads(told)["request"]
    said = {**dict(re.findall(r"(\w+)=(\w+)", request["require"])), **request}
    seq, micro = said["seq"], said["microbatch_sequences"]
    words = [f"seq={seq}"] + [f"{key}={said[key]}" for key in ("freeze", "lora", "qlora", "targets", "task", "packing", "epochs") if key in said]
    words += ["fp32"] * ("master=fp32" in said["state_dtypes"])
    assert said["offload"] != "auto", text  # what a file does not offload is not offloaded
    words += [f"offload={said['offload']}"] * (said["offload"] != "none")
    shards = int(said["fsdp"]) > 1
    words += [f"data={said['data']}"] * (int(said["data"]) * (1 if shards else 0) > 1) + [f"fsdp={said['fsdp']}"] * shards
    words += ["keeps"] * (said.get("regather") == "false") + [f"micro={micro}"]
    words += [f"accumulate={said['microbatches']}"] * (said["microbatches"] != "1") + [f"remat={said['remat']}"]
    batch = seq * int(micro) * int(said["microbatches"]) * int(said["data"]) * int(said["fsdp"])
    return [f"is {' '.join(words)}, {said['batch']} tokens; wanted {wanted}, {batch}"] * (" ".join(words) != wanted or said["batch"] != batch)


# Keys that count something: 1 is read, 0 is not.
COUNTS = [(TRL + "--use_peft --lora_target_modules q_proj", " --{}={}", "max_length per_device_train_batch_size gradient_accumulation_steps lora_r"),
          (AXOLOTL + "adapter: lora\n", "{}: {}\n", "sequence_len micro_batch_size gradient_accumulation_steps lora_r"),
          (FACTORY, "{}: {}\n", "cutoff_len per_device_train_batch_size gradient_accumulation_steps lora_rank")]


def counted():
    """Each of COUNTS as a file with 1, which is read, and with 0, whose error names the key."""
    for text, pair, keys in COUNTS:
        for key in keys.split():
            rest = re.sub(rf"^{key}: .*\n", "", text, flags=re.M)
            wrong = [] if "=" in "".join(read(rest + pair.format(key, 1), key))[:20] else ["1 is not read"]
            yield f"{key} of {text[:20]!r}", wrong + read(rest + pair.format(key, 0), key)


def main():
    first, last = map(int, (sys.argv[2:] or ["1-99"])[0].split("-"))
    failed = 0
    for number, case in list(enumerate(CASES))[first - 1:last]:
        for form in SWITCHES:
            wrong = check(form, number, case)
            failed += bool(wrong)
            print("FAILED" if wrong else "ok    ", form, case, *wrong, sep="\n       " if wrong else " ")
    for text, wanted in READ[max(0, first - 1 - len(CASES)):max(0, last - len(CASES))]:
        wrong = read(text, wanted)
        failed += bool(wrong)
        print("FAILED" if wrong else "ok    ", repr(text), *wrong, sep="\n       " if wrong else " ")
    for name, wrong in counted() if last > len(CASES) + len(READ) else ():
        failed += bool(wrong)
        print("FAILED" if wrong else "ok    ", name, *wrong, sep="\n       " if wrong else " ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
