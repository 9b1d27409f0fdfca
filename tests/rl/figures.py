#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `shardopt rl` says of a step, by another hand: figures.py PROGRAM [1-4: these cases | some: every third]. From docs/rl.md, the profile, the chip's figures and
closed forms of lengths: work, transfer, passes, packs, the answers in flight, the longest call of a tool; then the figures
in words, the page's bars, the lines of --front and the keys of launch files, each against the report."""
import functools, json, math, pathlib, re, shlex, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = {k: v["value"] for k, v in json.loads((ROOT / "cost/rl/profiles/default.json").read_text()).items() if "value" in v}
NORMAL = statistics.NormalDist()
SMALL = "--model llama3.2-1b --chip h100 --chips 8 --prompts 32 --samples 8 --answer 600 --max-answer 2400 "
CASES = [
    SMALL + "--colocated",
    SMALL + "--lag 0 --train-nodes 4 --train-batch 60",
    SMALL + "--lag 0 --train-nodes 1",
    SMALL + "--lag 0 --train-nodes 4 --lora 16",
    SMALL + "--lag 1 --partial no --algorithm dapo --kept 70%",
    SMALL + "--lag 3 --partial yes --prompt 700 --train-nodes 4 --price 3",
    SMALL + "--lag 4 --partial no --train-nodes 5 --logprobs rollout",
    SMALL + "--algorithm ppo --reward qwen2.5-0.5b --reward-on rollout --train-nodes 6 --partial no",
    SMALL + "--algorithm ppo --critic qwen2.5-0.5b --reward 8b --colocated",
    SMALL + "--algorithm distillation --teacher 8b --turns 5 --tool-time 4s --colocated",
    SMALL + "--rollout-chip a100-80g --rollout-nodes 1 --reward 8b --reward-on rollout --lag 2 --partial no",
    "--model 8b --chip h100 --nodes 3 --prompts 64 --samples 16 --answer 900 --max-answer 1000 --algorithm rloo --colocated",
    "--model 8b --chip h100 --nodes 3 --prompts 64 --samples 16 --lag 0 --train-nodes 1 --algorithm reinforce++ --network 10Gbps",
]
FAILED = []


def expect(name, said, wanted, within=1e-6):
    if not abs(said - wanted) <= within * abs(wanted):
        FAILED.append(f"{name}: {said:.6g}, by hand {wanted:.6g}")


def run(words, code=0):
    done = subprocess.run([sys.argv[1], "rl", *words], capture_output=True, text=True)
    assert done.returncode == code, f"{' '.join(words)}: exit {done.returncode}: {done.stderr}"
    return done


class Lengths:
    """Lognormal, cut at `most`, with this mean."""

    def __init__(self, mean, most):
        self.mean, self.most, sigma = mean, most, PROFILE["answer_sigma"]
        low, high = -5.0, 40.0
        for _ in range(200):
            mu = (low + high) / 2
            d = (math.log(most) - mu) / sigma
            cut = math.exp(mu + sigma ** 2 / 2) * NORMAL.cdf(d - sigma) + most * (1 - NORMAL.cdf(d))
            low, high = (mu, high) if cut < mean else (low, mu)
        self.at = lambda share: min(most, math.exp(mu + sigma * NORMAL.inv_cdf(share)))
        self.below = lambda x: NORMAL.cdf((math.log(x) - mu) / sigma) if x > 0 else 0.0

    def longest(self, count, steps=4000):
        """The mean of the longest of so many: the integral of 1 - F^count."""
        top = min(self.most, self.at(1 - 1e-12))
        return sum(1 - self.below((i + 0.5) * top / steps) ** count for i in range(steps)) * top / steps


def packs(lengths, prompt, batch):
    """Longest first, each into the first pack with room, of at most 512 quantiles."""
    sample, whole, room = min(512, batch), math.ceil(prompt + lengths.most), []
    for i in reversed(range(sample)):
        tokens = prompt + lengths.at((i + 0.5) / sample)
        at = next((k for k, left in enumerate(room) if left >= tokens), len(room))
        room += [whole] if at == len(room) else []
        room[at] -= tokens
    return len(room) * batch / sample


@functools.lru_cache
def chip(name):
    file = json.loads((ROOT / f"mesh/catalog/{name}.json").read_text())
    return {**{k: v["value"] for k, v in file.items() if isinstance(v, dict) and "value" in v}, **file["topology"]}


@functools.lru_cache
def model(name):
    done = subprocess.run([sys.argv[1], "models", name, "--format", "json"], capture_output=True, text=True)
    return json.loads(done.stdout)


