#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes one operator, constant or comparison of the sources at a time, and looks whether a test notices.

mutate.py BUILD [--folders models mesh cost search] [--draw N] [--seed N] [--seconds S] [--jobs N] [--list]

Folders may be below these: search/launch. BUILD is a folder that cmake configured with Makefiles and in which the tests are built; it stays as it is. A change is
compiled alone and linked in front of the archive, so that it costs one file and the tests that are run: first that of
the file, then those of its folder, then those of the folders around it, until one fails. --draw takes so many of each
folder by a fixed seed (else all: some 10,000), --seconds ends it early. equivalent.txt names changes that are none,
each with its reason. Prints the score by folder and each survivor; exit 1: under 95% in a folder.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, random, re, resource, shlex, subprocess, sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
# What clang-format puts blanks around is binary.
OPERATORS = {" < ": [" <= "], " <= ": [" < "], " > ": [" >= "], " >= ": [" > "], " == ": [" != "], " != ": [" == "],
             " + ": [" - "], " - ": [" + "], " * ": [" / "], " / ": [" * "], " % ": [" + "], " && ": [" || "],
             " || ": [" && "], " += ": [" -= "], " -= ": [" += "]}
TOKEN = re.compile("|".join(re.escape(o) for o in sorted(OPERATORS, key=len, reverse=True)) +
                   r"|(?<![\w.\"])(?:\d+\.\d+(?:e[-+]?\d+)?|\d+(?:e[-+]?\d+)?)(?![\w.\"])")
SKIP = re.compile(r"^\s*(#|//|\*|/\*|cr_|assert|_Static_assert)|error_set|json_whole|json_real|prose_|fprintf|snprintf|static const char")


