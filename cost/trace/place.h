/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/place.h: puts every event of a recording to a term of the model: kernels by their names and by the host
 * code that launched them, collectives by the group of ranks they ran in. */
#pragma once

#include "cost/trace/recording.h"

/* The plan that the trace is compared with, as far as it distinguishes groups. */
typedef struct {
    bool known;
    int64_t degree[TERM_COUNT]; /* of TERM_TENSOR to TERM_PIPELINE; 1: the role has no group */
    int64_t stride[TERM_COUNT]; /* ranks from one member of its group to the next; 0: not known */
} PlanShape;

typedef struct {
    double placed_ns, fallback_ns, unplaced_ns; /* kernel time by rules, by guesses, and neither */
    int64_t
        backward_launches; /* launched by autograd or in recomputation: 0 means that the trace does not tell phases */
    bool recompute_seen;   /* the trace says which kernels recompute */
} PlaceTotals;

/* Fills `term` of every event and group. A group goes to a role by its description, else by its size and stride in the
 * plan, else by what is sent in it; what still is not known is TERM_COLLECTIVE. */
void trace_place(Recording *recording, const PlanShape *shape, PlaceTotals *out);

/* Messages of a pipeline, whose duration holds the wait for the other side: the shortest of that size moved its bytes
 * and waited for nobody, and so did those that are little longer.
 * Messages of unknown size are not distinguished. */
enum { MESSAGE_SIZES_MAX = 32 };
typedef struct {
    double bytes[MESSAGE_SIZES_MAX];
    int64_t least_ns[MESSAGE_SIZES_MAX];
    int count;
} MessageSizes;
void trace_messages(const Recording *recording, int64_t first, int64_t last, MessageSizes *out);
/* Which of them the event is; -1: it is none. */
int message_size(const MessageSizes *sizes, const TraceEvent *event);
/* Whether a message of this length waited, where the shortest of its size has that one. */
bool message_waits(double length, double least);
/* How long the event moved bytes; its whole length where nothing is known. */
int64_t message_transfer_ns(const MessageSizes *sizes, const TraceEvent *event);
