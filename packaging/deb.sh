#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes DIST/shardopt_VERSION_ARCHITECTURE.deb for Debian 12, with Debian's own flags for hardening, and runs lintian on it. The
# sources are a copy of the committed ones, since dpkg wants its folder debian/ on top and writes next to it.
#
# usage: packaging/deb.sh      in the environment: WORK, DIST, JOBS, SOURCE_DATE_EPOCH (common.sh)
set -eu
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2046
need_packages $(packages_for build) debhelper dpkg-dev lintian

tree=$WORK/deb/shardopt-$VERSION
rm -rf "$WORK/deb"
mkdir -p "$tree" "$DIST"
git -C "$SOURCE" archive HEAD | tar -xC "$tree"
cp -R "$SOURCE/packaging/debian" "$tree/debian"
cat >"$tree/debian/changelog" <<CHANGELOG
shardopt ($VERSION) bookworm; urgency=medium

  * See CHANGELOG.md, which is installed as changelog.gz.

 -- shardopt maintainers <maintainers@users.noreply.github.com>  $(date -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG

(cd "$tree" && CMAKE_OPTIONS=${LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER=$LAUNCHER} DEB_BUILD_OPTIONS="nocheck parallel=$JOBS" \
    dpkg-buildpackage -b -us -uc >"$WORK/deb.log" 2>&1) || { tail -30 "$WORK/deb.log" >&2; die "the package does not build"; }
package=$(ls "$WORK"/deb/*.deb)
as=$([ "$(id -u)" = 0 ] && echo --allow-root || true)
# shellcheck disable=SC2086
lintian $as --fail-on error,warning --display-info "$package" || die "lintian is not content"
cp "$package" "$DIST/"
say "made $DIST/$(basename "$package"), with which lintian is content"
