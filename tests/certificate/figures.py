# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a report that follow from others: rates, the training's days and dollars, chances, ranges, words, and what
`search` says of the proof. Nothing here is searched; each is one line of docs/model.md or docs/json.md."""
import math
import re

# Of the words of launchers: what each number is. A word that is not there is not looked at.
WORDS = {r"\b(?:TP|tp|ici_tensor|dcn_tensor) (\d+)": "tensor", r"\b(?:PP|pp|ici_pipeline|dcn_pipeline) (\d+)": "pipeline",
         r"\b(?:CP|cp|ici_context|dcn_context) (\d+)": "sequence", r"\b(?:ici_fsdp|dcn_fsdp) (\d+)": "fsdp",
         r"\b(?:EP|ep|ici_expert|dcn_expert) (\d+)": "expert", r"\b(?:DP|dp_replicate|ici_data|dcn_data) (\d+)": "data",
         r"\bmicro-batch (\d+)": "microbatch", r"\b(\d+) microbatches a step": "microbatches",
         r"\bglobal batch (\d+)": "sequences", r"\bper_device_train_batch_size (\d+)": "microbatch",
         r"\bgradient_accumulation_steps (\d+)": "microbatches"}

def close(a, b, share=1e-9):
    return a is not None and b is not None and abs(a - b) <= share * max(abs(a), abs(b))

def known(figure):
    return figure is not None and figure > 0

def check_rates(asked, plan, require, name):
    """Tokens of a second, chips, the training's steps, hours and dollars."""
    step, batch, training = plan["step"]["seconds"], plan["batch"], plan["training"]
    used = math.prod(axis["size"] for axis in plan["machine"]["axes"]) // asked.chip.devices_per_chip
    whole = asked.mesh(asked.machine()).chips
    require(plan["chips_used"] == used and plan["chips_idle"] == max(0, whole - used), name, "other chips are used")
    require(math.prod(plan["axes"].values()) == used * asked.chip.devices_per_chip, name, "degrees are not the chips'")
    require(batch["tokens"] == batch["sequences"] * batch["seq"], name, "tokens of the batch")
    require(close(plan["tokens_per_second_per_chip"], batch["tokens"] / step / used), name, "tokens a second of a chip")
    require(close(training["steps"], training["tokens"] / batch["tokens"]), name, "steps of the training")
    require(asked.fine_tunes or close(training["tokens"], asked.request["tokens"]), name, "tokens of the training")
    require(close(training["seconds"], training["steps"] * step), name, "seconds of the training")
    hours = training["seconds"] / 3600 * max(used, whole)
    require(close(training["chip_hours"], hours), name, "chip hours of the training")
    price = asked.request.get("price") or asked.chip.usd
    for key, usd in (("cost_usd", price), ("reserved_cost_usd", asked.chip.usd_reserved)):
        require(not known(training.get(key)) if not usd else close(training[key], hours * usd), name, key)
    check_failures(asked, plan, used, require, name)

def check_failures(asked, plan, used, require, name):
    """The same training with failures; how long a checkpoint makes it wait is believed."""
    training, failing = plan["training"], plan["training"].get("failures")
    if not failing or asked.request.get("mtbf") == "none":
        require(not failing, name, "failures, and --mtbf none")
        return
    mtbf = asked.request.get("mtbf") or 3600 * asked.chip.hours_per_failure / used
    interval, waits = failing["checkpoint_interval_seconds"], failing["checkpoint_blocking_seconds"]
    if failing["goodput"] > 0:
        share = interval / (mtbf * math.exp(failing["restart_seconds"] / mtbf) * math.expm1((interval + waits) / mtbf))
        require(close(failing["mtbf_seconds"], mtbf) and close(failing["goodput"], share, 1e-6), name, "failures")
        for key in ("seconds", "chip_hours", "cost_usd"):
            if known(training.get(key)):
                require(close(failing[key], training[key] / failing["goodput"]), name, key, "with failures")

