# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate's lines, one at a time: files of 400,000 are read without holding them."""
import math

from counts import ROLES

REASONS = ("require", "indivisible", "equal", "memory", "degree_bound", "knob_bound", "time_limit")
COLUMNS = ["machine", "machines", *ROLES, "sequences_least", "sequences_most", "batches", "placements", "knobs", "orders",
           "plans", "bound", "reason", "left", "evaluated", *REASONS, "best"]

class Line:
    """Machines, degrees and batches of a line, its counts, and what became of it."""
    __slots__ = ("machine", "machines", "degrees", "low", "high", "batches", "placements", "knobs", "orders", "plans",
                 "bound", "reason", "left", "evaluated", "counts", "best")

    def __init__(self, text):
        words = text.rstrip("\n").split("\t")
        self.reason = words[16]
        if len(words) != (len(COLUMNS) if self.reason == "opened" else 17):
            raise ValueError("a line of %d columns: %s" % (len(words), text))
        numbers = [int(word) for word in words[:15]]
        self.machine, self.machines = numbers[:2]
        self.degrees = tuple(numbers[2:8])
        self.low, self.high, self.batches, self.placements, self.knobs, self.orders, self.plans = numbers[8:]
        self.bound = math.inf if words[15] == "-" else float.fromhex(words[15])
        self.left = self.best = math.inf
        self.evaluated, self.counts = 0, None
        if self.reason == "opened":
            self.left, self.best = float.fromhex(words[17]), float.fromhex(words[26])
            self.evaluated, self.counts = int(words[18]), [int(word) for word in words[19:26]]

    def replicas(self):
        _, expert, _, fsdp, data, _ = self.degrees
        return expert * fsdp * data

    def numbers(self):
        return range(self.machine, self.machine + self.machines)

    def words(self):
        return " ".join("%s=%d" % pair for pair in zip(ROLES, self.degrees))

    def __str__(self):
        return "%s on machine %d, %d sequences:" % (self.words(), self.machine, self.low)

def read_head(path):
    """What stands behind "#", by its first word."""
    head = {}
    with open(path, encoding="utf-8") as file:
        for text in file:
            words = text.rstrip("\n").split("\t")
            if not text.startswith("# "):
                if words != COLUMNS:
                    raise ValueError("other columns: " + text)
                break
            head.setdefault(words[0][2:], []).append(words[1:])
    return head

def texts_of(path):
    """The lines of tuples as they stand."""
    with open(path, encoding="utf-8") as file:
        for text in file:
            if text.startswith("#"):
                continue
            break  # the names of the columns
        yield from file
