# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits the figures of a set of profiles to measured runs.

A parameter is a figure that may move and that the prediction of some run depends on, through the ancestors of its chip
or of its software. Over u = ln x it minimises

    sum_i w_i 2 (sqrt(1 + (r_i / SCALE)^2) - 1)  +  sum_j ((u_j - ln prior_j) / sigma_j)^2

with r_i = ln(predicted / measured): soft_l1 of scipy.optimize.least_squares for runs, and one row for each prior. Runs
that repeat each other must not outvote the others: a run weighs 1/sqrt(n) where n runs share its source, model, chip
generation and precision, so that a group weighs sqrt(n). A prior may be a multiple of another parameter, which it
follows."""
import dataclasses
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

SCALE = 0.04  # of ln(predicted / measured): from one run of a table to the next; docs/model.md, "Calibration"
TRIES = 40  # steps of a fit, at most
TOLERANCE = 1e-7  # of the loss, of a whole fit
STEP = 1e-4  # of ln x: differences
# With start "values" the logarithm is believed to this share of sigma: a cluster differs from the published ones by
# less than the uncertainty without any run.
KNOWN_SIGMA = 0.5
DETERMINED = 0.7  # share of the prior's deviation: below it half of the variance came from runs
KEPT = 0.95  # from it on the figure is held at its prior
HELD_SIGMA = 1e-6


@dataclass
class Parameter:
    figure: tuple
    start: float
    low: float
    high: float
    prior: float  # or its multiple of the parameter `follows`
    sigma: float
    follows: int = -1
    held: bool = False


@dataclass
class Solution:
    x: np.ndarray
    converged: bool
    at_bound: np.ndarray
    loss: float
    deviation: np.ndarray = None  # of ln x, bounds ignored
    data_share: np.ndarray = None  # of the prior's own variance, taken away by runs
    jacobian: np.ndarray = None


class Model:
    """Runs, their prices, and the parameters: what stays the same from fold to fold."""

    def __init__(self, program, profiles, start="priors", only=None):
        self.program, self.runs, self.start, self.only = program, program.runs, start, only
        self.profiles = profiles
        self.begun = profiles.copy()  # where the fit begins
        if start == "priors":
            self.begun.put_priors(only)
        self.line = program.line(self.begun)
        base = program.seconds(self.line)
        self.measured = np.array([run.measured_seconds or np.nan for run in self.runs])
        self.usable = np.isfinite(base) & (self.measured > 0)
        self.choose(base)

    # ---- which figures are parameters ----

    def parameter(self, figure):
        kind, own = self.begun.kinds[figure[2]], self.begun.at(figure)
        low = kind.fit_low if kind.fit_low > 0 else 1e-12
        high = max(kind.fit_high, low)
        start = min(max(own["value"], low), high)
        sigma = self.begun.sigma(figure)
        if self.start == "values":
            sigma = max(own.get("deviation", 0), KNOWN_SIGMA * sigma)
        return Parameter(figure, start, low, high, start, sigma)

    def takers(self, figure):
        """The runs that take a figure: no other run can move with it."""
        of, _, key = figure
        givers = {}
        for name in {run.chip if of == "profiles" else run.stack for run in self.runs}:
            givers[name] = self.begun.giver(of, name, key) == figure
        return np.array([usable and givers[run.chip if of == "profiles" else run.stack]
                         for run, usable in zip(self.runs, self.usable)])

    def priced(self, values):
        """Seconds with these values, {figure: value}, in place of those of the beginning."""
        self.line.put(values)
        seconds = self.program.seconds(self.line)
        self.line.put({f: self.begun.at(f)["value"] for f in values})
        return seconds

    def moved(self, parameters, columns, base):
        """The runs that each figure moves by a deviation of its prior, up or down: one of a precision, of experts or
        of a link that a run does not use leaves it unchanged."""
        out = np.zeros_like(columns)
        for together in colours(columns):
            for up in (True, False):
                values = {}
                for j in together:
                    p = parameters[j]
                    value, reach = self.begun.at(p.figure)["value"], np.exp(p.sigma)
                    values[p.figure] = min(value * reach, p.high) if up else max(value / reach, p.low)
                different = self.priced(values) != base
                for j in together:
                    out[:, j] |= columns[:, j] & different
        return out

    def choose(self, base):
        """Keeps the figures that some run depends on, and those whose multiple is the prior of one of them."""
        figures = [f for f in self.begun.movable(self.only) if self.begun.kinds[f[2]].fit_high > 0]
        every = [self.parameter(f) for f in figures]
        takers = np.array([self.takers(f) for f in figures], dtype=bool).reshape(len(figures), len(self.runs)).T
        columns = self.moved(every, takers, base)
        wanted = {f for j, f in enumerate(figures) if columns[:, j].any()}
        more = set(wanted) if self.start == "priors" else set()
        while more:
            more = {self.begun.followed(f) for f in more} & set(figures) - wanted
            wanted |= more
        kept = [j for j, f in enumerate(figures) if f in wanted]
        self.parameters = [every[j] for j in kept]
        self.columns = columns[:, kept]
        at = {p.figure: j for j, p in enumerate(self.parameters)}
        for p in self.parameters if self.start == "priors" else []:
            p.follows = at.get(self.begun.followed(p.figure), -1)
            if p.follows >= 0:
                p.prior = self.begun.at(p.figure)["prior"]

    # ---- weights and predictions ----

    def weights(self, exclude_flagged=False):
        """1/sqrt(n) for every run that counts, 0 for the others."""
        counts = [bool(usable and not (exclude_flagged and run.flagged)) for run, usable in zip(self.runs, self.usable)]
        names = [(run.source, run.model, run.generation, run.precision) for run in self.runs]
        members = {}
        for name, count in zip(names, counts):
            members[name] = members.get(name, 0) + count
        return np.array([members[name]**-0.5 if count else 0.0 for name, count in zip(names, counts)])

    def predictions(self, x):
        """Seconds of all usable runs under the parameters x; NaN for the others."""
        self.line.put({p.figure: value for p, value in zip(self.parameters, x)})
        return np.where(self.usable, self.program.seconds(self.line), np.nan)

    def start_x(self):
        return np.array([p.start for p in self.parameters])

    def prior(self, j, x):
        """What a parameter is believed to be where the others are at x."""
        p = self.parameters[j]
        return p.prior * (x[p.follows] if p.follows >= 0 else 1)

    def copy(self):
        """With parameters of its own: what one fit holds leaves no mark on another."""
        out = object.__new__(Model)
        out.__dict__.update(self.__dict__, parameters=[dataclasses.replace(p) for p in self.parameters])
        return out


def colours(columns):
    """Lists of parameters that move disjoint runs: each list is priced at once. The fullest columns come first."""
    out, used = [], []
    for j in sorted(range(columns.shape[1]), key=lambda j: -columns[:, j].sum()):
        if not columns[:, j].any():
            continue
        for together, rows in zip(out, used):
            if not (rows & columns[:, j]).any():
                together.append(j)
                rows |= columns[:, j]
                break
        else:
            out.append([j])
            used.append(columns[:, j].copy())
    return out


# ---- the fit ----


class Problem:
    """One fit as least squares over the logarithms of the parameters that are not held: u = spread v + shift."""

    def __init__(self, model, weights):
        self.model = model
        self.rows = np.flatnonzero(weights > 0)
        self.w = weights[self.rows]
        p = model.parameters
        n = len(p)
        self.low, self.high = np.array([q.low for q in p]), np.array([q.high for q in p])
        self.fixed = np.array([q.held or q.low >= q.high for q in p], dtype=bool)
        self.free = np.flatnonzero(~self.fixed)
        whole, shift = np.zeros((n, n)), np.zeros(n)
        done = set()

        def fill(j):  # a held figure is its prior, which may follow another
            if j in done:
                return
            done.add(j)
            if not self.fixed[j]:
                whole[j, j] = 1
            else:
                shift[j] = np.log(p[j].prior)
                if p[j].follows >= 0:
                    fill(p[j].follows)
                    whole[j] = whole[p[j].follows]
                    shift[j] += shift[p[j].follows]

        for j in range(n):
            fill(j)
        self.spread, self.shift = whole[:, self.free], shift
        self.pull = prior_rows(p)  # rows of all parameters
        self.sigma = np.array([q.sigma for q in p])
        self.log_prior = np.log([q.prior for q in p])
        self.columns = model.columns & (weights > 0)[:, None]
        self.groups = colours(self.columns)

    def x_of(self, u):
        return np.clip(np.exp(u), self.low, self.high)

    def u_of(self, v):
        return self.spread @ v + self.shift

    def residuals(self, x):
        seconds = self.model.predictions(x)[self.rows]
        return np.log(seconds / self.model.measured[self.rows])

    def priors(self, u):
        """(u - ln prior) / sigma of the free parameters."""
        return ((self.pull @ u - self.log_prior) / self.sigma)[self.free]

    def jacobian(self, x, r):
        """d r / d ln x, by differences of one colour at a time: forward, or backward where there is no room above.
        Where the model has no answer there, the other side is tried; without an answer on either side the column is
        flat."""
        out = np.zeros((len(self.rows), len(x)))
        side = np.where(np.log(self.high / x) > STEP, STEP, -STEP)
        own = self.columns[self.rows]
        for together in self.groups:
            todo = [(j, side[j]) for j in together]
            for attempt in range(2):
                moved = x.copy()
                for j, step in todo:
                    moved[j] = x[j] * np.exp(step)
                changed = self.residuals(moved)
                again = []
                for j, step in todo:
                    rows = own[:, j]
                    out[rows, j] = (changed[rows] - r[rows]) / step
                    if not np.isfinite(out[rows, j]).all():
                        again.append((j, -step))
                todo = again
                if not todo:
                    break
        return np.where(np.isfinite(out), out, 0)

    # ---- for scipy ----

    def fun(self, v):
        u = self.u_of(v)
        self.last_x, self.last_r = self.x_of(u), self.residuals(self.x_of(u))
        return np.concatenate([self.last_r / SCALE, self.priors(u)])

    def jac(self, v):
        x = self.x_of(self.u_of(v))
        r = self.last_r if np.array_equal(x, self.last_x) else self.residuals(x)
        data = self.jacobian(x, r) @ self.spread / SCALE
        return np.vstack([data, (self.pull @ self.spread / self.sigma[:, None])[self.free]])

    def loss(self, z):
        """soft_l1 of runs, each with its weight; the plain square of priors."""
        n = len(self.rows)
        rho = np.zeros((3, len(z)))
        root = np.sqrt(1 + z[:n])
        rho[0, :n], rho[1, :n], rho[2, :n] = self.w * 2 * (root - 1), self.w / root, -self.w / (2 * root**3)
        rho[0, n:], rho[1, n:] = z[n:], 1
        return rho


def prior_rows(parameters):
    """Rows of u_j minus that of the parameter, or of those, that j follows."""
    out = np.eye(len(parameters))
    for j, p in enumerate(parameters):
        for other in np.atleast_1d(np.array(p.follows, dtype=int)):
            if other >= 0:
                out[j, other] -= 1
    return out


def solve(model, weights, start=None, tolerance=TOLERANCE, posterior=True):
    problem = Problem(model, weights)
    x0 = np.clip(model.start_x() if start is None else start, problem.low, problem.high)
    free = problem.free
    v0 = np.log(x0)[free]
    if len(free):
        low, high = np.log(problem.low)[free], np.log(problem.high)[free]
        found = least_squares(problem.fun, np.clip(v0, low, high), problem.jac, bounds=(low, high), loss=problem.loss,
                              x_scale=problem.sigma[free], ftol=tolerance, xtol=1e-5, gtol=None, max_nfev=TRIES + 1)
        v, converged, loss = found.x, found.status > 0, 2 * found.cost
    else:
        v, converged, loss = v0, True, 0.0
    u = problem.u_of(v)
    x = problem.x_of(u)
    out = Solution(x, converged, (np.log(x) <= np.log(problem.low) + STEP / 10) |
                   (np.log(x) >= np.log(problem.high) - STEP / 10), loss)
    if posterior:
        add_posterior(problem, out)
    return out


def add_posterior(problem, out):
    """Deviations of ln x from the normal matrix of runs and priors; and without runs, for the share that they took."""
    r = problem.residuals(out.x)
    out.jacobian = problem.jacobian(out.x, r)
    held = np.array([p.held for p in problem.model.parameters], dtype=bool)
    pull = problem.pull / np.where(held, HELD_SIGMA, problem.sigma)[:, None]
    prior = pull.T @ pull
    slope = problem.w / (SCALE**2 * np.sqrt(1 + (r / SCALE)**2))
    normal = prior + out.jacobian.T @ (slope[:, None] * out.jacobian)
    variance, alone = np.diag(np.linalg.inv(normal)), np.diag(np.linalg.inv(prior))
    out.deviation = np.sqrt(variance)
    out.data_share = np.clip(1 - variance / alone, 0, 1)


# ---- what runs determine ----


def verdict(parameter, deviation):
    """"determined" by runs, "leans" on its prior, or "kept" it: then it is held there."""
    left = deviation / parameter.sigma
    return "kept" if parameter.held or left >= KEPT else "determined" if left < DETERMINED else "leans"


def hold(model, solution, weakest):
    """Holds the parameters that kept their prior; where there are none and `weakest` is set, the one that leans on it
    most: figures that pull the same way share what runs say, so that the last of them gets all of it."""
    free = [(j, p) for j, p in enumerate(model.parameters) if not p.held]
    kept = [p for j, p in free if verdict(p, solution.deviation[j]) == "kept"]
    leaning = [(solution.deviation[j] / p.sigma, -j) for j, p in free if verdict(p, solution.deviation[j]) == "leans"]
    if not kept and weakest and leaning:
        kept = [model.parameters[-max(leaning)[1]]]
    for p in kept:
        p.held = True
    return len(kept)


def fit_whole(model, weights):
    """A fit to the end: figures that it leaves at their prior are held there, and the rest is fitted again; going on
    from values, until the runs determine all that moved."""
    goes_on = model.start == "values"
    out = solve(model, weights)
    while hold(model, out, goes_on):
        out = solve(model, weights, out.x)
        if not goes_on:
            break
    return out


# ---- back into the set ----


def rounded(value):
    """Five digits: what a fit writes must not depend on the last bit of a library's logarithm."""
    return float(f"{value:.5g}")


