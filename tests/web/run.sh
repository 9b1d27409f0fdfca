#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shardopt.html against the native program, in node and in Chromium, where the page was made (packaging/web.sh, or
# SHARDOPT_PAGE=FILE) and node is there. Else 77, skipped; so is the part in Chromium without what it needs.
#
#   run.sh PROGRAM SOURCE
node=$(command -v node || command -v nodejs) || { echo "SKIPPED: no node; apt-get install nodejs"; exit 77; }
page=${SHARDOPT_PAGE:-$2/dist/shardopt.html}
[ -e "$page" ] || { echo "SKIPPED: no $page; packaging/web.sh makes it"; exit 77; }
here=$(dirname "$0")
"$node" "$here/same.mjs" "$page" "$1" "$2" || exit 1
"$node" "$here/browser.mjs" "$page" "$1" "$2"
code=$?
[ $code = 77 ] || exit $code
