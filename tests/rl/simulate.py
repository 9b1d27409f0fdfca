#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generation, request by request, by another hand: simulate.py PROGRAM.

Lengths are drawn at random (lognormal ones by this file's own solution for their mean, or those of a file), answers go
to replicas by turns, every step gives a token to each that is in flight, and the next begins where one ends. Seconds of
a step are read off the answer's own `in_flight`, by how many are in flight. The program, which has one deterministic
replica, has to agree with the mean over draws: on generation's seconds, and on those of the last tenth of the answers."""
import bisect, json, math, pathlib, random, statistics, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIGMA, DRAWS = 0.8, 24
CASES = [
    ("8B, longest answers at the cap", "--model 8b --chip h100 --nodes 1 --colocated --rollout tensor=1 --prompts 64 --samples 32 "
     "--prompt 150 --answer 645 --max-answer 3946", None),
    ("8B, a long tail that is not cut", "--model 8b --chip h100 --nodes 1 --colocated --rollout tensor=2 --prompts 32 --samples 16 "
     "--prompt 150 --answer 500 --max-answer 16000", None),
    ("70B on one host, waves where the cache is full", "--model 70b --chip h100 --nodes 1 --colocated --rollout tensor=8 "
     "--prompts 128 --samples 16 --prompt 500 --answer 1500 --max-answer 8000 --precision bf16", None),
    ("measured lengths with two humps", f"--model 8b --chip h100 --nodes 2 --colocated --rollout tensor=1 --prompts 64 "
     f"--samples 16 --lengths {ROOT}/tests/data/rl/answers.txt", "file"),
    ("experts, one replica of a host each", "--model qwen3-30b-a3b --chip h100 --nodes 4 --colocated --rollout tensor=8 "
     "--prompts 64 --samples 32 --answer 1024 --max-answer 8192", None),
]


def phi(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def cut_mean(mu, most):
    """E[min(X, most)] of a lognormal, in closed form."""
    d = (math.log(most) - mu) / SIGMA
    return math.exp(mu + SIGMA ** 2 / 2) * phi(d - SIGMA) + most * (1 - phi(d))


def drawer(words, kind):
    if kind == "file":
        lengths = [float(l.split()[0]) for l in (ROOT / "tests/data/rl/answers.txt").read_text().splitlines() if l[0] != "#"]
        return lambda: random.choice(lengths)
    given = dict(zip(words, words[1:]))
    mean, most = float(given["--answer"]), float(given["--max-answer"])
    low, high = -5.0, 30.0
    for _ in range(100):
        mu = (low + high) / 2
        low, high = (mu, high) if cut_mean(mu, most) < mean else (low, mu)
    return lambda: min(most, max(1.0, round(random.lognormvariate(mu, SIGMA))))


def replica(lengths, slots, seconds_of):
    """When each answer ends, in seconds."""
    waiting, running, now, ends = list(reversed(lengths)), [], 0.0, []
    while waiting or running:
        while waiting and len(running) < slots:
            running.append(waiting.pop())
        steps = min(running)  # nobody ends before
        now += steps * seconds_of(len(running))
        running = [r - steps for r in running]
        ends += [now] * sum(r <= 0 for r in running)
        running = [r for r in running if r > 0]
    return ends


def main():
    random.seed(38)
    program, failed = sys.argv[1], 0
    for name, line, kind in CASES:
        words = line.split()
        run = subprocess.run([program, "rl", *words, "--format", "json", "-q"], capture_output=True, text=True)
        if run.returncode:
            print(f"FAILED {name}: {run.stderr}")
            failed += 1
            continue
        report = json.loads(run.stdout)
        step, work = report["steps"][0], report["work"]
        own = step["rollout"]
        pairs = sorted((p["answers"], p["step_seconds"]) for p in own["in_flight"])
        xs = [p[0] for p in pairs]

        def seconds_of(n):
            at = bisect.bisect_left(xs, n)
            if at in (0, len(xs)):
                return pairs[min(at, len(xs) - 1)][1]
            (a, s), (b, t) = pairs[at - 1], pairs[at]
            return s if a == b else s + (t - s) * (n - a) / (b - a)

        draw, makespans, tails = drawer(words, kind), [], []
        for _ in range(DRAWS):
            ends = []
            lengths = [draw() for _ in range(work["answers_generated"])]
            for r in range(own["replicas"]):
                ends.append(sorted(replica(lengths[r::own["replicas"]], own["slots"], seconds_of)))
            last = max(ends, key=lambda e: e[-1])
            makespans.append(last[-1])
            tails.append(last[-1] - last[min(len(last) - 1, math.ceil(0.9 * len(last)) - 1)])
        truth, tail = statistics.mean(makespans), statistics.mean(tails)
        said = step["phases"]["generation"] - own["prompt_seconds"]
        off, tail_off = said / truth - 1, (own["tail_seconds"] - tail) / truth
        ok = abs(off) <= 0.05 and abs(tail_off) <= 0.06
        failed += not ok
        print(f"{'ok    ' if ok else 'FAILED'} {name}: {said:.1f} s, simulated {truth:.1f} s ({off:+.1%}); "
              f"last tenth {own['tail_seconds']:.1f} s, simulated {tail:.1f} s")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
