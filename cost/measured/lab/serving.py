# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits what engines take beyond the kernels' own times to measured serving runs.

A cell is an engine on the chips of one entry of the profile (and of entries that say `fit_with` one of them). Each of
its figures is the profile's own plus `scale` times an effect. Effects are partially pooled (Gelman and Hill, "Data
Analysis Using Regression and Multilevel/Hierarchical Models", chapter 12): that of an engine is believed to equal that
of all, that of an engine on a generation of chips the sum of both, that of a cell its engine's on its generation. So
what many rows share is said by the wider level. With residuals r = ln(predicted / measured) of the time of a token and
of the first token, and with groups of rows that weigh one, a fit minimises

    sum_i w_i 2 (sqrt(1 + (r_i / MARGIN)^2) - 1)  +  sum_j ((effect_j - prior_j) / sigma_j)^2

which is soft_l1 with one row for each prior, as in fit.py. How closely effects are held is chosen by folds of the rows
that are fitted to.

A row depends on the figures of one cell, so that one figure of all cells is moved at once, and the normal matrix of the
rows is block diagonal: Levenberg-Marquardt on it takes milliseconds where the SVD of scipy.optimize.least_squares takes
seconds (340 effects, 5,000 rows, 440 solves)."""
import json
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from fit import prior_rows
from folds import weighed_quantile
from predict import Server

MARGIN = 0.03  # of ln(predicted / measured): by which two runs of a test differ
STEP = 0.01  # of an effect: differences
TOLERANCE = 0.02  # of an effect: ends a solve
STEPS, TRIES, FAR = 5, 12, 4000
INNER_FOLDS = 5
STRENGTHS = (1 / 64, 1 / 8, 1, 2, 4, 8, 16, 32)
# Levels: all rows, an engine, a generation of chips, an engine on a generation, a cell. Half of the penalty times the
# square of an effect is added to the loss of rows that weigh 1 in all.
PENALTIES = (5e-4, 1.25e-3, 1.25e-3, 2.5e-3, 5e-3)
FOLLOWS = ((), (0,), (), (1, 2), (3,))
LEVELS = len(PENALTIES)
ENGINE, CELL = 1, 4


@dataclass(frozen=True)
class Row:
    """A measured run; NaN: not measured."""
    id: str
    group: str
    skipped: str = ""  # why it cannot be replayed; then all members below are empty
    kind: str = ""
    engine: str = ""  # as error tables name it
    version: str = ""
    variant: str = ""
    source: str = ""
    chip: str = ""
    model: str = ""
    layout: str = ""
    mode: str = ""
    cell: int = -1  # -1: no fit counts it
    weights: int = 0
    chips: int = 0
    prompt: float = 0
    output: float = 0
    concurrency: float = 0
    at_once: bool = False  # all requests are sent at the beginning
    drafts_unknown: bool = False
    tpot: float = np.nan
    ttft: float = np.nan
    rate: float = np.nan


@dataclass(frozen=True)
class Figure:
    key: str
    scale: float
    low: float
    high: float
    of_first_token: bool


@dataclass
class Cell:
    engine: str
    begun: np.ndarray  # figures before the fit
    chips: list = None  # of the entry; None: of every other chip
    other_chips: list = None
    versions: list = None  # of the engine, that are fitted apart; None: its others
    generation: str = None
    member: list = field(default_factory=list)  # number at each level
    value: np.ndarray = None
    moved: np.ndarray = None  # whether rows say anything of a figure
    rows: int = 0
    groups: int = 0

    def same(self, other):
        """At each level."""
        engine = self.engine == other.engine
        both = engine and self.versions == other.versions
        generation = self.chips == other.chips or (self.generation is not None and self.generation == other.generation)
        return True, engine, generation, both and generation, both and self.chips == other.chips


@dataclass
class Parameter:
    """As fit.prior_rows() takes it."""
    level: int
    follows: tuple


class Program(Server):
    """Serving runs under profiles."""

    def __init__(self, *words, values=False):
        super().__init__(*words)
        first = self.first
        self.rows = [Row(**row) for row in first["runs"]]
        self.figures = [Figure(**figure) for figure in first["figures"]]
        self.engines, self.profile = first["engines"], first["profile"]
        self.cells = []
        for cell in first["cells"]:
            begun, unfitted = np.array(cell.pop("begun"), float), np.array(cell.pop("unfitted"), float)
            self.cells.append(Cell(**cell, begun=begun if values else unfitted))
        if not values:
            self.profile.pop("fits", None)
        kept = {key: value for key, value in self.profile.items() if key != "fits"}
        self.head = json.dumps(kept, separators=(",", ":"))[:-1] + ',"fits":'

    def predictions(self, values, rows=None):
        """{"tpot", "ttft", "rate", "resident"}, of every row; `values`: by cell and figure."""
        fits = [{"engine": cell.engine, "chips": cell.chips or cell.other_chips,
                 **({"versions": cell.versions} if cell.versions else {}),
                 "figures": {figure.key: {"value": float(v), "source": "-"} for figure, v in zip(self.figures, own)}}
                for cell, own in zip(self.cells, values)]
        only = f',"rows":{json.dumps([int(row) for row in rows])}' if rows is not None else ""
        answer = self.ask(f"{self.head}{json.dumps(fits)}{only}}}")
        return {key: np.array(of, dtype=float) for key, of in answer.items()}


class Model:
    """Rows, cells and levels: what stays the same from fold to fold."""

    def __init__(self, program, folds):
        self.program, self.rows, self.cells = program, program.rows, program.cells
        self.figures, self.folds = program.figures, folds
        self.measured = {key: np.array([getattr(row, key) for row in self.rows]) for key in ("tpot", "ttft", "rate")}
        self.prompts = np.array([row.mode == "prefill-only" for row in self.rows])
        self.cell = np.array([row.cell for row in self.rows], dtype=int)
        numbers = {}
        self.group = np.array([numbers.setdefault(row.group, len(numbers)) for row in self.rows], dtype=int)
        members = np.bincount(self.group[self.cell >= 0], minlength=len(numbers) + 1)[self.group]
        self.weight = np.where(members > 0, 1 / np.maximum(members, 1), 0)
        self.outer = self.group % folds if folds else np.zeros(len(self.rows), dtype=int)
        self.begun = np.array([cell.begun for cell in self.cells]).reshape(len(self.cells), len(self.figures))
        self.scale = np.array([figure.scale for figure in self.figures])
        self.low = np.array([figure.low for figure in self.figures])
        self.high = np.array([figure.high for figure in self.figures])
        self.pool()

    def pool(self):
        """Numbers the members of each level, and the effects: by level, member and figure."""
        self.parameters, count = [], len(self.figures)
        for level in range(LEVELS):
            number, base = 0, len(self.parameters)
            for c, cell in enumerate(self.cells):
                like = next((other for other in self.cells[:c] if cell.same(other)[level]), None)
                cell.member.append(like.member[level] if like else base + count * number)
                if like:
                    continue
                number += 1
                self.parameters += [Parameter(level, tuple(cell.member[up] + f for up in FOLLOWS[level]))
                                    for f in range(count)]
        self.leaf = np.array([cell.member[CELL] for cell in self.cells], dtype=int)[:, None] + np.arange(count)
        self.pull = prior_rows(self.parameters)
        self.level = np.array([p.level for p in self.parameters], dtype=int)
        self.least, self.most = np.full(len(self.level), -float(FAR)), np.full(len(self.level), float(FAR))
        self.least[self.leaf] = np.minimum(0, (self.low - self.begun) / self.scale)  # cells alone have bounds
        self.most[self.leaf] = np.maximum(0, (self.high - self.begun) / self.scale)

    def values(self, effects, at=None):
        """Figures by cell; `at`: effects of another level, by cell and figure."""
        return np.clip(self.begun + self.scale * effects[self.leaf if at is None else at], self.low, self.high)

    def residuals(self, predicted):
        """ln(predicted / measured) by row: of the time of a token, where none was timed of the rate's inverse; and of
        the first token."""
        with np.errstate(invalid="ignore"):
            token = np.log(predicted["tpot"] / self.measured["tpot"])
            token = np.where(np.isnan(token), np.log(self.measured["rate"] / predicted["rate"]), token)
            first = np.log(predicted["ttft"] / self.measured["ttft"])
        return np.stack([np.where(self.prompts, np.nan, token), first], axis=1)

    def counts(self, without=-1):
        """Whether a row is determined by the load and not by its source's own client: everything queued at once is an
        envelope. Two pools are two engines, whose rows say nothing of each alone."""
        kept = np.array([not row.at_once and row.mode != "disagg" for row in self.rows], dtype=bool)
        return kept & (self.cell >= 0) & (self.outer != without)


# ---- least squares ----


class Problem:
    """Rows with their weights; `residuals(effects)` and `jacobian(effects, r)`, of which a row has one column for each
    figure of its cell."""

    def __init__(self, model, weights, strength, total):
        self.model, self.w = model, weights
        self.own = weights > 0
        self.precision = np.array(PENALTIES)[model.level] * total * strength / 2
        self.prior = model.pull.T @ (self.precision[:, None] * model.pull)
        self.members = [np.flatnonzero((model.cell == c) & self.own.any(axis=1)) for c in range(len(model.cells))]

    def loss(self, effects, r):
        square = (r[self.own] / MARGIN)**2
        loss = (self.w[self.own] * 2 * square / (1 + np.sqrt(1 + square))).sum()
        loss += (self.precision * (self.model.pull @ effects)**2).sum()
        return loss if np.isfinite(loss) else np.inf

    def normal(self, effects, r, jacobian):
        """Normal matrix and half the gradient; the loss's slope over a residual is its weight."""
        slope = np.where(self.own, self.w / (MARGIN**2 * np.sqrt(1 + np.where(self.own, r / MARGIN, 0)**2)), 0)
        known = np.where(self.own, r, 0)
        matrix, gradient = self.prior.copy(), self.prior @ effects
        for own, leaf in zip(self.members, self.model.leaf):
            columns = jacobian[own].reshape(-1, len(leaf))
            heavy = slope[own].reshape(-1, 1) * columns
            matrix[np.ix_(leaf, leaf)] += columns.T @ heavy
            gradient[leaf] += heavy.T @ known[own].ravel()
        return matrix, gradient


