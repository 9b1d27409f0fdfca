#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The static program on a bare root, and in a folder with nothing else: no C library, no shell, no /proc.
set -eu
. "$(dirname "$0")/root.sh"
archive=$(ls "$DIST/shardopt-$VERSION-linux-$(uname -m).tar.gz") || fail "packaging/static.sh makes it first"
bare_root
cp "$archive" "$root/root/"
says "shardopt-$VERSION" "tar xzf $(basename "$archive") && ls"
says "shardopt $VERSION" "./shardopt-$VERSION-linux-*/bin/shardopt --version"
says "In megatron's words" "./shardopt-$VERSION-linux-*/bin/shardopt $QUESTION"
same_answer "./shardopt-$VERSION-linux-*/bin/shardopt"

empty=$root/empty
mkdir "$empty"
tar -C "$empty" --strip-components 1 -xzf "$archive"
chroot "$empty" /bin/shardopt --model 8b --chip v5e --slice 4x4 --batch 256Ki | grep -q 's per step' || fail "in an empty root"
echo "ok: in a folder that holds nothing but the archive's files it plans as well"
echo "static: all passed"
