#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A good file made wrong in one place at a time, and what a command says of each.

spoil.py MOST FILE COMMAND...      {} in a word of COMMAND is the file, which is spoiled in the working folder

Each value of a JSON file is left out, and put to others in turn; of other files each number is put to each of FIGURES, each
line left out and written twice; of all these at most MOST, spread evenly. Prints the place, the exit code, a digest of
stdout, and stderr. Whatever is wrong, the program ends by itself with one of its exit codes; where it refuses, it says why
and prints nothing (exit 1 otherwise).
"""
import hashlib, json, pathlib, re, subprocess, sys

WORDS, NUMBERS = ['"x"', '""', "1", "null"], ["0", "1", "2", "-1", "0.5", "1.02e18", "9007199254740993", '"x"', "null"]
OTHERS = ["1", '"x"', "null", "[]", "{}", "true", "false"]
FIGURES = ["0", "1", "2", "-1", "0.5", "7", "1e18", "x", ""]
CODES = (0, 1, 2, 3, 4)


def spots(value, path=()):
    """The paths of all values that are in a value."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from spots(item, (*path, key))


MARK = "\x01"


def json_spoiled(text):
    whole = json.loads(text)
    for path in spots(whole):
        *before, last = path
        holder = json.loads(text)
        inner = holder
        for key in before:
            inner = inner[key]
        was, inner[last] = inner[last], MARK
        name, dumped = ".".join(map(str, path)), json.dumps(holder, indent=1)
        values = WORDS if isinstance(was, str) else NUMBERS + [json.dumps(was + 1)] if type(was) in (int, float) else OTHERS
        for value in values:
            yield f"{name} = {value}", dumped.replace(json.dumps(MARK), value)
        del inner[last]
        yield f"no {name}", json.dumps(holder, indent=1)


def text_spoiled(text):
    for match in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])", text):
        line = text.count("\n", 0, match.start()) + 1
        for value in FIGURES:
            yield f"line {line}: {match.group()} at {match.start()} = {value}", text[:match.start()] + value + text[match.end():]
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        yield f"no line {i + 1}", "".join(lines[:i] + lines[i + 1:])
        yield f"line {i + 1} twice", "".join(lines[:i + 1] + lines[i:])


def main():
    most, source, words = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    text, target, wrong = source.read_text(), pathlib.Path("spoiled" + source.suffix), False
    every = list(json_spoiled(text) if source.suffix == ".json" else text_spoiled(text))
    for name, spoiled in every[::-(-len(every) // most)]:
        target.write_text(spoiled)
        done = subprocess.run([w.replace("{}", str(target)) for w in words], capture_output=True, stdin=subprocess.DEVNULL)
        out, said = done.stdout, done.stderr.decode("utf-8", "backslashreplace")
        print(name, done.returncode, hashlib.sha256(out).hexdigest()[:8] if out else "-", said.rstrip("\n"), sep="\t")
        if done.returncode not in CODES or (done.returncode == 2 and out) or (done.returncode == 2 and not said):
            print(f"THE LAW IS BROKEN: {name}")
            wrong = True
    target.unlink(missing_ok=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
