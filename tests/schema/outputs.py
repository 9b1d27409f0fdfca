# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that write JSON, and the schema that each answer has to satisfy. In words {here} is a folder of the test's own
that earlier commands wrote to, {data} is tests/data, {runs} is cost/measured/data."""

import json
import os
import pathlib
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOOD = (0, 1, 3, 4)
SMALL = "--model 8b --chip v5e --slice 4x4 --batch 256Ki"
H100 = "--model 70b --chip h100 --nodes 16 --batch 2Mi --seq 8192"

# Those with `draft` were used to write the schemas; the others are held out.
ROWS = [
    ("report", True, f"plan {SMALL} -o {{here}}/small.json"),
    ("report", True, f"plan {H100} -o {{here}}/h100.json"),
    ("report", True, "plan --model 405b --pods 8"),
    ("report", True, "plan --model 405b --pods 8 --time-limit 0.05"),
    ("report", True, "plan --model 405b --chip h100 --nodes 131072 --time-limit 2 --memory-limit 1G"),
    ("report", True, "plan --model 405b --chip h100 --nodes 1"),
    ("report", True, f"plan {SMALL} --profile ideal --mtbf none --variants --top 5"),
    ("report", True, f"plan {SMALL} --nesting all --brute-force --helps none --max-idle 0"),
    ("report", True, "plan --model mixtral-8x7b --chip h100 --nodes 8 --batch 1Mi --precision fp8 --for any"),
    ("report", True, "plan --model deepseek-v2-lite --chip tpu7x --slice 4x4x4 --batch 1Mi --batch-tolerance 5%"),
    ("report", True, "plan --model 8b --chip h100 --nodes 3 --batch 1000000 --objective cost --padding any -q"),
    ("report", True, "plan --model 70b --chip v5e --slices 2 --slice 16x16 --batch 2Mi --offload all"),
    ("report", True, f"explain --from {{here}}/small.json --rank 2"),
    ("report", True, f"explain {H100} --plan \"fsdp=16 tensor=8\" --why-not"),
    ("report", True, "explain --chip h100 --from-config {data}/import/megatron_70b.sh"),
    ("report", False, "explain --chip v6e --slice 16x16 --from-config {data}/import/maxtext_8b.sh"),
    ("report", False, "plan --model gpt-oss-120b --chip b200 --nodes 4 --batch 2Mi --for torchtitan,megatron"),
    ("report", False, "plan --model 70b --chip v6e --slice 16x16 --batch 2Mi --seq 8192 --for maxtext --top 3"),
    ("report", True, "plan --model gemma-7b --chip a100 --nodes 2 --batch 512Ki --optimizer muon --remat full"),
    ("report", False, "plan --model qwen3-30b-a3b --chip mi300x --nodes 2 --batch 1Mi"),
    ("report", False, "plan --model 70b --chip gb200 --nodes 1 --batch 1Mi --state-dtypes moments=bf16 --top 2"),
    ("report", False, "plan --model 405b --chip v5e --slice 2x4"),
    ("sweep", True, "sweep --model 8b,70b --chip v5p,h1000 --chips 16,64 --batch 1Mi -o {here}/sweep.json"),
    ("sweep", True, "sweep --model 8b,405b --chip h100 --nodes 1,2 --batch 512Ki --deadline 3000d --budget 20M"),
    ("sweep", False, "sweep --model mixtral-8x7b --chip v5e,v6e --slice 8x8 --batch 1Mi --seq 4096 -o {here}/plans.json"),
    ("inference", True, "inference --model 8b --chip h100 --nodes 1 -o {here}/serve.json"),
    ("inference", True, "inference --model 70b --chip h100 --nodes 2 --ttft 500ms --tpot 30ms --top 5"),
    ("inference", True, "inference --model 405b --chip h100 --nodes 1 --tpot 1ms"),
    ("inference", True, "inference --model 70b --chip h100 --nodes 2 --mode disaggregated --rate 2 --top 20"),
    ("inference", True, "inference --model mixtral-8x7b --chip h200 --nodes 1 --precision fp8 --kv-dtype fp8 --top 9"),
    ("inference", False, "inference --model qwen3-30b-a3b --chip b200 --nodes 1 --cached 20% --top 30"),
    ("inference", False, "inference --model 8b --chip v5e --slice 2x4 --concurrency 16"),
    ("check", True, "check --baseline {here}/small.json"),
    ("check", True, "check --baseline {here}/worse.json"),
    ("check", True, f"check {H100} --for torchtitan --plan \"fsdp=16 tensor=8\""),
    ("check", False, "check --baseline {here}/plans.json --tolerance 5%"),
    ("check", False, f"check {SMALL} --plan fsdp=16"),
    ("diff", True, "diff {here}/small.json {here}/h100.json"),
    ("diff", True, "diff {here}/small.json {here}/small.json"),
    ("diff", True, "diff {here}/worse.json {here}/small.json"),
    ("diff", False, "diff {here}/h100.json {here}/worse.json"),
    ("layout", True, "layout {data}/layout/example.json"),
    ("models", True, "models"),
    ("model", True, "models 8b"),
    ("model", True, "models deepseek-v3"),
    ("model", False, "models mixtral-8x7b"),
    ("chips", True, "chips"),
    ("chip", True, "chips h100"),
    ("chip", True, "chips tpu-v5p"),
    ("chip", False, "chips gb200"),
    ("validate", True, "validate {runs}/train.tsv"),
    ("validate", True, "validate {runs}/train.tsv --chip h100 --worst 3"),
    ("validate", True, "validate {runs}/train.tsv --chip tpu-v5e --profile ideal"),
    ("validate", False, "validate {runs}/train.tsv --chip gb200 --max-error 1"),
    ("validate_serving", True, "validate {runs}/serving.tsv"),
]


def worse(folder):
    """A baseline that is better than any plan, so that a check of it fails."""
    with open(folder / "small.json", encoding="utf-8") as file:
        report = json.load(file)
    for plan in report["plans"]:
        plan["step"]["seconds"] *= 0.8
        plan["ranked_seconds"] *= 0.8
    with open(folder / "worse.json", "w", encoding="utf-8") as file:
        json.dump(report, file)


def outputs(program, folder, only=None):
    """Yields schema, draft, the command line and what it wrote, as JSON."""
    folder = pathlib.Path(folder)
    names = {"here": folder, "data": ROOT / "tests/data", "runs": ROOT / "cost/measured/data"}
    environment = {k: v for k, v in os.environ.items() if k not in ("SHARDOPT_DATA", "GITHUB_ACTIONS")}
    for schema, draft, line in ROWS:
        words = shlex.split(line.format(**names))
        ended = subprocess.run([program, *words, "--format", "json"], env=environment, capture_output=True, text=True)
        assert ended.returncode in GOOD, (line, ended.returncode, ended.stderr)
        text = ended.stdout
        if "-o" in words:
            text = pathlib.Path(words[words.index("-o") + 1]).read_text(encoding="utf-8")
        if line.endswith("small.json") and line.startswith("plan"):
            worse(folder)
        yield schema, draft, line, json.loads(text)
