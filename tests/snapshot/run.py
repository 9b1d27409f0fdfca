#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program prints for every line of commands.txt, kept to compare before and after a change.

run.py take DIR --program BIN --repo REPO [--quick] [--jobs N] [--only N,N-M]
run.py compare DIR1 DIR2 [--ignore FILE]       exit 1 if any differs that FILE (lines "NNN reason") does not list

DIR/NNN.txt has line NNN of commands.txt, its exit code, stdout, stderr and the files that it wrote. A line runs by
`bash -c` in a folder of its own with the links repo, runs-data (measured runs), iopddl and hostile (of /work/shared).
"""
import argparse, concurrent.futures, difflib, os, pathlib, re, resource, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
SHARED = pathlib.Path(os.environ.get("SHARED", "/work/shared"))
LIMIT = 300  # seconds; nothing comes near


def commands():
    """(number, quick, line) of every command."""
    for number, line in enumerate((HERE / "commands.txt").read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.startswith("! "), line.removeprefix("! ")


def run(number, line, root, repo, folder):
    scratch = root / "scratch" / f"{number:03}"
    scratch.mkdir(parents=True)
    data = next((p for p in (repo / "cost/measured/data", repo / "runs/data") if p.is_dir()), repo / "runs/data")
    for name, target in (("repo", repo), ("runs-data", data), ("iopddl", SHARED / "iopddl"), ("hostile", SHARED / "hostile")):
        (scratch / name).symlink_to(target)
    environment = {"PATH": f"{root}/bin:/usr/local/bin:/usr/bin:/bin", "SHARDOPT_DATA": "repo", "LC_ALL": "C", "COLUMNS": "120",
                   "NO_COLOR": "1", "TZ": "UTC", "OMP_NUM_THREADS": "1", "HOME": str(scratch), "PWD": str(scratch), "TERM": "dumb"}
    begin = time.monotonic()
    try:
        done = subprocess.run(["bash", "-c", line], cwd=scratch, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, err = "timeout", b"", b""
    seconds = time.monotonic() - begin
    parts = [f"$ {line}\nexit {code}\n".encode(), b"---- stdout\n", out, b"---- stderr\n", err]
    for path in sorted(p for p in scratch.rglob("*") if p.is_file() and not p.is_symlink()):
        parts += [f"---- file {path.relative_to(scratch)}\n".encode(), path.read_bytes()]
    text = b"".join(p if p.endswith(b"\n") or not p else p + b"\n(no newline at the end)\n" for p in parts)
    for path, short in ((scratch, b"."), (root, b"ROOT")):
        text = text.replace(str(path).encode(), short)
    (folder / f"{number:03}.txt").write_bytes(text)
    return number, seconds, code, line


def numbers(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def take(options):
    folder, program, repo = (pathlib.Path(p).resolve() for p in (options.dir, options.program, options.repo))
    if not os.access(program, os.X_OK) or not repo.is_dir():
        sys.exit(f"run.py: no program {program}, or no folder {repo}")
    folder.mkdir(parents=True, exist_ok=True)
    only = numbers(options.only) if options.only else None
    if not only:
        for old in folder.glob("[0-9][0-9][0-9].txt"):
            old.unlink()
    chosen = [(n, line) for n, quick, line in commands() if (quick or not options.quick) and (not only or n in only)]
    root = pathlib.Path(tempfile.mkdtemp(prefix="shardopt-snapshot-"))
    begin = time.monotonic()
    try:
        (root / "bin").mkdir()
        (root / "bin/shardopt").symlink_to(program)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = list(pool.map(lambda job: run(*job, root, repo, folder), chosen))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    if options.times:
        for number, seconds, code, line in sorted(runs, key=lambda r: -r[1]):
            print(f"{number:03} {seconds:6.2f} s exit {code}: {line[:150]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(runs)} commands in {time.monotonic() - begin:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of a core: {folder}")
    slow = [f"{r[0]:03}" for r in runs if r[2] == "timeout" or (isinstance(r[2], int) and (r[2] < 0 or r[2] > 70))]
    if slow:
        print("timeout, signal or command not found: " + " ".join(slow))


def compare(options):
    one, two = pathlib.Path(options.dir1), pathlib.Path(options.dir2)
    ignored = {}
    if options.ignore:
        for line in pathlib.Path(options.ignore).read_text().splitlines():
            if match := re.match(r"\s*(\d+)\s*(.*)", line):
                ignored[f"{int(match[1]):03}.txt"] = match[2]
    names = [{p.name for p in d.glob("[0-9]*.txt")} for d in (one, two)]
    both = names[0] & names[1]
    if not both:
        sys.exit("run.py: nothing that both have")
    alone = names[0] ^ names[1]
    bad = 0
    for name in sorted(both):
        a, b = ((d / name).read_bytes() for d in (one, two))
        if a == b:
            continue
        if name in ignored:
            print(f"{name[:-4]} differs, ignored: {ignored[name]}")
            continue
        bad += 1
        a, b = (t.decode("utf-8", "backslashreplace").split("\n") for t in (a, b))
        print(f"{name[:-4]} differs: {a[0]}")
        lines = list(difflib.unified_diff(a, b, "1", "2", lineterm="", n=0))[2:] if len(a) < 20000 else \
            [f"{s}{x}" for x, y in zip(a, b) if x != y for s, x in (("-", x), ("+", y))]
        for line in lines[:options.lines]:
            print("    " + line[:200])
        if len(lines) > options.lines:
            print(f"    ... {len(lines) - options.lines} more lines")
    if alone:
        print(f"only in one of them, not compared: {len(alone)} ({' '.join(sorted(n[:-4] for n in alone)[:12])}{' ...' if len(alone) > 12 else ''})")
    print(f"{bad} of {len(both)} differ")
    sys.exit(1 if bad else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("take")
    verb.add_argument("dir")
    verb.add_argument("--program", required=True)
    verb.add_argument("--repo", required=True)
    verb.add_argument("--quick", action="store_true", help='only the lines that begin with "! "')
    verb.add_argument("--jobs", type=int, default=1)
    verb.add_argument("--only", help="lines 12,20-30 alone; what else is in DIR stays")
    verb.add_argument("--times", action="store_true", help="print each line's seconds and exit code, slowest first")
    verb = verbs.add_parser("compare")
    verb.add_argument("dir1")
    verb.add_argument("dir2")
    verb.add_argument("--ignore")
    verb.add_argument("--lines", type=int, default=12, help="of each diff that are shown (12)")
    options = parser.parse_args()
    take(options) if options.verb == "take" else compare(options)


main()