def blanked(text):
    """The text with comments and literals of characters blank, in their places."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def changed_constant(word):
    if "." in word or "e" in word:
        return f"({word} * 1.03125 + 1e-9)"
    return str(int(word) + 1)


TEXTS = {}  # of the sources, as they are when we begin


def changes_of(path):
    """(file, offset, old, new, line) of every change of a file."""
    text = TEXTS[path.relative_to(SOURCE)] = path.read_text()
    code, lines = blanked(text), text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for match in TOKEN.finditer(code):
        number = code.count("\n", 0, match.start())
        if SKIP.search(lines[number]) or code[starts[number]:].lstrip().startswith("#"):
            continue
        old = match.group()
        for new in OPERATORS.get(old) or [changed_constant(old)]:
            yield path.relative_to(SOURCE), match.start(), old, new, number + 1


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.compile = {}
        subprocess.run(["cmake", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", str(self.folder)], check=True,
                       stdout=subprocess.DEVNULL)
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            file = pathlib.Path(entry["file"])
            if file.is_relative_to(SOURCE):
                self.compile.setdefault(str(file.relative_to(SOURCE)), shlex.split(entry["command"]))
        self.seconds = {}
        self.lock = threading.Lock()

    def object(self, path, text, at):
        """Compiles the changed text in the place of the file; None: it is no C any more."""
        source = at / pathlib.Path(path).name
        source.write_text(text)
        words = [w for w in self.compile[str(path)] if w != "ccache" and not w.endswith("/ccache") and w != "-Werror"]
        words[words.index("-o") + 1] = str(at / "changed.o")
        words[words.index("-c") + 1] = str(source)
        done = subprocess.run(words + ["-w"], cwd=self.folder, capture_output=True)
        return at / "changed.o" if done.returncode == 0 else None

    def link(self, test, changed, at):
        words = shlex.split((self.folder / f"CMakeFiles/{test}.dir/link.txt").read_text())
        words = [w for w in words if w != "ccache" and not w.endswith("/ccache")]
        words[words.index("-o") + 1] = str(at / test)
        archive = next(i for i, w in enumerate(words) if w.endswith("libshardopt.a"))
        words.insert(archive, str(changed))
        return subprocess.run(words, cwd=self.folder, capture_output=True).returncode == 0

    def time_of(self, test):
        """Seconds of a test as it is; None: it is not built, or fails."""
        with self.lock:
            if test not in self.seconds:
                begin, program = time.monotonic(), self.folder / test
                ok = program.exists() and subprocess.run([program], capture_output=True).returncode == 0
                self.seconds[test] = time.monotonic() - begin if ok else None
            return self.seconds[test]


def tests_for(path):
    """Names of tests, the nearest first."""
    own = SOURCE / "tests" / path.parent / f"test_{path.stem}.c"
    found = [own] if own.exists() else []
    folder = SOURCE / "tests" / path.parent
    while folder != SOURCE / "tests":
        found += sorted(folder.glob("test_*.c")) + sorted(folder.glob("*/test_*.c"))
        folder = folder.parent
    names = ["_".join(t.relative_to(SOURCE / "tests").with_suffix("").parts) for t in found]
    return list(dict.fromkeys(names))


def notices(build, change, limit):
    """The test that notices; "" if none does, None if the change does not compile."""
    path, offset, old, new, _ = change
    text = TEXTS[path]
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        changed = build.object(path, text[:offset] + new + text[offset + len(old):], at)
        if not changed:
            return None
        spent = 0
        for test in tests_for(path):
            usual = build.time_of(test)
            if usual is None or spent + usual > limit:
                continue
            spent += usual
            if not build.link(test, changed, at):
                continue
            try:
                done = subprocess.run([at / test], capture_output=True, timeout=10 * usual + 10)
            except subprocess.TimeoutExpired:
                return test
            (at / test).unlink()
            if done.returncode != 0:
                return test
    return ""


def equivalents():
    known = {}
    for line in (HERE / "equivalent.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            path, old, new, code, reason = (part.strip() for part in line.split("|", 4))
            known[path, old, new, code] = reason
    return known


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build")
    arguments.add_argument("--folders", nargs="*", default=["models", "mesh", "cost", "search"])
    arguments.add_argument("--draw", type=int)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=1e9)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--tests-seconds", type=float, default=60, help="of tests for one change, at most")
    arguments.add_argument("--list", action="store_true")
    options = arguments.parse_args()
    changes = {f: sorted(c for p in sorted((SOURCE / f).rglob("*.c")) if not p.is_relative_to(SOURCE / "search/cli")
                         for c in changes_of(p)) for f in options.folders}
    for folder, found in changes.items():
        print(f"{folder}: {len(found)} changes")
        if options.draw:
            changes[folder] = random.Random(f"{folder} {options.seed}").sample(found, min(options.draw, len(found)))
    if options.list:
        return 0
    build, known, begin = Build(options.build), equivalents(), time.monotonic()
    score = {f: collections.Counter() for f in changes}

    def judge(change):
        if time.monotonic() - begin > options.seconds:
            return change, "not tried"
        path, _, old, new, number = change
        code = TEXTS[path].split("\n")[number - 1].strip()
        if (str(path), old.strip(), new.strip(), code) in known:
            return change, "equivalent"
        test = notices(build, change, options.tests_seconds)
        return change, "no C" if test is None else "noticed" if test else "survives"

    turns = [c for group in zip(*[f + [None] * (max(map(len, changes.values())) - len(f)) for f in changes.values()])
             for c in group if c]  # a folder after the other, so that an early end is fair
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (path, _, old, new, number), what in pool.map(judge, turns):
            folder = next(f for f in changes if path.is_relative_to(f))
            score[folder][what] += 1
            if what == "survives":
                line = TEXTS[path].split("\n")[number - 1].strip()
                print(f"survives: {path}:{number}: {old.strip()} -> {new.strip()}: {line}", flush=True)
    low = False
    for folder, counts in score.items():
        tried = counts["noticed"] + counts["survives"]
        share = counts["noticed"] / tried if tried else 1
        low = low or share < 0.95
        print(f"{folder}: {100 * share:.0f}% of {tried} noticed ({dict(counts)})")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s of the processor")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
