#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How far the model is from real machines: the limits that a change must keep to, and that README.md says what the program
# says. `sh tests/install/validate.sh --update` writes README's table and its picture anew, and the errors of runs left out
# of the fit, which the test does not repeat: they take most of a minute.
# In the environment: BUILD (build folder, default build), SOURCE (of shardopt, default here).
set -eu
unset SHARDOPT_DATA
SOURCE=${SOURCE:-$PWD} BUILD=${BUILD:-$SOURCE/build}
root=$(mktemp -d "${TMPDIR:-/tmp}/shardopt-validate-XXXXXX")
trap 'rm -rf "$root"' EXIT
cd "$SOURCE" # what is printed names the table as README does

# ---- the gate: a little above what is reached, so that nothing gets worse unseen ----
train_error=median=3%,p90=10%,bias=7%,skipped=2%,memory-median=3%,memory-p90=8%,memory-fitting=0
train_ranking=tau=0.9,tau-all=0.85,best=90%
partial_error=memory-fitting=0

"$BUILD/shardopt" validate cost/measured/data/train.tsv --max-error "$train_error" --min-ranking "$train_ranking" \
    --format markdown --worst 5 --plot "$root/validate.svg" -o "$root/table.md" ||
    { echo "FAIL: cost/measured/data/train.tsv: exit $?" >&2; exit 1; }
"$BUILD/shardopt" validate cost/measured/data/partial.tsv --max-error "$partial_error" >"$root/partial.txt" ||
    { echo "FAIL: cost/measured/data/partial.tsv: exit $?" >&2; exit 1; }

# ---- README ----
{ echo "![Predicted against measured steps](docs/validate.svg)"; echo; cat "$root/table.md"; } >"$root/shown"
sed -n '/^<!-- validate -->$/,/^<!-- \/validate -->$/p' README.md | sed '/^<!--/d' >"$root/block"
if [ "${1-}" = --update ]; then
    { echo "<!-- validate -->"; cat "$root/shown"; echo "<!-- /validate -->"; } >"$root/new"
    sed -e "/^<!-- \/validate -->\$/r $root/new" -e '/^<!-- validate -->$/,/^<!-- \/validate -->$/d' README.md >"$root/README.md"
    cat "$root/README.md" >README.md
    cat "$root/validate.svg" >docs/validate.svg
    "$BUILD/shardopt" calibrate cost/measured/data/train.tsv --begin priors --format markdown >"$root/calibrate.md"
    { echo "<!-- calibrate -->"; awk '/^\|/ { print; table = 1; next } table { exit }' "$root/calibrate.md"; echo "<!-- /calibrate -->"; } >"$root/new"
    sed -e "/^<!-- \/calibrate -->\$/r $root/new" -e '/^<!-- calibrate -->$/,/^<!-- \/calibrate -->$/d' README.md >"$root/README.md"
    cat "$root/README.md" >README.md
    exit
fi
if [ "$(cat "$root/block")" = "Not filled in yet." ]; then
    echo "ok: the limits hold; README.md has no table yet"
    exit
fi
diff -u "$root/block" "$root/shown" || { echo "FAIL: README.md's error table is not what the program prints (- README, + program); sh tests/install/validate.sh --update" >&2; exit 1; }
cmp "$root/validate.svg" docs/validate.svg || { echo "FAIL: docs/validate.svg is not what the program draws; sh tests/install/validate.sh --update" >&2; exit 1; }
echo "ok: the limits hold, and README.md has the program's table and picture"