def bounded_step(model, effects, matrix, gradient, damping):
    """An effect on a bound that is pushed outward stays there; one that a step carries over a bound is put on it, and
    the rest is solved again. Each round holds one more, so this ends. None: the matrix is not positive definite."""
    held = ((effects <= model.least) & (gradient >= 0)) | ((effects >= model.most) & (gradient <= 0))
    step = np.zeros(len(effects))
    while True:
        free = np.flatnonzero(~held)
        part = matrix[np.ix_(free, free)]
        part[np.diag_indices(len(free))] *= 1 + damping
        try:
            step[free] = scipy.linalg.solve(part, -gradient[free] - matrix[free] @ np.where(held, step, 0),
                                            assume_a="pos", check_finite=False)
        except (np.linalg.LinAlgError, ValueError):
            return None
        to = effects + step
        over = ~held & ((to < model.least) | (to > model.most))
        if not over.any():
            return step
        step[over] = np.clip(to, model.least, model.most)[over] - effects[over]
        held |= over


def descend(problem, residuals, jacobian, effects, r=None):
    """The effects with the smallest loss, and their residuals."""
    r, damping = residuals(effects) if r is None else r, 1e-4
    loss = problem.loss(effects, r)
    for _ in range(STEPS):
        matrix, gradient = problem.normal(effects, r, jacobian(effects, r))
        for _ in range(TRIES):
            step = bounded_step(problem.model, effects, matrix, gradient, damping)
            if step is not None:
                next_r = residuals(effects + step)
                next_loss = problem.loss(effects + step, next_r)
                if next_loss <= loss:
                    break
            damping *= 4
        else:
            return effects, r
        effects, r, loss = effects + step, next_r, next_loss
        damping = max(damping / 10, 1e-12)
        if np.abs(step).max() <= TOLERANCE:
            break
    return effects, r


