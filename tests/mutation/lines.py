# SPDX-License-Identifier: GPL-3.0-or-later
"""Which lines of the sources each test executes: from a run of its own with the traced library of build.py in front.

A block of machine code stands for the lines that its instructions come from. A set of lines is one number, whose bits
are lines in the order of Lines.all."""
import collections, re, subprocess
from build import hash_of
from changes import SOURCE

CALL = "<__sanitizer_cov_trace_pc"
MARK = re.compile(rb"\x01")
PLACE = re.compile(re.escape(f"{SOURCE}/") + r"(\S+\.[ch]):(\d+)")


class Lines:
    def __init__(self, traced):
        self.all, self.at, self.file_mask = [], {}, collections.Counter()
        self.blocks = {}  # lines of the block whose call returns to this place
        self.read(traced)
        self.size = traced.stat().st_size + (1 << 20)  # more than any place of a block

    def line(self, text):
        """The bit of FILE:LINE; None: it is not of ours."""
        if text not in self.at:
            self.at[text] = None
            found = PLACE.match(text)
            if found:
                path, number = found.group(1), int(found.group(2))
                if (path, number) not in self.at:
                    self.at[path, number] = len(self.all)
                    self.all.append((path, number))
                    self.file_mask[path] |= 1 << self.at[path, number]
                self.at[text] = self.at[path, number]
        return self.at[text]

    def read(self, traced):
        words = ["objdump", "-d", "-l", "--no-show-raw-insn", "--section=.text", traced]
        here, block, called, before = None, None, False, set()
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as dump:
            for text in dump.stdout:
                if text[0] == "/":
                    here = self.line(text.rstrip())
                elif text[0] == " ":
                    if called:  # the place after the call is the block's name
                        block = self.blocks.setdefault(int(text[:text.index(":")], 16), set(before))
                        called, before = False, set()
                    if CALL in text and "call" in text:
                        called = True
                    elif here is not None:
                        (before if block is None else block).add(here)
                elif text[-3:] == ">:\n":
                    here, block, before = None, None, set()

    def identity(self):
        """Another one for other sources or another order of the lines."""
        sources = sorted({path for path, _ in self.all})
        return hash_of("".join((SOURCE / p).read_text() for p in sources) + repr(self.all))

    def executed(self, marks):
        found = set()
        for match in MARK.finditer(marks):
            found |= self.blocks.get(match.start(), set())
        return self.mask(found)

    @staticmethod
    def mask(bits):
        number = bytearray(max(bits, default=0) // 8 + 1)
        for bit in bits:
            number[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(number, "little")

    def of_change(self, change, code_of):
        """The lines by which a test gets to a change: its own; those of its statement if that has no code; those that
        name its table or constant; any of its file, or of its folder's where the file has tables alone."""
        path = str(change.path)
        own = {self.at.get((path, change.line))} - {None}
        own = own or {self.at.get((path, n)) for n in change.lines} - {None}
        if own:
            return self.mask(own)
        for name in change.names or []:
            word = re.compile(rf"\b{name}\b")
            own = {self.at.get((path, n)) for n, line in enumerate(code_of(change.path), 1) if word.search(line)} - {None}
            if own:
                return self.mask(own)
        mask = self.file_mask[path]
        if not mask:
            for other in (SOURCE / change.path.parent).glob("*.c"):
                mask |= self.file_mask[str(other.relative_to(SOURCE))]
        return mask
