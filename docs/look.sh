#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes docs/look.svg anew, the picture of README.md: where a step goes, of README's first example. Run it in the root,
# after a build: sh docs/look.sh [PROGRAM]
set -eu
page=$(mktemp) && trap 'rm -f "$page"' EXIT
"${1:-build/shardopt}" --model 405b --pods 8 --format html -o "$page"
{
    awk '/<svg [^>]*step-svg/ { inside = 1 } inside' "$page" | sed -n '1,/<\/defs>/p'
    echo '<style>' && sed -n '/^\.pic text/,/^}$/p' "$page" && echo '</style>'
    awk '/<svg [^>]*step-svg/ { inside = 1 } inside' "$page" | sed '1,/<\/defs>/d' | sed '/<\/svg>/q'
} >docs/look.svg
