#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""True certificates hold: those of the requests of requests.tsv, each verified whole.

    true.py SHARDOPT [quick | NAME...] [--seconds MOST]   quick: those of CI; --seconds: begin no other after so long

Prints for each the checker's words, its processor seconds and MB; exits 1 where one is refused."""
import os, resource, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
CHECK = os.path.join(HERE, "check.py")


def listed(asked):
    with open(os.path.join(HERE, "requests.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [(row[0], row[1]) for row in rows if not asked or row[0] in asked or (asked == ["quick"] and "quick" in row[2:])]


def used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def main():
    words = sys.argv[2:]
    most = float(words.pop(words.index("--seconds") + 1)) if "--seconds" in words else float("inf")
    begun, refused = time.time(), 0
    for name, request in listed([word for word in words if word != "--seconds"]):
        if time.time() - begun > most:
            break
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, "true." + end) for end in ("tsv", "json")]
            done = subprocess.run(f"{sys.argv[1]} plan {request} -q --sensitivity none --format json --certificate "
                                  f"{paths[0]} -o {paths[1]}", shell=True, capture_output=True, text=True, check=False)
            if done.returncode not in (0, 3):
                print(f"{name}: exit {done.returncode}: {done.stderr.strip()}", flush=True)
                refused += 1
                continue
            before = used()
            done = subprocess.run([sys.executable, CHECK, *paths, sys.argv[1], "--all"], capture_output=True, text=True,
                                  check=False)
            refused += done.returncode != 0
            print(f"{name}: {(done.stdout + done.stderr).strip()}; {used() - before:.1f} s, "
                  f"{os.path.getsize(paths[0]) / 1e3:.0f} kB", flush=True)
    print(f"{refused} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
