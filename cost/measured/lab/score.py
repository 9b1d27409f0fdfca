# SPDX-License-Identifier: GPL-3.0-or-later
"""How wrong predictions are, and whether they put plans in the order in which they were measured: the statistics of
cost/measured/score.h and rank.h, of a fit's predictions."""
from dataclasses import dataclass

import numpy as np

APART = 1.05  # pairs in which the slower takes less than this are within the noise of such measurements
LARGE = 10  # plans: groups of fewer say little by themselves


@dataclass
class Errors:
    """Of predicted / measured - 1: quantiles of magnitudes, and the median with its sign."""
    runs: int = 0
    median: float = 0
    p90: float = 0
    worst: float = 0
    bias: float = 0


def errors(values):
    if not len(values):
        return Errors()
    sizes = np.abs(values)
    return Errors(len(values), float(np.quantile(sizes, 0.5)), float(np.quantile(sizes, 0.9)), float(sizes.max()),
                  float(np.median(values)))


def family_errors(runs, values):
    """Each source, model and chip generation counts once, with the median magnitude of its errors. NaN: no error."""
    families = {}
    for run, value in zip(runs, values):
        if np.isfinite(value):
            families.setdefault((run.source, run.model, run.generation), []).append(abs(value))
    return errors(np.array([np.median(f) for f in families.values()]))


@dataclass
class Order:
    groups: int = 0  # of at least two plans
    pairs: int = 0
    tau: float = 0  # Kendall's, over all pairs
    large: int = 0  # groups of LARGE plans and more; of them the medians of tau and of how far the plan predicted best
    cell_tau: float = 0  # is behind the best measured, and the 90th percentile
    cell_median: float = 0
    cell_p90: float = 0


def plans_of(rows):
    """Repeats joined: seconds of a token, measured and predicted, and whether every repeat is called too large."""
    plans = {}
    for run, seconds in rows:
        plans.setdefault(run.plan, []).append((run.measured_seconds / run.tokens, seconds / run.tokens, run.too_large))
    joined = [np.array(repeats, dtype=float) for repeats in plans.values()]
    means = np.array([repeats.mean(axis=0) for repeats in joined])
    return means[:, 0], means[:, 1], np.array([repeats[:, 2].all() for repeats in joined])


def behind(measured, predicted, too_large):
    """How far the plan predicted best is behind the best measured, of those called fitting, else of all; of several
    predicted best the one measured slowest counts."""
    among = ~too_large if not too_large.all() else np.ones(len(measured), dtype=bool)
    return measured[among & (predicted == predicted[among].min())].max() / measured.min() - 1


def order(runs, seconds):
    """Of the runs that have predicted seconds (NaN: none). Equal predictions are neither concordant nor discordant."""
    groups = {}
    for run, predicted in zip(runs, seconds):
        if np.isfinite(predicted) and run.tokens > 0:
            groups.setdefault(run.group, []).append((run, predicted))
    out, score, cells = Order(), 0, []
    for rows in groups.values():
        measured, predicted, too_large = plans_of(rows)
        if len(measured) < 2:
            continue
        slower = measured[:, None] >= measured[None, :] * APART
        agree = int(np.where(slower, np.sign(predicted[:, None] - predicted[None, :]), 0).sum())
        pairs = int(slower.sum())
        out.groups, out.pairs, score = out.groups + 1, out.pairs + pairs, score + agree
        if len(measured) >= LARGE and pairs:
            cells.append((agree / pairs, behind(measured, predicted, too_large)))
    out.tau = score / out.pairs if out.pairs else 0
    out.large = len(cells)
    if cells:
        taus, distances = np.array(cells).T
        out.cell_tau, out.cell_median = float(np.median(taus)), float(np.median(distances))
        out.cell_p90 = float(np.quantile(distances, 0.9))
    return out
