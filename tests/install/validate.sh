#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds how far the model is from real machines: the limits that a change must keep to, and that docs/accuracy.md and
# docs/data/training.md are what the program says. `sh tests/install/validate.sh --update` writes the tables again, and
# the errors of runs left out of the fit. The test does not repeat those, since they take most of a minute.
# In the environment: BUILD (build folder, default build), SOURCE (of shardopt, default here).
set -eu
unset SHARDOPT_DATA
SOURCE=${SOURCE:-$PWD} BUILD=${BUILD:-$SOURCE/build}
root=$(mktemp -d "${TMPDIR:-/tmp}/shardopt-validate-XXXXXX")
trap 'rm -rf "$root"' EXIT
cd "$SOURCE"
page=docs/accuracy.md tables=docs/data/training.md data=cost/measured/data

# ---- the limits are a little above today's errors, so that an error that grows is seen (bias: of llama3paper, three rows) ----
train_error=median=3.3%,p90=14.5%,bias=45%,skipped=2%,memory-median=2.5%,memory-p90=8%,memory-fitting=0
train_ranking=tau=0.9,tau-all=0.85,best=90%
partial_error=memory-fitting=0 hybrid_error=median=8%,p90=20%

"$BUILD/shardopt" validate "$data/train.jsonl" --max-error "$train_error" --min-ranking "$train_ranking" \
    --format markdown --worst 5 -o "$root/table.md" ||
    { echo "FAIL: $data/train.jsonl: exit $?" >&2; exit 1; }
"$BUILD/shardopt" validate "$data/partial.jsonl" --max-error "$partial_error" >"$root/partial.txt" ||
    { echo "FAIL: $data/partial.jsonl: exit $?" >&2; exit 1; }
grep '[Nn]emotron_3' "$data/partial.jsonl" >"$root/hybrids.jsonl" # of Mamba, attention and experts
"$BUILD/shardopt" validate "$root/hybrids.jsonl" --max-error "$hybrid_error" >"$root/hybrids.txt" ||
    { echo "FAIL: hybrids of $data/partial.jsonl: exit $?" >&2; exit 1; }

# ---- one sweep: its own software, its order of plans, and what failed in it ----
sweep_error=median=7.5%,p90=30%,memory-median=8%,memory-fitting=0
sweep_ranking=tau-all=0.86
"$BUILD/shardopt" validate "$data/nanotron.jsonl" --max-error "$sweep_error" --min-ranking "$sweep_ranking" \
    --format markdown --worst 0 -o "$root/sweep.md" || { echo "FAIL: $data/nanotron.jsonl: exit $?" >&2; exit 1; }
"$BUILD/shardopt" validate "$data/nanotron-failed.jsonl" --format markdown -o "$root/failed.md" ||
    { echo "FAIL: $data/nanotron-failed.jsonl: exit $?" >&2; exit 1; }
{
    sed -n '/^[^|]/{p;q;}' "$root/sweep.md"
    sed -n '/^\*\*Memory/p' "$root/sweep.md"
    echo
    sed -n '/^\*\*Memory/p' "$root/failed.md" | sed 's/Memory/What failed/'
    echo
    sed -n '/^\*\*Order/,$p' "$root/sweep.md"
} >"$root/sweep"

# ---- fine-tuning: other software on other boards; by source, with its memory, and what is not replayed ----
tuning_error=median=6.5%,p90=26%,memory-median=3.5%,memory-p90=12%,memory-fitting=0
"$BUILD/shardopt" validate "$data/finetune.jsonl" --max-error "$tuning_error" --format markdown --worst 0 \
    -o "$root/tuning.md" || { echo "FAIL: $data/finetune.jsonl: exit $?" >&2; exit 1; }
{
    sed -n 1,/^$/p "$root/tuning.md" | sed '/^$/d'
    sed -n '/^[^|]/{p;q;}' "$root/tuning.md" >/dev/null
    echo
    awk '/^\| source/ { show = 1 } /^$/ { show = 0 } show' "$root/tuning.md"
    echo
    sed -n '/^\*\*Memory/p' "$root/tuning.md"
    echo
    awk '/^\| software/ { show = 1 } /^$/ { show = 0 } show' "$root/tuning.md"
    echo
    awk '/^\| runs \|/ { show = 1 } /^$/ { show = 0 } show { if (/^\|/) print }' "$root/tuning.md"
} >"$root/finetune"

# ---- the page: totals; what comes after the first paragraph is with the tables ----
# Replaces the block <!-- NAME --> of a page by $root/new: replace PAGE NAME
replace() {
    sed -e "/^<!-- \/$2 -->\$/r $root/new" -e "/^<!-- $2 -->\$/,/^<!-- \/$2 -->\$/d" "$1" >"$root/page"
    cat "$root/page" >"$1"
}
{ echo "![Predicted against measured steps: the page of validate](pictures/validate.png)"; echo; sed -n 1p "$root/table.md"; } >"$root/validate"
sed 1,2d "$root/table.md" >"$root/tables"
if [ "${1-}" = --update ]; then
    { echo "<!-- validate -->"; cat "$root/validate"; echo "<!-- /validate -->"; } >"$root/new"
    replace "$page" validate
    { echo "<!-- finetune -->"; cat "$root/finetune"; echo "<!-- /finetune -->"; } >"$root/new"
    replace "$page" finetune
    for block in tables sweep; do
        { echo "<!-- $block -->"; cat "$root/$block"; echo "<!-- /$block -->"; } >"$root/new"
        replace "$tables" $block
    done
    "$BUILD/shardopt" calibrate "$data/nanotron.jsonl" --only nanotron --format markdown >"$root/cells.md"
    {
        echo "<!-- cells -->"
        awk '/^\|/ { print; table = 1; next } table { exit }' "$root/cells.md" | grep -v "by sources\|of these"
        echo
        grep "^Order of plans, left out" "$root/cells.md"
        echo "<!-- /cells -->"
    } >"$root/new"
    replace "$tables" cells
    "$BUILD/shardopt" calibrate "$data/train.jsonl" --begin priors --format markdown >"$root/calibrate.md"
    {
        echo "<!-- calibrate -->"
        awk '/^\|/ { print; table = 1; next } table { exit }' "$root/calibrate.md"
        echo
        grep "^Measured inside\|^Order of plans, left out" "$root/calibrate.md"
        echo "<!-- /calibrate -->"
    } >"$root/new"
    replace "$page" calibrate
    exit
fi
# Whether the block <!-- NAME --> of a page is what the program prints: same PAGE NAME
same() {
    sed -n "/^<!-- $2 -->\$/,/^<!-- \/$2 -->\$/p" "$1" | sed '/^<!--/d' >"$root/block"
    diff -u "$root/block" "$root/$2" || {
        echo "FAIL: the block $2 of $1 is not what the program prints (- page, + program)" >&2
        echo "sh tests/install/validate.sh --update writes it again" >&2
        exit 1
    }
}
same "$page" validate
same "$page" finetune
same "$tables" tables
same "$tables" sweep
echo "ok: the limits hold, and $page and $tables have the program's figures"
