#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks a certificate without the search that made it.

    shardopt plan ... --format json --certificate CERT.tsv -o REPORT.json
    check.py CERT.tsv REPORT.json [SHARDOPT [SAMPLES [SEED]]]
    check.py CERT.tsv REPORT.json SHARDOPT --all [JOBS]

From the two files alone: the lines are all and only the ordered factorizations of each machine's devices over the
roles, with every batch; placements, knobs and orders are what their rules in `search.certificate.space` count; plans
add up, by reason, to what the report says; what is cut has a bound above the threshold; what is opened has no plan
below its bound; and the best of the opened tuples are the plans of the report. With SHARDOPT, tuples drawn by chance,
the ten closest and all that were opened are planned alone: none may be faster than its bound, nor than what an opened one
found and left, and what does not divide or fit must not.
With --all nothing is asked of the program but the dimensions of the model: every line is verified by the model and the
bounds of another hand (bounds.py), and the last words say how many tuples of how many remain believed, and why.
Prints one line, or the first thing that is wrong, and exits 1.
"""
import collections, hashlib, itertools, json, math, multiprocessing, os, random, subprocess, sys, tempfile, time
from functools import lru_cache

ROLES = ["tensor", "expert", "sequence", "fsdp", "data", "pipeline"]
REASONS = ["require", "indivisible", "equal", "memory", "degree_bound", "knob_bound", "time_limit"]


def require(truth, *what):
    if not truth:
        sys.exit("certificate: " + " ".join(str(w) for w in what))


@lru_cache(None)
def primes(n):
    out, p = {}, 2
    while n > 1:
        while n % p == 0:
            out[p], n = out.get(p, 0) + 1, n // p
        p += 1 if p * p <= n else max(1, n - p)
    return out


def compositions(n, parts):
    if parts == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in compositions(n - first, parts - 1):
            yield (first,) + rest


@lru_cache(None)
def matrices(rows, columns):
    """How many matrices of whole numbers >= 0 have these row and column sums. Rows are sorted: their order is no matter."""
    if not rows:
        return int(not any(columns))
    return sum(matrices(rows[1:], tuple(c - x for c, x in zip(columns, row)))
               for row in compositions(rows[0], len(columns)) if all(x <= c for x, c in zip(row, columns)))


def placements(degrees, sizes):
    count = 1
    for p in primes(math.prod(sizes)):
        rows = tuple(sorted(e for e in (primes(d).get(p, 0) for d in degrees) if e))
        count *= matrices(rows, tuple(primes(s).get(p, 0) for s in sizes))
    return count


def factorizations(n, roles):
    """All tuples of degrees with product n; roles that take no part are 1."""
    ways = [[(p, c) for c in compositions(e, len(roles))] for p, e in primes(n).items()]
    for choice in itertools.product(*ways):
        of = dict.fromkeys(ROLES, 1)
        for p, exponents in choice:
            for role, e in zip(roles, exponents):
                of[role] *= p ** e
        yield tuple(of[role] for role in ROLES)


@lru_cache(None)
def quotients(n):
    return len({-(-n // x) for x in range(1, n + 1)}) if n < 4096 else 2 * math.isqrt(n - 1) - (
        (n - 1) // math.isqrt(n - 1) == math.isqrt(n - 1)) + 1


@lru_cache(None)
def other_knobs(degrees, switched, rules):
    """Knob settings beside microbatches, by the rules of the report."""
    layers, heads, experts, schedules, overlap, offload = rules
    t, e, s, f, d, p = degrees
    contexts = 1 if s == 1 else 3 + sum(1 for u in range(2, s) if heads % u == 0 and s % u == 0)
    replicate = 2 if s > 1 else 1
    ranks, grids = t * s * f * d, 1
    for ways in range(1, min(experts, ranks) + 1) if switched and e == 1 else ():
        if ranks % ways == 0:
            grids += sum(1 for w in {1, t} if ranks // ways % w == 0 and not (ways == 1 and w == t))
    chunked = sum(x in ("interleaved", "circular") for x in schedules)
    # embedding and logits in a layer's place each: one more split, and chunks of one place
    slots = int(p > 2 and (layers + 2) % p == 0 and (layers + 2) // p > max(1, layers // p))
    pipe = 1 if p == 1 else len(schedules) - chunked + chunked * (quotients(max(1, layers // p)) + slots - 1)
    zero = 3 if d > 1 or replicate > 1 or grids > 1 else 1
    gather = 2 if e * s * f > 1 or grids > 1 else 1
    return (contexts * replicate * grids * pipe * (2 + slots if p > 1 else 1) * (2 if overlap and t > 1 else 1) * zero *
            gather * (2 if offload else 1))


def read(path):
    head, lines, columns = {}, [], None
    for line in open(path):
        words = line.rstrip("\n").split("\t")
        if line.startswith("# "):
            head.setdefault(words[0][2:], []).append(words[1:])
        elif columns is None:
            columns = words
        else:
            lines.append(dict(zip(columns, words)))
    return head, lines


def batches(request_sequences, tolerance, replicas):
    """The others that a tuple may train with, beside the one asked for."""
    if tolerance <= 0:
        return 0, 0, 0
    low = max(1, math.ceil(request_sequences * (1 - tolerance) - 1e-9))
    high = math.floor(request_sequences * (1 + tolerance) + 1e-9)
    some = [b for b in range(-(-low // replicas) * replicas, high + 1, replicas) if b != request_sequences]
    return (some[0], some[-1], len(some)) if some else (0, 0, 0)


def check_file(head, lines, report):
    search, certificate = report["search"], report["search"]["certificate"]
    space, request = certificate["space"], report["request"]
    roles, knobs = space["roles"], space["knobs"]
    rules = (knobs["layers"], knobs["heads"], knobs["experts"], tuple(knobs["schedules"]), knobs["tensor_overlap"],
             knobs["optimizer_offload"])
    threshold = float.fromhex(certificate["threshold"]["hex"])
    above = float.fromhex(head["cut_above"][0][2])
    brute = request["brute_force"]
    all_orders = request.get("nesting") == "all"
    require(space["orders"].startswith("all" if all_orders else "1"), "the orders of the space are not those asked for")
    require(brute or above == threshold * (1 + 1e-12), "the threshold is not the report's")
    asked = int(head["sequences"][0][0])
    sums, evaluated, covered, best, todo = dict.fromkeys(REASONS, 0), 0, 0, [], {}
    for machine in space["machines"]:
        sizes = [a["size"] for a in machine["axes"]]
        ways = [math.prod(math.comb(e + len(roles) - 1, e) for e in primes(s).values()) for s in sizes]
        require(ways == [a["factorizations"] for a in machine["axes"]], "factorizations of an axis of", machine["text"])
        require(math.prod(ways) == machine["factorizations"], "factorizations of", machine["text"])
        total = 0
        for degrees in factorizations(math.prod(sizes), roles):
            todo[machine["machine"], degrees, asked] = (asked, 1)
            t, e, s, f, d, p = degrees
            low, high, count = batches(asked, request["batch_tolerance"], e * f * d)
            if count:
                todo[machine["machine"], degrees, low] = (high, count)
            total += placements(degrees, sizes)
        require(total == machine["factorizations"], "placements do not add up to the factorizations of", machine["text"])
    require(sum(1 for k in todo if k[2] == asked) == search["degree_tuples"], "another number of degree tuples")
    for line in lines:
        degrees = tuple(int(line[r]) for r in ROLES)
        first_machine, low = int(line["machine"]), int(line["sequences_least"])
        together = space["machines"][first_machine:first_machine + int(line["machines"])]
        machine = together[0]
        name = " ".join(f"{r}={v}" for r, v in zip(ROLES, degrees)) + f" on {machine['text']}, {low} sequences:"
        for number in range(first_machine, first_machine + int(line["machines"])):
            key = number, degrees, low
            require(key in todo, name, "is no tuple of the space, or stands twice")
            high, count = todo.pop(key)
            require((int(line["sequences_most"]), int(line["batches"])) == (high, count), name, "other batches")
        replicas = degrees[1] * degrees[3] * degrees[4]
        ways = sum(placements(degrees, [a["size"] for a in one["axes"]]) for one in together)
        switched = all(a["kind"] == "switch" for a in machine["axes"])
        mine = [low] if count == 1 else [b for b in range(low, high + 1, replicas) if b != asked]
        settings = other_knobs(degrees, switched, rules) * sum(quotients(-(-b // replicas)) for b in mine)
        plans = int(line["plans"])
        orders = math.factorial(sum(d > 1 for d in degrees)) if all_orders else 1
        require(int(line["placements"]) == ways, name, "placements are not", line["placements"])
        require(int(line["knobs"]) == settings, name, "knobs are", settings, "not", line["knobs"])
        require(int(line["orders"]) == orders, name, "orders are", orders, "not", line["orders"])
        require(plans == ways * settings * orders, name, "plans are not placements x knobs x orders")
        covered += plans
        if line["reason"] == "opened":
            own = [int(line[r]) for r in REASONS]
            require(int(line["evaluated"]) + sum(own) == plans, name, "evaluated and cut are not its plans")
            evaluated += int(line["evaluated"])
            for reason, value in zip(REASONS, own):
                sums[reason] += value
            first = float.fromhex(line["best"])
            require(first >= float.fromhex(line["bound"]), name, "has a plan below its bound")
            left = float.fromhex(line["left"])  # inf: nothing was too slow
            require(brute or own[6] or left > above or left == math.inf, name, "leaves out what is not above the threshold")
            best.append(first)
        else:
            sums[line["reason"]] += plans
            bound = math.inf if line["bound"] == "-" else float.fromhex(line["bound"])
            require(line["reason"] in ("require", "indivisible", "memory", "degree_bound", "time_limit"), name, "reason")
            require(line["reason"] != "degree_bound" or bound > above, name, "cut at", bound, "not above", above)
    whole = sorted(float.fromhex(l["bound"]) for l in lines if l["reason"] in ("degree_bound", "time_limit"))
    closest = [float.fromhex(c["hex"]) for c in certificate["closest_cut_tuples"]]
    require(closest == whole[:10], "the closest tuples of the report are not the file's")
    beyond = min(whole[:1] + [float.fromhex(l["left"]) for l in lines if l["reason"] == "opened"], default=math.inf)
    require(beyond == math.inf or beyond == float.fromhex(certificate["least_bound"]["hex"]), "the least bound is", beyond)
    require(not todo, len(todo), "tuples are missing, such as", next(iter(todo), None))
    require(covered == search["plans_covered"], "plans add up to", covered)
    require(evaluated == search["plans_evaluated"], "evaluated plans add up to", evaluated)
    require(sums == search["plans_pruned"], "cut plans add up to", sums)
    require(evaluated + sum(sums.values()) == covered, "covered is not evaluated + cut")
    # Rows that differ in kind have searches of their own: the certificate is of the first.
    kinds = any("kinds" in p for p in report["plans"])
    top = 1 if kinds or "top" not in request else request["top"]
    ranked = [p["ranked_seconds"] for p in report["plans"]][:1 if kinds else None]
    # Rows that are tied with the fastest stand in an order of their own; all the others stand by time.
    fastest = float.fromhex(certificate["fastest"]["hex"]) if ranked else math.inf
    later = [seconds for seconds in ranked if seconds > fastest * 1.005]
    require(ranked[len(ranked) - len(later):] == sorted(later), "plans that are not tied do not stand by time")
    require(not ranked or (fastest == min(best) and min(ranked) >= fastest), "the best plan is not the report's")
    several = "," in request.get("for", "")  # the certificate is of one launcher, whose own k-th best may come later
    require(len(ranked) < top or max(ranked) == threshold or (max(ranked) < threshold and
            (several or threshold <= fastest * 1.005 * (1 + 1e-15))),
            "the k-th best is not the threshold")


def degrees_of(line):
    return " ".join(f"{role}={line[role]}" for role in ROLES)


def explain_words(report, sequences):
    """The request, of one batch, for plans that are asked for alone."""
    request = dict(report["request"])
    for key in ("batch", "require", "top", "variants", "brute_force"):
        request.pop(key, None)
    if report["plans"]:  # of several launchers the certificate is of the one that won
        request["for"] = report["plans"][0].get("launcher", "any")
    request.update(sequences=sequences, batch_tolerance=0)
    request["offload"] = report["search"]["certificate"]["space"]["offload"].split(":")[0]  # of the search, not asked
    words = ["explain"] + (["--require", report["request"]["require"]] if report["request"].get("require") else [])
    for key, value in request.items():
        if value is not None and value is not False and value != "":
            words += ["--" + key.replace("_", "-")] + ([] if value is True else [str(value)])
    return words


def ask(program, report, line):
    """The best plan of one tuple and batch, whatever machine of the request it is on, and how long that takes as ranked;
    None: none. An idle shape is priced at the scale of the machine asked for, so that it cannot be asked for alone."""
    low, high, count = (int(line[k]) for k in ("sequences_least", "sequences_most", "batches"))
    replicas = int(line["expert"]) * int(line["fsdp"]) * int(line["data"])
    sequences = low if count == 1 else high
    words = [program, *explain_words(report, sequences), "--format", "json", "-q", "--plan", degrees_of(line)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode in (2, 3):  # 2: more replicas than sequences and the like, or what --require contradicts
        require(done.returncode == 3 or "replicas" in done.stderr or "--require" in done.stderr or "--plan" in done.stderr,
                "explain:", done.stderr, " ".join(words))
        return None
    require(done.returncode in (0, 4), "explain:", done.stderr, " ".join(words))
    asked = report["request"].get("sequences") or report["request"]["batch"] / report["request"]["seq"]
    plans = json.loads(done.stdout)["plans"]  # 4: a layout was left open; what was found is a plan all the same
    if plans and plans[0]["memory"]["total_bytes"] > plans[0]["memory"]["limit_bytes"]:
        return None  # explained as if there were room
    return plans[0]["ranked_seconds"] * round(asked) / sequences if plans else None  # with what is odd


def check_opened(program, lines, report):
    """Every opened tuple of the machine and batch that were asked for, alone: it has no plan below its bound, nor one
    that is faster than its best and than all that it left out."""
    machines = report["search"]["certificate"]["space"]["machines"]
    asked = round(report["request"].get("sequences") or report["request"]["batch"] / report["request"]["seq"])
    if sum(machine["devices"] == machines[0]["devices"] for machine in machines) > 1:
        return 0  # nobody says on which of them a plan is the best
    opened = [l for l in lines if l["reason"] == "opened" and int(l["machine"]) == 0 and int(l["machines"]) == 1 and
              int(l["sequences_least"]) == asked]
    with tempfile.NamedTemporaryFile("w", suffix=".plans") as file:
        file.write("".join(degrees_of(line) + "\n" for line in opened))
        file.flush()
        words = [program, *explain_words(report, asked), "-q", "--plans", file.name]
        done = subprocess.run(words, capture_output=True, text=True)
    require(done.returncode == 0, "explain:", done.stderr, " ".join(words))
    for line, told in zip(opened, done.stdout.splitlines(), strict=True):
        seconds, best = json.loads(told).get("ranked_seconds", math.inf), float.fromhex(line["best"])
        best = min(best, float.fromhex(report["search"]["certificate"]["threshold"]["hex"])) if best < math.inf else best
        least = max(float.fromhex(line["bound"]), min(best, float.fromhex(line["left"])))
        require(seconds >= least * (1 - 1e-12), degrees_of(line), "takes", seconds, "and was left out above", least)
    return len(opened)


def check_samples(program, samples, seed, lines, report):
    random.seed(seed)
    cut = sorted((l for l in lines if l["reason"] == "degree_bound"), key=lambda l: float.fromhex(l["bound"]))
    other = [l for l in lines if l["reason"] in ("require", "indivisible", "memory")]
    opened = [l for l in lines if l["reason"] == "opened"]
    chosen = cut[:min(10, samples)] + [l for some in (cut[10:], other, opened)
                                       for l in random.sample(some, min(samples, len(some)))]
    asked, tightest = 0, math.inf
    for line in chosen:
        name = " ".join(f"{r}={line[r]}" for r in ROLES) + f" on machine {line['machine']}:"
        alike = [l for l in lines if all(l[k] == line[k] for k in (*ROLES, "sequences_least"))]  # on machines as large
        seconds = ask(program, report, line)
        asked += 1
        bounds = [float.fromhex(l["bound"]) for l in alike if l["reason"] in ("degree_bound", "opened", "time_limit")]
        if seconds is None:
            continue
        require(bounds, name, line["reason"], "but it has a plan of", seconds, "s")
        require(seconds >= min(bounds), name, "has a plan of", seconds, "s, below its bound", min(bounds))
        if line["reason"] == "degree_bound" and len(alike) == 1:
            tightest = min(tightest, seconds / bounds[0])
        elif line["reason"] == "opened" and len(alike) == 1 and int(line["batches"]) == 1:
            # `best`: what was found, unless that is above the threshold; what was left out has bounds from `left` up
            best, left = float.fromhex(line["best"]), float.fromhex(line["left"])
            best = min(best, float.fromhex(report["search"]["certificate"]["threshold"]["hex"]))
            require(seconds >= min(best, left) * (1 - 1e-12), name, "takes", seconds, "less than", best, left)
    return asked, tightest


# ---- by another hand ----

CASE = None  # of a process


def check_report(head, report, case):
    """The files belong together and to these data files; the plans are those of their launcher, at their price."""
    import bounds, data, price
    search = report["search"]
    root = data.ROOT
    for what, of in report["program"]["data"].items():
        path = os.path.join(root, of.get("file", ""))
        if os.path.isfile(path):
            require(hashlib.sha256(open(path, "rb").read()).hexdigest() == of["sha256"], what, "is of other data:", path)
    request = report["request"]
    asked = int(request.get("sequences") or request["batch"] // request["seq"])
    require(int(head["sequences"][0][0]) == asked, "the certificate is of another batch")
    require(int(head["plans_covered"][0][0]) == search["plans_covered"] and
            int(head["plans_evaluated"][0][0]) == search["plans_evaluated"] and
            {w[0]: int(w[1]) for w in head["plans_pruned"]} == search["plans_pruned"], "the certificate counts others")
    text = [(w[1], int(w[2])) for w in head["machine"]]
    require(text == [(m["text"], m["devices"]) for m in search["certificate"]["space"]["machines"]], "other machines")
    require("data_sha256" not in head or head["data_sha256"][0][0] == report["program"]["data_sha256"], "other data")
    chip = price.read_chip(report["mesh"]["chip"])
    require(data.folded(request["chip"]) in data.folded(chip.name), "the request is of another chip")
    for plan in report["plans"]:
        if plan.get("launcher") != (case.launcher or plan.get("launcher")):
            continue  # another launcher's, which has a search of its own
        own, told = price.price(report, plan, case.program), price.rows_of_report(plan)
        found = price.differences(own, told, 1e-9)
        require(not found, "plan", plan["rank"], "is priced otherwise:", *found[:1])
        require(told["memory: total"] <= told["memory: limit"] * (1 + 1e-9), "plan", plan["rank"], "does not fit")
        laid, axes = price.plan_of(plan), plan["axes"]
        world = price.world_of(report, plan, case.program)
        laid.grid = laid.grid or None
        times = bounds.odd_times(case, world, laid) * case.asked / plan["batch"]["sequences"]
        require(abs(plan["ranked_seconds"] - times * plan["step"]["seconds"]) <= 1e-9 * plan["ranked_seconds"], "plan",
                plan["rank"], "is ranked otherwise")
        shard = bounds.stage.shard_of_plan(case.model, world.work, laid)
        pads = bounds.pads_of(case, laid, shard, plan["batch"]["sequences"])
        require(pads is not None and bounds.schedule_runs(laid) and bounds.meets(case, laid) and
                bounds.takes_degrees(case.launcher, case.model, request["seq"], axes) and
                bounds.taken(case, world.work, laid, pads), "plan", plan["rank"],
                "is none that", case.launcher or "the request", "takes")
        states = {row["tensor"]: {} for row in plan["layout"]}
        for row in plan["layout"]:
            states[row["tensor"]][row["state"]] = row["layers"]
        if case.rules is not None:
            setting = bounds.Setting(case, world, laid, bounds.Record(**{**vars(data.layout_of(plan)), "states": {}}))
            kept = {name: of for name, of in states.items() if name in data.ACTIVATIONS and setting.costs()[name].exists}
            require(any(made and all({s: n for s, n in made[name].items() if n} == of for name, of in kept.items())
                        for made in map(setting.states, case.rules)), "plan", plan["rank"], "recomputes what",
                    case.launcher, "cannot be told to")


def verify(job):
    """One line on its machines: (fault or None, how it was verified, seconds)."""
    import bounds
    line, sequences, above = job
    numbers = range(int(line["machine"]), int(line["machine"]) + int(line["machines"]))
    begun, degrees = time.time(), tuple(int(line[r]) for r in ROLES)
    reason, bound = line["reason"], math.inf if line["bound"] == "-" else float.fromhex(line["bound"])
    best = float.fromhex(line["best"]) if reason == "opened" else math.inf
    claim = above if reason == "opened" else bound  # `left` says how far the search looked; nothing rests on it
    exact = best <= above and best < math.inf  # the line names a plan within reach, which is found again
    limit = above if exact or claim == above else claim * (1 - 3e-9)
    held = limit == math.inf
    tuple_ = bounds.Tuple(CASE, numbers, degrees, sequences, limit, exact)
    verdict = tuple_.verdict()
    fault = None
    if reason in ("require", "indivisible"):
        nothing = verdict in ("require", "indivisible") and (verdict == reason or tuple_.steps == 0 and
                                                             hasattr(tuple_, "reasons"))
        fault = None if nothing else f"is said to be cut as {reason}, and is not"
        verdict = reason if nothing else verdict
    elif verdict == "believed" and tuple_.found < best * (1 - 1e-9):
        fault = f"has a plan of {tuple_.found!r} s, below its best {best!r}"
    elif verdict == "opened" and exact:
        if abs(tuple_.found - best) > 1e-9 * best and int(line["batches"]) == 1:
            fault = f"has a plan of {tuple_.found!r} s as its best, not {best!r}"
    elif verdict == "opened":
        fault = f"has a plan of {tuple_.found!r} s, below {'its bound' if not held else 'what fits'} {limit!r}"
    elif exact and verdict != "believed" and int(line["batches"]) == 1:
        fault = f"has no plan of {best!r} s"
    elif reason == "degree_bound" and verdict == "memory":
        verdict = "bound"
    return fault, verdict, tuple_.found, time.time() - begun


def begin(report, program):
    global CASE
    import bounds
    CASE = bounds.Case(report, program)


def verified(work, jobs, report, program):
    if jobs <= 1:
        yield from map(verify, work)
        return
    with multiprocessing.Pool(jobs, begin, (report, program)) as pool:
        yield from pool.imap(verify, work, chunksize=max(1, min(64, len(work) // (8 * jobs))))


def check_all(program, jobs, head, lines, report):
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    begin(report, program)
    check_report(head, report, CASE)
    require(not any(line["reason"] == "time_limit" for line in lines), "a time limit left tuples out: nothing to verify")
    above, asked = float.fromhex(head["cut_above"][0][2]), CASE.asked
    work = []
    for line in lines:
        low, high, count = (int(line[k]) for k in ("sequences_least", "sequences_most", "batches"))
        replicas = int(line["expert"]) * int(line["fsdp"]) * int(line["data"])
        mine = [low] if count == 1 else [b for b in range(low, high + 1, replicas) if b != asked]
        work += [(line, sequences, above) for sequences in mine]
    how, least = collections.Counter(), math.inf
    for (line, sequences, _), (fault, verdict, found, _) in zip(work, verified(work, jobs, report, program)):
        require(not fault, degrees_of(line), f"on machine {line['machine']}, {sequences} sequences:", fault)
        how[verdict] += int(line["machines"])
        least = min(least, found)
    if report["plans"] and not how["believed"]:
        fastest = float.fromhex(report["search"]["certificate"]["fastest"]["hex"])
        require(abs(least - fastest) <= 1e-9 * fastest, "the fastest plan of all tuples takes", least, "s, not", fastest)
    said = ", ".join(f"{how[word]} by {text}" for word, text in (
        ("indivisible", "divisibility"), ("require", "what the request and its launcher exclude"), ("memory", "memory"),
        ("bound", "a bound of another hand"), ("opened", "every plan priced again")) if how[word])
    why = {None: "free layouts, or too many settings", "jax": "free layouts, or too many settings"}.get(
        CASE.launcher, "too many settings, or a layout that is free")
    return f"; {said}; of {how.total()} tuples {how['believed']} are believed" + (f" ({why})" if how["believed"] else "")


def main():
    head, lines = read(sys.argv[1])
    report = json.load(open(sys.argv[2]))
    check_file(head, lines, report)
    text = f"certificate: {len(lines)} lines, {report['search']['plans_covered']} plans: holds"
    if "--all" in sys.argv:
        jobs = int(sys.argv[5]) if len(sys.argv) > 5 else 1
        text += check_all(sys.argv[3], jobs, head, lines, report)
    elif len(sys.argv) > 3:
        samples, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((4, 10), (5, 1)))
        asked, tightest = check_samples(sys.argv[3], samples, seed, lines, report)
        asked += check_opened(sys.argv[3], lines, report)
        text += f"; {asked} tuples planned alone"
        text += f", the tightest cut {100 * (tightest - 1):.3g}% above its bound" if tightest < math.inf else ""
    print(text)


try:
    if __name__ == "__main__":
        main()
except (KeyError, IndexError, ValueError, StopIteration) as error:
    sys.exit(f"certificate: cannot be read: {error!r}")
