/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/program.h: the step of a branch as a small program: columns are layer counts of the items and, where
 * two linear forms may each be the larger, a column for the maximum of both. Maxima of one form over the whole box
 * vanish. Internal to engine/layout. */
#pragma once

#include "search/engine/layout/branch.h"

/* Maxima: those of the collectives, 2 of ring attention, parts A and B, main. Rows: two for each collective and ring,
 * main; compute and each axis for each part. */
enum {
    MAXIMA = GROUP_DATA * PHASE_COUNT + 3,
    COLUMNS_MAX = ITEMS_MAX + MAXIMA + 2,
    FORMS_MAX = GROUP_COUNT + 1,
    ROWS_MAX = 2 * MAXIMA + 2 * FORMS_MAX
};

typedef struct {
    double constant, of[COLUMNS_MAX];
} LinearForm;

typedef struct {
    int items, columns; /* the first `items` columns are whole numbers from 0 to upper[] */
    double upper[COLUMNS_MAX];
    LinearForm rows[ROWS_MAX]; /* form <= 0; its column defines[] is a maximum and has coefficient -1 */
    int defines[ROWS_MAX];
    int row_count;
    LinearForm memory[MOMENT_COUNT]; /* form <= 0, in bytes */
    int memory_count;
    LinearForm seconds; /* the step, to be least: */
    /* The larger of main and host, and the tail. host: PCIe seconds with those of the network on the same lane; all
     * zero where nothing is offloaded. */
    LinearForm main, host, tail;
} Program;

/* The same expressions as step_seconds: the least value of `seconds` for given counts is the step. */
void program_of_branch(const StepRule *rule, const Branch *branch, const Rates *rates, Program *out);

/* What the linear relaxation gives: a multiplier >= 0 for each row of the program, and the counts. */
typedef struct {
    double rows[ROWS_MAX], memory[MOMENT_COUNT];
    double columns[COLUMNS_MAX]; /* of each maximum's >= 0 */
    double counts[ITEMS_MAX];
} Multipliers;

/* No counts that meet the memory rows have `seconds` below this, whatever the multipliers >= 0 are: docs/search.md,
 * "The dual bound of a layout". They come from a solver in doubles; nothing else of what it says is believed. */
double program_dual_bound(const Program *program, const Branch *branch, const Multipliers *multipliers);

/* Whether the multipliers of memory prove that no counts meet its rows. */
bool program_never_fits(const Program *program, const Branch *branch, const Multipliers *multipliers);
