# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole calibration: the fit, the fit without flagged runs, both cross-validations, the likely ranges, the report.

`shardopt calibrate` runs this after it has checked its options. The first line of standard output is the fitted set as
JSON (null: it is not wanted), all others are the report; the program checks the set and writes both."""
import os
import signal
import sys

# Sums in one order whatever the number of cores: the same digits from any machine's threads. Read when numpy is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
NEEDS_PACKAGES = 69  # the exit code that the program turns into what to install

try:
    import numpy as np
    import scipy.optimize  # noqa: F401
except ImportError:
    sys.exit(NEEDS_PACKAGES)

import argparse
import datetime
import json
import time
from dataclasses import dataclass, field

import fit
import folds
import report
import score
from predict import Failed, Program

RUNS_MAX = 10000  # a fit over more is no evening's work
NAME_SIZE, FILE_SIZE = 31, 127  # bytes of the set's name, and of its file of runs


@dataclass
class Group:
    """The runs of one source or of one chip generation."""
    name: str
    errors: dict  # of the lines "fitted", "by_groups", "by_sources"
    range: folds.Range = None  # likely, of a chip
    inside: float = 0  # share of the runs left out by groups that lie in it


@dataclass
class Calibration:
    model: fit.Model
    weights: np.ndarray
    solution: fit.Solution
    set: object
    skipped: list  # (id, reason)
    groups: folds.Cross = None
    sources: folds.Cross = None
    ranges: dict = field(default_factory=dict)
    inside_groups: float = 0
    inside_sources: float = 0
    seconds: dict = field(default_factory=dict)  # by line of the report, of every run; NaN: not of this line
    lines: dict = field(default_factory=dict)
    families: dict = field(default_factory=dict)
    by_source: list = field(default_factory=list)
    by_chip: list = field(default_factory=list)
    fitted_order: score.Order = None
    unseen_order: score.Order = None


def refit(model):
    """Without the flagged runs, by a model of its own."""
    own = model.copy()
    for p in own.parameters:
        p.held = False
    return own.predictions(fit.fit_whole(own, own.weights(True)).x)


def cross_both(c, count, progress):
    for kind in ("groups", "sources"):
        found = folds.cross_validate(c.model, c.weights, c.solution, kind, count, progress)
        setattr(c, kind, found)
        c.seconds[f"by_{kind}"] = found.seconds
    covered = folds.coverage(c.model)[0]
    c.seconds["by_sources_chip_known"] = np.where(covered, c.sources.seconds, np.nan)
    c.seconds["by_sources_chip_unknown"] = np.where(covered, np.nan, c.sources.seconds)
    # what is known of one software says nothing of its chip
    into = c.set.copy() if c.model.only else c.set
    c.ranges = folds.write_ranges(c.model, c.weights, c.groups, c.sources, into)


def inside(c, cross, generation=None):
    """The share of the runs that were measured inside the range of their chip."""
    hits = []
    for i, run in enumerate(c.model.runs):
        if np.isfinite(cross.seconds[i]) and generation in (None, run.generation):
            own = c.ranges[run.generation]
            hits.append(own.low <= c.model.measured[i] / cross.seconds[i] <= own.high)
    return float(np.mean(hits)) if hits else 0


def grouped(c, name_of, chips):
    errors = {line: seconds / c.model.measured - 1 for line, seconds in c.seconds.items()}
    names = np.array([name_of(run) for run in c.model.runs])
    out = []
    for name in sorted(set(names[c.weights > 0])):
        own = {line: score.errors(errors[line][(names == name) & np.isfinite(errors[line])]) if line in errors
               else score.Errors() for line in ("fitted", "by_groups", "by_sources")}
        ranged = chips and c.groups is not None
        out.append(Group(str(name), own, *((c.ranges[name], inside(c, c.groups, name)) if ranged else ())))
    return out


def calibrate(model, skipped, exclude_flagged=False, count=10, progress=None):
    weights = model.weights(exclude_flagged)
    seconds = {"before": model.predictions(model.start_x())}
    solution = fit.fit_whole(model, weights)
    c = Calibration(model, weights, solution, fit.written(model, solution, weights), skipped)
    seconds["fitted"] = model.predictions(solution.x)
    flagged = np.array([run.flagged for run in model.runs])
    if (flagged & model.usable).any() and not exclude_flagged:
        seconds["fitted_without_flagged"] = refit(model)
    c.seconds = seconds
    if count > 0:
        cross_both(c, count, progress)
    for line, of in c.seconds.items():  # only runs that have a weight
        of[(weights == 0) | (flagged if line == "fitted_without_flagged" else False)] = np.nan
    for line in (line for line in report.LINES if line in c.seconds):
        errors = c.seconds[line] / model.measured - 1
        c.lines[line] = score.errors(errors[np.isfinite(errors)])
        c.families[line] = score.family_errors(model.runs, errors)
    if c.groups:
        c.inside_groups, c.inside_sources = inside(c, c.groups), inside(c, c.sources)
        c.unseen_order = score.order(model.runs, c.seconds["by_groups"])
    c.fitted_order = score.order(model.runs, c.seconds["fitted"])
    c.by_source = grouped(c, lambda run: run.source, False)
    c.by_chip = grouped(c, lambda run: run.generation, True)
    return c


def fail(where, text):
    sys.stderr.write(f"shardopt: {where}: {text}\n")
    sys.exit(2)


def fitted_runs(program, file):
    """What is skipped, with the reasons; no run at all is an error."""
    skipped = [(run.id, run.skipped) for run in program.runs if run.skipped]
    count = len(program.runs)
    if not count:
        fail(file, "has no runs; give one line for each")
    if len(skipped) == count:
        fail(file, f"none of its {count} runs can be replayed: {skipped[0][0]}: {skipped[0][1]}")
    if count - len(skipped) > RUNS_MAX:
        fail(file, f"more than {RUNS_MAX} runs can be replayed; give fewer")
    return skipped


def cut(text, size):
    return text.encode()[:size].decode(errors="ignore")


def finished(c, program, words, begun):
    """The set as it is written. A fit of one software leaves what the set was fitted to."""
    out = c.set.copy()
    out.drop_own()
    document = out.for_file()
    document["date"] = words.date or datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    if words.only:
        return document
    name = os.path.basename(words.output)
    if words.output != "-" and not name.startswith("."):
        document["name"] = cut(name.split(".")[0], NAME_SIZE)
    runs = int(c.model.usable.sum())
    document["source"] = (f"shardopt calibrate: {runs} runs of {cut(words.file, 100)}, begun with the {c.model.start} "
                          f"of {cut(begun, 64)}; each figure's own source is that of its prior")
    document["runs_file"], document["runs_sha256"], document["runs"] = cut(words.file, FILE_SIZE), program.sha256, runs
    return document


def progress_bar():
    """None where nobody watches."""
    if not sys.stderr.isatty():
        return None
    begun = time.monotonic()

    def show(done, of):
        if time.monotonic() - begun >= 1:
            sys.stderr.write("\r                    \r" if done == of else f"\r{done} of {of} folds ")
            sys.stderr.flush()
    return show


def read_words(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--shardopt", required=True, help="the program")
    parser.add_argument("--table", required=True, help="the file of runs")
    parser.add_argument("--set", help="the file of the set to begin with; none: the default one")
    parser.add_argument("--file", help="the name of --table, as it was given")
    parser.add_argument("--profile", default="default", help="the name of --set, as it was given")
    parser.add_argument("--output", help="names the set, which is printed; none: it is not wanted")
    parser.add_argument("--begin", choices=("priors", "values"))
    parser.add_argument("--only", help="a stack: only its figures move")
    parser.add_argument("--exclude-flagged", action="store_true")
    parser.add_argument("--facts", help="of a load test's report, which runs that serve come from")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--date")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--verbose", action="store_true")
    words = parser.parse_args(arguments)
    words.file = words.file or words.table
    return words


@dataclass
class Facts:
    file: str
    sha256: str
    start: str
    written: str
    verbose: bool


def beginning(words, profiles, sha256):
    """Without --begin: values where the set was fitted to other runs."""
    if words.begin:
        return words.begin
    other = profiles.document.get("runs_sha256", sha256) != sha256
    return "values" if other and not words.only else "priors"


def main(arguments):
    words = read_words(arguments)
    program = Program(words.shardopt, words.table, words.set, words.threads)
    skipped = fitted_runs(program, words.file)
    profiles, start = program.set, beginning(words, program.set, program.sha256)
    begun = profiles.document["name"]
    if start == "values":
        profiles.own_figures({(of, name) for run in program.runs for of, name in
                              (("profiles", run.chip), ("stacks", run.stack)) if name})
    model = fit.Model(program, profiles, start, words.only)
    skipped += [(run.id, "the model has no finite time for it") for run, usable in zip(model.runs, model.usable)
                if not run.skipped and not usable]
    c = calibrate(model, skipped, words.exclude_flagged, words.folds, progress_bar())
    print(json.dumps(finished(c, program, words, begun) if words.output else None))
    facts = Facts(words.file, program.sha256, words.profile, words.output, words.verbose)
    sys.stdout.write(report.as_json(c, facts) if words.format == "json" else
                     report.as_text(c, facts, words.format == "markdown"))
    sys.stdout.flush()
    program.close()


def run(work):
    """A script's work on its words; what the program has said already ends it with 2."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        work(sys.argv[1:])
    except Failed:
        sys.exit(2)


if __name__ == "__main__":
    run(main)
