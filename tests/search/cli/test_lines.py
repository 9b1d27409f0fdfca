# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of a shell with what should come of them: lines/*.tsv. Each row has, between tabs, the exit code (128 + signal where
one ended it), the line, what stdout must have in it, what stderr must, and the row's name. "-": the stream is empty; "=...": it
is this; "": nothing is required; \\| stands between parts. \\n, \\t and \\\\ are characters.

In a line $P is the program, $S the sources, $D a folder of the file's rows. `setup` runs once; `before` stands before each
line; where the line of `needs` fails, the file is skipped, with the reason that stands behind it. Every third row runs, with WHOLE=1 each, under sanitizers every 15th, of those that end well every 30th; between `all`
and `sample` all do.
Where the code is 2 and nothing is printed, stderr is one line that begins with "shardopt: ". $LITTLE limits memory, but
for sanitizers, which reserve more addresses than a limit leaves. ROWS=11-20: these rows of a file, each."""
import glob, os, re, subprocess, sys, tempfile, unittest

from program import PROGRAM

HERE = os.path.dirname(os.path.abspath(__file__))
SHARE = 15 if os.environ.get("SANITIZED") else 1 if os.environ.keys() & {"WHOLE", "ROWS"} else 3
SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))


def plain(cell):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), cell)


def shell(folder, line):
    little = ":" if os.environ.get("SANITIZED") else "ulimit -v 1500000"
    environment = {**os.environ, "P": os.path.abspath(PROGRAM), "S": SOURCES, "D": folder, "LITTLE": little}
    done = subprocess.run(["sh", "-c", line], env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return done.returncode if done.returncode >= 0 else 128 - done.returncode, out, err


class Lines(unittest.TestCase):
    def stream(self, wanted, text):
        if wanted == "-":
            self.assertEqual(text, "")
        elif wanted.startswith("="):
            self.assertEqual(text, plain(wanted[1:]))
        else:
            for part in wanted.split("\\|"):
                self.assertTrue(plain(part) in text, f"no {part!r} in {text[:600]!r}")

    def row(self, folder, before, code, line, out="", err="", name=""):
        with self.subTest(name or line):
            got, printed, said = shell(folder, before + plain(line))
            self.assertEqual(got, int(code), said[:600])
            self.stream(out, printed)
            self.stream(err, said)
            if code == "2" and out == "-" and err and line != "$P" and "bash" not in line:
                self.assertRegex(said, r"\Ashardopt: .*\n\Z")

    def file(self, path):
        before, share, number = "", SHARE, 0
        first, last = map(int, os.environ.get("ROWS", "1-9999").split("-"))
        with tempfile.TemporaryDirectory(prefix="s-") as folder, open(path, encoding="utf-8") as rows:
            for line in rows.read().splitlines():
                word, *cells = line.split("\t")
                if word == "setup":
                    code, _, said = shell(folder, before + plain(cells[0]))
                    self.assertEqual(code, 0, said)
                elif word == "needs":
                    if shell(folder, cells[0])[0] != 0:
                        self.skipTest(cells[1])
                elif word == "before":
                    before += plain(cells[0]) + " "
                elif word in ("sample", "all"):
                    share = SHARE if word == "sample" else 1
                elif line and not line.startswith("#"):
                    number += 1
                    if first <= number <= last and number % (share * 2 if share == 15 and word == "0" else share) == 0:
                        self.row(folder, before, word, *cells)


for path in sorted(glob.glob(os.path.join(HERE, "lines/*.tsv"))):
    name = os.path.basename(path).removesuffix(".tsv")
    setattr(Lines, f"test_{name}", lambda self, path=path: self.file(path))

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Lines.test_{word}" if "." not in word else word for word in sys.argv[1:])])
