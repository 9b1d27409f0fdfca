# SPDX-License-Identifier: GPL-3.0-or-later
"""What the functions of this package return: objects around the program's JSON, which docs/json.md describes."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from ._page import framed
from ._program import EXIT_DONE, EXIT_GATE, EXIT_LIMIT, EXIT_NO_PLAN, NoPlanError, figures, run_on_report, run_options

if TYPE_CHECKING:
    import pandas

PAGE_HEIGHT = 900  # pixels in a notebook
SEARCHED = (EXIT_DONE, EXIT_NO_PLAN, EXIT_LIMIT)


def _frame(rows: Sequence[Mapping[str, Any]]) -> "pandas.DataFrame":
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("to_frame() needs pandas (pip install pandas); rows() does not") from missing
    return pandas.DataFrame(list(rows))


ROW = (
    "rank plan launcher data fsdp sequence tensor expert pipeline microbatches schedule step_seconds likely_low_seconds "
    "likely_high_seconds mfu tokens_per_second_per_chip exposed_communication_seconds bubble_seconds hbm_bytes "
    "hbm_limit_bytes bound_by training_seconds chip_hours cost_usd launchable_by"
).split()


@functools.lru_cache(maxsize=None)
def _names() -> dict[str, str]:
    """The key of each figure of a plan by its name."""
    names = {"plan": "notation", "launchable_by": "launchable_by"}
    for figure in figures()["plans[]"]:
        if figure["key"]:
            names.setdefault(figure["name"], figure["key"])
    return names


class Plan:
    """One way to shard the training. `json` is its part of the report; `plan["knobs"]` is the same as `plan.json["knobs"]`."""

    def __init__(self, report: "Report", json: Mapping[str, Any]) -> None:
        self._report, self.json = report, json

    def __getitem__(self, key: str) -> Any:
        return self.json[key]

    @property
    def rank(self) -> int:
        """From 1, the best."""
        return int(self.json["rank"])

    @property
    def notation(self) -> str:
        """The degrees of all roles, as --plan takes them."""
        return str(self.json["notation"])

    @property
    def degrees(self) -> Mapping[str, int]:
        """data, fsdp, sequence, tensor, expert and pipeline."""
        degrees: Mapping[str, int] = self.json["axes"]
        return degrees

    @property
    def launcher(self) -> str | None:
        """Whom the plan is for ("megatron"); None where no launcher was asked for."""
        return self.json.get("launcher")

    @property
    def seconds(self) -> float:
        """Of one step."""
        return float(self.json["step"]["seconds"])

    def __getattr__(self, name: str) -> Any:
        """Any figure by its name in a table: `plan.mfu`, `plan.hbm_bytes` (of the fullest chip), `plan.cost_usd`; None
        where it is not known. `dir(plan)` lists them; docs/json.md says what each means."""
        if name.startswith("_") or name not in _names():
            raise AttributeError(f"a plan has no {name}")
        return self._at(_names()[name])

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_names()]

    def _at(self, key: str) -> Any:
        value: Any = self.json
        for word in key.split("."):
            value = value.get(word) if isinstance(value, Mapping) else None
        return " ".join(value) if isinstance(value, list) else value

    def emit(self, launcher: str | None = None, **options: Any) -> str:
        """The launch configuration of this plan, by default for the launcher that it is for."""
        return self._report.emit(launcher, rank=self.rank, **options)

    def explain(self, **options: Any) -> "Explanation":
        """The plan in full."""
        return self._report.explain(rank=self.rank, **options)

    def row(self) -> dict[str, Any]:
        """The plan's main figures as one flat row; SI units stand in the names."""
        more = [figure["name"] for figure in figures()["plans[]"] if figure["compared"] and figure["key"]]
        return {name: self._at(_names()[name]) for name in dict.fromkeys([*ROW, *more])}

    def __repr__(self) -> str:
        whom = f", {self.launcher}" if self.launcher else ""
        return f"<Plan {self.rank}: {self.notation}: {self.seconds:.4g} s, {self.mfu:.1%} MFU{whom}>"


class _Answer:
    """An answer that the program can write in other forms. They are asked for when they are wanted, by the same words:
    the same search gives the same answer."""

    def __init__(self, command: Sequence[str], options: Mapping[str, Any], text: str, code: int) -> None:
        self._command, self._options, self._forms = list(command), dict(options), {"json": text}
        self.code: int = code
        self.json: Any = json.loads(text)

    def _form(self, name: str) -> str:
        if name not in self._forms:
            _, self._forms[name] = run_options(self._command, {**self._options, "format": name, "quiet": True}, SEARCHED)
        return self._forms[name]

    @property
    def proven(self) -> bool:
        """Nothing that was asked is left open: no limit ended the search before its proof."""
        return self.code != EXIT_LIMIT

    def text(self) -> str:
        """What the program prints."""
        return self._form("text")

    def markdown(self) -> str:
        """The answer as Markdown."""
        return self._form("markdown")

    def html(self) -> str:
        """The answer as a page with pictures, which loads nothing."""
        return self._form("html")

    def _repr_html_(self) -> str:
        return framed(self.html(), PAGE_HEIGHT)

    def __str__(self) -> str:
        return self.text()