def multiplied(name):
    """Parameters that tokens are multiplied with: all but a table that is only looked up."""
    of = model(name)
    return of["active_parameters"] - (0 if of["tied"] else of["vocab"] * of["d_model"])


def share(given, name):
    return multiplied(given[name]) / multiplied(given["--model"]) if name in given else 0


def work(given, told):
    prompts, samples = int(given["--prompts"]), int(given["--samples"])
    kept = float(given.get("--kept", "100%")[:-1]) / 100
    mean, prompt = int(given.get("--answer", 1024)), int(given.get("--prompt", 256))
    lengths = Lengths(mean, int(given.get("--max-answer", 4 * mean)))
    said = told["work"]
    expect("answers trained", said["answers_trained"], prompts * samples)
    expect("answers generated", said["answers_generated"], math.floor(prompts * samples / kept + 0.5))
    expect("tokens trained", said["tokens_trained"], prompts * samples * (prompt + mean))
    expect("longest answer", said["longest_answer_tokens"], lengths.longest(said["answers_generated"]), 0.01)
    return said, lengths, prompt


def trainer(given, step, said, lengths, prompt):
    trained, own = said["answers_trained"], step["trainer"]
    batch = int(given.get("--train-batch", trained))
    expect("updates", own["updates"], math.ceil(trained / batch))
    expect("tokens of a pack", own["packed_tokens"], prompt + lengths.most)
    wanted = packs(lengths, prompt, batch)
    planned = next(n for n in range(math.ceil(wanted - 1e-9), batch + 1) if batch % n == 0)
    expect("packs", own["packed_sequences"], planned)
    expect("training", step["phases"]["training"], own["update_seconds"] * trained / batch * wanted / planned, 0.03)


def phases(given, step, said):
    of, here, there = step["phases"], chip(given["--chip"]), chip(given.get("--rollout-chip", given["--chip"]))
    algorithm = given.get("--algorithm", "grpo")
    forward, training = of["reference"] or of["logprobs"] or of["teacher"] / share(given, "--teacher"), of["training"]
    least, most = (1 / 4, 1 / 2) if "--lora" in given else (2 / 3 * PROFILE["forward_share"], 1.000001 * PROFILE["forward_share"])
    adapted = "--lora" in given and of["logprobs"] / forward
    if not least <= forward / training <= most or adapted and not 1 < adapted < 1.6:
        FAILED.append(f"a pass forward takes {forward / training:.3f} of training")
    critic = share(given, "--critic") or (algorithm == "ppo")
    scored = share(given, "--reward") * forward
    by_rollout = given.get("--reward-on") == "rollout"
    peaks = here["bf16_flops_per_second"] * step["train_chips"] / there["bf16_flops_per_second"] / step["rollout_chips"]
    for name, wanted in (("logprobs", forward * (adapted or given.get("--logprobs") != "rollout")),
                         ("reference", forward * (algorithm in ("grpo", "ppo", "rloo", "reinforce++"))),
                         ("teacher", forward * share(given, "--teacher")), ("values", forward * critic),
                         ("critic_training", training * critic), ("reward", scored * (peaks if by_rollout else 1))):
        expect(name, of[name], wanted, 2e-3)
    hosts = max(1, step["trainer"]["chips"] / here["chips_per_host"])
    # rank 16 of q and o, k and v, gate, up and down in 16 layers: rows and columns
    adapters = 16 * 16 * (2 * (2048 + 2048) + 2 * (2048 + 512) + 3 * (2048 + 8192))
    weights = 2 * (adapters if "--lora" in given else model(given["--model"])["parameters"])
    network = float(given.get("--network", "1e9Gbps").removesuffix("Gbps")) * 1e9 / 8
    rate = min(PROFILE["transfer_bytes_per_second"] * hosts ** 0.5, network)
    expect("transfer", of["transfer"], PROFILE["transfer_seconds"] + weights / rate)
    generation = of["generation"] + (of["reward"] if by_rollout else 0)
    busy = sum(of[k] for k in ("training", "critic_training", "logprobs", "reference", "teacher", "values"))
    busy += 0 if by_rollout else of["reward"]
    expect("other", of["other"], PROFILE["other_share"] * (generation + busy))
    side = busy + of["other"] + of["load"]
    lags = step["way"] in ("split_lagged", "split_partial")
    if lags != (step["lag"] > 0):
        FAILED.append(f"{step['way']} with a lag of {step['lag']}")
    expect("step", step["seconds"], of["transfer"] + (max(generation, side) if lags else generation + side))
    if step["way"] == "colocated" and re.fullmatch(r"data=\d+", step["trainer"]["notation"]):  # weights whole, states shared
        state = weights + 12 * model(given["--model"])["parameters"] / step["train_chips"]
        least = 2 * PROFILE["load_seconds"] + 2 * state / here["pcie_bytes_per_second"]
        if algorithm in ("dapo",) or not (critic or given.get("--reward") or given.get("--teacher")):
            expect("loading", of["load"], least, 0.01)
    expect("tokens an hour", step["tokens_per_hour"], said["tokens_trained"] / step["seconds"] * 3600)
    price = float(given.get("--price", here["usd_per_chip_hour"])) * said["chips"]
    price += there["usd_per_chip_hour"] * step["rollout_chips"] if "--rollout-chip" in given else 0
    expect("dollars", step["usd"], price * step["seconds"] / 3600)
    return generation, side


