# SPDX-License-Identifier: GPL-3.0-or-later
"""The best way to shard the training and the serving of a transformer, and the proof that there is no better.

    import shardopt

    report = shardopt.plan(model="70b", chip="h100", nodes=64)
    report.best.seconds, report.best.mfu
    report.to_frame()           # a row for each plan; needs pandas
    print(report.emit())        # the launch script of the best plan
    report                      # in a notebook: the page with its pictures

Options are those of the program (`shardopt plan --help`) as keyword arguments: max_idle=0.1 is --max-idle 0.1, and
for_="megatron" is --for megatron. What the program refuses is raised as InputError with the program's line; what it finds
odd is a ShardoptWarning. Where nothing fits, a report has no plans and `report.best` raises NoPlanError.
"""

from __future__ import annotations

import importlib.metadata as _metadata
import json as _json
import os as _os
from typing import Any, Iterable, Mapping, Sequence, Union

from ._answers import SEARCHED, Check, Explanation, Plan, Report, Serving, Sweep
from ._program import (
    EXIT_GATE,
    EXIT_LIMIT,
    EXIT_USAGE,
    InputError,
    NoPlanError,
    ShardoptError,
    ShardoptWarning,
    program,
    run,
    run_options,
)

__all__ = [
    "Check", "Explanation", "InputError", "NoPlanError", "Plan", "Report", "Serving", "ShardoptError", "ShardoptWarning",
    "Sweep", "__version__", "check", "chips", "explain", "inference", "models", "plan", "price", "program", "run", "schema",
    "sweep",
]  # fmt: skip

try:
    __version__ = _metadata.version("shardopt")
except _metadata.PackageNotFoundError:  # the sources, without an installed wheel
    __version__ = "0"

Model = Union[str, "_os.PathLike[str]", Mapping[str, Any]]
Number = Union[int, float, str]


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def plan(
    model: Model,
    chip: str | None = None,
    *,
    nodes: int | None = None,
    chips: Number | None = None,
    slice: str | None = None,
    pods: int | None = None,
    batch: Number | None = None,
    seq: Number | None = None,
    for_: str | Sequence[str] | None = None,
    require: str | Mapping[str, Any] | None = None,
    top: int | None = None,
    **options: Any,
) -> Report:
    """Finds the best plans.

    model: a name ("70b", "meta-llama/Llama-3.1-70B"), a config.json or its folder, or the contents of one.
    chip: a name of chips(); pods and plain shapes of slices are of TPU v5p where none is named.
    nodes, chips, slice, pods: the machine: GPU hosts; chips in the vendor's default shape; one TPU slice; TPU pods.
    batch: tokens of one step, "4Mi" or a number. seq: tokens of a sequence.
    for_: the launchers that have to be able to launch it: "megatron", "torchtitan,megatron", "any".
    require: conditions, "tensor=4 pipeline<=8".
    top: that many plans, in place of some that differ in kind.
    options: any other option of `shardopt plan`.
    """
    given = _given(model=model, chip=chip, nodes=nodes, chips=chips, slice=slice, pods=pods, batch=batch, seq=seq)
    words = {**given, **_given(for_=for_, require=require, top=top), **options}
    code, text = run_options(["plan"], {**words, "format": "json"}, SEARCHED)
    return Report(["plan"], words, text, code)


def explain(model: Model | None = None, chip: str | None = None, *, plan: str | None = None, **options: Any) -> Explanation:
    """One plan in full: of `plan`, a notation such as "fsdp=16 tensor=8"; of from_config, a launch file."""
    words = {**_given(model=model, chip=chip, plan=plan), **options}
    code, text = run_options(["explain"], {**words, "format": "json"}, SEARCHED)
    return Explanation(None, words, text, code)


def price(
    model: Model, chip: str | None = None, *, plans: Iterable[str | Mapping[str, Any]], **options: Any
) -> list[dict[str, Any]]:
    """Many plans of one request, thousands in a second: a dictionary for each, in their order, with "step", "memory" and
    the like as `shardopt explain --plans` writes them, or with "error".

    plans: notations such as "fsdp=16 tensor=8 microbatches=4", or {"fsdp": 16, "tensor": 8}.
    """
    words = {**_given(model=model, chip=chip), **options}
    code, text = run_options(["explain"], {**words, "plans": list(plans)})
    return [_json.loads(line) for line in text.splitlines()]


def sweep(model: Any, chip: Any = None, **options: Any) -> Sweep:
    """Plans every point of a grid: sweep(model=["8b", "70b"], chip=["v5p", "v6e"], chips=64, batch="1Mi").

    A point that cannot be planned is a row with its message; it ends nothing.
    """
    words = {**_given(model=model, chip=chip), **options}
    code, text = run_options(["sweep"], {**words, "format": "json"}, SEARCHED)
    return Sweep(["sweep"], words, text, code)


def inference(model: Model, chip: str | None = None, **options: Any) -> Serving:
    """Finds the front of serving plans: inference(model="70b", chip="h100", nodes=1, prompt=1024, output=256)."""
    words = {**_given(model=model, chip=chip), **options}
    code, text = run_options(["inference"], {**words, "format": "json"}, SEARCHED)
    return Serving(["inference"], words, text, code)


def check(**options: Any) -> Check:
    """Holds a plan, a launch file or a baseline against the best: check(from_config="run.yml", chip="h100")."""
    code, text = run_options(["check"], {**options, "format": "json"}, (*SEARCHED, EXIT_GATE, EXIT_LIMIT))
    return Check(["check"], options, text, code)


def models() -> list[dict[str, Any]]:
    """The models of the zoo."""
    listed: list[dict[str, Any]] = _json.loads(run(["models", "--format", "json"])[1])
    return listed


def chips() -> list[dict[str, Any]]:
    """The chips of the catalog, each figure with its source."""
    listed: list[dict[str, Any]] = _json.loads(run(["chips", "--format", "json"])[1])
    return listed


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of what the program writes: "report", "sweep", "inference", "check" ... (docs/json.md)."""
    path = program().parent.parent / "share" / "shardopt" / "schema" / f"{name}.schema.json"
    if not path.is_file():
        there = ", ".join(sorted(file.name.split(".")[0] for file in path.parent.glob("*.json"))) or "none is installed"
        raise InputError(f'schema: "{name}" is not one of the schemas: {there}', EXIT_USAGE)
    loaded: dict[str, Any] = _json.loads(path.read_text(encoding="utf-8"))
    return loaded
