#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the static program and the wheel twice, of copies of the sources in two folders of different names, and compares
# every byte.
#
# usage: packaging/reproducible.sh      in the environment: WORK, JOBS, SOURCE_DATE_EPOCH (common.sh)
set -eu
. "$(dirname "$0")/common.sh"
base=$WORK
for name in one another-name; do
    tree=$base/reproducible/$name/sources
    rm -rf "${tree:?}/../sources" "$base/reproducible/$name/dist"
    mkdir -p "$tree" "$base/reproducible/$name/work"
    git -C "$SOURCE" archive HEAD | tar -xC "$tree"
    unset STATIC
    WORK=$base/reproducible/$name/work DIST=$base/reproducible/$name/dist "$tree/packaging/static.sh"
    WORK=$base/reproducible/$name/work DIST=$base/reproducible/$name/dist "$tree/packaging/wheel.sh"
done
(cd "$base/reproducible/one/dist" && sha256sum ./*) >"$base/reproducible/sums"
cat "$base/reproducible/sums"
(cd "$base/reproducible/another-name/dist" && sha256sum -c --quiet "$base/reproducible/sums") || die "two builds differ"
say "two builds in two folders gave the same bytes"
