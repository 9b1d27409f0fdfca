# SPDX-License-Identifier: GPL-3.0-or-later
"""How well a fit predicts runs that it has not seen, and the likely ranges that follow from it. Runs are left out in
folds, the rest is fitted again, and the fold is predicted. A figure that only the fold had determined goes back to its
prior, because nothing else pulls at it."""
from dataclasses import dataclass

import numpy as np

import fit

# Of the loss: a fold starts where the whole fit ended, and goes to its own minimum. Stopped early it would keep
# something of the runs that are left out.
FOLD_TOLERANCE = 1e-5
COVERED_RUNS = 10  # of the same chip generation from other sources: a source left out is one of several
PARENT_RUNS = 20  # a chip's own range counts its runs in effect, that of all chips so many
# The range where even all runs together are too few: a fit that left out each source was this far off for a chip known
# from one source (docs/model.md, "Validation and likely ranges").
UNKNOWN_LOG = 0.4


@dataclass
class Cross:
    folds: int
    fold: np.ndarray  # of each run; -1: it has no prediction
    by_run: bool = False  # all runs are one group
    seconds: np.ndarray = None  # of each run, by the fit without its fold; NaN: none


def group_of(model, kind, run):
    if kind == "sources":
        return (run.source,)
    return run.source, run.model, run.generation, run.chips if model.only else 0


def deal(model, kind, folds):
    """Deals the groups to the folds, the largest first (ties by name), so that folds are of about one size: whole
    groups of one source, model and chip generation, which stand for a new model on a known machine (of a fit of one
    software, whose runs are a sweep, cells of one model and number of chips), or one source per fold. Where all runs
    are one group, as one user's own runs often are, each run is a group: the error of a fit without any of them says
    nothing about a fit to them."""
    fold, members = np.full(len(model.runs), -1), {}
    for i in np.flatnonzero(model.usable):
        members.setdefault(group_of(model, kind, model.runs[i]), []).append(i)
    if kind == "groups" and len(members) == 1 and model.usable.sum() > 1:
        count = min(folds, int(model.usable.sum()))
        fold[model.usable] = np.arange(model.usable.sum()) % count
        return Cross(count, fold, True)
    count = len(members) if kind == "sources" else min(folds, len(members))
    for number, name in enumerate(sorted(members, key=lambda name: (-len(members[name]), name))):
        fold[members[name]] = number % count
    return Cross(count, fold)


def fold_start(model, weights, full):
    """A fold begins at the whole fit, except for figures that none of its runs moves."""
    moved = model.columns[weights > 0].any(axis=0)
    return np.array([full[j] if moved[j] else model.prior(j, full) for j in range(len(full))])


def cross_validate(model, weights, solution, kind, folds, progress=None):
    out = deal(model, kind, folds)
    out.seconds = np.full(len(model.runs), np.nan)
    for number in range(out.folds):
        left = np.where(out.fold == number, 0, weights)
        found = fit.solve(model, left, fold_start(model, left, solution.x), FOLD_TOLERANCE, posterior=False)
        own = out.fold == number
        out.seconds[own] = model.predictions(found.x)[own]
        if progress:
            progress(number + 1, out.folds)
    return out


def coverage(model):
    """Of each run whether other sources have COVERED_RUNS runs of its chip generation, and whether they have none."""
    others = np.zeros(len(model.runs), dtype=int)
    usable = [(i, run) for i, run in enumerate(model.runs) if model.usable[i]]
    for i, run in usable:
        others[i] = sum(other.generation == run.generation and other.source != run.source for _, other in usable)
    return others >= COVERED_RUNS, model.usable & (others == 0)


# ---- likely ranges ----


@dataclass
class Range:
    """measured / predicted lies between them nine times in ten; `runs` in effect, 0: nothing is known."""
    low: float = 1
    high: float = 1
    runs: float = 0


def weighed_quantile(values, weights, q):
    """The value below which the share q of the weight lies: the first whose weight and that before it reach it."""
    order = np.argsort(values, kind="stable")
    heaps = np.cumsum(weights[order])
    at = np.flatnonzero(heaps >= (q - 1e-9) * heaps[-1])
    return values[order][at[0] if len(at) else -1]


def range_of(log_ratios, weights):
    """5% and 95% quantiles of ln(measured / predicted), weighed like the fit."""
    kept = weights > 0
    values, weights = log_ratios[kept], weights[kept]
    if not len(values):
        return Range()
    return Range(float(np.exp(weighed_quantile(values, weights, 0.05))),
                 float(np.exp(-weighed_quantile(-values, weights, 0.05))),
                 float(weights.sum()**2 / (weights**2).sum()))


def towards(own, parent):
    """`own` where it has many runs, drawn towards `parent` where it has few."""
    share = own.runs / (own.runs + PARENT_RUNS)
    return Range(float(own.low**share * parent.low**(1 - share)), float(own.high**share * parent.high**(1 - share)),
                 own.runs)


def range_before(profiles, entry):
    """What the set has given for a chip so far; empty where no run stood for it."""
    low, high = (profiles.giver("profiles", entry, key) for key in ("likely_low", "likely_high"))
    if low and high and 0 < profiles.at(low)["value"] < profiles.at(high)["value"]:
        return Range(profiles.at(low)["value"], profiles.at(high)["value"], 1)
    return Range()


def put(profiles, entry, key, value, source):
    kind = profiles.kinds[key]
    value = min(max(value, kind.low), kind.high)
    own = profiles.document["profiles"][entry].setdefault(key, {})
    own.update(value=value, source=source)
    if "prior" in own:
        own["prior"] = value


def write_ranges(model, weights, groups, sources, profiles):
    """Puts likely_low and likely_high into every profile of the set; going on from values only into profiles that have
    runs, whose former range is then the parent. A profile without runs is like a chip whose only source was left out,
    but never narrower than all chips. Returns the ranges by entry."""
    goes_on = model.start == "values"

    def of(cross, only):
        seen = only & np.isfinite(cross.seconds)
        ratios = np.log(model.measured / np.where(seen, cross.seconds, 1))
        return range_of(np.where(seen, ratios, 0), np.where(seen, weights, 0))

    everyone, unknown = np.ones(len(model.runs), dtype=bool), Range(np.exp(-UNKNOWN_LOG), np.exp(UNKNOWN_LOG))
    alone_runs = coverage(model)[1]
    every, alone = towards(of(groups, everyone), unknown), towards(of(sources, alone_runs), unknown)
    out, before = {}, {entry: range_before(model.profiles, entry) for entry in profiles.document["profiles"]}
    for entry, former in before.items():
        own = of(groups, np.array([run.chip == entry for run in model.runs]))
        known = goes_on and former.runs > 0
        if known and own.runs == 0:
            out[entry] = former
            continue
        if own.runs > 0:
            found = towards(own, former if known else every)
            source = (f"calibrate: nine in ten unseen runs of this entry ({own.runs:.0f} in effect), towards "
                      f"{'what stood here' if known else 'those of all chips'}")
        else:
            found = Range(min(alone.low, every.low), max(alone.high, every.high))
            source = ("calibrate: no run of its own; as wide as for chips whose only source was left out "
                      f"({alone.runs:.0f} runs in effect)")
        found.low, found.high = min(fit.rounded(found.low), 1), max(fit.rounded(found.high), 1)
        put(profiles, entry, "likely_low", found.low, source)
        put(profiles, entry, "likely_high", found.high, source)
        out[entry] = found
    return out
