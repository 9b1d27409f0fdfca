# SPDX-License-Identifier: GPL-3.0-or-later
"""Shards any function of JAX over a machine, as `shardopt program` does, and runs it so.

    from shardopt.jax import shard

    step = shard(step, state, batch, donate_argnums=0, chip="v5e", slice="4x4")
    state, batch = step.put(state, batch)     # on the devices, as the answer has them
    state, loss = step(state, batch)
    print(step.report)                        # what `shardopt program` says

Shardings of arguments alone do not carry a plan (docs/program.md): the program that runs is the annotated one, with its
shardings inside. It goes in as a module that jax.export calls, so that the result is a function like any other: it may
be jitted, lowered and compiled with others. Tried with jax 0.10.2.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import tempfile
from typing import Any, Callable, Sequence

import jax
import numpy
from jax import export

from ._program import EXIT_DONE, EXIT_LIMIT, run, words_of


class _Annotated(export.Exported):  # type: ignore[misc]
    """An exported function whose program is the annotated text, which stands in `text`. Each has a name of its own: JAX
    compares exported functions by their fields."""

    def mlir_module(self, serialized: bool = True) -> Any:
        from jax.extend.mlir import ir

        text: str = self.text
        return text if serialized else ir.Module.parse(text)


_number = itertools.count()


def lower(function: Callable[..., Any], *args: Any, donate_argnums: Any = ()) -> str:
    """The function's StableHLO text, with the names of its arguments; no device is needed."""
    jitted = jax.jit(function, donate_argnums=donate_argnums, keep_unused=True)
    return str(jitted.lower(*args).as_text(debug_info=True))


class Sharded:
    """A function as it is sharded. `mesh`, `shardings` (of each argument, as a tree), `answer` (`--format json`),
    `report` (as text), `text` (the annotated program)."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], donate_argnums: Any, devices: Any, options: Any):
        with tempfile.TemporaryDirectory(prefix="shardopt-") as folder:
            path, annotated = os.path.join(folder, "step.mlir"), os.path.join(folder, "sharded.mlir")
            with open(path, "w", encoding="utf-8") as file:
                file.write(lower(function, *args, donate_argnums=donate_argnums))
            words = ["program", path, *words_of(options)]
            good = (EXIT_DONE, EXIT_LIMIT)
            self.answer = json.loads(run([*words, "--format", "json", "--annotate", annotated], good)[1])
            self.report = run(words, good)[1].replace(path, getattr(function, "__name__", "step"))
            with open(annotated, encoding="utf-8") as file:
                self.text = file.read()
        sizes, order = self.answer["best"]["mesh"], self.answer["best"]["devices"]
        devices = list(jax.devices() if devices is None else devices)
        if len(devices) != len(order):
            raise ValueError(f"the machine that was asked for has {len(order)} devices, here are {len(devices)}")
        # The answer counts chips by their place, the innermost axis fastest.
        devices.sort(key=lambda d: (*reversed(getattr(d, "coords", ())), getattr(d, "core_on_chip", 0), d.id))
        self.mesh = jax.sharding.Mesh(numpy.array(devices)[order].reshape(sizes), tuple("xyz"[: len(sizes)]))
        specs = [jax.sharding.PartitionSpec(*(tuple(axes) or None for axes in one["sharding"])) for one in self.answer["arguments"]]
        tree = jax.tree.structure(tuple(args))
        self.shardings = jax.tree.unflatten(tree, [jax.sharding.NamedSharding(self.mesh, spec) for spec in specs])
        exported = export.export(jax.jit(function, keep_unused=True), platforms=[devices[0].platform])(*args)
        fields = {field.name: getattr(exported, field.name) for field in dataclasses.fields(exported)}
        annotated_one = _Annotated(**{**fields, "nr_devices": len(devices), "fun_name": f"{exported.fun_name}_{next(_number)}"})
        object.__setattr__(annotated_one, "text", self.text)  # it is frozen
        self._jitted = jax.jit(annotated_one.call, in_shardings=self.shardings, donate_argnums=donate_argnums)

    def put(self, *args: Any) -> Any:
        """The arguments on the devices, sharded."""
        return jax.device_put(args, self.shardings)

    def lower(self, *args: Any) -> Any:
        """As jax.jit(...).lower(...): of shapes or arrays."""
        return self._jitted.lower(*args)

    def __call__(self, *args: Any) -> Any:
        return self._jitted(*args)


def shard(function: Callable[..., Any], *args: Any, donate_argnums: Any = (), devices: Any = None, **options: Any) -> Sharded:
    """Shards a function of these arguments (arrays, or jax.ShapeDtypeStruct) over a machine: chip="v5e", slice="4x4"
    and whatever else `shardopt program --help` lists. `devices`: jax.devices(), or those of a topology that is compiled
    for. Donate the state: it is what the next state takes the place of. Raises shardopt.InputError and
    shardopt.NoPlanError."""
    return Sharded(function, args, donate_argnums, devices, options)
