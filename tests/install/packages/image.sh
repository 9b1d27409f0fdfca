#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The container image, without a daemon: its layers are unpacked by the rules of OCI's image layout, every digest is
# recomputed, and its entry point is run with that folder as its root. Where docker or podman run, they run it too.
set -eu
. "$(dirname "$0")/root.sh"
image=$(ls "$DIST/shardopt-$VERSION-$(uname -m).oci.tar") || fail "packaging/image.sh makes it first"
root=$(mktemp -d "$WORK/root-XXXXXX")
mkdir "$root/image" "$root/layout"
tar -C "$root/layout" -xf "$image"
python3 - "$root/layout" "$root/image" <<'PYTHON' >"$WORK/entry"
import hashlib, json, pathlib, subprocess, sys

layout, image = map(pathlib.Path, sys.argv[1:])


def blob(descriptor):
    kind, digest = descriptor["digest"].split(":")
    path = layout / "blobs" / kind / digest
    assert hashlib.new(kind, path.read_bytes()).hexdigest() == digest and path.stat().st_size == descriptor["size"]
    return path


index = json.loads((layout / "index.json").read_text())
manifest = json.loads(blob(index["manifests"][0]).read_text())
config = json.loads(blob(manifest["config"]).read_text())
for layer in manifest["layers"]:
    subprocess.run(["tar", "-C", image, "-xf", blob(layer)], check=True)
assert config["config"]["WorkingDir"] == "/work" and "User" not in config["config"], config
print(*config["config"]["Entrypoint"])
PYTHON
entry=$(cat "$WORK/entry")
echo "entry point: $entry; files: $(find "$root/image" -type f | wc -l), $(du -sh "$root/image" | cut -f1)"
[ ! -e "$root/image/bin/sh" ] || fail "the image has more than the program"
# shellcheck disable=SC2086
chroot "$root/image" $entry $QUESTION | tee "$WORK/typed" | sed -n '1,3s/^/    /p'
grep -q "In megatron's words" "$WORK/typed" || fail "no answer"
mkdir -p "$root/image/work"
cp tests/data/import/megatron_70b.sh "$root/image/work/" # as -v "$PWD:/work" has it there
chroot "$root/image" "$entry" explain --chip h100 --from-config /work/megatron_70b.sh -q | grep -q 'Why not this plan' ||
    fail "a file of the folder /work"
echo "ok: unpacked and run by chroot, digests right"
ran=
for runner in podman docker; do
    command -v $runner >/dev/null && $runner info >/dev/null 2>&1 || continue
    $runner load -qi "$image" >/dev/null && $runner run --rm "shardopt:$VERSION" --version && ran=$runner && break
done
[ -n "$ran" ] && echo "ok: $ran runs it" || echo "NOT RUN: neither docker nor podman runs here, so neither has run the image"
echo "image: all passed"
