#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The work of the open planner Calculon (same model, number of GPUs and batch, all plans evaluated, none cut), done with
# shardopt's physics and space: different physics, rate only. Prints a Markdown table. WB's 5,128 GPUs are 641 nodes.
set -euo pipefail
brute=${1:-build/benchmark_brute}
row() { # name, Calculon's plans evaluated, its plans a second with one process, request
    local out
    out=$("$brute" --threads 1 ${5:+--every "$5"} "plan --chip a100-80g --seq 2048 --max-idle 0 --padding any --top 1 $4" |
        sed -n 's/^ROW //p')
    echo "| $1 | $2 | $3 $out"
}
echo "| case | Calculon: plans | plans/s | plans covered | evaluated | wall s | covered per processor s | evaluated per processor s | search: plans covered | s | covered per s | best step s |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
row WA "7,920" 283.7 "--model mt-nlg-530b --nodes 64 --batch 131072"
row WB "8,112" 247.6 "--model mt-nlg-530b --nodes 641 --batch 5160960"
row WC "33,968" 164.2 "--model gpt3-175b --nodes 8 --batch 16384"
row WE "166,012" "not run" "--model gpt3-175b --nodes 64 --batch 1Mi"
