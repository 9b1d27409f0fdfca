#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program killed at moments drawn by a fixed seed: every file it writes is the old one or the right one, a resumed
sweep gives the bytes of one that was left alone, and only SIGKILL leaves a temporary.

kills.py PROGRAM [--kills N] [--mpi PROGRAM --mpi-kills N] [--seed N]

Kills go to `-o` with a certificate, to `-o` of fine-tuning, serving, RL, programs and launch files, to `check --update` and
to `sweep --resume`; with --mpi also to mpirun or to one of its three ranks. Exit 1: something was lost.
"""
import argparse, functools, json, os, pathlib, random, shutil, signal, subprocess, sys, time

sys.path.append(str(pathlib.Path(__file__).parent.parent / "mpi"))
import faults, ranks

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--kills", type=int, default=60)
arguments.add_argument("--mpi")
arguments.add_argument("--mpi-kills", type=int, default=15)
arguments.add_argument("--seed", type=int, default=1)
options = arguments.parse_args()
draw = random.Random(options.seed)
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
GRID = ["sweep", "--model", "gpt2,llama3.2-1b,8b", "--chip", "v5e,v6e", "--chips", "4,8,16", "--batch", "64Ki", "--seq",
        "1024", "--threads", "1"]
BAD = []


def fail(text):
    BAD.append(text)
    print("FAIL:", text, flush=True)


def seconds_of(words):
    begin = time.monotonic()
    done = subprocess.run(words, capture_output=True, env=faults.environment())
    return time.monotonic() - begin, done


def kill_once(words, length):
    """Runs, and sends a signal at some moment; returns it, or None where the program was done before."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=faults.environment())
    number = draw.choice(SIGNALS)
    try:
        process.communicate(timeout=draw.uniform(0, 1.1 * length))
        return None
    except subprocess.TimeoutExpired:
        process.send_signal(number)
        process.communicate()
        return number


def check_left(folder, names, number, what):
    left = [p for p in folder.iterdir() if p.name not in names]
    if left and number != signal.SIGKILL:
        fail(f"{what}: {number and number.name} left {[p.name for p in left]}")
    for path in left:
        path.unlink()


def kill_output(place, folder, state, command=None):
    if not state:
        words = faults.COMMANDS.get(command) or faults.PLAN + ["-o", "@", "--certificate", "TABLE"]
        words = [str(folder / "table") if word == "TABLE" else word for word in place.words(words, folder / "out")]
        length, _ = seconds_of(words)
        state.update(words=words, length=length, right={path.name: path.read_bytes() for path in folder.iterdir()})
    for name in state["right"]:
        (folder / name).write_bytes(b"OLD")
    number = kill_once(state["words"], state["length"])
    for name, right in state["right"].items():
        now = (folder / name).read_bytes()
        # What SIGINT ends has the best so far, in full.
        so_far = number == signal.SIGINT and now[-1:] == b"\n" and now.startswith((right.split(b"\n")[0], b"No plan was found"))
        if now not in (b"OLD", right) and not so_far:
            fail(f"{folder.name}: {number and number.name}: {name} is neither old nor right")
    check_left(folder, state["right"], number, folder.name)
    return number


def kill_update(place, folder, state):
    file = folder / "baseline"
    if not state:
        entry = json.loads((place.root / "in/report").read_text())
        old = json.dumps([{k: entry[k] for k in ("format_version", "request")}] * 3)
        file.write_text(old)
        words = [place.program, "check", "--baseline", str(file), "--update", "--threads", "1"]
        length, _ = seconds_of(words)
        state.update(words=words, length=length, old=old.encode(), right=file.read_bytes())
    file.write_bytes(state["old"])
    number = kill_once(state["words"], state["length"])
    if file.read_bytes() not in (state["old"], state["right"]):
        fail(f"check --update: {number and number.name}: the baseline is neither old nor right")
    check_left(folder, ("baseline",), number, "check --update")
    return number


