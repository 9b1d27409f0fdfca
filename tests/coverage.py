#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the sources was executed, folder by folder, by gcov: coverage.py BUILD [--least PERCENT] [--lines FOLDER]

BUILD is of the preset coverage, after its tests or any other commands (`ctest --preset coverage`). Each line and each
branch of base, models, mesh, cost and search counts once, also that of a header that many files include. --lines lists
those of a folder or file that were not executed. Exit 1 below --least percent of the lines.
"""
import argparse, collections, json, os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOUSE = ("base", "models", "mesh", "cost", "search")
BATCH = 20  # files that one gcov reads


def read(build):
    """{file: ({line: times}, {(line, branch): times})} of the sources, over all objects of the library."""
    objects = sorted(str(path) for path in build.rglob("*.gcno") if "shardopt_objects" in str(path))
    found = collections.defaultdict(lambda: (collections.Counter(), collections.Counter()))
    for i in range(0, len(objects), BATCH):
        done = subprocess.run(["gcov", "--json-format", "--stdout", "-b", *objects[i:i + BATCH]], cwd=build,
                              capture_output=True, text=True, check=True)
        for text in done.stdout.splitlines():
            unit = json.loads(text)
            for source in unit["files"]:
                path = os.path.relpath(os.path.join(unit["current_working_directory"], source["file"]), ROOT)
                if not path.startswith(tuple(name + "/" for name in HOUSE)):
                    continue
                lines, branches = found[path]
                for line in source["lines"]:
                    lines[line["line_number"]] += line["count"]
                    for number, branch in enumerate(line["branches"]):
                        if not branch["throw"]:
                            branches[line["line_number"], number] += branch["count"]
    return found


def share(counters):
    counted = [times > 0 for counter in counters for times in counter.values()]
    return sum(counted), len(counted)


def percent(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("build", type=pathlib.Path)
    words.add_argument("--least", type=float, default=0)
    words.add_argument("--lines")
    words = words.parse_args()
    found = read(words.build.resolve())
    if words.lines:
        for path in sorted(path for path in found if path.startswith(words.lines)):
            for line in sorted(line for line, times in found[path][0].items() if not times):
                print(f"{path}:{line}")
        return 0
    folders = collections.defaultdict(list)
    for path, counters in found.items():
        folders["/".join(os.path.dirname(path).split("/")[:2])].append(counters)
    print("| folder | lines | executed | branches | taken |\n|---|---:|---:|---:|---:|")
    for name, rows in [*sorted(folders.items()), ("all", list(found.values()))]:
        (hit, lines), (taken, branches) = share(row[0] for row in rows), share(row[1] for row in rows)
        print(f"| {name} | {lines:,} | {percent(hit, lines)} | {branches:,} | {percent(taken, branches)} |")
    if lines == 0 or 100 * hit / lines < words.least:
        print(f"FAIL: at least {words.least}% of the lines were to be executed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