def rollout(given, step, said, lengths):
    own, generation = step["rollout"], step["phases"]["generation"]
    curve = own["in_flight"]
    batch = sum(p["steps"] * p["step_seconds"] for p in curve)
    steps = sum(p["steps"] for p in curve)
    expect("answers of a replica", own["answers"], math.ceil(said["answers_generated"] / own["replicas"]))
    expect("tokens of a replica", sum(p["steps"] * p["answers"] for p in curve), own["answers"] * lengths.mean, 0.02)
    if own["answers"] <= own["slots"]:
        expect("steps of a batch", steps, said["longest_answer_tokens"], 1e-3)
    if (own["batches"] > 0) != (step["lag"] > 0) or own["batches"] > max(1, step["lag"]):
        FAILED.append(f"{own['batches']} batches at a lag of {step['lag']}")
    calls = (int(given.get("--turns", 1)) - 1) * float(given.get("--tool-time", "0s")[:-1])
    tokens = said["answers_generated"] / own["replicas"] * lengths.mean
    if own["batches"] > 1 or step["way"] == "split_partial":
        period = tokens / own["slots"]
        partial = step["way"] == "split_partial"
        period = max(period, lengths.mean / own["batches"] if partial else steps / own["batches"])
        expect("steps of a period", own["decode_steps"], period, 1e-3)
        again = generation - own["prompt_seconds"] - own["decode_steps"] * own["first_token_seconds"]
        if not (again > 0.01 * own["prompt_seconds"] if partial else abs(again) < 1e-6 * generation):
            FAILED.append(f"caches are filled again for {again:.3g} s")
    else:
        longest = Lengths(4, 4000).longest(4 * said["answers_generated"]) if calls else 0
        batch = max(batch, batch * lengths.mean / steps + longest)
        expect("generation", generation, own["prompt_seconds"] + batch, 0.02 if calls else 1e-6)
        expect("decode steps", own["decode_steps"], steps)
        expect("first token", own["first_token_seconds"], curve[0]["step_seconds"])
        expect("last token", own["last_token_seconds"], curve[-1]["step_seconds"])
        tail = sum(p["steps"] * p["step_seconds"] for p in curve if p["answers"] <= 0.1 * own["answers"])
        if own["answers"] <= own["slots"]:  # all begin at once: what is left is what is in flight
            within = max(p["steps"] * p["step_seconds"] for p in curve)
            if abs(own["tail_seconds"] - tail) > within:
                FAILED.append(f"the last tenth takes {own['tail_seconds']:.4g} s, by the curve {tail:.4g} s")
    if not all(p["step_seconds"] > calls / lengths.mean for p in curve):
        FAILED.append("a step is shorter than a tool's wait")


def seconds_of(text):
    value, unit = re.match(r"([\d.,]+) (us|ms|s|minutes|hours)", text).groups()
    return float(value.replace(",", "")) * {"us": 1e-6, "ms": 1e-3, "s": 1, "minutes": 60, "hours": 3600}[unit]


