# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program that comes with this package.

The package calls the program, not the library: a search that is interrupted, runs out of memory or meets a defect ends
a process of its own and leaves the interpreter as it is; several searches may run in several threads; and the GPL of the
library binds nobody who imports this package.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Mapping, Sequence

EXIT_DONE, EXIT_GATE, EXIT_USAGE, EXIT_NO_PLAN, EXIT_LIMIT, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130


class ShardoptError(Exception):
    """The program failed. `str()` is the line that it wrote; `code` is its exit code.

    `where` and `text` are the two halves of that line: what is wrong ("--chip"), and how, with what would be right.
    """

    def __init__(self, line: str, code: int) -> None:
        super().__init__(line)
        self.line, self.code = line, code
        self.where, _, self.text = line.partition(": ")


class InputError(ShardoptError, ValueError):
    """An option or a file is wrong (exit code 2)."""


class NoPlanError(ShardoptError, LookupError):
    """A plan was asked of an answer that has none: nothing fits (exit code 3)."""


class ShardoptWarning(UserWarning):
    """The program did as it was told and says what is odd about it."""


def program() -> pathlib.Path:
    """The program's file: that of $SHARDOPT_PROGRAM, else the one that comes with this package."""
    chosen = os.environ.get("SHARDOPT_PROGRAM")
    path = pathlib.Path(chosen) if chosen else pathlib.Path(__file__).parent / "_prefix" / "bin" / "shardopt"
    if not path.is_file():
        raise ShardoptError(f"{path}: there is no program; install the wheel, or set SHARDOPT_PROGRAM", EXIT_USAGE)
    return path


@functools.lru_cache(maxsize=None)
def figures() -> "dict[str, list[dict[str, Any]]]":
    """The program's own tables of figures: of `plans[]` and of `front[]` each with its key, name, type and meaning."""
    said = subprocess.run([program(), "help", "--figures"], capture_output=True, check=True, encoding="utf-8").stdout
    tables: "dict[str, list[dict[str, Any]]]" = json.loads(said)
    return tables


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_word(part)}" for name, part in value.items())
    if isinstance(value, (list, tuple, range)):
        return ",".join(_word(part) for part in value)
    return value if isinstance(value, str) else os.fspath(value) if isinstance(value, os.PathLike) else repr(value)


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as words: chip="h100" is --chip h100, max_idle=0.1 is --max-idle 0.1, variants=True is
    --variants, for_="megatron" is --for megatron, model=["8b", "70b"] is --model 8b,70b, and
    require={"tensor": 4} is --require tensor=4. None and False are left out."""
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.rstrip("_").replace("_", "-"))
        if value is not True:
            words.append(_word(value))
    return words


class _Folder:
    """A folder of files that one call hands to the program."""

    def __enter__(self) -> "_Folder":
        self._folder = tempfile.TemporaryDirectory(prefix="shardopt-")
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def write(self, name: str, document: Any) -> str:
        return self.write_text(name, json.dumps(document))

    def write_text(self, name: str, text: str) -> str:
        path = os.path.join(self._folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


def _lines(stderr: str) -> list[str]:
    return [line[len("shardopt: ") :] for line in stderr.splitlines() if line.startswith("shardopt: ")]


def _wait(process: "subprocess.Popen[str]") -> tuple[str, str]:
    try:
        return process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)  # from a notebook the signal reaches the kernel alone
        process.communicate()
        raise


def _warn(text: str) -> None:
    """Points at the line outside this package that asked."""
    level, frame, here = 1, sys._getframe(), os.path.dirname(__file__)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == here:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, ShardoptWarning, stacklevel=level)


def run(words: Sequence[str], good: Sequence[int] = (EXIT_DONE,)) -> tuple[int, str]:
    """Runs one command line; returns the exit code, one of `good`, and what the program wrote. Raises what else ends it."""
    environment = {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}
    process = subprocess.Popen(
        [os.fspath(program()), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment,
    )
    result, said = _wait(process)
    lines = _lines(said)
    for line in lines:
        if line.startswith("warning: "):
            _warn(line[len("warning: ") :])
    if process.returncode in good:
        return process.returncode, result
    if process.returncode in (EXIT_INTERRUPTED, -signal.SIGINT):
        raise KeyboardInterrupt
    failures = [line for line in lines if not line.startswith("warning: ")]
    line = failures[-1] if failures else said.strip() or f"the program ended with {process.returncode}"
    raise (InputError if process.returncode == EXIT_USAGE else ShardoptError)(line, process.returncode)


def run_options(
    command: Sequence[str], options: Mapping[str, Any], good: Sequence[int] = (EXIT_DONE,)
) -> tuple[int, str]:
    """The same with keyword arguments; a model may be the contents of a Hugging Face config.json, and plans a list."""
    with _Folder() as folder:
        options = dict(options)
        if isinstance(options.get("model"), Mapping):
            options["model"] = folder.write("config.json", options["model"])
        if isinstance(options.get("plans"), list):
            lines = [_word(plan).replace("\n", " ") for plan in options["plans"]]
            options["plans"] = folder.write_text("plans", "".join(line + "\n" for line in lines))
        return run([*command, *words_of(options)], good)


def run_on_report(
    command: Sequence[str], report: Any, options: Mapping[str, Any], good: Sequence[int] = (EXIT_DONE,)
) -> tuple[int, str]:
    """The same of a report that was planned before."""
    with _Folder() as folder:
        path = folder.write("report.json", report)
        return run([*command, "--from", path, *words_of(options)], good)
