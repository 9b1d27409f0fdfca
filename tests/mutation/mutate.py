#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes one operator, constant or comparison of the sources at a time, and looks whether a test notices.

mutate.py BUILD [--folders models mesh cost search] [--draw N] [--seed N] [--seconds S] [--jobs N]
                [--tests-seconds S] [--least P] [--ask REGEX] [--only FILE[:LINE] ...] [--survivors] [--list] [--dark]

BUILD is a folder of its own, which is configured here: -O1, no optimisation of the whole, and the library as a shared one
whose functions can be replaced (build.py). A change is compiled alone, as a library that is loaded in front of that one,
so that it costs one file and no linking. What can be asked (asked.py): each case of each program of Criterion, each
transcript of the pages, each of the first answers, and the scripts that run the whole program. Each is run once with
a library that marks its blocks, which gives its time and the lines that it executes (lines.py; kept in BUILD/tests.json).

A change is shown to the tests that execute its line, the nearest and fastest first, as long as these take --tests-seconds
of processor time as things are (half of that with marks). A test has five times its time and 2 s, of the processor's, so
that a busy machine notices nothing. Programs of Criterion get the changed file with the checks of UBSan, and what they do
not notice once more under ASan, as CI's job dev has both. Before the first notice of a test counts, it has to pass with
the source as it is.
A change whose line no test executes survives at once, and is listed as such; one that compiles to the same machine code
is none.

Folders may be below these: search/launch. --draw takes so many of each folder by a fixed seed (else all: some 40,000),
--seconds ends it early, --only takes those of a file or line, --survivors those that survived last time
(BUILD/mutations.tsv has what came of each), --ask asks only tests whose name has the pattern, --dark lists the functions
that no test enters and changes nothing. Lengths of buffers, texts, what only formats them, and the {0} of what is to be
empty are left alone. equivalent.txt names changes that make no difference, each with its reason. Prints the score by
folder and each survivor; exit 1: under --least percent (95) in a folder, or a rule that names no change.

