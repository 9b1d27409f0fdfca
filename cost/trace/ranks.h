/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/ranks.h: several ranks of one job together. A collective ends on all its ranks at once, and its
 * shortest duration is what it took to move the bytes; what it lasted longer elsewhere was waiting for the last to
 * come. One rank's trace cannot tell the two apart. */
#pragma once

#include "cost/trace/rank_trace.h"

typedef struct {
    bool known; /* false: `why_not` says why transfer and waits are not distinguished */
    const char *why_not;
    int64_t matched;             /* collectives that were found on several ranks */
    double transfer[TERM_COUNT]; /* seconds over the whole file, a rank's share: the sum of the shortest durations */
    double lasted[TERM_COUNT];   /* seconds of the same collectives, mean over the ranks */
    double end_median, end_most; /* how far ends of one collective lie apart, after the clocks are set */
    double *waited, *caused;     /* by rank: seconds it waited inside collectives, and that it made others wait */
    int straggler;               /* the rank that caused most; -1: there is none */
} RankMatch;

/* A stage that is faster than its neighbours waits in every message: what moves the bytes of a size is the shortest of
 * it on any rank. What messages of ranks last beyond that becomes bubble. */
void ranks_settle_messages(RankTrace *ranks, int count);

/* In the arena. One rank gives an answer that is not known. */
bool ranks_match(const RankTrace *ranks, int count, Arena *arena, RankMatch *out, Error *error);
