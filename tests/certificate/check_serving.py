#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks a certificate of `shardopt inference` beside its JSON report (all points, no --top). Shares no code with the
program and knows no bound.

check_serving.py CERTIFICATE REPORT [PROGRAM SAMPLES SEED]

From the two files: every box of the machine, every degree, grid of experts, cut of the cache and type stands in exactly
one line for each engine, mode and phase; counts and sums are those of the report; ranges that are cut lie within their
layout and do not overlap; what a bound cut is beaten by a point of the front (or by a worker of the same box). With the
program: ranges that were cut are evaluated one by one by brute force, and nothing there exceeds its bound.
"""
import collections, itertools, json, os, random, shlex, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serving_figures

SLACK = 1 + 1e-9
REASONS = {"indivisible", "require", "engine", "equal"}
CUTS = {"memory": "memory", "bound": "bound", "worker": "bound", "limit": "limit", "time_limit": "time_limit"}
DEGREES = "tensor attention_data pipeline expert expert_tensor kv_sequence kv_batch stationary".split()


def require(truth, *what):
    if not truth:
        sys.exit("check_serving: " + " ".join(str(w) for w in what))


def read(path):
    lines = [line.rstrip("\n").split("\t") for line in open(path)]
    rows = [dict(zip(lines[0], words)) for words in lines[1:]]
    for row in rows:
        require(len(row) == len(lines[0]), "a line is cut short")
        for name in DEGREES + ["placement", "low", "high"]:
            row[name] = int(row[name])
        row["user"], row["chip"] = float.fromhex(row["user"]), float.fromhex(row["chip"])
        row["sizes"] = tuple(int(word) for word in row["box"].split("x"))
    return rows


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


def boxes(axes):
    """Parts of the machine: of a torus equal parts of each axis; in a domain any number; beyond it whole domains."""
    def fits(sizes):
        for i, axis in enumerate(axes):
            if axis["kind"] in ("ring", "line") and axis["size"] % sizes[i]:
                return False
            across = axis["name"] in ("network", "dcn")
            if axis["kind"] not in ("ring", "line") and across and sizes[i] > 1:
                if any(sizes[a] != axes[a]["size"] for a in range(i)):
                    return False
        return True
    ranges = [range(1, axis["size"] + 1) for axis in axes]
    return [sizes for sizes in itertools.product(*ranges) if fits(sizes)]


def searches(report):
    """Engine, mode and phase of everything that had to be searched."""
    asked = report["request"]
    engines = ["none"] if asked["engine"] == "any" else asked["engine"].split(",")
    for engine in engines:
        for mode in asked["modes"]:
            if mode == "disaggregated":
                yield engine, mode, "prefill"
                yield engine, mode, "decode"
            else:
                yield engine, mode, {"aggregated": "both", "decode": "decode", "prefill": "prefill"}[mode]


def offered(degrees, phase, experts, torus, types):
    """The layouts of one placement, as tuples of all degrees and the two types."""
    tensor, data, pipeline = degrees
    group = tensor * data
    grids = [(e, group // e) for e in divisors(group)] if experts else [(1, 1)]
    cuts = [(1, 1)] if phase == "prefill" else [(s, b) for s in divisors(tensor) for b in divisors(tensor // s)]
    flat = [1]
    while torus and not experts and flat[-1] * 2 <= tensor:
        flat.append(flat[-1] * 2)
    return {(tensor, data, pipeline, *grid, *cut, x, *kind)
            for grid in grids for cut in cuts for x in flat for kind in types}


def check_space(rows, report):
    axes, asked = report["mesh"]["axes"], report["request"]
    torus = report["mesh"]["chip"].startswith("tpu")
    types = list(itertools.product(asked["precision"].split(","), asked["kv_dtype"].split(",")))
    visits = [row for row in rows if row["what"] == "layout" or row["what"] in REASONS]
    experts = any(row["expert"] * row["expert_tensor"] > 1 for row in visits)
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in visits:
        key = (row["engine"], row["mode"], row["phase"], row["sizes"][:len(axes)])
        found[key][tuple(row[d] for d in DEGREES[:3])].append(row)
    wanted = {(*search, box) for search in searches(report) for box in boxes(axes)}
    require(set(found) == wanted, "boxes that are missing or too many:", sorted(set(found) ^ wanted)[:3])
    for (engine, mode, phase, box), by_degrees in found.items():
        devices = 1
        for size in box:
            devices *= size
        triples = {(t, d, devices // t // d) for t in divisors(devices) for d in divisors(devices // t)}
        require(set(by_degrees) == triples, "degrees of", engine, mode, phase, box)
        for triple, lines in by_degrees.items():
            whole = [row for row in lines if row["expert"] == 0 and row["what"] != "equal"]
            if whole:
                require(len(lines) == 1 and whole[0]["what"] in ("indivisible", "require"), "a line too many of", triple)
                continue
            places = collections.defaultdict(list)
            for row in lines:
                places[row["placement"]].append(row)
            require(sorted(places) == list(range(len(places))), "a placement is missing of", triple)
            for place in places.values():
                if [row["what"] for row in place] == ["equal"]:
                    continue
                have = [tuple(row[d] for d in DEGREES) + (row["weights"], row["cache"]) for row in place]
                require(len(have) == len(set(have)) and set(have) == offered(triple, phase, experts, torus, types),
                        "layouts of", engine, mode, phase, box, triple)
    return len(visits)


def check_counts(rows, report, layouts):
    search = report["search"]
    left, cut, covered = collections.Counter(), collections.Counter(), 0
    ranges = collections.defaultdict(list)
    for row in rows:
        key = tuple(row[name] for name in ["engine", "mode", "phase", "box", *DEGREES, "weights", "cache", "placement"])
        span = row["high"] - row["low"] + 1
        if row["what"] in REASONS:
            left[row["what"]] += 1
        elif row["what"] == "layout":
            covered += max(0, span)
            ranges[key].append((row["low"], row["high"], True))
        elif row["what"] in CUTS:
            cut[CUTS[row["what"]]] += span
            require(span > 0, "an empty range of", row["what"])
            ranges[key].append((row["low"], row["high"], False))
        else:
            require(row["what"] == "worker_front", "unknown word", row["what"])
    for key, list_of in ranges.items():
        wholes = [r for r in list_of if r[2]]
        require(len(wholes) == 1, "a layout stands", len(wholes), "times:", key)
        end = wholes[0][0] - 1
        for low, high, _ in sorted(r for r in list_of if not r[2]):
            require(low > end and high <= wholes[0][1], "ranges overlap or leave their layout:", key)
            end = high
    require(layouts == search["layouts"], "layouts:", layouts, search["layouts"])
    for reason, count in search["layouts_left_out"].items():
        require(left[reason] == count, reason, left[reason], count)
    require(covered == search["points_covered"], "covered:", covered, search["points_covered"])
    for reason in set(cut) | set(search["points_pruned"]):
        require(cut[reason] == search["points_pruned"].get(reason, 0), reason, cut[reason])
    require(covered - sum(cut.values()) == search["points_evaluated"], "evaluated")
    require((search["proof"] == "optimal") == (cut["time_limit"] == 0), "the proof is not what the cuts say")


def check_front(report):
    front = report["front"]
    for a, b in zip(front, front[1:]):
        require(a["tokens_per_second_per_user"] > b["tokens_per_second_per_user"], "the front is not in order")
        require(a["tokens_per_second_per_chip"] < b["tokens_per_second_per_chip"], "a point is beaten")


def beaten(list_of, user, chip):
    return any(u * SLACK >= user and c * SLACK >= chip for u, c in list_of)


def check_bounds(rows, report):
    front = [(p["tokens_per_second_per_user"], p["tokens_per_second_per_chip"]) for p in report["front"]]
    workers = collections.defaultdict(list)
    for row in rows:
        if row["what"] == "worker_front":
            workers[row["engine"], row["box"], row["cache"]].append((row["user"], row["chip"]))
    limit = report["request"].get("tpot")
    for row in rows:
        if row["what"] == "bound":
            require(beaten(front, row["user"], row["chip"]), "a bound is beaten by nothing:", row)
        elif row["what"] == "worker":
            require(beaten(workers[row["engine"], row["box"], row["cache"]], row["user"], row["chip"]),
                    "a worker is beaten by none:", row)
        elif row["what"] == "limit":
            require(limit and row["user"] <= SLACK / limit, "a limit that is kept:", row)


def sample(rows, report, program, samples, seed):
    """Brute force of some ranges that were cut by a bound or a limit: nobody gets more than the bound says."""
    def layout(row):
        return tuple(row[name] for name in ["engine", "mode", "phase", "box", *DEGREES, "weights", "cache"])

    placements = collections.Counter(layout(row) for row in rows if row["what"] == "layout")
    picked = [row for row in rows if row["what"] in ("bound", "worker", "limit") and placements[layout(row)] == 1]
    picked = random.Random(seed).sample(picked, min(samples, len(picked)))
    options = {k: v for k, v in report["request"]["options"].items() if k not in ("engine", "mode", "require", "tpot", "ttft")}
    for row in picked:
        high = min(row["high"], row["low"] + 200)
        words = [f"{d}={row[d]}" for d in DEGREES] + [f"batch>={row['low']}", f"batch<={high}"]
        mode = "aggregated" if row["mode"] == "aggregated" else "decode"
        line = [program, "inference", "--format", "json", "-q", "--brute-force", "--mode", mode,
                "--engine", "any" if row["engine"] == "none" else row["engine"], "--require", " ".join(words)]
        for key, value in options.items():
            line += [f"--{key}", value]
        done = subprocess.run(line, capture_output=True, text=True)
        require(done.returncode in (0, 3), shlex.join(line), done.stderr)
        for point in json.loads(done.stdout)["front"]:
            pool, box = point["pools"][0], {}
            for one in pool["placement"]:
                box[one["axis"]] = box.get(one["axis"], 1) * one["factor"]
            sizes = tuple(box.get(axis["name"], 1) for axis in report["mesh"]["axes"])
            if (pool["precision"], pool["kv_dtype"]) != (row["weights"], row["cache"]):
                continue
            if sizes != row["sizes"][:len(sizes)]:  # the same degrees in another box
                continue
            require(point["tokens_per_second_per_user"] <= row["user"] * SLACK, "a bound is exceeded:", row)
            if row["what"] == "bound" and row["mode"] == "aggregated":
                require(point["tokens_per_second_per_chip"] <= row["chip"] * SLACK, "a bound is exceeded:", row)
    return len(picked)


def check_best(report):
    """The best point is that of the front."""
    best = report.get("best_point")
    if not best or not report.get("best"):
        return
    front = report["front"][report["best"] - 1]
    for key in ("notation", "engine", "tokens_per_second", "tokens_per_second_per_user", "tpot_seconds",
                "cost_usd_per_million_output_tokens"):
        require(best.get(key) == front.get(key), "the best point is none of the front:", key)


def check_memory(rows, report, hand):
    """(ranges cut for memory that are verified by another hand, believed)."""
    limits, how = serving_figures.limits_of(report), collections.Counter()
    for row in rows:
        if row["what"] == "memory":
            claim = hand.memory_claim(row, limits)
            require(claim != "wrong", "a range that is cut for memory fits by far:", row)
            how[claim] += 1
    return how["own"], how["believed"] + how[None]


def planned_alone(report, program, engine, mode, axes, knobs, low, high):
    """The front of one layout and range of batches, by brute force."""
    words = [f"{d}={knobs.get(d, axes.get(d, 1))}" for d in DEGREES] + [f"batch>={low}", f"batch<={high}"]
    line = [program, "inference", "--format", "json", "-q", "--brute-force", "--mode", mode,
            "--engine", "any" if engine in (None, "none") else engine, "--require", " ".join(words)]
    for key, value in report["request"]["options"].items():
        if key not in ("engine", "mode", "require", "tpot", "ttft", "brute-force"):
            line += [f"--{key}", value]
    done = subprocess.run(line, capture_output=True, text=True)
    require(done.returncode in (0, 3), shlex.join(line), done.stderr)
    return json.loads(done.stdout)["front"]


def check_evaluated(rows, report, program, samples, seed):
    """Points of the front, the best among them, are evaluated again; and ranges that are cut for memory have no point."""
    dice = random.Random(seed)
    single = [point for point in report["front"] if len(point["pools"]) == 1 and point["mode"] == "aggregated"]
    best = report.get("best_point")
    picked = dice.sample(single, min(samples, len(single))) + ([best] if best and len(best["pools"]) == 1 and
                                                              best["mode"] == "aggregated" else [])
    for point in picked:
        pool = point["pools"][0]
        found = planned_alone(report, program, point["engine"], "aggregated", pool["axes"], pool["knobs"], pool["batch"],
                              pool["batch"])
        told = [(one["tokens_per_second_per_user"], one["tokens_per_second_per_chip"]) for one in found]
        own = point["tokens_per_second_per_user"], point["tokens_per_second_per_chip"]
        require(any(abs(u / own[0] - 1) < 1e-9 and abs(c / own[1] - 1) < 1e-9 for u, c in told), point["notation"],
                "has other rates:", own, told[:2])
    cut = [row for row in rows if row["what"] == "memory" and row["mode"] == "aggregated"]
    for row in dice.sample(cut, min(samples, len(cut))):
        found = planned_alone(report, program, row["engine"], "aggregated", row, row, row["low"], row["low"])
        wrong = [one for one in found if (one["pools"][0]["precision"], one["pools"][0]["kv_dtype"]) ==
                 (row["weights"], row["cache"]) and one["pools"][0]["batch"] == row["low"] and alike(one, row, report)]
        require(not wrong, "a range that is cut for memory fits:", row)
    return len(picked), min(samples, len(cut))


def alike(point, row, report):
    """Whether a point lies in the box of a line."""
    box = {}
    for one in point["pools"][0]["placement"]:
        box[one["axis"]] = box.get(one["axis"], 1) * one["factor"]
    sizes = tuple(box.get(axis["name"], 1) for axis in report["mesh"]["axes"])
    return sizes == row["sizes"][:len(sizes)]


def main():
    rows, report = read(sys.argv[1]), json.load(open(sys.argv[2]))
    check_counts(rows, report, check_space(rows, report))
    check_front(report)
    check_best(report)
    check_bounds(rows, report)
    program = sys.argv[3] if len(sys.argv) > 3 else None
    hand = serving_figures.Hand(report, program)
    for point in report["front"] + [one for one in [report.get("best_point")] if one and report.get("best")]:
        hand.check_point(point, require, point["notation"] + ":")
    own, believed = check_memory(rows, report, hand)
    said = ""
    if program:
        samples, seed = int(sys.argv[4]), int(sys.argv[5])
        sampled = sample(rows, report, program, samples, seed)
        points, cut = check_evaluated(rows, report, program, samples, seed)
        said = f", {sampled} ranges, {points} points and {cut} cuts for memory evaluated"
    engine = sum(row["what"] in ("engine", "require") for row in rows)
    print(f"the certificate holds: {report['search']['layouts']} layouts, {len(rows)} lines{said}; of {own + believed} ranges "
          f"cut for memory {believed} are believed, so are {engine} layouts that an engine or --require excludes")


if __name__ == "__main__":
    main()