Measured on two cores: the builds 2 minutes, the first run of all tests 10 (16 of the processor), then 5 to 7 s of the
processor for a change. All 40,000 would take two to three days of one core: a sample by the date is drawn each night.
"""
import argparse, collections, concurrent.futures, pathlib, random, re, resource, sys, tempfile, threading, time
import asked
from build import Build
from changes import SOURCE, TEXTS, all_changes, blanked, equivalents, reason_of, wrong_rules
from lines import Lines

NEAR = 5  # a folder in common counts as so many times the speed


class Judge:
    """What comes of a change."""

    def __init__(self, build, lines, tests, limit, known):
        self.build, self.lines, self.limit, self.known = build, lines, limit, known
        self.tests = [t for t in tests if t.seconds is not None and t.seconds <= asked.SLOW]
        self.noticed = collections.defaultdict(collections.Counter)  # of a file: how often by which test
        self.lock = threading.Lock()

    @staticmethod
    def nearness(path, test):
        """How many folders a source and a test have in common, from the top; one more for the source's own test."""
        parts = path.with_suffix("").parts
        return max((n for n in range(1, len(parts) + 1) if (test.near + "_").startswith("_".join(parts[:n]) + "_")), default=0)

    def chosen(self, change):
        """The tests for a change, in the order of asking; None: no test executes its line."""
        mask = self.lines.of_change(change, lambda path: TEXTS[path].split("\n"))
        there = [t for t in self.tests if t.mask & mask]
        if not there:  # code that is inlined, or one with what is around it, may be entered by nobody
            path = str(change.path)
            around = {self.lines.at.get((path, n)) for n in range(change.line - 2, change.line + 3)} - {None}
            mask = self.lines.file_mask[path] if change.code.endswith("; }") else self.lines.mask(around)
            there = [t for t in self.tests if t.mask & mask]
        if not there:
            return None
        there.sort(key=lambda t: (t.seconds / NEAR ** self.nearness(change.path, t), t.name))
        spent, some = 0, []
        for test in there:
            if spent + test.seconds <= self.limit or not some:
                spent += test.seconds
                some.append(test)
        with self.lock:
            before = dict(self.noticed[change.path])
        return sorted(some, key=lambda t: -before.get(t.name, 0))  # the same tests: who noticed others comes first

    def noticed_by_asan(self, change, text, tests, folder):
        """The test that notices a change under ASan, of those in C that are asked anyway; each has to pass so without it."""
        there, spent = [t for t in tests if not t.scripted], 0
        if not there:
            return None
        source = folder / change.path.name
        source.write_text(text)
        guarded = self.build.guarded_of(change.path, source, folder)
        for test in there:
            spent += 3 * test.seconds
            if spent > self.limit and test is not there[0]:
                break
            if test.run((guarded, guarded), more=3)[0] != 0:
                source.write_text(TEXTS[change.path])  # the same without the change
                as_is = self.build.guarded_of(change.path, source, folder)
                return test if test.run((as_is, as_is), more=3)[0] == 0 else None
        return None

    def passes_as_is(self, path, test):
        with self.lock:
            if not test.confirmed:
                status, _ = test.run(self.build.libraries_as_is(path))
                test.confirmed = status == 0
                if status != 0:
                    print(f"fails as things are, and is asked no more: {test.name}", flush=True)
                    self.tests = [t for t in self.tests if t is not test]
        return test.confirmed

    def judge(self, change):
        """(what, by which test)"""
        if reason_of(change, self.known):
            return "equivalent", ""
        if str(change.path) not in self.build.compile:  # that of another build: MPI's
            return "not compiled", ""
        text = TEXTS[change.path]
        with tempfile.TemporaryDirectory() as folder:
            with self.lock:
                self.build.libraries_as_is(change.path)
            changed = text[:change.offset] + change.new + text[change.offset + len(change.old):]
            libraries = self.build.libraries_of(change.path, changed, pathlib.Path(folder))
            if not libraries:
                return "no C" if libraries is None else "same code", ""
            tests = self.chosen(change)
            if tests is None:
                return "not executed", ""
            for test in tests:
                status, _ = test.run(libraries)
                if status != 0 and self.passes_as_is(change.path, test):
                    with self.lock:
                        self.noticed[change.path][test.name] += 1
                    return "noticed", test.name
            test = self.noticed_by_asan(change, changed, tests, pathlib.Path(folder))
            if test:
                return "noticed", f"{test.name} under ASan"
        return "survives", f"{len(tests)} tests"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--folders", nargs="*", default=["models", "mesh", "cost", "search"])
    parser.add_argument("--draw", type=int)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests-seconds", type=float, default=20, help="of tests for one change, as things are")
    parser.add_argument("--least", type=float, default=95, help="exit 1 below so many percent in a folder")
    parser.add_argument("--ask", default="", help="only tests whose name has this regular expression")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--dark", action="store_true")
    return parser.parse_args()


def chosen(options):
    """The changes by folder."""
    changes = all_changes(options.folders)
    again = set()
    if options.survivors:
        rows = (line.split("\t") for line in (pathlib.Path(options.build) / "mutations.tsv").read_text().splitlines())
        again = {(r[1], r[3], r[4], r[5]) for r in rows if r[0] in ("survives", "not executed")}
    for folder, found in changes.items():
        print(f"{folder}: {len(found)} changes")
        if options.only:
            found = [c for c in found if str(c.path) in options.only or f"{c.path}:{c.line}" in options.only]
        if options.survivors:
            found = [c for c in found if (str(c.path), c.old.strip(), c.new.strip(), c.code) in again]
        if options.draw:
            found = random.Random(f"{folder} {options.seed}").sample(found, min(options.draw, len(found)))
        changes[folder] = found
    return changes


