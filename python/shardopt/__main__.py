# SPDX-License-Identifier: GPL-3.0-or-later
"""`shardopt` and `python -m shardopt`: the program takes the place of the interpreter."""

import os
import sys

from ._program import program


def main() -> None:
    path = os.fspath(program())
    os.execv(path, ["shardopt", *sys.argv[1:]])


if __name__ == "__main__":
    main()
