#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the build into a folder of its own and uses what is there as an outsider would.
# In the environment: CMAKE, CC, CFLAGS, BUILD (build folder), SOURCE (of shardopt).
set -eu
unset SHARDOPT_DATA
root=$(mktemp -d "${TMPDIR:-/tmp}/shardopt-install-XXXXXX")
trap 'rm -rf "$root"' EXIT
cd "$root"

fail() { echo "FAIL: $*" >&2; exit 1; }
# says WHAT TEXT COMMAND...: the command succeeds and prints the text.
says() {
    what=$1 text=$2; shift 2
    "$@" >said 2>&1 || fail "$what: exit $?: $(cat said)"
    grep -qF -- "$text" said || fail "$what: no \"$text\" in: $(cat said)"
    echo "ok: $what"
}
# A model that only the data in FOLDER know: whoever finds it reads them.
plant() { sed -e "s/\"llama3.1-8b\"/\"$2\"/" -e 's/"aliases": *\[[^]]*\]/"aliases": []/' "$SOURCE/models/zoo/llama3.1-8b.json" >"$1/models/zoo/$2.json"; }

"$CMAKE" --install "$BUILD" --prefix "$root/first" >/dev/null
for file in bin/shardopt include/shardopt.h lib/libshardopt.a lib/pkgconfig/shardopt.pc share/man/man1/shardopt.1 \
        share/bash-completion/completions/shardopt share/zsh/site-functions/_shardopt \
        share/fish/vendor_completions.d/shardopt.fish \
        lib/cmake/shardopt/shardoptConfig.cmake lib/cmake/shardopt/shardoptConfigVersion.cmake; do
    [ -s "first/$file" ] || fail "$file is not installed"
done
for folder in models/zoo mesh/catalog cost/profiles cost/optimizers; do
    diff -r -x '*.[ch]' "$SOURCE/$folder" "first/share/shardopt/$folder" || fail "$folder differs"
done
echo "ok: all files are in place"
grep -rlF "$root/first" first/lib/pkgconfig first/lib/cmake && fail "these files name the prefix" || true

says "the build tree finds the sources' data" "llama3.1-405b" "$BUILD/shardopt" models
plant first/share/shardopt planted-first
says "an installed program finds its data" planted-first first/bin/shardopt models planted-first
mv first second
says "and finds them when moved" planted-first second/bin/shardopt models planted-first
ln -s "$root/second/bin/shardopt" link
says "and through a link" planted-first ./link models planted-first

mkdir other
cp -R "$SOURCE/models" "$SOURCE/mesh" "$SOURCE/cost" other/
plant other planted-other
for program in "$BUILD/shardopt" second/bin/shardopt; do
    says "SHARDOPT_DATA comes first for $program" planted-other env SHARDOPT_DATA="$root/other" "$program" models planted-other
done
code=0
SHARDOPT_DATA="$root/nowhere" second/bin/shardopt models >out 2>said || code=$?
[ $code = 2 ] && [ ! -s out ] && [ "$(wc -l <said)" = 1 ] || fail "a wrong SHARDOPT_DATA: exit $code, $(cat out said)"
echo "ok: a wrong SHARDOPT_DATA is exit 2 and one line"

# The linker is that of the build, and so are its flags: a library with a sanitizer needs them.
flags=$(PKG_CONFIG_PATH="$root/second/lib/pkgconfig" pkg-config --cflags --libs shardopt)
# shellcheck disable=SC2086
"$CC" $CFLAGS -c "$SOURCE/tests/install/consumer/consumer.c" -o consumer.o $flags
# Sections for whole-program linking would make whoever links the archive compile the search again: twenty seconds.
objdump -h second/lib/libshardopt.a >sections
grep -q 'gnu[.]\(debug\)\{0,1\}lto' sections && fail "the installed archive has sections for whole-program linking"
times >before # of the processor, whatever else runs on the machine
# shellcheck disable=SC2086
"$CC" $CFLAGS consumer.o -o by-pkg-config $flags
times >after
awk '{ split($1, own, "[ms]"); split($2, kernel, "[ms]")
       seconds[FILENAME] = own[1] * 60 + own[2] + kernel[1] * 60 + kernel[2] }
     END { spent = seconds["after"] - seconds["before"]; printf "linked in %.2f s\n", spent; exit spent >= 1 }' before after ||
    fail "linking the installed archive takes a second or more"
echo "ok: the installed archive has machine code alone"
says "a program built by pkg-config runs" "linked with shardopt 0." ./by-pkg-config 405b
says "and reads the data it is shown" planted-first env SHARDOPT_DATA="$root/second/share/shardopt" ./by-pkg-config planted-first

# shellcheck disable=SC2086,SC2046
"$CC" $CFLAGS "$SOURCE/examples/plan.c" -o plan $flags $(pkg-config --cflags --libs libcjson)
says "examples/plan.c plans" "s a step, proven" env SHARDOPT_DATA="$root/second/share/shardopt" ./plan 8b v5e 4x4

# The shared library, where the compiler has made position-independent objects: the archive's are.
case $CFLAGS in
*-fsanitize*) echo "SKIPPED: examples/plan.py: a library with a sanitizer does not load into python3" ;;
*)
    # shellcheck disable=SC2086
    "$CC" $CFLAGS -shared -Wl,--whole-archive second/lib/libshardopt.a -Wl,--no-whole-archive $flags -o libshardopt.so
    if command -v python3 >/dev/null; then
        says "examples/plan.py plans" "s a step, proven" env SHARDOPT_DATA="$root/second/share/shardopt" \
            SHARDOPT_LIBRARY="$root/libshardopt.so" python3 "$SOURCE/examples/plan.py" 8b v5e 4x4
    else
        echo "SKIPPED: examples/plan.py: no python3"
    fi ;;
esac

"$CMAKE" -S "$SOURCE/tests/install/consumer" -B by-cmake -DCMAKE_PREFIX_PATH="$root/second" \
    -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" >log 2>&1 || fail "configuring the consumer: $(cat log)"
"$CMAKE" --build by-cmake >log 2>&1 || fail "building the consumer: $(cat log)"
says "a program built by CMake runs" "linked with shardopt 0." by-cmake/consumer 405b
echo "install: all passed"
