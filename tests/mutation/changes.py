# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes that mutate.py makes: one operator, constant or comparison of a source each."""
import collections, pathlib, re

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
# What clang-format puts blanks around is binary.
OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ",
             " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " % ": " + ", " && ": " || ",
             " || ": " && ", " += ": " -= ", " -= ": " += "}
TOKEN = re.compile("|".join(re.escape(o) for o in sorted(OPERATORS, key=len, reverse=True)) +
                   r"|(?<![\w.\"])(?:\d+\.\d+(?:e[-+]?\d+)?|\d+(?:e[-+]?\d+)?)(?![\w.\"])")
EMPTY = re.compile(r"\{0\}")  # all of it is zero: no figure of its first member
# Lines that are no code, or lengths of buffers; statements that write texts.
SKIP_LINE = re.compile(r"^\s*#|\bassert\(|_Static_assert|\bchar \**\w+\[[^]]*\]|_(SIZE|LENGTH|BYTES_MAX) = \d+|__attribute__")
SKIP_STATEMENT = re.compile(r"\b(error_set|hf_wrong|wrong|fprintf|snprintf|printf|prose_\w+|text_\w+|append\w*|say\w*|json_add_\w+|fputs)\(")
SIGN = re.compile(r"\? -1 : (1\b)?(?=;|[^;?]* > )")  # what a comparison returns: its size says nothing
# Of room that is asked for, more by one; less is a change.
ROOM = re.compile(r"\b(?:ARENA_NEW|\w+_NEW|arena_alloc|malloc|calloc|realloc)\([^;]*$")

# `nth`: which of its kind in its line, from 1; `lines`: of the statement, from the first to the change's; `names`: what
# the constant or table is called that it is in, where it is outside of functions.
Change = collections.namedtuple("Change", "path offset old new line code nth lines names")


def blanked(text):
    """The text with comments and literals of characters blank, in their places."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def changed(word):
    if word in OPERATORS:
        return OPERATORS[word]
    if "." in word or "e" in word:
        return f"({word} * 1.03125 + 1e-9)"
    return str(int(word) + 1)


TEXTS = {}  # of the sources, as they are when we begin


def outside_of_functions(code):
    """(begin, end, what it names) of the declarations that stand in no function."""
    begin = 0
    for match in re.finditer(r"[^\n]*\n(?=\S|\Z)|\Z", code):  # a line that a new declaration may follow
        end = match.end()
        text = code[begin:end]
        if re.search(r"[;}]\s*$", text):
            head = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)
            if "=" in head and not re.search(r"\)\s*\{", head[:head.find("=")]):
                enum = re.search(r"\benum\b[^{;=]*\{", head)
                names = re.findall(r"(\w+)\s*=", head) if enum else re.findall(r"(\w+)\s*(?:\[[^]]*\]\s*)*=", head)[:1]
                yield begin, end, names
            begin = end


def changes_of(path):
    """Every change of a file."""
    text = TEXTS[path.relative_to(SOURCE)] = path.read_text()
    code, lines = blanked(text), text.split("\n")
    signs = {at for sign in (SIGN, EMPTY) for match in sign.finditer(code) for at in range(*match.span())}
    tables = list(outside_of_functions(code))
    seen = collections.Counter()
    for match in TOKEN.finditer(code):
        number = code.count("\n", 0, match.start())
        begin = max(code.rfind(c, 0, match.start()) for c in ";{}") + 1
        statement = code[begin:match.end()]
        if match.start() in signs or SKIP_LINE.search(lines[number]) or SKIP_STATEMENT.search(statement):
            continue
        if match.group().isdigit() and ROOM.search(statement):
            continue
        old, new = match.group(), changed(match.group())
        seen[number, old] += 1
        first = number + 1 - statement.lstrip().count("\n")
        last = number + 1 + code[match.end():].split(";", 1)[0].split("{", 1)[0].count("\n")
        names = next((n for b, e, n in tables if b <= match.start() < e), None)
        if names and len(names) > 1:  # of an enumeration: the name before it
            names = [n for n in re.findall(r"(\w+)\s*=", code[:match.start()])[-1:]]
        yield Change(path.relative_to(SOURCE), match.start(), old, new, number + 1, lines[number].strip(),
                     seen[number, old], range(first, last + 1), names)


def all_changes(folders):
    """By folder; those of search/cli where it is named."""
    cli = "search/cli"
    return {f: sorted(c for p in sorted((SOURCE / f).rglob("*.c")) if f.startswith(cli) or not p.is_relative_to(SOURCE / cli)
                      for c in changes_of(p)) for f in folders}


def equivalents():
    """The reason by (file, old, new, line, nth; 0: the only one)."""
    known = {}
    for line in (HERE / "equivalent.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            path, old, new, rest = (part.strip() for part in line.split(" | ", 3))
            code, reason = rest.rsplit(" | ", 1)
            old, _, nth = old.partition("#")
            known[path, old, new, code.strip(), int(nth or 0)] = reason
    return known


def places(changes):
    """How often each (file, old, new, line) can be changed within one line."""
    most = collections.Counter()
    for c in changes:
        key = str(c.path), c.old.strip(), c.new.strip(), c.code
        most[key] = max(most[key], c.nth)
    return most


def wrong_rules(changes, known):
    """Rules that name no change, or do not say which of several in their line: what is wrong, by rule."""
    most, wrong = places(changes), {}
    for rule in known:
        *key, nth = rule
        if nth > most[tuple(key)] or not most[tuple(key)]:
            wrong[rule] = f"equivalent.txt names what is not there: {' | '.join(key)}"
        elif nth == 0 and most[tuple(key)] > 1:
            wrong[rule] = f"equivalent.txt does not say which ({key[1]}#1, {key[1]}#2): {' | '.join(key)}"
    return wrong


def reason_of(change, known):
    key = str(change.path), change.old.strip(), change.new.strip(), change.code
    return known.get((*key, 0)) or known.get((*key, change.nth))
