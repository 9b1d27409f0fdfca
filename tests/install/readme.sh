#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The transcripts of README.md are what the program prints. Each stands between <!-- example --> and <!-- /example -->: lines
# that begin with "$ " are commands, run one after the other in a folder of their own, those behind them what they print;
# the end of the last output may be left out by a last line of "...", behind as many paragraphs.
# `sh tests/install/readme.sh --update` writes all of them anew.
# In the environment: BUILD (build folder, default build), SOURCE (of shardopt, default here).
set -eu
unset SHARDOPT_DATA GITHUB_ACTIONS
SOURCE=${SOURCE:-$PWD} BUILD=${BUILD:-$SOURCE/build}
root=$(mktemp -d "${TMPDIR:-/tmp}/shardopt-readme-XXXXXX")
trap 'rm -rf "$root"' EXIT
mkdir "$root/bin" "$root/here"
ln -s "$(cd "$BUILD" && pwd)/shardopt" "$root/bin/shardopt"
for folder in runs tests docs; do ln -s "$SOURCE/$folder" "$root/here/$folder"; done
for folder in models mesh cost; do cp -R "$SOURCE/$folder" "$root/here/$folder"; done # they may be changed
PATH=$root/bin:$PATH
export PATH

# Block N as README has it, without fences and marks.
block() { awk -v want="$1" '/^<!-- example -->$/ { n++; inside = n == want; next } /^<!-- \/example -->$/ { inside = 0 } inside && !/^```/' "$SOURCE/README.md"; }
blocks=$(grep -c '^<!-- example -->$' "$SOURCE/README.md")
[ "$blocks" -ge 5 ] || { echo "FAIL: README.md has $blocks transcripts, not five" >&2; exit 1; }

failed=
for number in $(seq "$blocks"); do
    block "$number" >"$root/block"
    grep -q '^\$ .*shardopt' "$root/block" || { echo "FAIL: transcript $number has no command" >&2; exit 1; }
    grep '^\$ ' "$root/block" | sed 's/^\$ //' >"$root/commands"
    : >"$root/shown"
    while read -r command; do
        printf '$ %s\n' "$command" >>"$root/shown"
        (cd "$root/here" && sh -c "$command" </dev/null 2>"$root/err") >"$root/output" || true
        cat "$root/output" >>"$root/shown"
    done <"$root/commands"
    if [ "$(tail -n 1 "$root/block")" = ... ]; then
        paragraphs=$(sed '$d' "$root/block" | awk 'BEGIN { RS = "" } END { print NR }')
        awk -v most="$paragraphs" 'NF == 0 && ++blank == most { exit } { print } END { print "\n..." }' "$root/shown" >"$root/cut"
        mv "$root/cut" "$root/shown"
    fi
    cp "$root/shown" "$root/shown.$number"
    [ "${1-}" = --update ] && continue
    if ! diff -u "$root/block" "$root/shown"; then
        cat "$root/err" >&2
        failed=1
    else
        echo "ok: transcript $number: $(head -n 1 "$root/commands")"
    fi
done
if [ "${1-}" = --update ]; then
    awk -v root="$root" '
        /^<!-- \/example -->$/ { inside = 0 }
        !inside { print }
        /^<!-- example -->$/ {
            inside = 1; n++
            print "```"
            while ((getline line < (root "/shown." n)) > 0) print line
            print "```"
        }' "$SOURCE/README.md" >"$root/README.md"
    cat "$root/README.md" >"$SOURCE/README.md"
    exit
fi
[ -z "$failed" ] || { echo "FAIL: README.md is not what the program prints (- README, + program); sh tests/install/readme.sh --update" >&2; exit 1; }
echo "readme: all passed"