def check_chances(world, plan, shard, require, name):
    """Whether it fits, and where measured steps would lie; how far figures that no run moved widen that is believed."""
    profile, step, experts = world.profile, plan["step"], max(shard.x, plan.get("expert_grid", {}).get("expert", 1))
    groups = sum(degree > 1 for degree in (shard.t, experts, shard.s, shard.f, shard.d, shard.p))
    held = plan["memory"]["total_bytes"] * (1 + profile.fragmentation_share) + profile.context_bytes + \
        groups * profile.communicator_bytes + (profile.all_to_all_bytes if experts > 1 else 0)
    if profile.hbm_error > 0:
        chance = 1 / (1 + math.exp(-math.log(world.chip.hbm_bytes / held) / profile.hbm_error))
        require(close(plan.get("fits_probability"), chance), name, "the chance that it fits is", chance)
    for key, sign, share in (("likely_low_seconds", -1, profile.likely_low), ("likely_high_seconds", 1, profile.likely_high)):
        if share > 0:
            wider = math.hypot(math.log(share), 1.645 * (plan.get("unmeasured_deviation") or 0))
            require(close(step.get(key), step["seconds"] * math.exp(sign * wider)), name, key, "is not its range")

def check_words(asked, plan, require, name):
    """Notation and a launcher's words name the degrees and knobs of the plan."""
    axes, knobs, grid = plan["axes"], plan["knobs"], plan.get("expert_grid")
    expert = grid["expert"] if grid else axes["expert"]
    for role, degree in re.findall(r"(\w+)=(\d+)", plan["notation"].split("(")[0] + plan["notation"].partition(")")[2]):
        require(int(degree) == (expert if role == "expert" else axes.get(role, int(degree))), name, "its notation:",
                plan["notation"])
    for role, degree in axes.items():
        told = re.search(r"\b%s=(\d+)" % role, plan["notation"])
        require(int(told[1] if told else 1) == (expert if role == "expert" else degree), name, "its notation:", role)
    pairs = 2 if asked.request.get("task") in ("dpo", "reward") else 1  # a sample is two sequences
    said = {"microbatch": knobs["microbatch_sequences"] // pairs, "microbatches": knobs["microbatches"],
            "sequences": plan["batch"]["sequences"], **axes, "expert": expert}
    found = {}
    for pattern, what in WORDS.items():
        for number in re.findall(pattern, plan.get("words") or ""):
            found[what] = found.get(what, 1) * int(number)
    for what, number in found.items():
        require(number == said[what] or (what == "data" and said["fsdp"] * said["sequence"] > 1), name, "its words:",
                what, number, "in place of", said[what])
    for launch in plan["launch"]:
        require(launch["placement"] != "default" or launch["default_seconds"] in (None, plan["step"]["seconds"]),
                name, "what", launch["launcher"], "takes by itself")

def check_proof(report, head, require):
    """Proof, gap, bounds and digests agree wherever they are named."""
    search, certificate = report["search"], report["search"]["certificate"]
    ranked = [plan["ranked_seconds"] for plan in report["plans"]]
    cut, bound = certificate.get("least_cut"), search.get("best_bound_seconds")
    limited = search["plans_pruned"]["time_limit"] > 0
    require(search["proof"] in ("optimal", "gap") and (search["proof"] == "gap" or not limited), "the proof")
    require(search["proof"] == "gap" or search["gap"] == 0, "a gap, and the proof is that there is none")
    require(search["proof"] == "optimal" or not ranked or
            close(search["gap"], max(0, (max(ranked) - bound) / max(ranked))), "the gap is not what its bound says")
    require(not cut or search["proof"] == "gap" or close(bound, cut["seconds"], 1e-15), "the best bound is not the least")
    for one in (cut, certificate.get("least_bound"), certificate.get("kth_best"), certificate.get("fastest")):
        require(not one or "hex" not in one or one["hex"] == "inf" or float.fromhex(one["hex"]) == one["seconds"],
                "seconds and hex differ")
    last = certificate["kth_best"]
    require(not ranked or (last["rank"] == len(ranked) and last["seconds"] == max(ranked)), "the k-th best is another")
    digests = {report["program"]["data"].get("profile", {}).get("figures_sha256"), head["profile_sha256"][0][0],
               certificate["arithmetic"]["profile_sha256"]}
    require(len(digests - {None}) == 1, "digests of the profile differ")
    require(certificate["arithmetic"]["data_sha256"] == report["program"]["data_sha256"], "digests of the data differ")
    require([plan["rank"] for plan in report["plans"]] == list(range(1, len(ranked) + 1)), "ranks")
