#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""packaging/dependencies.tsv is where dependencies stand: what README.md, .ci/run, action.yml and the Debian package name
is what it says, no more and no less; and what the build looks for has a row."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
rows = [line.split("\t") for line in (ROOT / "packaging/dependencies.tsv").read_text().splitlines() if not line.startswith("#")]
failures = 0


def expect(name, have, want):
    global failures
    print("ok" if have == want else "FAIL", name)
    if have != want:
        failures += 1
        print(" ", "missing:", *sorted(want - have), "; not in dependencies.tsv:", *sorted(have - want))


def named(text):
    """Packages behind apt-get install, or behind the word install of .ci/run: -dev packages and the three tools."""
    return set(re.findall(r"\b[a-z0-9.+]+(?:-[a-z0-9.+]+)*-dev\b|\bbuild-essential\b|\bcmake(?= pkg-config)|\bpkg-config\b", text))


def use(word):
    return {row[0] for row in rows if word in row[1].split()}


def section(path, begin, end):
    text = (ROOT / path).read_text(encoding="utf-8")
    return text[text.index(begin) : text.index(end, text.index(begin) + len(begin))]


expect("each row has five columns", {len(row) for row in rows}, {5})
expect("README.md, to build", named(section("README.md", "<!-- setup -->", "<!-- /setup -->")), use("build"))
expect("README.md, with tests", named(section("README.md", "<!-- tests -->", "<!-- /tests -->")), use("build") | use("test"))
expect(".ci/run", named(section(".ci/run", "install_base() {", "\n}")), use("build") | use("test"))
expect("action.yml", named(section("action.yml", "apt-get install", "cmake -S")), use("build"))
control = set(re.findall(r"^ ([a-z0-9.+-]+)(?: \(.*\))?,$", section("packaging/debian/control", "Build-Depends:", "Standards-Version"), re.M))
expect("debian/control", control - {"debhelper-compat"}, use("build") - {"build-essential"})
sought = re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET ([\w.-]+)\)", (ROOT / "CMakeLists.txt").read_text())
there = " ".join(use("build"))
expect("CMakeLists.txt", {name for name in sought if re.sub("^lib|-[0-9.]+$", "", name) in there}, set(sought))
sys.exit(1 if failures else 0)
