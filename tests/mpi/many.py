#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sweep of 5,000 points over MPI: what ranks cost, and ranks killed at random until `--resume` has finished it.

many.py PROGRAM [--points N] [--ranks N] [--kills N] [--seed N]       PROGRAM: built with -DSHARDOPT_MPI=ON

One process first: its bytes are the right ones, its processor seconds the measure. Then all ranks left alone: the same
bytes, and at least 90% of the user seconds of all are those of one process. Then ranks (and mpirun) are killed at moments
drawn by the seed, and the same command goes on with its --resume file, until it ends by itself with the same bytes; no
whole line of the file is ever another than one process writes. Exit 1: one of these is not so.
"""
import argparse, os, pathlib, random, resource, signal, subprocess, sys, tempfile, time

import ranks

arguments = argparse.ArgumentParser()
arguments.add_argument("program", type=lambda p: str(pathlib.Path(p).resolve()))
arguments.add_argument("--points", type=int, default=5000, help="a multiple of 100")
arguments.add_argument("--ranks", type=int, default=2)
arguments.add_argument("--kills", type=int, default=12)
arguments.add_argument("--seed", type=int, default=1)
options = arguments.parse_args()
GRID = ["sweep", "--model", "gpt2,llama3.2-1b", "--chip", "v5e,v6e", "--chips", "4,8,16,32,64", "--batch",
        ",".join(f"{32 * k}Ki" for k in range(1, options.points // 100 + 1)), "--seq", "256,512,1024,2048,4096", "--threads", "1"]
draw = random.Random(options.seed)
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_WAIT_POLICY="passive",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
bad = []


def fail(text):
    bad.append(text)
    print("FAIL:", text, flush=True)


def timed(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, time.monotonic() - begin


def kill_one(process, resume):
    """Kills a rank, or seldom mpirun; what it was."""
    running, whole = ranks.of(options.program, resume), draw.random() < 0.2
    pid = process.pid if whole or not running else draw.choice(running)
    try:
        os.kill(pid, signal.SIGTERM if pid == process.pid else signal.SIGKILL)
    except ProcessLookupError:
        return None
    return "mpirun" if pid == process.pid else "rank"


def resumed(folder, right, seconds):
    """Kills until the sweep ends by itself."""
    resume, counts, kept = folder / "resume", {}, []
    while True:
        process = subprocess.Popen(RANKS + ["--resume", str(resume)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, env=ENVIRONMENT)
        if sum(counts.values()) < options.kills:
            time.sleep(draw.uniform(0.3, 0.5 + 2 * seconds / options.kills))
            who = kill_one(process, resume) if process.poll() is None else None
            counts[who] = counts.get(who, 0) + (who is not None)
        out, _ = process.communicate(timeout=600)
        for left in ranks.of(options.program, resume):  # they hold the file's lock
            os.kill(left, signal.SIGKILL)
        lines = resume.read_bytes().split(b"\n")[:-1] if resume.exists() else []
        kept.append(max(0, len(lines) - 1))
        if not right["rows"].issuperset(lines):
            fail("a line of the resume file is none that one process writes")
        if process.returncode == done.returncode and len(lines) == options.points + 1:
            break
    if out != right["out"]:
        fail("resumed, it has other bytes")
    print(f"killed: {({k: n for k, n in counts.items() if n})}; points kept after each: {kept}")


with tempfile.TemporaryDirectory() as at:
    folder = pathlib.Path(at)
    RANKS = ["mpirun", "-n", str(options.ranks), options.program] + GRID
    done, user, system, wall = timed([options.program] + GRID + ["--resume", str(folder / "whole")])
    rows = (folder / "whole").read_bytes().split(b"\n")[:-1]
    if len(rows) != options.points + 1:
        sys.exit(f"one process: exit {done.returncode}, {len(rows) - 1} points, {done.stderr[-300:]}")
    print(f"one process: {options.points} points, user {user:.1f} s, system {system:.1f} s, wall {wall:.1f} s", flush=True)
    many, users, systems, walls = timed(RANKS)
    if many.stdout != done.stdout:
        fail("ranks: other bytes")
    print(f"{options.ranks} ranks: user {users:.1f} s, system {systems:.1f} s, wall {walls:.1f} s: {100 * user / users:.0f}% of the user "
          f"seconds are one process's, {wall / walls:.2f} times as fast", flush=True)
    if user < 0.9 * users:
        fail("less than 90% on user seconds")
    resumed(folder, {"out": done.stdout, "rows": set(rows)}, walls)
sys.exit(1 if bad else 0)
