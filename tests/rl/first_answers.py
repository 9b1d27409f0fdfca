#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Six first answers, as a stranger reads them: first_answers.py PROGRAM. Each has 24 rows of 120 columns at most and takes 5 s
of processor, names what NeMo RL's own recipe takes where there is one, and adds up: phases of a pool are what it is busy for,
and the step is what docs/rl.md makes of them."""
import json, math, re, resource, subprocess, sys

ROWS, COLUMNS, SECONDS = 24, 120, 5.0
CASES = [
    ("--model 8b --chip h100 --nodes 1 --prompts 64 --samples 32 --answer 800 --max-answer 4096", ["grpo_math_8B_megatron"]),
    ("--model qwen3-32b --chip h100 --nodes 4 --prompts 64 --samples 32 --answer 3200 --max-answer 4096", ["grpo-qwen3-32b-4n8g"]),
    ("--model qwen3-30b-a3b --chip gb200 --chips 16 --prompts 64 --samples 32 --answer 3200 --max-answer 4096",
     ["grpo-qwen3-30ba3b-4n4g", "grpo-qwen3-30ba3b-4n4g-async-1off"]),
    ("--model qwen3-235b-a22b --chip gb200 --chips 128 --prompts 16 --samples 32 --answer 5700 --max-answer 8192",
     ["grpo-qwen3-235b-32n4g", "grpo-qwen3-235b-32n4g-async-1off"]),
    ("--model deepseek-v3 --chip h100 --nodes 32 --prompts 32 --samples 16 --answer 740 --max-answer 1536", ["grpo-deepseek-v3-32n8g"]),
    ("--model 70b --chip h100 --nodes 8 --algorithm ppo --critic 70b --reward 70b --prompts 512 --samples 1 --answer 800 --max-answer 4096",
     ["grpo_math_70B_megatron"]),
]


def seconds_of(text):
    value, unit = re.match(r"([\d.]+) (ms|s|minutes)", text.replace(",", "")).groups()
    return float(value) * {"ms": 1e-3, "s": 1, "minutes": 60}[unit]


def step_of(answer):
    """The step from its phases in JSON: pools apart work at once where weights may be behind, else one after the other."""
    phases = answer["phases"]
    rollout, both = phases["generation"], phases["transfer"]
    trainer = sum(phases.values()) - rollout - both
    return both + (max(rollout, trainer) if answer["lag"] > 0 else rollout + trainer)


def main():
    program, failed = sys.argv[1], 0
    for line, recipes in CASES:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run([program, "rl", *line.split()], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        text = run.stdout
        rows = sum(max(1, math.ceil(len(one) / COLUMNS)) for one in text.splitlines())
        wrong = [f"{name} is not there" for name in recipes if f"NeMo RL's {name}" not in text]
        if run.returncode or run.stderr:
            wrong.append(run.stderr)
        if rows > ROWS:
            wrong.append(f"{rows} rows")
        if used > SECONDS:
            wrong.append(f"{used:.1f} s of processor")
        said = re.search(r"^Answer: ([\d.,]+ \S+) per step", text, re.M)
        told = json.loads(subprocess.run([program, "rl", *line.split(), "--format", "json"], capture_output=True).stdout)
        whole = step_of(next(one for one in told["steps"] if one["seconds"] == min(each["seconds"] for each in told["steps"])))
        if not said or abs(whole / seconds_of(said[1]) - 1) > 2e-3:
            wrong.append(f"{said and said[1]} a step, and phases add up to {whole:.2f} s")
        failed += bool(wrong)
        print("FAILED" if wrong else "ok    ", f"{rows} rows, {used:.1f} s: {line}", *wrong, sep="\n       " if wrong else " ")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
