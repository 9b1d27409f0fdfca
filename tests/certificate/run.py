#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of small problems hold, are the same for any number of threads, and are turned down once changed.

run.py SHARDOPT [quick]   quick: five of them, and the changes of the first, for CI; all of them every night
"""
import json, os, subprocess, sys, tempfile

PROGRAM, CHECK = sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "check.py")
QUICK = sys.argv[2:] == ["quick"]
PROBLEMS = {
    "8B on a v5e 4x4": "--model 8b --chip v5e --slice 4x4",
    "8B on two nodes of H100": "--model 8b --chip h100 --nodes 2",
    "a mixture on three nodes, idle ones too": "--model mixtral-8x7b --chip h100 --nodes 3 --max-idle 40% --top 2 "
                                               "--padding any",
    "a mixture on a v5e 4x8, several batches": "--model deepseek-v2-lite --chip v5e --slice 4x8 --batch-tolerance 2% "
                                               "--batch 1Mi --for maxtext",
    "8B on a v5p 4x4x4, idle shapes and batches": "--model 8b --chip v5p --slice 4x4x4 --slices 2 --max-idle 50% "
                                                  "--sequences 100 --batch-tolerance 10% --top 3",
    "levels that drop what is left": "--model qwen3-30b-a3b --chip v5p --slice 2x4x4 --seq 8192 --sequences 256 "
                                     "--for maxtext --max-idle 0",
    "what fits nowhere": "--model 405b --chip v5e --slice 4x4 --max-idle 0",
    "what --require leaves": "--model 8b --chip v5p --slice 4x4x4 --require tensor=4,pipeline<=2 --top 20",
    "nothing cut": "--model 8b --chip v5e --slice 4x4 --batch 32Ki --brute-force",
    "every order of the roles": "--model 8b --chip v5e --slice 4x4 --nesting all --top 2",
    "every order, on GPUs": "--model mixtral-8x7b --chip h100 --nodes 2 --nesting all --top 1 --max-idle 0",
    "every order, of two launchers": "--model llama3.2-1b --chip a100-80g --chips 4 --seq 4096 --sequences 12 --for "
                                     "megatron,deepspeed --nesting all --top 2 --max-idle 0",
    "what fits nowhere, though it was opened": "--model gemma2-9b --chip v5e --slice 4x4 --seq 131072 --sequences 96 "
                                               "--schedules dualpipe --hbm-reserve 0.61 --profile ideal --max-idle 0",
    "out of time": "--model 8b --chip v5p --slice 4x4x4 --time-limit 0.005s",
}


def require(truth, *what):
    if not truth:
        sys.exit(" ".join(str(w) for w in what))


def plan(words, folder, name, threads):
    paths = [os.path.join(folder, f"{name}.{end}") for end in ("tsv", "json")]
    done = subprocess.run([PROGRAM, *words.split(), "-q", "--sensitivity", "none", "--threads", str(threads), "--format", "json", "--certificate",
                           paths[0], "-o", paths[1]], capture_output=True, text=True)
    require(done.returncode in (0, 3, 4), words, done.stderr)
    return paths


def check(paths, *more):
    done = subprocess.run([sys.executable, CHECK, *paths, *more], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def edit(lines, row, column, change):
    """The lines with one cell of the row-th line of tuples changed."""
    start = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    names, words = lines[start].split("\t"), lines[start + 1 + row].split("\t")
    words[names.index(column)] = change(words[names.index(column)])
    return lines[:start + 1 + row] + ["\t".join(words)] + lines[start + 2 + row:]


def one_more(word):
    return str(int(word) + 1)


def changes(lines):
    """Certificates that are wrong, by what is wrong with them."""
    body = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    cut = next(i for i, words in enumerate(body) if words[16] == "degree_bound")
    opened = next(i for i, words in enumerate(body) if words[16] == "opened" and words[-1] != "inf")
    for column in ("tensor", "machine", "sequences_least", "batches", "placements", "knobs", "orders", "plans"):
        yield f"{column} of a cut tuple", edit(lines, cut, column, one_more)
    for column in ("evaluated", "memory", "knob_bound", "plans"):
        yield f"{column} of an opened tuple", edit(lines, opened, column, one_more)
    yield "a bound below the threshold", edit(lines, cut, "bound", lambda word: (float.fromhex(word) / 100).hex())
    yield "a bound above the best plan", edit(lines, opened, "bound", lambda word: (float.fromhex(word) * 100).hex())
    yield "another best plan", edit(lines, opened, "best", lambda word: (float.fromhex(word) / 100).hex())
    yield "another reason", edit(lines, cut, "reason", lambda word: "memory")
    yield "a line that is missing", lines[:-1]
    yield "a line that stands twice", lines + lines[-1:]
    start = len(lines) - len(body)
    raised = [words[:15] + [(3 * float.fromhex(words[15])).hex()] + words[16:] if words[16] == "degree_bound" else words
              for words in body]
    yield "bounds three times as high", lines[:start] + ["\t".join(words) for words in raised]


def check_changes(paths):
    lines = open(paths[0]).read().splitlines()
    for name, changed in changes(lines):
        wrong = paths[0] + ".wrong"
        with open(wrong, "w") as out:
            out.write("\n".join(changed) + "\n")
        code, text = check([wrong, paths[1]], PROGRAM, "5")
        require(code == 1 and text.startswith("certificate: "), name, "is not noticed:", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, words) in enumerate(PROBLEMS.items()):
            if QUICK and number not in (0, 2, 5, 9, 13):
                continue
            paths = plan(words, folder, f"{number}", 1)
            code, text = check(paths, PROGRAM, "4")
            require(code == 0, f"{name}:", text)
            print(f"{name}: {text}")
            if "time-limit" not in words:
                other = plan(words, folder, f"{number}.threads", 3)
                for one, more in zip(paths, other):
                    require(open(one).read() == open(more).read(), f"{name}: three threads write another", one)
            if number < (1 if QUICK else 2):
                check_changes(paths)
            report = json.load(open(paths[1]))
            require(report["search"]["certificate"]["sum"]["holds"], name)


main()
