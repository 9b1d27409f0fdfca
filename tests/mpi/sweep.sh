#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# `mpirun shardopt sweep` prints the bytes of the single process; a killed rank costs no more than a point of each rank.
# usage: sweep.sh PROGRAM (built with -DSHARDOPT_MPI=ON). MPIEXEC: another mpirun; SOURCE: the source folder.
set -eu
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Open MPI refuses to run as root, and more ranks than cores, unless it is told.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
ranks=${MPIEXEC:-mpirun}
grid="--model 8b,nosuch --chip v5e --slice 4x4,2x2,3x3 --batch 32Ki,64Ki --seq 1024,2048 --threads 1"
points=24

fail() {
    echo "sweep.sh: $*" >&2
    exit 1
}

# Exit code of a command that may fail.
code_of() {
    code=0
    "$@" >"$folder/out" 2>"$folder/err" || code=$?
}

# ---- the same bytes, whatever the number of ranks ----
for format in text json csv markdown; do
    "$program" sweep $grid --format $format >"$folder/whole.$format"
done
for n in 1 2 4; do
    for format in text json csv markdown; do
        $ranks -n $n "$program" sweep $grid --format $format >"$folder/out" </dev/null
        cmp "$folder/out" "$folder/whole.$format" || fail "$n ranks, $format"
    done
done
$ranks -n 7 "$program" sweep --model 8b --chip v5e --slice 2x2 --batch 64Ki --seq 2048 -o "$folder/one" </dev/null
"$program" sweep --model 8b --chip v5e --slice 2x2 --batch 64Ki --seq 2048 | cmp - "$folder/one" || fail "more ranks than points"

# ---- parts, each by ranks ----
for k in 1 2; do
    $ranks -n 3 "$program" sweep $grid --shard $k/2 -o "$folder/part$k" </dev/null
done
"$program" merge "$folder/part2" "$folder/part1" | cmp - "$folder/whole.text" || fail "parts by ranks"

# ---- errors: one line, from rank 0 alone, and its exit code ----
code_of $ranks -n 4 "$program" sweep --model 8b --padz 3
test $code = 2 || fail "a wrong option: exit $code"
test ! -s "$folder/out" || fail "a wrong option: something on stdout"
test "$(grep -c '^shardopt: ' "$folder/err")" = 1 || fail "a wrong option: $(cat "$folder/err")"
code_of $ranks -n 3 "$program" sweep $grid --resume "$folder"
test $code = 2 || fail "a folder to resume: exit $code"
code_of $ranks -n 3 "$program" sweep --model 405b --pods 1,2 --time-limit 0.000001
test $code = 4 || fail "not proven: exit $code"
code_of $ranks -n 3 "$program" sweep --help
test $code = 0 || fail "help: exit $code"
test "$(grep -c '^usage:' "$folder/out")" = 1 || fail "help is printed once"

# ---- ranks that would plan something else ----
code_of $ranks -n 1 "$program" sweep $grid : -n 2 "$program" sweep $grid --tokens 1T
test $code = 2 || fail "other options: exit $code"
grep -q 'shardopt: mpirun: rank [12] has another version' "$folder/err" || fail "other options: $(cat "$folder/err")"
if test -n "${SOURCE:-}"; then
    mkdir -p "$folder/data/models" "$folder/data/mesh" "$folder/data/cost"
    for name in models/zoo mesh/catalog cost/profiles cost/optimizers; do
        cp -r "$SOURCE/$name" "$folder/data/$name"
    done
    echo >>"$folder/data/mesh/catalog/$(ls "$folder/data/mesh/catalog" | head -n 1)"
    code_of $ranks -n 1 "$program" sweep $grid : -n 2 env SHARDOPT_DATA="$folder/data" "$program" sweep $grid
    test $code = 2 || fail "other data: exit $code"
    code_of $ranks -n 1 "$program" sweep $grid : -n 2 env SHARDOPT_DATA=/nowhere "$program" sweep $grid
    test $code = 2 || fail "no data on a rank: exit $code"
    grep -q '/nowhere' "$folder/err" || fail "no data on a rank: $(cat "$folder/err")"
fi

# ---- a rank is killed in the middle ----
# One that is stopped first cannot finish its point, so that the sweep cannot end before the kill, however fast the rest
# is, which goes on with all other points. Brute force makes points that last:
# should a sweep be over before its rank was stopped, the next try is.
grid="$grid --brute-force"
"$program" sweep $grid >"$folder/whole.text"
rows() {
    if test -e "$folder/$1"; then wc -l <"$folder/$1"; else echo 0; fi
}
# Stops rank $1 as soon as the file $2 has $3 lines (with the first, its header, points are handed out); kills it
# when there are $4. Leaves the job's exit code in $code; 0: it was over before.
kill_rank() {
    rm -f "$folder/pid" "$folder/$2"
    # Through a shell for this rank: mpirun itself never comes back from a child of its own that was stopped.
    $ranks -n 4 sh -c 'victim=$1 file=$2; shift 2; test ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = $victim || exec "$@"
        "$@" & echo $! >"$file"; wait $!' sh $1 "$folder/pid" \
        "$program" sweep $grid --resume "$folder/$2" >"$folder/out" 2>"$folder/err" </dev/null &
    job=$!
    until test "$(rows "$2")" -ge $3 && test -s "$folder/pid"; do
        kill -0 $job || fail "rank $1: $(cat "$folder/err")"
    done
    read -r pid <"$folder/pid"
    kill -STOP "$pid" 2>/dev/null || true
    tenths=0
    while test "$(rows "$2")" -lt $4 && kill -0 $job 2>/dev/null; do
        sleep 0.1
        tenths=$((tenths + 1))
        test $tenths -lt 3000 || fail "rank $1: the others do not go on"
    done
    kill -KILL "$pid" 2>/dev/null || true
    code=0
    wait $job || code=$?
}
for victim in 3 0; do
    file=resume$victim
    least=1
    most=$points
    # Without who hands points out nobody goes on: killed when some are finished.
    if test $victim = 0; then least=6 most=6; fi
    tries=0
    code=0
    while test $code = 0; do
        kill_rank $victim $file $least $most
        tries=$((tries + 1))
        test $tries -lt 20 || fail "rank $victim: never killed in time"
    done
    lines=$(rows $file) # a header, and a line for every point that was finished
    # All but the point of the one that was killed; where it was rank 0, what it had taken is there.
    lost=$((points + 1 - lines))
    test $lost -le $((points + 1 - most)) || fail "rank $victim: $lost points were lost"
    # What was kept is not planned again: it is marked, and stays.
    sed 's/neither a model/surely neither a model/' "$folder/$file" >"$folder/marked"
    head -n $lines "$folder/marked" >"$folder/kept"
    $ranks -n 4 "$program" sweep $grid --resume "$folder/marked" >"$folder/out" </dev/null
    head -n $lines "$folder/marked" | cmp - "$folder/kept" || fail "rank $victim: rows were planned again"
    test "$(rows marked)" = $((points + 1)) || fail "rank $victim: $(rows marked) lines in the end"
    $ranks -n 4 "$program" sweep $grid --resume "$folder/$file" </dev/null | cmp - "$folder/whole.text" ||
        fail "rank $victim: resumed by ranks"
    "$program" merge "$folder/$file" | cmp - "$folder/whole.text" || fail "rank $victim: its file merged"
    echo "rank $victim killed (exit $code): $((lines - 1)) of $points points kept, $lost planned again"
done
