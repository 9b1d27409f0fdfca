/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/terms.h: what the time of a device is spent on, in the words of the model's step, and what a kernel is by
 * its name before anybody knows on whose behalf it ran. */
#pragma once

#include <stdbool.h>

/* Named as in `step.terms_seconds` of a plan; what a plan has no term for stands last. The order is that of claims: an
 * instant at which kernels of computation run is theirs, whatever else runs; then come collectives, then copies. */
typedef enum {
    TERM_MATMUL,
    TERM_ATTENTION,
    TERM_ELEMENTWISE,
    TERM_RECOMPUTE,
    TERM_OPTIMIZER,
    TERM_UNPLACED, /* kernels whose name no rule knows */
    TERM_TENSOR,
    TERM_EXPERT,
    TERM_SEQUENCE,
    TERM_FSDP,
    TERM_DATA,
    TERM_PIPELINE,
    TERM_COLLECTIVE, /* collectives of a group that nobody can name */
    TERM_WAITS,      /* copies between device and host */
    TERM_BUBBLE,     /* idle of a pipeline, and waits inside its messages */
    TERM_OTHER,      /* idle otherwise: launches that came late, gaps */
    TERM_COUNT
} TraceTerm;

static inline bool term_is_compute(TraceTerm term) { return term <= TERM_UNPLACED; }
static inline bool term_is_collective(TraceTerm term) { return term >= TERM_TENSOR && term <= TERM_COLLECTIVE; }

const char *term_name(TraceTerm term); /* "matmul" */

typedef enum {
    CLASS_UNKNOWN,
    CLASS_COLLECTIVE,
    CLASS_COPY,
    CLASS_ATTENTION,
    CLASS_OPTIMIZER,
    CLASS_MATMUL,
    CLASS_ELEMENTWISE,
    CLASS_COUNT
} KernelClass;

typedef enum {
    COLLECTIVE_KIND_UNKNOWN,
    COLLECTIVE_KIND_ALL_GATHER,
    COLLECTIVE_KIND_REDUCE_SCATTER,
    COLLECTIVE_KIND_ALL_REDUCE,
    COLLECTIVE_KIND_ALL_TO_ALL,
    COLLECTIVE_KIND_SEND_RECV,
    COLLECTIVE_KIND_BROADCAST,
    COLLECTIVE_KIND_COUNT
} CollectiveKind;

const char *collective_kind_name(CollectiveKind kind); /* "all_gather"; "collective" where it is not known */

typedef enum {
    RANGE_NONE,
    RANGE_STEP,
    RANGE_OPTIMIZER,
    RANGE_BACKWARD,
    RANGE_RECOMPUTE,
    RANGE_COLLECTIVE,
    RANGE_COUNT
} RangeKind;
