#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of small serving problems hold, and are turned down once changed.

run_serving.py SHARDOPT [quick]   quick: three of them, and no changes, for builds with a sanitizer
"""
import copy, json, os, subprocess, sys, tempfile

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


def faster(point, times, steps):
    """A point of so many times the rates, at so much less cost, with its steps or without."""
    for key in ("tokens_per_second", "tokens_per_second_per_user", "tokens_per_second_per_chip", "requests_per_second",
                "input_tokens_per_second"):
        point[key] *= times
    for key in ("tpot_seconds", "cost_usd_per_million_output_tokens", "cost_usd_per_million_input_tokens"):
        point[key] /= times
    for pool in point["pools"] if steps else ():
        pool["step"]["seconds"] /= times
        pool["step"]["terms_seconds"] = {key: value / times for key, value in pool["step"]["terms_seconds"].items()}


def forgeries(report):
    """Reports that are wrong, by what is wrong with them."""
    for what, steps in (("rates of the front, half as high again", False), ("the same with their steps", True)):
        other = copy.deepcopy(report)
        for point in other["front"] + [other["best_point"]]:
            faster(point, 1.5, steps)
        yield what, other
    other = copy.deepcopy(report)
    faster(other["best_point"], 2, True)
    yield "the best point, twice as fast at half the cost", other
    for what, path in (("the cache", "kv_bytes"), ("weights", "weights_bytes")):
        other = copy.deepcopy(report)
        for point in other["front"] + [other["best_point"]]:
            for pool in point["pools"]:
                pool["memory"]["total_bytes"] -= pool["memory"][path] / 2
                pool["memory"][path] /= 2
        yield f"{what}, half as large", other
    other = copy.deepcopy(report)
    for point in other["front"] + [other["best_point"]]:
        point["cost_usd_per_million_output_tokens"] /= 2
    yield "half the cost", other


def without_best(lines, report):
    """The layout of the best point cut for memory, and so all ranges that only it beats."""
    names, other = lines[0].split("\t"), copy.deepcopy(report)
    of, axes = other["best_point"]["pools"][0], other["best_point"]["pools"][0]["axes"]

    def is_best(point):
        return any(pool["axes"] == axes for pool in point["pools"])
    other["front"] = [point for point in other["front"] if not is_best(point)]
    for rank, point in enumerate(other["front"]):
        point["rank"] = rank + 1
    other["best"] = max(range(len(other["front"])), key=lambda i: other["front"][i]["tokens_per_second_per_chip"]) + 1
    other["best_point"] = copy.deepcopy(other["front"][other["best"] - 1])
    made, cut, pruned = [lines[0]], 0, other["search"]["points_pruned"]
    for line in lines[1:]:
        row = dict(zip(names, line.split("\t")))
        own = all(int(row[name]) == value for name, value in axes.items()) and row["mode"] == other["best_point"]["mode"]
        if own and row["what"] in ("bound", "worker", "limit", "memory"):
            continue
        if row["what"] == "bound" and not any(
                point["tokens_per_second_per_user"] >= float.fromhex(row["user"]) and
                point["tokens_per_second_per_chip"] >= float.fromhex(row["chip"]) for point in other["front"]):
            line = "\t".join({**row, "what": "memory"}[name] for name in names)
        made.append(line)
        if own and row["what"] == "layout":
            row.update(what="memory")
            made.append("\t".join(row[name] for name in names))
    sums = {}
    for line in made[1:]:
        row = dict(zip(names, line.split("\t")))
        sums[row["what"]] = sums.get(row["what"], 0) + int(row["high"]) - int(row["low"]) + 1
    pruned["memory"], pruned["bound"] = sums.get("memory", 0), sums.get("bound", 0) + sums.get("worker", 0)
    other["search"]["points_evaluated"] = other["search"]["points_covered"] - sum(pruned.values())
    return made, other


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
        report = json.load(open(paths[1]))
        made = [(name, lines, other) for name, other in forgeries(report)]
        made.append(("the best layout cut for memory", *without_best(lines, report)))
        for name, of, other in [] if QUICK else made:
            for ending, text in (("tsv", "\n".join(of) + "\n"), ("json", json.dumps(other))):
                with open(os.path.join(folder, "forged." + ending), "w") as out:
                    out.write(text)
            code, said = check([os.path.join(folder, "forged." + ending) for ending in ("tsv", "json")], PROGRAM, "1", "7")
            print(f"forged: {name}: {said if code else 'was not turned down'}")
            failed += code == 0
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
