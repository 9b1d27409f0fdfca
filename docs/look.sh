#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Takes docs/pictures/plan.png and validate.png anew: the pages of the plan of docs/start.md and of the measured runs. Run it
# in the root, after a build, where there is a Chromium: sh docs/look.sh [PROGRAM]
set -eu
program=${1:-build/shardopt}
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
"$program" --model 70b --chip h100 --nodes 64 --format html -o "$folder/plan.html"
"$program" validate cost/measured/data/train.jsonl --format html -o "$folder/validate.html"
for name in plan validate; do
    "${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars --user-data-dir="$folder/profile" --virtual-time-budget=5000 \
        --window-size=1060,1250 --screenshot="$PWD/docs/pictures/$name.png" "file://$folder/$name.html"
done
