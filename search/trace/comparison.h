/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/trace/comparison.h: a measured step compared with the plan's, term by term. */
#pragma once

#include "base/error.h"
#include "base/text/prose.h"
#include "base/text/table.h"
#include "cost/plan/plan.h"
#include "cost/trace/formats/formats.h"
#include "cost/trace/rank_trace.h"
#include "cost/trace/recording.h"

#include <cjson/cJSON.h>

/* plan_terms.c: what a report says of a plan's step, term by term, as a trace is compared with it. */

typedef struct {
    const char *chip, *notation; /* of the document */
    int64_t rank, chips, layers, microbatches, virtual_stages;
    Schedule schedule; /* SCHEDULE_NONE: there is one stage, or the report does not say */
    double tokens;     /* of a step and chip that is used; 0: the report does not say */
    double step;
    double length[TERM_COUNT];  /* seconds of a step: of communication all of it */
    double exposed[TERM_COUNT]; /* adds up to the step */
    double bytes[TERM_COUNT];   /* of communication, of whole arrays; 0: none */
    double group[TERM_COUNT];   /* ranks of the role's largest group */
    /* The figure of a profile that a role's link has, "nvlink_efficiency": of the link that its group leaves over.
     * NULL: it has no group, or the report does not say where. Constant. */
    const char *link[TERM_COUNT];
    const double *stage_share; /* what each stage computes over the fullest; NULL: not known, and taken as alike */
    double memory_bytes;       /* of a chip, at the peak; 0: the report does not say */
    PlanShape shape;
} PlanTerms;

/* Reads the plan of that rank of a report of `plan` or `explain`. The document must outlive *out; `where` names it in
 * errors. */
bool plan_terms_read(const cJSON *report, const char *where, int64_t rank, PlanTerms *out, Error *error);

/* The stage of a pipeline, from 0, that a rank of the job is. -1: there is one stage, or the rank is below 0. */
int64_t plan_stage(const PlanTerms *plan, int64_t rank);

/* What that stage (-1: the fullest) computes over what the fullest does. */
double plan_stage_share(const PlanTerms *plan, int64_t stage);

/* Whether the term is of every microbatch's passes, so that a stage with less to compute has less of it. */
bool plan_term_is_of_passes(TraceTerm term);

typedef struct {
    TraceTerm term;
    double measured, predicted;                 /* seconds of a step */
    double exposed_measured, exposed_predicted; /* shares of the two steps, which they add up to */
    double transfer;                            /* of `measured`, what moved bytes; -1: not known apart from waiting */
    double bytes; /* what the trace says was sent, as the plan counts; 0: it does not say */
} ComparisonRow;

/* Shares of a step, in seconds; they add up to it. */
typedef struct {
    double compute, communication, bubble, other;
} StageTimes;

/* A stage of a pipeline: the mean of its ranks, and what the plan has of this stage. */
typedef struct {
    int64_t stage; /* from 0 */
    int ranks;
    StageTimes measured, predicted;
} ComparisonStage;

enum { COMPARISON_DIFFERENCES = 3, COMPARISON_NOTES = 16 };
typedef struct {
    const RankTrace *ranks;
    int rank_count;
    RankMatch match;
    double transfer, lasted; /* seconds of all matched collectives: what moved bytes, and all of it */
    const PlanTerms *plan;   /* NULL: no plan was given, and every `predicted` is 0 */
    ComparisonRow rows[TERM_COUNT];
    int row_count;
    const ComparisonStage *stages; /* of a pipeline, those of which a rank was read */
    int stage_count;
    double step_measured; /* mean over ranks of the mean step */
    double placed_share;  /* of the time of kernels and collectives */
    const char *differences[COMPARISON_DIFFERENCES];
    int difference_count;
    const char *notes[COMPARISON_NOTES];
    int note_count;
} Comparison;

/* `ranks` are one or more, and outlive *out. In the arena. */
bool comparison_make(const RankTrace *ranks, int count, const PlanTerms *plan, Arena *arena, Comparison *out,
                     Error *error);

/* The same with another pricing of the plan; differences and notes stay. */
void comparison_price(Comparison *compared, const PlanTerms *plan);

bool comparison_write_text(const Comparison *compared, TextOut out, Error *error);
/* As JSON, to which a command may add; NULL: memory is out. The caller owns it. */
struct cJSON *comparison_json(const Comparison *compared);

/* Logs of step times, each compared with the plan (NULL: there is none) and with a traced step (0: nothing was traced),
 * which a profiler slows. */
void step_logs_write_text(const StepLog *logs, int count, const PlanTerms *plan, double traced, TextOut out);
void step_logs_add_json(const StepLog *logs, int count, const PlanTerms *plan, struct cJSON *to);

/* What a chip sends or receives in a row's collectives, in bytes per second, by the bytes that the trace and the plan
 * have; waits for other ranks do not count where they are known apart. False: one of the two does not say. */
bool comparison_rates(const Comparison *compared, const ComparisonRow *row, double *measured, double *predicted);

/* Whether trace and plan are of one chip, as far as both say. */
bool comparison_same_chip(const Comparison *compared);

/* Internal: adds the sentences of the text. False: memory is out. */
bool comparison_add_words(const Comparison *compared, struct cJSON *to);

/* Internal: adds one step in time, measured and planned, term by term (comparison_timeline.c); nothing where no step
 * was found. False: memory is out. */
bool comparison_add_timeline(const Comparison *compared, struct cJSON *to);

/* Internal: the step of a plan moment by moment, next to which a measured one stands. A report has the terms of a
 * step and no order of them: passes are laid out as the schedule plays them, each with its share of the terms, backward
 * twice as long as forward; what is hidden lies beneath the pass that hides it, and what comes once a step stands at
 * its end. There is a plan; stage -1 is the first. Without a step the timeline has no seconds. False: memory is out. */
bool plan_timeline(const Comparison *compared, int64_t stage, TraceTimeline *out);

/* What the plan has of a stage (-1: of the fullest), as this trace can see it: seconds, and shares of the step. A stage
 * that computes less than the fullest has a longer bubble. */
void comparison_predicted(const Comparison *compared, int64_t stage, double length[TERM_COUNT],
                          double exposed[TERM_COUNT]);

/* Internal: the largest differences of the exposed terms, in words; and what the reader should know of them. False:
 * memory is out. */
bool comparison_find_differences(Comparison *compared, Arena *arena);
bool comparison_find_notes(Comparison *compared, Arena *arena);
/* Which of the stages holds the others up, if any does. */
void comparison_slow_stage(const Comparison *compared, Prose *out);
