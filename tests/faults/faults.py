# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts of this folder share: the program, a folder with its inputs, command lines, and what may come of a
run in which something failed."""
import collections, concurrent.futures, json, os, pathlib, shutil, subprocess, tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
DATA = SOURCE / "tests/data"
SMALL = ["--chip", "v5e", "--slice", "2x2", "--batch", "64Ki", "--seq", "1024", "--threads", "1", "--sensitivity", "none"]
PLAN = ["--model", "gpt2"] + SMALL
SWEEP = ["sweep", "--model", "gpt2,llama3.2-1b", "--chip", "v5e", "--chips", "4,8", "--batch", "64Ki", "--seq", "1024",
         "--threads", "1"]
TUNED = ["--model", "gpt2", "--chip", "l4", "--gpus", "1", "--lora", "--threads", "1"]
RL = ["rl", "--model", "llama3.2-1b", "--chip", "l4", "--chips", "2", "--prompts", "4", "--samples", "4"]
ANSWERS = str(DATA / "rl/answers.txt")

# Every command, with its answer in the file @.
COMMANDS = {
    "models": ["models"],
    "models of one": ["models", "deepseek-v3", "--format", "json"],
    "models of a file": ["models", str(DATA / "models/tiny")],
    "chips": ["chips", "--format", "json"],
    "chips of one": ["chips", "v5p"],
    "help": ["help", "plan"],
    "plan": PLAN + ["-o", "@"],
    "plan as JSON": PLAN[:-4] + ["--threads", "2", "--format", "json", "-o", "@"],
    "plan as a page": PLAN + ["--format", "html", "-o", "@"],
    "plan with a certificate": PLAN + ["--certificate", "@"],
    "explain": ["explain", "--from", "IN/report", "--threads", "1", "-o", "@"],
    "explain a configuration": ["explain", "--from-config", str(DATA / "import/maxtext_8b.sh"), "--chip", "v6e",
                                "--slice", "16x16", "--threads", "1", "-o", "@"],
    "emit": ["emit", "jax", "--from", "IN/report", "--threads", "1", "-o", "@"],
    "layout": ["layout", str(DATA / "layout/example.json"), "--threads", "1", "--effort", "0.001", "-o", "@"],
    "validate": ["validate", "IN/runs.jsonl", "--threads", "1", "-o", "@"],
    "calibrate": ["calibrate", "IN/runs.jsonl", "--folds", "0", "--threads", "1", "--date", "2026-01-01", "-o", "@"],
    "diff": ["diff", "IN/report", "IN/other", "-o", "@"],
    "merge": ["merge", "IN/part1", "IN/part2", "-o", "@"],
    "check": ["check", "--baseline", "IN/baseline", "--threads", "1", "-o", "@"],
    "check --update": ["check", "--baseline", "@", "--update", "--threads", "1"],
    "sweep": SWEEP + ["-o", "@"],
    "inference": ["inference", "--model", "llama3.2-1b", "--chip", "v5e", "--slice", "2x2", "-o", "@"],
    "validate of serving": ["validate", "IN/serving.jsonl", "-o", "@"],
    "finetune": ["finetune", *TUNED, "--sensitivity", "none", "--seq", "1024", "-o", "@"],
    "finetune with lengths": ["finetune", *TUNED, "--sensitivity", "none", "--lengths", str(DATA / "lengths/instructions.txt"), "-o", "@"],
    "emit of fine-tuning": ["emit", "trl", *TUNED, "--seq", "1024", "-o", "@"],
    "emit of serving": ["emit", "vllm", "--model", "llama3.2-1b", "--chip", "l4", "--gpus", "1", "-o", "@"],
    "rl": RL + ["--answer", "64", "--max-answer", "128", "--format", "brief", "-o", "@"],
    "rl with tables": RL + ["--lengths", ANSWERS, "--turns", "3", "--tool-time", ANSWERS, "-o", "@"],
    "rl of a configuration": ["rl", "--from-config", "IN/verl", "--chip", "l4", "--answer", "64", "-o", "@"],
    "emit of rl": RL + ["--answer", "64", "--max-answer", "128", "--colocated", "--emit", "verl", "-o", "@"],
    "trace": ["trace", str(DATA / "traces/rank0.json"), "-o", "@"],
    "bench": ["bench", "--from", "IN/report", "-o", "@"],
    "program": ["program", str(HERE.parent / "fuzz/fuzz_program/recommender.mlir"), "--chip", "v5e", "--slice", "2x2", "-o",
                "@"],
    "emit a job": ["emit", "megatron", "--model", "gpt2", "--chip", "h100", "--chips", "2", "--plan", "data=2", "--batch", "64Ki",
                   "--seq", "1024", "--under", "rayjob", "--threads", "1", "-o", "@"],
}


class Place:
    """A folder of its own, with what the commands read."""

    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="shardopt-faults-"))
        inputs = self.root / "in"
        inputs.mkdir()
        for name, seq in (("report", "1024"), ("other", "512")):
            words = [seq if word == "1024" else word for word in PLAN]
            self.make(words + ["--format", "json", "-o", str(inputs / name)])
        for k in (1, 2):
            self.make(SWEEP + ["--shard", f"{k}/2", "-o", str(inputs / f"part{k}")])
        self.make(["check", "--baseline", str(inputs / "baseline"), "--update", "--threads", "1"], self.baseline(inputs))
        self.make([str(inputs / "verl") if word == "@" else word for word in COMMANDS["emit of rl"]])
        for name, table in (("runs.jsonl", "train.jsonl"), ("serving.jsonl", "serving.jsonl")):
            rows = (SOURCE / "cost/measured/data" / table).read_text().splitlines()
            (inputs / name).write_text("\n".join(rows[:12]) + "\n")
        self.shim = self.root / "shim.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", str(self.shim),
                        str(HERE / "shim.c"), "-ldl"], check=True)

    def baseline(self, inputs):
        entry = json.loads((inputs / "report").read_text())
        (inputs / "baseline").write_text(json.dumps({k: entry[k] for k in ("format_version", "request")}))

    def make(self, words, _=None):
        done = subprocess.run([self.program] + words, capture_output=True, text=True)
        assert done.returncode in (0, 4), f"{' '.join(words)}: exit {done.returncode}: {done.stderr}"

    def words(self, words, out):
        return [self.program] + [str(out) if w == "@" else w.replace("IN/", f"{self.root}/in/") for w in words]

    def end(self):
        shutil.rmtree(self.root)


def environment(**more):
    return dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="2", NO_COLOR="1", **more)


class Case:
    """One command, its right answer, and its runs with faults."""

    def __init__(self, place, name):
        self.place, self.name, self.command = place, name, COMMANDS[name]
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=place.root))
        self.into_file = "@" in self.command
        self.updates = "--update" in self.command
        out = self.fresh(self.folder)
        done = subprocess.run(self.place.words(self.command, out), env=environment(), capture_output=True)
        self.code, self.out = done.returncode, done.stdout
        self.err = done.stderr
        self.good = out.read_bytes() if self.into_file else None
        assert self.code in (0, 4), f"{name}: exit {self.code}: {self.err}"

    def fresh(self, folder):
        """The file that the answer replaces."""
        out = folder / "out"
        if self.updates:
            shutil.copy(self.place.root / "in/report", out)
            entry = json.loads(out.read_text())
            out.write_text(json.dumps({k: entry[k] for k in ("format_version", "request")}))
        else:
            out.write_bytes(b"OLD")
        return out

    def count(self, call):
        at = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        env = environment(LD_PRELOAD=str(self.place.shim), FAULT_CALL=call, FAULT_COUNT=str(at / "count"))
        subprocess.run(self.place.words(self.command, self.fresh(at)), env=env, capture_output=True)
        number = int((at / "count").read_text())
        shutil.rmtree(at)
        return number

    def run(self, call, nth, every=False):
        """What came of a run: "as without", "exit 70" or "exit 2" with one line and the old file; else a fault."""
        at = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        out = self.fresh(at)
        old = out.read_bytes()
        env = environment(LD_PRELOAD=str(self.place.shim), FAULT_CALL=call, FAULT_NTH=str(nth))
        if every:
            env["FAULT_EVERY"] = "1"
        try:
            done = subprocess.run(self.place.words(self.command, out), env=env, capture_output=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "does not end"
        now = out.read_bytes() if out.exists() else None
        left = [p.name for p in at.iterdir() if p.name != "out"]
        shutil.rmtree(at)
        return self.judge(call, done, old, now, left)

    def judge(self, call, done, old, now, left):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        said = [line for line in said if line.encode() not in self.err]  # warnings that are there anyway
        whole = now == self.good or now == old if self.into_file else True
        expected = 70 if call == "malloc" else 2
        if left:
            return f"exit {done.returncode}, and {left} is left behind"
        if done.returncode == self.code and (now == self.good if self.into_file else done.stdout == self.out):
            return "as without"
        if done.returncode == expected and len(said) == 1 and whole:
            return f"exit {expected}"
        if call == "thread" and done.returncode == 70 and len(said) == 1 and whole:
            return "exit 70"
        what = "old file" if now == old else "right file" if now == self.good else f"a file of {len(now or b'')} bytes"
        return f"FAULT: exit {done.returncode}, {what}, stderr {said[-2:]}"


RIGHT = ("as without", "exit 70", "exit 2")


def try_all(cases, plan, jobs):
    """plan(case) gives (call, nth, every) to try. Prints the count of outcomes by command; returns the faults."""
    faults = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for case in cases:
            tries = list(plan(case))
            outcomes = collections.Counter()
            for one, outcome in zip(tries, pool.map(lambda t: case.run(*t), tries)):
                outcomes[outcome if outcome in RIGHT else "FAULT"] += 1
                if outcome not in RIGHT:
                    faults += 1
                    print(f"  {case.name}: {one[0]} {one[1]}{' and after' if one[2] else ''}: {outcome}")
            print(f"{case.name}: {len(tries)} tried: " + ", ".join(f"{n} {o}" for o, n in sorted(outcomes.items())), flush=True)
    return faults
