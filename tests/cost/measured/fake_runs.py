# SPDX-License-Identifier: GPL-3.0-or-later
"""A small set of profiles and runs whose step has a closed form, in place of the program, so that a fit's answer is
known:

    seconds = flops / (matrix_efficiency compute_factor) + data_exposed bytes / network_efficiency + step_seconds

with fp8_efficiency in the place of matrix_efficiency for runs in fp8."""
import dataclasses
import math

import numpy as np

from predict import Run
from set import Kind, Set

KINDS = [Kind("matrix_efficiency", "profiles", 0.01, 1, 0.3, 0.98, 0.08),
         Kind("fp8_efficiency", "profiles", 0.01, 1, 0.3, 0.9, 0.1),
         Kind("hbm_efficiency", "profiles", 0.01, 1, 0.6, 0.98, 0.07),
         Kind("network_efficiency", "profiles", 0.01, 1, 0.4, 1, 0.08),
         Kind("likely_low", "profiles", 0.1, 1, 0, 0, 0), Kind("likely_high", "profiles", 1, 10, 0, 0, 0),
         Kind("compute_factor", "stacks", 0.5, 5, 0.7, 2, 0.1),
         Kind("data_exposed", "stacks", 0, 1, 0.001, 1, 0.6),
         Kind("step_seconds", "stacks", 0, 100, 1e-4, 1, 0.7)]


def figure(prior, sigma, of=None):
    moves = {"prior": prior, "sigma": sigma} if sigma else {}
    return {"value": prior, "source": "-", **moves, **({"of": of} if of else {})}


def fake_set():
    """Parents: base < old, new (its fp8 is believed to be 0.9 of old's), lone (1.1 of old's); plain < tuned."""
    out = Set({"name": "fake", "date": "2026-01-01", "source": "-", "profiles": {
        "base": {"source": "-", "matrix_efficiency": figure(0.7, 0.1), "hbm_efficiency": figure(0.85, 0.1),
                 "network_efficiency": figure(0.8, 0.1)},
        "old": {"source": "-", "kin": "base", "matrix_efficiency": figure(0.7, 0.1),
                "fp8_efficiency": figure(0.6, 0.1)},
        "new": {"source": "-", "kin": "base", "matrix_efficiency": figure(0.75, 0.1),
                "fp8_efficiency": figure(0.9, 0.05, "old")},
        "lone": {"source": "-", "kin": "base", "matrix_efficiency": figure(1.1, 0.05, "old")},
    }, "stacks": {
        "plain": {"source": "-", "compute_factor": figure(1, 0), "data_exposed": figure(0.3, 0.6),
                  "step_seconds": figure(0.03, 0.7)},
        "tuned": {"source": "-", "kin": "plain", "data_exposed": figure(0.1, 0.6)},
    }}, KINDS)
    reset(out)
    return out


def reset(profiles):
    """Every figure at its prior."""
    for name in list(profiles.figures()):
        if profiles.sigma(name) > 0:
            profiles.at(name)["value"] = profiles.prior(name)


class FakeLine:
    def __init__(self, profiles):
        self.profiles = profiles.copy()

    def put(self, values):
        for name, value in values.items():
            self.profiles.at(name)["value"] = value


class FakeProgram:
    """What predict.Program is to a fit."""

    def __init__(self):
        self.set, self.runs, self.works = fake_set(), [], []

    def add(self, source, model, chip, stack, flops, bytes_, fp8=False, **more):
        number = len(self.runs)
        self.runs.append(Run(f"run{number}", source=source, model=model, chip=chip, generation=chip, stack=stack,
                             precision="fp8" if fp8 else "bf16", tokens=1, group=0, plan=number, **more))
        self.works.append((flops, bytes_, fp8))

    def put(self, of, entry, key, **what):
        self.set.at((of, entry, key)).update(what)

    def line(self, profiles):
        return FakeLine(profiles)

    def seconds(self, line):
        def value(of, entry, key):
            return line.profiles.at(line.profiles.giver(of, entry, key))["value"]

        out = []
        for run, (flops, bytes_, fp8) in zip(self.runs, self.works):
            rate = value("profiles", run.chip, "fp8_efficiency" if fp8 else "matrix_efficiency")
            out.append(flops / (rate * value("stacks", run.stack, "compute_factor")) +
                       value("stacks", run.stack, "data_exposed") * bytes_ /
                       value("profiles", run.chip, "network_efficiency") + value("stacks", run.stack, "step_seconds"))
        return np.array(out)

    def measure(self, noise=0.0, factor=1.0):
        """Measured is what the set says, times the factor, times 1 + noise (-1 to 1 in a fixed sequence)."""
        seconds = self.seconds(FakeLine(self.set))
        for i, run in enumerate(self.runs):
            turn = math.fmod(i * 0.6180339887498949, 1)  # golden section: evenly spread
            self.runs[i] = dataclasses.replace(run, measured_seconds=seconds[i] * factor * (1 + noise * (2 * turn - 1)))


def many_runs(program):
    """Two chips in two precisions under two stacks, steps from 0.05 s to 20 s, with and without communication."""
    for i in range(96):
        flops = 0.03 * 10**(i * 7 % 24 / 10)
        program.add("abc"[i % 3], ("7b", "70b", "405b")[i // 8 % 3], ("old", "new")[i // 2 % 2],
                    ("plain", "tuned")[i // 4 % 2], flops, flops * (2 if i % 5 == 0 else 0.5), i % 2 == 1)
