# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a function's StableHLO text for `shardopt program`.

    python -m shardopt.lower train.py:build >step.mlir

`build()`, of train.py, returns the function and the tuple of its arguments (arrays, or jax.ShapeDtypeStruct), and, third,
the numbers of those that it may overwrite: build = lambda: (step, (state, batch), (0,)). No device is needed.
"""

from __future__ import annotations

import os
import runpy
import sys


def main() -> int:
    path, colon, name = sys.argv[-1].rpartition(":")
    if len(sys.argv) != 2 or not colon or not os.path.isfile(path):
        print("shardopt.lower: give SCRIPT.py:FUNCTION, which returns (function, arguments[, donated])", file=sys.stderr)
        return 2
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    try:
        from .jax import lower
    except ImportError as missing:
        print(f"shardopt.lower: JAX is needed ({missing}): pip install jax", file=sys.stderr)
        return 2
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    build = runpy.run_path(path).get(name)
    made = build() if callable(build) else None
    if not isinstance(made, tuple) or not 2 <= len(made) <= 3 or not isinstance(made[1], tuple):
        print(f"shardopt.lower: {name} of {path} returns no (function, (argument, ...)[, donated])", file=sys.stderr)
        return 2
    sys.stdout.write(lower(made[0], *made[1], donate_argnums=made[2] if len(made) == 3 else ()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
