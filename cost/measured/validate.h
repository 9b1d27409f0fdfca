/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/validate.h: a table of measured runs against the cost model: every run replayed, then the statistics.
 * The same for any number of threads. */
#ifndef SHARDOPT_COST_MEASURED_VALIDATE_H
#define SHARDOPT_COST_MEASURED_VALIDATE_H

#include "cost/measured/labels.h"
#include "cost/measured/rank.h"
#include "cost/measured/replay.h"
#include "cost/measured/score.h"

/* What became of one run. Texts live in the arena, "" where there is nothing to say. */
typedef struct {
    const Run *run;
    const char *skipped; /* why it was not replayed; then all below but source and framework is empty */
    char source[RUN_LABEL_SIZE], framework[RUN_LABEL_SIZE];
    const char *notes, *plan; /* what was assumed; "fsdp=512 tensor=2 m=4 b=8" */
    const char *chip, *stack, *measured_by;
    RunKind kind;
    Precision precision;
    int unknowns;
    double flops;                            /* of the model, causal, in a step */
    double measured_seconds, measured_bytes; /* 0: not measured */
    double limit_bytes;                      /* HBM of what the plan calls a device */
    Prediction prediction;
    double error; /* predicted / measured - 1 of the step; 0 where it was not measured */
} Outcome;

/* Which runs; an empty list takes all. Names as in the table: a source of cost/measured/labels.h, a chip under any of
 * its names. */
enum { FILTER_MAX = 32 };
typedef struct {
    const char *sources[FILTER_MAX], *chips[FILTER_MAX];
    int source_count, chip_count;
} RunFilter;

typedef struct {
    const char *unmatched; /* a name of the filter that no run has; NULL: each has some */
    bool unmatched_chip;   /* it is of a chip, else of a source */
    Outcome *outcomes;     /* of the runs that the filter takes, in the order of the table */
    int64_t count, replayed, skipped;
    Scored *scored;            /* of those that were replayed, in the same order */
    const Outcome **of_scored; /* scored[i] is of this one */
    Score score;
    Ranking ranking, ranking_elsewhere; /* of all sources; of all but bloom, whose trials are one or two iterations */
    /* Every run has run: predicted beyond the HBM there is, and, of runs whose memory was measured to be beyond it
     * (with the host's help), predicted to fit. */
    int64_t called_too_large, called_fitting;
} Validation;

/* `threads` 0: as OpenMP decides. Only memory can fail; that no run is left, or has a name
 * of the filter, is for the caller to see. */
bool validate_runs(const RunTable *table, const ReplayData *data, const ProfileSet *set, const RunFilter *filter,
                   int threads, Arena *arena, Validation *out, Error *error);

#endif
