#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the container image DIST/shardopt-VERSION-MACHINE.oci.tar, which docker, podman and registries take:
#     podman load -i FILE; docker load -i FILE (25 and later); skopeo copy oci-archive:FILE docker://REGISTRY/shardopt
# It uses buildah, which needs no daemon. Needs static.sh, which it runs if nobody did.
#
# usage: packaging/image.sh      in the environment: WORK, DIST, SOURCE_DATE_EPOCH (common.sh)
set -eu
. "$(dirname "$0")/common.sh"
[ -x "$STATIC/bin/shardopt" ] || "$SOURCE/packaging/static.sh"
need_packages buildah
storage="--root $WORK/containers --runroot $WORK/containers/run --storage-driver vfs"
image=$DIST/shardopt-$VERSION-$MACHINE.oci.tar
mkdir -p "$DIST"
rm -f "$image"
# The image has the date of the commit, and so has each file of it.
find "$STATIC" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# shellcheck disable=SC2086
buildah $storage build -q --isolation chroot --timestamp "$SOURCE_DATE_EPOCH" --label org.opencontainers.image.version="$VERSION" \
    --label org.opencontainers.image.licenses=GPL-3.0-or-later -f "$SOURCE/packaging/Containerfile" -t shardopt "$STATIC" \
    >"$WORK/image.log" 2>&1 || { tail "$WORK/image.log" >&2; die "the image does not build"; }
# shellcheck disable=SC2086
buildah $storage push -q shardopt "oci-archive:$image:shardopt:$VERSION" >>"$WORK/image.log" 2>&1 ||
    { tail "$WORK/image.log" >&2; die "the image cannot be written"; }
say "made $image"
