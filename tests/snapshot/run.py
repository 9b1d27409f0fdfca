#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program prints for every line of commands.txt: kept to compare before and after a change, and as a digest of
each in digests.txt, by which nothing moves unseen.

run.py check --program BIN --repo REPO [--jobs N] [--only N,N-M]    exit 1 if any digest is another one
run.py check ... --update                      digests.txt anew; what moved is then said by the commit that moves it
run.py take DIR --program BIN --repo REPO [--quick] [--jobs N] [--only N,N-M]
run.py compare DIR1 DIR2 [--ignore FILE]       exit 1 if any differs that FILE (lines "NNN reason") does not list

A digest says that something moved, not that it was right: values have tests of their own, with values from outside.
DIR/NNN.txt has line NNN of commands.txt, its exit code, stdout, stderr and the files that it wrote. A line runs by
`bash -c` in a folder of its own with the links repo, runs-data (measured runs), iopddl, hostile and traces (of ../shared
beside REPO; a line that names one of these links is left out where there is none). digests.txt has a line for each
command: the digest, and how the command begins.
"""
import argparse, concurrent.futures, difflib, hashlib, os, pathlib, re, resource, shutil, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
DIGESTS = HERE / "digests.txt"
LINKS = ("iopddl", "hostile", "traces")
PASSED = ("SHARDOPT_IN_FRONT", "SHARDOPT_TRACE")  # of tests/mutation
LIMIT = 300  # seconds; nothing comes near
BEGIN = 90  # letters of a command beside its digest


def commands():
    """(number, mark, line) of every command: "!" is of the quick set, "~" takes seconds."""
    for number, line in enumerate((HERE / "commands.txt").read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            mark = line[0] if line[:2] in ("! ", "~ ") else ""
            yield number, mark, line.removeprefix(mark + " ") if mark else line


def shared(repo):
    return pathlib.Path(os.environ.get("SHARED", repo.parent / "shared"))


def there(line, repo):
    """Whether all that a command reads is there."""
    return all((shared(repo) / link).is_dir() for link in LINKS if re.search(rf"(?<![\w/.-]){link}/", line))


def run(number, line, root, repo, folder):
    """Keeps what a command does in FOLDER/NNN.txt, or without a folder gives it."""
    scratch = root / "scratch" / f"{number:03}"
    scratch.mkdir(parents=True)
    data = next((p for p in (repo / "cost/measured/data", repo / "runs/data") if p.is_dir()), repo / "runs/data")
    for name, target in [("repo", repo), ("runs-data", data), *((name, shared(repo) / name) for name in LINKS)]:
        (scratch / name).symlink_to(target)
    environment = {"PATH": f"{root}/bin:/usr/local/bin:/usr/bin:/bin", "SHARDOPT_DATA": "repo", "LC_ALL": "C", "COLUMNS": "120",
                   "NO_COLOR": "1", "TZ": "UTC", "OMP_NUM_THREADS": "1", "HOME": str(scratch), "PWD": str(scratch), "TERM": "dumb",
                   **{name: os.environ[name] for name in PASSED if name in os.environ}}
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
    text = re.sub(rb"^# (compiler|flags)\t.*$", rb"# \1", text, flags=re.M)  # certificates say who built the program
    shutil.rmtree(scratch, ignore_errors=True)
    if folder:
        (folder / f"{number:03}.txt").write_bytes(text)
    return number, seconds, code, line, hashlib.sha256(text).hexdigest()[:16]


def numbers(text):
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def run_all(options, folder):
    """Runs what the options choose, and prints what is odd."""
    program, repo = (pathlib.Path(p).absolute() for p in (options.program, options.repo))
    if not os.access(program, os.X_OK) or not repo.is_dir():
        sys.exit(f"run.py: no program {program}, or no folder {repo}")
    only = numbers(options.only) if options.only else None
    chosen = [(n, line) for n, mark, line in commands() if (mark == "!" or not options.quick) and
              not (options.brisk and mark == "~") and (not only or n in only)]
    absent = [n for n, line in chosen if not there(line, repo)]
    root = pathlib.Path(tempfile.mkdtemp(prefix="shardopt-snapshot-"))
    begin = time.monotonic()
    try:
        (root / "bin").mkdir()
        (root / "bin/shardopt").symlink_to(program)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = list(pool.map(lambda job: run(*job, root, repo, folder), [c for c in chosen if c[0] not in absent]))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    if options.times:
        for number, seconds, code, line, _ in sorted(runs, key=lambda r: -r[1]):
            print(f"{number:03} {seconds:6.2f} s exit {code}: {line[:150]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(runs)} commands in {time.monotonic() - begin:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of a core" +
          (f"; {len(absent)} left out, whose inputs are not here" if absent else ""))
    slow = [f"{r[0]:03}" for r in runs if r[2] == "timeout" or (isinstance(r[2], int) and (r[2] < 0 or r[2] > 70))]
    if slow:
        print("timeout, signal or command not found: " + " ".join(slow))
    return runs


def check(options):
    """Whether every digest is what it was."""
    runs = run_all(options, None)
    lines = [line for _, _, line in commands()]
    place = {number: i for i, (number, _, _) in enumerate(commands())}
    kept = [entry.split(" ", 1) for entry in DIGESTS.read_text().splitlines()] if DIGESTS.exists() else []
    before = {}
    for digest, line in kept:
        before.setdefault(line, []).append(digest)
    if options.update:
        now = {place[r[0]]: r[4] for r in runs}
        entries = []
        for i, line in enumerate(lines):
            old = before.get(line[:BEGIN], [])
            entries.append(f"{now.get(i) or (old[0] if old else 16 * '0')} {line[:BEGIN]}")
            del old[:1]
        DIGESTS.write_text("\n".join(entries) + "\n")
        return
    if [line for _, line in kept] != [line[:BEGIN] for line in lines]:
        sys.exit("run.py: digests.txt is not of these commands: --update")
    moved = [r for r in runs if r[4] != kept[place[r[0]]][0]]
    for number, _, code, line, _ in moved:
        print(f"moved: {number:03} exit {code}: {line[:150]}")
    if moved:
        sys.exit(f"{len(moved)} of {len(runs)} moved: `take` both builds and `compare` them to see what, then --update")


def take(options):
    folder = pathlib.Path(options.dir).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not options.only:
        for old in folder.glob("[0-9][0-9][0-9].txt"):
            old.unlink()
    run_all(options, folder)


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
    for name in ("check", "take"):
        verb = verbs.add_parser(name)
        if name == "take":
            verb.add_argument("dir")
        else:
            verb.add_argument("--update", action="store_true", help="write digests.txt anew")
        verb.add_argument("--program", required=True)
        verb.add_argument("--repo", required=True)
        verb.add_argument("--quick", action="store_true", help='only the lines that begin with "! "')
        verb.add_argument("--brisk", action="store_true", help='without the lines that begin with "~ "')
        verb.add_argument("--jobs", type=int, default=1)
        verb.add_argument("--only", help="lines 12,20-30 alone; what else is in DIR stays")
        verb.add_argument("--times", action="store_true", help="print each line's seconds and exit code, slowest first")
    verb = verbs.add_parser("compare")
    verb.add_argument("dir1")
    verb.add_argument("dir2")
    verb.add_argument("--ignore")
    verb.add_argument("--lines", type=int, default=12, help="of each diff that are shown (12)")
    options = parser.parse_args()
    {"check": check, "take": take, "compare": compare}[options.verb](options)


main()
