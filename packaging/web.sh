#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes DIST/shardopt.html: the program as WebAssembly with its data, in one page that needs neither server nor network.
# For Debian 12, as root or with sudo.
#
# usage: packaging/web.sh      in the environment: WORK, DIST, JOBS (common.sh)
set -eu
. "$(dirname "$0")/common.sh"
MOST=4194304 # bytes of the page
# shellcheck disable=SC2046
need_packages $(packages_for web)
# shellcheck disable=SC2046
[ -e "$WORK/sources/web" ] || { fetch_sources $(packages_for websource) && touch "$WORK/sources/web"; }

build=$WORK/web-build
# Debian's acorn, where another node than Debian's is first in PATH.
export NODE_PATH=/usr/share/nodejs EM_CACHE="$WORK/emscripten"
[ -d "$EM_CACHE" ] || cp -R /usr/share/emscripten/cache "$EM_CACHE" # it may be written by root alone
emcmake cmake -S "$SOURCE/packaging/web" -B "$build" -DSOURCES="$WORK/sources" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="-ffile-prefix-map=$SOURCE=. -ffile-prefix-map=$WORK=." >"$WORK/web.log" 2>&1 ||
    { tail -30 "$WORK/web.log" >&2; die "the page's build cannot be configured"; }
cmake --build "$build" --parallel "$JOBS" >>"$WORK/web.log" 2>&1 ||
    { tail -30 "$WORK/web.log" >&2; die "the program does not compile"; }
mkdir -p "$DIST"
python3 "$SOURCE/packaging/web/pack.py" "$SOURCE" "$build/shardopt.js" "$build/shardopt.wasm" "$DIST/shardopt.html" \
    "$WORK"/sources/*/debian/copyright /usr/share/doc/emscripten/copyright
size=$(stat -c %s "$DIST/shardopt.html")
[ "$size" -le $MOST ] || die "the page has $size bytes; it may have $MOST"
say "made $DIST/shardopt.html, $size bytes: open it in a browser"