def words(text, told, said, lengths, sides, scored):
    """The first screen; figures have three or four digits, shares whole percents."""
    step, flat = told["steps"][0], " ".join(text.split())
    own, (generation, side) = step["rollout"], sides

    def says(name, pattern, wanted, within=6e-3, of=flat):
        found = re.search(pattern, of)
        if not found:
            FAILED.append(f"{name}: {pattern} is not there")
            return
        for part, value in zip(found.groups(), wanted):
            number = seconds_of(part) if re.search("[a-z]", part) else float(part.replace(",", ""))
            expect(f"{name} in words", number, value, within)

    error = 1 + PROFILE["likely_error"]
    says("step", r"Answer: ([\d.,]+ \w+) per step \(likely ([\d.,]+ \w+) to ([\d.,]+ \w+)\)",
         (step["seconds"], step["seconds"] / error, step["seconds"] * error))
    says("dollars", r"\$([\d.]+) a step", (step["usd"],))
    says("splits", r"the best of (\d+) split", (len(told["certificate"]["splits"]),))
    lags = step["way"] in ("split_lagged", "split_partial")
    limit = "Generation" if generation > side else "Training"
    part = abs(generation - side) if lags else max(generation, side)
    found = re.search(rf"{limit} limits: .*?(\d+)% of the step", flat)
    if not found or abs(int(found[1]) - 100 * part / step["seconds"]) > 0.51:
        FAILED.append(f"{limit} limits {100 * part / step['seconds']:.1f}%: {found and found[0]}")
    cut = re.search(r"(\d+)% of the answers are cut at ([\d,]+) tokens and end together", flat)
    if own["batches"] < 2 and step["way"] != "split_partial" and own["tail_seconds"] == 0:
        if not cut or abs(int(cut[1]) - 100 * (1 - lengths.below(lengths.most))) > 0.51 or cut[2] != f"{lengths.most:,}":
            FAILED.append(f"{100 * (1 - lengths.below(lengths.most)):.1f}% are cut: {cut and cut[0]}")
    elif own["batches"] < 2 and step["way"] != "split_partial":
        found = re.search(r"takes ([\d.]+ \w+) of it, (\d+)% of the step; the longest has ([\d,]+) tokens", flat)
        if not found or abs(int(found[2]) - 100 * own["tail_seconds"] / step["seconds"]) > 0.51:
            FAILED.append(f"the last tenth in words: {found and found[0]}")
        else:
            expect("longest in words", float(found[3].replace(",", "")), said["longest_answer_tokens"], 1e-2)
            expect("last tenth in words", seconds_of(found[1]), own["tail_seconds"], 6e-3)
    says("in flight", r"up to (\d+) answers in flight in each, ([\d.]+ \w+) a token",
         (min(own["answers"], own["slots"]), own["first_token_seconds"]))
    if "\n\n" in text:
        FAILED.append("an empty line")
    load = step["phases"]["load"]
    if ("  loading" in text) != (load >= 0.01 * step["seconds"]):
        FAILED.append(f"loading of {100 * load / step['seconds']:.2f}% of the step as a bar of its own")
    rows = re.findall(r"^ (\d)   ?.*?  ([\d.,]+ m?\w+)  +(?:\+([\d.]+)%)?", text, re.M)
    for (rank, time, more), other in zip(rows, [step] + sorted(told["steps"][1:], key=lambda s: s["seconds"])):
        expect(f"plan {rank}", seconds_of(time), other["seconds"], 6e-3)
        expect("ranks", int(rank), 1 + [r[0] for r in rows].index(rank))
        if more and abs(float(more) - 100 * (other["seconds"] / step["seconds"] - 1)) > 0.06:
            FAILED.append(f"plan {rank} takes {more}% more")
    if len(rows) != len(told["steps"]):
        FAILED.append(f"{len(rows)} plans of {len(told['steps'])}")
    for name, keys in (("generation", ("generation", *["reward"] * scored)), ("training", ("training",)),
                       ("weight sync", ("transfer",)),
                       ("log-probs", ("logprobs", "reference", "teacher", "values", *["reward"] * (not scored)))):
        seconds = sum(step["phases"][k] for k in keys)
        found = re.search(rf"^  {name}[^\d]*?([\d.]+ \w+) +(\d+)%", text, re.M)
        if found:
            expect(f"{name} as a bar", seconds_of(found[1]), seconds, 6e-3)
            if abs(int(found[2]) - 100 * seconds / step["seconds"]) > 0.51:
                FAILED.append(f"{name}: {found[2]}% of the step")
        elif seconds > 0.1 * step["seconds"]:  # the least are left out
            FAILED.append(f"{name} is no bar")


PAINTED = {"generation": "matmul", "last tenth": "attention", "training": "backward", "waits": "waits", "training of the critic": "backward",
           "loading, offloading": "other", "rewards, data, other": "other", "weights to the engines": "pipeline"}


