#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual page and the completions of shells, of the commands' own rows (`shardopt help --rows`).

    words.py SHARDOPT           writes docs/shardopt.1 and docs/completion/
    words.py SHARDOPT --check   exits 1 where one of them is another

Texts of rows name options as they are typed (--plan), put what else is typed between `...`, and begin a paragraph with
a newline. What belongs to no command stands here."""
import json, pathlib, re, subprocess, sys

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
LINE_MAX = 118

OPTIONS = ("Numbers take k M G T (powers of ten) and Ki Mi Gi Ti (powers of two); shares also take %. An "
           "option is given once. In parentheses: the default, which the report states too.")
MACHINE = ("One of --pods, --slice, --chips and --nodes; --nodes with --chips, or with --gpus-per-node, "
           "are hosts of so many.")
IGNORE = ("Of a pasted line: leave out options of other programs on which no answer depends (learning "
          "rates, paths, logs), and say which. Without it they are errors.")
BEFORE = [
    ("DESCRIPTION", None,
     "Given a model, a machine and a batch, `shardopt` prints the plans that train it fastest, what each "
     "step costs, what bounds it and how much memory it takes, and proves that no plan it left out is "
     "better: every factorization of the machine into the roles data, fsdp, sequence, tensor, expert and "
     "pipeline, with every setting of the knobs, is evaluated or cut by a bound that is below its cost.\n"
     "The result goes to standard output alone; warnings go to standard error. The same input gives the "
     "same bytes, for any number of threads; only --time-limit may change that."),
]

AFTER = [
    ("REPORT", None,
     "Degrees above 1, then the schedule, v chunks a stage and m microbatches. expert=64(folded) are "
     "experts on ranks of data, sequence and tensor. A likely range is where nine of ten measured steps "
     "of that chip would lie, by runs that the fit of its profile had not seen; the two bounds next to "
     "it have all communication hidden, and none. What the keys of `--format json` mean is in json.md, "
     "next to this page in the sources and in PREFIX/share/doc/shardopt."),
    ("EXIT STATUS", "`0`",
     "Done."),
    ("EXIT STATUS", "`1`",
     "A check failed: a limit of `validate` does not hold, `check` found something worse, or `diff "
     "--exit-code` a difference."),
    ("EXIT STATUS", "`2`",
     "The usage or the input is wrong: one line on standard error, nothing on standard output."),
    ("EXIT STATUS", "`3`",
     "No plan fits; the report says how far off. Of a sweep: at no point."),
    ("EXIT STATUS", "`4`",
     "A limit ended the search before the proof; the report has the best so far and its gap. Of a sweep: "
     "at some point. It is 0 else, whatever single points came to; of a part it is 0 or 4."),
    ("EXIT STATUS", "`70`",
     "A defect of the program, or memory is out."),
    ("EXIT STATUS", "`130`",
     "Interrupted. `plan`, `explain` and `layout` print the best so far with its gap."),
    ("ENVIRONMENT", "`SHARDOPT_DATA`",
     "The folder that holds models/zoo, mesh/catalog, cost/profiles and cost/optimizers; when it is set, "
     "data are looked for only there."),
    ("ENVIRONMENT", "`GITHUB_ACTIONS`",
     "Where it is set, `check` writes annotations to standard error too: at most ten errors, and ten "
     "notices of what is better."),
    ("ENVIRONMENT", "`OMP_NUM_THREADS`",
     "Threads to use where --threads is not given."),
    ("FILES", "PREFIX/share/shardopt/models/zoo/*.json",
     'Models: a Hugging Face config.json each, with an object "shardopt" for names, sources and training '
     'defaults. With "model_type": "shardopt" a file describes its layers itself, by kind: count, heads, '
     "kv_heads, head_dim, window, d_ff, experts, top_k, d_ff_expert, d_ff_shared and so on."),
    ("FILES", "PREFIX/share/shardopt/mesh/catalog/*.json",
     "Chips: every figure with its unit and source."),
    ("FILES", "PREFIX/share/shardopt/cost/measured/data/*.jsonl",
     "Measured runs, published by others: one run a line, as JSON whose request and plan are exact; README.md next "
     "to them says how."),
    ("FILES", "PREFIX/share/shardopt/cost/profiles/*.json",
     "Profiles: which share of these figures a machine and its software reach."),
    ("FILES", "PREFIX/share/shardopt/cost/optimizers/*.json",
     "Optimizers: which moments they keep of which parameters, and whether updates are made orthogonal."),
    ("FILES", None,
     "They are looked for next to the program (../share/shardopt from its folder), then in the source "
     "folder it was built from, then where it was to be installed. New files need no recompilation."),
]

EXAMPLES = [
    ("The worked problem of eight TPU v5p pods:",
     "shardopt --model 405b --pods 8\n"),
    ("GPUs, with another batch, only what Megatron can launch:",
     "shardopt --model 70b --chip h100 --nodes 64 --batch 4Mi --seq 8192 --for megatron\n"),
    ("A report for scripts, and then one of its plans in full; a configuration of MaxText, and that read "
     "back:",
     "shardopt --model mixtral-8x22b --chip v5e --slice 16x16 --format json -o report.json\n"
     "shardopt explain --from report.json --rank 2\n"
     "shardopt emit maxtext --model 8b --chip v5e --slice 16x16 --batch 1Mi -o run.yml\n"
     "shardopt explain --from-config run.yml --chip v5e --slice 16x16\n"),
    ("The best plan that MaxText can launch, and one that is named, for JAX:",
     "shardopt emit maxtext --model 8b --chip v5e --slice 4x4 --batch 256Ki -o plan.yml\n"
     "shardopt emit jax --model 8b --chip v5e --slice 4x4 --batch 256Ki --plan fsdp=16 -o plan.py\n"),
]
END = [
    ("COPYING", None,
     "GPL-3.0-or-later. Linking the library binds a program to it, because GLPK is inside."),
]

BASH_BEGIN = r'''# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of shardopt in bash, made by packaging/words.py from the rows of the commands.
# Installed to share/bash-completion/completions/shardopt; or: . docs/completion/shardopt.bash

_shardopt_names() {
    "$1" "$2" --format json 2>/dev/null |
        sed -n 's/^    "name": "\(.*\)",$/\1/p; /^    "aliases": \[$/,/\]/s/^      "\([^"]*\)",*$/\1/p'
}

'''
BASH_END = r'''_shardopt() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=plan
    local values='' lead='' files='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -*) [ "$i" = 1 ] && break ;;
        *) [ "$i" = 1 ] && command=${COMP_WORDS[i]}; break ;;
        esac
    done
    COMPREPLY=()
    case $before in
    --*) values=$(_shardopt_values "$command" "$before") ;;
    esac
    case $word in
    -*) [ -n "$values" ] || values=$(_shardopt_options "$command") ;;
    *)
        if [ -z "$values" ] && [ "$COMP_CWORD" = 1 ]; then
            values=$_shardopt_commands
        elif [ -z "$values" ]; then
            values=$(_shardopt_arguments "$command") files=1
        fi
        ;;
    esac
    case $values in
    @models) values=$(_shardopt_names "$program" models) files=1 ;;
    @chips) values=$(_shardopt_names "$program" chips) ;;
    @files) values='' files=1 ;;
    esac
    case $word in # sweeps take lists
    *,*) lead=${word%,*}, word=${word##*,} ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$lead" -W "$values" -- "$word"; [ -z "$files" ] || compgen -f -- "$word")
}
complete -o filenames -F _shardopt shardopt
'''
ZSH_BEGIN = r'''#compdef shardopt
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of shardopt in zsh, made by packaging/words.py from the rows of the commands.
# Installed to share/zsh/site-functions/_shardopt.

_shardopt_names() {
    $1 $2 --format json 2>/dev/null |
        sed -n 's/^    "name": "\(.*\)",$/\1/p; /^    "aliases": \[$/,/\]/s/^      "\([^"]*\)",*$/\1/p'
}

'''
ZSH_WORDS = r'''_shardopt() {
    local program=${words[1]} before=${words[CURRENT - 1]} command=plan
    local -a commands options
    commands=(
'''
ZSH_CASE = r'''    )
    if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
        _describe command commands
        return
    fi
    [[ ${words[2]} != -* ]] && command=${words[2]}
    case $command in
'''
ZSH_END = r'''    esac
    if [[ $PREFIX == -* ]]; then
        _shardopt_options $command
        _describe option options
        return
    fi
    case $command in
'''
FISH_BEGIN = r'''# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of shardopt in fish, made by packaging/words.py from the rows of the commands.
# Installed to share/fish/vendor_completions.d/shardopt.fish.

# Whether the command that is being typed is one of these; `shardopt --model` is `shardopt plan --model`.
function __shardopt_in
    set -l words (commandline -opc)
    set -l command plan
    if set -q words[2]; and not string match -q -- '-*' $words[2]
        set command $words[2]
    end
    contains -- $command $argv
end

function __shardopt_first
    test (count (commandline -opc)) -eq 1
end

# The names of models or chips, and what else they are called.
function __shardopt_names
    set -l words (commandline -opc)
    $words[1] $argv[1] --format json 2>/dev/null |
        string match -rg '^    (?:"name": |  )"([^"]*)",?$'
end

complete -c shardopt -f
complete -c shardopt -l help -s h -d 'show this help'
'''


# ---- roff ----

def escaped(text):
    return re.sub(r"[-\\]", lambda m: "\\-" if m[0] == "-" else "\\e", text)


def in_font(font, text):
    return f"\\f{font}{escaped(text)}\\fR"


def words_of(text):
    """Words of a paragraph: options, and what stands between `...`, are bold."""
    quoted = False
    for word in text.split(" "):
        out = "\\&" if word[:1] in (".", "'") else ""
        out += "\\fB" if quoted else ""
        for part in re.findall(r"`|--[a-z][a-z-]*|.", word):
            if part == "`":
                quoted = not quoted
                out += "\\fB" if quoted else "\\fR"
            else:
                out += in_font("B", part) if len(part) > 1 and not quoted else escaped(part)
        yield out + ("\\fR" if quoted else "")


def filled(text, between):
    """A text, filled to lines; a newline in it begins a paragraph, by `between`."""
    paragraphs = []
    for paragraph in text.split("\n"):
        lines, line = [], ""
        for word in words_of(paragraph):
            if line and len(line) + 1 + len(word) > LINE_MAX:
                lines.append(line)
                line = ""
            line = f"{line} {word}" if line else word
        paragraphs.append("\n".join([*lines, line]))
    return f"\n{between}".join(paragraphs) + "\n"


def usage(form):
    """Names of values are in capitals, and slanted; what is typed is bold."""
    typed = re.compile(r"[A-Za-z0-9-](?:(?!\.\.\.)[A-Za-z0-9./-])*")
    return "\\fBshardopt\\fR " + typed.sub(lambda m: in_font("I" if m[0][0].isupper() else "B", m[0]), form) + "\n"


def tag_of(row):
    letter = in_font("B", "-" + row["letter"]) + ", " if row["letter"] else ""
    takes = " " + in_font("I", row["takes"]) if row["takes"] else ""
    return f".TP\n{letter}{in_font('B', '--' + row['name'])}{takes}\n"


def said_of(row):
    """The line of help as a sentence, where a row has no more to say."""
    line = row["help"] + "."
    typed = re.split("[ ,]", line)[0] in (row["values"] or "").split(" ")
    return filled(row["details"] or (line if typed else line[:1].upper() + line[1:]), ".IP\n")


def owners_of(row):
    owners = row["commands"]
    if not owners or {"plan", "explain", "sweep", "emit", "check"} <= set(owners):
        return ""
    return ("Command: " if len(owners) == 1 else "Commands: ") + ", ".join(f"\\fB{name}\\fR" for name in owners) + ".\n"


def shared_options(table):
    heading, out = None, ""
    for row in sorted(table, key=lambda row: row["place"]):
        out += f".SS {row['heading']}\n" if row["heading"] != (heading or "") else ""
        heading = row["heading"]
        out += filled(MACHINE, ".PP\n") if row["name"] == "model" else ""
        out += tag_of(row) + said_of(row) + owners_of(row)
    out += ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
    out += filled("Print the options of the command, and nothing else. Every command has it.", ".IP\n")
    return out + ".TP\n\\fB\\-\\-ignore\\-unknown\\fR\n" + filled(IGNORE, ".IP\n")


def own_options(command, tables):
    """What a command has in addition: a table of its own, and notes."""
    own = tables[command["table"]] if command["table"] > 0 else []
    out = f".SS Of {command['name']}\n" if own or command["notes"] else ""
    out += "".join(tag_of(row) + said_of(row) for row in own)
    return out + "".join(".TP\n" + filled(note["tag"], "") + filled(note["text"], ".IP\n") for note in command["notes"])


def sections(rows):
    heading, out = "", ""
    for name, tag, text in rows:
        out += f".SH {name}\n" if name != heading else ""
        heading = name
        out += ".TP\n" + filled(tag, "") if tag else ""
        out += filled(text, ".IP\n" if tag else ".PP\n")
    return out


def manual(rows):
    commands, tables = rows["commands"], rows["tables"]
    out = ('.\\" SPDX-License-Identifier: GPL-3.0-or-later\n'
           '.\\" Made by packaging/words.py from the rows of the commands: change those, then make it again.\n'
           f'.TH SHARDOPT 1 "2025" "shardopt {rows["version"]}" "User Commands"\n'
           ".SH NAME\nshardopt \\- find, and prove, the best way to shard a transformer over a machine\n")
    out += ".SH SYNOPSIS\n" + ".br\n".join(usage(form) for c in commands for form in c["usage"].strip("\n").split("\n"))
    out += sections(BEFORE) + ".SH COMMANDS\n"
    out += "".join(f".TP\n.B {c['name']}\n" + filled(c["details"], ".IP\n") for c in commands)
    out += '.TP\n.BR help " [" \\fICOMMAND\\fR ]\n' + filled("Options of a command, as its --help prints them.", ".IP\n")
    out += ".SH OPTIONS\n" + filled(OPTIONS, ".PP\n") + shared_options(tables[0])
    out += "".join(own_options(command, tables) for command in commands) + sections(AFTER) + ".SH EXAMPLES\n"
    out += ".PP\n".join(filled(text, ".PP\n") + ".PP\n.RS\n.nf\n" + lines.replace("-", "\\-") + ".fi\n.RE\n"
                        for text, lines in EXAMPLES)
    return out + sections(END)


# ---- completions ----

def options_of(rows, command):
    return [row for row in rows["tables"][command["table"]] if command["name"] in row["commands"]]


def valued(rows, case):
    """Of each table that has values, the table most commands share last as "*": its pattern, and a line a row."""
    own = [c for c in rows["commands"] if c["table"] > 0]
    for pattern, table in [*((c["name"], c["table"]) for c in own), ("*", 0)]:
        lines = [case(row) for row in rows["tables"][table] if row["values"]]
        yield pattern, "".join(lines)


def bash(rows):
    out = BASH_BEGIN + "_shardopt_commands='" + "".join(c["name"] + " " for c in rows["commands"]) + "help'\n\n"
    out += "_shardopt_options() { # COMMAND\n    case $1 in\n"
    for c in rows["commands"]:
        names = [row["name"] for row in options_of(rows, c)] + ["ignore-unknown"] * c["ignores"] + ["help"]
        out += f"    {c['name']}) echo '" + " ".join("--" + name for name in names) + "' ;;\n"
    out += "    esac\n}\n\n_shardopt_values() { # COMMAND OPTION\n    case $1 in\n"
    for pattern, lines in valued(rows, lambda row: f"        --{row['name']}) echo '{row['values']}' ;;\n"):
        out += f"    {pattern})\n        case $2 in\n{lines}        esac\n        ;;\n"
    out += "    esac\n}\n\n_shardopt_arguments() { # COMMAND\n    case $1 in\n"
    out += "".join(f"    {c['name']}) echo '{c['argument_values']}' ;;\n" for c in rows["commands"] if c["argument_values"])
    return out + "    esac\n}\n\n" + BASH_END


def zsh_quoted(name, text):
    return f"'{name}:" + text.replace("'", "'\\''").replace(":", "\\:") + "'"


def zsh_offer(values):
    """What stands before a comma is left as it is: sweeps take lists."""
    if values == "@files":
        return "_files"
    if values.startswith("@"):
        return f'compset -P \'*,\'; compadd -- ${{(f)"$(_shardopt_names $program {values[1:]})"}}' + \
            ("; _files" if values == "@models" else "")
    return f"compset -P '*,'; compadd -- {values}"


def zsh(rows):
    out = ZSH_BEGIN + "_shardopt_options() { # COMMAND, to the array `options`\n    case $1 in\n"
    for c in rows["commands"]:
        told = [(row["name"], row["help"]) for row in options_of(rows, c)]
        told += [("ignore-unknown", rows["ignore_unknown"])] * c["ignores"]
        out += f"    {c['name']}) options=(\n"
        out += "".join("        " + zsh_quoted("--" + name, text) + "\n" for name, text in told)
        out += "        '--help:show this help') ;;\n"
    out += "    esac\n}\n\n" + ZSH_WORDS
    out += "".join("        " + zsh_quoted(c["name"], c["summary"]) + "\n" for c in rows["commands"]) + ZSH_CASE
    for pattern, lines in valued(rows, lambda row: f"        --{row['name']}) {zsh_offer(row['values'])}; return ;;\n"):
        out += f"    {pattern})\n        case $before in\n{lines}        esac\n        ;;\n"
    out += ZSH_END
    out += "".join(f"    {c['name']}) {zsh_offer(c['argument_values'])} ;;\n" for c in rows["commands"] if c["argument_values"])
    return out + '    *) _files ;;\n    esac\n}\n\n_shardopt "$@"\n'


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_domain(values):
    if not values:
        return " -x"
    if values == "@files":
        return " -r -F"
    if values.startswith("@"):
        return f" -r{' -F' if values == '@models' else ' -f'} -a \"(__fish_complete_list , '__shardopt_names {values[1:]}')\""
    return f" -x -a '{values}'"


def fish(rows):
    out = FISH_BEGIN
    for c in rows["commands"]:
        out += f"complete -c shardopt -n __shardopt_first -a {c['name']} -d {fish_quoted(c['summary'])}\n"
    out += "complete -c shardopt -n __shardopt_first -a help -d 'the help of a command'\n"
    for row in (row for table in rows["tables"] for row in table if row["commands"]):
        out += f"complete -c shardopt -n '__shardopt_in {' '.join(row['commands'])}' -l {row['name']}"
        out += f" -s {row['letter']}" if row["letter"] else ""
        out += (fish_domain(row["values"]) if row["takes"] else "") + f" -d {fish_quoted(row['help'])}\n"
    ignoring = " ".join(c["name"] for c in rows["commands"] if c["ignores"])
    out += f"complete -c shardopt -n '__shardopt_in {ignoring}' -l ignore-unknown -d {fish_quoted(rows['ignore_unknown'])}\n"
    for c in rows["commands"]:
        values = c["argument_values"]
        if values:
            offer = " -F" if values == "@files" else f" -a '(__shardopt_names {values[1:]})'" if values[0] == "@" else \
                f" -F -a '{values}'"
            out += f"complete -c shardopt -n '__shardopt_in {c['name']}'{offer}\n"
    return out


def main():
    done = subprocess.run([sys.argv[1], "help", "--rows"], capture_output=True, text=True, check=True)
    rows, failed = json.loads(done.stdout), False
    for name, make in (("shardopt.1", manual), ("completion/shardopt.bash", bash), ("completion/_shardopt", zsh),
                       ("completion/shardopt.fish", fish)):
        text, path = make(rows), DOCS / name
        if sys.argv[2:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif text != path.read_text(encoding="utf-8"):
            print(f"FAIL: {path} is another: packaging/words.py {sys.argv[1]} writes it again")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
