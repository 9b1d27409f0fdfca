#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes one operator, constant or comparison of the sources at a time, and looks whether a test notices.

mutate.py BUILD [--folders models mesh cost search] [--draw N] [--seed N] [--seconds S] [--jobs N]
                [--tests-seconds S] [--only FILE[:LINE] ...] [--survivors] [--list]

BUILD is a folder of its own, which is configured here: -O1, no optimisation of the whole, and the library as a shared one
whose functions can be replaced. A change is compiled alone, as a library that is loaded in front of that one, so that it
costs one file and no linking. Each test is run once as things are, while the loader says which functions it binds: that
gives its time and what it reaches (BUILD/tests.json, kept until its source changes). A change is then shown to the test
of its file, those of its folder and the others that reach the file, the fastest first, as long as these take
--tests-seconds of processor time as things are; at last to the scripts that run the whole program. A test has five times
its own time and 2 s, of the processor's, so that a busy machine notices nothing.

Folders may be below these: search/launch. --draw takes so many of each folder by a fixed seed (else all: some 10,000),
--seconds ends it early, --only takes those of a file or line, --survivors those that survived last time
(BUILD/mutations.tsv has what came of each). Lengths of buffers, texts and what only formats them are left alone.
equivalent.txt names changes that are none, each with its reason. Prints the score by folder and each survivor; exit 1:
under 95% in a folder.
"""
import argparse, collections, concurrent.futures, hashlib, json, os, pathlib, random, re, resource, shlex, subprocess, sys
import tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
# What clang-format puts blanks around is binary.
OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
             " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " % ": " + ", " && ": " || ",
             " || ": " && ", " += ": " -= ", " -= ": " += "}
TOKEN = re.compile("|".join(re.escape(o) for o in sorted(OPERATORS, key=len, reverse=True)) +
                   r"|(?<![\w.\"])(?:\d+\.\d+(?:e[-+]?\d+)?|\d+(?:e[-+]?\d+)?)(?![\w.\"])")
# Lines that are no code, or lengths of buffers; statements that write texts.
SKIP_LINE = re.compile(r"^\s*#|\bassert\(|_Static_assert|\bchar \**\w+\[[^]]*\]|_(SIZE|LENGTH|BYTES_MAX) = \d+|__attribute__")
SKIP_STATEMENT = re.compile(r"\b(error_set|hf_wrong|wrong|fprintf|snprintf|printf|prose_\w+|text_\w+|append\w*|say\w*|json_add_\w+|fputs)\(")
WHOLE_PROGRAM = ["gate/run.py", "recipes/run.py", "traces/round_trip.py"]
SIGN = re.compile(r"\? -1 : 1\b")  # what a comparison returns: its size says nothing
SLOW = 8  # s of the processor: such a test is asked for its own file alone
MEMORY = 4 << 30


def blanked(text):
    """The text with comments and literals of characters blank, in their places."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def changed(word):
    if word in OPERATORS:
        return OPERATORS[word]
    if "." in word or "e" in word:
        return f"({word} * 1.03125 + 1e-9)"
    return str(int(word) + 1)


TEXTS = {}  # of the sources, as they are when we begin


def changes_of(path):
    """(file, offset, old, new, line) of every change of a file."""
    text = TEXTS[path.relative_to(SOURCE)] = path.read_text()
    code, lines = blanked(text), text.split("\n")
    signs = {at for match in SIGN.finditer(code) for at in range(*match.span())}
    for match in TOKEN.finditer(code):
        number = code.count("\n", 0, match.start())
        begin = max(code.rfind(c, 0, match.start()) for c in ";{}") + 1
        statement = code[begin:match.end()]
        if match.start() in signs or SKIP_LINE.search(lines[number]) or SKIP_STATEMENT.search(statement):
            continue
        yield path.relative_to(SOURCE), match.start(), match.group(), changed(match.group()), number + 1


