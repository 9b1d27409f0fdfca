#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types into the shells that are there, and presses the tabulator: completion.py SHARDOPT.

Each row is what is typed and the words that the program is then given. Exit 77 where there is none of the shells."""

import os
import pathlib
import pty
import re
import select
import shutil
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
COMPLETION = SOURCE / "docs/completion"
ROWS = [
    ("--model 70\t", "--model 70b"),
    ("--model llama3.1-40\t", "--model llama3.1-405b"),
    ("sweep --chip v5p,b30\t", "sweep --chip v5p,b300"),
    ("valid\t", "validate"),
    ("--certif\t", "--certificate"),
    ("emit maxt\t", "emit maxtext"),
    ("--model 8b --format mark\t", "--model 8b --format markdown"),
    ("explain --from measured.t\t", "explain --from measured.tsv"),
    ("inference --engine vl\t", "inference --engine vllm"),
]
SHELLS = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], f"bind 'set enable-bracketed-paste off'; . {COMPLETION}/shardopt.bash"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=({COMPLETION} $fpath); autoload -Uz compinit; compinit -u -d ./dump; PROMPT='% '"),
    "fish": (["fish", "--no-config", "-i"], f"function fish_prompt; echo -n '% '; end; source {COMPLETION}/shardopt.fish"),
}


# It stands for the program: completion asks it for names, and the line that was completed prints its words.
STAND_IN = """#!/bin/sh
case $* in
'models --format json' | 'chips --format json') exec {program} "$@" ;;
esac
echo "[[$*]]"
"""


class Typist:
    """An interactive shell behind a terminal."""

    def __init__(self, words, folder, environment):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read(self, pattern, seconds):
        """The first match in what the shell writes, or None; and all that it wrote."""
        got, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.terminal], [], [], 0.1)[0]:
                continue
            try:
                got += os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:
                break
            found = re.search(pattern, got)
            if found:
                return found, got
        return None, got

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def try_shell(name, folder, environment):
    words, setup = SHELLS[name]
    failures = 0
    for typed, whole in ROWS:
        shell = Typist(words, folder, environment)
        shell.type(setup + "; echo rea''dy\n")
        shell.read("ready", 30)
        shell.type("shardopt " + typed)
        time.sleep(0.7)  # a tabulator and the end of the line that come at once are taken for pasted text
        shell.type("\n")
        found, got = shell.read(r"\[\[(.*?)\]\]", 20)
        holds = found and found.group(1) == whole
        print("ok" if holds else "FAIL", f"{name}: shardopt {typed.strip()}<TAB>: {whole}", "" if holds else repr(got[-200:]))
        failures += not holds
        shell.close()
    return failures


def main(program):
    there = [name for name in SHELLS if shutil.which(name)]
    for name in set(SHELLS) - set(there):
        print(f"SKIPPED: there is no {name}")
    if not there:
        return 77
    with tempfile.TemporaryDirectory() as folder:
        stand_in = pathlib.Path(folder, "shardopt")
        stand_in.write_text(STAND_IN.format(program=os.path.abspath(program)))
        stand_in.chmod(0o755)
        pathlib.Path(folder, "measured.tsv").touch()
        environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "TERM": "xterm", "COLUMNS": "200",
                       "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
        return 1 if sum(try_shell(name, folder, environment) for name in there) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
