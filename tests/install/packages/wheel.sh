#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The wheel: in a fresh environment of this machine with Jupyter's client, and on a bare root with Debian's Python. PyPI
# gives the tools of the test; the wheel itself needs nothing of it.
set -eu
. "$(dirname "$0")/root.sh"
wheel=$(ls "$DIST/shardopt-$VERSION-py3-none-"*"_$(uname -m).whl") || fail "packaging/wheel.sh makes it first"
tools=$(awk -F '\t' '$2 == "pypi" { print $1 ">=" $3 }' packaging/dependencies.tsv)

fresh=$WORK/fresh
rm -rf "$fresh"
python3 -m venv "$fresh"
PATH=/nowhere "$fresh/bin/python" -m pip install -q --no-index --no-compile "$wheel" || fail "pip needs something of this machine"
echo "ok: installed with an empty PATH and without an index: no compiler, no other package"
(cd / && "$fresh/bin/shardopt" --version) | grep -q "shardopt $VERSION" || fail "the command does not run"
(cd / && env -u SHARDOPT_PROGRAM -u PYTHONPATH "$fresh/bin/python" "$OLDPWD/tests/python/test_shardopt.py") 2>"$WORK/unittest" ||
    { cat "$WORK/unittest"; fail "the tests of the package"; }
echo "ok: $(sed -n 's/^Ran/ran/p' "$WORK/unittest"), without pandas"
# shellcheck disable=SC2086
if "$fresh/bin/python" -m pip install -q $tools mypy pandas-stubs 2>"$WORK/pip.log"; then
    "$fresh/bin/auditwheel" show "$wheel" 2>/dev/null >"$WORK/auditwheel"
    tr '\n' ' ' <"$WORK/auditwheel"; echo
    grep -q 'manylinux_2_\(5\|12\|17\)_' "$WORK/auditwheel" && grep -q 'no external' "$WORK/auditwheel" || fail "auditwheel finds a newer tag"
    (cd / && env -u SHARDOPT_PROGRAM -u PYTHONPATH "$fresh/bin/python" "$OLDPWD/tests/python/notebook.py" "$WORK/notebook.ipynb") 2>"$WORK/jupyter.log" ||
        { cat "$WORK/jupyter.log"; fail "the notebook"; }
    # Without a folder's scripts that the program carries, and without jax and torch, which the tools do not bring.
    (cd / && "$fresh/bin/python" -m mypy --strict --no-namespace-packages --disable-error-code import-not-found -p shardopt) || fail "type hints"
    (cd / && env -u SHARDOPT_PROGRAM -u PYTHONPATH "$fresh/bin/python" "$OLDPWD/tests/python/test_shardopt.py" Plans.test_frame) 2>&1 | tail -1
else
    tail -2 "$WORK/pip.log"
    echo "SKIPPED: PyPI cannot be reached: no notebook was run, and auditwheel was not asked"
fi

bare_root
cp "$wheel" "$root/root/"
says "" "apt-get update -q"
says "Setting up python3-venv" "apt-get install -qy --no-install-recommends python3-venv"
says "" "python3 -m venv here"
says "Successfully installed shardopt-$VERSION" "here/bin/pip install --no-index ./shardopt-*.whl"
says "megatron" "here/bin/python -c 'import shardopt; print(shardopt.plan(model=\"70b\", chip=\"h100\", nodes=64).plans)'"
same_answer here/bin/shardopt
echo "wheel: all passed"