def document(told, step, scored):
    """Bars of a row follow each other from 0 to the end of the step."""
    line, memory = told["timeline"], told["trainer_memory"]
    for kind in line["kinds"]:
        if kind["of"] != PAINTED.get(kind["name"], "forward"):
            FAILED.append(f"{kind['name']} is painted as {kind['of']}")
    rows = sum(value for key, value in memory.items() if key.endswith("_bytes") and key not in ("total_bytes", "limit_bytes", "reserve_bytes"))
    expect("HBM of a trainer", memory["total_bytes"], rows, 1e-9)
    expect("rows in time", len(line["rows"]), 1 if step["way"] == "colocated" else 2)
    names = {"training": "training", "reward": "reward model", "transfer": "weights to the engines", "load": "loading, offloading", "values": "values of the critic"}
    for number, row in enumerate(line["rows"]):
        at = 0
        for begin, end in zip(row["begin_seconds"], row["end_seconds"]):
            expect("a bar begins where the last one ends", begin, at, 1e-6) if at else None
            at = end
        expect("a row ends", at, step["seconds"], 1e-6)
        for key, name in names.items():
            there = [end - begin for kind, begin, end in zip(row["kind"], row["begin_seconds"], row["end_seconds"]) if line["kinds"][kind]["name"] == name]
            if step["phases"][key] > 0 and (key == "transfer" or number == (0 if key == "reward" and scored else len(line["rows"]) - 1)):
                expect(f"bar of {name}", sum(there), step["phases"][key], 1e-3)


def certificate(told, said):
    """Of what was searched for, the first ranks first: odd parts of a host of an even number behind by the likely error."""
    splits = [s for s in told["certificate"]["splits"] if s["seconds"]]
    odd = lambda s: said["chips"] <= 8 and said["chips"] % 2 == 0 and s["train_chips"] % 2 and s["train_chips"] > 1
    best = min(splits, key=lambda s: s["seconds"] * (1 + PROFILE["likely_error"] * bool(odd(s))))
    expect("the first of the certificate", told["steps"][0]["seconds"], best["seconds"])
    for split in splits:
        if split["floor"] > split["seconds"]:
            FAILED.append(f"a floor of {split['floor']:.4g} s is above {split['seconds']:.4g} s")


def one(line):
    given = dict(zip(line.split(), line.split()[1:] + [""]))
    told = json.loads(run(line.split() + ["--format", "json", "-q"]).stdout)
    said, lengths, prompt = work(given, told)
    for step in told["steps"]:
        sides = phases(given, step, said)
        trainer(given, step, said, lengths, prompt)
        rollout(given, step, said, lengths)
        if step is told["steps"][0]:
            first = sides
    certificate(told, said)
    scored = given.get("--reward-on") == "rollout"  # by engines
    words(run(line.split()).stdout, told, said, lengths, first, scored)
    document(told, told["steps"][0], scored)


def front(line):
    """Each line of --front is the answer with that option."""
    rows = run(line.split() + ["--front"]).stderr.splitlines()
    for row in rows[1:]:
        name, value, *cells = row.split("\t")
        more = [word for word in line.split()]
        if name == "chips":
            more[more.index("--chips") + 1] = value
        else:
            more += [f"--{name}", value]
        if more[-2:] == ["--lag", "0"] and "--partial" in more:
            more = [word for word in more if word not in ("--partial", "yes")]
        step = json.loads(run(more + ["--format", "json"]).stdout)["steps"][0]
        for cell, key in zip(cells, ("seconds", "tokens_per_hour", "usd")):
            expect(f"--front, {name} {value}: {key}", float(cell), step[key], 6e-4)
    values = [row.split("\t")[:2] for row in rows[1:]]
    wanted = [["lag", str(n)] for n in (0, 1, 2, 4, 8)] + [["chips", str(n)] for n in (2, 4, 8, 16)]
    if values != wanted:
        FAILED.append(f"--front has {values}")


