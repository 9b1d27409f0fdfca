#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program in places that are unusual, one after the other; exit 1: one of them does harm.

runs.py PROGRAM [descriptors] [locale] [stack] [threads] [calls [--all]] [signals] [catalog] [load]

descriptors  0 to 2 closed in all eight ways: no file holds what was meant for a stream, and the exit code says what
             could not be said
locale       in a host with a decimal comma: the same bytes
stack        256 kB of it
threads      the system gives one thread, or three: the same bytes
calls        the n-th read, write, fsync, rename, open fails: exit 2 with one line and the old file, or the right answer
             (of each some, --all: every n)
signals      SIGTERM, SIGINT and SIGHUP while a file is written: the old one, and no temporary
catalog      a catalog of chips with lines and escapes in its texts: refused
load         200 processes at once: each ends with the same bytes
"""
import argparse, itertools, json, os, pathlib, random, resource, shutil, signal, subprocess, sys

import faults

NOT_THERE = []


def fail(text):
    NOT_THERE.append(text)
    print("FAIL:", text, flush=True)


def run(words, **more):
    return subprocess.run(words, capture_output=True, timeout=300, **more)


# ---- descriptors ----

def descriptors(place, _):
    """For each of eight ways: --resume holds rows alone, and a second run goes on from it; -o holds the answer."""
    folder = place.root / "descriptors"
    folder.mkdir()
    right, answer = folder / "right", folder / "answer"
    run([place.program] + faults.SWEEP + ["--resume", str(right), "-o", str(answer)], env=faults.environment())
    for closed in itertools.chain.from_iterable(itertools.combinations((0, 1, 2), n) for n in range(4)):
        redirects = " ".join(f"{d}>&-" if d else "0<&-" for d in closed)
        resume, out, plan = (folder / f"{name}{''.join(map(str, closed))}" for name in ("resume", "out", "plan"))
        for words, file in ((faults.SWEEP + ["--resume", str(resume)], None),
                            (faults.SWEEP + ["--resume", str(out), "-o", str(out) + ".txt"], out),
                            (faults.PLAN + ["-o", str(plan)], plan)):
            line = "exec " + " ".join(f"'{w}'" for w in [place.program] + words) + " " + redirects
            done = run(["sh", "-c", line], env=faults.environment())
            expected = 2 if 1 in closed and file is None else 0
            if done.returncode != expected:
                fail(f"descriptors {closed} closed: {' '.join(words[-4:])}: exit {done.returncode}, not {expected}")
        for path in (resume, out):
            if path.read_bytes() != right.read_bytes():
                fail(f"descriptors {closed} closed: {path.name} is not as with all open")
        if pathlib.Path(str(out) + ".txt").read_bytes() != answer.read_bytes():
            fail(f"descriptors {closed} closed: another table")
        if not plan.read_bytes().startswith(b"gpt2 on 2x2"):
            fail(f"descriptors {closed} closed: {plan.name} is no plan")
    print("descriptors: eight ways, 24 runs")


# ---- a host's locale ----

def locale(place, _):
    folder = place.root / "locales"
    folder.mkdir()
    for name in ("de_DE", "tr_TR"):
        made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", str(folder / f"{name}.UTF-8")], capture_output=True)
        if not (folder / f"{name}.UTF-8").is_dir():
            print(f"locale: {name} cannot be made here ({made.stderr.decode().strip()[-80:]}): not tried")
            continue
        env = dict(LD_PRELOAD=str(place.shim), FAULT_LOCALE=f"{name}.UTF-8", LOCPATH=str(folder))
        tried = 0
        for command in list(faults.COMMANDS) + ["plan as CSV"]:
            words = faults.COMMANDS.get(command) or faults.PLAN + ["--format", "csv", "-o", "@"]
            if "--update" in words:
                continue
            results = []
            for more in ({}, env):
                out = place.root / "out"
                out.write_bytes(b"")
                done = run(place.words(words, out), env=faults.environment(**more))
                results.append((done.returncode, done.stdout, done.stderr, out.read_bytes()))
            if results[0] != results[1]:
                fail(f"locale {name}: {command} is another: exit {results[1][0]}, {results[1][2][-100:]}")
            tried += 1
        print(f"locale {name}: {tried} commands")


# ---- little stack, few threads ----

WIDE = {"of a mixture": ["--model", "mixtral-8x7b", "--chip", "h100", "--nodes", "2", "--batch", "256Ki", "-o", "@"],
        "of a mixture, as a page": ["--model", "mixtral-8x7b", "--chip", "h100", "--nodes", "2", "--batch", "256Ki",
                                    "--format", "html", "-o", "@"]}


def stack(place, _):
    def little():
        resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))

    for command, words in {**faults.COMMANDS, **WIDE}.items():
        out = place.root / "out"
        if "--update" in words:
            continue
        done = run(place.words(words, out), env=faults.environment(), preexec_fn=little)
        if done.returncode not in (0, 4):
            fail(f"stack: {command}: exit {done.returncode}")
    for size in ("16k", "16384b", " 20", "64k", "1g"):
        for name in ("OMP_STACKSIZE", "GOMP_STACKSIZE"):
            words = [place.program] + faults.PLAN[:-4] + ["-o", str(place.root / "out")]
            done = run(words, env=dict(faults.environment(), **{name: size, "OMP_NUM_THREADS": "3"}))
            if done.returncode != 0:
                fail(f"stack: {name}={size}: exit {done.returncode}")
    print(f"stack: {len(faults.COMMANDS) - 1 + len(WIDE)} commands in 256 kB; threads asked to have 16 kB")


def threads(place, _):
    tried = 0
    for command, words in faults.COMMANDS.items():
        if "--update" in words:
            continue
        words = [w for i, w in enumerate(words) if w != "--threads" and (i == 0 or words[i - 1] != "--threads")]
        out = place.root / "out"
        results = []
        for more in ({}, {"LD_PRELOAD": str(place.shim), "FAULT_CALL": "thread", "FAULT_NTH": "1", "FAULT_EVERY": "1"}):
            out.write_bytes(b"")
            env = dict(faults.environment(**more), OMP_NUM_THREADS="4")
            done = run(place.words(words, out), env=env)
            results.append((done.returncode, done.stdout, done.stderr, out.read_bytes()))
        tried += 1
        if results[0] != results[1]:
            fail(f"threads: {command} with one thread: exit {results[1][0]}, {results[1][2][-200:]}")
    env = dict(faults.environment(), OMP_NUM_THREADS="20000")
    done = run([place.program] + faults.PLAN[:-4] + ["-o", str(place.root / "out")], env=env)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    if done.returncode != 0 or most > 1000:
        fail(f"threads: 20,000 asked for: exit {done.returncode}, {most} MB, {done.stderr[-200:]}")
    print(f"threads: {tried} commands with one thread; 20,000 asked for")


# ---- calls that fail ----

def calls(place, options):
    cases = [faults.Case(place, name) for name in faults.COMMANDS if name not in ("models", "chips", "help")]

    def plan(case):
        for call in ("read", "write", "fsync", "rename", "open"):
            count = case.count(call)
            points = range(1, count + 1)
            if not options.all and count > 5:
                drawn = random.Random(f"{case.name} {call}").sample(points, 2)
                points = sorted({1, count - 1, count, *drawn})
            for n in points:
                yield call, n, False

    if faults.try_all(cases, plan, options.jobs):
        fail("calls")


# ---- signals while a file is written ----

def signals(place, _):
    """A signal between the first byte of the temporary and its rename: the old file, and nothing beside it."""
    folder = place.root / "signals"
    folder.mkdir()
    for call in ("write", "fsync", "rename"):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            (folder / "out").write_bytes(b"OLD")
            env = faults.environment(LD_PRELOAD=str(place.shim), FAULT_CALL=call, FAULT_NTH="1", FAULT_STOP=str(int(number)))
            done = run([place.program, "layout", str(faults.DATA / "layout/example.json"), "--threads", "1", "--effort", "0.001",
                        "-o", str(folder / "out")] if number != signal.SIGINT else
                       [place.program, "diff", str(place.root / "in/report"), str(place.root / "in/other"), "-o",
                        str(folder / "out")], env=env, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            left = sorted(p.name for p in folder.iterdir())
            expected = 130 if number == signal.SIGINT else -int(number)
            if left != ["out"] or (folder / "out").read_bytes() != b"OLD" or done.returncode != expected:
                fail(f"signals: {number.name} at {call}: exit {done.returncode}, {left}")
    print("signals: nine")


# ---- texts of a catalog ----

def catalog(place, _):
    """A line of a chip's text would be a line of the script that emit writes."""
    data = place.root / "data"
    for part in ("models", "mesh", "cost"):
        shutil.copytree(faults.SOURCE / part, data / part)
    chip = data / "mesh/catalog/h100.json"
    text = json.loads(chip.read_text())
    text["title"] = f"H100\ntouch {place.root}/PWNED #"
    chip.write_text(json.dumps(text))
    for words in (["emit", "megatron", "--model", "8b", "--chip", "h100", "--nodes", "1", "--batch", "64Ki"], ["chips", "h100"]):
        done = run([place.program] + words, env=faults.environment(SHARDOPT_DATA=str(data)))
        if done.returncode != 2 or b"control character" not in done.stderr or done.stdout:
            fail(f"catalog: {words[0]}: exit {done.returncode}, {done.stderr[-200:]}")
    print("catalog: refused")


# ---- many at once ----

def load(place, options):
    words = [place.program] + faults.PLAN + ["--format", "json"]
    right = run(words, env=faults.environment()).stdout
    many = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=faults.environment())
            for _ in range(options.processes)]
    others = 0
    for process in many:
        out, err = process.communicate(timeout=600)
        others += process.returncode != 0 or out != right
    if others:
        fail(f"load: {others} of {options.processes} ended otherwise")
    print(f"load: {options.processes} at once")


JOBS = {"descriptors": descriptors, "locale": locale, "stack": stack, "threads": threads, "calls": calls,
        "signals": signals, "catalog": catalog, "load": load}
arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("job", nargs="*", default=list(JOBS))
arguments.add_argument("--all", action="store_true")
arguments.add_argument("--jobs", type=int, default=2)
arguments.add_argument("--processes", type=int, default=200)
options = arguments.parse_args()
place = faults.Place(options.program)
for name in options.job:
    JOBS[name](place, options)
place.end()
sys.exit(1 if NOT_THERE else 0)
