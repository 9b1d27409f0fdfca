#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `shardopt emit` writes for GPU launchers, held against the packages themselves, on a CPU.

    python tests/launch/emit_gpu.py --shardopt build/shardopt [--package megatron]

Each plan of CASES is planned for each launcher, emitted from its report, and given to the checker of the package
(gpu_PACKAGE.py), a process of its own: what the package's own parsers, config classes and process groups say, and
whether they come to the plan's microbatches, stages and groups on a host. Then files that are one setting beyond a rule
of the package (BEYOND), which it has to refuse, as shardopt refuses the plan. Exit 77: no package is installed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = ["megatron", "torchtitan", "torchtitan-toml", "deepspeed"]
LAUNCHER = {"torchtitan-toml": "torchtitan"}

BATCH = "--batch 4Mi --seq 8192"
# name, arguments of `plan`; for some formats others, None: not of its world.
CASES = [
    ("8b on a host", "--model llama3.1-8b --chip h100 --nodes 1 --batch 1Mi --seq 8192", {}),
    ("70b, fsdp", f"--model 70b --chip h100 --nodes 8 {BATCH} --remat full", {}),
    ("70b, tensor and stages", f"--model 70b --chip h100 --nodes 8 {BATCH} --remat full --require 'tensor=8 pipeline=4 fsdp=1'",
     {"deepspeed": f"--model 70b --chip h100 --nodes 8 {BATCH} --remat full --require 'tensor=4 pipeline=8 zero<=1'"}),
    ("70b, interleaved", f"--model 70b --chip h100 --nodes 8 {BATCH} --remat full --schedules interleaved "
     "--require 'tensor=4 pipeline=4 virtual_stages=5'", {"deepspeed": None}),
    ("8b, gpipe", f"--model llama3.1-8b --chip h100 --nodes 4 {BATCH} --remat full --schedules gpipe --require pipeline=4",
     {"deepspeed": None, "megatron": None}),
    ("405b, 126 layers on 16 stages", f"--model 405b --chip h100 --nodes 64 {BATCH} --remat full --require 'tensor=8 pipeline=16'", {}),
    ("405b on b200", f"--model 405b --chip b200 --nodes 32 {BATCH} --remat full", {}),
    ("8b, 131,072 tokens", "--model 8b --chip h100 --nodes 4 --batch 4Mi --seq 131072 --remat full --require sequence=8", {}),
    ("8b, rings of heads", "--model 8b --chip h100 --nodes 4 --batch 4Mi --seq 131072 --remat full "
     "--require 'sequence=16 context=ulysses_ring'", {"torchtitan": None, "torchtitan-toml": None, "deepspeed": None}),
    ("data and ZeRO-1", "--model 8b --chip b200 --nodes 4 --batch 2Mi --seq 4096 --require 'data=32 zero=1'",
     {"torchtitan": "--model 8b --chip b200 --nodes 4 --batch 2Mi --seq 4096 --require 'data=4 fsdp=8'",
      "torchtitan-toml": "--model 8b --chip b200 --nodes 4 --batch 2Mi --seq 4096 --require 'data=4 fsdp=8'"}),
    ("ZeRO-3 inside, copies outside", f"--model 8b --chip h100 --nodes 8 {BATCH} --remat full --require 'data=8 fsdp=8'",
     {"deepspeed": None}),
    ("mixtral-8x7b", "--model mixtral-8x7b --chip h100 --nodes 4 --batch 2Mi --seq 4096 --remat full", {}),
    ("qwen3-30b-a3b, experts", "--model qwen3-30b-a3b --chip b200 --nodes 2 --batch 2Mi --seq 4096 --remat full --require 'folded=8'",
     {"deepspeed": "--model qwen3-30b-a3b --chip b200 --nodes 2 --batch 2Mi --seq 4096 --remat full --require 'folded=8 data=16'"}),
    ("deepseek-v3, stages and experts", "--model deepseek-v3 --chip h100 --nodes 64 --batch 15Mi --seq 4096 --remat full "
     "--require 'tensor<=4 pipeline=8 folded=8'", {"deepspeed": None}),
    ("gpt-oss-120b on a rack", "--model gpt-oss-120b --chip gb200 --nodes 1 --batch 9Mi --seq 8192 --remat full",
     {"torchtitan": "--model gpt-oss-120b --chip gb200 --nodes 1 --batch 9Mi --seq 8192 --remat full --require sequence=1",
      "torchtitan-toml": "--model gpt-oss-120b --chip gb200 --nodes 1 --batch 9Mi --seq 8192 --remat full --require sequence=1"}),
    ("gpt3-175b, learned positions", "--model gpt3-175b --chip h100 --nodes 16 --batch 3Mi --seq 2048 --remat full", {}),
    ("what the search likes best", "--model qwen3-32b --chip h100 --nodes 8 --batch 2Mi --seq 8192", {}),
]

