/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One step in time, for the page: of each term when it ran, measured and as the plan has it. */
#include "base/json.h"
#include "base/util.h"
#include "search/trace/comparison.h"

#include <math.h>
#include <stdlib.h>

/* Moments in which a term is about as active as in the one before are one bar. */
static const double SAME = 1.0 / 16;

/* Bars of one term: from which moment until before which, and the share of that time in which something of it ran. */
static bool add_row(cJSON *rows, const TraceTimeline *of, TraceTerm term) {
    double moment = of->seconds / TIMELINE_MOMENTS, active = 0;
    cJSON *row = json_add_object(rows, NULL);
    bool ok = json_add_text(row, "term", term_name(term));
    cJSON *begin = json_add_array(row, "begin"), *end = json_add_array(row, "end"),
          *share = json_add_array(row, "share");
    ok = ok && begin && end && share;
    for (int i = 0, next; i < TIMELINE_MOMENTS && ok; i = next) {
        double busy = of->busy[i][term], sum = 0;
        for (next = i; next < TIMELINE_MOMENTS && of->busy[next][term] > busy - SAME &&
                       of->busy[next][term] < busy + SAME && (of->busy[next][term] > 0) == (busy > 0);
             next++)
            sum += of->busy[next][term];
        if (!(busy > 0)) continue;
        active += sum * moment;
        ok = json_add_whole(begin, NULL, i) && json_add_whole(end, NULL, next) &&
             json_add_real(share, NULL, round(100 * sum / (next - i)) / 100);
    }
    return ok && json_add_real(row, "active_seconds", active);
}

static bool add_lanes(cJSON *to, const char *key, const Comparison *compared, const TraceTimeline *of) {
    cJSON *json = json_add_object(to, key);
    bool ok = json_add_real(json, "seconds", of->seconds) && json_add_whole(json, "moments", TIMELINE_MOMENTS);
    cJSON *rows = ok ? json_add_array(json, "rows") : NULL;
    ok = rows != NULL;
    for (int i = 0; i < compared->row_count && ok; i++) ok = add_row(rows, of, compared->rows[i].term);
    return ok;
}

static bool add_planned(cJSON *to, const Comparison *compared, int64_t stage) {
    TraceTimeline *planned = calloc(1, sizeof *planned);
    bool ok = planned && plan_timeline(compared, stage, planned) && add_lanes(to, "predicted", compared, planned);
    free(planned);
    return ok;
}

bool comparison_add_timeline(const Comparison *compared, cJSON *to) {
    const RankTrace *rank = &compared->ranks[0];
    const PlanTerms *plan = compared->plan;
    if (!rank->timeline || compared->row_count == 0) return true;
    int64_t stage = plan ? max_whole(0, plan_stage(plan, rank->rank)) : 0;
    cJSON *json = json_add_object(to, "timeline");
    bool ok = json_add_whole(json, "rank", rank->rank >= 0 ? rank->rank : rank->device);
    if (ok && plan && plan->shape.degree[TERM_PIPELINE] > 1)
        ok = json_add_whole(json, "stage", stage + 1) &&
             json_add_whole(json, "stages", (int64_t)plan->shape.degree[TERM_PIPELINE]);
    return ok && add_lanes(json, "measured", compared, rank->timeline) && (!plan || add_planned(json, compared, stage));
}
