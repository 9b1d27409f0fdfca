/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/trace/timeline.h: one step of a device as a picture shows it: the step is cut into equal moments, and of each it
 * is known which share of it every term was active for. Bounded, whatever ran. Pure. */
#pragma once

#include "cost/trace/terms.h"

#include <stdint.h>

enum { TIMELINE_MOMENTS = 400 };

typedef struct {
    double seconds;                           /* of all moments together; 0: there is nothing to show */
    float busy[TIMELINE_MOMENTS][TERM_COUNT]; /* from 0 to 1 */
} TraceTimeline;

/* A timeline while it is filled. */
typedef struct {
    TraceTimeline *to;
    int64_t start, end;          /* ns */
    int64_t covered[TERM_COUNT]; /* until when each term is counted already */
} TimelineFill;

/* Empties the timeline, which is of the time from `start` to `end`; end > start. */
void timeline_begin(TimelineFill *fill, int64_t start, int64_t end, TraceTimeline *to);

/* A term is active from `from` to `until`; what lies outside of the step does not count. Intervals of one term come in
 * the order of their starts: what is counted already does not count twice. */
void timeline_add(TimelineFill *fill, TraceTerm term, int64_t from, int64_t until);
