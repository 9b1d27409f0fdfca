/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cost/trace/timeline.h"

#include "base/util.h"

void timeline_begin(TimelineFill *fill, int64_t start, int64_t end, TraceTimeline *to) {
    *to = (TraceTimeline){.seconds = 1e-9 * (double)(end - start)};
    *fill = (TimelineFill){.to = to, .start = start, .end = end};
    for (int term = 0; term < TERM_COUNT; term++) fill->covered[term] = start;
}

void timeline_add(TimelineFill *fill, TraceTerm term, int64_t from, int64_t until) {
    from = max_whole(from, fill->covered[term]);
    until = min_whole(until, fill->end);
    if (until <= from) return;
    fill->covered[term] = until;
    double scale = (double)TIMELINE_MOMENTS / (double)(fill->end - fill->start);
    double begin = (double)(from - fill->start) * scale, end = (double)(until - fill->start) * scale;
    for (int moment = (int)begin; moment < TIMELINE_MOMENTS && moment < end; moment++) {
        double share = min_real(end, moment + 1) - max_real(begin, moment);
        float *busy = &fill->to->busy[moment][term];
        *busy = (float)min_real(1, *busy + share);
    }
}