def code_of(path, number):
    return TEXTS[path].split("\n")[number - 1].strip()


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def run(words, cpu_seconds, wall_seconds, environment):
    """(exit status or None at the end of its time, processor seconds of it and its children)"""
    limits = ["prlimit", f"--cpu={cpu_seconds:.0f}", f"--as={MEMORY}", "--core=0"]
    process = subprocess.Popen(limits + [str(w) for w in words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=dict(os.environ, **environment), start_new_session=True)
    late = threading.Timer(wall_seconds, lambda: os.killpg(process.pid, 9))
    late.start()
    _, status, used = os.wait4(process.pid, 0)
    late.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


class Build:
    """The library as a shared one, and the tests that are linked with it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.library = self.folder / "libshardopt.so"
        self.programs = self.folder / "mutation"
        flags = f"-O1 -include {HERE / 'visible.h'}"
        cache = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if subprocess.run(["which", "ccache"], capture_output=True).returncode == 0 else []
        subprocess.run(["cmake", "-S", SOURCE, "-B", self.folder, "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS={flags}",
                        "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"] + cache, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", self.folder, "--parallel", str(os.cpu_count()), "--target", "shardopt_shared"],
                       check=True, stdout=subprocess.DEVNULL)
        self.programs.mkdir(exist_ok=True)
        self.compile = {}  # of a source, by target and not
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            file = pathlib.Path(entry["file"])
            if file.is_relative_to(SOURCE):
                self.compile[str(file.relative_to(SOURCE))] = shlex.split(entry["command"])
        self.headers = max(p.stat().st_mtime for p in SOURCE.rglob("*.h") if ".git" not in p.parts)
        self.lock = threading.Lock()
        self.saved = self.folder / "tests.json"
        self.tests = json.loads(self.saved.read_text()) if self.saved.exists() else {}

    def object(self, words, source, target):
        words = list(words)
        words[words.index("-o") + 1] = str(target)
        words[words.index("-c") + 1] = str(source)
        return subprocess.run(words + ["-w", "-g0"], cwd=self.folder, capture_output=True).returncode == 0

    def load_in_front(self, path, text, at):
        """The changed text as a library; None: it is no C any more."""
        source, target = at / pathlib.Path(path).name, at / "changed.o"
        source.write_text(text)
        words = [w for w in self.compile[str(path)] if not w.endswith("ccache") and w != "-Werror"]
        if not self.object(words, source, target):
            return None
        library = at / "libchanged.so"
        subprocess.run(["gcc", "-shared", "-Wl,-z,lazy", "-Wl,--no-as-needed", "-o", library, target, self.library,
                        f"-Wl,-rpath,{self.folder}", "-fopenmp"], check=True)
        return library

    def link(self, target, program):
        """Compiles and links a target of cmake with the shared library; False: it cannot be."""
        words = shlex.split((self.folder / f"CMakeFiles/{target}.dir/link.txt").read_text())
        words = [w for w in words if not w.endswith("ccache") and w != "-fno-lto"]
        words[words.index("-o") + 1] = str(program)
        at = next(i for i, w in enumerate(words) if w.endswith("libshardopt.a"))
        words[at:at + 1] = [str(self.library), f"-Wl,-rpath,{self.folder}", "-Wl,-z,lazy"]
        for i, word in enumerate(words):
            if word.endswith(".c.o"):
                source = re.sub(r"^CMakeFiles/[^/]*\.dir/(.*)\.o$", r"\1", word)
                words[i] = str(self.programs / f"{target}.{i}.o")
                if not self.object(self.compile[source], SOURCE / source, words[i]):
                    return False
        return subprocess.run(words, cwd=self.folder, capture_output=True).returncode == 0

    def learn(self, name, sources, words, program):
        """Links a test; its time as things are and the functions it binds, once for each text of it."""
        text = "".join(s.read_text() for s in sources)
        newest = max([self.headers] + [s.stat().st_mtime for s in sources])
        if sources and not (program.exists() and program.stat().st_mtime > newest):
            if not self.link(name if name in self.targets else "shardopt", program):
                self.tests[name] = {"seconds": None, "text": ""}
                return
        known = self.tests.get(name, {"seconds": None})
        if (known["seconds"] is not None or known.get("slow")) and known.get("text", hash_of(text)) == hash_of(text):
            known["text"] = hash_of(text)
            return
        with tempfile.TemporaryDirectory() as folder:
            status, used = run(words, 3 * SLOW, 900, {"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": f"{folder}/log"})
            found = subprocess.run(f"grep -aoh \"to [^ ]*libshardopt.so[.0-9]* .*: normal symbol .[a-zA-Z_0-9]*\" {folder}/log* | sed 's/.*symbol .//' | sort -u",
                                   shell=True, capture_output=True, text=True).stdout.split()
        self.tests[name] = {"seconds": used if status == 0 else None, "slow": used > 2 * SLOW, "functions": found, "words": [str(w) for w in words],
                            "text": hash_of(text)}
        with self.lock:
            self.saved.write_text(json.dumps(dict(self.tests)))

    def learn_all(self, jobs):
        self.targets = {}
        for source in sorted((SOURCE / "tests").rglob("test_*.c")):
            target = "_".join(source.relative_to(SOURCE / "tests").with_suffix("").parts)
            if (self.folder / f"CMakeFiles/{target}.dir/link.txt").exists():
                self.targets[target] = source
        program = self.folder / "shardopt"
        self.learn("shardopt", [SOURCE / "search/cli/main.c"], [program, "--version"], program)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            work = [pool.submit(self.learn, t, [s], [self.programs / t, "-j1", "--fail-fast"], self.programs / t)
                    for t, s in self.targets.items()]
            work += [pool.submit(self.learn, s, [], ["python3", SOURCE / "tests" / s, program], program) for s in WHOLE_PROGRAM]
            for done in work:
                done.result()

    def defined(self, path):
        """Functions of a source that others can call, and whether it has tables too, by which they may come in unseen."""
        at = self.folder / f"CMakeFiles/shardopt_objects.dir/{path}.o"
        names = [w.split()[-2:] for w in subprocess.run(["nm", "-g", "--defined-only", at], capture_output=True, text=True).stdout.splitlines()]
        return {n for kind, n in names if kind == "T"}, any(kind != "T" for kind, n in names)

    @staticmethod
    def shared(path, name):
        """How many folders a source and a test have in common, from the top."""
        count = 0
        while count < len(path.parent.parts) and name.startswith("_".join(path.parent.parts[:count + 1]) + "_"):
            count += 1
        return count

    def order(self, path, limit):
        """Tests for a source, the nearest and fastest first: a folder in common counts as five times the speed."""
        functions, unseen = self.defined(path)
        if unseen:
            for neighbour in (SOURCE / path.parent).glob("*.c"):
                functions |= self.defined(neighbour.relative_to(SOURCE))[0]
        own = "_".join(path.parent.parts + (f"test_{path.stem}",))
        ranked = []
        for name, test in self.tests.items():
            seconds = test["seconds"]
            if name == "shardopt" or seconds is None or (name != own and (seconds > SLOW or functions.isdisjoint(test["functions"]))):
                continue
            far = 1000 if name in WHOLE_PROGRAM else seconds / 5 ** (self.shared(path, name) + name.endswith("_" + path.stem))
            ranked.append((0 if name == own else far, name))
        spent, chosen = 0, []
        for _, name in sorted(ranked):
            spent += self.tests[name]["seconds"]
            if spent <= limit or name == own or (name in WHOLE_PROGRAM and not unseen):
                chosen.append(name)
        return chosen


def notices(build, change, limit):
    """The test that notices; "" if none does, None if the change does not compile."""
    path, offset, old, new, _ = change
    text = TEXTS[path]
    with tempfile.TemporaryDirectory() as folder:
        library = build.load_in_front(path, text[:offset] + new + text[offset + len(old):], pathlib.Path(folder))
        if not library:
            return None
        for name in build.order(path, limit):
            test = build.tests[name]
            status, _ = run(test["words"], 2 + 5 * test["seconds"], 120 + 60 * test["seconds"], {"LD_PRELOAD": str(library)})
            if status != 0:
                return name
    return ""


def equivalents():
    known = {}
    for line in (HERE / "equivalent.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            path, old, new, rest = (part.strip() for part in line.split(" | ", 3))
            code, reason = rest.rsplit(" | ", 1)
            known[path, old, new, code.strip()] = reason
    return known


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--folders", nargs="*", default=["models", "mesh", "cost", "search"])
    parser.add_argument("--draw", type=int)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests-seconds", type=float, default=20, help="of tests for one change, as things are")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def chosen(options):
    """The changes by folder."""
    changes = {f: sorted(c for p in sorted((SOURCE / f).rglob("*.c")) if not p.is_relative_to(SOURCE / "search/cli")
                         for c in changes_of(p)) for f in options.folders}
    again = set()
    if options.survivors:
        rows = (line.split("\t") for line in (pathlib.Path(options.build) / "mutations.tsv").read_text().splitlines())
        again = {(r[1], r[3], r[4], r[5]) for r in rows if r[0] == "survives"}
    for folder, found in changes.items():
        print(f"{folder}: {len(found)} changes")
        if options.only:
            found = [c for c in found if str(c[0]) in options.only or f"{c[0]}:{c[4]}" in options.only]
        if options.survivors:
            found = [c for c in found if (str(c[0]), c[2].strip(), c[3].strip(), code_of(c[0], c[4])) in again]
        if options.draw:
            found = random.Random(f"{folder} {options.seed}").sample(found, min(options.draw, len(found)))
        changes[folder] = found
    return changes


def judge_all(options, changes, build, known, begin):
    def judge(change):
        if time.monotonic() - begin > options.seconds:
            return change, "not tried", ""
        path, _, old, new, number = change
        if (str(path), old.strip(), new.strip(), code_of(path, number)) in known:
            return change, "equivalent", ""
        test = notices(build, change, options.tests_seconds)
        return change, "no C" if test is None else "noticed" if test else "survives", test or ""

    turns = [c for group in zip(*[f + [None] * (max(map(len, changes.values())) - len(f)) for f in changes.values()])
             for c in group if c]  # a folder after the other, so that an early end is fair
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(judge, turns)


def main():
    options = arguments()
    changes = chosen(options)
    if options.list:
        return 0
    build = Build(options.build)
    build.learn_all(options.jobs)
    asked = [t["seconds"] for t in build.tests.values() if t["seconds"] is not None]
    print(f"{len(asked)} of {len(build.tests)} tests can be asked, {sum(asked):.0f} s of them as things are", flush=True)
    print("not asked, since they fail or are slow as things are:",
          ", ".join(sorted(n for n, t in build.tests.items() if t["seconds"] is None)) or "none", flush=True)
    score = {f: collections.Counter() for f in changes}
    with open(build.folder / "mutations.tsv", "w") as log:
        for (path, _, old, new, number), what, test in judge_all(options, changes, build, equivalents(), time.monotonic()):
            folder = next(f for f in changes if path.is_relative_to(f))
            score[folder][what] += 1
            print(what, path, number, old.strip(), new.strip(), code_of(path, number), test, sep="\t", file=log, flush=True)
            if what == "survives":
                print(f"survives: {path}:{number}: {old.strip()} -> {new.strip()}: {code_of(path, number)}", flush=True)
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
