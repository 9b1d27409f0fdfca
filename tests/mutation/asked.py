# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests that mutate.py asks: each case of a program of Criterion alone, each transcript of the pages, each request
of first_answers, each command of the snapshot, each ten typed lines, and the scripts that run the whole program. What each takes, and the lines that it executes, come from
one run of it with the traced library in front; BUILD/tests.json keeps both until the test or a file that it executes changes."""
import ast, concurrent.futures, json, pathlib, re, subprocess, tempfile, threading
from build import hash_of, run
from changes import HERE, SOURCE

TESTS = SOURCE / "tests"
SLOW = 10  # s of the processor: such a test is not asked
MARKED = 2  # so many times as long a test takes with the traced library
# Those that are too slow as they are, and how they are asked for less.
LESS = {"search_engine_test_search": {"SHARDOPT_PROBLEMS": "16"}, "search_engine_test_random_commands": {"SHARDOPT_PROBLEMS": "8"},
        "search_rl_test_rl_answer": {"RL_PROBLEMS": "8"}}
SCRIPTS = ["gate/run.py", "recipes/run.py", "traces/round_trip.py", "traces/bench.py", "traces/samples.py",
           "certificate/run_serving.py quick", "rl/simulate.py", "rl/first_answers.py", "rl/replay.py --check",
           *(f"rl/figures.py {first}-{first + 3}" for first in range(1, 26, 4)), *(f"rl/frameworks.py {first}" for first in range(1, 5)),
           *(f"launch/tuning_keys.py {some}" for some in ("1-4", "5-8", "9-12", "13-27", "28-42", "43-55", "56-99"))]
TYPED = 10  # rows of typed lines that are asked together
PAGES = ["README.md", "CONTRIBUTING.md"]


class Test:
    """`near`: the file that it tests, with _ for /; `sources`: what makes it another test, files or texts; `scripted`: the changed
    library goes before the program alone, not before the shell or the Python that runs it; `or_else`: other words for
    it, if it fails by these."""

    def __init__(self, name, words, near, sources, scripted=False, environment=None, or_else=()):
        self.name, self.near, self.scripted, self.or_else = name, near, scripted, or_else
        self.words, self.environment = [str(w) for w in words], dict(environment or {})
        self.text = hash_of("".join(s if isinstance(s, str) else s.read_text() for s in sources) + " ".join(self.words) + str(self.environment))
        self.seconds, self.mask, self.confirmed = None, 0, False

    def run(self, libraries, trace=None, more=1):
        """(exit status, processor seconds), with one of (for scripts, for programs of Criterion) in front; `more`: it takes so
        many times as long"""
        most = 2 * MARKED * SLOW if trace else 2 + 5 * more * self.seconds
        variable, library = ("SHARDOPT_IN_FRONT", libraries[0]) if self.scripted else ("LD_PRELOAD", libraries[1])
        environment = {**self.environment, variable: str(library)}
        environment.update({"SHARDOPT_TRACE": trace} if trace else {})
        return run(self.words, most, 120 + 20 * most, environment, SOURCE)

    def load(self, kept, lines, changed):
        """Takes what was kept, if the test is the same and no file that it executes has changed."""
        if kept.get("text") != self.text or "" in changed or not changed.isdisjoint(kept["lines"]):
            return False
        self.seconds, self.words, self.mask = kept["seconds"], kept["words"], lines.unpacked(kept["lines"])
        return True

    def saved(self, lines):
        return {"text": self.text, "seconds": self.seconds, "words": self.words, "lines": lines.packed(self.mask)}


def cases(build, target, source):
    """The cases of a program of Criterion."""
    folder = source.with_suffix("").parent / source.stem.removeprefix("test_")  # sources of that program alone
    sources = [source, *(p for p in sorted(folder.glob("*.c")) if not p.name.startswith("test_")), *source.parent.glob("*.h")]
    program = build.programs / target
    if not build.link(target, sources, program):
        print(f"{target} cannot be linked with a shared library", flush=True)
        return
    suite = None
    for line in subprocess.run([program, "--list"], capture_output=True, text=True).stdout.splitlines():
        if match := re.match(r"(\w+): \d+ tests?$", line):
            suite = match.group(1)
        elif match := re.match(r"\W+ (\w+)$", line):
            case = f"{suite}/{match.group(1)}"
            yield Test(f"{target}:{case}", [program, "-j1", "--filter", case], target.replace("test_", ""), sources,
                       environment=LESS.get(target))


def transcripts(build):
    """One transcript of a page each, by readme.sh; with those before it whose files it reads."""
    script = TESTS / "install/readme.sh"
    for page in PAGES + sorted(str(p.relative_to(SOURCE)) for p in (SOURCE / "docs").glob("*.md")):
        marks = re.findall(r"^<!-- (slow )?example -->$", (SOURCE / page).read_text(), flags=re.M)
        for number, slow in enumerate(marks, 1):
            if not slow:
                words = [["sh", str(script), "--only", f"{first}-{number}", page] for first in range(number, 0, -1)]
                yield Test(f"{page}:{number}", words[0], "", [SOURCE / page, script], True,
                           {"BUILD": str(build.wrapped.parent), "SOURCE": str(SOURCE)}, words[1:])


def snapshot(build):
    """One command of the snapshot each, which knows that something moved: what has values of its own is asked without these
    by --ask '^(?!snapshot)'."""
    script = TESTS / "snapshot/run.py"
    lines = [(n, line) for n, line in enumerate((TESTS / "snapshot/commands.txt").read_text().splitlines(), 1)
             if line.strip() and not line.startswith("#")]
    for (number, line), digest in zip(lines, (TESTS / "snapshot/digests.txt").read_text().splitlines()):
        yield Test(f"snapshot:{number}", ["python3", script, "check", "--only", number, "--program", build.wrapped, "--repo", SOURCE],
                   "", [line, digest], True)


def scripts(build):
    first = TESTS / "first_answers/run.py"
    quick = next(ast.literal_eval(s.value) for s in ast.parse(first.read_text()).body
                 if isinstance(s, ast.Assign) and s.targets[0].id == "QUICK")
    for name in quick:
        yield Test(f"first answer: {name}", ["python3", first, build.wrapped, name], "", [first], True)
    for line in SCRIPTS:
        script, *more = line.split()
        near = {"rl": "search_rl", "launch": "search_launch_trl"}.get(line.split("/")[0], "")
        yield Test(line, ["python3", TESTS / script, build.wrapped, *more], near, [TESTS / script], True)
    for path in sorted((TESTS / "search/cli").glob("test_*.py")):
        methods = [f"{c.name}.{f.name}" for c in ast.parse(path.read_text()).body if isinstance(c, ast.ClassDef)
                   for f in c.body if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")]
        for name in methods:
            yield Test(f"{path.stem}:{name}", ["python3", path, name], "", [path, path.parent / "program.py"], True,
                       {"SHARDOPT_PROGRAM": str(build.wrapped), "PYTHONDONTWRITEBYTECODE": "1"})
    script = TESTS / "search/cli/test_lines.py"
    for path in sorted((TESTS / "search/cli/lines").glob("*.tsv")):
        rows = [line for line in path.read_text().splitlines() if line[:1].isdigit()]
        for first in range(0, len(rows), TYPED):
            shared = [line for line in path.read_text().splitlines() if line.startswith(("setup", "before"))]
            yield Test(f"lines: {path.stem} {first + 1}", ["python3", script, path.stem], "",
                       [script, *shared, *rows[first:first + TYPED]], True,
                       {"SHARDOPT_PROGRAM": str(build.wrapped), "ROWS": f"{first + 1}-{first + TYPED}"})
    package = TESTS / "python/test_shardopt.py"
    yield Test("python", ["python3", package], "", [package], True,
               {"PYTHONPATH": str(SOURCE / "python"), "SHARDOPT_PROGRAM": str(build.wrapped), "PYTHONDONTWRITEBYTECODE": "1"})


def learn(build, lines, test, kept, changed):
    """Runs a test with the traced library, unless what came of it is kept."""
    if test.load(kept.get(test.name, {}), lines, changed):
        return False
    for words in [test.words, *test.or_else]:
        test.words = words
        with tempfile.NamedTemporaryFile(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as trace:
            trace.truncate(lines.size)
            status, used = test.run((build.traced, build.traced), trace.name)
            if status == 0:
                test.mask, test.seconds = lines.executed(pathlib.Path(trace.name).read_bytes()), used / MARKED
                break
    return True


def all_tests(build, lines, pattern):
    """Every test whose name has a pattern, what it takes (None: it fails as things are), and its lines."""
    path, lock, since = build.folder / "tests.json", threading.Lock(), 0
    kept = json.loads(path.read_text()) if path.exists() else {"tests": {}, "texts": {}}
    tests, before, texts = kept["tests"], kept["texts"], lines.texts()
    changed = {p for p in before.keys() | texts.keys() if before.get(p) != texts.get(p)}
    if changed:  # those that are not asked today must not be taken for what they are tomorrow
        tests = {n: t for n, t in tests.items() if t["lines"] and "" not in changed and changed.isdisjoint(t["lines"])}
    sources = {"_".join(s.relative_to(TESTS).with_suffix("").parts): s for s in sorted(TESTS.rglob("test_*.c"))}
    sources = {t: s for t, s in sources.items() if (build.folder / f"CMakeFiles/{t}.dir/link.txt").exists()}
    with concurrent.futures.ThreadPoolExecutor(build.jobs) as pool:
        named = [i for i in sources.items() if re.search(pattern, i[0])]
        found = [t for some in pool.map(lambda i: list(cases(build, *i)), named) for t in some]
        found += [t for t in [*transcripts(build), *scripts(build), *snapshot(build)] if re.search(pattern, t.name)]

        def one(test):
            nonlocal since
            new = learn(build, lines, test, tests, changed)
            with lock:
                tests[test.name] = test.saved(lines)
                since += new
                if since >= 50:
                    path.write_text(json.dumps({"texts": texts, "tests": tests}))
                    since = 0
        list(pool.map(one, found))
    path.write_text(json.dumps({"texts": texts, "tests": tests}))
    return found
