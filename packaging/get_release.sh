#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fetches the static program of a release into a folder and checks it by the release's list of sums.
#
# usage: get_release.sh VERSION FOLDER      as get_release.sh 0.1.0 /opt/shardopt: FOLDER/bin/shardopt
# In the environment: RELEASES, the address that vVERSION/FILE is appended to.
# Exit 3: there is no such release, or not for this machine.
set -euo pipefail
version=${1#v} folder=$2
name=shardopt-$version-linux-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$name.tar.gz" SHA256SUMS; do
    curl -sSfL -o "$work/$file" "$RELEASES/v$version/$file" || { echo "no release: $RELEASES/v$version/$file" >&2; exit 3; }
done
(cd "$work" && grep " $name.tar.gz\$" SHA256SUMS | sha256sum -c --quiet -) ||
    { echo "$name.tar.gz is not what SHA256SUMS of the release says" >&2; exit 1; }
mkdir -p "$folder"
tar -C "$folder" --strip-components 1 -xzf "$work/$name.tar.gz"
"$folder/bin/shardopt" --version
