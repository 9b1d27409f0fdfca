#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The map and the timeline on pages of serving and RL against the JSON of the same question.

pictures.py PROGRAM     the map draws each chip that the answer uses once, and no other; the table's workers lie on as many
chips as their degrees multiply to, apart from each other; the parts of a request add up to its times, and its queue is the
mean wait of an M/D/1 queue at the load of the JSON and half a step.
"""
import json, re, shlex, subprocess, sys

SERVING = ["--model 70b --chip h100 --nodes 1", "--model 70b --chip h100 --nodes 4 --mode disaggregated",
           "--model deepseek-v3 --chip h200 --nodes 4", "--model 8b --chip v5e --slice 2x4 --precision int8",
           "--model 70b --chip v5p --chips 32", "--model 8b --chip a100-80g --nodes 1 --rate 2/s"]
RL = ["--model 8b --chip h100 --nodes 2", "--model 8b --chip h100 --nodes 4 --colocated --algorithm ppo",
      "--model qwen3-30b-a3b --chip h100 --nodes 8 --rollout-chip l40s --rollout-nodes 4"]
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6}
failures = 0


def expect(right, what):
    global failures
    failures += not right
    if not right:
        print("FAIL:", what)


def ask(program, command, words):
    done = [subprocess.run([program, command, *shlex.split(words), "--format", form], capture_output=True, text=True, check=True).stdout
            for form in ("json", "html")]
    return json.loads(done[0]), done[1]


def section(html, name):
    found = re.search(rf'<section id="{name}".*?</section>', html, re.S)
    return found[0] if found else ""


def rows(html):
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr><th scope=\"row\">.*?</tr>", html)]


def seconds(text):
    number, unit = text.replace(",", "").split()
    return float(number) * UNITS[unit]


def cells(html):
    """Bars of the map before its legend, whose boxes are 14 x 12; idle chips are frames."""
    drawn = html[:re.search(r'width="14.00" height="12.0"', html).start()]
    return len(re.findall(r'<rect class="k\d+"', drawn)) - 1, len(re.findall(r'<path class="axis" d="M[^"]*v[^"]*h[^"]*z"', drawn))


def places(where):
    """Coordinates of "x 0 to 1, y 3"."""
    out = [()]
    for part in where.split(", ") if where != "all of it" else []:
        words = part.split()
        out = [at + (i,) for at in out for i in range(int(words[1]), int(words[-1]) + 1)]
    return set(out)


def apart(groups, what):
    seen = set()
    for name, devices, where, _ in groups:
        at = places(where)
        expect(len(at) == int(devices), f"{what}: {name} lies on {len(at)} chips, not {devices}")
        expect(not at & seen, f"{what}: {name} lies on chips of another")
        seen |= at
    return len(seen)


def serving(program, words):
    told, html = ask(program, "inference", words)
    best, mesh, request = told["best_point"], told["mesh"], section(html, "timeline")
    groups = rows(section(html, "mesh"))
    expect(cells(section(html, "mesh")) == (apart(groups, words), mesh["devices"] - apart(groups, words)), f"{words}: other cells")
    expect(apart(groups, words) * mesh["chips"] == best["chips_used"] * mesh["devices"], f"{words}: other chips than are used")
    for pool in best["pools"]:
        kind = {"both": "worker", "prefill": "prefill worker", "decode": "decode worker"}[pool["phase"]]
        own = [row for row in groups if re.fullmatch(rf"{kind}( \d+)?", row[0])]
        axes = pool["axes"]
        expect(len(own) == pool["workers"], f"{words}: {len(own)} of {kind}")
        expect(all(int(row[1]) == axes["tensor"] * axes["attention_data"] * axes["pipeline"] for row in own), f"{words}: {kind} has other degrees")
    parts = {}
    for what, part, _, took in rows(request):
        parts.setdefault(what, {})[part] = seconds(took)
    step = best["pools"][-1]["step"]
    first, output = parts["Up to the first token"], told["request"]["output"]
    close = lambda a, b, what: expect(abs(a - b) <= 2e-3 * max(a, b), f"{words}: {what}: {a} and {b}")
    close(sum(first.values()), best["ttft_seconds"], "parts of the first token")
    close(sum(parts["A request"].values()), best["ttft_seconds"] + (output - 1) * best["tpot_seconds"], "parts of a request")
    load = best["prefill_load"]
    served = first["prefill"] + (first.get("host", 0) if len(best["pools"]) == 1 else 0)
    close(first["queue"], served * load / (2 * (1 - load)) + (step["seconds"] / 2 if len(best["pools"]) == 1 else 0), "queue")
    terms = parts["One step, a token of each sequence"]
    close(sum(terms.values()), sum(step["terms_seconds"].values()), "terms of a step")


def learning(program, words):
    told, html = ask(program, "rl", words)
    step = min(told["steps"], key=lambda step: step["seconds"])
    groups = rows(section(html, "mesh"))
    trainer, replicas = groups[:1], groups[1:]
    total = apart(trainer, words)
    expect(total == step["trainer"]["chips"], f"{words}: {total} chips train, not {step['trainer']['chips']}")
    generates = apart(replicas, words)
    expect(len(replicas) == step["rollout"]["replicas"], f"{words}: {len(replicas)} replicas")
    together = apart(trainer + replicas, words) if step["way"].startswith("split") and "--rollout-chip" not in words else 0
    expect(together in (0, total + generates), f"{words}: both lie on the same chips")
    expect(cells(section(html, "mesh"))[0] > 0, f"{words}: no cells")


for one in SERVING:
    serving(sys.argv[1], one)
for one in RL:
    learning(sys.argv[1], one)
print(f"{failures} failed" if failures else f"{len(SERVING) + len(RL)} pages: maps and timelines are those of the JSON")
sys.exit(failures > 0)
