# SPDX-License-Identifier: GPL-3.0-or-later
# What the scripts of packaging/ share; they read it with `.` after `set -eu`.
SOURCE=$(cd "$(dirname "$0")/.." && pwd)
VERSION=$(sed -n 's/^project(shardopt VERSION \([0-9.]*\) .*/\1/p' "$SOURCE/CMakeLists.txt")
MACHINE=$(uname -m)
WORK=${WORK:-$SOURCE/build/packaging} # what may be thrown away; kept, so that a second run compiles little
DIST=${DIST:-$SOURCE/dist}            # what is made
JOBS=${JOBS:-$(nproc)}
STATIC=$WORK/static/shardopt-$VERSION-linux-$MACHINE # made by static.sh: a prefix with bin/ and share/

# Every file that is made has the date of the commit, so that two builds of a commit give the same bytes.
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
    SOURCE_DATE_EPOCH=$(git -C "$SOURCE" log -1 --format=%ct 2>/dev/null || stat -c %Y "$SOURCE/CHANGELOG.md")
fi
export SOURCE_DATE_EPOCH VERSION MACHINE STATIC DIST
export LC_ALL=C TZ=UTC
umask 022

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# Installs those of the packages of Debian that are missing.
need_packages() {
    missing=
    for package; do
        dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    say "installing$missing"
    $sudo apt-get update -q >/dev/null
    # shellcheck disable=SC2086
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $missing >/dev/null
}

# The names in the first column of dependencies.tsv whose column `use` has the word.
packages_for() { awk -F '\t' -v use="$1" '!/^#/ && index(" " $2 " ", " " use " ") { print $1 }' "$SOURCE/packaging/dependencies.tsv"; }

# Unpacks Debian's own sources of packages, with its patches, checked by its signatures, in WORK/sources. The lists of
# source packages lie in a folder of ours: those of the machine stay as they are.
fetch_sources() {
    wanted=$*
    lists=$WORK/apt
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial" "$WORK/sources"
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    printf 'deb-src [signed-by=%s] http://deb.debian.org/%s main\n' \
        $key 'debian bookworm' $key 'debian bookworm-updates' $key 'debian-security bookworm-security' >"$lists/list"
    set -- -q -o Dir::Etc::SourceList="$lists/list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$lists/lists" \
        -o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root
    apt-get "$@" update >"$WORK/apt.log" 2>&1 || { cat "$WORK/apt.log" >&2; die "Debian's sources cannot be listed"; }
    # shellcheck disable=SC2086
    (cd "$WORK/sources" && apt-get "$@" source $wanted >>"$WORK/apt.log" 2>&1) ||
        { cat "$WORK/apt.log" >&2; die "sources cannot be fetched"; }
}
