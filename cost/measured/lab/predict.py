# SPDX-License-Identifier: GPL-3.0-or-later
"""Predictions by the program itself: `shardopt validate FILE --sets -` prepares the runs once, then prices all of them
under each set of profiles that it is sent."""
import json
import subprocess
from dataclasses import dataclass

import numpy as np

from set import Kind, Line, Set


class Failed(Exception):
    """The program said on standard error what is wrong."""


@dataclass(frozen=True)
class Run:
    id: str
    skipped: str = ""  # why it cannot be fitted; then all members below are empty
    source: str = ""  # its family
    model: str = ""
    chip: str = ""  # the entry of profiles whose figures it takes
    generation: str = ""  # the entry that gives its chip's matrix_efficiency
    stack: str = ""  # the entry of stacks; "": none
    precision: str = ""
    chips: int = 0
    measured_seconds: float = 0
    tokens: float = 0  # of a step
    guesses: int = 0  # settings that its source leaves open
    flagged: bool = False
    too_large: bool = False
    group: int = -1  # runs of one group are alternatives, those of one plan repeats
    plan: int = -1


def run_of(words):
    skipped = words.get("skipped", "")
    if not skipped and "aside" in words:
        skipped = f"set aside: {words['aside']}"
    if not skipped and not words["measured_seconds"]:
        skipped = "its step was not measured"
    if skipped:
        return Run(words["id"], skipped)
    return Run(**words)


class Server:
    """`shardopt validate TABLE --sets -`: `first` is the line that describes the runs."""

    def __init__(self, program, table, profile=None, threads=None, facts=None):
        words = [program, "validate", table, "--sets", "-"]
        words += ["--profile", profile] if profile else []
        words += ["--threads", str(threads)] if threads else []
        words += ["--facts", facts] if facts else []
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.first = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed
        return json.loads(line)

    def ask(self, text):
        """The answer to one line."""
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed from None
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Program(Server):
    """Training runs under sets of profiles."""

    def __init__(self, *words):
        super().__init__(*words)
        first = self.first
        self.sha256 = first["sha256"]
        self.set = Set(first["set"], [Kind(r["key"], r["owner"], r["low"], r["high"], r["fit_low"], r["fit_high"],
                                           r["sigma"]) for r in first["figures"]])
        self.runs = [run_of(words) for words in first["runs"]]

    def seconds(self, profiles):
        """Of every run under a set.Line; NaN where it has no prediction."""
        return np.array(self.ask(profiles.text()), dtype=float)

    def line(self, profiles):
        """The set as seconds() takes it."""
        used = {(of, name) for run in self.runs for of, name in (("profiles", run.chip), ("stacks", run.stack)) if name}
        return Line(profiles, used)
