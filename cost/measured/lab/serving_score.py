# SPDX-License-Identifier: GPL-3.0-or-later
"""How wrong predictions of serving runs are, and whether they put ways to serve in the order in which they were
measured: the statistics of search/serving/measured/serving_score.h."""
from dataclasses import dataclass, field

import numpy as np

from folds import weighed_quantile

METRICS = {"tpot": "tpot", "ttft": "ttft", "output_tokens_per_second": "rate"}  # in JSON; of a row
BY = {"kind": "kind", "mode": "mode", "source": "source", "chip": "chip", "engine": "engine", "model": "model",
      "layout": "layout"}
APART = NEAR = 1.05
LIMITS = (0.01, 0.015, 0.02, 0.03, 0.05)


@dataclass
class Stats:
    """Of predicted / measured - 1: quantiles of magnitudes, weighed by group, and the median with its sign."""
    rows: int = 0
    groups: int = 0
    median: float = 0
    p90: float = 0
    worst: float = 0
    bias: float = 0


@dataclass
class Order:
    pairs: int = 0  # that lie 5% apart in the time of a token, as measured
    tau: float = np.nan  # Kendall's, of the time of a token, and of chip-seconds per token
    tau_chip: float = np.nan
    best: int = 0  # loads with several layouts at one number of requests in flight; the one predicted best was
    best_within: int = 0  # measured within 5% of the best
    limits: int = 0  # choices under LIMITS, and those that keep the limit as measured
    limits_kept: int = 0


@dataclass
class Score:
    all: dict  # by metric
    by: dict = field(default_factory=dict)  # {"kind": {"dense": {metric: Stats}}}
    order: Order = field(default_factory=Order)


def stats(errors, weights):
    if not len(errors):
        return Stats()
    sizes = np.abs(errors)
    median, p90 = (float(weighed_quantile(sizes, weights, q)) for q in (0.5, 0.9))
    bias = float(weighed_quantile(errors, weights, 0.5))
    return Stats(len(errors), int(weights.sum() + 0.5), median, p90, float(sizes.max()), bias)


def errors_of(rows, predicted, metric):
    """predicted / measured - 1; NaN: one of them is missing."""
    measured = np.array([getattr(row, METRICS[metric]) for row in rows])
    return predicted[METRICS[metric]] / measured - 1


def group_weights(rows, errors):
    """One over the rows of its group that have an error."""
    counts = {}
    for row, error in zip(rows, errors):
        counts[row.group] = counts.get(row.group, 0) + (not np.isnan(error))
    return np.array([0 if np.isnan(error) else 1 / counts[row.group] for row, error in zip(rows, errors)])


def score(rows, predicted):
    errors = {metric: errors_of(rows, predicted, metric) for metric in METRICS}
    weights = {metric: group_weights(rows, own) for metric, own in errors.items()}
    certain = np.array([not row.drafts_unknown for row in rows], dtype=bool)
    replayed = np.array([not row.skipped for row in rows], dtype=bool)

    def of(chosen):
        chosen = {metric: chosen & (weights[metric] > 0) for metric in METRICS}
        return {metric: stats(errors[metric][own], weights[metric][own]) for metric, own in chosen.items()}
    out = Score(of(certain))
    for by, key in BY.items():
        names, among = np.array([getattr(row, key) for row in rows]), replayed & (certain | (by == "kind"))
        out.by[by] = {str(name): of(among & (names == name)) for name in sorted(set(names[among]))}
    out.order = order(rows, predicted)
    return out


# ---- order ----


def chip_seconds(row, tpot, ttft, rate):
    """Of an output token. Rows without a rate: the clients and both times give it (Little)."""
    if np.isnan(row.rate) and tpot > 0 and row.concurrency > 0:
        rate = row.concurrency * row.output / (ttft + tpot * (row.output - 1))
    return row.chips / rate if rate > 0 else 0


def load_of(row):
    """Rows of one load are ways to serve it, between which a planner could choose."""
    return (row.prompt, row.output, row.source, row.model, row.chip, row.engine, row.weights, row.variant, row.mode,
            row.version)


@dataclass
class Way:
    concurrency: float
    token: tuple  # seconds of a token, measured and predicted
    chip: tuple  # chip-seconds of a token


def ways_of(rows, predicted):
    loads = {}
    for i, row in enumerate(rows):
        if row.skipped or row.drafts_unknown:
            continue
        was, now = (np.nan_to_num([row.tpot, row.ttft, row.rate]),
                    np.nan_to_num([predicted[key][i] for key in METRICS.values()]))
        loads.setdefault(load_of(row), []).append(Way(row.concurrency, (was[0], now[0]),
                                                      (chip_seconds(row, *was), chip_seconds(row, *now))))
    return loads.values()


def tau_of(loads, key):
    """(Kendall's tau over the pairs of all loads, pairs)"""
    agree = pairs = 0
    for ways in loads:
        costs = np.array([getattr(way, key) for way in ways if min(getattr(way, key)) > 0])
        for j in range(1, len(costs)):
            was, now = costs[:j, 0], costs[:j, 1]
            apart = np.maximum(was, costs[j, 0]) >= APART * np.minimum(was, costs[j, 0])
            right = np.where((was < costs[j, 0]) == (now < costs[j, 1]), 1, -1)
            agree += int(np.where(now == costs[j, 1], 0, right)[apart].sum())
            pairs += int(apart.sum())
    return (agree / pairs if pairs else np.nan), pairs


def chosen(ways, limit=np.inf):
    """Of ways under a limit of TPOT the cheapest as measured and as predicted; None: there is no choice."""
    allowed = [[way for way in ways if limit == np.inf or 0 < way.token[of] <= limit] for of in (0, 1)]
    if len(ways) < 2 or not all(allowed):
        return None
    return [min(among, key=lambda way, of=of: way.chip[of]) for of, among in enumerate(allowed)]


def order(rows, predicted):
    out, loads = Order(), ways_of(rows, predicted)
    out.tau, out.pairs = tau_of(loads, "token")
    out.tau_chip, _ = tau_of(loads, "chip")
    for ways in loads:
        usable, alike = [way for way in ways if min(way.chip) > 0], {}
        for way in usable:
            alike.setdefault(way.concurrency, []).append(way)
        for found in filter(None, map(chosen, alike.values())):
            out.best += 1
            out.best_within += int(found[1].chip[0] <= NEAR * found[0].chip[0])
        for limit in LIMITS:
            found = chosen(usable, limit)
            out.limits += found is not None
            out.limits_kept += int(found is not None and found[1].token[0] <= limit)
    return out
