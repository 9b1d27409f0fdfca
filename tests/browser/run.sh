#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# look.mjs where there is what it needs: apt-get install chromium nodejs npm, then npm ci in this folder. Else 77, skipped.
#
#   run.sh PROGRAM SOURCE [FOLDER]
node=$(command -v node || command -v nodejs) || { echo "SKIPPED: no Node; apt-get install nodejs npm"; exit 77; }
exec "$node" "$(dirname "$0")/look.mjs" "$@"