# ---- a fit ----


class Fit:
    """A fit to the rows that count without a fold. Some steps; then how closely effects are held; then to the end."""

    def __init__(self, model, without=-1):
        self.model = model
        counted = model.counts(without)
        known = ~np.isnan(model.start)
        self.w = np.where(counted[:, None] & known, (model.weight * MARGIN / 2)[:, None], 0)
        self.total = 1e-9 + model.weight[counted].sum()
        # Clients of several tests begin each in a way of their own, and their first tokens say nothing about steps;
        # those of one test do, and tell figures apart between which its times of a token do not.
        self.one_group = len(set(model.group[counted])) <= 1
        first = np.array([figure.of_first_token or self.one_group for figure in model.figures])
        self.columns = np.stack([np.ones_like(first), first])
        self.asked = np.flatnonzero((self.w > 0).any(axis=1))
        self.strength = 1.0
        effects, r = descend(self.problem(self.w, 1), self.residuals, self.jacobian, np.zeros(len(model.level)))
        self.line = effects, r, self.jacobian(effects, r)
        self.strength = self.chosen_strength()
        self.effects, _ = descend(self.problem(self.w, self.strength), self.residuals, self.jacobian, effects, r)

    def problem(self, weights, strength):
        return Problem(self.model, weights, strength, self.total)

    def residuals(self, effects):
        model = self.model
        return model.residuals(model.program.predictions(model.values(effects), self.asked))

    def jacobian(self, effects, r):
        """By differences of one figure of all cells: forward, or backward where there is no room above; where the
        model has no answer there, on the other side."""
        model = self.model
        out = np.zeros((*r.shape, len(model.figures)))
        cells = np.maximum(model.cell, 0)
        for f in range(len(model.figures)):
            leaf = model.leaf[:, f]
            side = np.where(model.most[leaf] - effects[leaf] > STEP, STEP, -STEP)
            column = np.full(r.shape, np.nan)
            for sign in (1, -1):
                moved = effects.copy()
                moved[leaf] += sign * side
                found = (self.residuals(moved) - r) / (sign * side[cells])[:, None]
                column = np.where(np.isfinite(column), column, found)
                if np.isfinite(column[self.w > 0]).all():
                    break
            out[:, :, f] = np.where((self.w > 0) & np.isfinite(column) & self.columns[:, f], column, 0)
        return out

    def chosen_strength(self):
        """Of some strengths the one by which straight lines predict folds best that were left out in turn; 1 where
        there are fewer than two. Rows of a group are left out together; of one group alone every fifth is."""
        model, (begun, r, slopes) = self.model, self.line
        fold = (np.arange(len(model.rows)) if self.one_group else model.group) % INNER_FOLDS
        if len(set(fold[self.asked])) < 2:
            return 1.0
        leaf = model.leaf[np.maximum(model.cell, 0)]

        def lines(effects):
            return r + (slopes * (effects - begun)[leaf][:, None, :]).sum(axis=2)
        best, out = np.inf, 1.0
        for strength in STRENGTHS:
            loss = 0
            for number in range(INNER_FOLDS):
                left = np.where((fold == number)[:, None], 0, self.w)
                effects, _ = descend(self.problem(left, strength), lines, lambda *_: slopes, begun, r)
                seen = (fold == number) & (self.w[:, 0] > 0)  # what a token takes judges
                loss += (self.w[seen, 0] * (np.hypot(lines(effects)[seen, 0], MARGIN) - MARGIN)).sum()
            if loss < best:
                best, out = loss, strength
        return out

    def values(self):
        return self.model.values(self.effects)


