/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/report/op_rows.h: the ops of a plan's fullest stage on one chip over a step, without recomputation: what text,
 * JSON and the page list. */
#pragma once

#include "cost/kernels/kernel.h"
#include "search/report/report.h"

typedef struct {
    const EstimatePart *part;
    const char *bound_by;    /* "compute", "HBM", or "free (fused)" where it takes no time */
    double flops_per_second; /* forward and backward; 0: it computes nothing */
    double peak_share;       /* of the peak of its precision */
    /* The fastest such kernel alone, forward, as measured (cost/kernels): what the sum of kernels leaves out of a step
     * (clock, gaps, backward) is between the two. NULL: nobody has measured one on the chip or on its sister. */
    const Kernel *kernel;
    double kernel_flops_per_second;
} OpRow;

/* The rows, in the arena; *count of them. NULL: *error. */
const OpRow *op_rows(const Request *request, const RankedPlan *ranked, Arena *arena, int *count, Error *error);
