#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes docs/look.svg anew, the picture of README.md: where a step goes, of the plan of docs/start.md, both panels next to
# each other. Run it in the root, after a build: sh docs/look.sh [PROGRAM]
set -eu
page=$(mktemp) && trap 'rm -f "$page"' EXIT
"${1:-build/shardopt}" --model 70b --chip h100 --nodes 64 --format html -o "$page"
# The panel whose id begins with $1, at x = $2 of what is around it.
panel() {
    awk -v start="aria-labelledby=\"$1-t" -v x="$2" 'index($0, start) && /^<svg/ { inside = 1; sub(/<svg /, "<svg x=\"" x "\" ") }
        inside { print } /<\/svg>/ { inside = 0 }' "$page"
}
{
    echo '<svg xmlns="http://www.w3.org/2000/svg" class="pic" viewBox="0 0 784 300" width="784" height="300">'
    echo '<style>' && sed -n '/^\.pic text/,/^}$/p' "$page" && echo '</style>'
    echo '<rect class="bg" width="784" height="300"/>'
    panel step-svg 0
    panel step-others-svg 404
    echo '</svg>'
} >docs/look.svg
