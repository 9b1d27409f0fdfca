#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `rl --emit` writes, read by the frameworks' own packages: frameworks.py PROGRAM [--all | 1 to 4: of the lines]. Without
--all a part of the lines.

$SHARDOPT_RL_PACKAGES is a folder with unpacked wheels (pip download --no-deps verl openrlhf trl; unzip) and, as nemo-rl, a
checkout of NVIDIA-NeMo/RL: verl's own configuration takes the overrides in omegaconf's strict mode, NeMo RL's base
configuration has every key, a parser made of OpenRLHF's own arguments reads its flags, GRPOConfig has TRL's fields. Where
it is not set, only the way there and back is tried: --from-config prices each file at the seconds that it names."""
import argparse, ast, os, pathlib, re, shlex, subprocess, sys, tempfile

CASES = [
    ("--model qwen3-30b-a3b --chip h100 --nodes 4 --prompts 64 --samples 32 --answer 1024 --max-answer 8192 --prompt 256 "
     "--train-batch 512", "nemo-rl verl"),
    ("--model qwen3-30b-a3b --chip h100 --nodes 4 --rollout attention_data=1 --prompt 256", "nemo-rl verl openrlhf slime"),
    ("--model 8b --chip h100 --nodes 1 --colocated --prompt 256", "nemo-rl verl openrlhf slime trl"),
    ("--model 8b --chip h100 --nodes 1 --prompt 256", "nemo-rl verl slime"),
    ("--model 8b --chip h100 --nodes 2 --prompt 256", "nemo-rl verl openrlhf slime trl"),  # no layer recomputed
    ("--model 70b --chip h100 --nodes 4 --prompt 256", "nemo-rl openrlhf slime"),  # the optimizer on the host
    ("--model 70b --chip h100 --nodes 8 --algorithm ppo --prompts 512 --samples 1 --prompt 256", "verl openrlhf"),
    ("--model 70b --chip h100 --nodes 8 --algorithm rloo --train-nodes 4 --prompt 256", "verl"),
    ("--model deepseek-v3 --chip h100 --nodes 32 --prompts 16 --samples 32 --prompt 256 --answer 600 --max-answer 1280 --train-nodes 16", "nemo-rl"),
]


def flatten(tree, before=""):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{before}{key}.")
        yield f"{before}{key}", value


def words_of(script):
    text = "\n".join(l for l in script.splitlines() if not l.startswith("#")).replace("\\\n", " ")
    return [w for w in shlex.split(text) if w not in ("$@", "${MODEL_ARGS[@]}")]


def read_verl(script, packages):
    import yaml
    from omegaconf import OmegaConf
    config = yaml.safe_load((packages / "verl/trainer/config/_generated_ppo_megatron_trainer.yaml").read_text())
    if "one_step_off" in script:
        folder = packages / "verl/experimental/one_step_off_policy/config/one_step_off_ppo_megatron_trainer.yaml"
        extra = yaml.safe_load(folder.read_text())
        config = OmegaConf.to_container(OmegaConf.merge(config, {k: v for k, v in extra.items() if k not in ("defaults", "hydra")}))
    strict = OmegaConf.create(config)
    OmegaConf.set_struct(strict, True)
    overrides = [w for w in words_of(script) if "=" in w and not w.startswith("--")]
    merged = OmegaConf.merge(strict, OmegaConf.from_dotlist(overrides))  # an unknown key raises
    return len(overrides), OmegaConf.select(merged, "actor_rollout_ref.rollout.n")


def read_nemo(text, packages):
    import yaml
    base = dict(flatten(yaml.safe_load((packages / "nemo-rl/examples/configs/grpo_math_1B.yaml").read_text())))
    keys = dict(flatten({k: v for k, v in yaml.safe_load(text).items() if k != "defaults"}))
    for key, value in keys.items():
        assert key in base, f"{key} is no key of grpo_math_1B.yaml"
        if isinstance(value, (bool, int)) and base[key] is not None and not isinstance(base[key], str):
            assert isinstance(value, type(base[key])), f"{key} is {type(base[key]).__name__} there"
    return len(keys), keys["grpo.num_generations_per_prompt"]


def read_openrlhf(script, packages):
    source = next(packages.rglob("openrlhf/cli/train_ppo_ray.py"))
    parser = argparse.ArgumentParser(exit_on_error=False)
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            names = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if not names:
                continue
            known = {k.arg: k.value for k in node.keywords}
            options = {"action": known["action"].value} if "action" in known else {}
            if "type" in known and isinstance(known["type"], ast.Name):
                options["type"] = {"int": int, "float": float}.get(known["type"].id, str)
            if "choices" in known:
                options["choices"] = ast.literal_eval(known["choices"])
            if "nargs" in known:
                options["nargs"] = ast.literal_eval(known["nargs"])
            parser.add_argument(*names, **options)
    words = words_of(script)[3:]
    args = vars(parser.parse_args(words))
    return len(words), args["rollout.n_samples_per_prompt"]


def read_trl(text, packages):
    import yaml
    fields = {n.target.id for n in ast.walk(ast.parse((packages / "trl/trainer/grpo_config.py").read_text()))
              if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    fields |= {"model_name_or_path", "per_device_train_batch_size"}  # of ModelConfig and of transformers' TrainingArguments
    keys = yaml.safe_load(text)
    assert set(keys) <= fields, f"{set(keys) - fields} are no fields of GRPOConfig"
    return len(keys), keys["num_generations"]


READERS = {"verl": read_verl, "nemo-rl": read_nemo, "openrlhf": read_openrlhf, "trl": read_trl}


def main():
    program, failed = sys.argv[1], 0
    packages = pathlib.Path(os.environ["SHARDOPT_RL_PACKAGES"]) if "SHARDOPT_RL_PACKAGES" in os.environ else None
    with tempfile.TemporaryDirectory() as folder:
        one = next((int(word) for word in sys.argv[2:] if word.isdigit()), 0)
        for line, frameworks in CASES if "--all" in sys.argv else CASES[1 + one:2 + one] if one else CASES[2:5]:
            words = shlex.split(line)
            given = dict(zip(words, words[1:]))
            for framework in frameworks.split():
                file, said = os.path.join(folder, f"step.{framework}"), ""
                done = subprocess.run([program, "rl", *words, "--emit", framework, "-o", file], capture_output=True, text=True)
                try:
                    assert done.returncode == 0, done.stderr
                    text = open(file).read()
                    seconds = float(re.search(r"`shardopt rl`: ([\d.]+) s a step", text)[1])
                    again = [program, "rl", "--from-config", file, "--chip", given["--chip"],
                             *(["--nodes", given["--nodes"]] if framework == "trl" else []), "--answer", given.get("--answer", "1024"),
                             "--prompt", given["--prompt"], "--algorithm", given.get("--algorithm", "grpo"), "-q"]
                    back = subprocess.run(again, capture_output=True, text=True)
                    assert back.returncode == 0, back.stdout + back.stderr
                    now = re.search(r"What it runs: ([\d.]+) (ms|s|minutes)", back.stdout)
                    assert now, back.stdout
                    unit = {"ms": 1e-3, "s": 1, "minutes": 60}[now[2]]
                    assert abs(float(now[1]) * unit / seconds - 1) < 0.003, f"{seconds} s come back as {now[0]}"
                    said = f"{now[0]}"
                    if packages and framework in READERS:
                        count, samples = READERS[framework](text, packages)
                        assert int(samples) == int(given.get("--samples", 16)), samples
                        said += f", {count} keys read"
                except Exception as error:  # noqa: BLE001
                    failed += 1
                    said = f"FAILED: {error}"
                print(f"{framework:9} {line[:60]:60} {said}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
