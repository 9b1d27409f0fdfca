/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/formats/formats.h: the files of profilers, distinguished by what stands in them. */
#pragma once

#include "base/byte_source.h"
#include "cost/trace/recording.h"

struct sqlite3;

/* ---- logs of steps: how long they took, by the lines that Megatron-LM, Megatron-Bridge, NeMo, MaxText and torchtitan
 * print, and what Megatron's timers say of their parts ---- */

/* A part of the step by a timer of Megatron: the mean over its reports but the first, of the fastest and of the slowest
 * rank; where a log has the slowest alone, both are that. */
typedef struct {
    char name[40];      /* "forward-backward" */
    double least, most; /* seconds */
    int reports;
} StepTimer;

enum { STEP_TIMERS_MAX = 24 };
typedef struct {
    const char *file, *launcher; /* "Megatron-LM" */
    int steps, used; /* lines with a time, and those that count: not the first three of more than six, and no longer
                      * than 1.5 times the median, as those with a checkpoint are */
    double median, lower, upper; /* seconds; the quartiles */
    bool cut;                    /* there were more lines than are kept */
    /* torchtitan says how many tokens a device gets through, and no step: then all seconds are those of one token of
     * one device, until step_log_scale() */
    bool of_tokens;
    StepTimer timers[STEP_TIMERS_MAX];
    int timer_count;
} StepLog;

/* Makes seconds of tokens those of a step, of which a device has so many tokens; other logs stay. */
void step_log_scale(StepLog *log, double tokens_of_device);

/* Reads a log of any length. False: it has no line of a step; errors name `where`, and so does `file`. */
bool step_log_read(ByteSource source, const char *where, StepLog *out, Error *error);

/* Whether the first bytes of a file may begin a log: text that is no JSON. `head` ends with a NUL. */
bool step_log_begins(const char *head);

/* ---- traces ---- */

/* Reads a trace, gzip or not, into a recording that was begun. Its rank is what the file says, else what its name says
 * ("rank-3", "rank3", "worker3", "kineto_3"), else -1. */
bool trace_file_read(const char *path, Recording *out, Error *error);

/* Whether a file is a log and no trace, by its first bytes; then trace_log_read() reads it. */
bool trace_file_is_log(const char *path, bool *is_log, Error *error);
bool trace_log_read(const char *path, StepLog *out, Error *error);

/* The files of a folder that may be traces by their names, sorted, as paths in the arena. */
bool trace_folder_list(const char *folder, Arena *arena, const char ***paths, size_t *count, Error *error);

/* The rank that a file's name says; -1: none. */
int64_t trace_rank_of_name(const char *path);

/* Chrome's trace events in JSON, as PyTorch (Kineto) writes them. Read in a window of fixed size, whatever the file's.
 * Units of `ts` and `dur` are microseconds whatever `displayTimeUnit` says; digits go to whole nanoseconds and never
 * through a double. */

/* Reads into a recording that was begun, and finishes it. A file that is cut off, or broken in places, is read as far
 * as it goes: `trouble` and `damaged` say so. False when nothing of it can be used; errors name `where`. */
bool chrome_read(ByteSource source, const char *where, Recording *out, Error *error);

/* What XProf and JAX record (XSpace, *.xplane.pb). Of TPUs, the operations of XLA are read and what runs alongside them
 * (Async XLA Ops) as far as it is a collective or a copy to the host; of GPUs, the streams. All other lines are derived
 * from these. Field numbers: openxla/xla at f33d2e16, third_party/tsl/tsl/profiler/protobuf/xplane.proto. */

/* Reads a space plane by plane into a recording that was begun, and finishes it; errors name `where`. Planes of the
 * host are passed. A device that is complete is handed over (recording.h), so that memory holds the largest of them and
 * no more; a plane has at most XPLANE_BYTES_MAX. */
static const size_t XPLANE_BYTES_MAX = (size_t)2 << 30;
bool xplane_read(ByteSource source, const char *where, Recording *out, Error *error);

/* The SQLite export of Nsight Systems (`nsys export --type sqlite`). Tables exist only where they have rows, and
 * columns grow by version: each is requested before it is read. */

/* Reads into a recording that was begun, and finishes it. The database is the caller's to close. A database that is
 * damaged is read as far as it goes, and `trouble` says so; errors name `where`. */
bool nsight_read(struct sqlite3 *database, const char *where, Recording *out, Error *error);

/* Opens the file, which nothing else may write meanwhile, and reads it. */
bool nsight_read_file(const char *path, Recording *out, Error *error);

/* ---- what micro-benchmarks print: nccl-tests and rccl-tests, as a table and as JSON (-J), nvbandwidth, perftest
 * (ib_write_bw) as text and as JSON (--out_json), and sweeps of matmuls (mamf-finder). Lines of others between them
 * (NCCL INFO, prefixes of mpirun) are passed ---- */

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
