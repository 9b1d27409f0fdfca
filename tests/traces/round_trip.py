#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces made from plans, read back beside them: every term returns to 1%, and an error that was planted is named first.

round_trip.py SHARDOPT
"""
import json, pathlib, re, subprocess, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import simulate

PLANS = {
    "dense": "explain --model 70b --chip h100 --nodes 8 --batch 1Mi --seq 8192 --for megatron --plan fsdp=16,tensor=4",
    "mixture": "plan --model mixtral-8x22b --chip h100 --nodes 16 --batch 1Mi --seq 4096 --for megatron --top 1",
    "pipeline": "explain --model 70b --chip h100 --nodes 8 --batch 512Ki --seq 8192 --for megatron --plan "
                "tensor=8,pipeline=8",
    "context": "explain --model 70b --chip h100 --nodes 16 --batch 1Mi --seq 131072 --for megatron --plan "
               "tensor=8,sequence=16",
}
# What is planted, and the words that the first difference has to hold.
ERRORS = [("dense", {"fsdp": 2.5}, ["of fsdp", "40%"]), ("dense", {"attention": 2}, ["attention takes", "50%"]),
          ("mixture", {"data": 2.5}, ["of data", "40%"]), ("pipeline", {"tensor": 2.5}, ["of tensor", "40%"]),
          ("pipeline", {"bubble": 4}, ["bubble"]), ("context", {"sequence": 2.5}, ["of sequence", "40%"]),
          ("context", {"attention": 2}, ["attention takes", "50%"])]
TOLERANCE = 0.01
SECRETS = ("planted_secret", "train.py")
faults = []


def run(program, *words):
    answer = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if answer.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {answer.returncode}: {answer.stderr}")
    return answer.stdout


def plan_of(program, words, path):
    words = [word.replace(",", " ") if "=" in word else word for word in words.split()]
    run(program, *words, "--format", "json", "-q", "-o", path)
    return json.loads(path.read_text())["plans"][0]


# What a format cannot tell apart is added up: the groups of collectives, where it does not name them, and without
# launches who caused an idle moment.
TOGETHER = {"xplane.pb": [("bubble", "other")], "trace.json.gz": [("bubble", "other")], "sqlite": [simulate.ROLES]}


def sums(terms, together):
    terms = dict(terms)
    for names in together:
        terms["+".join(names)] = sum(terms.pop(name, 0) for name in names)
    return terms


def check_terms(name, plan, read, together=()):
    """Terms below a thousandth of the step count to a thousandth of it."""
    step, measured = plan["step"]["seconds"], {t["term"]: t for t in read["terms"]}
    planted = simulate.Step(plan)
    expected = {"exposed": {**planted.terms, **planted.exposed}, "measured": {**planted.terms, **planted.whole}}
    for what in expected:
        got = sums({t: row[("exposed_" if what == "exposed" else "") + "measured_seconds"]
                    for t, row in measured.items()}, together)
        for term, seconds in sums(expected[what], together).items():
            if what == "measured" and "+" in term and "bubble" not in term:
                continue  # collectives of several groups hide each other: their union is no sum
            if abs(got.get(term, 0) - seconds) > TOLERANCE * max(seconds, 0.001 * step / TOLERANCE):
                faults.append(f"{name}: {term} {what} {got.get(term, 0):.6f} s, planted {seconds:.6f} s")
    if abs(read["step_seconds"] / step - 1) > TOLERANCE:
        faults.append(f"{name}: step {read['step_seconds']:.4f} s, planted {step:.4f} s")
    if read["differences"] and not together:
        faults.append(f"{name}: nothing is off, and it says {read['differences'][0]}")
    if read["placed_share"] < 1:
        faults.append(f"{name}: {read['placed_share']:.1%} placed")


def write_forms(plan, folder, name, **more):
    """The path of each format, after it was written."""
    step = simulate.Step(plan)
    events, ranges = simulate.events_of(plan, **more)
    contents = {"json": simulate.kineto(events, ranges, step), "json.gz": simulate.kineto(events, ranges, step),
                "xplane.pb": simulate.xplane(events, ranges, step),
                "trace.json.gz": simulate.xprof_json(events, ranges, step)}
    for suffix, content in contents.items():
        simulate.write(folder / f"{name}.{suffix}", content)
        yield suffix, folder / f"{name}.{suffix}"
    simulate.nsight(folder / f"{name}.sqlite", events, ranges)
    yield "sqlite", folder / f"{name}.sqlite"
    simulate.nsight(folder / f"{name}.nccl.sqlite", events, ranges, step)
    yield "nccl.sqlite", folder / f"{name}.nccl.sqlite"


def check_bytes(name, plan, read):
    """What NCCL says it sends is what the plan sends, by role, and so are the rates of the links."""
    for term in read["terms"]:
        planted = plan["step"]["communication_bytes"].get(term["term"], 0)
        if abs(term.get("bytes", 0) - planted) > 0.001 * planted:
            faults.append(f"{name}: {term['term']} sends {term.get('bytes', 0):.0f} bytes, planted {planted:.0f}")
        if planted and abs(term["bytes_per_second"] * term["measured_seconds"] /
                           term["predicted_bytes_per_second"] / term["predicted_seconds"] - 1) > 0.001:
            faults.append(f"{name}: rates of {term}")


# What a slower machine is planted as, the figures that a refit has to find, as a share of what they were, and whether
# the plan priced with them takes what was measured. Hidden work that no longer hides is the schedule's, not a figure's.
REFITS = [("dense", {"attention": 2}, {"attention_factor": 0.5}, 0.01),
          ("dense", {"matmul": 1.25, "attention": 1.6}, {"compute_factor": 0.8, "attention_factor": 1 / 1.6}, 0.01),
          ("dense", {"fsdp": 2.5}, {"network_efficiency": 0.4}, 0.1),
          ("pipeline", {"tensor": 2.5, "pipeline": 1}, {"nvlink_efficiency": 0.4}, 0.1)]


def check_refits(program, folder, plans):
    for name, scale, expected, step_tolerance in REFITS:
        _, path = next(write_forms(plans[name], folder, "refit", scale=scale))
        mine = folder / "mine.json"
        read = json.loads(run(program, "trace", path, "--from", folder / f"{name}.report.json", "--format", "json",
                              "--refit", mine))
        refit = read["refit"]
        found = {f["figure"]: f["now"] / f["was"] for f in refit["figures"]}
        print(f"{name} {scale}: {found}, the plan takes {refit['plan_seconds']:.2f} s, measured "
              f"{read['step_seconds']:.2f} s; now wins {refit['best']['plan']}: {refit['best']['seconds']:.2f} s")
        for figure, share in expected.items():
            if abs(found.get(figure, 1) / share - 1) > 0.03:
                faults.append(f"refit {name} {scale}: {figure} x {found.get(figure)}, planted x {share}")
        if set(found) - set(expected):
            faults.append(f"refit {name} {scale}: moved {set(found) - set(expected)}, which nothing asks for")
        if abs(refit["plan_seconds"] / read["step_seconds"] - 1) > step_tolerance:
            faults.append(f"refit {name} {scale}: the plan takes {refit['plan_seconds']}, not {read['step_seconds']}")
        if refit["best"]["seconds"] > 1.0001 * 1.02**3 * refit["plan_seconds"]:  # best by rank: an odd thing costs 2%
            faults.append(f"refit {name} {scale}: what wins is slower than the plan")
        # A set that plans with it, as --profile takes it.
        run(program, "--model", "8b", "--chip", "h100", "--nodes", "1", "--batch", "64Ki", "--profile", mine, "-q")


def check_other_chip(program, folder, plan):
    """A trace of another chip is compared with a warning, and moves no profile."""
    path, mine = folder / "other.json", folder / "other.mine.json"
    events, ranges = simulate.events_of(plan)
    simulate.write(path, simulate.kineto(events, ranges, simulate.Step(plan), chip="NVIDIA A100-SXM4-80GB"))
    words = [program, "trace", path, "--from", folder / "dense.report.json"]
    if "do not belong together" not in " ".join(run(*words).split()):
        faults.append("another chip: nothing is said")
    answer = subprocess.run(list(map(str, words + ["--refit", mine])), capture_output=True, text=True)
    if answer.returncode != 2 or mine.exists() or answer.stdout:
        faults.append(f"another chip: --refit exits {answer.returncode}: {answer.stderr}")


def check_config(program, folder, plan):
    """The plan read from the launch file that was run is the plan of the report."""
    report, script, path = folder / "dense.report.json", folder / "run.sh", folder / "config.json"
    run(program, "emit", "megatron", report, "-o", script)
    events, ranges = simulate.events_of(plan, scale={"attention": 2})
    simulate.write(path, simulate.kineto(events, ranges, simulate.Step(plan)))
    words = ["trace", path, "--format", "json"]
    machine = ["--from-config", script, "--chip", "h100", "--nodes", "8"]
    ours, theirs = (json.loads(run(program, *words, *more)) for more in (machine, ["--from", report]))
    for a, b in zip(ours["terms"], theirs["terms"]):
        if a["term"] != b["term"] or abs(a["predicted_seconds"] - b["predicted_seconds"]) > 1e-9:
            faults.append(f"--from-config: {a}, of the report {b}")
    if ours["differences"] != theirs["differences"] or "attention takes" not in ours["differences"][0]:
        faults.append(f"--from-config: {ours['differences']}")
    mine = folder / "config.mine.json"
    moved = json.loads(run(program, *words, *machine, "--refit", mine))["refit"]["figures"]
    if abs(next((f["now"] / f["was"] for f in moved if f["figure"] == "attention_factor"), 1) / 0.5 - 1) > 0.03:
        faults.append(f"--from-config --refit: {moved}")
    for more, what in ((["--from", report, "--chip", "h100"], "--chip"), (machine + ["--from", report], "two plans"),
                       (machine + ["--rank", "2"], "--rank"), (["--from-config", path] + machine[2:], "config.json")):
        answer = subprocess.run(list(map(str, [program, *words, *more])), capture_output=True, text=True)
        if answer.returncode != 2 or answer.stdout or what not in answer.stderr or answer.stderr.count("\n") != 1:
            faults.append(f"{more}: exits {answer.returncode}: {answer.stderr}")


STAGES = ("explain --model 70b --chip h100 --nodes 8 --batch 512Ki --seq 8192 --for megatron --plan tensor=8,pipeline=8,"
          "schedule=1f1b,microbatches=32")


def stage_shares(report):
    """FLOPs of a stage over those of the last, which has the logits: layers of 2 FLOPs a parameter and token and causal
    attention, and one matrix of the vocabulary."""
    d, ff, layers, vocab, seq, kv = 8192, 28672, 80, 128256, 8192, 1024
    layer = 2 * (2 * d * d + 2 * d * kv + 3 * d * ff) + 2 * seq * d
    each = layers // 8 * layer
    return [each / (each + 2 * vocab * d)] * 7 + [1]


def check_stages(program, folder):
    """Every stage of a pipeline beside its own prediction; a slow stage, and twice the bubble, are named."""
    report = folder / "stages.report.json"
    plan = plan_of(program, STAGES, report)
    m, shares = plan["knobs"]["microbatches"], stage_shares(report)
    for name, microbatches, slow in (("stages", m, None), ("slow", m, {3: 1.3}), ("bubble", m // 2, None)):
        own, planted = folder / name, []
        own.mkdir()
        for s, (events, ranges, terms) in enumerate(simulate.stages_of(plan, shares, microbatches, slow=slow)):
            planted.append(terms)
            simulate.write(own / f"rank{8 * s}.json",
                           simulate.kineto(events, ranges, simulate.Step(plan), rank=8 * s, world=64))
        read = json.loads(run(program, "trace", own, "--from", report, "--format", "json"))
        step = read["step_seconds"]
        for stage, terms in zip(read["stages"], planted):
            for key in ("compute", "bubble"):
                got, expected = stage["measured"][key + "_seconds"], stage["predicted"][key + "_seconds"]
                if abs(got - terms[key]) > max(0.01 * terms[key], 0.001 * step):
                    faults.append(f"{name}, stage {stage['stage']}: {key} {got:.4f} s, planted {terms[key]:.4f} s")
                if name == "stages" and abs(expected - terms[key]) > 0.02 * step:
                    faults.append(f"{name}, stage {stage['stage']}: {key} predicted {expected:.4f} s, played "
                                  f"{terms[key]:.4f} s")
        print(f"{name}: " + ", ".join(f"{s['measured']['bubble_seconds']:.2f}/{s['predicted']['bubble_seconds']:.2f}"
                                      for s in read["stages"]) + f" s of bubble; {read['differences'][:1]}")
        said = " ".join(read["notes"])
        if (name == "slow") != ("stage 4 computes" in said):
            faults.append(f"{name}: {said}")
        if name == "bubble" and "bubble" not in read["differences"][0]:
            faults.append(f"{name}: {read['differences']}")


def check_logs(program, folder, plan):
    """Rates of torchtitan and timers of Megatron beside the plan, at 1.25 of its times."""
    step, chips = plan["step"], plan["chips_used"]
    rate = plan["batch"]["tokens"] / chips / (1.25 * step["seconds"])
    (folder / "titan.log").write_text("".join(
        f"\x1b[31mstep: {n}  \x1b[32mloss: 1.0  \x1b[34mtps: {rate:,.0f}  \x1b[36mtflops: 1\x1b[39m\n" for n in range(9)))
    terms = step["terms_seconds"]
    work = step["seconds"] - sum(terms.get(t, 0) for t in ("optimizer", "other", "data", "waits"))
    (folder / "megatron.log").write_text("".join(
        f" iteration {n}/ 9 | elapsed time per iteration (ms): {1250 * step['seconds']:.1f} | global batch size: 1 |\n"
        f"(min, max) time across ranks (ms):\n    forward-backward ....: ({1200 * work:.2f}, {1250 * work:.2f})\n"
        f"    optimizer ...........: ({1250 * terms['optimizer']:.2f}, {1250 * terms['optimizer']:.2f})\n" for n in range(9)))
    read = json.loads(run(program, "trace", folder / "titan.log", folder / "megatron.log", "--from",
                          folder / "dense.report.json", "--format", "json"))["logs"]
    for log in read:
        if abs(log.get("step_median_seconds", 0) / step["seconds"] / 1.25 - 1) > 0.005:
            faults.append(f"log: {log}")
    for timer in read[1].get("timers", []):
        if abs(timer["most_seconds"] / timer["predicted_seconds"] / 1.25 - 1) > 0.005:
            faults.append(f"timer: {timer}, step {step}")
    if len(read[1].get("timers", [])) != 2:
        faults.append(f"timers: {read[1]}")
    if "token/s a device" not in " ".join(run(program, "trace", folder / "titan.log").split()):
        faults.append("a rate without a plan is not said")


def check_twice(program, folder, plan):
    """XProf writes the JSON beside the XSpace that it is made of: a folder of both is one device."""
    own = folder / "profile"
    own.mkdir()
    step, (events, ranges) = simulate.Step(plan), simulate.events_of(plan, steps=4)
    simulate.write(own / "host.xplane.pb", simulate.xplane(events, ranges, step))
    simulate.write(own / "host.trace.json.gz", simulate.xprof_json(events, ranges, step))
    for path, ranks in ((own, 1), (own / "host.trace.json.gz", 1)):
        read = json.loads(run(program, "trace", path, "--format", "json"))
        if read["ranks"] != ranks or read["placed_share"] < 1:
            faults.append(f"{path.name}: {read['ranks']} ranks, {read['placed_share']:.1%} placed")


HOSTILE = "</text><img src=x onerror=alert(1)><script>'"
LOADED = ("<script src", "<img", "http:", "https:", "url(h")


def check_page(program, folder, name, plan):
    """The page has the terms, measured and predicted, in time as in sum; it loads nothing, and names stay text."""
    path = folder / "page.json"
    events, ranges = simulate.events_of(plan)
    text = simulate.kineto(events, ranges, simulate.Step(plan))
    first = text.index(simulate.NAMES["elementwise"])
    path.write_text(text[:first] + HOSTILE + text[first + len(simulate.NAMES["elementwise"]):])
    page = run(program, "trace", path, "--from", folder / f"{name}.report.json", "--format", "html")
    faults.extend(f"page of {name}: holds {s}" for s in SECRETS if s in page)
    if page.count("<script") != 2:  # the page's own, and its document
        faults.append(f"page of {name}: has {page.count('<script')} scripts")
    inside = re.search(r'id="document">(.*?)</script>', page, re.S).group(1)
    document = json.loads(inside)
    faults.extend(f"page of {name}: its document holds {s}" for s in LOADED if s in inside)
    if "default-src 'none'" not in page or HOSTILE not in json.dumps(document, ensure_ascii=False):
        faults.append(f"page of {name}: has no policy, or lost the name of a kernel")
    lanes = [{row["term"]: row["active_seconds"] for row in document["timeline"][side]["rows"]} for side in ("measured", "predicted")]
    drawn = {term: [lane[term] for lane in lanes] for term in lanes[0]}
    step, planted = plan["step"]["seconds"], simulate.Step(plan)
    for term, seconds in {**planted.terms, **planted.whole}.items():
        for what, got in zip(("measured", "predicted"), drawn.get(term, [0, 0])):
            # The schedule is played without what hides messages: its bubble is another formula's.
            least = 0.005 if term == "bubble" and what == "predicted" else 0.001
            if abs(got - seconds) > max(0.02 * seconds, least * step):
                faults.append(f"page of {name}: {term} is drawn {got:.4f} s {what}, planted {seconds:.4f} s")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder, plans = pathlib.Path(folder), {}
        for name, words in PLANS.items():
            plans[name] = plan_of(program, words, folder / f"{name}.report.json")
            for suffix, path in write_forms(plans[name], folder, name):
                out = run(program, "trace", path, "--from", folder / f"{name}.report.json", "--format", "json")
                check_terms(f"{name} {suffix}", plans[name], json.loads(out), TOGETHER.get(suffix, ()))
                if suffix == "nccl.sqlite":
                    check_bytes(f"{name} {suffix}", plans[name], json.loads(out))
                text = run(program, "trace", path, "--from", folder / f"{name}.report.json")
                faults.extend(f"{name}: prints {s}" for s in SECRETS if s in text + out)
        for name, scale, words in ERRORS:
            _, path = next(write_forms(plans[name], folder, "error", scale=scale))
            read = json.loads(run(program, "trace", path, "--from", folder / f"{name}.report.json", "--format", "json"))
            first = read["differences"][0] if read["differences"] else "nothing"
            print(f"{name} {scale}: {first}")
            if not all(word in first for word in words):
                faults.append(f"{name} {scale}: expected {words}, it says {first}")
        for name in plans:
            check_page(program, folder, name, plans[name])
        check_config(program, folder, plans["dense"])
        check_twice(program, folder, plans["dense"])
        check_logs(program, folder, plans["dense"])
        check_stages(program, folder)
        check_refits(program, folder, plans)
        check_other_chip(program, folder, plans["dense"])
    print("\n".join(faults) or "all terms return")
    sys.exit(bool(faults))


main()
