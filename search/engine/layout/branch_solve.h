/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine/layout/branch_solve.h: the best layer counts of a branch: GLPK's relaxation and the search around it. Internal
 * to engine/layout. */
#pragma once

#include "search/engine/layout/branch.h"

typedef struct {
    bool found; /* counts that fit and take less than the cutoff */
    double seconds;
    double bound_seconds; /* no counts that fit take less than this, or than the cutoff; INFINITY: none fit */
    int64_t counts[ITEMS_MAX];
    int solver_calls; /* linear programs solved: by GLPK, or as a sum */
    int64_t work;     /* bounds that the search of the counts made */
} BranchSolution;

/* A call that needs GLPK brings up its own environment in this thread and takes it down. False: a defect of GLPK,
 * memory included. */
bool branch_solve(const StepRule *rule, const Branch *branch, const Rates *rates, double cutoff, BranchSolution *out,
                  Error *error);
