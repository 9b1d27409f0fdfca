#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the static program: bin/shardopt, which needs no library of the machine that it runs on, with its data, manual
# page and completions; and of that DIST/shardopt-VERSION-linux-MACHINE.tar.gz. For Debian 12, as root or with sudo.
#
# usage: packaging/static.sh      in the environment: WORK, DIST, JOBS, SOURCE_DATE_EPOCH (common.sh)
set -eu
. "$(dirname "$0")/common.sh"
# shellcheck disable=SC2046
need_packages $(packages_for build) $(packages_for static) dpkg-dev

flags="-O2 -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$WORK=."
libraries=$WORK/libraries # a prefix with the archives that Debian lacks
if [ ! -e "$libraries/done" ]; then
    # shellcheck disable=SC2046
    fetch_sources $(packages_for source) # the libraries that Debian has no archive of
    mkdir -p "$libraries/lib/pkgconfig" "$libraries/include/cjson"
    (
        cd "$WORK"/sources/cjson-1*
        # shellcheck disable=SC2086
        cc $flags -c cJSON.c -o "$WORK/cJSON.o"
        ar rcsD "$libraries/lib/libcjson.a" "$WORK/cJSON.o"
        cp cJSON.h "$libraries/include/cjson/"
    )
    printf 'Name: libcjson\nDescription: static\nVersion: %s\nCflags: -I%s\nLibs: -L%s -lcjson -lm\n' \
        1.7.15 "$libraries/include" "$libraries/lib" >"$libraries/lib/pkgconfig/libcjson.pc"
    (
        cd "$WORK"/sources/util-linux-2*
        ./configure -q --prefix="$libraries" --disable-all-programs --enable-libsmartcols --enable-static \
            --disable-shared --disable-nls --without-systemd --without-python CFLAGS="$flags" >"$WORK/smartcols.log" 2>&1 &&
            make -j"$JOBS" install-strip >>"$WORK/smartcols.log" 2>&1 ||
            make -j"$JOBS" install >>"$WORK/smartcols.log" 2>&1
    ) || { tail -20 "$WORK/smartcols.log" >&2; die "libsmartcols does not compile"; }
    touch "$libraries/done"
fi

build=$WORK/static-build
PKG_CONFIG_PATH=$libraries/lib/pkgconfig cmake -S "$SOURCE" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    -DSHARDOPT_STATIC=ON -DSHARDOPT_RELEASE=ON -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_C_FLAGS="-fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$SOURCE=. -ffile-prefix-map=$build=." \
    ${LAUNCHER:+-DCMAKE_C_COMPILER_LAUNCHER="$LAUNCHER"} >"$WORK/static.log"
cmake --build "$build" --target shardopt --parallel "$JOBS" >>"$WORK/static.log" ||
    { tail -30 "$WORK/static.log" >&2; die "the program does not compile"; }

rm -rf "$STATIC"
cmake --install "$build" --prefix "$STATIC" --component program --strip >/dev/null
"$STATIC/bin/shardopt" --version >/dev/null || die "the program does not run"
if readelf -l "$STATIC/bin/shardopt" | grep -q 'Requesting program interpreter'; then die "the program is not static"; fi

# Whose work is inside, under which terms, and of which version: Debian has the sources of all of it.
notices=$STATIC/share/doc/shardopt
mkdir -p "$notices/licenses"
cp "$SOURCE/LICENSE" "$notices/licenses/shardopt"
for package in $(packages_for static) libc6-dev libgomp1 libgcc-12-dev; do
    cp -L "/usr/share/doc/$package/copyright" "$notices/licenses/$package"
done
for package in $(packages_for source); do
    cp "$WORK/sources/$package"-*/debian/copyright "$notices/licenses/$package"
done
{
    printf '# Packages of Debian 12 whose code is in bin/shardopt, as built: package, version.\n'
    # shellcheck disable=SC2046
    dpkg-query -W -f '${Package}\t${Version}\n' $(packages_for static) libc6-dev libgomp1 libgcc-12-dev
    for package in $(packages_for source); do
        printf '%s\t%s\n' "$package" "$(dpkg-parsechangelog -l "$WORK/sources/$package"-*/debian/changelog -S Version)"
    done
} >"$notices/built-with.tsv"

mkdir -p "$DIST"
tar -C "$(dirname "$STATIC")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    -cf - "$(basename "$STATIC")" | gzip -9n >"$DIST/$(basename "$STATIC").tar.gz"
say "made $DIST/$(basename "$STATIC").tar.gz"