def check_rows(state, resume, what):
    """Every whole line of the file is one of the file that nobody disturbed."""
    lines = resume.read_bytes().split(b"\n") if resume.exists() else []
    for line in lines[:-1]:
        if line not in state["rows"]:
            fail(f"{what}: a line that is none: {line[:80]!r}")


def prepare_sweep(place, folder, state):
    length, done = seconds_of([place.program] + GRID + ["--resume", str(folder / "whole")])
    state.update(length=length, right=done.stdout, whole=(folder / "whole").read_bytes())
    state["rows"] = set(state["whole"].split(b"\n"))
    (folder / "whole").unlink()


def kill_sweep(place, folder, state):
    resume, out = folder / "resume", folder / "out"
    if not state:
        prepare_sweep(place, folder, state)
    out.write_bytes(b"OLD")
    number = kill_once([place.program] + GRID + ["--resume", str(resume), "-o", str(out)], state["length"] / 2)
    check_rows(state, resume, "sweep")
    if out.read_bytes() not in (b"OLD", state["right"]):
        fail("sweep: the table is neither old nor right")
    check_left(folder, ("resume", "out"), number, "sweep")
    if number is None:
        if resume.read_bytes() != state["whole"] or out.read_bytes() != state["right"]:
            fail("sweep: resumed, it has other bytes")
        resume.unlink()
    return number


def kill_mpi(place, folder, state):
    resume = folder / "resume"
    if not state:
        prepare_sweep(place, folder, state)
    env = dict(faults.environment(), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_mpi_yield_when_idle="1")
    words = ["mpirun", "--oversubscribe", "-n", "3", options.mpi] + GRID + ["--resume", str(resume)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    time.sleep(draw.uniform(0.2, 0.5 + state["length"]))
    who, killed = draw.choice(["mpirun", "rank", "rank"]), None
    running = ranks.of(options.mpi, folder / "resume")
    if process.poll() is None:
        killed = draw.choice([signal.SIGTERM, signal.SIGINT]) if who == "mpirun" else signal.SIGKILL
        try:
            os.kill(process.pid if who == "mpirun" or not running else draw.choice(running), killed)
        except ProcessLookupError:
            pass
    try:
        out, _ = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        fail(f"MPI: mpirun does not end after {killed and killed.name} of {who}")
        process.kill()
        out, _ = process.communicate()
    for rank in ranks.of(options.mpi, folder / "resume"):
        time.sleep(2)
        try:
            os.kill(rank, signal.SIGKILL)
            print(f"  a rank outlived mpirun by two seconds ({who}, {killed and killed.name})")
        except ProcessLookupError:
            pass
    check_rows(state, resume, "MPI")
    if process.returncode == 0:
        if out != state["right"]:
            fail("MPI: another table")
        resume.unlink()
    return killed


def run(place, work, kills, name):
    folder = place.root / name
    folder.mkdir()
    state, done, counts = {}, 0, {}
    while sum(counts.values()) < kills:
        number = work(place, folder, state)
        if number is None:
            done += 1
        else:
            counts[number.name] = counts.get(number.name, 0) + 1
        if done > 20 * kills + 20:
            return fail(f"{name}: it is always done before it is killed")
    print(f"{name}: {kills} kills ({', '.join(f'{n} {k}' for k, n in sorted(counts.items()))}), {done} ended before",
          flush=True)


place = faults.Place(options.program)
share = options.kills // 4
run(place, kill_output, share, "plan")
OTHERS = ["finetune with lengths", "inference", "rl", "rl with tables", "program", "emit a job"]
for command in OTHERS[:share]:
    run(place, functools.partial(kill_output, command=command), max(1, share // len(OTHERS)), command)
run(place, kill_update, share, "update")
run(place, kill_sweep, share, "sweep")
if options.mpi:
    options.mpi = str(pathlib.Path(options.mpi).resolve())
    run(place, kill_mpi, options.mpi_kills, "MPI")
place.end()
sys.exit(1 if BAD else 0)
