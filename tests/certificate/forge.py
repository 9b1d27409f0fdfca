#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Consistent forgeries of certificates, each caught by `check.py --all` or harmless for a reason that is given.

    forge.py SHARDOPT [quick | NAME...]   quick: one request, for a test of half a minute; NAME: of these requests alone

A forgery changes a line, and whatever else has to change so that the files agree with each other: counts of the head
and of the report, thresholds, the closest cuts, the plans. What is named harmless leaves every claim that a reader can
draw from the certificate true (docs/search.md, "Forgeries")."""
import copy, json, math, os, re, subprocess, sys, tempfile

import check as check_py
import counts as counts_py

PROGRAM = sys.argv[1]
CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check.py")
ROLES = ["tensor", "expert", "sequence", "fsdp", "data", "pipeline"]
REASONS = ["require", "indivisible", "equal", "memory", "degree_bound", "knob_bound", "time_limit"]
REQUESTS = {
    "dense, torus": "--model 8b --chip v5p --slice 2x2x4 --batch 256Ki --top 3",
    "dense, GPUs": "--model llama3.2-3b --chip h100 --nodes 1 --batch 256Ki --for megatron --top 3",
    "mixture, GPUs": "--model qwen1.5-moe-a2.7b --chip h100 --nodes 1 --batch 128Ki --for torchtitan --top 3",
    "mixture, torus": "--model deepseek-v2-lite --chip v5p --slice 2x2x2 --batch 128Ki --for maxtext --top 3",
    "long context": "--model 8b --chip v5p --slice 2x2x4 --seq 131072 --sequences 8 --top 3",
    "DeepSpeed, offload": "--model 8b --chip a100-40g --nodes 1 --batch 256Ki --for deepspeed --offload all --top 3",
    "LoRA": "--model 8b --chip h100 --nodes 1 --lora 16 --sequences 64 --seq 4096 --top 2",
    "VLM, tight memory": "--model qwen3-vl-8b --chip h100 --nodes 1 --batch 256Ki --hbm-reserve 0.3 --for megatron --top 3",
}


class Files:
    """A certificate and its report, to be changed together."""

    def __init__(self, cert, report):
        self.head, self.rows, self.columns = [], [], None
        for line in open(cert, encoding="utf-8"):
            words = line.rstrip("\n").split("\t")
            if line.startswith("# "):
                self.head.append(words)
            elif self.columns is None:
                self.columns = words
            else:
                self.rows.append(dict(zip(self.columns, words)))
        self.report = json.load(open(report, encoding="utf-8"))

    def counts(self):
        """Sums of the lines, into the head and the report."""
        search, sums = self.report["search"], dict.fromkeys(REASONS, 0)
        evaluated = 0
        for row in self.rows:
            if row["reason"] == "opened":
                evaluated += int(row["evaluated"])
                for reason in REASONS:
                    sums[reason] += int(row[reason])
            else:
                sums[row["reason"]] += int(row["plans"])
        covered = sum(int(row["plans"]) for row in self.rows)
        search.update(plans_covered=covered, plans_evaluated=evaluated, plans_pruned=sums)
        search["certificate"]["sum"]["evaluated_and_pruned"] = covered
        for words in self.head:
            if words[0] == "# plans_pruned":
                words[2] = str(sums[words[1]])
            elif words[0] in ("# plans_covered", "# plans_evaluated"):
                words[1] = str(covered if words[0] == "# plans_covered" else evaluated)

    def bounds(self):
        """The closest cuts and the least bound."""
        certificate = self.report["search"]["certificate"]
        whole = sorted(float.fromhex(row["bound"]) for row in self.rows if row["reason"] == "degree_bound")
        kept = certificate["closest_cut_tuples"]
        while len(kept) < min(10, len(whole)):
            kept.append(copy.deepcopy(kept[-1]) if kept else {})
        del kept[min(10, len(whole)):]
        for one, bound in zip(kept, whole):
            one.update(seconds=bound, hex=bound.hex())
        left = [float.fromhex(row["left"]) for row in self.rows if row["reason"] == "opened"]
        least = min(whole[:1] + left, default=math.inf)
        if least < math.inf and "least_bound" in certificate:
            certificate["least_bound"].update(seconds=least, hex=least.hex())

    def best(self):
        """Thresholds of the plans that are left, and bounds that would be below them."""
        certificate, plans = self.report["search"]["certificate"], self.report["plans"]
        for rank, plan in enumerate(plans):
            plan["rank"] = rank + 1
        own = sorted(plan["ranked_seconds"] for plan in plans)
        if "top" in self.report["request"]:
            self.report["request"]["top"] = len(own)
        fastest = min(float.fromhex(row["best"]) for row in self.rows if row["reason"] == "opened")
        threshold = max(own[-1], fastest * (1 + check_py.TIE))
        certificate["fastest"].update(seconds=fastest, hex=fastest.hex())
        certificate["threshold"].update(seconds=threshold, hex=threshold.hex())
        certificate["kth_best"].update(rank=len(own), seconds=own[-1], hex=own[-1].hex())
        above = threshold * (1 + 1e-12)
        for words in self.head:
            if words[0] in ("# threshold", "# cut_above"):
                value = threshold if words[0] == "# threshold" else above
                words[2:4] = [repr(value), value.hex()]
        for row in self.rows:
            if row["reason"] == "degree_bound" and float.fromhex(row["bound"]) <= above:
                row["bound"] = (above * 1.0001).hex()
            if row["reason"] == "opened" and float.fromhex(row["left"]) <= above:
                row["left"] = (above * 1.0001).hex()
        self.bounds()

    def write(self, folder):
        paths = [os.path.join(folder, "forged." + end) for end in ("tsv", "json")]
        with open(paths[0], "w", encoding="utf-8") as out:
            for words in [*self.head, self.columns] + [[row[c] for c in self.columns if c in row] for row in self.rows]:
                out.write("\t".join(words) + "\n")
        with open(paths[1], "w", encoding="utf-8") as out:
            json.dump(self.report, out)
        return paths


def opened(files):
    return [row for row in files.rows if row["reason"] == "opened"]


def optimum(files):
    return min(opened(files), key=lambda row: float.fromhex(row["best"]))


def relabelled(reason):
    """The best tuple cut for a reason, the runner-up printed as the best."""
    def forge(files):
        row = optimum(files)
        others = [plan for plan in files.report["plans"] if any(plan["axes"][r] != int(row[r]) for r in ROLES)]
        if not others:
            return False
        files.report["plans"] = others
        seconds = float.fromhex(row["best"])
        row["reason"], row["bound"] = reason, (2 * seconds).hex() if reason == "degree_bound" else "-"
        for column in files.columns[files.columns.index("reason") + 1:]:
            row.pop(column)
        files.counts()
        files.best()
        return True
    return forge


def hidden(files):
    """The best tuple stays opened, its best plan counted as cut by knobs."""
    row = optimum(files)
    others = [plan for plan in files.report["plans"] if any(plan["axes"][r] != int(row[r]) for r in ROLES)]
    if not others:
        return False
    files.report["plans"], row["best"] = others, "inf"
    row["knob_bound"] = str(int(row["knob_bound"]) + int(row["evaluated"]))
    row["evaluated"] = "0"
    files.counts()
    files.best()
    return True


def scaled(times):
    """Every bound of what was cut, so much higher."""
    def forge(files):
        for row in files.rows:
            if row["reason"] == "degree_bound":
                row["bound"] = (times * float.fromhex(row["bound"])).hex()
        files.bounds()
        return any(row["reason"] == "degree_bound" for row in files.rows)
    return forge


def farther(times):
    """`left` and `best` of every opened tuple without a plan within reach, so much higher."""
    def forge(files):
        above, changed = float.fromhex(next(w for w in files.head if w[0] == "# cut_above")[3]), False
        for row in opened(files):
            for column in ("left", "best"):
                value = float.fromhex(row[column])
                if above < value < math.inf and float.fromhex(row["best"]) > above:
                    row[column], changed = (times * value).hex(), True
        files.bounds()
        return changed
    return forge


def moved(files):
    """Of an opened tuple, counts that move from one reason to another."""
    row = next((row for row in opened(files) if int(row["knob_bound"]) > 0), None)
    if row:
        row["equal"], row["knob_bound"] = str(int(row["equal"]) + int(row["knob_bound"])), "0"
        files.counts()
    return row is not None


def cut_as_memory(files):
    """A tuple that is slow and has a plan relabelled: nothing of it fits."""
    rows = [row for row in files.rows if row["reason"] == "degree_bound" and row["machine"] == "0" and
            row["machines"] == row["batches"] == "1"]
    if not rows:
        return False
    with tempfile.NamedTemporaryFile("w", suffix=".plans") as file:
        file.write("".join(" ".join(f"{role}={row[role]}" for role in ROLES) + "\n" for row in rows))
        file.flush()
        words = check_py.explain_words(files.report, int(rows[0]["sequences_least"]))
        done = subprocess.run([PROGRAM, *words, "-q", "--plans", file.name], capture_output=True, text=True, check=True)
    row = next((row for row, told in zip(rows, done.stdout.splitlines()) if "error" not in json.loads(told)), None)
    if row:
        row["reason"], row["bound"] = "memory", "-"
        files.counts()
        files.bounds()
    return row is not None


def twice(files):
    files.rows.append(dict(files.rows[-1]))
    files.counts()
    return True


def dropped(files):
    files.rows.remove(optimum(files))
    files.report["search"]["degree_tuples"] -= 1
    files.counts()
    return True


def another_request(files):
    files.report["request"]["seq"] //= 2
    files.report["request"]["batch"] //= 2
    return True


def another_chip(files):
    files.report["request"]["chip"] = "v5e" if "slice" in files.report["request"] else "b200"
    return True


def refused(files):
    """Plan 1 keeps its weights from forward on, or has ZeRO-2: what its launcher has no words for."""
    knobs = files.report["plans"][0]["knobs"]
    knobs["zero_stage"], knobs["regather"] = 2, False
    return True


def cheaper(files):
    """Plan 1 recomputes nothing, at a time of its own."""
    plan = files.report["plans"][0]
    for row in plan["layout"]:
        row["state"] = "saved"
    return len({(row["tensor"]) for row in plan["layout"]}) > 0 and plan["knobs"]["remat"] != "none"


TRAINING = ("seconds", "chip_hours", "cost_usd", "reserved_cost_usd")


def faster(files):
    """All times of plan 1 and of its tuple a hundredth less."""
    row, plan = optimum(files), files.report["plans"][0]
    own = next((row for row in opened(files) if all(plan["axes"][r] == int(row[r]) for r in ROLES)), row)
    plan["ranked_seconds"] *= 0.99
    for of, keys in ((plan["step"], ("seconds", "likely_low_seconds", "likely_high_seconds")),
                     (plan["training"], TRAINING), (plan["training"]["failures"], TRAINING)):
        of.update({key: of[key] * 0.99 for key in keys if of.get(key)})
    for key in ("tokens_per_second_per_chip", "mfu", "mfu_full_attention"):
        plan[key] /= 0.99
    for launch in plan["launch"]:
        launch["default_seconds"] = plan["step"]["seconds"]
    own["best"] = plan["ranked_seconds"].hex()
    own["bound"] = (0.98 * float.fromhex(own["bound"])).hex()
    files.best()
    return True


def other_data(files):
    files.report["program"]["data"]["chip"]["sha256"] = "0" * 64
    return True


# ---- of another space ----

def role_left_out(files):
    """The role of the fewest plans: its lines, factorizations and plans dropped."""
    space, search = files.report["search"]["certificate"]["space"], files.report["search"]
    best = optimum(files)
    role = next((role for role in ("sequence", "fsdp", "data", "pipeline") if role in space["roles"] and best[role] == "1"),
                None) or "sequence"
    space["roles"].remove(role)
    files.rows = [row for row in files.rows if row[role] == "1"]
    files.report["plans"] = [plan for plan in files.report["plans"] if plan["axes"][role] == 1]
    for machine in space["machines"]:
        found = counts_py.degree_tuples(space["roles"], [[axis["size"] for axis in machine["axes"]]])
        machine.update(degree_tuples=len(found), factorizations=sum(ways[0] for _, ways in found))
        for axis in machine["axes"]:
            axis["factorizations"] = len(counts_py.degree_tuples(space["roles"], [[axis["size"]]]))
    search["degree_tuples"] = sum(machine["degree_tuples"] for machine in space["machines"])
    files.counts()
    if not files.report["plans"] or not opened(files):
        return False
    files.best()
    return True


def searched(words, request, without=(), program=None, chips=None):
    """Another search, shown as this one: words of the command, and what the request is said to be. What is named in
    `without` and None in `request` is left out."""
    def forge(files, asked, folder):
        kept = re.sub("|".join(rf"--{name} \S+" for name in without) or "$^", "", asked)
        if chips and not any(f"--chip {chip} " in asked for chip in chips):
            return None
        paths = plan(f"{kept} {words}", folder, "other")
        if not paths:
            return None
        other = Files(*paths)
        for key, value in request.items():
            value = files.report["request"].get(key) if value is SAME else value
            other.report["request"].pop(key, None)
            if value is not None:
                other.report["request"][key] = value
        if program:
            other.report["program"].update({key: files.report["program"][key] for key in program})
        return other
    return forge


SAME = object()  # as the true report has it


def asked_otherwise(**request):
    """The request is said to be wider than what was searched."""
    def forge(files):
        own = files.report["request"]
        if all(own.get(key) == value for key, value in request.items()) or ("nodes" in request and "nodes" not in own):
            return False
        own.update(request)
        return True
    return forge


def idle_claimed(files):
    """Searched without idle chips, said to be with them."""
    files.report["request"]["max_idle"] = 0.6
    return len(check_py.asked_py.Asked(files.report).idle()) >= len(files.report["search"]["certificate"]["space"]["machines"])


def offload_claimed(files):
    """Searched without the host, said to be with it, in the space too."""
    space = files.report["search"]["certificate"]["space"]
    if space["offload"].startswith("all"):
        return False
    files.report["request"]["offload"] = "all"
    space["offload"] = "all: activations and the optimizer's state may lie on the host, where it is known"
    return True


# ---- figures ----

def figure(*path, times=None, to=None):
    """A figure of the report, so many times as high or another; of plan 1 where the path begins with plans."""
    def forge(files):
        at = files.report
        for key in path[:-1]:
            at = at.get(key) if isinstance(at, dict) else at[key] if len(at) > key else None
            if at is None:
                return False
        value = at.get(path[-1])
        if value is None or isinstance(value, bool):
            return False
        at[path[-1]] = to(value) if callable(to) else to if to is not None else value * times
        return at[path[-1]] != value
    return forge


def proof_of_a_gap(files):
    """The proof is a gap of a tenth, with its bound."""
    search = files.report["search"]
    slowest = max(plan["ranked_seconds"] for plan in files.report["plans"])
    search.update(proof="gap", gap=0.1, best_bound_seconds=0.9 * slowest)
    return True


CLAIMS = "a bound claims that no plan is below it, and none is: the claim was verified at the value that stands there"
LEFT = "no plan of the tuple is within the threshold, which was verified; of what was evaluated above it nothing is said"
COUNTS = "how an opened tuple's plans divide over reasons supports no claim: its sum is recomputed, its best found again"
ORDER = "time, chip hours and cost order plans alike, since chips that are allocated are paid for"
FORGERIES = [*((f"the optimum relabelled {reason}", relabelled(reason), None)
               for reason in ("require", "indivisible", "memory", "degree_bound")),
             ("the optimum counted as cut by knobs", hidden, None), ("bounds raised by 0.1%", scaled(1.001), CLAIMS),
             ("bounds 3 times as high", scaled(3), None), ("left and best 0.1% higher", farther(1.001), LEFT),
             ("left and best 3 times as high", farther(3), LEFT), ("counts moved between reasons", moved, COUNTS),
             ("a slow tuple that fits relabelled memory", cut_as_memory, None), ("a tuple twice", twice, None),
             ("a tuple dropped", dropped, None), ("a report of another request", another_request, None),
             ("a report of another chip", another_chip, None), ("a plan that its launcher refuses", refused, None),
             ("a plan that recomputes nothing", cheaper, None), ("a plan a hundredth faster", faster, None),
             ("other data files", other_data, None),
             ("a role left out", role_left_out, None),
             ("other schedules", searched("--schedules gpipe,1f1b", {"schedules": "launchable"}), None),
             ("one launcher of two", searched("--for torchtitan", {"for": "megatron,torchtitan", "nesting": None,
                                                                    "stack": None}, ["for"], chips=["h100"]), None),
             ("another launcher", searched("--for torchtitan", {"for": "megatron", "nesting": "megatron", "stack": SAME},
                                           ["for"], chips=["h100"]), None),
             ("a launcher's as any", asked_otherwise(**{"for": "any"}), None),
             ("a chip of a similar name", searched("--chip h100-pcie", {"chip": "h100"}, ["chip"], chips=["h100"]), None),
             ("no idle chips, said to be allowed", idle_claimed, None),
             ("one node as two", asked_otherwise(nodes=2), None),
             ("the best one as the best five", searched("--top 1", {"top": 5}, ["top"]), None),
             ("other software", searched("--stack torch-fsdp-eager", {"stack": SAME}, chips=["h100", "a100-40g"]), None),
             ("other software, also of the program", searched("--stack torch-fsdp-eager", {"stack": SAME},
                                                              program=["stack", "profile"], chips=["h100", "a100-40g"]), None),
             ("one order of the roles as all", asked_otherwise(nesting="all"), None),
             ("another objective", asked_otherwise(objective="chip-hours"), ORDER),
             ("no host, said to be asked for", searched("--offload none", {"offload": "all"}, ["offload"]), None),
             ("no host, said to be in the space", offload_claimed, None),
             ("a proof said to be a gap", proof_of_a_gap, None),
             ("a gap", figure("search", "gap", to=0.01), None),
             ("the best bound", figure("search", "best_bound_seconds", times=1.01), None),
             ("the k-th best", figure("search", "certificate", "kth_best", "seconds", times=1.01), None),
             ("digest of the profile", figure("search", "certificate", "arithmetic", "profile_sha256", to="0" * 64), None),
             *((f"{'.'.join(map(str, path))} of plan 1", figure("plans", 0, *path, **change), None) for path, change in (
                 (("tokens_per_second_per_chip",), {"times": 1.5}), (("training", "seconds"), {"times": 0.5}),
                 (("training", "cost_usd"), {"times": 0.5}), (("training", "chip_hours"), {"times": 0.5}),
                 (("training", "failures", "seconds"), {"times": 0.5}),
                 (("fits_probability",), {"times": 0.9}), (("step", "likely_low_seconds"), {"times": 1.05}),
                 (("chips_used",), {"times": 2}), (("launch", 0, "default_seconds"), {"times": 0.5}),
                 (("notation",), {"to": lambda text: re.sub("data=\d+", "data=77", text)}),
                 (("words",), {"to": lambda text: re.sub(r"(ici_fsdp|micro-batch|batch_size|pp) \d+", r"\1 77", text)})))]


def plan(words, folder, name):
    """A certificate and its report; None: the program has no plan for that."""
    paths = [os.path.join(folder, name + end) for end in (".tsv", ".json")]
    done = subprocess.run([PROGRAM, "plan", *words.split(), "-q", "--sensitivity", "none", "--format", "json",
                           "--certificate", paths[0], "-o", paths[1]], capture_output=True, text=True, check=False)
    return paths if done.returncode == 0 else None


def check(paths):
    done = subprocess.run([sys.executable, CHECK, *paths, PROGRAM, "--all"], capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def main():
    quick, faults, table = "quick" in sys.argv, 0, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, words in REQUESTS.items():
            if (quick and name != "LoRA") or (not quick and sys.argv[2:] and name not in sys.argv[2:]):
                continue
            paths = plan(words, folder, "true")
            code, text = check(paths) if paths else (2, "no plan")
            print(f"{name}: {text}", flush=True)
            if code or "tuples 0 are believed" not in text:
                faults += 1
                continue
            for what, forge, harmless in FORGERIES:
                files = Files(*paths)
                made = forge(files, words, folder) if forge.__code__.co_argcount > 1 else files if forge(files) else None
                if not made:
                    verdict = "is not possible there"
                else:
                    code, text = check(made.write(folder))
                    caught = code != 0 or "tuples 0 are believed" not in text
                    verdict = "caught: " + text if caught else "harmless: " + harmless if harmless else "PASSES"
                    faults += not caught and not harmless
                    key = "caught" if caught else "harmless" if harmless else "passes"
                    table.setdefault(what, {}).setdefault(key, 0)
                    table[what][key] += 1
                print(f"  {what}: {verdict}", flush=True)
    for what, of in table.items():
        print("%-40s %s" % (what, ", ".join(f"{key} {count}" for key, count in sorted(of.items()))))
    print(f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
