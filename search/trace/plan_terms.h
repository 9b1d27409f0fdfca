/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search/trace/plan_terms.h: what a report says of a plan's step, term by term, as a trace is compared with it. */
#pragma once

#include "base/error.h"
#include "cost/plan/plan.h"
#include "cost/trace/recording.h"

#include <cjson/cJSON.h>

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
