/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/measured/calibrate.h: a whole calibration: the fit, the fit without flagged runs, both cross-validations, the
 * likely ranges; and its report. */
#pragma once

#include "cost/measured/cross_validation.h"
#include "cost/measured/rank.h"
#include "cost/measured/score.h"

#include <stdio.h>

typedef struct {
    bool exclude_flagged;
    int folds; /* of the cross-validation by groups; 0 means no cross-validation at all, and no likely ranges */
    CrossProgress *progress;
    void *progress_context;
} CalibrateOptions;

/* The lines of the summary. */
typedef enum {
    LINE_PRIOR,   /* where the fit began */
    LINE_FITTED,  /* fitted to all runs, or to all runs that are not flagged when those are excluded */
    LINE_REFIT,   /* without the flagged runs; absent if none is flagged */
    LINE_GROUPS,  /* cross-validated */
    LINE_SOURCES, /* cross-validated; the next two lines divide its runs */
    LINE_COVERED, /* runs of a chip that other sources have CROSS_COVERED_RUNS runs of */
    LINE_LONE,    /* the remaining runs */
    LINE_COUNT
} CalibrateLine;

/* Errors of the runs of one source or of one chip generation under LINE_FITTED, LINE_GROUPS and LINE_SOURCES. */
typedef struct {
    const char *name;
    ErrorStats fitted, groups, sources;
    double inside; /* share of the unseen runs (by groups) whose measurement lies inside the likely range that is
                    * written */
    const LikelyRange *range; /* of a chip; NULL means a group of one source */
} CalibrateGroup;

typedef struct {
    FitModel model;
    double *weights;
    LeastSolution solution;
    ProfileSet set; /* the answer */
    bool crossed;
    Cross groups, sources;
    Ranges ranges;
    double inside_groups, inside_sources; /* shares of all left-out runs inside the range that their chip is given */
    int32_t usable, flagged;              /* of the problem's runs: with a prediction; of those, flagged */
    double *seconds[LINE_COUNT];          /* predicted, by run; NULL means that the line is absent; 0 means that the
                                          * run does not belong to it */
    ErrorStats lines[LINE_COUNT];         /* worst_at: a run's number */
    ErrorStats families[LINE_COUNT];      /* each (source, model, chip generation) once, with its median */
    CalibrateGroup *by_source, *by_chip;  /* sorted by name */
    int source_count, chip_count;
} Calibration;

/* `problem` has to outlive the result; its `set` does not change. */
bool calibrate(const FitProblem *problem, const CalibrateOptions *options, Arena *arena, Calibration *out,
               Error *error);

/* The files that the report names. */
typedef struct {
    const char *id, *reason;
} CalibrateSkip;
typedef struct {
    const char *file, *sha256, *start, *written; /* written: NULL means nowhere */
    int64_t runs;
    const CalibrateSkip *skipped;
    int64_t skipped_count;
    /* The order of plans as fitted, and as predicted by fits that had not seen them; NULL: not known. */
    const Ranking *fitted_order, *unseen_order;
    bool verbose; /* lists every skipped run, and more of the runs that are furthest off */
} CalibrateFacts;

bool calibrate_text(FILE *out, const Calibration *calibration, const CalibrateFacts *facts);
bool calibrate_markdown(FILE *out, const Calibration *calibration, const CalibrateFacts *facts);
bool calibrate_json(FILE *out, const Calibration *calibration, const CalibrateFacts *facts);
