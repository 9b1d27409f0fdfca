#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plants violations of each rule in a copy of the sources and asserts that check.py finds them, and them alone.

"planted" gets a number in names of files and in their text, so that all can be planted at once."""
import pathlib, shutil, sys, tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check
from source import list_sources

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTHING = "/* Planted. */\n"

# (rule, file, name, files to write): what is planted, and the fault that it must be called.
PLANTED = [
    ("include", "base/planted.c", "cost/estimate.h", {"base/planted.c": '#include "cost/estimate.h"\n'}),
    ("include", "models/planted.c", "mesh/mesh.h", {"models/planted.c": '#include "mesh/mesh.h"\n'}),
    ("include", "mesh/planted.c", "models/model.h", {"mesh/planted.c": '#include "models/model.h"\n'}),
    ("include", "search/engine/walk/planted.c", "cost/measured/run.h",
     {"search/engine/walk/planted.c": '#include "cost/measured/run.h"\n'}),
    ("include", "search/graph/planted.c", "mesh/mesh.h", {"search/graph/planted.c": '#include "mesh/mesh.h"\n'}),
    ("include", "cost/planted.c", "glpk.h", {"cost/planted.c": "#include <glpk.h>\n"}),
    ("include", "cost/planted.c", "mesh.h", {"cost/planted.c": '#include "mesh.h"\n'}),
    ("cycle", "mesh/planted_one.h", "", {
        "mesh/planted_one.h": '#pragma once\n#include "mesh/planted_two.h"\n',
        "mesh/planted_two.h": '#pragma once\n#include "mesh/planted_one.h"\n'}),
    ("circle", "mesh/planted_one.c", "", {
        "mesh/planted_one.c": "int planted_first(int x) {\n    return x > 0 ? planted_second(x - 1) : 0;\n}\n",
        "mesh/planted_two.c": "int planted_second(int x) {\n    return planted_first(x);\n}\n"}),
    ("word", "words.txt", "planted", {"tests/architecture/words.txt": "planted 0 nothing\n",
                                      "mesh/planted.h": "/* planted */\n"}),
    ("proof", "docs/search.md", "planted()", {"docs/search.md": "`planted()` does not exist\n"}),
    ("proof", "docs/search.md", "search.planted", {"docs/search.md": "nor does `search.planted`\n"}),
    ("proof", "docs/search.md", "planted.c", {"docs/search.md": "nor `planted.c`\n"}),
    ("budget", "budget.txt", "base/nobody", {"tests/architecture/budget.txt": "base/nobody 5 rooms that are gone\n"}),
    ("call", "cost/planted.c", "fopen", {"cost/planted.c": 'void *planted(void) { return fopen("x", "r"); }\n'}),
    ("call", "search/engine/walk/planted.c", "getenv",
     {"search/engine/walk/planted.c": 'char *planted(void) {\n    return getenv("x"); /* not "getenv" */\n}\n'}),
    ("call", "search/cli/planted.c", "open_memstream",
     {"search/cli/planted.c": "void *planted(char **t, size_t *n) { return open_memstream(t, n); }\n"}),
    ("call", "search/cli/planted.c", "omp_get_max_threads",
     {"search/cli/planted.c": "int planted(void) { return omp_get_max_threads(); }\n"}),
    ("call", "models/planted.c", "stdout", {"models/planted.c": 'void planted(void) { fputs("x", stdout); }\n'}),
    ("variable", "cost/planted.c", "planted", {"cost/planted.c": "static int planted = 1;\n"}),
    ("variable", "cost/planted.c", "planted", {"cost/planted.c": 'const char *planted[] = {"x"};\n'}),
    ("variable", "cost/planted.c", "planted", {"cost/planted.c": "static int (*planted)(int, int);\n"}),
    ("variable", "cost/planted.c", "count",
     {"cost/planted.c": "int planted(void) {\n    static int count;\n    return ++count;\n}\n"}),
    ("variable", "cost/planted.h", "planted", {"cost/planted.h": "extern int planted;\n"}),
    ("alone", "mesh/planted.h", "", {"mesh/planted.h": "int planted(Nobody *nobody);\n"}),
    ("line", "cost/planted.c", "", {"cost/planted.c": "/* " + "é" * 115 + " */\n"}),
    ("line", "tests/planted.h", "", {"tests/planted.h": "/* " + "x" * 115 + " */\n"}),
    ("function", "search/engine/walk/planted.c", "planted",
     {"search/engine/walk/planted.c": "int planted(int x) {\n" + "    x++;\n" * 58 + "    return x;\n}\n"}),
    ("file", "mesh/planted.c", "", {"mesh/planted.c": NOTHING * 501}),
    ("parameters", "cost/planted.c", "planted",
     {"cost/planted.c": "int planted(int a, int b, int c, int d, int (*e)(int, int), int f, int g) { return a; }\n"}),
    ("mirror", "tests/cost/test_planted.c", "", {"tests/cost/test_planted.c": NOTHING}),
    ("room", "search/planted", "", {"search/planted/planted.c": NOTHING}),
    ("room", "base/nobody", "", {"tests/architecture/rooms.txt": "base/nobody  has no sources\n"}),
    ("exception", "exceptions.txt", "", {
        "tests/architecture/exceptions.txt": "call base/nobody.c:time it is not there\n"}),
]

# What looks like a violation and is none.
INNOCENT = {
    "cost/planted.h": "#pragma once\n#include <stdio.h>\nextern const int planted_table[2];\n"
                      "/* " + "é" * 114 + " */\nint planted(FILE *out, const char *what);\n",
    "cost/planted.c": '#include "cost/planted.h"\n// time(NULL), getenv("x")\n'
                      'const int planted_table[2] = {1, 2};\nstatic const char *const NAMES[] =\n'
                      '    {"stdout", "fopen(\\"x\\")"};\n'
                      "int planted(FILE *out, const char *what) {\n"
                      "    static const struct {\n        int time;\n    } T[] = {{1}};\n"
                      '    return fprintf(out, "%s %s %d", what, NAMES[0], T[0].time);\n}\n'
                      "struct planted { int (*time)(int); };\n"
                      "int planted_time(struct planted *p) { return p->time(1); }\n"
                      "int planted_six(int a, int b, int c, int d, int (*e)(int, int), int f) {\n    return a;\n}\n",
    "search/engine/walk/load_planted.c": 'void *planted_load(void) { return fopen("x", "r"); }\n',
    "tests/cost/test_planted.c": NOTHING,
}


def copied(folder):
    for path in list_sources(ROOT, [*check.HOUSE, "tests", "benchmarks"]):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    (folder / "tests/architecture").mkdir(parents=True, exist_ok=True)
    for name in ("rooms.txt", "exceptions.txt", "budget.txt", "words.txt"):
        shutil.copy(ROOT / "tests/architecture" / name, folder / "tests/architecture" / name)


def plant(folder, number, files):
    """Writes the files, each with a name of its own; text is added where the tree has the file."""
    for path, text in files.items():
        target = folder / path.replace("planted", f"planted_{number}")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a") as file:
            file.write(text.replace("planted", f"planted_{number}"))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder, wanted = pathlib.Path(name), set()
        copied(folder)
        plant(folder, 0, INNOCENT)
        for number, (rule, path, what, files) in enumerate(PLANTED, 1):
            plant(folder, number, files)
            wanted.add((rule, *(text.replace("planted", f"planted_{number}") for text in (path, what))))
        faults = [f for f in check.all_faults(folder) if "planted" in str(f) or "nobody" in str(f)]
        found = {(f.rule, f.path, f.name) for f in faults}
    for fault in sorted(wanted - found):
        print("not found:", *fault)
    for fault in faults:
        if (fault.rule, fault.path, fault.name) not in wanted:
            print("not planted:", fault)
    print(f"{len(wanted & found)} of {len(wanted)} planted faults found")
    return 0 if found == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
