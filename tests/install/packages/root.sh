# SPDX-License-Identifier: GPL-3.0-or-later
# A bare Debian 12 to try packages on: what `debootstrap --variant=minbase` makes, fetched from Debian's mirror once and
# kept in WORK. Read with `.` by the scripts beside it. They run as root, for chroot.
cd "$(dirname "$0")/../../.."
WORK=${WORK:-$PWD/build/packaging} DIST=${DIST:-$PWD/dist}
VERSION=$(sed -n 's/^project(shardopt VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
export LC_ALL=C
fail() { echo "FAIL: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "SKIPPED: a bare root needs root, for chroot"; exit 77; }
root=
forget() { [ -z "$root" ] || { umount "$root/proc" 2>/dev/null || true; rm -rf "$root"; }; }
trap forget EXIT

# bare_root: a new one, in $root.
bare_root() {
    if [ ! -e "$WORK/bookworm.tar" ]; then
        command -v debootstrap >/dev/null || { echo "SKIPPED: there is no debootstrap"; exit 77; }
        mkdir -p "$WORK"
        echo "debootstrap --variant=minbase bookworm (once)"
        debootstrap --variant=minbase bookworm "$WORK/bookworm" http://deb.debian.org/debian >"$WORK/debootstrap.log" 2>&1 ||
            { tail "$WORK/debootstrap.log"; echo "SKIPPED: debootstrap failed: no mirror, or no right to mount"; exit 77; }
        tar -C "$WORK/bookworm" -cf "$WORK/bookworm.tar.new" .
        mv "$WORK/bookworm.tar.new" "$WORK/bookworm.tar"
        rm -rf "$WORK/bookworm"
    fi
    root=$(mktemp -d "$WORK/root-XXXXXX")
    tar -C "$root" -xf "$WORK/bookworm.tar"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    mount -t proc proc "$root/proc" 2>/dev/null || echo "(no /proc could be mounted there)"
    echo "a bare root of $(cat "$root/etc/debian_version"), $(chroot "$root" dpkg-query -W | wc -l) packages," \
        "no compiler: $(chroot "$root" sh -c 'command -v cc gcc clang || echo none')"
}

# typed COMMAND: what is typed there, and what came.
typed() {
    echo "# $1"
    code=0
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive sh -c "cd /root && $1" >"$WORK/typed" 2>&1 </dev/null || code=$?
    sed 's/^/    /' "$WORK/typed" | { if [ "$(wc -l <"$WORK/typed")" -gt 12 ]; then head -n 8; echo "    ..."; else cat; fi; }
    return $code
}

# says TEXT COMMAND: the command succeeds and prints the text.
says() {
    typed "$2" || fail "$2: exit $?"
    [ -z "$1" ] || grep -qF -- "$1" "$WORK/typed" || fail "$2: no \"$1\""
}

# The answer that every package has to give, to the byte: its JSON is that of the program of this tree.
QUESTION="--model 70b --chip h100 --nodes 64 --for megatron"
same_answer() { # same_answer PROGRAM
    program=${BUILD:-$PWD/build}/shardopt
    [ -x "$program" ] || { echo "(no $program to compare answers with)"; return 0; }
    typed "$1 $QUESTION --format json -q >answer.json && wc -c answer.json" || fail "$1: exit $?"
    # shellcheck disable=SC2086
    "$program" $QUESTION --format json -q | cmp - "$root/root/answer.json" || fail "$1 gives another answer than $program"
    echo "ok: the same answer, to the byte, as $program"
}
