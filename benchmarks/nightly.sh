#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Brute force over the whole 405B space of one machine of eight v5p pods, against the search, in two profiles: five minutes
# of two cores for each. Ends with EQUAL and 0, or with what differs and 1. First argument: the folder it was built in;
# second: every which degree tuple (1: all). `.ci/run nightly` runs it.
set -euo pipefail
folder=${1:-build} every=${2:-1}
time "$folder/benchmark_brute" --every "$every"
time "$folder/benchmark_brute" --every "$every" "plan --model 405b --pods 8 --max-idle 0 --padding any --profile ideal --top 20"
"$folder/benchmark_evaluations"
