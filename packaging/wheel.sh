#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the Python wheel in DIST, with the static program and its data inside. Needs static.sh, which it runs if nobody did.
#
# usage: packaging/wheel.sh      in the environment: WORK, DIST, JOBS, SOURCE_DATE_EPOCH (common.sh)
set -eu
. "$(dirname "$0")/common.sh"
[ -x "$STATIC/bin/shardopt" ] || "$SOURCE/packaging/static.sh"
python3 "$SOURCE/packaging/wheel.py" "$STATIC" "$DIST"
