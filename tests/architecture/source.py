# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads C as far as the architecture test needs it: includes, calls, variables, functions. It is no compiler: it
expects the house style (an opening brace on the line of its declaration, includes from the root of the tree)."""
import bisect, functools, pathlib, re, subprocess

TOKENS = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
CPLUSPLUS = re.compile(r"^#ifdef __cplusplus\n.*?^#endif\b", re.M | re.S)


def blank(text):
    """The same number of lines and columns, all spaces."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """Comments become spaces; so does what stands in strings, except in the lines of includes."""

    def replace(match):
        token = match[0]
        if token[0] == "/":
            return blank(token)
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if re.match(r"\s*#\s*include", before):
            return token
        return token[0] + blank(token[1:-1]) + token[-1]

    return TOKENS.sub(replace, text)


class Function:
    def __init__(self, name, parameters, first, last):
        self.name, self.parameters, self.first, self.last = name, parameters, first, last
        self.lines = last - first + 1


class Variable:
    def __init__(self, name, line, declaration):
        self.name, self.line, self.declaration = name, line, " ".join(declaration.split())


class Source:
    """One file: `path` is relative to the root of the tree."""

    def __init__(self, root, path):
        self.path, self.folder, self.name = path, str(pathlib.PurePath(path).parent), pathlib.PurePath(path).name
        self.text = (pathlib.Path(root) / path).read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.bare = without_comments(self.text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", self.text)]

    def line_of(self, position):
        return bisect.bisect_right(self.starts, position)

    @functools.cached_property
    def includes(self):
        """(line, name, whether in quotes)"""
        return [(self.line_of(m.start()), m[2], m[1] == '"') for m in INCLUDE.finditer(self.bare)]

    @functools.cached_property
    def code(self):
        """Without directives, and without what only C++ reads."""
        text = CPLUSPLUS.sub(lambda m: blank(m[0]), self.bare)
        return DIRECTIVE.sub(lambda m: blank(m[0]), text)

    def words(self, names):
        """(line, name) of each use of one of the names that is not a member of something."""
        for m in re.finditer(r"(?<![\w.])(?<!->)(%s)\b" % "|".join(names), self.code):
            yield self.line_of(m.start()), m[1]

    def calls(self, names):
        """(line, name) of each call of one of the functions; a declaration of the name counts too."""
        for m in re.finditer(r"(?<![\w.])(?<!->)(%s)\s*\(" % "|".join(names), self.code):
            yield self.line_of(m.start()), m[1]

    @functools.cached_property
    def parsed(self):
        """(functions, variables): functions defined here; variables of the file, and static ones of functions."""
        functions, variables = [], []
        for start, end, body in statements(self.code):
            head = self.code[start : body if body is not None else end]
            first = start + len(head) - len(head.lstrip())
            if body is not None and is_function(head):
                name, parameters = signature(head)
                functions.append(Function(name, parameters, self.line_of(first), self.line_of(end - 1)))
                for m in re.finditer(r"(?<!\w)static\b", self.code[body:end]):
                    declaration = declaration_at(self.code, body + m.start())
                    variables.append(Variable(declared(declaration), self.line_of(body + m.start()), declaration))
            else:
                declaration = declaration_at(self.code, first, end)
                if is_variable(declaration) and not is_hidden_prototype(self.name, declaration):
                    variables.append(Variable(declared(declaration), self.line_of(first), declaration))
        return functions, variables


    @functools.cached_property
    def public(self):
        """Names of the functions and constants that other files may see."""
        names = set()
        for start, end, body in statements(self.code):
            head = self.code[start : body if body is not None else end].lstrip()
            if re.match(r"(static|typedef|extern)\b", head):
                continue
            if body is not None and is_function(head):
                names.add(signature(head)[0])
            elif is_variable(declaration := declaration_at(self.code, self.code.index(head, start), end)):
                names.add(declared(declaration))
        return names


def statements(code):
    """(start, end, body) of each statement at file scope; body is where its first brace opens, or None."""
    start, body, depth, parens = 0, None, 0, 0
    for m in re.finditer(r"[{}();]", code):
        c, at = m[0], m.start()
        if c == "(" and depth == 0:
            parens += 1
        elif c == ")" and depth == 0:
            parens -= 1
        elif c == "{":
            if depth == 0 and body is None:
                body = at
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0 and body is not None and is_function(code[start:body]):
                yield start, at + 1, body
                start, body = at + 1, None
        elif c == ";" and depth == 0 and parens == 0:
            if code[start:at].strip():
                yield start, at + 1, body
            start, body = at + 1, None
    if depth or parens:
        raise ValueError("braces or parentheses do not match")


def without_attributes(text):
    while m := re.search(r"\b(?:__attribute__|_Alignas|_Static_assert|static_assert)\s*\(", text):
        text = text[: m.start()] + " " + text[closing(text, m.end() - 1) + 1 :]
    return text


def closing(text, at):
    """Where the parenthesis, bracket or brace at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    return len(text) - 1


def is_function(head):
    head = without_attributes(head).strip()
    return head.endswith(")") and "=" not in head and not re.match(r"typedef\b", head)


def signature(head):
    """(name, number of parameters)"""
    head = without_attributes(head).strip()
    m = re.search(r"(\w+)\s*\(", head)
    inside, count, depth = head[m.end() : closing(head, m.end() - 1)], 1, 0
    for c in inside:
        depth += c in "([{"
        depth -= c in ")]}"
        count += c == "," and depth == 0
    return m[1], 0 if inside.strip() in ("", "void") else count


def declaration_at(code, start, end=None):
    """The declaration from start to its `=` or `;`, without the bodies of types, array bounds and attributes."""
    text, i, end = "", start, end or len(code)
    while i < end and code[i] not in "=;":
        if code[i] in "{[":
            i = closing(code, i)
            text += " [] " if code[i] == "]" else " {} "
        else:
            text += code[i]
        i += 1
    return without_attributes(text)


def is_variable(declaration):
    words = declaration.replace("[]", " ").strip()
    if not words or re.match(r"typedef\b", words) or re.fullmatch(r"(struct|union|enum)\s*\w*\s*(\{\})?", words):
        return False
    return "(" not in words or re.search(r"^[^(]*\(\s*\*", words) is not None


def is_hidden_prototype(file, declaration):
    """`SvgSay svg_say_bytes;` in a header: the type is a function's. A variable there would be defined twice."""
    return file.endswith(".h") and re.fullmatch(r"\s*\w+\s+\w+(\s*,\s*\w+)*\s*", declaration) is not None


def declared(declaration):
    pointer = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)", declaration)
    return pointer[1] if pointer else re.findall(r"\w+", declaration.split(",")[0])[-1]


def is_const(declaration):
    """Whether what is declared can not change: a pointer must be const itself, not only what it points to."""
    if pointer := re.match(r"[^(]*\(\s*\*([^)]*)\)", declaration):
        return "const" in pointer[1].split()
    return re.search(r"\bconst\b", declaration.split(",")[0].rpartition("*")[2]) is not None


def list_sources(root, folders):
    """Paths of the .c and .h files under the folders, as git knows them where it does, else as they lie there."""
    try:
        answer = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", *folders],
                                capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        answer = [str(p.relative_to(root)) for f in folders for p in pathlib.Path(root, f).rglob("*")]
    return sorted(p for p in answer if p.endswith((".c", ".h")) and pathlib.Path(root, p).is_file())
