#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks that the transcripts of README.md, CONTRIBUTING.md and the pages docs/*.md, docs/data/*.md and tests/install/gallery.md are what the program prints.
#
# A transcript stands between <!-- example --> and <!-- /example -->. A line that begins with "$ " is a command, which
# a backslash at its end continues on the next line; the lines after a command are its output. The commands of one page
# run in order, in a folder of their own that has copies of the data. If the last line is "...", the page leaves out the
# end of the last output: this script then cuts the program's output after the same number of paragraphs.
# The command of a <!-- slow example --> takes more than ten seconds; it runs only with --slow.
#
# usage: sh tests/install/readme.sh [--update] [--slow] [--only M-N] [PAGE...]
#   --update replaces the output that the pages show; --only M-N runs transcripts M to N of a page, as if it had no others
# In the environment: BUILD (build folder, default build), SOURCE (of shardopt, default here).
set -eu
unset SHARDOPT_DATA GITHUB_ACTIONS
SOURCE=${SOURCE:-$PWD} BUILD=${BUILD:-$SOURCE/build}
update='' slow='' only=''
while :; do
    case ${1-} in
    --update) update=1 ;;
    --slow) slow=1 ;;
    --only) only=$2 && shift ;;
    *) break ;;
    esac
    shift
done
[ -z "$only" ] || [ -z "$update" ] || { echo "--only runs a part of a page, and --update writes all of it" >&2; exit 2; }
root=$(mktemp -d "${TMPDIR:-/tmp}/shardopt-readme-XXXXXX")
trap 'rm -rf "$root"' EXIT
mkdir "$root/bin"
ln -s "$(cd "$BUILD" && pwd)/shardopt" "$root/bin/shardopt"
PATH=$root/bin:$PATH
export PATH
cd "$SOURCE"
[ $# -gt 0 ] || set -- README.md CONTRIBUTING.md docs/*.md docs/data/*.md tests/install/gallery.md

# A folder for the commands of one page. They may change the data, so these are copies.
make_folder() {
    rm -rf "$root/here"
    mkdir "$root/here"
    for folder in tests docs; do ln -s "$SOURCE/$folder" "$root/here/$folder"; done
    for folder in models mesh cost; do cp -R "$SOURCE/$folder" "$root/here/$folder"; done
}

# Runs the commands of the transcript $root/block, and writes what the page should show to $root/shown.
run_block() {
    rm -f "$root"/command.*
    awk -v root="$root" '!command && /^\$ / { n++; sub(/^\$ /, ""); command = 1 }
                         command { print > (root "/command." n); command = /\\$/ }' "$root/block"
    : >"$root/shown"
    n=1
    while [ -f "$root/command.$n" ]; do
        sed '1s/^/$ /' "$root/command.$n" >>"$root/shown"
        (cd "$root/here" && sh "$root/command.$n" </dev/null 2>"$root/err") >>"$root/shown" || true
        n=$((n + 1))
    done
    if [ "$(tail -n 1 "$root/block")" = ... ]; then
        paragraphs=$(sed '$d' "$root/block" | awk 'BEGIN { RS = "" } END { print NR }')
        awk -v most="$paragraphs" 'NF == 0 && ++blank == most { exit } { print } END { print "\n..." }' \
            "$root/shown" >"$root/cut"
        mv "$root/cut" "$root/shown"
    fi
}

failed=
for page; do
    blocks=$(grep -cE '^<!-- (slow )?example -->$' "$page" || true)
    if [ "$page" = README.md ] && [ "$blocks" -lt 7 ]; then
        echo "FAIL: README.md has $blocks transcripts; it should have the first answer and six uses" >&2
        exit 1
    fi
    [ "$blocks" -gt 0 ] || continue
    make_folder
    number=0
    while [ $number -lt "$blocks" ]; do
        number=$((number + 1))
        [ -z "$only" ] || { [ $number -ge "${only%-*}" ] && [ $number -le "${only#*-}" ]; } || continue
        # The block without its marks and fences; the mark itself says whether it is slow.
        awk -v want=$number -v mark="$root/mark" '
            /^<!-- (slow )?example -->$/ { inside = ++n == want; if (inside) print > mark; next }
            /^<!-- \/example -->$/ { inside = 0 }
            inside && !/^```/' "$page" >"$root/block"
        name="$page, transcript $number: $(sed -n '1s/^\$ //p' "$root/block")"
        grep -q '^\$ .*shardopt' "$root/block" || { echo "FAIL: $name: it has no command" >&2; exit 1; }
        if [ -z "$slow" ] && grep -q slow "$root/mark"; then
            echo "not run: $name"
            cp "$root/block" "$root/shown.$number"
            continue
        fi
        run_block
        cp "$root/shown" "$root/shown.$number"
        [ -z "$update" ] || continue
        if diff -u "$root/block" "$root/shown"; then
            echo "ok: $name"
        else
            cat "$root/err" >&2
            echo "FAIL: $name" >&2
            failed=1
        fi
    done
    [ -n "$update" ] || continue
    awk -v root="$root" '
        /^<!-- \/example -->$/ { inside = 0 }
        !inside { print }
        /^<!-- (slow )?example -->$/ {
            inside = 1; n++
            print "```"
            while ((getline line < (root "/shown." n)) > 0) print line
            print "```"
        }' "$page" >"$root/page"
    cmp -s "$root/page" "$page" || { cat "$root/page" >"$page"; echo "updated: $page"; }
done
[ -z "$update" ] || exit 0
[ -z "$failed" ] || {
    echo "FAIL: a page is not what the program prints (- page, + program); sh tests/install/readme.sh --update" >&2
    exit 1
}
echo "readme: all passed"
