# SPDX-License-Identifier: GPL-3.0-or-later
"""The built program, as a person runs it: what tests of whole commands share. The program is named by $SHARDOPT_PROGRAM."""
import json, os, shlex, subprocess, tempfile, unittest

PROGRAM = os.environ.get("SHARDOPT_PROGRAM", "build/shardopt")


class Case(unittest.TestCase):
    """A folder of its own for each test, in which it runs."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_line(self, words):
        """(exit code, stdout, stderr) of the program with these words, split as a shell does."""
        done = subprocess.run([PROGRAM, *shlex.split(words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600)
        return done.returncode, done.stdout, done.stderr

    def report(self, words, codes=(0,)):
        """The JSON report of a line whose exit code is one of these."""
        code, out, err = self.run_line(words + " --format json")
        self.assertIn(code, codes, f"{words}: {err}")
        return json.loads(out)

    def first(self, words, codes=(0,)):
        """Plan 1 of a line's report."""
        return self.report(words, codes)["plans"][0]


def lies_on(plan, role, axis):
    return any(span["role"] == role and span["axis"] == axis for span in plan["placement"])
