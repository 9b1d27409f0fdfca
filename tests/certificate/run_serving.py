#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of small serving problems hold, and are turned down once changed.

run_serving.py SHARDOPT [quick]   quick: three of them, and no changes, for builds with a sanitizer
"""
import os, subprocess, sys, tempfile

PROGRAM, CHECK = sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_serving.py")
QUICK = sys.argv[2:] == ["quick"]
PROBLEMS = {
    "70B on a node": "--model 70b --chip h100 --nodes 1",
    "8B on a v5e 2x4": "--model 8b --chip v5e --slice 2x4 --precision int8 --kv-dtype int8",
    "a mixture in two types on a node": "--model gpt-oss-120b --chip h100 --nodes 1 --kv-dtype bf16,fp8",
    "under no engine's rules": "--model 8b --chip h100 --chips 4 --engine any",
    "MLA on two nodes": "--model deepseek-v2-lite --chip h100 --nodes 2",
    "within limits": "--model 70b --chip h100 --nodes 1 --tpot 20ms --ttft 500ms",
    "at a rate": "--model 8b --chip h100 --nodes 1 --rate 20/s",
    "requests in flight": "--model 8b --chip h100 --nodes 1 --concurrency 32",
    "what --require leaves": "--model 70b --chip h100 --nodes 1 --require tensor=4,batch<=64",
    "decode alone on a torus": "--model 8b --chip v5p --slice 4x4x4 --mode decode",
    "prompts alone": "--model 70b --chip v5e --slice 4x4 --mode prefill",
    "drafts": "--model 8b --chip h100 --chips 2 --speculate 3:0.7",
    "nothing cut": "--model 8b --chip h100 --chips 1 --brute-force",
    "what fits nowhere": "--model 405b --chip h100 --chips 1",
    "out of time": "--model deepseek-v3 --chip h200 --nodes 8 --mode aggregated --time-limit 0.01s",
}


def require(truth, *what):
    if not truth:
        sys.exit(" ".join(str(w) for w in what))


def infer(words, folder):
    paths = [os.path.join(folder, name) for name in ("c.tsv", "r.json")]
    done = subprocess.run([PROGRAM, "inference", *words.split(), "-q", "--format", "json", "--certificate", paths[0],
                           "-o", paths[1]], capture_output=True, text=True)
    require(done.returncode in (0, 3, 4), words, done.stderr)
    return paths


def check(paths, *more):
    done = subprocess.run([sys.executable, CHECK, *paths, *more], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def changes(lines):
    """Certificates that are wrong, by what is wrong with them."""
    names = lines[0].split("\t")

    def edit(what, column, change):
        at = next(i for i, line in enumerate(lines) if line.split("\t")[names.index("what")] == what)
        words = lines[at].split("\t")
        words[names.index(column)] = change(words[names.index(column)])
        return lines[:at] + ["\t".join(words)] + lines[at + 1:]

    def times(factor):
        return lambda word: (float.fromhex(word) * factor).hex()

    for what in ("layout", "bound", "memory"):
        for column in ("low", "high", "tensor", "kv_batch", "cache", "box"):
            shift = {"cache": lambda w: "int4", "box": lambda w: "9" + w[1:]}.get(column, lambda w: str(int(w) + 1))
            yield f"{column} of a {what}", edit(what, column, shift)
    yield "a bound of users above the front", edit("bound", "user", times(1e3))
    yield "a bound of chips above the front", edit("bound", "chip", times(1e3))
    yield "another reason", edit("indivisible", "what", lambda word: "engine")
    yield "a line that is missing", lines[:-1] if "worker_front" not in lines[-1] else lines[:1] + lines[2:]
    yield "a line that stands twice", lines[:2] + lines[1:]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, words in list(PROBLEMS.items())[:3 if QUICK else None]:
            paths = infer(words, folder)
            code, said = check(paths, PROGRAM, "3" if QUICK else "6", "7")
            print(f"{name}: {said}")
            failed += code != 0
        paths = infer(PROBLEMS["70B on a node"], folder)
        lines = open(paths[0]).read().splitlines()
        for name, changed in [] if QUICK else changes(lines):
            with open(os.path.join(folder, "changed.tsv"), "w") as out:
                out.write("\n".join(changed) + "\n")
            code, said = check([out.name, paths[1]])
            if code == 0:
                print(f"{name}: was not turned down")
                failed += 1
        if not QUICK:  # bounds that are a tenth too low hold on paper, and brute force of what they cut shows it
            names, low = lines[0].split("\t"), []
            for line in lines[1:]:
                words = line.split("\t")
                if words[names.index("what")] in ("bound", "worker"):
                    at = names.index("user")
                    words[at] = (float.fromhex(words[at]) * 0.9).hex()
                low.append("\t".join(words))
            with open(os.path.join(folder, "low.tsv"), "w") as out:
                out.write("\n".join(lines[:1] + low) + "\n")
            code, said = check([out.name, paths[1]], PROGRAM, "60", "7")
            if code == 0:
                print("bounds that are too low: were not turned down")
                failed += 1
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
