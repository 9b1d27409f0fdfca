#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Takes docs/pictures/plan.png anew: the page of the plan of docs/start.md. Run it in the root, after a build, where there is
# a Chromium: sh docs/look.sh [PROGRAM]
set -eu
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
"${1:-build/shardopt}" --model 70b --chip h100 --nodes 64 --format html -o "$folder/plan.html"
"${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars --user-data-dir="$folder/profile" --virtual-time-budget=5000 \
    --window-size=1060,1250 --screenshot="$PWD/docs/pictures/plan.png" "file://$folder/plan.html"