def runs_moved(model, solution, weights):
    """Of each parameter the runs that it moves by 1% or more of a step, when it moves by a deviation of its prior."""
    base = model.predictions(solution.x)
    columns = model.columns & (weights > 0)[:, None]
    out = np.zeros(len(model.parameters), dtype=int)
    for together in colours(columns):
        x = solution.x.copy()
        for j in together:
            p, reach = model.parameters[j], np.exp(model.parameters[j].sigma)
            x[j] = max(x[j] * reach if x[j] * reach <= p.high else x[j] / reach, p.low)
        far = np.abs(model.predictions(x) / base - 1) >= 0.01
        for j in together:
            out[j] = (columns[:, j] & far).sum()
    return out


def written(model, solution, weights):
    """The set with what was fitted: values rounded, deviations, runs, determined. Figures that no run moves go to their
    prior, which may have followed another; going on from values these and the held ones stay as they are."""
    out, moved = model.profiles.copy(), runs_moved(model, solution, weights)
    for j, p in enumerate(model.parameters):
        if p.held and model.start == "values":
            continue
        value = rounded(model.prior(j, solution.x) if p.held else solution.x[j])
        out.at(p.figure).update(value=min(max(value, p.low), p.high), runs=int(moved[j]),
                                deviation=p.sigma if p.held else rounded(solution.deviation[j]),
                                determined=verdict(p, solution.deviation[j]) == "determined")
    if model.start == "priors":
        out.put_priors(model.only, {p.figure for p in model.parameters})
    return out
