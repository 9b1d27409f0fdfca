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
import collections, hashlib, heapq, json, math, multiprocessing, os, random, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import asked as asked_py
import counts, figures
from asked import TIE
from lines import REASONS, Line, read_head, texts_of


def require(truth, *what):
    if not truth:
        sys.exit("certificate: " + " ".join(str(w) for w in what))


class Group:
    """Machines of as many devices, whose lines stand together: each tuple of degrees and range of batches once."""

    def __init__(self, line, space, asked, tolerance):
        self.first, self.end = line.machine, line.machine + line.machines
        self.machines = space["machines"][self.first:self.end]
        require(len(self.machines) == line.machines and len({m["devices"] for m in self.machines}) == 1, line,
                "its machines are none that belong together")
        self.switched = all(axis["kind"] == "switch" for axis in self.machines[0]["axes"])
        self.todo, totals = {}, [0] * len(self.machines)
        meshes = [[axis["size"] for axis in machine["axes"]] for machine in self.machines]
        found = counts.degree_tuples(space["roles"], meshes)
        for degrees, ways in found:
            self.todo[degrees, asked] = asked, 1, sum(ways)
            totals = [total + more for total, more in zip(totals, ways)]
            if tolerance > 0:
                low, high, count = counts.batches(asked, tolerance, degrees[1] * degrees[3] * degrees[4])
                if count:
                    self.todo[degrees, low] = high, count, sum(ways)
        self.tuples = len(found) * len(self.machines)
        for machine, sizes, total in zip(self.machines, meshes, totals):
            ways = [math.prod(math.comb(e + len(space["roles"]) - 1, e) for e in counts.primes(s).values()) for s in sizes]
            require(ways == [a["factorizations"] for a in machine["axes"]], "factorizations of an axis of", machine["text"])
            require(math.prod(ways) == machine["factorizations"] == total and machine["degree_tuples"] == len(found),
                    "placements do not add up to the factorizations of", machine["text"])

    def check(self, line, knobs, asked, all_orders):
        """The counts of a line are those of its rules."""
        key = line.degrees, line.low
        require(key in self.todo, line, "is no tuple of the space, or stands twice")
        high, count, ways = self.todo.pop(key)
        require((line.high, line.batches) == (high, count), line, "other batches")
        mine = counts.of_line(line.low, high, count, line.replicas(), asked)
        settings = counts.other_knobs(line.degrees, self.switched, knobs) * sum(
            counts.quotients(-(-b // line.replicas())) for b in mine)
        orders = math.factorial(sum(d > 1 for d in line.degrees)) if all_orders else 1
        require(line.placements == ways, line, "placements are", ways, "not", line.placements)
        require(line.knobs == settings, line, "knobs are", settings, "not", line.knobs)
        require(line.orders == orders, line, "orders are", orders, "not", line.orders)
        require(line.plans == ways * settings * orders, line, "plans are not placements x knobs x orders")


def check_file(head, lines, report, asked):
    """Counts, sums and thresholds; the lines are read once and not kept."""
    search, certificate = report["search"], report["search"]["certificate"]
    space, request, sequences = certificate["space"], report["request"], asked.sequences()
    threshold = float.fromhex(certificate["threshold"]["hex"])
    above = float.fromhex(head["cut_above"][0][2])
    brute = request["brute_force"]
    all_orders = request.get("nesting") == "all"
    require(brute or above == threshold * (1 + 1e-12), "the threshold is not the report's")
    require(int(head["sequences"][0][0]) == sequences, "the certificate is of another batch")
    sums, evaluated, covered, tuples, group = collections.Counter(dict.fromkeys(REASONS, 0)), 0, 0, 0, None
    closest, beyond, best, number = [], math.inf, math.inf, 0
    for number, line in enumerate(lines, 1):
        if group is None or line.machine != group.first:
            require(not group or not group.todo, "tuples are missing, such as", next(iter(group.todo), "") if group else "")
            require(line.machine == (group.end if group else 0), line, "is out of order")
            group = Group(line, space, sequences, request["batch_tolerance"])
            tuples += group.tuples
        require(line.machines == len(group.machines), line, "other machines")
        group.check(line, space["knobs"], sequences, all_orders)
        covered += line.plans
        if line.reason == "opened":
            require(line.evaluated + sum(line.counts) == line.plans, line, "evaluated and cut are not its plans")
            evaluated += line.evaluated
            sums.update(dict(zip(REASONS, line.counts)))
            require(line.best >= line.bound, line, "has a plan below its bound")
            require(brute or line.counts[6] or line.left > above or line.left == math.inf, line,
                    "leaves out what is not above the threshold")
            best, beyond = min(best, line.best), min(beyond, line.left)
        else:
            sums[line.reason] += line.plans
            require(line.reason in ("require", "indivisible", "memory", "degree_bound", "time_limit"), line, "reason")
            require(line.reason != "degree_bound" or line.bound > above, line, "cut at", line.bound, "not above", above)
            if line.reason in ("degree_bound", "time_limit"):
                closest.append(line.bound)
                closest = heapq.nsmallest(10, closest) if len(closest) > 1000 else closest
    require(group and not group.todo, "tuples are missing, such as", next(iter(group.todo), None) if group else "all")
    require(group.end == len(space["machines"]), "machines are missing")
    require(tuples == search["degree_tuples"], "another number of degree tuples")
    closest = sorted(closest)[:10]
    require([float.fromhex(c["hex"]) for c in certificate["closest_cut_tuples"]] == closest,
            "the closest tuples of the report are not the file's")
    beyond = min(closest[:1] + [beyond])
    require(beyond == math.inf or beyond == float.fromhex(certificate["least_bound"]["hex"]), "the least bound is", beyond)
    require(covered == search["plans_covered"], "plans add up to", covered)
    require(evaluated == search["plans_evaluated"], "evaluated plans add up to", evaluated)
    require(sums == search["plans_pruned"], "cut plans add up to", dict(sums))
    require(evaluated + sums.total() == covered, "covered is not evaluated + cut")
    check_order(report, certificate, threshold, best)
    return number


def check_order(report, certificate, threshold, best):
    """The k best stand in the order that is claimed, and where there are fewer nothing was cut for being slower."""
    kinds = any("kinds" in p for p in report["plans"])  # rows that differ in kind have searches of their own
    top = 1 if kinds or "top" not in report["request"] else report["request"]["top"]
    ranked = [p["ranked_seconds"] for p in report["plans"]][:1 if kinds else None]
    # Rows that are tied with the fastest stand in an order of their own; all the others stand by time.
    fastest = float.fromhex(certificate["fastest"]["hex"]) if ranked else math.inf
    later = [seconds for seconds in ranked if seconds > fastest * (1 + TIE)]
    require(ranked[len(ranked) - len(later):] == sorted(later), "plans that are not tied do not stand by time")
    require(not ranked or (fastest == best and min(ranked) >= fastest), "the best plan is not the report's")
    several = "," in report["request"].get("for", "")  # the certificate is of one launcher, whose own k-th may come later
    limited = report["search"]["proof"] == "gap"
    require(len(ranked) <= top and (len(ranked) == top or threshold == math.inf or limited), "fewer than the", top,
            "best, and what is slower was cut")
    require(len(ranked) < top or max(ranked) == threshold or (max(ranked) < threshold and
            (several or threshold <= fastest * (1 + TIE) * (1 + 1e-15))),
            "the k-th best is not the threshold")


def explain_words(report, sequences):
    """The request, of one batch, for plans that are asked for alone."""
    request = dict(report["request"])
    for key in ("batch", "require", "top", "variants", "brute_force"):
        request.pop(key, None)
    own = report["plans"][0].get("options", {}) if report["plans"] else {}
    if report["plans"]:  # of several launchers the certificate is of the one that won
        request["for"] = report["plans"][0].get("launcher", "any")
    request.update(sequences=sequences, batch_tolerance=0)
    space = report["search"]["certificate"]["space"]["offload"].split(":")[0]
    request["offload"] = own.get("offload", space)  # of the search, not asked
    words = ["explain"] + (["--require", report["request"]["require"]] if report["request"].get("require") else [])
    for key, value in request.items():
        if value is not None and value is not False and value != "":
            words += ["--" + key.replace("_", "-")] + ([] if value is True else [str(value)])
    return words


def ask(program, report, line, asked):
    """The best plan of one tuple and batch, whatever machine of the request it is on, and how long that takes as ranked;
    None: none. An idle shape is priced at the scale of the machine asked for, so that it cannot be asked for alone."""
    sequences = line.low if line.batches == 1 else line.high
    words = [program, *explain_words(report, sequences), "--format", "json", "-q", "--plan", line.words()]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode in (2, 3):  # 2: more replicas than sequences and the like, or what --require contradicts
        require(done.returncode == 3 or "replicas" in done.stderr or "--require" in done.stderr or "--plan" in done.stderr,
                "explain:", done.stderr, " ".join(words))
        return None
    require(done.returncode in (0, 4), "explain:", done.stderr, " ".join(words))
    plans = json.loads(done.stdout)["plans"]  # 4: a layout was left open; what was found is a plan all the same
    if plans and plans[0]["memory"]["total_bytes"] > plans[0]["memory"]["limit_bytes"]:
        return None  # explained as if there were room
    return plans[0]["ranked_seconds"] * asked / sequences if plans else None  # with what is odd


def check_opened(program, lines, report, asked):
    """Every opened tuple of the machine and batch that were asked for, alone: it has no plan below its bound, nor one
    that is faster than its best and than all that it left out."""
    machines = report["search"]["certificate"]["space"]["machines"]
    if sum(machine["devices"] == machines[0]["devices"] for machine in machines) > 1:
        return 0  # nobody says on which of them a plan is the best
    opened = [l for l in lines if l.reason == "opened" and l.machine == 0 and l.machines == 1 and l.low == asked]
    with tempfile.NamedTemporaryFile("w", suffix=".plans") as file:
        file.write("".join(line.words() + "\n" for line in opened))
        file.flush()
        words = [program, *explain_words(report, asked), "-q", "--plans", file.name]
        done = subprocess.run(words, capture_output=True, text=True)
    require(done.returncode == 0, "explain:", done.stderr, " ".join(words))
    threshold = float.fromhex(report["search"]["certificate"]["threshold"]["hex"])
    for line, told in zip(opened, done.stdout.splitlines(), strict=True):
        seconds = json.loads(told).get("ranked_seconds", math.inf)
        best = min(line.best, threshold) if line.best < math.inf else line.best
        least = max(line.bound, min(best, line.left))
        require(seconds >= least * (1 - 1e-12), line.words(), "takes", seconds, "and was left out above", least)
    return len(opened)


def check_samples(program, samples, seed, lines, report, sequences):
    random.seed(seed)
    cut = sorted((l for l in lines if l.reason == "degree_bound"), key=lambda l: l.bound)
    other = [l for l in lines if l.reason in ("require", "indivisible", "memory")]
    opened = [l for l in lines if l.reason == "opened"]
    chosen = cut[:min(10, samples)] + [l for some in (cut[10:], other, opened)
                                       for l in random.sample(some, min(samples, len(some)))]
    asked, tightest = 0, math.inf
    threshold = float.fromhex(report["search"]["certificate"]["threshold"]["hex"])
    for line in chosen:
        alike = [l for l in lines if l.degrees == line.degrees and l.low == line.low]  # on machines as large
        seconds = ask(program, report, line, sequences)
        asked += 1
        bounds = [l.bound for l in alike if l.reason in ("degree_bound", "opened", "time_limit")]
        if seconds is None:
            continue
        require(bounds, line, line.reason, "but it has a plan of", seconds, "s")
        require(seconds >= min(bounds), line, "has a plan of", seconds, "s, below its bound", min(bounds))
        if line.reason == "degree_bound" and len(alike) == 1:
            tightest = min(tightest, seconds / bounds[0])
        elif line.reason == "opened" and len(alike) == 1 and line.batches == 1:
            # `best`: what was found, unless that is above the threshold; what was left out has bounds from `left` up
            require(seconds >= min(line.best, threshold, line.left) * (1 - 1e-12), line, "takes", seconds, "less than",
                    line.best, line.left)
    return asked, tightest


# ---- by another hand ----

CASES = ()  # of a process: that of the certificate, then those of the other launchers that were asked for


def check_report(head, report, case, asked):
    """The files belong together and to these data files; the plans are those of their launcher, at their price."""
    import bounds, data, price
    search = report["search"]
    for what, of in report["program"]["data"].items():
        path = os.path.join(data.ROOT, of.get("file", ""))
        if os.path.isfile(path):
            require(hashlib.sha256(open(path, "rb").read()).hexdigest() == of["sha256"], what, "is of other data:", path)
    require(int(head["plans_covered"][0][0]) == search["plans_covered"] and
            int(head["plans_evaluated"][0][0]) == search["plans_evaluated"] and
            {w[0]: int(w[1]) for w in head["plans_pruned"]} == search["plans_pruned"], "the certificate counts others")
    text = [(w[1], int(w[2])) for w in head["machine"]]
    require(text == [(m["text"], m["devices"]) for m in search["certificate"]["space"]["machines"]], "other machines")
    require("data_sha256" not in head or head["data_sha256"][0][0] == report["program"]["data_sha256"], "other data")
    space = search["certificate"]["space"]
    require(space["roles"] == asked.roles(case.launcher, case.model), "roles are not those of the request:", space["roles"])
    knobs = asked.knobs(case.launcher, case.model, case.world(0, case.asked).profile, case.offload)
    require(all(space["knobs"][key] == value for key, value in knobs.items()), "knobs are not those of the request:", knobs)
    for plan in report["plans"]:
        name = "plan %d:" % plan["rank"]
        laid, world = price.plan_of(plan), price.world_of(report, plan, case.program)
        laid.grid = laid.grid or None
        shard = bounds.stage.shard_of_plan(case.model, world.work, laid)
        figures.check_rates(asked, plan, require, name)
        figures.check_words(asked, plan, require, name)
        figures.check_chances(world, plan, shard, require, name)
        own, told = price.price(report, plan, case.program), price.rows_of_report(plan)
        found = price.differences(own, told, 1e-9)
        require(not found, name, "is priced otherwise:", *found[:1])
        require(told["memory: total"] <= told["memory: limit"] * (1 + 1e-9), name, "does not fit")
        times = bounds.odd_times(case, world, laid) * case.asked / plan["batch"]["sequences"]
        require(abs(plan["ranked_seconds"] - times * plan["step"]["seconds"]) <= 1e-9 * plan["ranked_seconds"], name,
                "is ranked otherwise")
        if plan.get("launcher") == (case.launcher or plan.get("launcher")):  # others have a search of their own
            check_taken(case, world, plan, laid, shard, name)


def check_taken(case, world, plan, laid, shard, name):
    """The launcher takes the plan, and can be told what it recomputes."""
    import bounds, data
    pads = bounds.pads_of(case, laid, shard, plan["batch"]["sequences"])
    require(pads is not None and bounds.schedule_runs(laid) and bounds.meets(case, laid) and
            bounds.takes_degrees(case.launcher, case.model, case.seq, plan["axes"]) and
            bounds.taken(case, world.work, laid, pads), name, "is none that", case.launcher or "the request", "takes")
    states = {row["tensor"]: {} for row in plan["layout"]}
    for row in plan["layout"]:
        states[row["tensor"]][row["state"]] = row["layers"]
    if case.rules is not None:
        setting = bounds.Setting(case, world, laid, bounds.Record(**{**vars(data.layout_of(plan)), "states": {}}))
        kept = {name: of for name, of in states.items() if name in data.ACTIVATIONS and setting.costs()[name].exists}
        require(any(made and all({s: n for s, n in made[name].items() if n} == of for name, of in kept.items())
                    for made in map(setting.states, case.rules)), name, "recomputes what", case.launcher,
                "cannot be told to")


def verify_batch(line, sequences, above):
    """One batch of a line on its machines: (fault or None, how it was verified, seconds of the best plan)."""
    import bounds
    case, reason, best = CASES[0], line.reason, line.best
    claim = above if reason == "opened" else line.bound  # `left` says how far the search looked; nothing rests on it
    exact = best <= above and best < math.inf  # the line names a plan within reach, which is found again
    limit = above if exact or claim == above else claim * (1 - 3e-9)
    tuple_ = bounds.Tuple(case, line.numbers(), line.degrees, sequences, limit, exact)
    verdict, found, fault = tuple_.verdict(), tuple_.found, None
    if reason in ("require", "indivisible"):
        nothing = verdict in ("require", "indivisible") and (verdict == reason or tuple_.steps == 0 and
                                                             hasattr(tuple_, "reasons"))
        fault = None if nothing else f"is said to be cut as {reason}, and is not"
        verdict = reason if nothing else verdict
    elif verdict == "believed" and found < best * (1 - 1e-9):
        fault = f"has a plan of {found!r} s, below its best {best!r}"
    elif verdict == "opened" and exact:
        if abs(found - best) > 1e-9 * best and line.batches == 1:
            fault = f"has a plan of {found!r} s as its best, not {best!r}"
    elif verdict == "opened":
        fault = f"has a plan of {found!r} s, below {'its bound' if limit < math.inf else 'what fits'} {limit!r}"
    elif exact and verdict != "believed" and line.batches == 1:
        fault = f"has no plan of {best!r} s"
    elif reason == "degree_bound" and verdict == "memory":
        verdict = "bound"
    return fault, verdict, found


def verify(text):
    """A line as it stands: (fault or None, tuples by how they were verified, seconds of the best plan)."""
    import bounds
    line, (case, *others) = Line(text), CASES
    how, least = collections.Counter(), math.inf
    for sequences in counts.of_line(line.low, line.high, line.batches, line.replicas(), case.asked):
        fault, verdict, found = verify_batch(line, sequences, case.above)
        if fault:
            return f"{line.words()} on machine {line.machine}, {sequences} sequences: {fault}", how, least
        how[verdict] += line.machines
        least = min(least, found)
        for other in others:  # which have searches of their own: none of their plans is faster than the best of all
            one = bounds.Tuple(other, line.numbers(), line.degrees, sequences, other.above, False)
            verdict = one.verdict()
            if verdict == "opened":
                return f"{line.words()}, {sequences} sequences: {other.launcher} has a plan of {one.found!r} s", how, least
            how["others", verdict == "believed"] += line.machines
    return None, how, least


def begin(report, program, above):
    """The cases of a process. Of other launchers every plan that is faster than the fastest would be a fault; where a
    free layout is the answer since no launcher has a plan, any plan would be."""
    global CASES
    import bounds
    asked = asked_py.Asked(report)
    first = bounds.Case(report, program, asked)
    fastest = float.fromhex(report["search"]["certificate"]["fastest"]["hex"]) if report["plans"] else math.inf
    CASES = [first] + [bounds.Case(report, program, asked, one) for one in asked.launchers if one != first.launcher]
    for case in CASES:
        case.above = above if case is first else fastest * (1 - 1e-9) if first.launcher else math.inf


def verified(texts, jobs, report, program, above):
    if jobs <= 1:
        yield from map(verify, texts)
        return
    with multiprocessing.Pool(jobs, begin, (report, program, above)) as pool:
        yield from pool.imap(verify, texts, chunksize=16)


def check_all(program, jobs, head, path, report, asked):
    sys.dont_write_bytecode = True
    above = float.fromhex(head["cut_above"][0][2])
    require(report["search"]["proof"] == "optimal", "the report claims no proof but a gap: nothing to verify")
    begin(report, program, above)
    check_report(head, report, CASES[0], asked)
    how, least = collections.Counter(), math.inf
    for fault, verdicts, found in verified(texts_of(path), jobs, report, program, above):
        require(not fault, fault)
        how.update(verdicts)
        least = min(least, found)
    others, open_ = how.pop(("others", False), 0), how.pop(("others", True), 0)
    if report["plans"] and not how["believed"]:
        fastest = float.fromhex(report["search"]["certificate"]["fastest"]["hex"])
        require(abs(least - fastest) <= 1e-9 * fastest, "the fastest plan of all tuples takes", least, "s, not", fastest)
    said = ", ".join(f"{how[word]} by {text}" for word, text in (
        ("indivisible", "divisibility"), ("require", "what the request and its launcher exclude"), ("memory", "memory"),
        ("bound", "a bound of another hand"), ("opened", "every plan priced again")) if how[word])
    why = {None: "free layouts, or too many settings", "jax": "free layouts, or too many settings"}.get(
        CASES[0].launcher, "too many settings, or a layout that is free")
    said = f"; {said}; of {how.total()} tuples {how['believed']} are believed" + (f" ({why})" if how["believed"] else "")
    return said + (f"; of other launchers' {others + open_} {open_} are believed, and none is faster"
                   if others + open_ else "")


def main():
    path, report = sys.argv[1], json.load(open(sys.argv[2]))
    head, asked = read_head(path), asked_py.Asked(report)
    figures.check_proof(report, head, require)
    asked_py.check_asked(asked, report, require)
    count = check_file(head, map(Line, texts_of(path)), report, asked)
    text = f"certificate: {count} lines, {report['search']['plans_covered']} plans: holds"
    if "--all" in sys.argv:
        text += check_all(sys.argv[3], int(sys.argv[5]) if len(sys.argv) > 5 else 1, head, path, report, asked)
    elif len(sys.argv) > 3:
        samples, seed = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((4, 10), (5, 1)))
        lines = list(map(Line, texts_of(path)))
        planned, tightest = check_samples(sys.argv[3], samples, seed, lines, report, asked.sequences())
        planned += check_opened(sys.argv[3], lines, report, asked.sequences())
        text += f"; {planned} tuples planned alone"
        text += f", the tightest cut {100 * (tightest - 1):.3g}% above its bound" if tightest < math.inf else ""
    print(text)


try:
    if __name__ == "__main__":
        main()
except (KeyError, IndexError, ValueError, StopIteration) as error:
    sys.exit(f"certificate: cannot be read: {error!r}")
