/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/bench_log.h: what micro-benchmarks print: nccl-tests and rccl-tests, as a table and as JSON (-J),
 * nvbandwidth, perftest (ib_write_bw) as text and as JSON (--out_json), and sweeps of matmuls (mamf-finder). Lines of
 * others between them (NCCL INFO, prefixes of mpirun) are passed. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    BENCH_NONE,       /* nothing that is known */
    BENCH_ALL_REDUCE, /* nccl-tests: bus bandwidth at the largest size */
    BENCH_ALL_GATHER,
    BENCH_REDUCE_SCATTER,
    BENCH_ALL_TO_ALL,
    BENCH_HOST_TO_DEVICE, /* nvbandwidth: the mean over pairs, one way */
    BENCH_DEVICE_TO_HOST,
    BENCH_MATMUL, /* FLOPs per second: the median of a sweep */
    BENCH_WIRE    /* perftest: one port, one way, at the largest size; what carries collectives carries no more */
} BenchKind;

const char *bench_kind_name(BenchKind kind);

typedef struct {
    BenchKind kind;
    double rate;          /* bytes or FLOPs per second */
    double size;          /* bytes of the largest array; 0: not of nccl-tests */
    int64_t ranks, hosts; /* 0: the log does not say */
} BenchResult;

enum { BENCH_RESULTS_MAX = 16 };

/* Reads a log; which collective it is of, old ones tell by their `name` alone. Returns how many results it holds. Pure;
 * `text` ends with a NUL behind `length` bytes. */
int bench_log_read(const char *text, size_t length, const char *name, BenchResult out[BENCH_RESULTS_MAX]);

/* Internal: the collective that a text names; the JSON of nccl-tests, of which arguments and environment are not kept;
 * and whether a text is perftest's JSON, with the result that it holds, if any. */
BenchKind bench_collective_of(const char *text);
int bench_json_read(const char *text, size_t length, const char *name, BenchResult *out);
bool bench_is_wire_json(const char *text);
int bench_wire_json_read(const char *text, BenchResult *out);