class Report(_Answer):
    """The plans of one request, the best first, and the proof. `json` is the whole report."""

    @property
    def plans(self) -> list[Plan]:
        """Empty where nothing fits."""
        return [Plan(self, plan) for plan in self.json["plans"]]

    @property
    def best(self) -> Plan:
        """The first plan. Raises NoPlanError where nothing fits, which says how much the nearest lacks."""
        if self.json["plans"]:
            return self.plans[0]
        short = self.json.get("shortfall") or {}
        lacks = f": {short['notation']} needs {short['needed_bytes']} bytes of {short['limit_bytes']}" if short else ""
        raise NoPlanError(f"plan: no plan fits{lacks}", EXIT_NO_PLAN)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.json["plans"])

    def rows(self) -> list[dict[str, Any]]:
        """One flat row for each plan."""
        return [plan.row() for plan in self.plans]

    def to_frame(self) -> "pandas.DataFrame":
        """The rows as a DataFrame of pandas."""
        return _frame(self.rows())

    def emit(self, launcher: str | None = None, rank: int = 1, **options: Any) -> str:
        """The launch configuration of a plan: of maxtext, torchtitan, megatron, jax or deepspeed."""
        launcher = launcher or (self.plans[rank - 1].launcher if 0 < rank <= len(self) else None)
        return run_on_report(["emit", *([launcher] if launcher else [])], self.json, {"rank": rank, **options})[1]

    def explain(self, rank: int = 1, **options: Any) -> "Explanation":
        """A plan in full: where its step and its memory go, and why."""
        words = {"rank": rank, **options}
        code, text = run_on_report(["explain"], self.json, {**words, "format": "json"}, SEARCHED)
        return Explanation(self.json, words, text, code)

    def save(self, path: str) -> None:
        """Writes the report as JSON, for `shardopt explain --from` and the like."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._forms["json"])

    def __repr__(self) -> str:
        request = f"{self.json['model']['name']} on {self.json['mesh']['text']} of {self.json['mesh']['chip']}"
        if not len(self):
            return f"<Report: {request}: no plan fits>"
        proof = "proven" if self.json["search"]["proof"] == "optimal" else f"gap {self.json['search']['gap']:.2%}"
        return f"<Report: {request}: {len(self)} plans, best {self.best.seconds:.4g} s, {self.best.mfu:.1%} MFU, {proof}>"


class Explanation(_Answer):
    """One plan in full. `plan` is it; `why_not` says, with why_not=True, why it is not the best."""

    def __init__(self, report: Any, options: Mapping[str, Any], text: str, code: int) -> None:
        super().__init__(["explain"], options, text, code)
        self._report = report  # None: the options say it all

    def _form(self, name: str) -> str:
        if self._report is None or name in self._forms:
            return super()._form(name)
        words = {**self._options, "format": name, "quiet": True}
        _, self._forms[name] = run_on_report(["explain"], self._report, words, SEARCHED)
        return self._forms[name]

    @property
    def plan(self) -> Plan:
        """The plan that is explained."""
        return Plan(Report(["plan"], {}, self._forms["json"], self.code), self.json["plans"][0])

    @property
    def why_not(self) -> Any:
        """Why the plan is not the best; None where that was not asked."""
        return self.json.get("why_not")

    def __repr__(self) -> str:
        return f"<Explanation of {self.json['plans'][0]['notation'] if self.json['plans'] else 'no plan'}>"


class Sweep(_Answer):
    """The points of a grid, in its order. `json` is a list with one object for each."""

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.json)

    def __len__(self) -> int:
        return len(self.json)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row for each point: what varies, `state`, `message` and the best plan's figures."""
        rows = []
        for point in self.json:
            best = {("best_chips" if name == "chips" else name): value for name, value in (point["best"] or {}).items()}
            rows.append({**point["varies"], "state": point["state"], "message": point["message"], **best})
        return rows

    def to_frame(self) -> "pandas.DataFrame":
        """The rows as a DataFrame of pandas."""
        return _frame(self.rows())

    def __repr__(self) -> str:
        found = sum(point["best"] is not None for point in self.json)
        return f"<Sweep: {len(self)} points, {found} with a plan>"


class Serving(_Answer):
    """The front of serving plans, most tokens per second for a user first. `json` is the whole report."""

    @property
    def front(self) -> list[Mapping[str, Any]]:
        """The points that none beats in both rates."""
        front: list[Mapping[str, Any]] = self.json["front"]
        return front

    @property
    def best(self) -> Mapping[str, Any]:
        """The best point for the objective within the limits. Raises NoPlanError where none keeps them."""
        point = self.json.get("best_point")
        if point is None:
            raise NoPlanError("inference: no point keeps the limits", EXIT_NO_PLAN)
        best: Mapping[str, Any] = point
        return best

    def rows(self) -> list[dict[str, Any]]:
        """One flat row for each point of the front: its figures without what lies deeper."""
        return [{k: v for k, v in point.items() if not isinstance(v, (dict, list))} for point in self.front]

    def to_frame(self) -> "pandas.DataFrame":
        """The rows as a DataFrame of pandas."""
        return _frame(self.rows())

    def __repr__(self) -> str:
        return f"<Serving: {self.json['model']['name']} on {self.json['mesh']['chips']} chips: {len(self.front)} points>"


class Check(_Answer):
    """A gate's verdict: `passed`, and all of it in `json`."""

    @property
    def passed(self) -> bool:
        """Whether nothing is worse than allowed."""
        return self.code == EXIT_DONE

    def _form(self, name: str) -> str:
        if name not in self._forms:
            words = {**self._options, "format": name, "quiet": True}
            _, self._forms[name] = run_options(self._command, words, (*SEARCHED, EXIT_GATE))
        return self._forms[name]

    def _repr_html_(self) -> None:  # type: ignore[override]
        return None  # a check has no page: notebooks print it

    def __repr__(self) -> str:
        return f"<Check: {'passed' if self.passed else 'FAILED'}>"