@dataclass
class Calibration:
    model: Model
    before: dict  # predictions of all rows
    fitted: dict = None
    unseen: dict = None  # each row by a fit without its fold; None: no folds
    pooled: dict = field(default_factory=dict)  # by engine: all of its cells as one, which its other GPUs borrow
    strength: float = 1
    likely_factor: float = 1  # nine in ten unseen times of a token lie below the prediction times this

    @property
    def worth(self):
        return self.unseen or self.fitted


def determined(c, values):
    """Of each cell the figures that change the prediction of one of its rows."""
    model, out = c.model, np.zeros_like(values, dtype=bool)
    counted, base = model.counts(), model.residuals(c.fitted)
    for f, figure in enumerate(model.figures):
        moved = values.copy()
        moved[:, f] += np.where(moved[:, f] + figure.scale <= figure.high, figure.scale, -figure.scale)
        other = model.residuals(model.program.predictions(moved, np.flatnonzero(counted)))
        by = int(figure.of_first_token)
        said = counted & ~np.isnan(base[:, by]) & (other[:, by] != base[:, by])
        out[:, f] = np.bincount(model.cell[said], minlength=len(model.cells)) > 0
    return out


def note(c, found):
    """What was fitted, of cells and of engines."""
    model, counted = c.model, c.model.counts()
    values = found.values()
    moved = determined(c, values)
    for number, cell in enumerate(model.cells):
        own = counted & (model.cell == number)
        cell.value, cell.moved, cell.rows = values[number], moved[number], int(own.sum())
        # A group is of the cell that has its first row.
        cell.groups = len({g for g in model.group[own] if model.cell[counted & (model.group == g)][0] == number})
        pooled = c.pooled.setdefault(cell.engine, Cell(cell.engine, cell.begun, ["@gpu"], value=cell.begun,
                                                       moved=np.zeros(len(model.figures), dtype=bool)))
        pooled.moved = pooled.moved | cell.moved
        if cell.versions is None:
            at = cell.member[ENGINE] + np.arange(len(model.figures))
            pooled.value = np.clip(cell.begun + model.scale * found.effects[at], model.low, model.high)
            pooled.rows += cell.rows
            pooled.groups += cell.groups
    for cell in model.cells:  # without rows it has what its parent has
        if not cell.rows:
            cell.moved = c.pooled[cell.engine].moved