def packed(batch):
    """Of 4 k answers k fill a pack with their prompt, and of the others two do: 2.5 k packs."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("100 3\n300 1\n")
        file.flush()
        line = SMALL.replace("--answer 600 --max-answer 2400", f"--prompt 100 --lengths {file.name} --train-batch {4 * batch}")
        told = json.loads(run(line.split() + ["--lag", "0", "--format", "json"]).stdout)
    for step in told["steps"]:
        own = step["trainer"]
        expect("packs", own["packed_sequences"], 4 * batch)  # the least divisor of an update
        expect("training", step["phases"]["training"], own["update_seconds"] * 256 / (4 * batch) * 2.5 * batch / (4 * batch))


def keys_of(text):
    """{key: value} of YAML by its indentation, of overrides, of flags."""
    found, nest = {}, []
    lines = [l for l in text.splitlines() if l[:1] != "#"]
    if ".yaml" in lines[0] and ": " in lines[0] or "model_name_or_path:" in lines[0]:
        for line in lines:
            depth, (key, _, value) = (len(line) - len(line.lstrip())) // 2, line.strip().partition(":")
            nest = nest[:depth] + [key]
            found[".".join(nest)] = value.strip()
    for key, value in re.findall(r"^  (?:--)?([\w.-]+)[= ]?(.*?) ?\\?$", text if not found else "", re.M):
        found[key] = value
    return found


def files(line):
    """What launch files say of the step, of each framework that runs it."""
    given = dict(zip(line.split(), line.split()[1:] + [""]))
    step = json.loads(run(line.split() + ["--format", "json"]).stdout)["steps"][0]
    plan = dict(re.findall(r"(\w+)=(\d+)", step["trainer"]["notation"]))
    own = step["rollout"]
    tensor = int((re.search(r"tensor=(\d+)", own["notation"]) or [0, 1])[1])
    shared, nodes = step["way"] == "colocated", int(given["--nodes"])
    prompts, samples, most = int(given["--prompts"]), int(given["--samples"]), int(given["--max-answer"])
    total, batch = int(given["--prompt"]) + most, int(given["--train-batch"])
    train = step["train_chips"] // 8 if nodes > 1 else 1
    wanted = {
        "nemo-rl": {"grpo.num_prompts_per_step": prompts, "grpo.num_generations_per_prompt": samples,
                    "policy.train_global_batch_size": batch, "policy.max_total_sequence_length": total,
                    "cluster.num_nodes": nodes, "cluster.gpus_per_node": 8,
                    "policy.megatron_cfg.tensor_model_parallel_size": plan.get("tensor", 1),
                    "policy.megatron_cfg.pipeline_model_parallel_size": plan.get("pipeline", 1),
                    "policy.megatron_cfg.context_parallel_size": plan.get("sequence", 1),
                    "policy.generation.vllm_cfg.tensor_parallel_size": tensor,
                    "policy.generation.colocated.enabled": str(shared).lower()},
        "verl": {"data.train_batch_size": prompts, "data.max_prompt_length": given["--prompt"], "data.max_response_length": most,
                 "actor_rollout_ref.actor.ppo_mini_batch_size": -(-batch // samples), "actor_rollout_ref.rollout.n": samples,
                 "actor_rollout_ref.rollout.max_num_seqs": min(own["slots"], own["answers"]), "trainer.nnodes": train,
                 "trainer.n_gpus_per_node": 8 if shared or nodes > 1 else step["train_chips"],
                 "actor_rollout_ref.actor.use_kl_loss": "true"},
        "openrlhf": {"train.batch_size": batch, "vllm.num_engines": own["replicas"], "vllm.tensor_parallel_size": tensor,
                     "data.max_len": total, "rollout.max_new_tokens": most},
        "slime": {"actor-num-nodes": train, "rollout-batch-size": prompts, "global-batch-size": batch,
                  "rollout-num-gpus-per-engine": tensor},
    }
    if not shared:
        wanted["slime"]["rollout-num-gpus"] = step["rollout_chips"]
        wanted["verl"]["rollout.nnodes"] = step["rollout_chips"] // 8 if nodes > 1 else 1
        wanted["verl"]["rollout.n_gpus_per_node"] = 8 if nodes > 1 else step["rollout_chips"]
        wanted["nemo-rl"]["grpo.async_grpo.max_trajectory_age_steps"] = step["lag"]
    for framework, keys in wanted.items():
        if framework == "openrlhf" and not shared:
            continue
        own_line = line.split() + (["--for", "megatron"] if framework != "openrlhf" else [])
        with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
            run(own_line + ["--emit", framework, "-o", file.name])
            text = pathlib.Path(file.name).read_text()
        found = keys_of(text)
        for key, value in keys.items():
            if framework == "openrlhf" and key.startswith("vllm.num"):
                continue  # its trainer is another, and so may be the engines
            if found.get(key) != str(value):
                FAILED.append(f"{framework}: {key} is {found.get(key)}, wanted {value}")


def emitted(line):
    """A framework that does not run the best step has its own best: that which its file names, of the ways that it runs."""
    ways = {"nemo-rl": ("colocated", "split", "split_lagged", "split_partial"), "verl": ("colocated", "split_lagged"),
            "slime": ("colocated", "split", "split_lagged")}
    steps = json.loads(run(line.split() + ["--for", "megatron", "--format", "json"]).stdout)["steps"]
    for framework, runs in ways.items():
        wanted = min((s["seconds"] for s in steps if s["way"] in runs), default=0)
        text = run(line.split() + ["--for", "megatron", "--emit", framework, "-q"], 0 if wanted else 2).stdout
        if wanted:
            expect(f"{framework}'s step", float(re.search(r"`shardopt rl`: ([\d.]+) s a step", text)[1]), wanted, 1e-3)


def configs(text, line):
    """What a launch file runs takes what the options by hand take; and what is said of its changes is the share."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        chips = [] if "nodes" in text else ["--chips", "8"]  # TRL's file leaves the number to accelerate
        told = " ".join(run(["--from-config", file.name, "--chip", "h100", *chips]).stdout.split())
    lines = re.findall(r"([A-Z][\w ,]+): ([\d.]+ \w+) a step(?: \(([-+][\d.]+)%\))?; (.*?[a-z])[;,.] ", told + " ")
    today = seconds_of(lines[0][1])
    step = json.loads(run(shlex.split(line) + ["--format", "json"]).stdout)["steps"][0]
    expect(lines[0][0], today, step["seconds"], 6e-4)
    for name, seconds, more, _ in lines[1:]:
        if abs(100 * (seconds_of(seconds) / today - 1) - float(more or 0)) > 0.15:
            FAILED.append(f"{name}: {more}% for {seconds}")
    free = dict(zip(line.split(), shlex.split(line)[1:] + [""]))
    free = [word for pair in free.items() if pair[0] in FREE for word in pair]
    for name, lag in (("All of it, on policy", "0"), ("All of it, off policy", free[free.index("--lag") + 1].replace("0", "1"))):
        more = free[:free.index("--lag")] + ["--lag", lag] + free[free.index("--lag") + 2:]
        best = json.loads(run(more + ["--format", "json"]).stdout)["steps"][0]
        expect(name, next(seconds_of(l[1]) for l in lines if l[0].endswith(name)), best["seconds"], 6e-4)


