# SPDX-License-Identifier: GPL-3.0-or-later
"""The ranks of a sweep that tests have started, for those that kill them."""
import os, pathlib


def of(program, word):
    """Processes, by /proc, that run a program and have a word among theirs, such as a resume file that only ours has."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words and words[0] == os.fsencode(program) and os.fsencode(word) in words:
                found.append(int(entry.name))
    return found