def calibrate(program, folds, progress=None):
    model = Model(program, folds)
    c = Calibration(model, program.predictions(model.begun))
    model.start = model.residuals(c.before)
    if folds:
        c.unseen = {key: np.full(len(model.rows), np.nan) for key in c.before}
    for fold in range(folds):
        left = model.outer == fold
        if left.any():
            found = program.predictions(Fit(model, fold).values(), np.flatnonzero(left))
            for key, of in found.items():
                c.unseen[key][left] = of[left]
        if progress:
            progress(fold + 1, folds)
    if folds:
        ratios = model.measured["tpot"] / c.unseen["tpot"]
        ratios = ratios[model.counts() & np.isfinite(ratios)]
        if len(ratios):
            c.likely_factor = max(1.0, float(weighed_quantile(ratios, np.ones(len(ratios)), 0.9)))
    found = Fit(model)
    c.strength = found.strength
    c.fitted = program.predictions(found.values())
    note(c, found)
    return c


# ---- back into the profile ----


def entry(c, cell, engine, table):
    source = (f"shardopt calibrate: {cell.rows} rows of {cell.groups} groups of {table[:60]}" if cell.rows else
              "shardopt calibrate: no row of its own; what the engine's and the chips' parents have")
    return {"engine": engine, "chips": cell.chips, **({"versions": cell.versions} if cell.versions else {}),
            "figures": {figure.key: {"value": float(f"{cell.value[f]:.4g}"), "source": source}
                        for f, figure in enumerate(c.model.figures) if cell.moved[f]}}


def least_of(c, chips):
    """Under no engine's rules each figure is the least of any engine's on these chips, so that no engine is quicker."""
    count = len(c.model.figures)
    out = Cell("none", None, chips, value=np.full(count, np.inf), moved=np.zeros(count, dtype=bool))
    for engine in c.model.program.engines:
        pooled = c.pooled.get(engine)
        own = next((cell for cell in c.model.cells if (cell.engine, cell.chips, cell.versions) == (engine, chips, None)),
                   pooled if pooled and pooled.rows else None)
        if not own:
            continue
        out.rows, out.groups = out.rows + own.rows, out.groups + own.groups
        out.value = np.where(own.moved, np.minimum(out.value, own.value), out.value)
        out.moved = out.moved | own.moved
    return out


def profile(c, table):
    """The profile that was begun with, with what was fitted. GPUs on which an engine has no rows borrow what all of its
    rows have in common; fits of engines and chips without rows stay."""
    document, fits, seen = dict(c.model.program.profile), [], []
    for cell in c.model.cells:
        if cell.chips is None or not (cell.rows or c.pooled[cell.engine].rows):
            continue
        fits.append(entry(c, cell, cell.engine, table))
        if cell.chips not in seen:
            fits.append(entry(c, least_of(c, cell.chips), "none", table))
        seen.append(cell.chips)
    pooled = [c.pooled[engine] for engine in c.model.program.engines if engine in c.pooled and c.pooled[engine].rows]
    fits += [entry(c, cell, cell.engine, table) for cell in pooled]
    if pooled:
        fits.append(entry(c, least_of(c, ["@gpu"]), "none", table))
    known = [(fit["chips"], fit["engine"], "versions" in fit) for fit in fits]
    for old in document.pop("fits", []):
        if (old["chips"], old["engine"], "versions" in old) not in known:
            fits.append(old)
    document["fits"] = fits
    likely = document["figures"].get("likely_factor")
    if likely and c.unseen:
        likely.update(value=float(f"{c.likely_factor:.3g}"), source="shardopt calibrate: nine in ten rows of "
                      f"{table[:60]} that the fit had not seen")
    return document
