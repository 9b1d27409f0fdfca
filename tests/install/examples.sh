#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The examples of every command's --help, and those of the manual page, run; those of examples/ build and run; the shells'
# completion offers what the program has. In the environment: BUILD (build folder), SOURCE (of shardopt), CC, CFLAGS.
set -eu
unset SHARDOPT_DATA
root=$(mktemp -d "${TMPDIR:-/tmp}/shardopt-examples-XXXXXX")
trap 'rm -rf "$root"' EXIT
cd "$root"
fail() { echo "FAIL: $*" >&2; exit 1; }
mkdir bin
ln -s "$BUILD/shardopt" bin/shardopt
ln -s "$SOURCE/cost" cost
PATH=$root/bin:$PATH
export PATH
# Runs of one's own: a dozen of one chip.
grep '"chip":"h100"' cost/measured/data/train.jsonl | grep '"model":"llama' | head -12 >mine.jsonl

cp "$SOURCE/tests/data/layout/example.json" graph.json
sed 's/"world_size": *2/"world_size": 16/' "$SOURCE/tests/data/traces/rank0.json" >rank0.json # a job of report.json
cp "$SOURCE/tests/fuzz/fuzz_program/recommender.mlir" step.mlir

shardopt --help | sed -n '/^  plan /,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' >commands
[ "$(wc -l <commands)" -ge 10 ] || fail "too few commands: $(cat commands)"
while read -r command; do
    shardopt "$command" --help | sed -n '/^Examples:$/,$s/^  \(shardopt .*\)/\1/p' >lines
    [ -s lines ] || fail "$command --help has no example"
    while read -r line; do
        sh -c "$line" >out 2>err </dev/null || fail "$line: exit $?: $(cat err)"
        echo "ok: $line"
    done <lines
done <commands

# The manual page's, without its escapes.
sed -n '/^\.SH EXAMPLES/,/^\.SH COPYING/p' "$SOURCE/docs/shardopt.1" | sed 's/\\-/-/g; s/\\//g' | grep '^shardopt ' >lines
[ -s lines ] || fail "the manual page has no example"
while read -r line; do
    code=0
    sh -c "$line" >out 2>err </dev/null || code=$?
    [ $code = 0 ] || [ $code = 4 ] || fail "the manual page: $line: exit $code: $(cat err)"
    echo "ok, manual page: $line"
done <lines

# Completion in bash: commands, options of each command, values of some.
if command -v bash >/dev/null; then
    cat >ask.bash <<'BASH'
. "$SOURCE/docs/completion/shardopt.bash"
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=(); _shardopt; }
offers() { # offers WORD WORDS...: the last of WORDS is being typed
    want=$1; shift; complete_words "$@"
    for word in "${COMPREPLY[@]}"; do [ "$word" = "$want" ] && return 0; done
    echo "FAIL: completion of \"$*\" does not offer $want but: ${COMPREPLY[*]}" >&2; exit 1
}
while read -r command; do
    offers "$command" shardopt "${command:0:1}"
    for option in $(shardopt "$command" --help | sed -nE 's/^ +(-[a-z], )?(--[a-z][a-z-]*).*/\2/p'); do
        offers "$option" shardopt "$command" "${option:0:4}"
    done
done <commands
offers --model shardopt --mod
offers llama3.1-405b shardopt --model llama3.1-4
offers tpu-v5p shardopt explain --chip tpu-v5
offers tpu-v5p,h100 shardopt sweep --chip tpu-v5p,h1
offers maxtext shardopt emit max
offers json shardopt --model 8b --format js
BASH
    SOURCE=$SOURCE bash ask.bash || exit 1
    echo "ok: completion in bash"
fi
if command -v zsh >/dev/null; then
    zsh -n "$SOURCE/docs/completion/_shardopt" || fail "zsh does not read its completion"
    echo "ok: completion in zsh parses"
fi
echo "examples: all passed"