def judge_all(options, changes, judge, begin):
    def one(change):
        if time.monotonic() - begin > options.seconds:
            return change, "not tried", ""
        return (change, *judge.judge(change))

    most = max(map(len, changes.values()))
    turns = [c for group in zip(*[f + [None] * (most - len(f)) for f in changes.values()])
             for c in group if c]  # a folder after the other, so that an early end is fair
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(one, turns)


def dark(lines, tests, folders):
    """Functions that no test enters, the longest first, and how many lines with code none executes."""
    seen = 0
    for test in tests:
        seen |= test.mask
    count = collections.defaultdict(collections.Counter)
    functions = []
    for path in sorted({p for p, _ in lines.all if p.endswith(".c") and pathlib.Path(p).parts[0] in folders}):
        code = blanked((SOURCE / path).read_text()).split("\n")
        heads = [n for n, line in enumerate(code, 1) if re.match(r"\w.*\)\s*\{", line)] + [len(code) + 1]
        for first, end in zip(heads, heads[1:]):
            bits = [lines.at[path, n] for n in range(first, end) if (path, n) in lines.at]
            missed = sum(not seen >> b & 1 for b in bits)
            count[pathlib.Path(path).parts[0]].update({"lines": len(bits), "missed": missed})
            if bits and missed == len(bits):
                functions.append((missed, f"{path}:{first}: {code[first - 1].strip()}"))
    for folder, c in count.items():
        print(f"{folder}: no test executes {c['missed']} of {c['lines']} lines ({100 * c['missed'] / c['lines']:.1f}%)")
    print(*(f"{n} lines  {text}" for n, text in sorted(functions, reverse=True)), sep="\n")


def report(changes, score, least):
    """Prints the score; whether one is too low."""
    low = False
    for folder, counts in score.items():
        tried = counts["noticed"] + counts["survives"] + counts["not executed"]
        share = counts["noticed"] / tried if tried else 1
        low = low or 100 * share < least
        print(f"{folder}: {100 * share:.0f}% of {tried} noticed ({dict(counts)}), of {len(changes[folder])} drawn")
    own, used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{own.ru_utime + own.ru_stime + used.ru_utime + used.ru_stime:.0f} s of the processor")
    return low


def rules():
    """What equivalent.txt excuses, and what is wrong with it: a rule that is, excuses nothing."""
    known = equivalents()
    wrong = wrong_rules([c for some in all_changes(["models", "mesh", "cost", "search"]).values() for c in some], known)
    print(*wrong.values(), sep="\n", end="\n" if wrong else "")
    return {rule: reason for rule, reason in known.items() if rule not in wrong}, bool(wrong)


def main():
    options, (known, wrong) = arguments(), rules()
    changes = chosen(options)
    if options.list:
        return 0
    begin = time.monotonic()
    build = Build(options.build, options.jobs)
    build.link_program()
    lines = Lines(build.traced)
    tests = asked.all_tests(build, lines, options.ask)
    judge = Judge(build, lines, tests, options.tests_seconds, known)
    print(f"{len(judge.tests)} of {len(tests)} tests can be asked, {sum(t.seconds for t in judge.tests):.0f} s of them; "
          f"learnt in {time.monotonic() - begin:.0f} s", flush=True)
    print("not asked, since they fail or are slow as things are:",
          ", ".join(sorted(t.name for t in tests if t not in judge.tests)) or "none", flush=True)
    if options.dark:
        dark(lines, judge.tests, options.folders)
        return 0
    score = {f: collections.Counter() for f in changes}
    with open(build.folder / "mutations.tsv", "w") as log:
        for change, what, test in judge_all(options, changes, judge, time.monotonic()):
            score[next(f for f in changes if change.path.is_relative_to(f))][what] += 1
            old, new = change.old.strip(), change.new.strip()
            print(what, change.path, change.line, old, new, change.code, test, sep="\t", file=log, flush=True)
            if what in ("survives", "not executed"):
                print(f"{what}: {change.path}:{change.line}: {old} -> {new}: {change.code}  [{test}]", flush=True)
    return 1 if report(changes, score, options.least) or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
