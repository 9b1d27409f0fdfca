#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the house in order: who includes whom, what is pure, what stands alone, how long things are.

check.py [--root DIR] [--only RULE]     each fault as `FILE:LINE: RULE: what`; exit 1 if there is one
check.py --drop-stale                   deletes the exceptions that nothing needs any more
check.py [--root DIR] --graph           rooms, levels and arrows between rooms, of any checkout

rooms.txt lists the rooms and who may include whom; budget.txt how many lines of C each may have; words.txt private words
that are given up; exceptions.txt lists what is tolerated, each line with its reason.
An exception that nothing needs any more is a fault too. planted.py shows that every rule is able to fail.
"""
import argparse, collections, concurrent.futures, os, pathlib, re, shlex, subprocess, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import graph
from source import Source, is_const, list_sources

HOUSE = ["base", "models", "mesh", "cost", "search"]
LINE, FILE, FUNCTION, PARAMETERS = 120, 500, 60, 6  # at most

# Files, directories, environment, clocks, locale, process, standard streams.
CALLS = """
    fopen freopen fdopen open openat creat opendir fdopendir readdir scandir mkdir rmdir remove rename unlink mkstemp
    tmpfile stat lstat fstat access realpath getcwd chdir readlink
    getenv secure_getenv setenv putenv clock_gettime clock
    time gettimeofday localtime localtime_r omp_get_wtime setlocale uselocale newlocale
    printf vprintf puts putchar perror
    scanf getchar isatty ioctl getpid gethostname exit _exit quick_exit abort atexit signal sigaction raise fork system
    popen execv execvp rand srand random srandom drand48 getrandom sleep usleep nanosleep socket omp_set_num_threads
    glp_term_out glp_free_env""".split()
STREAMS = ["stdout", "stderr", "stdin", "environ"]
THREAD_LOCAL = ["_Thread_local", "thread_local", "__thread"]


class Fault:
    """`name` is what an exception may name after the file: a header, a function, a variable."""

    def __init__(self, rule, path, line, name, what):
        self.rule, self.path, self.line, self.name, self.what = rule, path, line, name, what

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.what}"


def inside(path, place):
    return path == place or path.startswith(place + "/")


class Rooms:
    def __init__(self, path):
        self.path, self.order, self.apart, self.sees, self.doors, self.open, self.registries = path, [], [], {}, {}, [], []
        for line in path.read_text().splitlines():
            words = line.split()
            if not words or line.startswith("#"):
                continue
            if words[0] == "apart":
                self.apart.append(set(words[1:]))
            elif words[0] == "sees":
                self.sees[words[1]] = set(words[1:])
            elif words[0] == "door":
                self.doors[words[1]] = words[2:]
            elif words[0] == "open":
                self.open.append(words[1])
            elif words[0] == "registry":
                self.registries.append(words[1])
            else:
                self.order.append(words[0])

    def why_not(self, room, other):
        """Why a file of the room must not include one of the other; None if it may."""
        if other not in self.order or room == other or room not in self.order:
            return None
        if room in self.sees and other not in self.sees[room]:
            return f"{room} may see {' '.join(sorted(self.sees[room]))} alone"
        if any(room in group and other in group for group in self.apart):
            return f"{room} and {other} stay apart"
        if self.order.index(other) > self.order.index(room):
            return f"{other} stands above {room}"
        return None


def check_rooms(house, rooms):
    folders = {s.folder for s in house}
    for folder in sorted(folders - set(rooms.order)):
        yield Fault("room", folder, 1, "", f"this folder has sources and is not listed in {rooms.path.name}")
    for room in rooms.order:
        if room not in folders:
            yield Fault("room", room, 1, "", f"{rooms.path.name} lists it, and it has no sources")


def check_includes(house, rooms, root):
    for source in house:
        for line, name, quoted in source.includes:
            for door, places in rooms.doors.items():
                if inside(name, door) and name not in rooms.open and not any(inside(source.path, place) for place in places):
                    yield Fault("include", source.path, line, name, f"{name} is for {' '.join(places)} alone")
            if not quoted:
                continue
            if not pathlib.Path(root, name).is_file():
                yield Fault("include", source.path, line, name, f'"{name}" is no path from the root of the tree')
            elif why := rooms.why_not(source.folder, os.path.dirname(name)):
                yield Fault("include", source.path, line, name, f"{name}: {why}")


def check_cycles(house):
    """Headers that include each other, in one room or in several."""
    edges = {s.path: [n for _, n, quoted in s.includes if quoted] for s in house}
    for cycle in graph.cycles(edges):
        yield Fault("cycle", min(cycle), 1, "", "these include each other: " + " ".join(sorted(cycle)))


def check_circles(house, registries):
    """Files that call each other in a circle. A registry is a table of the structs of others: what it names is no arrow."""
    defined, arrows = {}, {}
    for source in house:
        if source.name.endswith(".c"):
            for name in source.public:
                defined.setdefault(name, source.path)
    for source in house:
        if not source.name.endswith(".c"):
            continue
        own = {f.name for f in source.parsed[0]} | source.public
        used = set(re.findall(r"(?<![\w.])(?<!->)(\w+(?=\s*\()|[A-Z][A-Z0-9_]+)\b", source.code)) - own
        used = set() if source.path in registries else used
        arrows[source.path] = {defined[name] for name in used & defined.keys()} - {source.path}
    for circle in graph.cycles(arrows):
        yield Fault("circle", min(circle), 1, "", "these call each other: " + " ".join(sorted(circle)))


def lines_by_room(house, beside):
    lines = {"all": 0, "tests": 0}
    for source in sorted(house + beside, key=lambda s: s.folder):
        kind = "tests" if inside(source.path, "tests") else "all"
        lines[kind] += len(source.lines)
        if kind == "all":
            lines[source.folder] = lines.get(source.folder, 0) + len(source.lines)
    return lines


def check_budget(house, beside, rooms, path):
    """Lines of C by room, and of the whole, against budget.txt."""
    lines, budget = lines_by_room(house, beside), {}
    for number, line in enumerate(path.read_text().splitlines() if path.is_file() else [], 1):
        words = line.split()
        if words and not line.startswith("#"):
            budget[words[0]] = int(words[1])
            if words[0] not in lines:
                yield Fault("budget", path.name, number, words[0], f"there is no room {words[0]}")
    for room, count in lines.items():
        if room not in budget and room in rooms.order:
            yield Fault("budget", room, 1, "", f"has {count} lines of C, and no budget")
        elif count > budget.get(room, count):
            yield Fault("budget", room, 1, "", f"has {count} lines of C, its budget is {budget[room]}: what does a user "
                        "get for them? budget.txt is raised by a commit that says it")


def check_proof(root):
    """What docs/search.md names is there: `function()`, `file.c`, `folder/file.c` and `suite.test` of the tests."""
    page = pathlib.Path(root, "docs/search.md")
    if not page.is_file():
        return
    sources = list_sources(root, [*HOUSE, "tests", "benchmarks"])
    code = "\n".join(pathlib.Path(root, f).read_text() for f in sources)
    tests = {f"{suite}.{name}" for suite, name in re.findall(r"\bTest\((\w+), (\w+)", code)}
    suites = {name.split(".")[0] for name in tests}
    called = set(re.findall(r"\b(\w+)\(", code))
    for number, line in enumerate(page.read_text().split("\n"), 1):
        for name in re.findall(r"`([a-z][\w/.]*?(?:\(\)|\.\w+))`", line):
            if name.endswith("()"):
                there = name[:-2] in called
            elif "/" in name or name.endswith((".c", ".h")):
                there = pathlib.Path(root, name).exists() or any(f.endswith("/" + name) for f in sources)
            else:
                there = name in tests or name.split(".")[0] not in suites or name.startswith("search.certificate")
            if not there:
                yield Fault("proof", "docs/search.md", number, name, f"there is no {name}")


def check_words(house, root, path):
    """Private words that the house gave up: none more than words.txt still tolerates, in C and in pages."""
    pages = [p for p in pathlib.Path(root).glob("**/*.md") if p.name != "CHANGELOG.md" and not re.search("build|node_modules", str(p))]
    text = "\n".join(s.text for s in house if not inside(s.path, "search/graph"))
    text += "\n".join(p.read_text(encoding="utf-8") for p in pages)
    text = re.sub(r"""\\?(["`])\w+\\?\1""", "", text)  # keys
    counted = collections.Counter(re.findall(r"\w+", text))
    for number, line in enumerate(path.read_text().splitlines() if path.is_file() else [], 1):
        if line.strip() and not line.startswith("#"):
            word, most, instead = line.split(None, 2)
            one = re.fullmatch(r"\w+", word)
            count = counted[word] if one else len(re.findall(rf"\b{word.replace('+', ' ')}\b", text))
            if count > int(most):
                yield Fault("word", path.name, number, word, f"{count} of \"{word}\", at most {most} are left: say {instead}")


def reads_world(path):
    """Where files are read and the world is seen at all."""
    return inside(path, "search/cli") or path == "base/file.c" or re.fullmatch(r"load_\w+[.]c", os.path.basename(path))


def check_calls(house):
    for source in house:
        for line, name in source.calls(["open_memstream"]):
            yield Fault("call", source.path, line, name, f"{name} forgets that memory ran out: base/memory_stream.h")
        if source.path != "base/threads.c":
            for line, name in source.calls(["omp_get_max_threads"]):
                yield Fault("call", source.path, line, name, f"{name} may be more than there are: base/threads.h")
        if not reads_world(source.path):
            for line, name in [*source.calls(CALLS), *source.words(STREAMS)]:
                yield Fault("call", source.path, line, name, f"{name} belongs to search/cli, base/file.c or a load_*.c")


def check_variables(house):
    for source in house:
        if inside(source.path, "search/cli"):
            continue
        for variable in source.parsed[1]:
            if not is_const(variable.declaration):
                what = f"{variable.name} is not const: state belongs to who calls"
                yield Fault("variable", source.path, variable.line, variable.name, what)
        for line, name in source.words(THREAD_LOCAL):
            yield Fault("variable", source.path, line, name, f"{name}: state belongs to who calls")


def compile_flags():
    answer = subprocess.run(["pkg-config", "--cflags", "libcjson"], capture_output=True, text=True)
    return ["-std=gnu11", "-D_GNU_SOURCE", "-w", *shlex.split(answer.stdout)]


def check_alone(house, root):
    """Each header compiles when it is the only one that is included."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-fsyntax-only", *compile_flags(), "-I", str(root), "-x", "c", "-"]

    def compiled(path):
        return path, subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for path, answer in pool.map(compiled, [s.path for s in house if s.name.endswith(".h")]):
            if answer.returncode != 0:
                errors = [line for line in answer.stderr.splitlines() if "error" in line] or ["it does not compile"]
                yield Fault("alone", path, 1, "", "does not compile by itself: " + errors[0])


def check_sizes(house, beside):
    for source in house + beside:
        for number, line in enumerate(source.lines, 1):
            if len(line) > LINE:
                yield Fault("line", source.path, number, "", f"{len(line)} columns, at most {LINE}")
        if len(source.lines) > FILE:
            yield Fault("file", source.path, len(source.lines), "", f"{len(source.lines)} lines, at most {FILE}")
        for function in source.parsed[0] if source in house else []:  # a test may be a long list of cases
            if function.lines > FUNCTION:
                what = f"{function.name} has {function.lines} lines, at most {FUNCTION}"
                yield Fault("function", source.path, function.first, function.name, what)
            if function.parameters > PARAMETERS:
                what = f"{function.name} has {function.parameters} parameters, at most {PARAMETERS}"
                yield Fault("parameters", source.path, function.first, function.name, what)


def check_mirror(tests, root):
    """tests/ROOM/test_NAME.c tests ROOM/NAME.c or ROOM/NAME.h."""
    for path in tests:
        m = re.fullmatch(r"tests/(.*/)?test_(\w+)[.]c", path)
        if m and not any(pathlib.Path(root, (m[1] or "") + m[2] + end).is_file() for end in (".c", ".h")):
            yield Fault("mirror", path, 1, "", f"there is no {m[1] or ''}{m[2]}.c or .h that it could test")


def tolerated(faults, path, only):
    """The faults that no line of the file excuses, and a fault for each line that excuses none."""
    excuses = {}
    for number, line in enumerate(path.read_text().splitlines() if path.is_file() else [], 1):
        words = line.split(None, 2)
        if words and not line.startswith("#"):
            if len(words) < 3:
                yield Fault("exception", path.name, number, "", "wants RULE FILE[:NAME] reason")
            excuses[tuple(words[:2])] = number
    used = set()
    for fault in faults:
        keys = {(fault.rule, fault.path), (fault.rule, f"{fault.path}:{fault.name}")} & set(excuses)
        used |= keys
        if not keys:
            yield fault
    for key, number in excuses.items():
        if key not in used and only in (None, key[0]):
            what = f"nothing needs `{' '.join(key)}` any more: delete the line"
            yield Fault("exception", path.name, number, "", what)


def take_budget(house, beside, here):
    """Writes budget.txt with the lines that are there."""
    (here / "budget.txt").write_text("""# Lines of C (comments and blanks too) that each room may have, all outside tests, and the tests. A commit that raises a
# line says in its message what a user gets for it; one that makes a room smaller lowers it (check.py --take-budget).
""" + "".join(f"{room:30} {count}\n" for room, count in lines_by_room(house, beside).items()))


def drop_stale(path, stale):
    """Deletes the lines of the file that no fault needs."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for number, line in enumerate(lines, 1) if number not in stale))


def all_faults(root, only=None):
    """Every fault of the checkout at root, by its own list of rooms and exceptions."""
    here = pathlib.Path(root, "tests/architecture")
    rooms = Rooms(here / "rooms.txt")
    house = [Source(root, path) for path in list_sources(root, HOUSE)]
    beside = [Source(root, path) for path in list_sources(root, ["tests", "benchmarks"])]
    plain = [Source(root, path) for path in list_sources(root, ["examples"])]
    rules = [
        (("room",), lambda: check_rooms(house, rooms)),
        (("include",), lambda: check_includes(house, rooms, root)),
        (("cycle",), lambda: check_cycles(house)),
        (("circle",), lambda: check_circles(house, rooms.registries)),
        (("budget",), lambda: check_budget(house, beside + plain, rooms, here / "budget.txt")),
        (("word",), lambda: check_words(house, root, here / "words.txt")),
        (("proof",), lambda: check_proof(root)),
        (("call",), lambda: check_calls(house)),
        (("variable",), lambda: check_variables(house)),
        (("alone",), lambda: check_alone(house, root)),
        (("line", "file", "function", "parameters"), lambda: check_sizes(house, beside)),
        (("mirror",), lambda: check_mirror([s.path for s in beside], root)),
    ]
    faults = [f for names, rule in rules if only is None or only in names for f in rule()]
    return list(tolerated([f for f in faults if only in (None, f.rule)], here / "exceptions.txt", only))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parents[2]))
    parser.add_argument("--only", metavar="RULE")
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--drop-stale", action="store_true", help="delete the exceptions that nothing needs any more")
    parser.add_argument("--take-budget", action="store_true", help="write budget.txt with the lines that are there")
    options = parser.parse_args()
    if options.take_budget:
        house, beside = ([Source(options.root, p) for p in list_sources(options.root, folders)]
                         for folders in (HOUSE, ["tests", "benchmarks", "examples"]))
        take_budget(house, beside, pathlib.Path(options.root, "tests/architecture"))
    if options.graph:
        graph.draw(options.root)
        return 0
    faults = all_faults(options.root, options.only)
    if options.drop_stale:
        stale = {f.line for f in faults if f.rule == "exception" and f.what.startswith("nothing needs")}
        drop_stale(pathlib.Path(options.root, "tests/architecture/exceptions.txt"), stale)
        faults = [f for f in faults if f.rule != "exception" or f.line not in stale]
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults" if faults else "the house is in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
