#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian package on a bare root: installed by apt with what it depends on, used, and taken away again.
set -eu
. "$(dirname "$0")/root.sh"
package=$(ls "$DIST"/shardopt_"$VERSION"_*.deb) || fail "packaging/deb.sh makes it first"
bare_root
cp "$package" "$root/tmp/"
says "" "apt-get update -q"
says "Setting up shardopt" "apt-get install -qy --no-install-recommends /tmp/$(basename "$package")"
says "shardopt $VERSION" "shardopt --version"
says "In megatron's words" "shardopt $QUESTION"
same_answer shardopt
for file in man/man1/shardopt.1.gz bash-completion/completions/shardopt zsh/vendor-completions/_shardopt \
        fish/vendor_completions.d/shardopt.fish doc/shardopt/copyright shardopt/models/zoo/llama3.1-70b.json; do
    [ -s "$root/usr/share/$file" ] || fail "the package has no $file"
done
# The flags for hardening that Debian checks, by what the linker left behind.
readelf -hldW "$root/usr/bin/shardopt" >"$WORK/elf"
grep -q 'Type: *DYN' "$WORK/elf" && grep -q GNU_RELRO "$WORK/elf" && grep -q BIND_NOW "$WORK/elf" || fail "not PIE, RELRO, BIND_NOW"
grep -q 'GNU_STACK.*RW ' "$WORK/elf" || fail "its stack can be executed"
nm -D "$root/usr/bin/shardopt" | grep -q __stack_chk_fail || fail "no stack protector"
nm -D "$root/usr/bin/shardopt" | grep -q '_chk@' || fail "no FORTIFY_SOURCE"
echo "ok: PIE, RELRO, BIND_NOW, no executable stack, stack protector, FORTIFY_SOURCE"
says "Removing shardopt" "apt-get purge -qy shardopt"
[ ! -e "$root/usr/share/shardopt" ] && [ ! -e "$root/usr/bin/shardopt" ] || fail "it left files behind"
echo "deb: all passed"
