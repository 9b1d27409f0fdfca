#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two static analysers over every source outside tests: clang-tidy (.clang-tidy says which checks) and gcc -fanalyzer.

    analyze.py BUILD [--jobs N] [--update] [FILE...]    exit 1 if there is a finding that analyze.txt does not name

BUILD was configured with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON. analyze.txt has a line for each file and check whose findings
are false: FILE CHECK reason. A line that nothing needs any more is a fault too. --update writes the list anew: reasons
stay, and what has none yet gets a question mark, which is refused.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, re, shlex, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests/analyze.txt"
HOUSE = ("base/", "models/", "mesh/", "cost/", "search/")
FOUND = re.compile(r"^(\S+?):(\d+):\d+: warning: (.*) \[(?:CWE-\d+\] \[)?-?W?([\w.-]+(?:,[\w.-]+)*)\]$", re.M)


def commands(build):
    """{source: how the build compiles it, without -o and -c}."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
        words = shlex.split(entry["command"])
        if path.startswith(HOUSE):
            place = words.index("-o")
            found[path] = [word for word in words[:place] + words[place + 2:] if word not in ("-c", "-Werror", entry["file"])]
    return found


def analyze(path, words, build):
    """What both say of a source: [(file, line, check, text)]."""
    gcc = [*words, "-O1", "-fanalyzer", "-fdiagnostics-plain-output", "-fdiagnostics-path-format=none", "-fno-lto", "-S",
           "-o", "/dev/null", str(ROOT / path)]
    tidy = ["clang-tidy", "-p", str(build), "--quiet", str(ROOT / path)]
    said = ""
    for command in (gcc, tidy):
        done = subprocess.run(["nice", *command], cwd=build, capture_output=True, text=True,
                              env={**os.environ, "LC_ALL": "C", "CCACHE_DISABLE": "1"})
        if done.returncode and "warning" not in done.stdout:
            return [(path, "0", "failed", done.stderr.strip()[-300:])]
        said += done.stdout + done.stderr
    return sorted({(os.path.relpath(os.path.join(build, file), ROOT), line, check.split(",")[0], text)
                   for file, line, text, check in FOUND.findall(said)})


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("build", type=pathlib.Path)
    words.add_argument("files", nargs="*")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--update", action="store_true")
    words = words.parse_intermixed_args()
    build = words.build.resolve()
    known = {}
    for line in LIST.read_text().splitlines() if LIST.exists() else []:
        if line and not line.startswith("#"):
            path, check, reason = line.split(" ", 2)
            known[path, check] = reason
    sources = {path: how for path, how in commands(build).items() if not words.files or path in words.files}
    found = collections.defaultdict(set)
    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        for rows in pool.map(lambda item: analyze(*item, build), sources.items()):
            for path, line, check, text in rows:
                found[path, check].add((int(line), text))
    if words.update:
        head = "".join(line + "\n" for line in LIST.read_text().splitlines() if line.startswith("#")) if LIST.exists() else ""
        LIST.write_text(head + "".join(f"{path} {check} {known.get((path, check), '?')}\n" for path, check in sorted(found)))
    failed = 0
    for (path, check), rows in sorted(found.items()):
        if words.update or known.get((path, check), "?") == "?":
            for line, text in sorted(rows):
                print(f"{path}:{line}: {check}: {text}")
            failed += not words.update
    for path, check in sorted(set(known) - set(found)):
        if not words.files and not words.update:
            print(f"{path}: {check}: analyze.txt lists it, and there is no such finding any more")
            failed += 1
    print(f"{len(sources)} sources, {len(found)} kinds of findings, {failed} not in {LIST.name}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
