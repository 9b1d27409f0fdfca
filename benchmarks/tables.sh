#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The tables of README.md anew, as Markdown on stdout: of the folder that was built in, `build` by default.
set -euo pipefail
folder=${1:-build} runs=${2:-5}
"$folder/benchmark_ladder" --runs "$runs"
echo
"$folder/benchmark_evaluations"
echo
"$folder/benchmark_brute" --every 211
echo
"$folder/benchmark_greedy" 2>/dev/null
echo
benchmarks/calculon.sh "$folder/benchmark_brute"