def main():
    tried = [(one, line) for line in CASES] + [(front, SMALL), (front, SMALL + "--partial yes"), (packed, 4), *((files, line) for line in FILES), *((configs, *pair) for pair in CONFIGS),
             *((emitted, SMALL + more) for more in ("--lag 1", "--lag 0", "--partial yes --train-nodes 4"))]
    first, last, step = (*map(int, sys.argv[2].split("-")), 1) if "-" in (sys.argv[2:] or [""])[0] else (1, len(tried), 3 if "some" in sys.argv else 1)
    for what, *words in tried[first - 1:last:step]:
        before = len(FAILED)
        what(*words)
        print("FAILED" if FAILED[before:] else "ok    ", what.__name__, words[-1], *FAILED[before:], sep="\n       " if FAILED[before:] else " ")
    sys.exit(len(FAILED) > 0)


WORK = "--prompts 64 --samples 16 --prompt 200 --answer 700 --max-answer 2100 --train-batch 256 "
FILES = ["--model 8b --chip h100 --nodes 1 --colocated " + WORK, "--model 8b --chip h100 --nodes 3 --train-nodes 2 --partial no " + WORK,
         "--model 8b --chip h100 --nodes 1 --train-nodes 5 --partial no " + WORK]

FREE = ("--model", "--chip", "--chips", "--prompts", "--samples", "--prompt", "--answer", "--max-answer", "--train-batch", "--algorithm", "--logprobs",
        "--lag", "--for")
