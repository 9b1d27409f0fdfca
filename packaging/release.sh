#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes all files of a release in DIST, with SHA256SUMS: the static program, the wheel, the Debian package, the image, the
# page for a browser, the schemas, and the sources.
#
# usage: packaging/release.sh [vVERSION]     a tag, which has to be that of CMakeLists.txt, CITATION.cff and CHANGELOG.md
set -eu
. "$(dirname "$0")/common.sh"
if [ $# -gt 0 ]; then
    [ "$1" = "v$VERSION" ] || die "the tag is $1, and CMakeLists.txt says $VERSION"
    grep -q "^version: $VERSION\$" "$SOURCE/CITATION.cff" || die "CITATION.cff has another version"
    grep -q "^## \[\{0,1\}$VERSION" "$SOURCE/CHANGELOG.md" || die "CHANGELOG.md has no section $VERSION"
fi
rm -rf "$DIST"
for step in static wheel deb image web; do "$SOURCE/packaging/$step.sh"; done
git -C "$SOURCE" archive --prefix="shardopt-$VERSION/" HEAD | gzip -9n >"$DIST/shardopt-$VERSION.tar.gz"
tar -C "$SOURCE/docs" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - schema |
    gzip -9n >"$DIST/shardopt-$VERSION-schema.tar.gz"
(cd "$DIST" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS && cat SHA256SUMS)
