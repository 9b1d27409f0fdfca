/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/validate.h: a table of measured runs against the cost model: every run is replayed, then the statistics
 * are made. The result is the same for any number of threads. */
#pragma once

#include "cost/measured/rank.h"
#include "cost/measured/replay.h"
#include "cost/measured/run.h"
#include "cost/measured/score.h"

/* The result of one run. Texts live in the arena; "" means that there is nothing to say. */
typedef struct {
    const Run *run;
    const char *skipped; /* why it was not replayed; then all members below are empty */
    const char *plan;    /* "fsdp=512 tensor=2 m=4 b=8" */
    const char *chip, *stack, *measured_by;
    RunKind kind;
    Precision precision;
    double flops;                            /* of the model, causal, in a step */
    double measured_seconds, measured_bytes; /* 0 means not measured */
    double limit_bytes;                      /* HBM of one device in the plan's sense */
    Prediction prediction;
    double error; /* predicted / measured - 1 of the step; 0 where it was not measured */
} Outcome;

/* The runs to take; an empty list takes all. Names are as in the table: a family of cost/measured/run.h, a chip
 * under any of its names. */
enum { FILTER_MAX = 32 };
typedef struct {
    const char *sources[FILTER_MAX], *chips[FILTER_MAX];
    int source_count, chip_count;
} RunFilter;

/* Bins of the HBM that a failed run is predicted to need, over what its chip has: below a half, to 0.75, to 1, to 1.5,
 * and above. What needs less than half has failed for another reason than memory. */
enum { FAILED_BINS = 5 };
static const double FAILED_SHARES[FAILED_BINS - 1] = {0.5, 0.75, 1, 1.5};

typedef struct {
    const char *unmatched;            /* a name of the filter that no run has; NULL means that each name has some */
    bool unmatched_chip;              /* the name is a chip's; otherwise it is a source's */
    Outcome *outcomes;                /* of the runs that the filter takes, in the order of the table */
    int64_t count, replayed, skipped; /* replayed: scored; the failed and those set aside are counted apart */
    Scored *scored;                   /* of the replayed runs, in the same order */
    const Outcome **of_scored;        /* scored[i] belongs to this outcome */
    Score score;
    Ranking ranking, ranking_elsewhere; /* of all sources; of all but bloom, whose trials are one or two iterations */
    Reliability reliability;            /* of chances of being the best */
    /* Every run did run: the number predicted beyond the HBM there is; and, among runs whose memory was measured to be
     * beyond it (with the host's help), the number predicted to fit. */
    int64_t called_too_large, called_fitting;
    /* Runs that failed: all, those called too large, and by what they are predicted to need of their HBM
     * (FAILED_SHARES): the number, and of these what is called too large follows from the share. */
    int64_t failed, failed_too_large, failed_by_share[FAILED_BINS];
    int64_t set_aside; /* replayed, not scored */
} Validation;

/* `threads` 0 means that OpenMP decides. Only a lack of memory can make it fail; the caller sees that no run is left,
 * or that no run has a name of the filter. */
typedef struct {
    const ReplayData *data;
    const ProfileSet *set;
    int threads;
} ReplayWith;
/* The outcomes and their count alone, without statistics, the chances among which take longer than all else. */
bool replay_runs(const RunTable *table, const RunFilter *filter, const ReplayWith *with, Arena *arena, Validation *out,
                 Error *error);
bool validate_runs(const RunTable *table, const RunFilter *filter, const ReplayWith *with, Arena *arena,
                   Validation *out, Error *error);

/* Whether a run was on a chip of that name. */
bool run_is_of_chip(const Run *run, const char *name, const Catalog *chips);

/* nearest.c: the measured run that says most about a question: of the same chip, and near in model, size of the
 * machine, length of sequences and precision. */

typedef struct {
    const char *model;        /* its name */
    double active_parameters; /* of a token */
    bool mixture;
    double chips, seq;
    Precision precision;
    const char *chip; /* its name */
} NearestAsk;

/* The nearest of the outcomes, which are of one chip; NULL where none is of a like model: dense or a mixture as
 * requested, with at least half and at most twice the active parameters. Of runs that are equally near the last of the
 * table. */
const Outcome *nearest_run(const Outcome *outcomes, int64_t count, const NearestAsk *ask);

/* That of a table. Runs are replayed from the nearest on, until none can be nearer, and models are read as they are
 * replayed: `data` may have their names alone. */
typedef struct {
    const RunTable *table;
    ReplayData *data;
    const ProfileSet *set;
} NearestFrom;
bool nearest_run_find(const NearestFrom *from, const NearestAsk *ask, Arena *arena, const Outcome **out, Error *error);

/* Tokens per second and chip of a run, by the step that was measured; 0 where the batch is not known. */
double outcome_tokens_per_second_per_chip(const Outcome *outcome);
