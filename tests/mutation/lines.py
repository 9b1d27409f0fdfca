# SPDX-License-Identifier: GPL-3.0-or-later
"""Which lines of the sources each test executes: from a run of its own with the traced library of build.py in front.

A block of machine code stands for the lines that its instructions come from. A set of lines is one number, whose bits
are lines in the order of Lines.all."""
import base64, collections, os, re, subprocess, zlib
from build import hash_of
from changes import SOURCE

CALL = "<__sanitizer_cov_trace_pc"
MARK = re.compile(rb"\x01")
PLACE = re.compile(r"(/.*\.[ch]):(\d+)")


class Lines:
    def __init__(self, traced):
        self.all, self.at, self.file_mask = [], {}, collections.Counter()
        self.blocks = {}  # lines of the block whose call returns to this place
        self.read(traced)
        self.order()
        self.size = traced.stat().st_size + (1 << 20)  # more than any place of a block

    def order(self):
        """Numbers the lines anew, file by file: those of a file lie together, and mean the same while its text does."""
        found = sorted(set(self.all))
        number = {line: i for i, line in enumerate(found)}
        new = [number[line] for line in self.all]
        self.blocks = {at: {new[b] for b in bits} for at, bits in self.blocks.items()}
        self.all, self.at, self.first = found, number, {}
        for bit, (path, _) in enumerate(found):
            self.first.setdefault(path, bit)
            self.file_mask[path] |= 1 << bit

    def line(self, text):
        """The bit of FILE:LINE; None: it is not of ours."""
        if text not in self.at:
            self.at[text] = None
            found = PLACE.match(text)
            path = os.path.normpath(found.group(1)) if found else ""
            if path.startswith(f"{SOURCE}/"):
                path, number = path[len(f"{SOURCE}/"):], int(found.group(2))
                if (path, number) not in self.at:
                    self.at[path, number] = len(self.all)
                    self.all.append((path, number))
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

    def texts(self):
        """A hash of each source that has lines, and of what has none (tables, headers) together."""
        own = {p for p in self.file_mask}
        rest = [p for f in ("base", "models", "mesh", "cost", "search") for p in sorted((SOURCE / f).rglob("*.[ch]"))
                if str(p.relative_to(SOURCE)) not in own]
        texts = {p: hash_of((SOURCE / p).read_text()) for p in sorted(own)}
        return {**texts, "": hash_of("".join(p.read_text() for p in rest))}

    def packed(self, mask):
        """{file: its lines}, as they are kept."""
        found = {}
        for path, of_file in self.file_mask.items():
            if mask & of_file:
                first = self.first[path]
                own = (mask & of_file) >> first
                found[path] = base64.b64encode(zlib.compress(own.to_bytes(own.bit_length() // 8 + 1, "little"))).decode()
        return found

    def unpacked(self, packed):
        return sum(int.from_bytes(zlib.decompress(base64.b64decode(text)), "little") << self.first[path]
                   for path, text in packed.items())

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