CONFIGS = [
    ("""python3 train_async.py --hf-checkpoint Qwen/Qwen2.5-0.5B-Instruct --actor-num-nodes 1 --actor-num-gpus-per-node 4 \\
  --rollout-num-gpus 2 --rollout-num-gpus-per-engine 1 --rollout-batch-size 24 --n-samples-per-prompt 5 --global-batch-size 60 \\
  --rollout-max-response-len 1600 --advantage-estimator reinforce_plus_plus --tensor-model-parallel-size 2 \\
  --sglang-mem-fraction-static 0.5 "$@"
""", "--model qwen2.5-0.5b --chip h100 --chips 6 --prompts 24 --samples 5 --prompt 256 --answer 400 --max-answer 1600 --train-batch 60 "
     "--algorithm reinforce++ --lag 1 --partial no --train-nodes 4 --train-plan 'tensor=2 sequence=1 pipeline=1' --rollout tensor=1 "
     "--rollout-memory 0.5"),
    ("""python3 train.py --hf-checkpoint Qwen/Qwen1.5-MoE-A2.7B --actor-num-nodes 1 --actor-num-gpus-per-node 8 --colocate \\
  --rollout-num-gpus-per-engine 4 --sglang-enable-dp-attention --sglang-dp-size 2 --sglang-ep-size 4 --rollout-batch-size 16 \\
  --n-samples-per-prompt 4 --rollout-max-response-len 1000 --global-batch-size 64 --advantage-estimator grpo \\
  --expert-model-parallel-size 4 --tensor-model-parallel-size 1
""", "--model qwen1.5-moe-a2.7b --chip h100 --chips 8 --prompts 16 --samples 4 --prompt 256 --answer 250 --max-answer 1000 --lag 0 "
     "--colocated --train-plan 'tensor=1 sequence=1 pipeline=1 folded_expert=4' --rollout 'tensor=2 pipeline=1 attention_data=2'"),
    ("""python3 -m openrlhf.cli.train_ppo_ray --actor.model_name_or_path meta-llama/Llama-3.2-1B --actor.num_nodes 1 \\
  --actor.num_gpus_per_node 2 --vllm.num_engines 3 --vllm.tensor_parallel_size 2 --rollout.batch_size 16 \\
  --rollout.n_samples_per_prompt 4 --rollout.max_new_tokens 800 --train.batch_size 64 --train.async_enable \\
  --train.async_queue_size 3 --train.partial_rollout_enable --algo.advantage.estimator rloo
""", "--model llama3.2-1b --chip h100 --chips 8 --prompts 16 --samples 4 --prompt 256 --answer 200 --max-answer 800 --train-batch 64 "
     "--algorithm rloo --lag 3 --for deepspeed --partial yes --train-nodes 2 --rollout tensor=2"),
    ("""model_name_or_path: Qwen/Qwen2.5-0.5B
num_generations: 8
generation_batch_size: 96
max_completion_length: 512
loss_type: dapo
vllm_tensor_parallel_size: 2
vllm_gpu_memory_utilization: 0.4
""", "--model qwen2.5-0.5b --chip h100 --chips 8 --prompts 12 --samples 8 --prompt 256 --answer 128 --max-answer 512 --algorithm dapo "
     "--lag 0 --for deepspeed --colocated --rollout tensor=2 --rollout-memory 0.4"),
    ("""python3 -m verl.trainer.main_ppo data.train_batch_size=48 data.max_prompt_length=300 data.max_response_length=900 \\
  algorithm.adv_estimator=rloo algorithm.rollout_correction.bypass_mode=True actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B \\
  actor_rollout_ref.actor.ppo_mini_batch_size=16 actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \\
  actor_rollout_ref.rollout.n=6 actor_rollout_ref.rollout.tensor_model_parallel_size=2 trainer.nnodes=2 trainer.n_gpus_per_node=8 \\
  rollout.nnodes=1 rollout.n_gpus_per_node=8
""", "--model qwen2.5-0.5b --chip h100 --chips 24 --prompts 48 --samples 6 --prompt 300 --answer 225 --max-answer 900 --train-batch 96 "
     "--algorithm rloo --lag 1 --logprobs rollout --partial no --train-nodes 2 --train-plan 'tensor=2 sequence=1 pipeline=1' --rollout tensor=2"),
    ("""defaults: grpo_math_1B.yaml
grpo:
  num_prompts_per_step: 24
  num_generations_per_prompt: 6
  async_grpo: {enabled: true, max_trajectory_age_steps: 2, in_flight_weight_updates: false}
policy:
  model_name: meta-llama/Llama-3.2-1B
  train_global_batch_size: 144
  max_total_sequence_length: 1280
  megatron_cfg: {tensor_model_parallel_size: 2, pipeline_model_parallel_size: 2, activation_checkpointing: true}
  generation:
    colocated:
      enabled: false
      resources: {num_nodes: 1, gpus_per_node: 8}
    vllm_cfg: {tensor_parallel_size: 4, gpu_memory_utilization: 0.6}
cluster: {num_nodes: 3, gpus_per_node: 8}
""", "--model llama3.2-1b --chip h100 --chips 24 --prompts 24 --samples 6 --prompt 256 --answer 256 --max-answer 1024 --train-batch 144 "
     "--lag 2 --partial no --train-nodes 2 --train-plan 'tensor=2 sequence=1 pipeline=2 virtual_stages=1' --rollout tensor=4 --remat full "
     "--rollout-memory 0.6"),
]

if __name__ == "__main__":
    main()
