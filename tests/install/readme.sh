#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The example of README.md is what the program prints: the first line of the block is the command, the rest its output,
# whose end may be left out by a last line of "...". `sh tests/install/readme.sh --update` writes the block anew, as many
# paragraphs of it as before.
# In the environment: BUILD (build folder, default build), SOURCE (of shardopt, default here).
set -eu
unset SHARDOPT_DATA
SOURCE=${SOURCE:-$PWD} BUILD=${BUILD:-$SOURCE/build}
root=$(mktemp -d "${TMPDIR:-/tmp}/shardopt-readme-XXXXXX")
trap 'rm -rf "$root"' EXIT

sed -n '/^<!-- example -->$/,/^<!-- \/example -->$/p' "$SOURCE/README.md" | sed '/^<!--/d; /^```/d' >"$root/block"
command=$(sed -n '1s/^\$ //p' "$root/block")
case $command in
"shardopt "*) ;;
*) echo "FAIL: README.md has no example that begins with \"\$ shardopt\"" >&2; exit 1 ;;
esac
# The words of the command are plain: no quotes, nothing for a shell to expand.
# shellcheck disable=SC2086
"$BUILD/shardopt" ${command#shardopt } >"$root/output" || { echo "FAIL: $command: exit $?" >&2; exit 1; }

# Cut where README cuts: behind as many paragraphs.
sed 1d "$root/block" >"$root/expected"
if [ "$(tail -n 1 "$root/expected")" = ... ]; then
    sed '$d' "$root/expected" | awk 'BEGIN { RS = "" } END { print NR }' >"$root/paragraphs"
    awk -v most="$(cat "$root/paragraphs")" 'NF == 0 && ++blank == most { exit } { print } END { print "\n..." }' "$root/output" >"$root/shown"
else
    cp "$root/output" "$root/shown"
fi
if [ "${1-}" = --update ]; then
    { echo "<!-- example -->"; echo '```'; echo "\$ $command"; cat "$root/shown"; echo '```'; echo "<!-- /example -->"; } >"$root/new"
    sed -e "/^<!-- \/example -->\$/r $root/new" -e '/^<!-- example -->$/,/^<!-- \/example -->$/d' "$SOURCE/README.md" >"$root/README.md"
    cat "$root/README.md" >"$SOURCE/README.md"
    exit
fi
[ "$(wc -l <"$root/expected")" -gt 3 ] || { echo "FAIL: the example has no output" >&2; exit 1; }
diff -u "$root/expected" "$root/shown" || { echo "FAIL: README.md's example is not what the program prints (- README, + program); sh tests/install/readme.sh --update" >&2; exit 1; }
echo "ok: $command prints what README.md says"