# Formats, a case, the setting that goes beyond, and the plan that shardopt has to refuse for the same reason.
BEYOND = [
    (["torchtitan"], "70b, fsdp", {"tensor_parallel_degree": 16, "data_parallel_shard_degree": 4},
     f"--model 70b --chip h100 --nodes 8 {BATCH} --plan 'tensor=16 fsdp=4'", "more tensor ways than KV heads"),
    (["torchtitan", "torchtitan-toml"], "70b, fsdp", {"data_parallel_shard_degree": 63}, None, "degrees that miss the world"),
    (["megatron"], "70b, fsdp", {"tensor-model-parallel-size": 24},
     "--model 70b --chip h100 --nodes 12 --batch 6Mi --seq 8192 --padding any --plan 'tensor=24 fsdp=4'", "heads that tensor does not divide"),
    (["megatron"], "70b, tensor and stages", {"pipeline-model-parallel-layout": "Et*80|t*2|t*2L"}, None,
     "a layout of three stages for four"),
    (["megatron"], "8b, 131,072 tokens", {"global-batch-size": 31}, None, "a batch that is no whole microbatches"),
    (["megatron"], "qwen3-30b-a3b, experts", {"expert-model-parallel-size": 12}, None, "an expert grid that misses the world"),
    (["deepspeed"], "70b, fsdp", {"train_batch_size": 511}, None, "a batch that is no whole microbatches"),
    (["deepspeed"], "70b, fsdp", {"zero_optimization.mics_shard_size": 8},
     f"--model 8b --chip h100 --nodes 8 {BATCH} --remat full --plan 'data=8 fsdp=8'", "ZeRO-3 in groups (MiCS)"),
    (["deepspeed"], "70b, fsdp", {"zero_optimization.stage": 4}, None, "a ZeRO stage that there is none of"),
]


def run(shardopt, *words):
    return subprocess.run([shardopt, *words], capture_output=True, text=True)


def words_of(text):
    import shlex

    return shlex.split(text)


def emit(shardopt, folder, fmt, name, arguments):
    """A report and the file made of it: a job of the checker, or a sentence why there is none."""
    stem = folder / f"{fmt}-{name.replace(' ', '_').replace(',', '').replace('/', '_')}"
    report = stem.with_suffix(".report.json")
    done = run(shardopt, *words_of(arguments), "--for", LAUNCHER.get(fmt, fmt), "--top", "1", "--format", "json", "-o",
               str(report))
    if done.returncode not in (0, 4):
        return None, f"no plan: exit {done.returncode} {done.stderr.strip()[:200]}"
    done = run(shardopt, "emit", fmt, "--from", str(report), "--rank", "1", "-o", str(stem) + ".emitted")
    if done.returncode != 0:
        return None, f"not emitted: exit {done.returncode} {done.stderr.strip()[:200]}"
    document = json.loads(report.read_text())
    return {"name": name, "file": str(stem) + ".emitted", "plan": document["plans"][0],
            "request": document["request"], "model": document["model"]}, None


def checked(fmt, jobs, python):
    """Verdicts by the checker's process; None: the package is not there, and why."""
    checker = HERE / f"gpu_{fmt.replace('-', '_')}.py"
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([python, str(checker)], input=json.dumps(jobs), capture_output=True, text=True,
                          env=environment)
    if done.returncode == 77:
        return None, done.stdout.strip().splitlines()[-1]
    if done.returncode != 0:
        sys.exit(f"{checker.name} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return answer["verdicts"], answer["package"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shardopt", required=True)
    parser.add_argument("--package", choices=FORMATS, action="append")
    parser.add_argument("--keep", help="a folder for the files")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    failures, rows, asked = 0, {}, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for fmt in options.package or FORMATS:
            probe, why = checked(fmt, [], sys.executable)
            if probe is None:
                print(f"SKIPPED: {fmt}: {why}")
                continue
            asked += 1
            jobs, missing = [], []
            for name, arguments, others in CASES:
                own = others.get(fmt, arguments)
                if own is None:
                    rows.setdefault(name, {})[fmt] = "-"
                    continue
                job, reason = emit(options.shardopt, folder, fmt, name, own)
                if job:
                    jobs.append(job)
                else:
                    missing.append((name, reason))
            by_name = {job["name"]: job for job in jobs}
            beyond = [row for row in BEYOND if fmt in row[0] and row[1] in by_name]
            jobs += [dict(by_name[case], name=f"beyond: {what}", mutate=change) for _, case, change, _, what in beyond]
            verdicts, package = checked(fmt, jobs, sys.executable)
            print(f"== {fmt}: {package}")
            for name, reason in missing:
                failures += 1
                rows.setdefault(name, {})[fmt] = "FAIL"
                print(f"FAIL  {name}: {reason}")
            for verdict in verdicts:
                beyond_it = verdict["name"].startswith("beyond: ")
                # beyond: the package has to say so, not the comparison with the plan
                good = verdict["accepted"] != beyond_it and not verdict["said"].startswith("Refused:")
                failures += not good
                word = ("refused" if beyond_it else "accepted") if good else "FAIL"
                own = " (its flags)" if "model of one's own" in verdict["said"] else ""
                rows.setdefault(verdict["name"], {})[fmt] = word + own
                print(f"{word:<9} {verdict['name']}: {verdict['said']}")
            for _, _, _, plan, what in beyond:
                if plan is None:
                    continue
                done = run(options.shardopt, "emit", fmt, *words_of(plan))
                good = done.returncode == 2 and done.stdout == ""
                failures += not good
                print(f"{'refused' if good else 'FAIL':<9} beyond: {what}, by shardopt: {done.stderr.strip()[:230]}")
    if options.markdown:
        print("\n| plan | " + " | ".join(FORMATS) + " |\n|---" * 1 + "|---" * len(FORMATS) + "|")
        for name, row in rows.items():
            print(f"| {name} | " + " | ".join(row.get(fmt, "-") for fmt in FORMATS) + " |")
    if asked == 0:
        sys.exit(77)
    files = sum(word.startswith("accepted") for row in rows.values() for word in row.values())
    print(f"{files} files accepted, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
